"""Test programs of ROCm's libraries, and the page that lists them.

Protects: hipRAND's own tests (device functions compiled by AMD) pass on our HIP library and on AMD's, as the page says.
"""

from __future__ import annotations

import json

import pytest

from tests import rocm
from tests.hip import rocm_clients, rocm_programs
from tests.hip.test_rocm_libraries import LARGE


@pytest.mark.slow
@pytest.mark.parametrize("way", rocm_programs.WAYS)
def test_hiprand(way: str) -> None:
    rocm.prefix(rocm_programs.RELEASE, rocm_programs.SUITES["hipRAND"].package)
    told = json.loads(rocm_programs.RESULTS.read_text())["suites"]["hipRAND"][way]
    counts = rocm_programs.suite("hipRAND", way, pytest.fail)
    assert counts["passed"] == told["passed"] > 100 and not counts["failed"] + counts["left"]


@pytest.mark.slow
@pytest.mark.skipif(not LARGE, reason="LARGE_DOWNLOADS=1 fetches RCCL (360 MB)")
@pytest.mark.parametrize("way", rocm_programs.WAYS)
def test_rccl_on_two_gpus(way: str) -> None:
    """Its collectives between two software GPUs. It asks librocm_smi64 (drop-in: ours) and the driver's files how they
    are linked; above AMD's HIP library, memory goes from GPU to GPU by hipIpc."""
    [name] = (name for name in rocm_clients.CLIENTS if name.startswith("RCCL"))
    rocm.prefix(rocm_programs.RELEASE, *rocm_clients.CLIENTS[name].packages)
    found = rocm_programs.client(name, way)
    assert found["passed"] == found["cases"] == 6, found["failed"]


def test_the_page_is_that_of_the_results() -> None:
    assert rocm_programs.PAGE.read_text() == rocm_programs.page(json.loads(rocm_programs.RESULTS.read_text()))


def test_counting() -> None:
    """A test that ended its program is not among those that passed."""
    lines = ("[==========] Running 5 tests from 1 test suite.", "[       OK ] a.b (1 ms)", "[  SKIPPED ] a.c (0 ms)",
             "[  FAILED  ] a.d, where GetParam() = 1 (2 ms)", "[ RUN      ] a.e", "[  FAILED  ] a.d")  # fmt: skip
    assert rocm_programs.counted("\n".join(lines)) == {"passed": 1, "skipped": 1, "failed": 1, "left": 2}
