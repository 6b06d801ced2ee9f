"""The control-flow graph: basic blocks and the edges between them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property

from ptx2amd.isa.effects import BRANCHES
from ptx2amd.middle.components import components
from ptx2amd.middle.op import Block, Op


class Graph:
    """Blocks by their numbers; 0 is the entry."""

    def __init__(self) -> None:
        self.blocks = [Block()]

    def ops(self) -> Iterator[Op]:
        for block in self.blocks:
            yield from block.ops

    def branch(self, number: int) -> Op | None:
        """The conditional branch that ends a block."""
        ops = self.blocks[number].ops
        if ops and ops[-1].does & BRANCHES and ops[-1].inst.guard is not None:
            return ops[-1]
        return None

    def forks(self) -> Iterator[Op]:
        """The conditional branches with two ways on."""
        for number, block in enumerate(self.blocks):
            branch = self.branch(number)
            if branch is not None and len(block.successors) > 1:
                yield branch

    def holds(self, branch: Op, way: int) -> bool:
        """The value of a branch's predicate on the edge to block `way`."""
        assert branch.inst.guard is not None
        return (way != self.blocks[branch.block].falls) != branch.inst.guard.negated

    def reach(self, start: int, avoid: Iterable[int] = (), inside: set[int] | None = None) -> set[int]:
        """The blocks reachable from block `start`, itself included, without passing through `avoid`."""
        seen, work, closed = set(), [start], set(avoid)
        while work:
            number = work.pop()
            if number in seen or number in closed or (inside is not None and number not in inside):
                continue
            seen.add(number)
            work += self.blocks[number].successors
        return seen

    def hits(self, stop: Callable[[Op], bool]) -> dict[int, Op]:
        """The first operation with `stop` in each block that has one."""
        return self.earliest(op for op in self.ops() if stop(op))

    def earliest(self, ops: Iterable[Op]) -> dict[int, Op]:
        """The first of some operations in each block that has one."""
        found: dict[int, Op] = {}
        for op in ops:
            if op.block not in found or op.index < found[op.block].index:
                found[op.block] = op
        return found

    def first(self, start: int, hits: dict[int, Op]) -> set[Op]:
        """The first of `hits` on each path from the beginning of block `start`."""
        found: set[Op] = set()
        seen, work = set(), [start]
        while work:
            number = work.pop()
            if number in seen:
                continue
            seen.add(number)
            if number in hits:
                found.add(hits[number])
            else:
                work += self.blocks[number].successors
        return found

    def firsts(self, hits: dict[int, Op]) -> list[int]:
        """`first` for the beginning of every block: a bit for each of `hits`, in the order of the dictionary."""
        found = [0] * len(self.blocks)
        for bit, number in enumerate(hits):
            found[number] = 1 << bit
        work = list(hits)
        while work:
            number = work.pop()
            for previous in self.blocks[number].predecessors:
                if previous not in hits and found[previous] | found[number] != found[previous]:
                    found[previous] |= found[number]
                    work.append(previous)
        return found

    @cached_property
    def components(self) -> list[int]:
        """A number for each block, equal for blocks that reach each other."""
        component = [0] * len(self.blocks)
        for number, members in enumerate(components({n: block.successors for n, block in enumerate(self.blocks)})):
            for member in members:
                component[member] = number
        return component

    @cached_property
    def cyclic(self) -> set[int]:
        """The blocks on a cycle."""
        sizes = Counter(self.components)
        return {
            number
            for number, block in enumerate(self.blocks)
            if sizes[self.components[number]] > 1 or number in block.successors
        }

    def loops(self) -> Iterator[tuple[int, set[int]]]:
        """The loops, one for each jump back: its target, and the blocks of the loop."""
        for tail, head in self._retreating():
            body, work = {head, tail}, [tail] if tail != head else []
            while work:
                for before in self.blocks[work.pop()].predecessors:
                    if before not in body and self.components[before] == self.components[head]:
                        body.add(before)
                        work.append(before)
            yield head, body

    def _retreating(self) -> list[tuple[int, int]]:
        """The edges to a block that a depth-first walk has not finished."""
        found, state = [], {0: 1}  # 1: the walk is in it, 2: done
        stack = [(0, iter(self.blocks[0].successors))]
        while stack:
            number, rest = stack[-1]
            for successor in rest:
                known = state.get(successor)
                if known == 1:
                    found.append((number, successor))
                elif known is None:
                    state[successor] = 1
                    stack.append((successor, iter(self.blocks[successor].successors)))
                    break
            else:
                state[number] = 2
                stack.pop()
        return found
