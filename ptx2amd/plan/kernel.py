"""What is decided about a kernel before it is lowered."""

from __future__ import annotations

from collections.abc import Sequence

from ptx2amd.middle.analyses.hazards import Hazard
from ptx2amd.middle.calls import CallGraph
from ptx2amd.middle.unit import Unit
from ptx2amd.plan.shared_memory import LDS, LdsObject, SharedPlan, packed, shared_arrays
from ptx2amd.ptx.ast import Function
from ptx2amd.ptx.heads import max_threads, param_layout, required_block
from ptx2amd.records import dataclass
from ptx2amd.target import Target

#: What is known of the grids of launches. FEW: they have at most MOST_BLOCKS blocks in x (and in y and z as many as
#: CUDA allows). LLVM then sees that a thread's number in x, times 8 bytes, is an offset of 32 bits: the block's number
#: takes 17 bits of it, the block's size 11, the sum with %tid.x one more.
FEW, ANY = "few", "any"
GRIDS = (FEW, ANY)
MOST_BLOCKS = 1 << 17


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked for. mode "kernel": variables lie in the data segment, whose address the environment holds;
    "module": they are globals of the code object. choose: run kernels whose warps wait for each other padded where the
    target's mapping is paired; variant: of the shared memory (plan/shared_memory.py); grid: of what launches are taken
    to be (GRIDS). lines: with a line table, even where the PTX has no CUDA lines."""

    target: Target
    mode: str = "kernel"
    choose: bool = False
    variant: str = LDS
    grid: str = ANY
    lines: bool = False


@dataclass(frozen=True, slots=True)
class KernelPlan:
    """name: of the kernel; target: with the mapping that was chosen; hazards: where warps wait for each other.

    denormals: "flush" or "ieee", the mode of f32 instructions. params: offset, size, align in bytes; max_threads: of a
    block; block: as .reqntid asks for it; blocks: most blocks of a launch in x, 0: any. static_shared: bytes; shared:
    where shared memory beyond LDS lies, None: all of it is in LDS; lds: the one object that it is in LDS, None where it
    may be several. dynamic: whether it uses dynamic shared memory. launches: whether it may launch kernels;
    launch_words: whether launches append their words to the parameters, one more where it launches kernels.
    partial_barriers: numbers of the barriers for a part of the block, None for one that only a register knows. owner:
    its name, where it has copies of functions of its own. approximate: opcodes whose lowering is not exact."""

    name: str
    target: Target
    hazards: tuple[Hazard, ...]
    denormals: str
    params: tuple[tuple[int, int, int], ...]
    max_threads: int
    block: tuple[int, int, int] | None
    blocks: int
    static_shared: int
    shared: SharedPlan | None
    lds: LdsObject | None
    dynamic: bool
    launches: bool
    launch_words: bool
    partial_barriers: frozenset[int | None]
    owner: str
    approximate: tuple[str, ...]

    @property
    def mapping(self) -> str:
        return self.target.mapping

    @property
    def slot(self) -> int | None:
        """Bytes of static variables in the arena's slot; None: all in LDS."""
        return None if self.shared is None else self.shared.dynamic


__all__ = ["KernelPlan", "Request"]


class Planning:
    """What is decided about a kernel so far. unit: the kernel, its calls inlined."""

    hazards: Sequence[Hazard]
    target: Target
    denormals: str
    shared: SharedPlan | None
    lds: LdsObject | None
    launches: bool
    launch_words: bool
    partial_barriers: frozenset[int | None]
    owner: str

    def __init__(self, unit: Unit, request: Request) -> None:
        self.unit, self.request = unit, request
        self.calls: CallGraph = unit.calls
        self.kernel: Function = unit.function
        self.reachable = self.calls.reachable(self.kernel)

    @property
    def decided(self) -> dict[str, object]:
        """What is decided so far, for --print-after."""
        return {name: vars(self)[name] for name in Planning.__annotations__ if name in vars(self)}

    def plan(self) -> KernelPlan:
        """The kernel's plan, when all is decided."""
        arrays = shared_arrays(self.calls, self.kernel)
        return KernelPlan(
            name=self.kernel.proto.name,
            target=self.target,
            hazards=tuple(self.hazards),
            denormals=self.denormals,
            params=tuple(param_layout(self.kernel)),
            max_threads=min(max_threads(self.kernel), self.target.max_block),
            block=required_block(self.kernel),
            blocks=MOST_BLOCKS if self.request.grid == FEW else 0,
            static_shared=packed(arrays),
            shared=self.shared,
            lds=self.lds,
            dynamic=not all(array.size for array in arrays),
            launches=self.launches,
            launch_words=self.launch_words,
            partial_barriers=self.partial_barriers,
            owner=self.owner,
            approximate=tuple(sorted({o for f in self.reachable for o in self.calls.summary(f).approximate})),
        )
