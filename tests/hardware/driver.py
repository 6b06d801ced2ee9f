"""NVIDIA's driver, as far as kernels of PTX text need it: modules, memory and launches, by ctypes."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence

Dim = tuple[int, int, int]
INFO_LOG, INFO_SIZE, ERROR_LOG, ERROR_SIZE = 3, 4, 5, 6  # CUjit_option
LOG = 8192


class DriverError(Exception):
    """A call's code other than success, and for modules what the compiler says."""

    def __init__(self, what: str, code: int, log: str = "") -> None:
        super().__init__(f"{what}: {code} {log}".strip())
        self.code, self.log = code, log


class Device:
    """The first GPU, with a context that is current in the calling thread."""

    def __init__(self) -> None:
        self.lib = ctypes.CDLL("libcuda.so.1")
        self.call("cuInit", 0)
        context = ctypes.c_void_p()
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
        self.call("cuCtxSetCurrent", context)

    def call(self, name: str, *arguments: object) -> None:
        if code := getattr(self.lib, name)(*arguments):
            raise DriverError(name, code)

    def describe(self) -> dict[str, str]:
        """Where answers come from: the card, its compute capability and the driver's CUDA version."""
        name, version = ctypes.create_string_buffer(100), ctypes.c_int()
        major, minor = ctypes.c_int(), ctypes.c_int()
        self.call("cuDeviceGetName", name, 100, 0)
        self.call("cuDriverGetVersion", ctypes.byref(version))
        for attribute, place in ((75, major), (76, minor)):
            self.call("cuDeviceGetAttribute", ctypes.byref(place), attribute, 0)
        return {
            "card": name.value.decode(),
            "compute capability": f"{major.value}.{minor.value}",
            "driver's CUDA": f"{version.value // 1000}.{version.value % 1000 // 10}",
        }

    def load(self, text: str) -> ctypes.c_void_p:
        """Compiles and loads a module. Raises DriverError with the compiler's words."""
        log, module = ctypes.create_string_buffer(LOG), ctypes.c_void_p()
        options = (ctypes.c_int * 2)(ERROR_LOG, ERROR_SIZE)
        values = (ctypes.c_void_p * 2)(ctypes.addressof(log), LOG)
        code = self.lib.cuModuleLoadDataEx(ctypes.byref(module), text.encode() + b"\0", 2, options, values)
        if code:
            raise DriverError("cuModuleLoadDataEx", code, log.value.decode(errors="replace"))
        return module

    def function(self, module: ctypes.c_void_p, name: str) -> ctypes.c_void_p:
        found = ctypes.c_void_p()
        self.call("cuModuleGetFunction", ctypes.byref(found), module, name.encode())
        return found

    def variable(self, module: ctypes.c_void_p, name: str) -> tuple[int, int]:
        """Its address and size."""
        address, size = ctypes.c_uint64(), ctypes.c_size_t()
        self.call("cuModuleGetGlobal_v2", ctypes.byref(address), ctypes.byref(size), module, name.encode())
        return address.value, size.value

    def unload(self, module: ctypes.c_void_p) -> None:
        self.call("cuModuleUnload", module)

    def allocate(self, size: int) -> int:
        address = ctypes.c_uint64()
        self.call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(max(size, 1)))
        return address.value

    def free(self, address: int) -> None:
        self.call("cuMemFree_v2", ctypes.c_uint64(address))

    def write(self, address: int, content: bytes) -> None:
        if content:
            self.call("cuMemcpyHtoD_v2", ctypes.c_uint64(address), content, ctypes.c_size_t(len(content)))

    def read(self, address: int, size: int) -> bytes:
        room = ctypes.create_string_buffer(max(size, 1))
        if size:
            self.call("cuMemcpyDtoH_v2", room, ctypes.c_uint64(address), ctypes.c_size_t(size))
        return room.raw[:size]

    def launch(self, function: ctypes.c_void_p, grid: Dim, block: Dim, arguments: Sequence[bytes], shared: int) -> None:
        """Each argument's bytes are at least as many as its parameter has."""
        cells = [ctypes.create_string_buffer(a, len(a)) for a in arguments]
        pointers = (ctypes.c_void_p * max(len(cells), 1))(*(ctypes.addressof(c) for c in cells))
        self.call("cuLaunchKernel", function, *grid, *block, shared, None, pointers, None)

    def synchronize(self) -> None:
        self.call("cuCtxSynchronize")
