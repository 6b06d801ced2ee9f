"""Results do not depend on the x86-64 level, on translation to native code, nor on the number of threads.

Protects: kernels bit for bit (but for the payloads of NaNs), and the samples' output.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from cuda_samples import build, demo
from tests import ROOT

HERE = Path(__file__).resolve().parent
SAMPLES = HERE.parents[1] / "cuda_samples"
SETTINGS = {
    "plain": {"PTX2AMD_VGPU_LEVEL": "v2"},
    "AVX2": {"PTX2AMD_VGPU_LEVEL": "v3", "PTX2AMD_VGPU_NATIVE": "0"},
    "AVX-512": {"PTX2AMD_VGPU_LEVEL": "v4", "PTX2AMD_VGPU_NATIVE": "0"},
    "native": {"PTX2AMD_VGPU_NATIVE": "always"},
    "one thread": {"PTX2AMD_VGPU_THREADS": "1"},
    "seven threads": {"PTX2AMD_VGPU_THREADS": "7"},
}
DEFAULT: dict[str, str] = {}


def digests(number: int) -> dict[str, str]:
    """Of what every kernel of test_kernels leaves, in its build FEW[number]."""
    from tests.vgpu.kernel_cases import CASES
    from tests.vgpu.test_kernels import FEW, run

    found = {}
    for kernel, make in CASES.items():
        with np.errstate(all="ignore"):
            case = make(np.random.default_rng(11))
        digest = hashlib.blake2b()
        for k, array in run(FEW[number], kernel, case).items():
            array = np.sort(array, axis=None) if k in case.unordered else array
            if array.dtype.kind == "f":
                array = np.where(np.isnan(array), array.dtype.type(np.nan), array)
            digest.update(np.ascontiguousarray(array).tobytes())
        found[kernel] = digest.hexdigest()
    return found


@cache
def results(number: int, **setting: str) -> dict[str, str]:
    code = f"import json; from tests.vgpu import test_determinism as t; print(json.dumps(t.digests({number})))"
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **setting}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def check(number: int, setting: str) -> None:
    want, got = results(number, **DEFAULT), results(number, **SETTINGS[setting])
    assert len(want) > 60
    assert not [kernel for kernel in want if want[kernel] != got[kernel]]


@pytest.mark.parametrize("setting", ["plain", "native", "one thread"])
def test_kernels(setting: str) -> None:
    check(0, setting)


@pytest.mark.slow
@pytest.mark.parametrize("number", [0, 1, 2])
@pytest.mark.parametrize("setting", SETTINGS)
def test_all_kernels(setting: str, number: int) -> None:
    check(number, setting)


@pytest.mark.slow
@pytest.mark.parametrize("arch", ["gfx942", "gfx1100"])
@pytest.mark.parametrize("setting", SETTINGS)
def test_samples(setting: str, arch: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each program checks its results against the host's, or prints what it should."""
    programs = build.build_all(SAMPLES.parent / "build" / "samples", None)
    for name, value in SETTINGS[setting].items():
        monkeypatch.setenv(name, value)
    outcomes = {name: demo.run(program, arch) for name, program in programs.items()}
    assert not {name: outcome.message for name, outcome in outcomes.items() if not outcome.passed}
