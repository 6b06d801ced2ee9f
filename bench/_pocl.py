"""OpenCL on the CPU through PoCL, as far as the benchmarks need it (Debian: pocl-opencl-icd)."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from ctypes import byref, c_int, c_size_t, c_uint64, c_void_p

import numpy as np

_CPU, _READ_WRITE, _COPY = 2, 1, 32


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
