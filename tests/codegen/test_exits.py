"""Loops that lanes leave at several places compute what they say, with the one exit that code generation gives them.

Protects: random loops with breaks, nested and not, whose lanes leave in different iterations and by different exits."""

from __future__ import annotations

import random
import struct
from dataclasses import dataclass

import pytest

from ptx2amd.codegen import exits
from ptx2amd.codegen.workarounds.records import Module, parse
from tests.lower.device import Program

THREADS = 64
REGISTERS = 4
MASK = 0xFFFFFFFF
LOOP = """define void @f(i32 %n, i1 %q) {
entry:
  br label %head
head:
  %i = phi i32 [ 0, %entry ], [ %j, %latch ]
  br i1 %q, label %end, label %latch
latch:
  %j = add i32 %i, 1
  %more = icmp slt i32 %j, %n
  br i1 %more, label %head, label %end
end:
  %x = phi i32 [ %i, %head ], [ %j, %latch ]
  ret void
}
"""


@dataclass(frozen=True)
class Step:
    """v[to] = v[a] * factor + v[b]; then, if it is a break: leave the loop where (v[to] >> shift) % 8 == 0.
    inner: a loop in the place of both, of so many rounds at most."""

    to: int
    a: int
    b: int
    factor: int
    shift: int
    breaks: bool
    inner: tuple[Step, ...] = ()
    rounds: int = 0


def generate(rng: random.Random, depth: int = 0) -> tuple[Step, ...]:
    steps = []
    for _ in range(rng.randrange(2, 5)):
        a, b, to = (rng.randrange(REGISTERS) for _ in range(3))
        inner = generate(rng, depth + 1) if depth < 2 and rng.random() < 0.2 else ()
        factor, shift, breaks = 2 * rng.randrange(1 << 20) + 1, rng.randrange(24), rng.random() < 0.6
        steps.append(Step(to, a, b, factor, shift, breaks, inner, rng.randrange(2, 7)))
    return tuple(steps)


def text(steps: tuple[Step, ...], rounds: int, number: list[int]) -> str:
    number[0] += 1
    me = number[0]
    lines = [f"mov.u32 %n{me}, 0;\nL{me}:"]
    for step in steps:
        if step.inner:
            lines.append(text(step.inner, step.rounds, number))
            continue
        lines.append(f"mad.lo.u32 %v{step.to}, %v{step.a}, {step.factor}, %v{step.b};")
        if step.breaks:
            lines.append(f"bfe.u32 %t, %v{step.to}, {step.shift}, 3; setp.eq.u32 %p, %t, 0; @%p bra E{me};")
    lines.append(
        f"add.u32 %n{me}, %n{me}, 1; add.u32 %t, %zero, {rounds}; setp.lt.u32 %p, %n{me}, %t; @%p bra L{me};\nE{me}:"
    )
    return "\n".join(lines)


def run(steps: tuple[Step, ...], rounds: int, v: list[int]) -> None:
    for _ in range(rounds):
        for step in steps:
            if step.inner:
                run(step.inner, step.rounds, v)
                continue
            v[step.to] = (v[step.a] * step.factor + v[step.b]) & MASK
            if step.breaks and (v[step.to] >> step.shift) % 8 == 0:
                return


def kernel(steps: tuple[Step, ...]) -> str:
    registers = ", ".join(f"%v{r}" for r in range(REGISTERS))
    body = text(steps, 9, [0])
    return f""".version 8.0\n.target sm_75\n.address_size 64
.visible .entry k(.param .u64 in, .param .u64 zero) {{
  .reg .b32 %t, %zero, %v<{REGISTERS}>, %n<99>; .reg .b64 %in; .reg .pred %p;
  ld.param.u64 %in, [zero]; ld.global.u32 %zero, [%in];
  ld.param.u64 %in, [in]; mov.u32 %t, %tid.x; mad.wide.u32 %in, %t, 16, %in;
  ld.global.v4.u32 {{{registers}}}, [%in];
{body}
  st.global.v4.u32 [%in], {{{registers}}}; ret; }}
"""


@pytest.fixture
def merged(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many blocks the functions have more, each time that the rewrite has run."""
    found, real = [], exits.rewrite

    def rewrite(module: Module) -> None:
        before = sum(len(function.blocks) for function in module.functions())
        real(module)
        found.append(sum(len(function.blocks) for function in module.functions()) - before)

    monkeypatch.setattr(exits, "rewrite", rewrite)
    return found


@pytest.mark.parametrize("arch", ["gfx942", "gfx1100"])
def test_random_loops(arch: str, merged: list[int]) -> None:
    for seed in range(16):
        check(seed, arch)
    assert sum(map(bool, merged)) > 4, "in the others LLVM has merged the conditions of all exits"


@pytest.mark.slow
@pytest.mark.parametrize("arch", ["gfx90a", "gfx942", "gfx1030", "gfx1100", "gfx1201"])
def test_many_random_loops(arch: str) -> None:
    for seed in range(1000, 1200):
        check(seed, arch)


def check(seed: int, arch: str) -> None:
    rng = random.Random(seed)
    steps = generate(rng)
    values = [[rng.randrange(1 << 32) for _ in range(REGISTERS)] for _ in range(THREADS)]
    data = b"".join(struct.pack("<4I", *line) for line in values)
    out, _ = Program(kernel(steps), arch).run(
        "k", THREADS, [data, bytes(4)]
    )  # the zero keeps loops from being unrolled
    for line in values:
        run(steps, 9, line)
    assert [list(line) for line in struct.iter_unpack("<4I", out)] == values, f"seed {seed}"


def test_a_loop_with_a_break_has_one_exit() -> None:
    module = parse(LOOP)
    exits.rewrite(module)
    [function] = module.functions()
    ends = [block.label for block in function.blocks if "label %end" in block.lines[-1]]
    backs = [block.label for block in function.blocks[1:] if "label %head" in block.lines[-1]]
    assert ends == backs == ["exits.0"]


@pytest.mark.parametrize(
    ("changed", "to"),
    [
        ("br i1 %q, label %end, label %latch", "br label %latch"),  # has one exit
        ("br label %head\nhead", "br i1 %q, label %latch, label %head\nhead"),  # two entries: no natural loop
    ],
)
def test_other_loops_stay(changed: str, to: str) -> None:
    ir = LOOP.replace(changed, to)
    module = parse(ir)
    exits.rewrite(module)
    assert module.text() == parse(ir).text() and changed in LOOP
