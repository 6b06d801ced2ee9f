"""isspacep: which window a generic address is in. Parameters are in the global window too, constants are not."""

from __future__ import annotations

import struct

import pytest
from device import MAPPINGS, program

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
