"""f64 operations rounded up, down or toward zero: in a function with many of them they are calls."""

from __future__ import annotations

import random
import re
import struct

import pytest

from ptx2amd.lower.scalar import directed
from ptx2amd.translate import translate
from tests.lower.device import ARCHS, Program

OPERATIONS = ("add.rm.f64", "sub.rp.f64", "mul.rz.f64", "fma.rp.f64", "div.rm.f64", "sqrt.rp.f64", "rcp.rz.f64")
SPECIAL = (0.0, -0.0, 1.0, -3.0, float("inf"), float("-inf"), float("nan"), 5e-324, -2.3e-308, 1.7e308)
SOURCES = {"fma": 3, "sqrt": 1, "rcp": 1}


def text(repeats: int, first: str = "%a") -> str:
    """Each lane loads three numbers, and stores the results of the operations. first: their first source."""
    body = [
        f"{op} %d, {', '.join([first, '%b', '%c'][: SOURCES.get(op[:-7], 2)])}; st.global.f64 [%out+{8 * i}], %d;"
        for i, op in enumerate(OPERATIONS * repeats)
    ]
    size = 8 * len(body)
    return f"""
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out) {{
.reg .b64 %in, %out, %at; .reg .b32 %t; .reg .f64 %a, %b, %c, %d;
mov.u32 %t, %tid.x; ld.param.u64 %in, [in]; ld.param.u64 %out, [out];
mad.wide.u32 %in, %t, 24, %in; mad.wide.u32 %out, %t, {size}, %out;
ld.global.f64 %a, [%in]; ld.global.f64 %b, [%in+8]; ld.global.f64 %c, [%in+16]; mov.f64 %d, %a;
{"".join(body)} ret; }}"""


@pytest.mark.parametrize("arch", ARCHS)
def test_calls_have_the_same_results(arch: str, monkeypatch: pytest.MonkeyPatch) -> None:
    source = random.Random(arch)
    numbers = [source.choice(SPECIAL) if source.random() < 0.3 else source.uniform(-9, 9) for _ in range(3 * 64)]
    found = []
    for in_place in (1000, 0):
        monkeypatch.setattr(directed, "IN_PLACE", in_place)
        memory = struct.pack(f"<{len(numbers)}d", *numbers)
        found.append(Program(text(1), arch).run("k", 64, [memory, 64 * 8 * len(OPERATIONS)])[1])
    assert found[0] == found[1] and len(set(struct.unpack(f"<{64 * len(OPERATIONS)}d", found[0]))) > 100


def test_code_grows_slowly_with_many() -> None:
    lengths = []
    for repeats in (10, 40):
        [result] = translate(text(repeats, "%d"), archs=["gfx942"], mode="module", emit="asm")
        lengths.append(len(re.findall(rb"^\s+v_", result.code, re.MULTILINE)))
    assert lengths[1] - lengths[0] < 30 * 20 * len(OPERATIONS), "20 instructions each"
