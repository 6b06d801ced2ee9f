"""Devices, modules, kernels, buffers, streams and events of a HIP library."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, SupportsInt

from ptx2amd.errors import Ptx2amdError
from ptx2amd.hip.library import Library, amd, software_gpu

if TYPE_CHECKING:
    import numpy as np

#: A kernel argument: a buffer, an integer of any width, a numpy or ctypes scalar, or raw bytes.
Argument = Any
Dim = int | Sequence[int]


def open(device: str = "vgpu:gfx942") -> Gpu:
    """The device "vgpu", "vgpu:ARCH", "hip" or "hip:ORDINAL". Raises Ptx2amdError if there is none."""
    kind, _, rest = device.partition(":")
    if kind == "vgpu":
        library = software_gpu()
        for ordinal in range(library.device_count()):
            gpu = Gpu(library, ordinal)
            if rest in ("", gpu.arch):
                return gpu
        raise Ptx2amdError(f"the software GPU has no device {rest or 'at all'}")
    if kind == "hip":
        library, ordinal = amd(), int(rest or 0)
        if ordinal >= library.device_count():
            raise Ptx2amdError(f"{library.path} has {library.device_count()} devices, there is no {device}")
        return Gpu(library, ordinal)
    raise Ptx2amdError(f"unknown device {device!r}: vgpu, vgpu:ARCH, hip or hip:ORDINAL")


class Gpu:
    """One device. Sizes in bytes; `arch` without feature suffixes; `wave` in lanes."""

    def __init__(self, library: Library, ordinal: int) -> None:
        self.library, self.ordinal = library, ordinal
        prop = library.ffi.new("hipDeviceProp_tR0600 *")
        library.hipGetDevicePropertiesR0600(prop, ordinal)
        self.properties = prop
        self.name: str = library.ffi.string(prop.name).decode()
        self.arch: str = library.ffi.string(prop.gcnArchName).decode().partition(":")[0]
        self.wave = int(prop.warpSize)

    def __repr__(self) -> str:
        return f"<{self.name}, {self.arch}, device {self.ordinal} of {self.library.path}>"

    def activate(self) -> Library:
        """Makes the device the calling thread's current one."""
        self.library.hipSetDevice(self.ordinal)
        return self.library

    def load(self, image: bytes | str | Path) -> Module:
        """Loads a code object: its bytes, or the path of its file."""
        lib = self.activate()
        handle = lib.ffi.new("hipModule_t *")
        if isinstance(image, bytes):
            lib.hipModuleLoadData(handle, lib.ffi.from_buffer(image))
        else:
            lib.hipModuleLoad(handle, str(image).encode())
        return Module(self, handle[0])

    def buffer(self, content: Any) -> Buffer:
        """Device memory: of that many bytes (int), or holding a copy of an array or bytes."""
        if isinstance(content, int):
            return Buffer(self, content)
        view = memoryview(content)
        result = Buffer(self, view.nbytes, getattr(content, "dtype", None), getattr(content, "shape", None))
        result.write(content)
        return result

    def stream(self, flags: int = 0) -> Stream:
        return Stream(self, flags)

    def event(self) -> Event:
        return Event(self)

    def synchronize(self) -> None:
        self.activate().hipDeviceSynchronize()

    def attribute(self, name: str) -> int:
        """A device attribute by HIP's name without its prefix: "WarpSize"."""
        lib = self.library
        value = lib.ffi.new("int *")
        lib.hipDeviceGetAttribute(value, getattr(lib.raw, "hipDeviceAttribute" + name), self.ordinal)
        return int(value[0])

    def reset(self) -> None:
        """Clears the error state after a fault and frees all memory of the device: existing buffers become invalid."""
        self.activate().hipDeviceReset()


