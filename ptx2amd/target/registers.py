"""How many registers NVIDIA's compiler takes for a kernel, roughly: programs choose sizes of blocks by that number.

A linear model of the values that are alive at once (liveness.py) and of what ptxas does with them: it begins loads
early and unrolls short loops, as far as that costs no blocks on the processor. The coefficients are fitted to what
ptxas 13.0 says for sm_80 of 939 kernels of CUDA samples, CUTLASS, CUB, llama.cpp, llm.c and gpu4pyscf
(tests/corpus/registers.py). 86 % of the kernels of files left out of a fit come within a quarter of ptxas's number,
half of them within a tenth; of those with more than 32 registers, which can cost blocks, 90 %. As many of the others
lie above as below."""

from __future__ import annotations

from dataclasses import dataclass
from math import log2, prod

from ptx2amd.isa.effects import CALLS
from ptx2amd.ptx.ast import Function, Module
from ptx2amd.target.flow import Flow
from ptx2amd.target.inline import flat, inlined
from ptx2amd.target.liveness import Liveness

MOST = 255  # that an instruction can name
LEAST, LEAST_WITH_CALLS = 8, 24
WARP = 32
PROCESSOR_REGISTERS, PROCESSOR_WARPS, PROCESSOR_BLOCKS = 65536, 64, 32  # of sm_80
PARTS = 4  # of a processor, which have as many warps each
UNIT = 8  # registers of a thread are handed out in eights
FREE = PROCESSOR_REGISTERS // (PROCESSOR_WARPS * WARP)  # that cost no block
SHORT, ROUNDS = 60, 4  # operations of a loop that ptxas unrolls, and how often
FEATURES = ("one", "live", "loads", "unrolled", "between", "length", "bounded", "integer_division", "f64_division")
MODEL = (0.894, 0.667, 0.638, 0.193, 0.196, 1.283, 4.497, 2.874, 8.409)


@dataclass(frozen=True, slots=True)
class Pressure:
    """What the model knows of a kernel, in 32-bit registers where nothing else is said.

    live: the most alive at once; between: at the begin of a block of operations; loads: further ones when all loads of
    a block are under way at once; unrolled: the same in short loops that are unrolled; length: of the longest block, as
    a logarithm; bounded: whether the kernel's launches have bounds. The last three tell of what the text has."""

    live: int
    loads: int
    unrolled: int
    between: int
    length: float
    bounded: bool
    integer_division: bool
    f64_division: bool
    calls: bool

    @property
    def features(self) -> tuple[float, ...]:
        """In the order of FEATURES."""
        return (1.0, *(float(getattr(self, name)) for name in FEATURES[1:]))


def limit(function: Function) -> int:
    """The registers that a kernel may have by its launch bounds: those of .maxnreg, and those with which as many blocks
    of .maxntid or .reqntid fit on a processor as .minnctapersm asks for (one, where .maxnreg does not say it)."""
    directives = function.directives
    most = min([MOST, *directives.get("maxnreg", ())])
    block = directives.get("reqntid") or directives.get("maxntid")
    blocks = directives.get("minnctapersm", (0,))[0]
    if block and (blocks or "maxnreg" not in directives):
        warps = max(1, -(-prod(block) // WARP))
        if blocks > PROCESSOR_BLOCKS or warps * blocks > PROCESSOR_WARPS:  # ptxas ignores it
            blocks = 1
        in_parts = -(-warps * max(1, blocks) // PARTS) * PARTS
        most = min(most, PROCESSOR_REGISTERS // (in_parts * WARP) // UNIT * UNIT)
    return max(LEAST_WITH_CALLS, most)


def pressure(module: Module, function: Function) -> Pressure:
    """The facts about a kernel, with what it calls in place of the calls. Takes time in proportion to its length."""
    scope = flat(inlined(module, function, lambda callee: True).scope)
    flow = Flow(scope)
    values = Liveness(flow, scope)
    bounded = "maxntid" in function.directives or "reqntid" in function.directives
    room = limit(function) if bounded else FREE
    blocks = range(len(flow.blocks))
    at_once = max(values.between[n] + values.loaded(n) for n in blocks)
    loops = [n for n in blocks if n in flow.blocks[n].successors and len(flow.blocks[n].ops) <= SHORT]
    rounds = max((values.between[n] + ROUNDS * values.loaded(n) for n in loops), default=0)
    computed = {(op.computes, op.mods.get("rnd")) for op in flow.ops()}
    return Pressure(
        live=values.most,
        loads=max(0, min(at_once, room) - values.most),
        unrolled=max(0, min(rounds, room) - values.most),
        between=max(values.between),
        length=log2(1 + max(len(block.ops) for block in flow.blocks)),
        bounded=bounded,
        integer_division=any(name in ("div", "rem") for name, _ in computed),
        f64_division=("quotient", "rn") in computed,
        calls=any(op.does & CALLS for op in flow.ops()),
    )


def estimate(module: Module, function: Function) -> int:
    """The registers of a thread that ptxas would roughly take for a kernel."""
    known = pressure(module, function)
    found = sum(weight * value for weight, value in zip(MODEL, known.features, strict=True))
    return min(limit(function), max(LEAST_WITH_CALLS if known.calls else LEAST, round(found)))


__all__ = ["FEATURES", "MODEL", "Pressure", "estimate", "limit", "pressure"]
