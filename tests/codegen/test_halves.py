"""Both halves of a product take one instruction: the lower half is the same for all operands, and what else is done
with the wide product decides whether it is shared."""

from __future__ import annotations

import re
import struct
from itertools import product

import pytest
import z3

from ptx2amd import hip
from ptx2amd.codegen import halves
from ptx2amd.codegen.workarounds import rewritten
from ptx2amd.translate import translate
from tests.proofs.ir import Run

HEAD = ".version 9.0\n.target sm_90\n.address_size 64\n"
ARCHS = ["gfx803", "gfx90a", "gfx942", "gfx1030", "gfx1100", "gfx1201"]


def block(bits: int, how: str, wide: str, narrow: str, use: str = "lshr") -> str:
    """A function of %a and %b; wide, narrow: the second operands; use: what becomes of the wide product."""
    ty = f"i{2 * bits}"
    return f"""define i{bits} @f(i{bits} %a, i{bits} %b) {{
entry:
  %n = mul i{bits} %a, {narrow}
  %x = {how} i{bits} %a to {ty}
  %y = {how} i{bits} %b to {ty}
  %w = mul {ty} %x, {wide}
  %s = {use} {ty} %w, {bits}
  %h = trunc {ty} %s to i{bits}
  %v = xor i{bits} %h, %n
  ret i{bits} %v
}}
"""


def value(text: str, bits: int) -> z3.BitVecRef:
    """What the function returns, without assumptions."""
    run = Run({}, values={name: z3.BitVec(name, bits) for name in ("%a", "%b")}).function(text)
    assert z3.is_false(z3.simplify(z3.Or(run.forbidden)))
    return run.returned[0]


@pytest.mark.parametrize("bits", [32, 64])
@pytest.mark.parametrize("how", ["zext", "sext"])
@pytest.mark.parametrize("constant", [None, -766435501, 3])
def test_all_operands(bits: int, how: str, constant: int | None) -> None:
    wide, narrow = "%y", "%b"
    if constant is not None:
        wide, narrow = str(constant if how == "sext" else constant % (1 << bits)), str(constant)
    before = block(bits, how, wide, narrow)
    after = rewritten(before, [halves.rewrite])
    assert after.count(" = mul ") == after.count(f" = mul i{2 * bits} ") == 2
    solver = z3.Solver()
    solver.add(value(before, bits) != value(after, bits))
    assert solver.check() == z3.unsat


@pytest.mark.parametrize(
    "text",
    [
        block(32, "zext", "%y", "%b", "add"),  # the addition is the same instruction's
        block(32, "zext", "-766435501", "-766435501"),  # no constant that zext makes
        block(32, "sext", "3528531795", "-766435501"),
        block(32, "zext", "3528531795", "-766435500"),
        block(32, "zext", "%y", "%a"),
        block(32, "zext", "%y", "%b").replace("%x = zext", "%x = sext"),
        block(32, "zext", "%y", "%b").replace("  %x =", "  br label %next\nnext:\n  %x ="),
    ],
)
def test_what_stays(text: str) -> None:
    assert rewritten(text, [halves.rewrite]) is text


def kernel(sign: str, order: str, bits: int = 32) -> str:
    """Both halves of the product of each lane's two numbers."""
    low, high = f"mul.lo.u{bits} %r3, %r1, %r2;", f"mul.hi.{sign}{bits} %r4, %r1, %r2;"
    return f"""{HEAD}.visible .entry k(.param .u64 a) {{ .reg .b64 %a<3>; .reg .b32 %t; .reg .b{bits} %r<5>;
    mov.u32 %t, %tid.x; mul.wide.u32 %a1, %t, {bits // 4}; ld.param.u64 %a0, [a]; add.u64 %a2, %a0, %a1;
    ld.global.v2.b{bits} {{%r1, %r2}}, [%a2]; {low + high if order == "low" else high + low}
    st.global.v2.b{bits} [%a2], {{%r3, %r4}}; ret; }}"""


@pytest.mark.parametrize("bits", [32, 64])
@pytest.mark.parametrize("order", ["low", "high"])
@pytest.mark.parametrize("sign", ["u", "s"])
@pytest.mark.parametrize("arch", ARCHS)
def test_kernels(arch: str, sign: str, order: str, bits: int) -> None:
    top = 1 << (bits - 1)
    words = [0, 1, 3, top - 1, top, top + 1, 2 * top - 1, 0xD2511F53]
    pairs = list(product(words, words))
    code = {32: "I", 64: "Q"}[bits]
    data = struct.pack(f"<{2 * len(pairs)}{code}", *(word for pair in pairs for word in pair))
    [result] = translate(kernel(sign, order, bits), archs=[arch], mode="module")
    gpu = hip.open(f"vgpu:{arch}")
    buffer = gpu.buffer(data)
    gpu.load(result.code).kernel("k").launch(1, len(pairs), [buffer])
    gpu.synchronize()
    found = struct.unpack(f"<{2 * len(pairs)}{code}", buffer.bytes())
    for (x, y), low, high in zip(pairs, found[::2], found[1::2], strict=True):
        a, b = (v - 2 * top * (sign == "s" and v >= top) for v in (x, y))
        assert low | high << bits == a * b % (1 << 2 * bits), (x, y)


@pytest.mark.parametrize("order", ["low", "high"])
@pytest.mark.parametrize("sign", ["u", "s"])
@pytest.mark.parametrize("arch", ARCHS)
def test_it_is_one_instruction(arch: str, sign: str, order: str) -> None:
    assembly = translate(kernel(sign, order), archs=[arch], mode="module", emit="asm")[0].code.decode()
    kind = "u" if sign == "u" else "i"
    assert len(re.findall(rf"v_mad_(?:co_)?{kind}64_{kind}32", assembly)) == 1
    assert "v_mul_lo" not in assembly and "v_mul_hi" not in assembly
