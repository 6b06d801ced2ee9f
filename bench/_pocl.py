"""OpenCL on the CPU through PoCL of Debian's packages, as far as the benchmarks need it."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Sequence
from ctypes import byref, c_int, c_size_t, c_uint64, c_void_p
from pathlib import Path

import numpy as np

from tests import debian
from tests.rocm import CACHE

_CPU, _READ_WRITE, _COPY = 2, 1, 32
#: Not needed of what the packages depend on: this system's are used, or Clang's for C.
_LEAVE = ("libc6", "libc-", "libgcc", "gcc-", "libstdc++", "libcrypt", "cpp", "g++", "perl", "binutils", "lib32",
          "libasan", "liblsan", "libtsan", "libubsan", "libitm", "libobjc", "libgomp", "linux-libc")  # fmt: skip


def environment(folder: Path) -> dict[str, str]:
    """The variables with which a process finds PoCL; its files go to the folder. Raises OSError and
    CalledProcessError when it can't be had."""
    root = debian.unpacked(CACHE / "pocl", "bookworm", ["pocl-opencl-icd", "ocl-icd-libopencl1"], _LEAVE)
    system = root / "usr" / "lib" / "x86_64-linux-gnu"
    (folder / "pocl.icd").write_text(str(system / "libpocl.so.2"))
    return {
        "LD_LIBRARY_PATH": f"{system}:{os.environ.get('LD_LIBRARY_PATH', '')}",
        "PATH": f"{root}/usr/bin:{os.environ['PATH']}",
        "OCL_ICD_VENDORS": str(folder),
        "POCL_CACHE_DIR": str(folder),
        "POCL_DEVICES": "basic",  # no threads
    }


class Device:
    """The first OpenCL device for CPUs. OSError where there is none."""

    def __init__(self) -> None:
        cl = ctypes.CDLL("libOpenCL.so.1")
        for name in ("clCreateContext", "clCreateCommandQueue", "clCreateProgramWithSource", "clCreateKernel",
                     "clCreateBuffer"):  # fmt: skip
            getattr(cl, name).restype = c_void_p
        self.cl, platform, device, error = cl, c_void_p(), c_void_p(), c_int()
        if cl.clGetPlatformIDs(1, byref(platform), None):
            raise OSError("no OpenCL platform")
        if cl.clGetDeviceIDs(platform, c_uint64(_CPU), 1, byref(device), None):
            raise OSError("no OpenCL device for CPUs")
        self.device, self.error = device, error
        self.context = c_void_p(cl.clCreateContext(None, 1, byref(device), None, None, byref(error)))
        self.queue = c_void_p(cl.clCreateCommandQueue(self.context, device, c_uint64(0), byref(error)))

    def build(self, source: str) -> c_void_p:
        """A program from OpenCL C."""
        text = ctypes.c_char_p(source.encode())
        program = c_void_p(self.cl.clCreateProgramWithSource(self.context, 1, byref(text), None, byref(self.error)))
        if self.cl.clBuildProgram(program, 1, byref(self.device), b"", None, None):
            raise OSError("the OpenCL program does not compile")
        return program

    def buffer(self, array: np.ndarray) -> c_void_p:
        """Device memory with a copy of the array."""
        return c_void_p(
            self.cl.clCreateBuffer(
                self.context,
                c_uint64(_READ_WRITE | _COPY),
                c_size_t(array.nbytes),
                array.ctypes.data_as(c_void_p),
                byref(self.error),
            )
        )

    def read(self, buffer: c_void_p, array: np.ndarray) -> np.ndarray:
        """The array, filled from device memory."""
        into = array.ctypes.data_as(c_void_p)
        if self.cl.clEnqueueReadBuffer(self.queue, buffer, 1, c_size_t(0), c_size_t(array.nbytes), into, 0, None, None):
            raise OSError("the OpenCL buffer cannot be read")
        return array

    def kernel(self, program: c_void_p, name: str, arguments: Sequence[c_void_p | int]) -> c_void_p:
        """A kernel with its arguments: buffers and ints."""
        kernel = c_void_p(self.cl.clCreateKernel(program, name.encode(), byref(self.error)))
        for k, value in enumerate(arguments):
            held = c_int(value) if isinstance(value, int) else value
            self.cl.clSetKernelArg(kernel, k, c_size_t(ctypes.sizeof(held)), byref(held))
        return kernel

    def run(self, kernel: c_void_p, grid: tuple[int, int], block: tuple[int, int]) -> None:
        """Launch and wait."""
        items = (c_size_t * 2)(*(g * b for g, b in zip(grid, block, strict=True)))
        if self.cl.clEnqueueNDRangeKernel(self.queue, kernel, 2, None, items, (c_size_t * 2)(*block), 0, None, None):
            raise OSError("the OpenCL kernel does not run")
        self.cl.clFinish(self.queue)
