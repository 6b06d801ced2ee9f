"""PTX for the first chips, sm_10 to sm_13, as drivers take it for later ones; wmma of PTX 6.0 to 6.2.

What the manual says of each instruction for them ("Target ISA Notes", "PTX ISA Notes"), as later opcodes: f32
instructions flush subnormal numbers; mad.f32 is fma.rn.ftz.f32; before PTX 1.4 divisions and functions had no
modifiers."""

from __future__ import annotations

import re
from typing import Any

from ptx2amd.errors import PtxError
from ptx2amd.regex import regex

FIRST_CHIPS = regex(r"\.target\s+sm_1[0-3]\b([^\n]*)")
VERSION = regex(r"\.version\s+1\.([0-3])\b")
DOUBLE = regex(r"\b[a-z]\w*(?:\.\w+)*\.f64\b(?:\.\w+)*")

# wmma before PTX 6.3, which knew no .aligned
WMMA_VERSION = regex(r"\.version\s+6\.[0-2]\b")
WMMA = regex(r"\bwmma\.(?:(?:load|store)\.[abcd]|mma)\.sync\b(?!\.aligned)")

#: What opcodes were before PTX 1.4, and are now.
UNMODIFIED = [
    (r"(div|rcp|sqrt|rsqrt|sin|cos|lg2|ex2)\.f32", r"\1.approx.f32"),
    (r"(div|rcp|sqrt)\.f64", r"\1.rn.f64"),
    (r"rsqrt\.f64", "rsqrt.approx.f64"),
]
#: What opcodes are on the first chips, and on later ones.
FIRST = [
    (r"mad((?:\.sat)?)\.f32", r"fma.rn.ftz\1.f32"),
    (r"mad((?:\.r[nzmp])?)\.f64", lambda m: f"fma{m[1] or '.rn'}.f64"),
    (r"(add|sub|mul)((?:\.r[nz])?)((?:\.sat)?)\.f32", r"\1\2.ftz\3.f32"),
    (r"(abs|neg|min|max|(?:div|rcp|sqrt|rsqrt|sin|cos|lg2|ex2)\.(?:approx|full))\.f32", r"\1.ftz.f32"),
    (r"(set|setp)((?:\.[a-z]+){1,2})((?:\.[usf]32)?)\.f32", r"\1\2.ftz\3.f32"),
    (r"slct((?:\.[a-z]+\d+))\.f32", r"slct.ftz\1.f32"),
    (r"cvt((?:\.r[nzmp]i?)?)((?:\.sat)?)\.(f32\.f\d+|[usf]\d+\.f32)", r"cvt\1.ftz\2.\3"),
]


Rule = tuple[re.Pattern[str], Any]


def _replacing(rules: list[tuple[str, Any]]) -> list[Rule]:
    return [(regex(rf"(?<![\w.$%])(?![\w.]+\.ftz){old}(?![\w.$])"), new) for old, new in rules]


_UNMODIFIED, _FIRST = _replacing(UNMODIFIED), _replacing(FIRST)


def modern(text: str, source: str) -> str:
    """A module's text with opcodes that later chips have too; lines stay as they are. Raises PtxError where double
    precision is to be taken for single."""
    target = FIRST_CHIPS.search(text)
    if target is not None and "map_f64_to_f32" in target[1] and (double := DOUBLE.search(text)):
        line = text.count("\n", 0, double.start()) + 1
        reason = f"'{double[0]}' in a module for chips without double precision (map_f64_to_f32) is not supported"
        raise PtxError(reason, source, line, double.start() - text.rfind("\n", 0, double.start()))
    return renewed(text, rules(text))


def rules(head: str) -> list[Rule]:
    """What changes in the opcodes of a module. head: its text, or at least .version and .target."""
    found = [(WMMA, r"\g<0>.aligned")] if WMMA_VERSION.search(head) else []
    if FIRST_CHIPS.search(head):
        found += (_UNMODIFIED if VERSION.search(head) else []) + _FIRST
    return found


def renewed(text: str, changes: list[Rule]) -> str:
    """A text, or a part of one, with the opcodes changed."""
    for pattern, new in changes:
        text = pattern.sub(new, text)
    return text
