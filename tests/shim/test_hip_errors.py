"""HIP keeps the error of a thread's last call that failed. Protects: errors that the program hears of from CUDA, or
that only answer a question, are not left there, where ROCm's libraries take them for errors of their own calls."""

from __future__ import annotations

import subprocess
import sys

import pytest

from ptx2amd import native

CALLS = {
    "an address that is none": "cuda.cuPointerGetAttribute(ctypes.byref(place), 2, ctypes.c_uint64(1 << 41))",
    "a copy of host memory": "cuda.cuMemcpy2DUnaligned_v2(ctypes.byref(copy))",
    "no such memory": "cuda.cuMemFree_v2(ctypes.c_uint64(1 << 41))",
    "no such device": "cuda.cuDeviceGetAttribute(ctypes.byref(place), 1, 99)",
}
PROGRAM = """
import ctypes, sys
cuda, hip = ctypes.CDLL(sys.argv[1]), ctypes.CDLL(sys.argv[2])
context, place = ctypes.c_void_p(), ctypes.c_uint64()
assert not cuda.cuInit(0) and not cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)
assert not cuda.cuCtxSetCurrent(context)
host, words = (ctypes.c_uint64 * 64)(), (ctypes.c_uint64 * 16)()
at, UNIFIED = ctypes.addressof(host), 4
words[2], words[4], words[6] = UNIFIED, at, 64
words[9], words[11], words[13], words[14], words[15] = UNIFIED, at + 256, 64, 64, 4
copy = words
hip.hipGetLastError()
status = %s
print(hip.hipPeekAtLastError())
"""


@pytest.mark.parametrize("what", CALLS)
def test_no_error_is_left_in_hip(what: str) -> None:
    libraries = [native.DIRECTORY / name for name in ("libcuda.so.1", "libptx2amd_vgpu.so")]
    command = [sys.executable, "-c", PROGRAM % CALLS[what], *map(str, libraries)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.stdout == "0\n", done
