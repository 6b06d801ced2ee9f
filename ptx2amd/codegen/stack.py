"""How much of a thread's own memory (scratch) a kernel needs, against what a wave can have.

LLVM ends the process over a stack that is too large. Arrays that PTX declares are seen before, in the optimised IR;
what LLVM puts beside them, registers above all, it alone knows: its message has the same form."""

from __future__ import annotations

from ptx2amd.regex import regex
from ptx2amd.target import Target

# Units of scratch of a wave, by the bits of COMPUTE_TMPRING_SIZE.WAVESIZE, and bytes of a unit.
WAVE_SCRATCH = {8: (13, 1024), 9: (13, 1024), 10: (13, 1024), 11: (15, 256), 12: (18, 256)}
NULL_BYTES = 4  # LLVM keeps the first address for the null pointer
FUNCTION = regex(r'^define [^@]*@("[^"]*"|[\w.$-]+)\(')
CALL = regex(r'\bcall [^@]*@("[^"]*"|[\w.$-]+)\(')
ARRAY = regex(r"= alloca \[(\d+) x i8\](?:, align (\d+))?")
TOO_LARGE = regex(r"stack frame size \((\d+)\) exceeds limit \((\d+)\)")


def limit(target: Target) -> int:
    """Bytes of scratch that a lane can have."""
    bits, unit = WAVE_SCRATCH[target.arch.major]
    return ((1 << bits) - 1) * unit // target.wave_size


def may_be_too_large(ir: str, target: Target) -> bool:
    """Whether a module's arrays together are more than a lane can have, in the worst of orders."""
    return sum(int(size) + 2 * int(align or 1) for size, align in ARRAY.findall(ir)) > limit(target)


def problem(ir: str, target: Target) -> str:
    """What LLVM would say of optimised IR with arrays that are too large for a kernel or function, with those of all
    that it calls; "" where they fit. Arrays whose elements are all known may be gone from such IR."""
    frames, calls = _frames(ir)
    depths: dict[str, int] = {}  # of the stack, of functions that were looked at

    def depth(name: str) -> int:
        if name not in depths:
            depths[name] = 0  # for functions that call themselves, which are counted once
            deepest = max((depth(callee) for callee in calls[name] & frames.keys()), default=0)
            depths[name] = frames[name] + deepest
        return depths[name]

    size, name = max(((depth(name), name) for name in frames), default=(0, ""))
    most = limit(target)
    return f"stack frame size ({size}) exceeds limit ({most}) in function '{name}'" if size > most else ""


def _frames(ir: str) -> tuple[dict[str, int], dict[str, set[str]]]:
    """The bytes of each function's frame, and what it calls."""
    frames: dict[str, int] = {}
    aligns: dict[str, int] = {}
    calls: dict[str, set[str]] = {}
    name = ""
    for line in ir.splitlines():
        if found := FUNCTION.match(line):
            name = found[1]
            frames[name], aligns[name], calls[name] = NULL_BYTES, 1, set()
        elif found := ARRAY.search(line):
            align = int(found[2] or 1)
            frames[name] = -(-frames[name] // align) * align + int(found[1])
            aligns[name] = max(aligns[name], align)
        elif found := CALL.search(line):
            calls[name].add(found[1])
    return {name: -(-size // aligns[name]) * aligns[name] for name, size in frames.items()}, calls
