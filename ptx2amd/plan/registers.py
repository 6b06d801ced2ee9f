"""How many registers NVIDIA's compiler takes for a kernel, roughly: programs choose sizes of blocks by that number.

A linear model of the values that are alive at once (liveness.py) and of what ptxas does with them: it begins loads
early (schedule.py) and unrolls short loops, as far as that costs no blocks on the processor. The coefficients are
fitted to what ptxas 13.0 says for sm_80 of 1,263 kernels of CUDA samples, CatBoost (CUB), llama.cpp and gpu4pyscf
(tests/corpus/registers.py). 84 % of the kernels of files left out of a fit come within a quarter of ptxas's number,
half of them within an eighth; of those with more than 32 registers, which can cost blocks, 87 %; and 91 % have as many
blocks of 256 threads on a processor. Most of the others have 25 to 32 registers, which cost nothing, and ptxas
unrolls a loop or not by rules that we do not know; trees fitted to 35 such facts (gradient boosting) do no better:
85 %."""

from __future__ import annotations

from math import log2, prod

from ptx2amd.isa.effects import CALLS
from ptx2amd.middle.analyses.liveness import Liveness
from ptx2amd.middle.body import Body
from ptx2amd.middle.transforms.inline import inlined
from ptx2amd.middle.unit import written
from ptx2amd.plan.schedule import started
from ptx2amd.ptx.ast import Function, Module
from ptx2amd.records import dataclass

MOST = 255  # that an instruction can name
LEAST, LEAST_WITH_CALLS = 4, 24
WARP = 32
PROCESSOR_REGISTERS, PROCESSOR_WARPS, PROCESSOR_BLOCKS = 65536, 64, 32  # of sm_80
PARTS = 4  # of a processor, which have as many warps each
UNIT = 8  # registers of a thread are handed out in eights
FREE = PROCESSOR_REGISTERS // (PROCESSOR_WARPS * WARP)  # that cost no block
SHORT, ROUNDS = 60, 4  # operations of a loop that ptxas unrolls, and how often
FEATURES = ("one", "live", "loads", "unrolled", "length", "f32_division", "f64_division")
MODEL = (0.878, 0.792, 0.413, 0.358, 1.643, 2.522, 8.532)


@dataclass(frozen=True, slots=True)
class Pressure:
    """What the model knows of a kernel, in 32-bit registers where nothing else is said.

    live: the most alive at once; loads: further ones when loads begin early (schedule.py); unrolled: further ones when
    all loads are under way in short loops that are unrolled; length: of the longest block, as a logarithm. The last
    three tell of what the text has: IEEE divisions and square roots take registers of their own."""

    live: int
    loads: int
    unrolled: int
    length: float
    f32_division: bool
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
    scope = inlined(module, function, lambda callee: True).scope
    flow = written(module, function) if scope is function.scope else Body(scope, function)
    values = flow.analysis(Liveness)
    bounded = "maxntid" in function.directives or "reqntid" in function.directives
    room = limit(function) if bounded else FREE
    loops = [n for n in range(len(flow.blocks)) if n in flow.blocks[n].successors and len(flow.blocks[n].ops) <= SHORT]
    rounds = max((values.between[n] + ROUNDS * values.loaded(n) for n in loops), default=0)
    quotients = {op.inst.shape.types[0] for op in flow.ops() if op.computes == "quotient" and op.mods["rnd"] == "rn"}
    return Pressure(
        live=values.most,
        loads=max(0, min(started(flow, values), room) - values.most),
        unrolled=max(0, min(rounds, room) - values.most),
        length=log2(1 + max(len(block.ops) for block in flow.blocks)),
        f32_division="f32" in quotients,
        f64_division="f64" in quotients,
        calls=any(op.does & CALLS for op in flow.ops()),
    )


def estimate(module: Module, function: Function) -> int:
    """The registers of a thread that ptxas would roughly take for a kernel."""
    known = pressure(module, function)
    found = sum(weight * value for weight, value in zip(MODEL, known.features, strict=True))
    return min(limit(function), max(LEAST_WITH_CALLS if known.calls else LEAST, round(found)))


__all__ = ["FEATURES", "MODEL", "Pressure", "estimate", "limit", "pressure"]
