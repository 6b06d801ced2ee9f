"""What libnvJitLink's stand-in takes for intermediate code (LTO): raw, in fatbins, object files and libraries. The real
library makes PTX of it; without that library the error says so, and does not speak of machine code."""

from __future__ import annotations

import ctypes

import pytest

from ptx2amd import native
from tests.fatbin.containers import PTX, archive, entry, executable, fatbin

FATBIN, OBJECT, LIBRARY, ANY = 4, 5, 6, 10
SUCCESS, INVALID_INPUT, NVVM_COMPILE = 0, 3, 5
LTO, BOTH = fatbin(entry(b"\xed\x43\x4e\x7f" + bytes(90), kind=8)), fatbin(entry(bytes(90), kind=8), entry(PTX))
DAMAGED = LTO[:16] + b"\x08\0\x01\1" + b"\xff" * 200


def link(kind: int, data: bytes) -> tuple[int, str]:
    """The result of adding and linking one input for intermediate code, and the log."""
    library = ctypes.CDLL(str(native.DIRECTORY / "standin" / "libnvJitLink.so.13"))
    state, size = ctypes.c_void_p(), ctypes.c_size_t()
    options = (ctypes.c_char_p * 2)(b"-arch=sm_80", b"-ptx")
    assert library.nvJitLinkCreate(ctypes.byref(state), 2, options) == SUCCESS
    try:
        result = library.nvJitLinkAddData(state, kind, data, ctypes.c_size_t(len(data)), b"input")
        result = result or library.nvJitLinkComplete(state)
        library.nvJitLinkGetErrorLogSize(state, ctypes.byref(size))
        log = ctypes.create_string_buffer(size.value + 1)
        library.nvJitLinkGetErrorLog(state, log)
        return result, log.value.decode()
    finally:
        library.nvJitLinkDestroy(ctypes.byref(state))


@pytest.mark.parametrize("kind", [FATBIN, OBJECT, LIBRARY, ANY])
@pytest.mark.parametrize("wrap", ["fatbin", "object", "library"])
def test_intermediate_code_goes_to_the_real_library(kind: int, wrap: str) -> None:
    data = {"fatbin": LTO, "object": executable(b"__nv_relfatbin", LTO)}.get(wrap) or archive(
        (b"a.o/", executable(b"__nv_relfatbin", LTO))
    )
    result, log = link(kind, data)
    assert result == NVVM_COMPILE and "needs NVIDIA's libnvJitLink" in log


@pytest.mark.parametrize("data", [BOTH, fatbin(entry(PTX)), executable(b"__nv_relfatbin", BOTH), DAMAGED])
def test_ptx_does_not_need_it(data: bytes) -> None:
    """-ptx leaves nothing to do for PTX; a damaged fatbin is not searched beyond its end."""
    assert link(ANY, data) == (SUCCESS, "")


def test_a_library_of_ptx_is_refused() -> None:
    assert link(LIBRARY, archive((b"a.o/", executable(b".nv_fatbin", BOTH))))[0] == INVALID_INPUT
