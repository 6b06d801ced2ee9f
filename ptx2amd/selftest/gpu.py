"""The driver API for a case: calls that raise exceptions, buffers that know their size, kernels by name."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from importlib import resources
from typing import Any

import cffi

from ptx2amd.api.driver.libcuda import cdef
from ptx2amd.records import dataclass

Number = int | float
HEAD = ".version 8.6\n.target sm_90a\n.address_size 64\n"  # the head of every kernel here


class CallFailed(Exception):
    """A driver call that returned an error. code: CUresult; name: names of the function and the error."""

    def __init__(self, function: str, code: int, error: str) -> None:
        super().__init__(f"{function}: {error}")
        self.code = code


@dataclass(frozen=True, slots=True)
class Buffer:
    """Memory of the device: its address and size in bytes."""

    at: int
    size: int

    def __add__(self, offset: int) -> Buffer:
        return Buffer(self.at + offset, self.size - offset)


class Gpu:
    """Device 0 with its primary context. `call` calls any function of the driver API by cffi's rules."""

    def __init__(self) -> None:
        self.ffi = cffi.FFI()
        self.ffi.cdef(cdef())
        self.cuda: Any = self.ffi.dlopen("libcuda.so.1")
        self.call("cuInit", 0)
        self.device = self.get("cuDeviceGet", "CUdevice *", 0)
        self.call("cuCtxSetCurrent", self.get("cuDevicePrimaryCtxRetain", "CUcontext *", self.device))

    def call(self, function: str, *arguments: Any) -> None:
        """Raises CallFailed for anything but CUDA_SUCCESS."""
        code = getattr(self.cuda, function)(*arguments)
        if code:
            name = self.ffi.new("const char **")
            known = not self.cuda.cuGetErrorName(code, name)
            raise CallFailed(function, code, self.ffi.string(name[0]).decode() if known else f"error {code}")

    def get(self, function: str, kind: str, *arguments: Any) -> Any:
        """The value that a function stores through its first parameter, a pointer to `kind`."""
        out = self.ffi.new(kind)
        self.call(function, out, *arguments)
        return out[0]

    def attribute(self, number: int) -> int:
        return int(self.get("cuDeviceGetAttribute", "int *", number, self.device))

    # Memory.

    def room(self, size: int, fill: int = 0xA5) -> Buffer:
        """`size` bytes with the value `fill`, so that unwritten bytes are visible."""
        buffer = Buffer(int(self.get("cuMemAlloc_v2", "CUdeviceptr *", max(size, 1))), size)
        self.call("cuMemsetD8_v2", buffer.at, fill, max(size, 1))
        return buffer

    def buffer(self, code: str, values: Iterable[Number]) -> Buffer:
        """Values of one type (a letter of struct) in memory of the device."""
        data = packed(code, values)
        buffer = Buffer(int(self.get("cuMemAlloc_v2", "CUdeviceptr *", len(data))), len(data))
        self.write(buffer, data)
        return buffer

    def write(self, buffer: Buffer, data: bytes) -> None:
        self.call("cuMemcpyHtoD_v2", buffer.at, self.ffi.from_buffer(data), len(data))

    def bytes(self, buffer: Buffer) -> bytes:
        data = bytearray(buffer.size)
        self.call("cuMemcpyDtoH_v2", self.ffi.from_buffer(data), buffer.at, buffer.size)
        return bytes(data)

    def read(self, buffer: Buffer, code: str) -> list[Number]:
        return unpacked(code, self.bytes(buffer))

    # Kernels.

    def load(self, name: str) -> Any:
        """The module of kernels/NAME.ptx."""
        return self.load_text(resources.files(__package__).joinpath("kernels", f"{name}.ptx").read_text())

    def load_text(self, body: str) -> Any:
        """A module from PTX without its first three lines."""
        return self.get("cuModuleLoadData", "CUmodule *", self.ffi.new("char[]", (HEAD + body).encode()))

    def kernel(self, module: Any, name: str) -> Any:
        return self.get("cuModuleGetFunction", "CUfunction *", module, name.encode())

    def parameters(self, *values: Buffer | int | float) -> tuple[Any, list[Any]]:
        """kernelParams, and the objects that must live as long: buffers are .u64, int .u32, float .f32."""
        kept = [self.ffi.new(*_parameter(value)) for value in values]
        return self.ffi.new("void *[]", [self.ffi.cast("void *", one) for one in kept] or [self.ffi.NULL]), kept

    def launch(
        self,
        kernel: Any,
        grid: int,
        block: int,
        *values: Buffer | int | float,
        shared: int = 0,
        stream: Any = None,
        cooperative: bool = False,
    ) -> None:
        function = "cuLaunchCooperativeKernel" if cooperative else "cuLaunchKernel"
        parameters, _kept = self.parameters(*values)
        rest = () if cooperative else (self.ffi.NULL,)
        where = self.ffi.NULL if stream is None else stream
        self.call(function, kernel, grid, 1, 1, block, 1, 1, shared, where, parameters, *rest)

    def wait(self) -> None:
        self.call("cuCtxSynchronize")

    def run(self, kernel: Any, grid: int, block: int, *values: Buffer | int | float, **how: Any) -> None:
        """Launches and waits, so that an error of the kernel is raised by this call."""
        self.launch(kernel, grid, block, *values, **how)
        self.wait()


def _parameter(value: Buffer | int | float) -> tuple[str, Number]:
    if isinstance(value, Buffer):
        return "unsigned long long *", value.at
    return ("float *", value) if isinstance(value, float) else ("unsigned int *", value & 0xFFFFFFFF)


def packed(code: str, values: Iterable[Number]) -> bytes:
    """Values in their memory format; integers are truncated to the type's width."""
    width, found = struct.calcsize(code), list(values)
    if code in "efd":
        return struct.pack(f"<{len(found)}{code}", *found)
    return b"".join((int(value) & (1 << 8 * width) - 1).to_bytes(width, "little") for value in found)


def unpacked(code: str, data: bytes | Sequence[int]) -> list[Number]:
    data = bytes(data)
    return list(struct.unpack(f"<{len(data) // struct.calcsize(code)}{code}", data))
