"""For programs that call a library over ROCm's and compare results with the host's: `python X_calls.py LIBCUDA LIBRARY`
prints a line for each check that is wrong, how many there were, and which functions succeeded."""

from __future__ import annotations

import sys
from typing import Any

import cffi
import numpy as np

from ptx2amd.api.mapped import Mapped

Array = np.ndarray[Any, Any]
DRIVER = """
int cuInit(unsigned); int cuDevicePrimaryCtxRetain(void **, int); int cuCtxSetCurrent(void *);
int cuMemAlloc_v2(unsigned long long *, size_t); int cuMemFree_v2(unsigned long long);
int cuMemcpyHtoD_v2(unsigned long long, const void *, size_t); int cuMemcpyDtoH_v2(void *, unsigned long long, size_t);
int cuStreamCreate(cudaStream_t *, unsigned); int cuCtxSynchronize(void); int cuStreamSynchronize(cudaStream_t);
int cuStreamBeginCapture_v2(cudaStream_t, int); int cuStreamEndCapture(cudaStream_t, void **);
int cuGraphInstantiateWithFlags(void **, void *, unsigned long long); int cuGraphLaunch(void *, cudaStream_t);
"""


class Recorder:
    """The library's functions; those that succeed are noted."""

    def __init__(self, library: Any, mapped: Mapped) -> None:
        self._library, self._worked = library, set[str]()
        self._statuses = {row.symbol for row in mapped.rows if not row.returns}

    def __getattr__(self, name: str) -> Any:
        function = getattr(self._library, name)

        def call(*arguments: Any) -> Any:
            result = function(*arguments)
            if name not in self._statuses or result == 0:
                self._worked.add(name)
            return result

        return call


class Client:
    """The library, as cffi has it, and our libcuda with a context."""

    def __init__(self, mapped: Mapped) -> None:
        self.ffi = cffi.FFI()
        self.ffi.cdef(mapped.declarations() + DRIVER)
        self.cuda = self.ffi.dlopen(sys.argv[1])
        self.plain = self.ffi.dlopen(sys.argv[2], self.ffi.RTLD_NOW | self.ffi.RTLD_GLOBAL)  # as if linked
        self.library = Recorder(self.plain, mapped)
        self.draw = np.random.default_rng(1)
        self.wrong: list[str] = []
        self.made = 0
        context = self.ffi.new("void **")
        assert not self.cuda.cuInit(0) and not self.cuda.cuDevicePrimaryCtxRetain(context, 0)
        assert not self.cuda.cuCtxSetCurrent(context[0])

    def check(self, what: str, good: object) -> None:
        self.made += 1
        if not good:
            self.wrong.append(what)

    def address(self, values: Array) -> Any:
        return self.ffi.cast("void *", values.ctypes.data)

    def on_device(self, values: Array) -> Device:
        return Device(self, values)

    def call(self, name: str, *arguments: Any) -> int:
        """The function's status, with arrays as addresses."""
        function = getattr(self.library, name)
        kinds = self.ffi.typeof(getattr(self.plain, name)).args
        given = [
            a.pointer if isinstance(a, Device) else self.address(a) if isinstance(a, np.ndarray) else a
            for a in arguments
        ]
        pairs = zip(kinds, given, strict=True)
        return int(function(*(self.ffi.cast(k, a) if k.kind == "pointer" else a for k, a in pairs)))

    def report(self) -> None:
        print("\n".join([*self.wrong, f"{self.made} checks", " ".join(sorted(self.library._worked))]))


class Device:
    """An array on the device, column by column."""

    def __init__(self, client: Client, values: Array) -> None:
        self.client, self.values = client, np.asfortranarray(values)
        self.at = client.ffi.new("unsigned long long *")
        assert not client.cuda.cuMemAlloc_v2(self.at, max(self.values.nbytes, 8))
        self.pointer = client.ffi.cast("void *", self.at[0])
        self.put(self.values)

    def put(self, values: Array) -> None:
        """New contents, of the same size."""
        assert not self.client.cuda.cuMemcpyHtoD_v2(self.at[0], self.client.address(values), values.nbytes)

    def now(self) -> Array:
        """Its contents."""
        out = np.empty_like(self.values)
        assert not self.client.cuda.cuMemcpyDtoH_v2(self.client.address(out), self.at[0], out.nbytes)
        return out
