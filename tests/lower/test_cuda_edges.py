"""CUDA's division, remainders and functions that rest on approximate instructions, as nvcc compiles them for each of
its settings, where operands or results are subnormal, huge, zero, infinite or NaN: against exact host computations."""

from __future__ import annotations

import math
import subprocess
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from ptx2amd import hip
from ptx2amd.compat import toolkit
from ptx2amd.translate import translate
from tests.lower.alu_check import agrees
from tests.lower.alu_inputs import CORNERS, edges
from tests.reference import approximate
from tests.reference.numbers import NAN, Number, decode, div, encode, from_int, sqrt

SETTINGS = {"ieee": (), "fast division": ("-prec-div=false", "-prec-sqrt=false"), "fast": ("-use_fast_math",)}
FLOATS = list(dict.fromkeys(CORNERS.values("f32", 0)))
BFLOATS = list(dict.fromkeys(bits >> 16 for bits in FLOATS))
HALVES = edges("f16")
Reference = Callable[[int, int], object]


def remainder(a: Number, b: Number, nearest: bool) -> Number:
    """fmod, or IEEE's remainder."""
    if "nan" in (a.kind, b.kind) or a.kind == "inf" or approximate.is_zero(b):
        return NAN
    if b.kind == "inf" or approximate.is_zero(a):
        return a
    e = min(a.e, b.e)
    x, y = a.m << a.e - e, b.m << b.e - e
    whole, rest = divmod(x, y)
    if nearest and (2 * rest > y or (2 * rest == y and whole & 1)):
        rest -= y
    return Number("finite", a.sign ^ (rest < 0), abs(rest), e)


def exactly(function: Callable[..., Number], ftz: bool) -> Reference:
    return lambda a, b: encode(function(decode(a, "f32", ftz), decode(b, "f32", ftz)), "f32", "rn", ftz)


def function(name: str, ftz: bool) -> Reference:
    return lambda a, b: approximate.unary(name, a, "f32", ftz)


def quotient(kind: str, ftz: bool) -> Reference:
    return lambda a, b: approximate.quotient(kind, decode(a, "f32", ftz), decode(b, "f32", ftz), "f32", ftz)


def tanh(a: int, b: int) -> object:
    """Within the 2 ulp that CUDA documents."""
    x = decode(a, "f32")
    known, result = approximate.special("tanh", x, "f32")
    if known:
        return result
    exact = Fraction(math.tanh(approximate.exactly(x)))
    return approximate.Near(exact, 2 * approximate.ulp(exact, "f32"), "f32")


def columns(setting: str) -> list[Reference]:
    """What the kernel `floats` computes."""
    ftz = setting == "fast"
    kind = {"ieee": "", "fast division": "full", "fast": "approx"}[setting]
    return [
        exactly(lambda a, b: remainder(a, b, False), ftz),
        exactly(lambda a, b: remainder(a, b, True), ftz),
        quotient("approx", ftz),
        quotient(kind, ftz) if kind else exactly(div, ftz),
        function("rcp", ftz) if kind else exactly(lambda a, b: div(from_int(1), a), ftz),
        function("sqrt", ftz) if kind else exactly(lambda a, b: sqrt(a), ftz),
        function("rsqrt", ftz),
        function("ex2", ftz),
        function("lg2", ftz),
        function("tanh", False) if kind == "approx" else tanh,
    ]


def half_quotient(a: int, b: int) -> object:
    return encode(div(decode(a, "f16"), decode(b, "f16")), "f16")


def bfloat_quotient(a: int, b: int) -> object:
    """The f32 estimate, rounded again."""
    exact = div(decode(a, "bf16"), decode(b, "bf16"))
    if exact.kind != "finite" or exact.m == 0:
        return encode(exact, "bf16")
    x = approximate.exactly(exact)
    return approximate.Near(x, approximate.ulp(x, "bf16") * Fraction(129, 256), "bf16")


@pytest.fixture(scope="module", params=SETTINGS)
def compiled(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    tools = toolkit.find()
    out = tmp_path_factory.mktemp("edges") / "edges.ptx"
    flags = SETTINGS[request.param]
    source = Path(__file__).with_name("edges.cu")
    command = [tools.nvcc, *tools.flags, "-ptx", "-arch=sm_90", *flags, str(source), "-o", str(out)]
    subprocess.run(command, check=True, capture_output=True, timeout=300)
    return request.param, out.read_text()


ALL = [pytest.param(arch, slice(None), marks=pytest.mark.slow) for arch in ("gfx900", "gfx942", "gfx1100")]


@pytest.mark.parametrize("arch, part", [("gfx942", slice(0, None, 4)), ("gfx1100", slice(1, None, 4)), *ALL])
def test_edges(compiled: tuple[str, str], arch: str, part: slice) -> None:
    setting, ptx = compiled
    [result] = translate(ptx, "edges.ptx", [arch], mode="module")
    assert result.ok, result.kernels
    gpu = hip.open(f"vgpu:{arch}")
    module = gpu.load(result.code)
    wrong = []
    for kernel, values, ptype, references in (
        ("floats", FLOATS, "f32", columns(setting)),
        ("halves", HALVES, "f16", [half_quotient] * 2),
        ("bfloats", BFLOATS, "bf16", [bfloat_quotient] * 2),
    ):
        kind = np.uint32 if ptype == "f32" else np.uint16
        a, b = (v.ravel() for v in np.meshgrid(*[np.array(values[part], kind)] * 2))
        out = gpu.buffer(a.nbytes * len(references))
        module.kernel(kernel).launch(-(-len(a) // 256), 256, [gpu.buffer(a), gpu.buffer(b), out, len(a)])
        gpu.synchronize()
        found = out.numpy(kind).reshape(len(a), len(references))
        for column, reference in enumerate(references):
            x, y = (a, b) if kernel == "floats" or column == 0 else (b, a)
            for i in range(len(a)):
                got, want = int(found[i, column]), reference(int(x[i]), int(y[i]))
                if got != want and not agrees(got, want, ptype):
                    wrong.append(f"{kernel} {column}: {x[i]:#x} {y[i]:#x} gave {got:#x}, not {want}")
    assert wrong == [], f"{len(wrong)} wrong\n" + "\n".join(wrong[:: len(wrong) // 40 + 1])
