"""Branches at which lanes of one warp may part: their conditions may differ within a warp.

Values are alike in a warp where they are made of values that are alike, and no branch at which lanes part decides
which of several writes a read sees. Numbers of threads are taken to be in the order of lanes: kernels that divide them
by 32 do so to number their warps."""

from __future__ import annotations

from functools import cached_property

from ptx2amd.ptx.ast import Addr, Imm, Operand, Reg, Sym
from ptx2amd.target.flow import DESTINATIONS, Flow, Op
from ptx2amd.target.together import Warps

# special registers that are uniform
UNIFORM = (
    *("%ntid", "%ctaid", "%nctaid", "%gridid", "%warpid", "%nwarpid", "%smid", "%nsmid", "%clusterid", "%nclusterid"),
    *("%cluster_", "%is_explicit_cluster", "%current_graph_exec", "%envreg", "%pm", "%dynamic_smem_size"),
    *("%total_smem_size", "%aggr_smem_size", "%reserved_smem", "WARP_SZ"),
)
GRID = ("%tid.y", "%tid.z", "%ntid", "%ctaid", "%nctaid")  # what linear numbers of threads are made of, beside %tid.x
# lowerings whose results differ, whatever is read: the lanes' own parts of matrices, addresses on the lanes' own stacks
APART = frozenset(
    (
        *("call", "atom", "atom_cas", "elect", "alloca", "stacksave", "mbarrier_update", "mbarrier_wait"),
        *("ldmatrix", "ldmatrix_bytes", "ldmatrix_bytes_trans", "movmatrix", "wmma_load", "wmma", "wgmma"),
        *("mma", "mma_quadpair", "mma_sparse", "mma_small", "mma_scaled", "mma_sparse_scaled"),
    )
)
SUMS = frozenset(("add", "mad", "mul", "mov", "cvt"))
WARP, ALL_LANES = 32, 0xFFFFFFFF


