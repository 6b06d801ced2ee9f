"""Device memory of Triton's scripts: cuMemAlloc through ctypes, and numpy in the place of PyTorch."""

import ctypes

import numpy as np

cuda = ctypes.CDLL("libcuda.so.1")


def check(result: int) -> None:
    if result:
        raise RuntimeError(f"CUDA error {result}")


class Array:
    """A device copy of a numpy array, as Triton takes arguments."""

    def __init__(self, host: np.ndarray) -> None:
        self.host, self.dtype = np.ascontiguousarray(host), str(host.dtype)
        self.address = ctypes.c_uint64()
        check(cuda.cuMemAlloc_v2(ctypes.byref(self.address), ctypes.c_size_t(host.nbytes)))
        check(
            cuda.cuMemcpyHtoD_v2(self.address, self.host.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(host.nbytes))
        )

    def data_ptr(self) -> int:
        return self.address.value

    def numpy(self) -> np.ndarray:
        check(
            cuda.cuMemcpyDtoH_v2(
                self.host.ctypes.data_as(ctypes.c_void_p), self.address, ctypes.c_size_t(self.host.nbytes)
            )
        )
        return self.host


def start() -> None:
    """A context for the thread."""
    context = ctypes.c_void_p()
    check(cuda.cuInit(0))
    check(cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0))
    check(cuda.cuCtxSetCurrent(context))
