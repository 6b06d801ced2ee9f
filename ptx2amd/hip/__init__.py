"""Bindings to a HIP library: AMD's libamdhip64 or the software GPU.

gpu = hip.open("vgpu:gfx942")           # or "hip", "hip:1"
kernel = gpu.load(hsaco).kernel("saxpy")
x, y = gpu.buffer(np.ones(n, np.float32)), gpu.buffer(4 * n)
kernel.launch((n // 256,), (256,), [y, x, np.float32(2), n])
y.numpy(np.float32)
"""

from ptx2amd.hip.device import Buffer, Event, Gpu, Kernel, Module, Stream, open
from ptx2amd.hip.library import HipError, Library, last_fault

__all__ = [
    "Buffer",
    "Event",
    "Gpu",
    "HipError",
    "Kernel",
    "Library",
    "Module",
    "Stream",
    "last_fault",
    "open",
]
