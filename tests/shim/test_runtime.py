"""Programs that nvcc compiled get through the start-up of NVIDIA's runtime with our libcuda, up to the launch."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest

from ptx2amd.compat import toolkit

PROGRAM = r"""
#include <cstdio>
__device__ int counter = 5;
__global__ void add(int *p, int n) { if (threadIdx.x < n) p[threadIdx.x] += counter; }
int main() {
  int *p, count = 0, value = 0;
  printf("%s\n", cudaGetErrorString(cudaGetDeviceCount(&count)));
  cudaDeviceProp prop;
  printf("%s", cudaGetErrorString(cudaGetDeviceProperties(&prop, 0)));
  printf(" %d\n", prop.major * 10 + prop.minor);
  printf("%s\n", cudaGetErrorString(cudaMalloc(&p, 256)));
  add<<<3, 64>>>(p, 64);
  printf("%s\n", cudaGetErrorString(cudaGetLastError()));
  printf("%s", cudaGetErrorString(cudaMemcpyFromSymbol(&value, counter, 4)));
  printf(" %d\n", value);
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
  printf("%s\n", cudaGetErrorString(cudaDeviceReset()));
}
"""
ENTRY = "_Z3addPii"


@pytest.fixture(scope="module", params=["static", "shared"])
def program(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    try:
        tools = toolkit.find()
    except Exception as error:  # no CUDA compiler here
        pytest.skip(str(error))
    base = tmp_path_factory.mktemp("runtime")
    (base / "add.cu").write_text(PROGRAM)
    command = [str(tools.nvcc), *tools.flags, "-cudart", request.param, "-o", str(base / "add"), str(base / "add.cu")]
    plain = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}  # nvcc has no sanitizers
    done = subprocess.run(command, capture_output=True, text=True, env=plain)
    if request.param == "shared" and "cannot find -lcudart" in done.stderr:
        pytest.skip("the toolkit has no shared runtime to link with")
    assert done.returncode == 0, done.stderr
    return base / "add"


def test_it_starts_up_and_launches(program: Path, shim: SimpleNamespace, stub_path: Path, tmp_path: Path) -> None:
    """With the stub HIP library and the real translation service: the numbers are not computed, all else is real."""
    from ptx2amd import launch

    trace = tmp_path / "trace"
    environment = {
        **os.environ,
        **launch.environment(),
        "PTX2AMD_HIP_LIBRARY": str(stub_path),
        "PTX2AMD_TRACE": str(trace),
        "PTX2AMD_CACHE_DIR": str(tmp_path / "cache"),
        "PTX2AMD_RUNTIME_DIR": str(tmp_path / "run"),
        "PTX2AMD_SERVICE_IDLE": "5",
    }
    for cached in (False, True):
        done = subprocess.run([str(program)], env=environment, capture_output=True, text=True, timeout=120)
        assert done.stdout.splitlines() == [
            "no error",
            "no error 80",
            "no error",
            "no error",
            "no error 5",
            "no error",
            "no error",
        ], done.stderr
        events = [json.loads(line) for line in trace.read_text().splitlines()]
        trace.unlink()
        launches = [event for event in events if event["event"] == "launch"]
        assert [(e["kernel"], e["grid"], e["block"], e["mapping"]) for e in launches] == [
            (ENTRY, [3, 1, 1], [64, 1, 1], "paired")
        ]
        assert [e["cache"] for e in events if e["event"] == "translate"] == [cached] * 2
