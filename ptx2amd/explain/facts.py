"""The facts of an explanation in words: the same for the terminal and the page."""

from __future__ import annotations

from collections.abc import Iterator

from ptx2amd.explain.listing import Explanation


def facts(found: Explanation) -> Iterator[tuple[str, str]]:
    """(what, value), in the order in which they are shown."""
    kernel, seen = found.kernel, found.occupancy
    yield "mapping", "; ".join(found.reasons)
    yield "fidelity", _fidelity(found)
    yield "registers", f"{kernel.vgprs} VGPRs, {kernel.sgprs} SGPRs"
    yield "memory", _memory(found)
    if seen:
        blocks = f"{seen.blocks} block{'' if seen.blocks == 1 else 's'} of {seen.threads} threads on a multiprocessor"
        yield "occupancy", f"{seen.waves:g} of {seen.most} waves on a SIMD, limited by {seen.limit}; {blocks}"
    else:
        yield "occupancy", f"not known: {found.arch} stands for several chips"
    whole = sum(found.counts.values())
    yield "instructions", f"{whole}: " + ", ".join(f"{count} {name}" for name, count in found.counts.most_common())


def _fidelity(found: Explanation) -> str:
    if found.kernel.fidelity == "exact":
        return "exact: every result is the one that the PTX manual defines"
    lines = [row.line for section in found.sections for row in section.rows if row.note]
    where = f" (PTX lines {', '.join(map(str, lines[:8]))}{' ...' if len(lines) > 8 else ''})" if lines else ""
    return f"{found.kernel.fidelity}{where}"


def _memory(found: Explanation) -> str:
    kernel = found.kernel
    parts = [f"{kernel.static_shared:,} bytes of LDS", f"{kernel.local:,} bytes of scratch a thread"]
    if kernel.slot:
        parts.append(f"{kernel.slot:,} bytes of shared memory in global memory, as LDS is too small")
    if kernel.dynamic:
        parts.append("dynamic shared memory, which the occupancy leaves out")
    return ", ".join(parts)
