"""Products of f16 and bf16 where matrix instructions for them flush subnormal numbers (CDNA 2).

Multiplied as f32, which is exact, they take four instructions for one. So each product first looks whether a warp of
the wave has numbers that the short instruction may get wrong, and only then does without it. Other numbers are 0 or
at least LEAST in magnitude. Their products and all sums of these are then 0 or at least 2^-48 (f16) and 2^-110
(bf16), so that no result of the instruction is subnormal; accumulators, which may be, are added to it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ptx2amd.lower.core.function import FunctionLowering
from ptx2amd.lower.core.value import Val
from ptx2amd.lower.warp.lanes import ballot_of_wave

PAIR = "<2 x half>"
LEAST = {"f16": 0x0400, "bf16": 0x2780}  # 2^-14, 2^-48


def product(
    fn: FunctionLowering,
    kind: str,
    words: Sequence[Val],
    start: Sequence[Val],
    short: Callable[[], list[Val]],
    exact: Callable[[], list[Val]],
) -> list[Val]:
    """`start` plus products, of fragments with these words. short: emits the products by instructions that flush;
    exact: emits their sum with `start` by others."""
    end = fn.block("product")
    arms: list[tuple[str, list[Val]]] = []

    def arm(name: str, make: Callable[[], list[Val]]) -> None:
        fn.label(name)
        arms.append((name, make()))
        fn.branch(end)

    def quick() -> list[Val]:
        return [_plus(fn, c, p) for c, p in zip(start, short(), strict=True)]

    if kind == "f16":  # LLVM's structured control flow takes branches more for one block that is reached in two ways
        plain, look = fn.block("short"), fn.block("look")
        fn.branch(_suspicious(fn, words), look, plain)
        arm(plain, quick)
        fn.label(look)
    plain, tiny = fn.block("short"), fn.block("exact")
    fn.branch(_tiny(fn, kind, words), tiny, plain)
    arm(plain, quick)
    arm(tiny, exact)
    fn.label(end)
    return [
        fn.op(c.ty, f"phi {c.ty} " + ", ".join(f"[ {made[i]}, %{name} ]" for name, made in arms))
        for i, c in enumerate(start)
    ]


def _suspicious(fn: FunctionLowering, words: Sequence[Val]) -> Val:
    """Whether there may be a subnormal f16, in half of `_tiny`'s instructions. With the exponent's bits inverted it is
    a NaN, which sums of products hand on; 0 is an infinity, so zeros may give a NaN, too."""
    inverted = [fn.cast(fn.op("i32", f"xor {word.t}, {0x7C007C00}"), PAIR) for word in words]
    total = fn.const("float", 0.0)
    for x, y in zip(inverted[::2], inverted[1::2], strict=True):
        total = fn.call("llvm.amdgcn.fdot2", "float", x, y, total, fn.const("i1", 0))
    return _anywhere(fn, fn.op("i1", f"fcmp uno {total.t}, 0.0"))


def _anywhere(fn: FunctionLowering, found: Val) -> Val:
    """Whether a lane of the wave has found something."""
    return fn.op("i1", f"icmp ne {ballot_of_wave(fn, found).t}, 0")


def _tiny(fn: FunctionLowering, kind: str, words: Sequence[Val]) -> Val:
    """Whether a lane has a number other than 0 below LEAST in magnitude. Twice the bits less 1, modulo 2^16, have no
    sign, and are most for 0."""
    ty, least = "<2 x i16>", None
    for word in words:
        bits = fn.op(ty, f"mul {fn.cast(word, ty).t}, splat (i16 2)")
        bits = fn.op(ty, f"add {bits.t}, splat (i16 -1)")
        least = bits if least is None else fn.call("llvm.umin.v2i16", ty, least, bits)
    assert least is not None
    low, high = (fn.op("i16", f"extractelement {least.t}, i32 {i}") for i in range(2))
    below = fn.op("i1", f"icmp ult {fn.call('llvm.umin.i16', 'i16', low, high).t}, {2 * LEAST[kind] - 1}")
    return _anywhere(fn, below)


def _plus(fn: FunctionLowering, c: Val, p: Val) -> Val:
    """c + p. Where f32 instructions flush, too, a subnormal c is lost, which is seen beside 0 alone."""
    total = fn.op("float", f"fadd {c.t}, {p}")
    if fn.f32_denormals != "flush":
        return total
    nothing = fn.op("i1", f"fcmp oeq {p.t}, 0.0")
    return fn.op("float", f"select {nothing.t}, {c.t}, {total.t}")
