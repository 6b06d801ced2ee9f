"""Why outcomes that PTX allows cannot be seen on AMD's chips: LLVM, the translator or AMD's documents order more."""

from __future__ import annotations

import re

#: Reason to the tests, as a pattern for "family/name".
STRONGER = {
    "Accesses of one location meet in one L2 (GFX942: in memory), in one order; caches only get newer values.":
        r"Manual/(Cause-base-weak|Co-Total-\d.*|Coherence-weak|CoRR-(weak-weak|\w+-acquire-weak)|CoWR-R)|"
        r"Memalloy/(IRIW_gl_cta|IR\w+_uniproc|RWC_uniproc)",
    "Atomics of every scope happen in L2 (GFX942: in memory).":
        r"Manual/(Atom-plus-location-weak_|MICRO24-Fig4b|Ticketlock-diff-gpu)",
    "A release, fence or barrier waits for all accesses before it; all behind an acquire wait for it.":
        r"Manual/(LB\+RMW-a|SB\+acq_rel-cta|SB\+(bar-const-diff|named-bar-.*)|barrier-\w+-id-exists)",
    "A wave executes nothing behind a branch before it is decided: what a loop waits for is read first.":
        r"Manual/(MICRO24-Fig4a|Ticketlock-acq2rlx-2)",
    "LLVM merges accesses of one thread to one location that nothing orders, or takes them out of a loop.":
        r"Manual/(CoWW-RR|XF-Barrier-weak)",
    "Textures, surfaces and aliases are accesses of the same addresses through the same caches.": r"\w+/proxy/.*",
}  # fmt: skip


def reason(name: str) -> str:
    """ "": none is known."""
    return next((why for why, pattern in STRONGER.items() if re.fullmatch(pattern, name)), "")
