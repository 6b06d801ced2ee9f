"""memcheck on alignment: each access of PTX that is not aligned to its size is named, with every type and space; and
none of those that are, though LLVM could merge them into wider ones that are not.
"""

from __future__ import annotations

import random
import re

import pytest

from tests.vgpu.test_memcheck import ARCHS, ptx, run

TYPES = {
    "u16": 2, "b32": 4, "f64": 8, "s8.v2": 2, "u8.v4": 4, "u16.v2": 4, "b16.v4": 8, "f32.v2": 8, "u32.v4": 16,
    "b64.v2": 16,
}  # fmt: skip
SPACES = {"global": "%rd3", "shared": "%r3", "local": "%rd7", "": "%rd3"}
#: %rd3 of each thread: 32 bytes in p, or in the tile; %rd7: 32 bytes of local memory
PLACES = """
  .local .align 16 .b8 own[64];
  .reg .b16 %b<9>; .reg .b32 %w<9>; .reg .b64 %l<9>;
  mul.wide.u32 %rd9, %r1, 32; add.s64 %rd3, %rd1, %rd9; add.s64 %rd4, %rd2, %rd9;
  shl.b32 %r3, %r1, 5; add.u32 %r3, %r9, %r3; mov.u64 %rd7, own;
  mov.b64 %l1, 0;
  st.local.v2.u64 [%rd7], {%l1, %l1}; st.local.v2.u64 [%rd7+16], {%l1, %l1}; st.local.v2.u64 [%rd7+32], {%l1, %l1};
  mov.b32 %w1, 0; mov.b16 %b1, 0;
"""


def access(how: str, space: str, of: str, at: int) -> str:
    """A load or a store; of: a type, or type.vector."""
    kind, _, vector = of.partition(".")
    bits = int(re.sub(r"\D", "", kind))
    letter = {8: "b", 16: "b", 32: "w", 64: "l"}[bits]
    n = int(vector[1:]) if vector else 1
    names = [f"%{letter}{k + 2 if how.startswith('ld') else 1}" for k in range(n)]
    registers = names[0] if n == 1 else "{" + ", ".join(names) + "}"
    text = ".".join(filter(None, [how, space, vector, kind]))
    memory = f"[{SPACES[space]}+{at}]"
    return f"{text} {registers}, {memory};" if how.startswith("ld") else f"{text} {memory}, {registers};"


def cases() -> list[tuple[str, int]]:
    """Statements with an address that is off by half their size, and the size."""
    out = []
    for of, size in TYPES.items():
        for space in SPACES:
            strong = ["ld.relaxed.gpu", "st.relaxed.gpu"] if space in ("global", "") else []
            for how in ["ld", "st", *strong, *(["ld.volatile", "st.volatile"] if space != "local" else [])]:
                out.append((access(how, space, of, size // 2), size))
    return out


@pytest.mark.parametrize("arch", ARCHS)
def test_all_that_are_misaligned_are_named(arch: str) -> None:
    statements = cases()
    text, _ = ptx(PLACES + "\n".join(statement for statement, _ in statements))
    report = run(text, "p = gpu.buffer(np.zeros(4096, np.uint8))\nk(1, 4, p, out)", arch, PTX2AMD_MEMCHECK="1")
    lines = {line.strip(): n for n, line in enumerate(text.splitlines(), 1)}
    found = {
        int(n): int(size) for size, n in re.findall(r"misaligned access: (\d+) bytes.*\n.*PTX line (\d+) of", report)
    }
    missing = [statement for statement, size in statements if found.get(lines[statement]) != size]
    assert not missing, report
    assert len(found) == len(statements), report


def packed(seed: int) -> str:
    """Copies of packed structures: neighbouring elements of 8, 16 and 32 bits, each aligned, from any place."""
    rng = random.Random(seed)
    out = []
    for source, to in (("global", "shared"), ("shared", "global"), ("local", "global"), ("", "local"), ("global", "")):
        for size in (1, 2, 4):
            of = {1: "u8", 2: "u16", 4: "u32"}[size]
            first = rng.randrange(0, 16, size)
            places = range(first, min(first + size * rng.randint(2, 8), 24), size)
            letter = "w" if size == 4 else "b"
            for k, at in enumerate(places):
                out.append(f"ld.{source}.{of} %{letter}{k + 1}, [{SPACES[source]}+{at}];".replace("..", "."))
            out.append("bar.sync 0;")
            for k, at in enumerate(places):
                out.append(f"st.{to}.{of} [{SPACES[to]}+{at}], %{letter}{k + 1};".replace("..", "."))
            out.append("bar.sync 0;")
    return "\n".join(out)


@pytest.mark.parametrize("arch", ARCHS)
@pytest.mark.parametrize("seed", range(4))
def test_none_of_packed_structures(arch: str, seed: int) -> None:
    """All memory but local begins written."""
    fill = (
        "st.shared.v4.u32 [%r3], {%w1, %w1, %w1, %w1}; st.shared.v4.u32 [%r3+16], {%w1, %w1, %w1, %w1}; bar.sync 0;\n"
    )
    text, _ = ptx(PLACES + fill + packed(seed))
    host = "p = gpu.buffer(np.zeros(4096, np.uint8)); out = gpu.buffer(np.zeros(4096, np.uint8))\nk(1, 8, p, out)"
    report = run(text, host, arch, PTX2AMD_MEMCHECK="1")
    assert "memcheck: 0 errors at 0 places" in report, report