class Buffer:
    """Device memory, freed with the object. `dtype` and `shape` are those of the array it was made from."""

    def __init__(
        self, gpu: Gpu, size: int, dtype: Any = None, shape: Any = None, address: int = 0, keep: Any = None
    ) -> None:
        """Allocates `size` bytes; with an address, a view of memory that `keep` owns."""
        self.gpu, self.size, self.dtype, self.shape = gpu, size, dtype, shape
        self.address, self.owned, self.keep = address, not address, keep
        self.made = gpu.library.resets[gpu.ordinal]
        if self.owned:
            lib = gpu.activate()
            pointer = lib.ffi.new("void **")
            lib.hipMalloc(pointer, size)
            self.address = int(lib.ffi.cast("uintptr_t", pointer[0]))

    def __int__(self) -> int:
        return self.address

    def __len__(self) -> int:
        return self.size

    def _pointer(self) -> Any:
        return self.gpu.library.ffi.cast("void *", self.address)

    def write(self, content: Any) -> None:
        """Copies an array or bytes to the start of the buffer; ordered like a call on the null stream."""
        lib = self.gpu.activate()
        view = memoryview(content)
        flat = view.tobytes() if not view.c_contiguous else content
        if view.nbytes > self.size:
            raise ValueError(f"{view.nbytes} bytes do not fit the buffer of {self.size}")
        if view.nbytes:
            lib.hipMemcpyHtoD(self._pointer(), lib.ffi.from_buffer(flat), view.nbytes)

    def peek(self) -> bytes:
        """The current content, even in an error state; on the software GPU only, where device memory is host memory."""
        assert self.gpu.library.software
        return bytes(self.gpu.library.ffi.buffer(self._pointer(), self.size))

    def bytes(self) -> bytes:
        """The content after all preceding work of the null stream."""
        lib = self.gpu.activate()
        target = bytearray(self.size)
        if self.size:
            lib.hipMemcpyDtoH(lib.ffi.from_buffer(target), self._pointer(), self.size)
        return bytes(target)

    def numpy(self, dtype: Any = None) -> np.ndarray:
        """The content as an array of the dtype given, or of the dtype and shape it was made from."""
        import numpy

        flat = numpy.frombuffer(self.bytes(), dtype if dtype is not None else self.dtype or numpy.uint8)
        return flat.reshape(self.shape) if dtype is None and self.shape is not None else flat

    def _has_memory(self) -> bool:
        """Whether the memory must still be freed: after a reset it is gone, and the address may belong to another
        buffer."""
        return self.owned and bool(self.address) and self.made == self.gpu.library.resets[self.gpu.ordinal]

    def free(self) -> None:
        """Frees the memory after waiting for work that may use it."""
        if self._has_memory():
            address, self.address = self.address, 0
            self.gpu.library.hipFree(self.gpu.library.ffi.cast("void *", address))

    def __del__(self) -> None:
        if hasattr(self, "made") and self._has_memory():
            # In an error state, a failed free is expected.
            self.gpu.library.raw.hipFree(self.gpu.library.ffi.cast("void *", self.address))


class Module:
    """A loaded code object; unloaded when the object is deleted."""

    def __init__(self, gpu: Gpu, handle: Any) -> None:
        self.gpu, self.handle = gpu, handle

    def kernel(self, name: str) -> Kernel:
        lib = self.gpu.library
        function = lib.ffi.new("hipFunction_t *")
        lib.hipModuleGetFunction(function, self.handle, name.encode())
        return Kernel(self, name, function[0])

    def variable(self, name: str) -> Buffer:
        """A device variable, as a view."""
        lib = self.gpu.library
        pointer, size = lib.ffi.new("hipDeviceptr_t *"), lib.ffi.new("size_t *")
        lib.hipModuleGetGlobal(pointer, size, self.handle, name.encode())
        return Buffer(self.gpu, int(size[0]), address=int(lib.ffi.cast("uintptr_t", pointer[0])), keep=self)

    def __del__(self) -> None:
        self.gpu.library.raw.hipModuleUnload(self.handle)


