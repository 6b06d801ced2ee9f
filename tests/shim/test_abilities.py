"""What device attributes promise works: libraries choose their ways of sharing memory and of waiting by them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ptx2amd import launch, native

PROGRAM = r"""
import ctypes as c, struct, sys
cuda = c.CDLL(sys.argv[1])
def do(name, *arguments):
    code = getattr(cuda, name)(*arguments)
    assert code == 0, (name, code)
def value(kind, name, *arguments):
    v = kind()
    do(name, c.byref(v), *arguments)
    return v
do("cuInit", 0)
context = value(c.c_void_p, "cuDevicePrimaryCtxRetain", 0)
do("cuCtxSetCurrent", context)
promised = {k: value(c.c_int, "cuDeviceGetAttribute", k, 0).value for k in (103, 119, 122, 123)}
print(promised)
SIZE, DESCRIPTOR = 2 << 20, 1

properties = c.create_string_buffer(struct.pack("<5i", 1, DESCRIPTOR, 1, 0, 0), 64)  # pinned, on device 0
memory = value(c.c_uint64, "cuMemCreate", c.c_size_t(SIZE), properties, c.c_uint64(0))
file = value(c.c_int, "cuMemExportToShareableHandle", memory, DESCRIPTOR, c.c_uint64(0))
value(c.c_uint64, "cuMemImportFromShareableHandle", c.c_void_p(file.value), DESCRIPTOR)

pool = value(c.c_void_p, "cuMemPoolCreate", c.create_string_buffer(struct.pack("<4i", 1, DESCRIPTOR, 1, 0), 88))
file = value(c.c_int, "cuMemPoolExportToShareableHandle", pool, DESCRIPTOR, c.c_uint64(0))
value(c.c_void_p, "cuMemPoolImportFromShareableHandle", c.c_void_p(file.value), DESCRIPTOR, c.c_uint64(0))

stream = value(c.c_void_p, "cuStreamCreate", 1)
word, NOR = value(c.c_uint64, "cuMemAlloc_v2", c.c_size_t(8)), 3
big = 1 << 40
do("cuStreamWriteValue64_v2", stream, word, c.c_uint64(big + 5), 0)
do("cuStreamWaitValue64_v2", stream, word, c.c_uint64(big), 0)
do("cuStreamWaitValue64_v2", stream, word, c.c_uint64(0), NOR)
do("cuStreamSynchronize", stream)
read = c.c_uint64()
do("cuMemcpyDtoH_v2", c.byref(read), word, c.c_size_t(8))
assert read.value == big + 5
"""


@pytest.mark.parametrize("arch", ["gfx942", "gfx1100"])
def test_promises(arch: str, tmp_path: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(native.DIRECTORY / "libcuda.so.1")],
        env={**os.environ, **launch.environment(f"vgpu:{arch}"), "PTX2AMD_RUNTIME_DIR": str(tmp_path)},
        capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.strip() == "{103: 1, 119: 1, 122: 1, 123: 1}"
