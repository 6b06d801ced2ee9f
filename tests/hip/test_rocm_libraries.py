"""ROCm's libraries as AMD compiled them, on the software GPU.

Protects: their kernels (assembler's, compressed, compiled at run time) load and compute what the host computes.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests import rocm
from tests.hip import hip_program
from tests.hip.rocm_client_cases import GENERATORS, LENGTHS, PRODUCTS, WIDE

pytestmark = pytest.mark.slow

CLIENT = Path(__file__).with_name("rocm_client.py")
#: Downloads of hundreds of megabytes.
LARGE = bool(os.environ.get("LARGE_DOWNLOADS"))


def results(release: str, packages: tuple[str, ...], arch: str, *cases: str) -> list[dict[str, Any]]:
    """What the client says of the cases."""
    prefix, major = rocm.prefix(release, *packages), rocm.RELEASES[release].hip
    command = prefix.command(sys.executable, CLIENT, major, *cases, before=(hip_program.FOLDER,))
    path = os.pathsep.join(folder for folder in sys.path if folder)
    done = hip_program.run(command, arch=arch, timeout=900, PYTHONPATH=path)
    hip_program.must(done.returncode == 0, done)
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.parametrize("arch", ("gfx1030", "gfx1100", "gfx942"))
@pytest.mark.parametrize("release", ("6.4", "7.2"))
def test_rocrand_gives_the_numbers_of_its_host_generators(release: str, arch: str) -> None:
    if (release, arch) == ("6.4", "gfx942"):
        pytest.skip("has no code for gfx942")
    cases = [f"rocrand={name}" for name in (*GENERATORS, *WIDE)]
    said = results(release, ("librocrand1",), arch, *cases)
    assert len(said) == len(cases) and all(one["equal"] and one["different"] > 15000 for one in said), said


def test_rocrand_of_rocm_5() -> None:
    """It has no generators for the host: the numbers are those of ROCm 7's device generators."""
    cases = [f"rocrand={name}" for name in ("philox", "xorwow", "mrg32k3a", "mtgp32", "sobol32", "threefry2x32")]
    old, new = (results(release, ("librocrand1",), "gfx1100", *cases) for release in ("5.7", "7.2"))
    assert [one["sum"] for one in old] == [one["sum"] for one in new] and len(old) == len(cases)


@pytest.mark.parametrize("arch", ("gfx1100", "gfx90a"))
def test_rocfft_with_kernels_compiled_at_run_time(arch: str) -> None:
    said = results("7.2", ("librocfft0", "libhiprtc7"), arch, *(f"rocfft={n}" for n in LENGTHS))
    assert len(said) == len(LENGTHS) and all(one["error"] < 2e-6 for one in said), said


@pytest.mark.skipif(not LARGE, reason="LARGE_DOWNLOADS=1 fetches rocBLAS (311 MB)")
@pytest.mark.parametrize("arch", ("gfx90a", "gfx942", "gfx1100"))
def test_rocblas_products(arch: str) -> None:
    said = results("7.2", ("librocblas5",), arch, *(f"rocblas={case}" for case in PRODUCTS))
    limit = {"sgemm": 1e-4, "dgemm": 1e-12}
    assert len(said) == len(PRODUCTS)
    assert all(one["error"] < limit[one["case"].partition("=")[2][:5]] for one in said), said


def test_a_library_without_code_for_the_chip_says_so() -> None:
    """rocRAND 6.4 has none for gfx942: its status, and one line that names file, chip and what there is."""
    prefix = rocm.prefix("6.4", "librocrand1")
    command = prefix.command(sys.executable, CLIENT, 6, "rocrand=philox", before=(hip_program.FOLDER,))
    path = os.pathsep.join(folder for folder in sys.path if folder)
    done: subprocess.CompletedProcess[str] = hip_program.run(command, PYTHONPATH=path)
    assert done.returncode == 1 and "status" in done.stderr
    assert "librocrand.so.1" in done.stderr and "there is no code for gfx942" in done.stderr
    assert "gfx90a" in done.stderr.partition("the offload bundle holds")[2]


def test_a_fault_in_a_librarys_kernel_is_named() -> None:
    """The kernel, the address, and HIP's error, which stays; the program goes on."""
    prefix, illegal_address = rocm.prefix("7.2", "librocrand1"), 700
    command = prefix.command(sys.executable, CLIENT, 7, "fault=philox", before=(hip_program.FOLDER,))
    path = os.pathsep.join(folder for folder in sys.path if folder)
    done: subprocess.CompletedProcess[str] = hip_program.run(command, PYTHONPATH=path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["status"] == [illegal_address, illegal_address]
    assert re.search(r"memory access fault: kernel \w*rocrand\w*: write of \d+ bytes at 0x1\d{4}", done.stderr)
