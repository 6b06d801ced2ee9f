"""AMD's own HIP libraries, as Debian's releases have them (HIP 5.2, 5.7, 6.4 and 7.2), their headers, and what happens
where there is one but no GPU."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import cffi
import pytest

from ptx2amd import native
from ptx2amd.api import driver, hip
from ptx2amd.api.hip.changed import CHANGED, SIGNATURES
from tests import rocm
from tests.headers import complaints, other_types

NO_DEVICE, NOT_INITIALIZED = 100, 3

ASK_VERSION = """
#include <dlfcn.h>
#include <stdio.h>
int main(int argc, char **argv) {
  void *library = dlopen(argv[argc - 1], RTLD_NOW);
  int version = 0;
  if (!library) return puts(dlerror()), 1;
  ((int (*)(int *))dlsym(library, "hipRuntimeGetVersion"))(&version);
  printf("%d\\n", version / 100000);
}
"""


OLD_LIBRARY = """
import ctypes, sys
cuda, out, size = ctypes.CDLL(sys.argv[1]), ctypes.c_int(), ctypes.c_size_t()
context = ctypes.c_void_p()
assert not cuda.cuInit(0) and not cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)
assert not cuda.cuCtxSetCurrent(context)
for node in range(1, 12):
    assert not cuda.cuGraphNodeGetType(ctypes.c_void_p(node), ctypes.byref(out))
    print(out.value)
