"""Random control flow, structured or not, with guards, brx and calls that may exit: every thread must follow the
path that an interpreter in Python follows, whatever its neighbours in the wave do."""

from __future__ import annotations

import random
import struct
from dataclasses import dataclass

import pytest

from ptx2amd.codegen import llvm
from tests.lower.device import MAPPINGS, program

HEAD = ".version 8.0\n.target sm_75\n.address_size 64\n"
THREADS = 96
REGISTERS = 5
FUEL = 40  # blocks that a thread may enter
MASK = 0xFFFFFFFF
LEAVE = """.func (.param .b32 r) leave(.param .b32 x) { .reg .b32 %r<4>; .reg .pred %p;
  ld.param.b32 %r1, [x]; and.b32 %r2, %r1, 63; setp.eq.b32 %p, %r2, 17;
  @%p exit;
  xor.b32 %r3, %r1, 0x5A5A; st.param.b32 [r], %r3; ret; }
"""


@dataclass(frozen=True)
class Step:
    """One statement of a block: op d, a, b; under a guard on bit `bit` of register `test` unless bit is None."""

    op: str  # add, xor, mul, call
    d: int
    a: int
    b: int
    test: int
    bit: int | None


@dataclass(frozen=True)
class Block:
    """Statements, then a jump by bits of register `test`: to targets[test >> shift & (len - 1)]."""

    steps: tuple[Step, ...]
    test: int
    shift: int
    targets: tuple[int, ...]


def generate(seed: int, calls: bool = True) -> list[Block]:
    rng = random.Random(seed)
    count = rng.randrange(3, 9)
    register = lambda: rng.randrange(REGISTERS)  # noqa: E731
    blocks = []
    for _ in range(count):
        steps = tuple(
            Step(
                rng.choice(["add", "xor", "mul", "add", "xor", "mul", "call" if calls else "add"]),
                register(), register(), register(), register(),
                rng.choice([None, None, rng.randrange(8)]),
            )
            for _ in range(rng.randrange(1, 5))
        )  # fmt: skip
        targets = tuple(rng.randrange(count) for _ in range(rng.choice([1, 2, 2, 2, 4])))
        blocks.append(Block(steps, register(), rng.randrange(6), targets))
    return blocks


def ptx(blocks: list[Block]) -> str:
    lines = []
    for n, block in enumerate(blocks):
        lines.append(f"B{n}: sub.u32 %fuel, %fuel, 1; setp.eq.u32 %p0, %fuel, 0; @%p0 bra END;")
        for step in block.steps:
            guard = ""
            if step.bit is not None:
                lines.append(f"  and.b32 %t, %r{step.test}, {1 << step.bit}; setp.ne.u32 %p1, %t, 0;")
                guard = "@%p1 "
            if step.op == "call":
                lines.append(f"  {{ .param .b32 a; st.param.b32 [a], %r{step.a}; .param .b32 r;")
                lines.append(f"  {guard}call (r), leave, (a);")
                lines.append(f"  {guard}ld.param.b32 %r{step.d}, [r]; }}")
            else:
                op = {"add": "add.u32", "xor": "xor.b32", "mul": "mul.lo.u32"}[step.op]
                lines.append(f"  {guard}{op} %r{step.d}, %r{step.a}, %r{step.b};")
        lines.append(f"  shr.u32 %t, %r{block.test}, {block.shift}; and.b32 %t, %t, {len(block.targets) - 1};")
        if len(block.targets) == 4:
            names = ", ".join(f"B{t}" for t in block.targets)
            lines.append(f"T{n}: .branchtargets {names};\n  brx.idx %t, T{n};")
        else:
            lines.append("  setp.ne.u32 %p1, %t, 0;")
            lines.append(f"  @%p1 bra B{block.targets[-1]};\n  bra B{block.targets[0]};")
    stores = "".join(f"  st.global.u32 [%out+{4 * i}], %r{i};\n" for i in range(REGISTERS))
    seeds = "".join(f"  mad.lo.u32 %r{i}, %t, {2 * i + 0x9E3779B1}, {i};\n" for i in range(REGISTERS))
    return f"""{HEAD}{LEAVE}.visible .entry k(.param .u64 o) {{
  .reg .b32 %r<{REGISTERS}>, %t, %fuel; .reg .b64 %out; .reg .pred %p<2>;
  ld.param.u64 %out, [o]; mov.u32 %t, %tid.x; mad.wide.u32 %out, %t, {4 * REGISTERS}, %out;
{seeds}  mov.u32 %fuel, {FUEL};
{chr(10).join(lines)}
END:
{stores}  ret; }}
"""


def interpret(blocks: list[Block], thread: int) -> list[int]:
    """The registers at the end; zeros (nothing stored) for a thread that exited in a call."""
    r = [(thread * (2 * i + 0x9E3779B1) + i) & MASK for i in range(REGISTERS)]
    at, fuel = 0, FUEL
    while True:
        fuel -= 1
        if fuel == 0:
            return r
        for step in blocks[at].steps:
            if step.bit is not None and not r[step.test] >> step.bit & 1:
                continue
            if step.op == "call":
                if r[step.a] & 63 == 17:
                    return [0] * REGISTERS
                r[step.d] = r[step.a] ^ 0x5A5A
            else:
                a, b = r[step.a], r[step.b]
                r[step.d] = {"add": a + b, "xor": a ^ b, "mul": a * b}[step.op] & MASK
        choice = r[blocks[at].test] >> blocks[at].shift & (len(blocks[at].targets) - 1)
        at = blocks[at].targets[choice]


def check(seed: int, arch: str, calls: bool = True) -> None:
    blocks = generate(seed, calls)
    text = ptx(blocks)
    [out] = program(text, arch).run("k", THREADS, [4 * REGISTERS * THREADS])
    found = [list(row) for row in struct.iter_unpack(f"<{REGISTERS}I", out)]
    wanted = [interpret(blocks, t) for t in range(THREADS)]
    wrong = [t for t in range(THREADS) if found[t] != wanted[t]]
    assert not wrong, f"seed {seed} on {arch}: threads {wrong[:8]} in\n{text}"


@pytest.mark.parametrize("arch", MAPPINGS)
@pytest.mark.parametrize("seed", range(16))
def test_random_flow(seed: int, arch: str) -> None:
    check(seed, arch)


@pytest.mark.slow
@pytest.mark.parametrize("arch", MAPPINGS)
@pytest.mark.parametrize("seed", range(16, 216))
def test_more_random_flow(seed: int, arch: str) -> None:
    check(seed, arch)


@pytest.mark.parametrize(
    "seed", [*range(1000, 1010), *(pytest.param(n, marks=pytest.mark.slow) for n in range(1010, 1200))]
)
def test_random_flow_in_the_short_pipeline(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(llvm, "FULL_LINES", 0)
    check(seed, MAPPINGS[seed % 2], calls=False)


def test_the_paths_diverge() -> None:
    """Neighbouring threads take different ways in most programs, and some exit inside calls."""
    ways = [{tuple(interpret(generate(seed), t)) for t in range(32)} for seed in range(16)]
    assert sum(len(way) > 16 for way in ways) > 8
    assert any((0,) * REGISTERS in way for way in ways)