class Kernel:
    """A kernel of a module; keeps the module loaded."""

    def __init__(self, module: Module, name: str, handle: Any) -> None:
        self.module, self.name, self.handle = module, name, handle

    def launch(self, grid: Dim, block: Dim, args: Sequence[Argument] = (), shared: int = 0,
               stream: Stream | None = None) -> None:  # fmt: skip
        """Launches `grid` blocks of `block` threads with `shared` bytes of dynamic LDS, and does not wait. Integers are
        truncated to the parameter's width. Raises HipError, also for an earlier fault of the device.
        """
        lib = self.module.gpu.activate()
        cells = [lib.ffi.from_buffer(argument_bytes(a)) for a in args]
        pointers = lib.ffi.new("void *[]", [lib.ffi.cast("void *", c) for c in cells] or 1)
        queue = stream.handle if stream else lib.ffi.NULL
        lib.hipModuleLaunchKernel(self.handle, *_three(grid), *_three(block), shared, queue, pointers, lib.ffi.NULL)

    def attribute(self, name: str) -> int:
        """A function attribute by HIP's name without its prefix: "NUM_REGS"."""
        lib = self.module.gpu.library
        value = lib.ffi.new("int *")
        lib.hipFuncGetAttribute(value, getattr(lib.raw, "HIP_FUNC_ATTRIBUTE_" + name), self.handle)
        return int(value[0])


def _three(dim: Dim) -> list[int]:
    sizes = [dim] if isinstance(dim, int) else list(dim)
    return sizes + [1] * (3 - len(sizes))


def argument_bytes(value: Argument) -> bytes:
    """The bytes of a kernel argument, padded to at least the parameter's size."""
    if isinstance(value, bytes | bytearray):
        return bytes(value)
    if isinstance(value, float) and not hasattr(value, "tobytes"):
        raise TypeError("a float may be f32 or f64: pass numpy.float32(x) or numpy.float64(x)")
    if isinstance(value, Buffer):
        return struct.pack("<Q", value.address)
    if hasattr(value, "tobytes"):  # numpy scalars; integers widen to any parameter
        return value.tobytes() if value.dtype.kind not in "iub" else _integer(int(value))
    if isinstance(value, SupportsInt):
        return _integer(int(value))
    return bytes(memoryview(value))


def _integer(value: int) -> bytes:
    return (value & 0xFFFF_FFFF_FFFF_FFFF).to_bytes(8, "little")


class Stream:
    """A stream; destroyed when the object is deleted."""

    def __init__(self, gpu: Gpu, flags: int = 0) -> None:
        self.gpu = gpu
        lib = gpu.activate()
        handle = lib.ffi.new("hipStream_t *")
        lib.hipStreamCreateWithFlags(handle, flags)
        self.handle = handle[0]

    def synchronize(self) -> None:
        self.gpu.library.hipStreamSynchronize(self.handle)

    def idle(self) -> bool:
        return self.gpu.library.ready("hipStreamQuery", self.handle)

    def wait(self, event: Event) -> None:
        self.gpu.library.hipStreamWaitEvent(self.handle, event.handle, 0)

    def __del__(self) -> None:
        if hasattr(self, "handle"):
            self.gpu.library.raw.hipStreamDestroy(self.handle)


class Event:
    """A point in a stream, with its time."""

    def __init__(self, gpu: Gpu) -> None:
        self.gpu = gpu
        lib = gpu.activate()
        handle = lib.ffi.new("hipEvent_t *")
        lib.hipEventCreate(handle)
        self.handle = handle[0]

    def record(self, stream: Stream | None = None) -> None:
        lib = self.gpu.activate()
        lib.hipEventRecord(self.handle, stream.handle if stream else lib.ffi.NULL)

    def synchronize(self) -> None:
        self.gpu.library.hipEventSynchronize(self.handle)

    def done(self) -> bool:
        return self.gpu.library.ready("hipEventQuery", self.handle)

    def milliseconds_since(self, start: Event) -> float:
        lib = self.gpu.library
        ms = lib.ffi.new("float *")
        lib.hipEventElapsedTime(ms, start.handle, self.handle)
        return float(ms[0])

    def __del__(self) -> None:
        if hasattr(self, "handle"):
            self.gpu.library.raw.hipEventDestroy(self.handle)
