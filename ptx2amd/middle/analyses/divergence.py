"""Divergence: values that may differ between the lanes of a warp, and the branches that depend on them.

A value is uniform if it is computed from uniform values and no divergent branch decides which of several writes a
read sees. Numbers of threads are taken to be in the order of lanes: kernels that divide them
by 32 do so to number their warps."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from ptx2amd.isa.effects import BLOCK_BARRIER, CALLS, EXCHANGES, LANE, MEMBERS, OF_WARP, READS
from ptx2amd.isa.form import DESTINATIONS
from ptx2amd.middle.analyses.block_uniform import BlockUniformity
from ptx2amd.middle.body import Body
from ptx2amd.middle.op import Op, Register
from ptx2amd.ptx.ast import Imm, Operand

# special registers that are uniform
UNIFORM = (
    *("%ntid", "%ctaid", "%nctaid", "%gridid", "%warpid", "%nwarpid", "%smid", "%nsmid", "%clusterid", "%nclusterid"),
    *("%cluster_", "%is_explicit_cluster", "%current_graph_exec", "%envreg", "%pm", "%dynamic_smem_size"),
    *("%total_smem_size", "%aggr_smem_size", "%reserved_smem", "WARP_SZ"),
)
GRID = ("%tid.y", "%tid.z", "%ntid", "%ctaid", "%nctaid")  # what linear numbers of threads are made of, beside %tid.x
SUMS = ("add", "mad", "mul", "copy", "convert")
WARP, ALL_LANES = 32, 0xFFFFFFFF

Registers = tuple[Register, ...]


class Divergence(BlockUniformity):
    """What may differ between the lanes of a warp."""

    def __init__(self, flow: Body) -> None:
        super().__init__(flow)
        self._splits = [
            op for number, block in enumerate(flow.blocks) if len(block.successors) > 1 and (op := self._split(number))
        ]

    @cached_property
    def branches(self) -> list[Op]:
        """The divergent branches."""
        made = [entry for op in self.flow.ops() for entry in self._results(op)]
        found: dict[Op, None] = {}
        known = -1
        while known != len(self.divergent):
            known = len(self.divergent)
            for reads, writes in made:
                if not self.divergent.issuperset(writes) and any(map(self._different, reads)):
                    self.divergent.update(writes)
            for op in self._splits:
                if op not in found and any(map(self._different, op.reads)):
                    found[op] = None
                    self.divergent |= self._influenced(op)
        return list(found)

    def reconvergence(self, op: Op) -> int:
        """The reconvergence point of a branch; -1 if there is none."""
        return self._nearest(op.block)

    def sides(self, op: Op) -> list[set[int]]:
        """For both successors of a branch, the blocks that only it leads to before reconvergence, or before the
        branch comes again."""
        avoid = [op.block, self.reconvergence(op)]
        sides, common = self._sides(op, avoid)
        if sum(map(bool, sides)) == 1:
            # One way begins where the other comes later: in a loop that it enters elsewhere. They meet at that entry.
            [side] = filter(None, sides)
            entries = {successor for number in side for successor in self.flow.blocks[number].successors} & common
            if len(entries) == 1 and entries.isdisjoint(self.flow.blocks[op.block].successors):
                sides, _ = self._sides(op, [*avoid, *entries])
        return sides

    def _sides(self, op: Op, avoid: list[int]) -> tuple[list[set[int]], set[int]]:
        """The blocks that only one successor of a branch leads to, for each, and those that both lead to."""
        ways = [self.flow.reach(way, avoid) for way in self.flow.blocks[op.block].successors]
        sides = [way.difference(*(other for other in ways if other is not way)) for way in ways]
        return sides, set().union(*ways).difference(*sides)

    def _different(self, register: Register) -> bool:
        if register.writes:
            return register in self.divergent
        return not register.special.startswith(UNIFORM) and register.name not in (self.flow.parameters or ())

    def _results(self, op: Op) -> Iterator[tuple[Registers, Registers]]:
        """The registers (and variables) that an operation writes, with those that it depends on whether they are
        uniform. Those that are divergent in any case are noted at once."""
        writes = op.writes
        if not writes:
            return
        form = op.inst.shape.form
        if form.does & CALLS or self._of_own_memory(op):
            self.divergent.update(writes)
        elif ":" not in form.result:
            yield from self._by(op, form.uniformity(""), writes)
        else:
            for name, operand in zip(op.inst.shape.names, op.inst.operands, strict=True):
                if name in DESTINATIONS:
                    yield from self._by(op, form.uniformity(name), tuple(self.flow.within(operand)))

    def _by(self, op: Op, uniformity: str, writes: Registers) -> Iterator[tuple[Registers, Registers]]:
        """The same of results of one kind."""
        if uniformity == LANE:
            self.divergent.update(writes)
        elif (uniformity == OF_WARP and self._all_take_part(op)) or self._of_warp(op):
            yield (op.predicate,) if op.inst.guard is not None else (), writes
        else:
            yield op.reads, writes

    def _of_own_memory(self, op: Op) -> bool:
        """Whether an operation may load from memory private to a lane, at one address for all lanes."""
        if not op.does & READS or op.space not in ("", "local", "param"):
            return False
        if op.space == "local":
            return True
        # Variables in .param space are known by their names; through addresses, those of functions are local memory.
        return not op.parameter and self._local_addresses

    @cached_property
    def _local_addresses(self) -> bool:
        """Whether there may be generic addresses of local memory: made here, by a caller, or in a call."""
        return self.flow.parameters is None or any(
            op.does & CALLS or (op.computes == "to_generic" and op.mods["space"] == "local") for op in self.flow.ops()
        )

    def _all_take_part(self, op: Op) -> bool:
        """Whether all lanes of a warp that execute an exchange take part in the same one."""
        if op.does & MEMBERS:
            members = self.flow.constant(op.inst.get("m"))
            return members is not None and members & ALL_LANES == ALL_LANES
        if op.does & BLOCK_BARRIER:
            return all(self.flow.constant(of) is not None for of in map(op.inst.get, "ab") if of is not None)
        return True

    def _of_warp(self, op: Op) -> bool:
        """Whether an operation's result is uniform although its sources are divergent."""
        if op.does & EXCHANGES and op.mods.get("mode") == "idx":  # from one lane to all
            segment = self.flow.constant(op.inst.get("c"))
            one = segment is not None and not segment >> 8
            return one and self.flow.constant(op.inst.get("b")) is not None
        if op.computes not in ("shr", "div", "and", "compare"):
            return False
        by = self.flow.constant(op.inst.get("b"))
        match op.computes:
            case "shr":
                return by is not None and by >= 5 and self._linear(op.inst.get("a"))
            case "div":
                return by is not None and by > 0 and by % WARP == 0 and self._linear(op.inst.get("a"))
            case "and":
                return by is not None and by % WARP == 0 and self._linear(op.inst.get("a"))
            case "compare":
                last = op.mods["cmp"] in ("le", "gt", "ls", "hi")
                bound = None if by is None or op.mods["cmp"] in ("eq", "ne") else by + last
                return bound is not None and bound % WARP == 0 and self._linear(op.inst.get("a"))
        return False

    def _linear(self, operand: Operand | None, depth: int = 8) -> bool:
        """Whether an operand numbers the threads of a block or grid."""
        register = self.flow.register(operand)
        if register is None or not depth:
            return False
        if not register.writes:
            return register.special == "%tid.x"
        made = register.only_write
        if made is None:
            return False
        parts = _sources(made)
        match made.computes:
            case "copy" | "convert":
                return self._linear(parts[0], depth - 1)
            case "add":
                ways = ((parts[0], parts[1]), (parts[1], parts[0]))
                return any(self._linear(a, depth - 1) and self._of_grid(b) for a, b in ways)
            case "mad":
                return self._linear(parts[2], depth - 1) and all(self._of_grid(p) for p in parts[:2])
        return False

    def _of_grid(self, operand: Operand, depth: int = 8) -> bool:
        """Whether an operand is computed only from sizes and indices of blocks, and from thread indices in y and
        z."""
        if isinstance(operand, Imm):
            return operand.bits % WARP == 0
        register = self.flow.register(operand)
        if register is None or not depth:
            return False
        if not register.writes:
            return register.special.startswith(GRID)
        made = register.only_write
        return (
            made is not None
            and made.computes in SUMS
            and all(self._of_grid(source, depth - 1) for source in _sources(made))
        )

    def _influenced(self, op: Op) -> set[Register]:
        """Registers that a divergent branch makes divergent: all that are written before reconvergence, except those
        used on one path only, if the branch is executed once."""
        exclusive = self.sides(op)
        found: set[Register] = set()
        components = self.flow.components
        for number in self._ways(op.block):
            if not (written := self.flow.written[number] - self.divergent):
                continue
            [own] = [side for side in exclusive if number in side] or [set()]
            again = components[number] == components[op.block]
            found.update(r for r in written if again or not self._places.get(r, set()) <= own)
        return found

    @cached_property
    def _places(self) -> dict[Register, set[int]]:
        """The blocks in which each register is read or written; those that are written once only, where nothing
        else can be read: none."""
        found: dict[Register, set[int]] = {}
        for op in self.flow.ops():
            for register in (*op.reads, *op.writes):
                writes = register.writes
                if len(writes) > 1 or (writes and not writes[0].overwrites):
                    found.setdefault(register, set()).add(op.block)
        return found


def _sources(op: Op) -> list[Operand]:
    return [o for n, o in zip(op.inst.shape.names, op.inst.operands, strict=True) if n not in DESTINATIONS]


__all__ = ["ALL_LANES", "WARP", "Divergence"]
