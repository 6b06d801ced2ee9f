"""A tiny driver-API client: what the tests of bad input run in a process of its own, under our libcuda.

Imported by test_bad_input.py only to find its path; as a script it executes the Python file given as argument
with these names in scope.
"""

from __future__ import annotations

import ctypes as c
import struct
import sys


class Driver:
    """Calls by name; `error(...)` gives the CUDA error's name instead of raising."""

    def __init__(self) -> None:
        self.library = c.CDLL("libcuda.so.1")

    def __getattr__(self, name: str):
        function = getattr(self.library, name)

        def call(*arguments) -> None:
            status = function(*arguments)
            if status:
                raise RuntimeError(self.name(status))

        return call

    def name(self, status: int) -> str:
        text = c.c_char_p()
        self.library.cuGetErrorName(status, c.byref(text))
        return text.value.decode()

    def error(self, name: str, *arguments) -> str:
        status = getattr(self.library, name)(*arguments)
        return self.name(status) if status else "CUDA_SUCCESS"

    def start(self) -> Driver:
        """cuInit, device 0, primary context current."""
        device, context = c.c_int(), c.c_void_p()
        self.cuInit(0)
        self.cuDeviceGet(c.byref(device), 0)
        self.cuDevicePrimaryCtxRetain(c.byref(context), device)
        self.cuCtxSetCurrent(context)
        return self

    def load(self, image: bytes) -> c.c_void_p:
        module = c.c_void_p()
        self.cuModuleLoadData(c.byref(module), image)
        return module

    def function(self, module: c.c_void_p, name: str) -> c.c_void_p:
        function = c.c_void_p()
        self.cuModuleGetFunction(c.byref(function), module, name.encode())
        return function

    def launch(self, function: c.c_void_p, grid: int, block: int, shared: int, *arguments) -> str:
        """The error's name; arguments are ctypes values."""
        pointers = (c.c_void_p * len(arguments))(*(c.cast(c.byref(a), c.c_void_p) for a in arguments))
        return self.error("cuLaunchKernel", function, grid, 1, 1, block, 1, 1, shared, None, pointers, None)

    def alloc(self, size: int) -> c.c_uint64:
        pointer = c.c_uint64()
        self.cuMemAlloc_v2(c.byref(pointer), c.c_size_t(size))
        return pointer

    def read(self, pointer: c.c_uint64, size: int) -> bytes:
        data = c.create_string_buffer(size)
        self.cuMemcpyDtoH_v2(data, pointer, c.c_size_t(size))
        return data.raw


def fatbin(*entries: tuple[int, bytes]) -> bytes:
    """A fatbin of (kind, payload): kind 1 PTX, 2 machine code."""
    body = b""
    for kind, payload in entries:
        padded = payload + bytes(-len(payload) % 8)
        body += struct.pack("<HHIQIIHHIIIQQQ", kind, 0x101, 64, len(padded), 0, 0, 0, 8, 80, 0, 0, 0x11, 0, 0) + padded
    return struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(body)) + body


HEAD = b".version 8.0\n.target sm_80\n.address_size 64\n"
GOOD = (
    HEAD
    + b"""
.visible .entry good(.param .u64 out, .param .u32 value)
{
  .reg .b64 %rd<4>;
  .reg .b32 %r<4>;
  ld.param.u64 %rd1, [out];
  ld.param.u32 %r1, [value];
  mov.u32 %r2, %tid.x;
  mul.wide.u32 %rd2, %r2, 4;
  add.s64 %rd3, %rd1, %rd2;
  add.u32 %r3, %r1, %r2;
  st.global.u32 [%rd3], %r3;
  ret;
}
"""
)


def still_works(cu: Driver) -> None:
    """The same process can go on: a good kernel computes the right numbers."""
    good = cu.function(cu.load(GOOD), "good")
    out = cu.alloc(128)
    assert cu.launch(good, 1, 32, 0, out, c.c_uint32(100)) == "CUDA_SUCCESS"
    assert struct.unpack("<32I", cu.read(out, 128)) == tuple(range(100, 132))
    print("still works")


if __name__ == "__main__":
    with open(sys.argv[1]) as file:
        exec(compile(file.read(), sys.argv[1], "exec"), globals())