class Lanes(Warps):
    """What may differ between the lanes of a warp."""

    def __init__(self, flow: Flow) -> None:
        super().__init__(flow)
        self._splits = [
            op for number, block in enumerate(flow.blocks) if len(block.successors) > 1 and (op := self._split(number))
        ]

    @cached_property
    def parting(self) -> list[Op]:
        """The branches at which lanes of a warp may part."""
        ops = [(op, list(op.reads()), list(op.writes())) for op in self.flow.ops()]
        found: dict[Op, None] = {}
        known = -1
        while known != len(self.differing):
            known = len(self.differing)
            for op, reads, writes in ops:
                if not self.differing.issuperset(writes) and self._result_differs(op, reads):
                    self.differing.update(writes)
            for op in self._splits:
                if op not in found and any(map(self._different, op.reads())):
                    found[op] = None
                    self.differing |= self._influenced(op)
        return list(found)

    def meeting(self, op: Op) -> int:
        """The block where the ways from a branch meet again, -1 where they do not."""
        return self._meeting(op.block)

    def sides(self, op: Op) -> list[set[int]]:
        """For both ways from a branch, the blocks that only it leads to before the ways meet, or the branch again."""
        avoid = [op.block, self.meeting(op)]
        sides, common = self._sides(op, avoid)
        if sum(map(bool, sides)) == 1:
            # One way begins where the other comes later: in a loop that it enters elsewhere. They meet at that entry.
            [side] = filter(None, sides)
            entries = {successor for number in side for successor in self.flow.blocks[number].successors} & common
            if len(entries) == 1 and entries.isdisjoint(self.flow.blocks[op.block].successors):
                sides, _ = self._sides(op, [*avoid, *entries])
        return sides

    def _sides(self, op: Op, avoid: list[int]) -> tuple[list[set[int]], set[int]]:
        """The blocks that only one way from a branch leads to, for both, and those that several do."""
        ways = [self.flow.reach(way, avoid) for way in self.flow.blocks[op.block].successors]
        sides = [way.difference(*(other for other in ways if other is not way)) for way in ways]
        return sides, set().union(*ways).difference(*sides)

    def _different(self, register: str) -> bool:
        if register in self.flow.definitions:
            return register in self.differing
        # A special register, a register that nobody writes, or a parameter: callers may give each lane its own.
        return not register.startswith(UNIFORM) and (register.startswith("%") or not self.flow.kernel)

    def _result_differs(self, op: Op, reads: list[str]) -> bool:
        if op.lower in APART or (op.lower == "shfl" and "p" in op.inst.shape.names) or self._of_own_memory(op):
            return True
        if op.inst.guard is not None and self._different(op.key(op.inst.guard.reg)):
            return True
        if self._of_warp(op):
            return False
        return any(map(self._different, reads))

    def _of_own_memory(self, op: Op) -> bool:
        """Whether an operation may load from memory that each lane has of its own, at one address for all."""
        if op.lower != "ld" or op.mods.get("space", "") not in ("", "local", "param", "param::func"):
            return False
        address = op.inst.get("a")
        if op.mods["space"] == "local" or not isinstance(address, Addr):
            return True
        # Variables in .param space are known by their names; through addresses, those of functions are local memory.
        return not (op.mods["space"] and isinstance(address.base, Sym)) and self._local_addresses

    @cached_property
    def _local_addresses(self) -> bool:
        """Whether there may be generic addresses of local memory: made here, by a caller, or in a call."""
        return not self.flow.kernel or any(
            op.lower == "call" or (op.lower == "cvta_window" and op.mods["space"] == "local") for op in self.flow.ops()
        )

    def _of_warp(self, op: Op) -> bool:
        """Whether an operation gives all lanes of a warp the same, though it reads what differs."""
        if op.lower in ("vote", "redux", "match_all"):
            members = self.flow.constant(op, op.inst.get("m"))
            return members is not None and members & ALL_LANES == ALL_LANES
        by = self.flow.constant(op, op.inst.get("b"))
        match op.inst.shape.form.mnemonic:
            case "shfl":
                segment = self.flow.constant(op, op.inst.get("c"))
                one = op.mods["mode"] == "idx" and segment is not None and not segment >> 8
                return one and "p" not in op.inst.shape.names and by is not None
            case "activemask":
                return True
            case "shr":
                return by is not None and by >= 5 and self._linear(op, op.inst.get("a"))
            case "div":
                return by is not None and by > 0 and by % WARP == 0 and self._linear(op, op.inst.get("a"))
            case "and":
                return by is not None and by % WARP == 0 and self._linear(op, op.inst.get("a"))
            case "setp":
                last = op.mods["cmp"] in ("le", "gt", "ls", "hi")
                bound = None if by is None or op.mods["cmp"] in ("eq", "ne") else by + last
                return bound is not None and bound % WARP == 0 and self._linear(op, op.inst.get("a"))
        return False

    def _linear(self, op: Op, operand: Operand | None, depth: int = 8) -> bool:
        """Whether an operand numbers the threads of a block or grid."""
        if not isinstance(operand, Reg) or not depth:
            return False
        name = op.key(operand.name)
        writes = self.flow.definitions.get(name, [])
        if not writes:
            return name == "%tid.x"
        if len(writes) > 1 or writes[0].inst.guard is not None:
            return False
        [made] = writes
        parts = _sources(made)
        match made.inst.shape.form.mnemonic:
            case "mov" | "cvt":
                return self._linear(made, parts[0], depth - 1)
            case "add":
                ways = ((parts[0], parts[1]), (parts[1], parts[0]))
                return any(self._linear(made, a, depth - 1) and self._of_grid(made, b) for a, b in ways)
            case "mad":
                return self._linear(made, parts[2], depth - 1) and all(self._of_grid(made, p) for p in parts[:2])
        return False

    def _of_grid(self, op: Op, operand: Operand, depth: int = 8) -> bool:
        """Whether an operand is made of nothing but sizes and numbers of blocks, and of threads in y and z."""
        if isinstance(operand, Imm):
            return operand.bits % WARP == 0
        if not isinstance(operand, Reg) or not depth:
            return False
        name = op.key(operand.name)
        writes = self.flow.definitions.get(name, [])
        if not writes:
            return name.startswith(GRID)
        if len(writes) > 1 or writes[0].inst.guard is not None or writes[0].inst.shape.form.mnemonic not in SUMS:
            return False
        return all(self._of_grid(writes[0], source, depth - 1) for source in _sources(writes[0]))

    def _influenced(self, op: Op) -> set[str]:
        """More registers that may differ, after a branch because lanes take both ways: all that are written before
        the ways meet, but for those that only one way knows, if the branch comes once."""
        exclusive = self.sides(op)
        found: set[str] = set()
        components = self.flow.components
        for number in self._ways(op.block):
            if not (written := self.flow.written[number] - self.differing):
                continue
            [own] = [side for side in exclusive if number in side] or [set()]
            again = components[number] == components[op.block]
            found.update(r for r in written if again or not self._places.get(r, set()) <= own)
        return found

    @cached_property
    def _places(self) -> dict[str, set[int]]:
        """The blocks in which each register is read or written; those that are written once only, where nothing
        else can be read: none."""
        found: dict[str, set[int]] = {}
        for op in self.flow.ops():
            for register in (*op.reads(), *op.writes()):
                writes = self.flow.definitions.get(register, ())
                if len(writes) > 1 or (writes and not writes[0].overwrites):
                    found.setdefault(register, set()).add(op.block)
        return found


def _sources(op: Op) -> list[Operand]:
    return [o for n, o in zip(op.inst.shape.names, op.inst.operands, strict=True) if n not in DESTINATIONS]


__all__ = ["ALL_LANES", "WARP", "Lanes"]
