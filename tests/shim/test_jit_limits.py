"""CU_JIT_MAX_REGISTERS, and nvJitLink's and ptxas's option: the attribute is not above it, the results are right."""

from __future__ import annotations

from pathlib import Path

import pytest

from ptx2amd import native
from tests.bad_input.test_bad_input import run

CODE = """
import subprocess
LIVE = 120                                       # values that are live at once
loads = "".join(f"ld.volatile.global.u32 %v{i}, [%p+{4 * i}];" for i in range(LIVE))
stores = "".join(f"st.volatile.global.u32 [%p+{4 * i}], %v{LIVE - 1 - i};" for i in range(LIVE))
TEXT = HEAD + (f".visible .entry k(.param .u64 a) .maxntid 128, 1, 1 {{ .reg .b32 %v<{LIVE}>; .reg .b64 %p;"
               f"ld.param.u64 %p, [a]; {loads} {stores} ret; }}").encode() + bytes(1)
cu = Driver().start()

def option(value): return 1, (c.c_int * 1)(0), (c.c_void_p * 1)(value)
def loaded(image, *options):
    module = c.c_void_p()
    cu.cuModuleLoadDataEx(c.byref(module), image, *(options or (0, None, None)))
    return cu.function(module, "k")
def in_library(value):
    library, kernel, function = c.c_void_p(), c.c_void_p(), c.c_void_p()
    count, names, values = option(value)
    cu.cuLibraryLoadData(c.byref(library), TEXT, names, values, count, None, None, 0)
    cu.cuLibraryGetKernel(c.byref(kernel), library, b"k")
    cu.cuKernelGetFunction(c.byref(function), kernel)
    return function
def linked(value):
    state, out, size = c.c_void_p(), c.c_void_p(), c.c_size_t()
    cu.cuLinkCreate_v2(*option(value), c.byref(state))
    cu.cuLinkAddData_v2(state, 1, TEXT, c.c_size_t(len(TEXT)), b"k", 0, None, None)
    cu.cuLinkComplete(state, c.byref(out), c.byref(size))
    return loaded(out)
def by_ptxas(*options):
    with open("k.ptx", "wb") as file: file.write(TEXT[:-1])
    subprocess.run(["ptxas", *options, "k.ptx", "-o", "k.cubin"], check=True)
    with open("k.cubin", "rb") as file: return loaded(file.read())
def by_nvjitlink(*options):
    jit, state, size = c.CDLL(STANDINS + "/libnvJitLink.so.13"), c.c_void_p(), c.c_size_t()
    options = (b"-arch=sm_80", *options)
    assert not jit.nvJitLinkCreate(c.byref(state), len(options), (c.c_char_p * len(options))(*options))
    assert not jit.nvJitLinkAddData(state, 2, TEXT, c.c_size_t(len(TEXT)), b"k")
    assert not jit.nvJitLinkComplete(state) and not jit.nvJitLinkGetLinkedCubinSize(state, c.byref(size))
    image = c.create_string_buffer(size.value)
    assert not jit.nvJitLinkGetLinkedCubin(state, image)
    return loaded(image)

def registers(function):
    number = c.c_int()
    cu.cuFuncGetAttribute(c.byref(number), 4, function)
    data, memory = struct.pack(f"<{LIVE}I", *range(LIVE)), cu.alloc(4 * LIVE)
    cu.cuMemcpyHtoD_v2(memory, data, c.c_size_t(len(data)))
    assert cu.launch(function, 1, 1, 0, memory) == "CUDA_SUCCESS"
    assert struct.unpack(f"<{LIVE}I", cu.read(memory, 4 * LIVE)) == tuple(reversed(range(LIVE)))
    return number.value

free = registers(loaded(TEXT))
assert free > 0.75 * LIVE  # it is an estimate
assert registers(loaded(TEXT, *option(255))) == registers(by_ptxas("-O3")) == registers(by_nvjitlink()) == free
ways = (loaded(TEXT, *option(38)), in_library(38), linked(38), by_ptxas("-maxrregcount", "38"),
        by_ptxas("--maxrregcount=38"), by_nvjitlink(b"-maxrregcount=38"))
assert [registers(function) for function in ways] == [38] * len(ways)
assert 48 < registers(loaded(TEXT, *option(57))) <= 57 and registers(loaded(TEXT, *option(5))) == 24
print("limited")
"""


@pytest.mark.parametrize("arch", ["gfx942", "gfx1100"])
def test_registers_are_limited(tmp_path: Path, arch: str) -> None:
    given = f"import os\nos.chdir({str(tmp_path)!r})\nSTANDINS = {str(native.DIRECTORY / 'standin')!r}\n"
    done = run(given + CODE, tmp_path, f"vgpu:{arch}")
    assert done.returncode == 0 and "limited" in done.stdout, done.stdout + done.stderr
