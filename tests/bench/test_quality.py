"""The benchmark of code quality: what it counts, that wrong results are told, and some of its kernels both ways."""

from __future__ import annotations

import subprocess

import numpy as np
import pytest

from bench import quality
from bench.quality import cost
from bench.quality.case import Case


@pytest.mark.parametrize(
    ("name", "kind", "gfx942", "gfx1100"),
    [
        ("v_add_f32", "valu", 1, 1),
        ("v_exp_f32", "valu", 4, 4),
        ("v_fma_f64", "valu", 1, 34),
        ("v_cvt_f32_i32", "valu", 4, 1),
        ("v_mul_lo_u32", "valu", 1, 4),
        ("v_lshlrev_b64", "valu", 1, 2),
        ("global_load_dwordx4", "vmem", 4, 4),
        ("global_load_b128", "vmem", 4, 4),
        ("global_load_u8", "vmem", 1, 1),
        ("ds_read2_b64", "lds", 4, 4),
        ("ds_load_2addr_stride64_b32", "lds", 2, 2),
        ("s_load_dwordx8", "smem", 1, 1),
        ("s_waitcnt", "wait", 1, 1),
        ("s_wait_loadcnt", "wait", 1, 1),
        ("s_barrier", "branch", 1, 1),
        ("s_and_saveexec_b64", "salu", 1, 1),
        ("s_delay_alu", "", 0, 0),
    ],
)
def test_costs(name: str, kind: str, gfx942: int, gfx1100: int) -> None:
    assert cost.class_of(name) == kind
    assert (cost.cycles(name, "gfx942", 64), cost.cycles(name, "gfx1100", 32)) == (gfx942, gfx1100)
    if kind == "valu":
        assert cost.cycles(name, "gfx1100", 64) == 2 * gfx1100


@pytest.mark.parametrize(
    ("name", "arch", "cycles"),
    [
        ("v_mfma_f32_16x16x16_f16", "gfx90a", 8),
        ("v_mfma_f32_16x16x16_f16", "gfx942", 4),
        ("v_mfma_f32_4x4x4_16b_f16", "gfx942", 2),
        ("v_wmma_f32_16x16x16_f16", "gfx1100", 32),
        ("v_wmma_f32_16x16x16_f16", "gfx1201", 16),
    ],
)
def test_matrix_costs(name: str, arch: str, cycles: int) -> None:
    assert cost.class_of(name) == "matrix" and cost.cycles(name, arch, 64) == cycles


def test_results_are_checked() -> None:
    expected = np.linspace(0, 1, 100)
    exact, near = Case("k", 1, 1, [], 0, expected), Case("k", 1, 1, [], 0, expected, 1e-3)
    few = Case("k", 1, 1, [], 0, expected, 1e-3, few=0.01)
    assert [case.error(expected) for case in (exact, near, few)] == ["", "", ""]
    off = expected + 1e-4
    assert exact.error(off) == "100 of 100 elements are wrong" and not near.error(off)
    for bad in (2.0, np.nan):
        wrong = expected.copy()
        wrong[:1] = bad
        assert near.error(wrong) == "1 of 100 elements are wrong" and not few.error(wrong)
        wrong[:2] = bad
        assert few.error(wrong) == "2 of 100 elements are wrong"


@pytest.mark.slow
def test_kernels_of_both() -> None:
    """Of each file of the benchmark a kernel: results are right and something was counted."""
    names = ["vadd", "wmma", "reduce", "softmax", "spmv", "fft8", "sobel", "sha256"]
    try:
        found = quality.compared(("gfx942", "gfx1100"), names)
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"no clang for HIP: {error}")
    for arch, pairs in found.items():
        assert sorted(pairs) == sorted(names)
        for name, pair in pairs.items():
            assert not any(counts.wrong for counts in pair), (arch, name, pair)
            assert 0.2 < quality.executed(pair) < 2.2