print(cuda.cuMemGetAllocationGranularity(ctypes.byref(size), (ctypes.c_int * 16)(1), 0))
"""


def test_what_hip_5_2_numbers_and_lays_out_otherwise(stub_path: Path) -> None:
    """Graph nodes have CUDA's types, copies to and from symbols too; physical memory is not supported."""
    environment = {**os.environ, "PTX2AMD_HIP_LIBRARY": str(stub_path), "STUB_VERSION": "50221153", "PTX2AMD_TRACE": ""}
    command = [sys.executable, "-c", OLD_LIBRARY, native.DIRECTORY / "libcuda.so.1"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    copy, not_supported = 1, 801
    assert list(map(int, done.stdout.split())) == [*range(8), copy, copy, copy, not_supported]
    assert "HIP 5.2 cannot load code objects of version 5" in done.stderr


OLD_SEMAPHORES = """
import ctypes, sys
cuda, stub, context = ctypes.CDLL(sys.argv[1]), ctypes.CDLL(sys.argv[2]), ctypes.c_void_p()
assert not cuda.cuInit(0) and not cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)
assert not cuda.cuCtxSetCurrent(context)
parameters = (ctypes.c_uint64 * (3 * 18))()  # 144 bytes each: the value first, the flags at 72
for i in range(3):
    parameters[18 * i], parameters[18 * i + 9] = 10 + i, 1
handles = (ctypes.c_void_p * 3)(1, 2, 3)
print(cuda.cuSignalExternalSemaphoresAsync(handles, parameters, 3, None))
print(cuda.cuSignalExternalSemaphoresAsync(handles, None, 3, None))
print(*(ctypes.c_ulonglong * 3).in_dll(stub, "stub_signalled"), ctypes.c_uint.in_dll(stub, "stub_signal_flags").value)
"""


def test_hip_5_gets_several_semaphores_as_it_lays_them_out(stub_path: Path) -> None:
    environment = {**os.environ, "PTX2AMD_HIP_LIBRARY": str(stub_path), "STUB_VERSION": "50731921", "PTX2AMD_TRACE": ""}
    command = [sys.executable, "-c", OLD_SEMAPHORES, native.DIRECTORY / "libcuda.so.1", stub_path]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    invalid_value = 1
    assert list(map(int, done.stdout.split())) == [0, invalid_value, 10, 11, 12, 1]


@dataclass(frozen=True)
class Amd:
    """One of AMD's libraries, among those of its release."""

    prefix: rocm.Prefix
    library: Path
    version: int

    @property
    def flags(self) -> list[str | Path]:
        """gcc's, for AMD's headers."""
        return ["-D__HIP_PLATFORM_AMD__", "-idirafter", self.prefix.include]

    def command(self, *words: str | Path) -> list[str]:
        """A command whose libraries are those of the release, and otherwise this machine's."""
        return self.prefix.command(*words)


@pytest.fixture(scope="module", params=rocm.RELEASES)
def amd(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Amd:
    base = tmp_path_factory.mktemp("amd")
    major = rocm.RELEASES[request.param].hip
    prefix = rocm.prefix(request.param, f"libamdhip64-{major}", "libamdhip64-dev")
    library = prefix.libraries / f"libamdhip64.so.{major}"
    source, program = base / "ask.c", base / "ask"
    source.write_text(ASK_VERSION)
    subprocess.run(["gcc", source, "-o", program, "-ldl"], check=True)
    version = int(subprocess.run(prefix.command(program, library), capture_output=True, text=True, check=True).stdout)
    assert version // 100 == major
    return Amd(prefix, library, version)


@pytest.mark.slow
def test_every_function_is_there_in_the_versions_that_the_table_says(amd: Amd) -> None:
    command = ["nm", "-D", "--defined-only", amd.library]
    listing = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    there = {line.split()[-1].partition("@")[0] for line in listing.splitlines()}
    table = {row.symbol: row for row in hip.functions()}
    wrong = {name for name, row in table.items() if (name in there) != row.there(amd.version)}
    assert not wrong and len(there & set(table)) >= 400


@pytest.mark.slow
def test_functions_have_our_types(amd: Amd) -> None:
    """Each function of AMD's headers has the types that the table gives it."""
    rows = [row for row in hip.functions() if row.public and row.there(amd.version)]
    wrong = other_types(INCLUDES, rows, "hipError_t", amd.flags)
    assert len(rows) > 350
    assert wrong == SIGNATURES.get(amd.version, set())


@pytest.mark.slow
def test_structures_and_numbers_are_ours(amd: Amd) -> None:
    """What the software GPU and the shim call a field or a number is the same in AMD's headers, where these have it."""
    facts = list(our_facts())
    assert len(facts) > 500
    lines = [f'_Static_assert({what} == {value}, "{what} is not {value}");' for what, value in facts]
    found = complaints(INCLUDES, lines, amd.flags)
    wrong = {line for _, line in found if "static assertion failed" in line}
    changed = {re.findall(r"\w+", line.partition('"')[2])[1 if "(" in line else 0] for line in wrong}
    assert changed == CHANGED.get(amd.version, set()), wrong


def our_facts() -> Iterator[tuple[str, int]]:
    """Expressions and their values: what hip_types.h says of structures and enumerations."""
    command = ["gcc", "-E", "-P", hip.TYPES / "hip_types.h"]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    ffi = cffi.FFI()
    ffi.cdef(text[text.index("typedef enum hipError_t") :])
    for name in ffi.list_types()[0]:
        kind = ffi.typeof(name)
        if kind.kind == "enum":
            yield from kind.relements.items()
        elif kind.kind in ("struct", "union") and kind.fields:
            yield f"sizeof({name})", ffi.sizeof(kind)
            for field, about in kind.fields:
                if about.bitsize < 0:
                    yield f"__builtin_offsetof({name}, {field})", about.offset


INCLUDES = [
    "#include <stdint.h>", "#include <hip/hip_runtime_api.h>",
    "#if __has_include(<hip/hip_gl_interop.h>)", "#include <hip/hip_gl_interop.h>", "#endif",
    # what the headers name in C++ alone
    "typedef enum hipLimit_t hipLimit_t;", "typedef struct hipResourceViewDesc hipResourceViewDesc;",
    "typedef enum hipTextureAddressMode hipTextureAddressMode;",
    "typedef enum hipTextureFilterMode hipTextureFilterMode;",
]  # fmt: skip


@pytest.mark.slow
def test_without_a_gpu_every_call_fails_as_in_cuda(amd: Amd) -> None:
    """cuInit finds no device; then nothing is initialised. Nothing crashes, and AMD's library was really loaded."""
    library, runner = native.DIRECTORY / "libcuda.so.1", ("-m", "tests.shim.conformance_run")
    packages = os.pathsep.join(path for path in sys.path if path)
    environment = {**os.environ, "PYTHONPATH": packages, "PTX2AMD_DEVICE": "hip", "PTX2AMD_TRACE": ""}
    done = subprocess.run(
        amd.command(Path(sys.executable).resolve(), *runner, library, "--state", "deviceless"),
        env=environment, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "the HIP library finds no AMD GPU (HIP error 10" in done.stderr
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert answers[0] == ["cuInit", NO_DEVICE]
    early = {row.symbol for row in driver.functions() if row.early}
    assert [answer for answer in answers[1:] if answer[0] not in early and answer[1] != NOT_INITIALIZED] == []


START = "import ctypes, sys; print(ctypes.CDLL(sys.argv[1]).cuInit(0))"


def test_a_newer_hip_is_named(stub_path: Path) -> None:
    """It is used like the newest version that we know."""
    environment = {**os.environ, "PTX2AMD_HIP_LIBRARY": str(stub_path), "STUB_VERSION": "90100000", "PTX2AMD_TRACE": ""}
    command = [sys.executable, "-c", START, native.DIRECTORY / "libcuda.so.1"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "0\n")
    assert "HIP 9.1 is newer than all versions that ptx2amd knows (up to 7)" in done.stderr


@pytest.mark.parametrize("named", [False, True])
def test_a_hip_library_that_lacks_comgr_is_named_with_what_it_lacks(named: bool, tmp_path: Path) -> None:
    """Whether the loader finds it or PTX2AMD_HIP_LIBRARY names it."""
    comgr, hip_library = tmp_path / "libamd_comgr.so.3", tmp_path / "libamdhip64.so.7"
    (source := tmp_path / "empty.c").write_text("int nothing;")
    for library, others in ((comgr, []), (hip_library, ["-Wl,--no-as-needed", comgr])):
        words = ["-shared", "-fPIC", f"-Wl,-soname,{library.name}", source, *others, "-o", library]
        subprocess.run(["gcc", *words], check=True)
    comgr.unlink()
    settings = {"PTX2AMD_HIP_LIBRARY": str(hip_library)} if named else {"PTX2AMD_DEVICE": "hip"}
    environment = {**os.environ, "LD_LIBRARY_PATH": str(tmp_path), "PTX2AMD_TRACE": "", **settings}
    command = [sys.executable, "-c", START, native.DIRECTORY / "libcuda.so.1"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, f"{NO_DEVICE}\n")
    assert "libamd_comgr.so.3: cannot open shared object file" in done.stderr


@pytest.mark.parametrize(
    ("device", "comgr", "said"),
    [
        ("hip", False, "as libamd_comgr is not on the library path"),
        ("hip", True, "is the amdgpu driver loaded?"),
        ("kfd:gfx942", True, "libptx2amd_kfd.so is not preloaded"),
    ],
)
def test_why_a_hip_library_finds_no_gpu(device: str, comgr: bool, said: str, tmp_path: Path) -> None:
    """AMD's loads comgr itself, and without it has no devices."""
    no_devices = "int hipInit(int flags) { return flags; }\nint hipGetDeviceCount(int *n) { return *n = 0, 100; }\n"
    (source := tmp_path / "hip.c").write_text(no_devices)
    for name in ("libamdhip64.so.7", *(["libamd_comgr.so.3"] if comgr else [])):
        subprocess.run(["gcc", "-shared", "-fPIC", source, "-o", tmp_path / name], check=True)
    environment = {**os.environ, "LD_LIBRARY_PATH": str(tmp_path), "PTX2AMD_TRACE": "", "PTX2AMD_DEVICE": device}
    command = [sys.executable, "-c", START, native.DIRECTORY / "libcuda.so.1"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, f"{NO_DEVICE}\n")
    assert said in done.stderr and done.stderr.count("\n") == 1, done.stderr
