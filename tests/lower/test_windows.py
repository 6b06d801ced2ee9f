"""isspacep: which window a generic address is in. Parameters are in the global window too, constants are not."""

from __future__ import annotations

import struct

import pytest

from tests.lower.device import MAPPINGS, program

SPACES = ("global", "const", "shared", "local", "param", "param::entry")
WHERE = {
    "g": {"global"}, "c": {"const"}, "c2+8": {"const"}, "s": {"shared"}, "l": {"local"},
    "out": {"global", "param", "param::entry"},
}  # fmt: skip
KINDS = {"g": "global", "c": "const", "c2+8": "const", "s": "shared", "l": "local", "out": "param"}


def text() -> str:
    """k(out): a word for each address and space, whether it is in the space's window."""
    lines = [
        ".version 8.0\n.target sm_80\n.address_size 64",
        ".global .align 8 .b8 g[64]; .const .align 8 .b8 c[64]; .global .b32 between; .const .align 8 .b8 c2[16];",
        ".visible .entry k(.param .u64 out) {",
        ".shared .b32 s; .local .b32 l; .reg .b64 %out, %a; .reg .b32 %r; .reg .pred %p; ld.param.u64 %out, [out];",
    ]
    for i, (name, kind) in enumerate(KINDS.items()):
        lines.append(f"mov.u64 %a, {name}; cvta.{kind}.u64 %a, %a;")
        for k, space in enumerate(SPACES):
            lines.append(f"isspacep.{space} %p, %a; selp.b32 %r, 1, 0, %p;")
            lines.append(f"st.global.u32 [%out+{4 * (len(SPACES) * i + k)}], %r;")
    return "\n".join([*lines, "ret; }", ""])


@pytest.mark.parametrize("arch", MAPPINGS)
def test_windows(arch: str) -> None:
    [out] = program(text(), arch).run("k", 1, [4 * len(SPACES) * len(KINDS)])
    got = struct.unpack(f"<{len(SPACES) * len(KINDS)}I", out)
    for i, (name, spaces) in enumerate(WHERE.items()):
        found = {space for k, space in enumerate(SPACES) if got[len(SPACES) * i + k]}
        assert found == spaces, name


@pytest.mark.parametrize("arch", MAPPINGS)
def test_narrow_parameter_addresses(arch: str) -> None:
    """LLVM keeps the address of a kernel's parameter in 32 bits until cvta.param."""
    kernel = """.version 8.0\n.target sm_80\n.address_size 64
.visible .entry k(.param .u64 out, .param .align 64 .b8 block[128], .param .u32 last) {
    .reg .b64 %out, %a, %b; .reg .b32 %n, %v; ld.param.u64 %out, [out];
    mov.b32 %n, block; cvt.u64.u32 %a, %n; cvta.param.u64 %a, %a; ld.b32 %v, [%a+124]; st.global.b32 [%out], %v;
    mov.b64 %b, block; cvta.param.u64 %b, %b; ld.b32 %v, [%b+4]; st.global.b32 [%out+4], %v;
    sub.u64 %a, %a, %b; st.global.b64 [%out+8], %a; ret; }
"""
    block = struct.pack("<32I", *range(100, 132))
    [out] = program(kernel, arch).run("k", 1, [16], [block, struct.pack("<I", 7)])
    assert struct.unpack("<IIQ", out) == (131, 101, 0)
