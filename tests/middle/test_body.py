"""The flow of values in a body, on random programs, against searches of the whole graph.

Protects: which writes a read may see, and what the loops are, on which all analyses of waits rest; and that it stays
affordable for kernels with thousands of blocks.
"""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from ptx2amd.isa.effects import EXITS, RETURNS, TRAPS
from ptx2amd.middle.analyses.locks import conditions
from ptx2amd.middle.analyses.postdominators import PostDominators
from ptx2amd.middle.body import Body
from ptx2amd.middle.op import Block
from ptx2amd.middle.summary import body
from ptx2amd.ptx.ast import Scope
from ptx2amd.ptx.parse import parse_module
from tests.cost import calls

HEAD = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k() {\n.reg .pred %p<5>; .reg .b32 %r<32>;\n"


def written(lines: list[str]) -> Scope:
    module = parse_module("\n".join([HEAD, *lines, "ret;\n}\n"]), "random")
    return body(module, module.functions["k"])


def program(seed: int, count: int = 12, registers: int = 4) -> Scope:
    """Blocks that branch to each other at random, and write few registers; one more is only read."""
    draw = random.Random(seed)
    lines = []
    for number in range(count):
        lines.append(f"L{number}:")
        for _ in range(draw.randrange(4)):
            guard = draw.choice(("", "", "@%p1 ", "@!%p2 "))
            to, a, b = draw.randrange(registers), draw.randrange(registers + 1), draw.randrange(registers)
            lines.append(f"{guard}add.u32 %r{to}, %r{a}, %r{b};")
        if draw.random() < 0.8:
            lines.append(f"{draw.choice(('', '@%p1 ', '@%p3 '))}bra L{draw.randrange(count)};")
    return written(lines)


@pytest.mark.parametrize("seed", range(60))
def test_the_writes_that_a_read_may_see(seed: int) -> None:
    flow = Body(program(seed))
    everywhere = set(range(len(flow.blocks)))
    reads = [(op, register) for op in flow.ops() for register in op.reads if len(register.writes) > 1]
    assert [flow.sources(*read) for read in reads] == [flow.reaching(*read, everywhere) for read in reads]


@pytest.mark.parametrize("seed", range(60))
def test_a_loop_is_what_lies_between_a_jump_back_and_its_target(seed: int) -> None:
    flow = Body(program(seed))
    for head, loop in flow.loops():
        tails = [n for n in loop if head in flow.blocks[n].successors]
        behind = flow.reach(head)
        assert loop in [{head} | {n for n in behind if tail in flow.reach(n, [head])} for tail in tails]


def far_reads(count: int) -> list[str]:
    block = "add.u32 %r1, %r0, 1;\n@%p2 bra L{};\nL{}:"
    return ["mov.u32 %r0, 1;", "@%p1 bra L;", "mov.u32 %r0, 2;", "L:", *(block.format(n, n) for n in range(count))]


def dense_branches(count: int) -> list[str]:
    block = "L{}: add.u32 %r1, %r1, %r2; setp.lt.u32 %p1, %r1, {}; @%p1 bra L{};"
    return [block.format(n, n, n * 7919 % count) for n in range(count)]


def read_all(flow: Body) -> None:
    assert all(flow.sources(op, register) for op in flow.ops() for register in op.reads if register.name == "%r0")


@pytest.mark.parametrize(("lines", "work"), [(far_reads, read_all), (dense_branches, conditions)])
def test_large_bodies_take_linear_time(lines: Callable[[int], list[str]], work: Callable[[Body], object]) -> None:
    """A search from each read takes 256 times as long, one for each branch and write 4,096 times."""

    def cost(count: int) -> int:
        flow = Body(written(lines(count)))
        return calls(lambda: work(flow))

    assert cost(3200) < 20 * cost(200)


def test_an_analysis_is_made_once() -> None:
    flow = Body(program(1))
    made: list[Body] = []

    def blocks(body: Body) -> int:
        made.append(body)
        return len(body.blocks)

    assert flow.analysis(blocks) == flow.analysis(blocks) == len(flow.blocks)
    assert made == [flow]


@pytest.mark.parametrize("seed", range(60))
def test_post_dominators(seed: int) -> None:
    """A block is on all ways from another to the end if, without it, none is left."""
    flow = Body(program(seed))
    found = flow.analysis(PostDominators)
    ends = {n for n, block in enumerate(flow.blocks) if not block.successors or ended(block)}
    for number in range(len(flow.blocks)):
        if not flow.reach(number) & ends:
            continue  # a loop without end
        after = {n for n in range(len(flow.blocks)) if n == number or not flow.reach(number, [n]) & ends}
        assert {n for n in range(len(flow.blocks)) if found.of[number] >> n & 1} == after
        nearest = found.nearest(number)
        assert nearest == -1 if after == {number} else nearest in after - {number}


def ended(block: Block) -> bool:
    return bool(block.ops and block.ops[-1].does & (RETURNS | EXITS | TRAPS))
