"""Traces: what a run writes, and what `ptx2amd trace show` makes of it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from ptx2amd import launch, native
from ptx2amd.cli.trace import command, read
from ptx2amd.errors import Ptx2amdError

PROGRAM = """
import os, sys
from cffi import FFI
ffi = FFI()
ffi.cdef('''int cuInit(unsigned); int cuDriverGetVersion(int *); int cuDevicePrimaryCtxRetain(void **, int);
int cuCtxSetCurrent(void *); int cuMemAlloc_v2(unsigned long long *, size_t); int cuMemFree_v2(unsigned long long);
int cuModuleGetFunction(void **, void *, const char *); int cuModuleLoadData(void **, const void *);
int cuLaunchKernel(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **,
                   void **);
int cuCtxSynchronize(void);''')
cuda = ffi.dlopen(sys.argv[1])
assert cuda.cuCtxSynchronize() == 3
cuda.cuInit(0)
context, memory = ffi.new('void **'), ffi.new('unsigned long long *')
cuda.cuDevicePrimaryCtxRetain(context, 0)
cuda.cuCtxSetCurrent(context[0])
cuda.cuMemAlloc_v2(memory, 4096)
cuda.cuMemFree_v2(memory[0])
cuda.cuMemFree_v2(4096)
module, function = ffi.new('void **'), ffi.new('void **')
ptx = ffi.new('char[]', b'.version 7.0\\n.target sm_52\\n.address_size 64\\n.visible .entry empty() { ret; }\\n')
assert cuda.cuModuleLoadData(module, ptx) == 0
cuda.cuModuleGetFunction(function, module[0], b'empty')
for _ in range(3):
    assert cuda.cuLaunchKernel(function[0], 2, 1, 1, 32, 1, 1, 0, ffi.NULL, ffi.NULL, ffi.NULL) == 0
cuda.cuCtxSynchronize()
if os.fork() == 0:
    cuda.cuCtxSynchronize()
    sys.exit()
os.wait()
"""


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    base = tmp_path_factory.mktemp("trace")
    path = base / "t.jsonl"
    environment = {
        **os.environ,
        **launch.environment("vgpu:gfx942", trace=path),
        "LD_AUDIT": "",
        "PTX2AMD_CACHE_DIR": str(base / "cache"),
        "PTX2AMD_RUNTIME_DIR": str(base / "run"),
        "PTX2AMD_SERVICE_IDLE": "5",
    }
    library = native.DIRECTORY / "libcuda.so.1"
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(library)], env=environment, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return path


def test_calls_have_arguments_results_and_times(trace: Path) -> None:
    calls = [event for event in read(trace) if event["event"] == "call"]
    first = [call["name"] for call in calls[:4]]
    assert first == ["cuCtxSynchronize", "cuInit", "cuDevicePrimaryCtxRetain", "cuCtxSetCurrent"]
    assert calls[0]["result"] == 3
    allocated = next(call for call in calls if call["name"] == "cuMemAlloc_v2")
    freed = [call for call in calls if call["name"] == "cuMemFree_v2"]
    assert allocated["args"]["bytesize"] == 4096 and allocated["args"]["dptr"] == freed[0]["args"]["dptr"]
    assert [call["result"] for call in freed] == [0, 1]
    assert all(call["ns"] > 0 for call in calls[1:] if call["pid"] == calls[1]["pid"])
    child = [call for call in calls if call["pid"] != calls[1]["pid"]]
    assert [(call["name"], call["result"]) for call in child] == [("cuCtxSynchronize", 3)]


def test_modules_are_kept(trace: Path) -> None:
    (loaded,) = (event for event in read(trace) if event["event"] == "module")
    text = (trace.with_name(trace.name + ".modules") / f"{loaded['id']}.ptx").read_text()
    assert ".entry empty()" in text


def test_tables(trace: Path) -> None:
    shown = CliRunner().invoke(command, ["show", str(trace)])
    assert shown.exit_code == 0
    lines = shown.output.splitlines()
    free = next(line for line in lines if "cuMemFree_v2" in line)
    assert free.split()[0] == "2" and free.endswith("(1 x error 1)")
    assert next(line for line in lines if line.endswith("empty")).split() == ["3", "2x1x1", "32x1x1", "paired", "empty"]
    assert any("sm_52" in line for line in lines)


def test_filters(trace: Path) -> None:
    shown = CliRunner().invoke(command, ["show", "--calls", "--filter", "cuMem*", "--failed", str(trace)])
    (line,) = shown.output.splitlines()
    assert 'cuMemFree_v2(dptr="0x1000") = 1' in line


def test_a_torn_last_line_is_left_out_and_others_are_errors(tmp_path: Path) -> None:
    path = tmp_path / "torn"
    good = json.dumps({"event": "x", "ms": 1, "pid": 2})
    path.write_text(good + "\n" + good[:7])
    assert len(list(read(path))) == 1
    path.write_text(good[:7] + "\n" + good)
    with pytest.raises(Ptx2amdError, match="torn:1"):
        list(read(path))


ENDS = ("os.abort()", "os.kill(os.getpid(), 9)", "os._exit(0)", "os.execl('/bin/true', 'true')")


@pytest.mark.parametrize("end", ENDS)
def test_a_process_that_does_not_end_as_it_should_leaves_its_last_calls(tmp_path: Path, end: str) -> None:
    path = tmp_path / "t.jsonl"
    environment = {**os.environ, **launch.environment("vgpu:gfx942", trace=path), "LD_AUDIT": ""}
    program = f"import ctypes, os, sys\ncuda = ctypes.CDLL(sys.argv[1])\ncuda.cuInit(0)\ncuda.cuMemFree_v2(7)\n{end}"
    subprocess.run([sys.executable, "-c", program, native.DIRECTORY / "libcuda.so.1"], env=environment, timeout=60)
    assert [event["name"] for event in read(path) if event["event"] == "call"] == ["cuInit", "cuMemFree_v2"]
    assert len(launch.trace_files(path)) == 2
    launch.environment("vgpu:gfx942", trace=path)
    assert launch.trace_files(path) == [path] and not path.exists()
