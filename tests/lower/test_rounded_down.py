"""fma.rm of an operand in [0, 1] with two constants, as in CUDA's expf: it takes no write of the MODE register, and its
results are those of the exact sum rounded down. Operands that may lie elsewhere go the long way."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from ptx2amd.translate import translate
from tests.lower.device import ARCHS, program

CONSTANTS = ((252.0, 12582913.0), (1.0, 1.0), (3.0, 3.0000002), (0.1, 7.7), (2.0**-50, 2.0**50), (2.0**-50, 2.0**-50))
FLUSH = ("", ".ftz")
COUNT = 1 << 15
KERNEL = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out) {{
  .reg .b64 %i, %o, %d; .reg .b32 %t, %n, %b; .reg .f32 %x, %y;
  ld.param.u64 %i, [in]; ld.param.u64 %o, [out];
  mov.u32 %t, %tid.x; mov.u32 %n, %ntid.x; mov.u32 %b, %ctaid.x; mad.lo.u32 %t, %b, %n, %t;
  mul.wide.u32 %d, %t, 4; add.u64 %i, %i, %d; add.u64 %o, %o, %d;
  ld.global.f32 %x, [%i];
  {limit}
  fma.rm{ftz}.f32 %y, %x, 0f{factor:08X}, 0f{addend:08X};
  st.global.f32 [%o], %y;
  ret;
}}
"""


def bits(value: float) -> int:
    return int(np.float32(value).view(np.uint32))


def text(factor: float, addend: float, ftz: str = "", limit: str = "cvt.sat.f32.f32 %x, %x;") -> str:
    return KERNEL.format(factor=bits(factor), addend=bits(addend), ftz=ftz, limit=limit)


def operands() -> np.ndarray:
    """Floats in [0, 1] of all exponents, subnormal ones too, and those next to powers of two; and some outside."""
    random = np.random.default_rng(20)
    patterns = random.integers(0, bits(1.0) + 1, COUNT, dtype=np.uint32)
    patterns[: COUNT // 4] = bits(0.5) + random.integers(-1 << 22, (1 << 23) + 1, COUNT // 4)
    powers = np.arange(128, dtype=np.uint32) << 23
    edges = np.concatenate([powers, powers + 1, powers[1:] - 1, np.uint32([1, 0x7FFFFF])])
    patterns[: len(edges)] = edges[: len(edges)]
    values = patterns.view(np.float32)
    values[-4:] = [-1.0, 2.0, np.inf, np.nan]
    return values


def expected(x: np.ndarray, factor: float, addend: float) -> np.ndarray:
    """The sum in f64 with its rounding error, then the next float below or at it."""
    unit = np.clip(np.nan_to_num(x, nan=0.0), 0.0, 1.0).astype(np.float64)
    product_, c = unit * np.float64(np.float32(factor)), np.float64(np.float32(addend))
    total = product_ + c
    part = total - product_
    error = (product_ - (total - part)) + (c - part)
    nearest = total.astype(np.float32)
    above = (nearest > total) | ((nearest == total) & (error < 0))
    return np.where(above, np.nextafter(nearest, np.float32(-np.inf)), nearest)


@pytest.mark.parametrize("arch", ARCHS)
@pytest.mark.parametrize(("constants", "ftz"), list(product(CONSTANTS, FLUSH)))
def test_results(arch: str, constants: tuple[float, float], ftz: str) -> None:
    x = operands()
    buffers = [x.tobytes(), 4 * COUNT]
    _, out = program(text(*constants, ftz), arch).run("k", 256, buffers, grid=COUNT // 256)
    assert np.array_equal(np.frombuffer(out, np.float32), expected(x, *constants))


def writes_mode(source: str) -> bool:
    [result] = translate(source, "k.ptx", ["gfx942"], emit="ll")
    return b"llvm.amdgcn.s.setreg" in result.code


def test_form() -> None:
    """What is not known to stay between the addend and twice that is rounded by the MODE register."""
    assert not any(writes_mode(text(*constants)) for constants in CONSTANTS)
    assert writes_mode(text(252.0, 12582913.0, limit=""))
    assert writes_mode(text(252.0, 100.0))
    assert writes_mode(text(1.0, -4.0))
    assert writes_mode(text(252.0, 12582913.0).replace("fma.rm", "fma.rp"))
