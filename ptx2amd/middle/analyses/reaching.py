"""Reaching definitions: which writes of a register may define its value at the beginning of a block.

Sets of writes are the bits of integers. The writes of many registers are followed through the blocks at once, and only
when one of these is asked about: large kernels have thousands of blocks, and thousands of such registers."""

from __future__ import annotations

from collections import deque

from ptx2amd.middle.op import Block, Op, Register

GROUP = 1024  # writes that are followed at once


class Reaching:
    """The answers for the blocks of one body. registers: those that may be asked about."""

    def __init__(self, blocks: list[Block], registers: list[Register]) -> None:
        self.blocks = blocks
        self._groups: list[list[Register]] = []
        self._places: dict[Register, tuple[int, int]] = {}  # of a register: its group, and the bit of its first write
        self._solved: dict[int, list[int]] = {}  # of a group: the writes that reach each block
        used = GROUP
        for register in registers:
            if used >= GROUP:
                self._groups.append([])
                used = 0
            self._groups[-1].append(register)
            self._places[register] = len(self._groups) - 1, used
            used += len(register.writes)

    def at(self, number: int, register: Register) -> set[Op]:
        """The writes whose value `register` may have at the beginning of a block."""
        group, first = self._places[register]
        if group not in self._solved:
            self._solved[group] = self._solve(self._groups[group])
        bits = self._solved[group][number] >> first & (1 << len(register.writes)) - 1
        return {write for bit, write in enumerate(register.writes) if bits >> bit & 1}

    def _solve(self, registers: list[Register]) -> list[int]:
        """The writes of registers that reach each block."""
        ended = [0] * len(self.blocks)  # what a block overwrites
        leaving = [0] * len(self.blocks)  # first what a block writes, then also what passes through it
        for register in registers:
            writes, first = register.writes, self._places[register][1]
            every = (1 << len(writes)) - 1 << first
            for bit, write in enumerate(writes, first):
                if write.overwrites:
                    ended[write.block] |= every
                    leaving[write.block] &= ~every
                leaving[write.block] |= 1 << bit
        reaching = [0] * len(self.blocks)
        work = deque(range(len(self.blocks)))
        waits = [True] * len(self.blocks)
        while work:
            number = work.popleft()
            waits[number] = False
            block, new = self.blocks[number], 0
            for previous in block.predecessors:
                new |= leaving[previous]
            reaching[number] = new
            left = leaving[number] | new & ~ended[number]
            if left == leaving[number]:
                continue
            leaving[number] = left
            for successor in block.successors:
                if not waits[successor]:
                    waits[successor] = True
                    work.append(successor)
        return reaching
