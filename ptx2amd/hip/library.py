"""A HIP library through cffi: finding it, declaring it, and errors as exceptions."""

from __future__ import annotations

import ctypes.util
import re
from collections import defaultdict
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import cffi

from ptx2amd import native, settings
from ptx2amd.api.hip import TYPES, prototypes
from ptx2amd.errors import Ptx2amdError

PACKAGE = Path(__file__).resolve().parent.parent
VGPU_API = PACKAGE / "vgpu" / "runtime" / "hip" / "vgpu_api.h"
AMD_NAMES = ("libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so")

#: Functions that do not return an error code.
_PLAIN = {"hipGetErrorName", "hipGetErrorString", "hipKernelNameRef"}
_NOT_READY = 600


class HipError(Ptx2amdError):
    """A failed HIP call: its name, the error's number and name, and the fault report if there is one."""

    def __init__(self, call: str, code: int, name: str, detail: str = "") -> None:
        self.call, self.code, self.name, self.detail = call, code, name, detail
        super().__init__(f"{call}: {name} ({code})" + (f": {detail}" if detail else ""))


#: In the order of their inclusion.
PARTS = ("hip_types.h", "hip_types_texture.h", "hip_types_memory.h", "hip_types_launch.h")


@cache
def ffi() -> cffi.FFI:
    """The declarations of the HIP API: the table's functions, and the types of the software GPU's own headers."""
    files = [*(TYPES / name for name in PARTS), VGPU_API]
    text = "".join(path.read_text() for path in files) + prototypes()
    declarations = cffi.FFI()
    declarations.cdef(re.sub(r"^\s*#.*$", "", text, flags=re.MULTILINE))
    return declarations


class Library:
    """An open HIP library. Its functions are methods that raise HipError; `raw` has the unchecked functions.

    ptx2amd.errors.Ptx2amdError: the library cannot be loaded.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = str(path)
        self.ffi = ffi()
        try:
            self.raw: Any = self.ffi.dlopen(self.path)
        except OSError as error:
            raise Ptx2amdError(f"cannot load the HIP library {self.path}: {error}") from error
        self.resets: dict[int, int] = defaultdict(int)  # by device
        self.software = hasattr(self.raw, "ptx2amd_vgpu_last_fault")

    def __getattr__(self, name: str) -> Callable[..., Any]:
        function: Callable[..., Any] = getattr(self.raw, name)  # AttributeError: the library lacks it
        if name in _PLAIN or not name.startswith("hip"):
            return function

        def call(*args: Any) -> None:
            error = function(*args)
            if error:
                self.fail(name, error)

        self.__dict__[name] = call
        return call

    def hipDeviceReset(self) -> None:
        """Resets the current device; counted, because what was allocated before must not be freed any more."""
        device = self.ffi.new("int *")
        self.raw.hipGetDevice(device)
        error = self.raw.hipDeviceReset()
        if error:
            self.fail("hipDeviceReset", error)
        self.resets[int(device[0])] += 1

    def fail(self, call: str, code: int) -> None:
        name = self.ffi.string(self.raw.hipGetErrorName(code)).decode()
        fault = 700 <= code < 720 and self.software
        raise HipError(call, code, name, last_fault(self) if fault else "")

    def ready(self, name: str, *args: Any) -> bool:
        """A query: False for "not ready". Raises HipError for other errors."""
        error = int(getattr(self.raw, name)(*args))
        if error not in (0, _NOT_READY):
            self.fail(name, error)
        return error == 0

    def device_count(self) -> int:
        count = self.ffi.new("int *")
        error = self.raw.hipGetDeviceCount(count)
        return 0 if error else int(count[0])


def last_fault(library: Library) -> str:
    """The software GPU's report of the last fault; "" if there was none, or for another library."""
    if not library.software:
        return ""
    buffer = library.ffi.new("char[]", 2048)
    library.raw.ptx2amd_vgpu_last_fault(buffer, 2048)
    return str(library.ffi.string(buffer).decode(errors="replace"))


@cache
def software_gpu(path: str = "") -> Library:
    """The software GPU, with one device for each of its architectures unless it was initialised before."""
    library = Library(path or native.DIRECTORY / "libptx2amd_vgpu.so")
    library.raw.ptx2amd_vgpu_select(library.raw.ptx2amd_vgpu_archs())
    return library


@cache
def amd() -> Library:
    """AMD's HIP library: PTX2AMD_HIP_LIBRARY, else the newest on the loader's path."""
    wish = settings.HIP_LIBRARY.text()
    names = [wish] if wish else [*AMD_NAMES, ctypes.util.find_library("amdhip64") or "", "/opt/rocm/lib/libamdhip64.so"]
    for name in filter(None, names):
        try:
            return Library(name)
        except Ptx2amdError as error:
            last = error
    raise Ptx2amdError(f"no HIP library found (tried {', '.join(filter(None, names))})") from last
