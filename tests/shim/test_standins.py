"""What comes in the place of NVIDIA's libraries at run time, against a made-up NVRTC: a program that asks it for
machine code gets a container of the PTX, which loads and runs, also where the real library sits in its own folder."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

NVRTC = r"""
#include <string.h>
#include <stddef.h>
static const char text[] = ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry store(.param .u64 p)\n{\n"
  ".reg .u64 %a;\nld.param.u64 %a, [p];\nst.global.u32 [%a], 42;\nret;\n}\n";
int nvrtcVersion(int *major, int *minor) { *major = 13, *minor = 7; return 0; }
int nvrtcGetPTXSize(void *p, size_t *size) { *size = sizeof text; return p ? 0 : 4; }
int nvrtcGetPTX(void *p, char *out) { memcpy(out, text, sizeof text); return p ? 0 : 4; }
int nvrtcGetCUBINSize(void *p, size_t *size) { *size = p == (void *)8 ? 0 : 5; return p ? 0 : 4; }
int nvrtcGetCUBIN(void *p, char *out) { memcpy(out, "\177ELF", 5); return p ? 0 : 4; }
int nvrtcGetNumSupportedArchs(int *n) { *n = 3; return 0; }
int nvrtcGetSupportedArchs(int *archs) { memcpy(archs, (int[]){75, 90, 80}, 12); return 0; }
int nvrtcCompileProgram(char *p, int n, const char *const *options) {
  for (int i = 0; i < n; i++) strcat(strcat(p, options[i]), " ");
  return 6;
}
"""
PROGRAM = r"""
import ctypes, sys
nvrtc, cuda = ctypes.CDLL(sys.argv[1]), ctypes.CDLL("libcuda.so.1")
major, minor, size = ctypes.c_int(), ctypes.c_int(), ctypes.c_size_t()
assert nvrtc.nvrtcVersion(ctypes.byref(major), ctypes.byref(minor)) == 0 and minor.value == 7
assert nvrtc.nvrtcGetCUBINSize(ctypes.c_void_p(), ctypes.byref(size)) == 4
assert nvrtc.nvrtcGetCUBINSize(ctypes.c_void_p(8), ctypes.byref(size)) == 0 and size.value == 0
assert nvrtc.nvrtcGetCUBINSize(ctypes.c_void_p(1), ctypes.byref(size)) == 0 and size.value > 5
cubin = ctypes.create_string_buffer(size.value)
assert nvrtc.nvrtcGetCUBIN(ctypes.c_void_p(1), cubin) == 0
context, module, kernel, memory = (ctypes.c_void_p() for _ in range(4))
call = lambda name, *args: [getattr(cuda, name)(*args)] == [0] or sys.exit(name)
call("cuInit", 0)
call("cuCtxCreate_v2", ctypes.byref(context), 0, 0)
call("cuModuleLoadData", ctypes.byref(module), cubin)
call("cuModuleGetFunction", ctypes.byref(kernel), module, b"store")
call("cuMemAlloc_v2", ctypes.byref(memory), ctypes.c_size_t(4))
call("cuLaunchKernel", kernel, 1, 1, 1, 1, 1, 1, 0, None, (ctypes.c_void_p * 1)(ctypes.addressof(memory)), None)
word = ctypes.c_uint()
call("cuMemcpyDtoH_v2", ctypes.byref(word), memory, ctypes.c_size_t(4))
print("stored", word.value)
"""


def with_nvrtc(name: str, program: str, folder: Path) -> str:
    """What a program prints that gets the path of the made-up library."""
    source, library = folder / "nvrtc.c", folder / "lib" / name
    library.parent.mkdir()
    source.write_text(NVRTC)
    options = ["-shared", "-fPIC", f"-Wl,-soname,{name}", "-Wl,--default-symver"]
    subprocess.run(["gcc", *options, "-o", str(library), str(source)], check=True)
    command = [sys.executable, "-m", "ptx2amd.cli", "run", "--device", "vgpu:gfx1100", "--"]
    done = subprocess.run([*command, sys.executable, "-c", program, str(library)], capture_output=True, text=True)
    assert not done.stderr, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("name", ["libnvrtc.so.11.2", "libnvrtc.so.12", "libnvrtc.so.13"])
def test_machine_code_of_nvrtc_is_its_ptx(name: str, tmp_path: Path) -> None:
    assert with_nvrtc(name, PROGRAM, tmp_path) == "stored 42\n"


OPENED = """
import ctypes, os, sys
path, name = sys.argv[1], os.path.basename(sys.argv[1])
for asked, mode in ((name, os.RTLD_NOLOAD), (name, os.RTLD_NOLOAD), (path, 0), (name, os.RTLD_NOLOAD), (path, 0)):
    try:
        library = ctypes.CDLL(asked, mode)
    except OSError:
        continue
    loaded = {line.split()[-1] for line in open("/proc/self/maps") if name in line}
    (ours,) = (path for path in loaded if "/standin/" in path)
    assert ctypes.CDLL(ours)._handle == library._handle
print(sorted(path.split("/")[-2] for path in loaded))
"""


def test_nvrtc_is_replaced_however_it_is_looked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By its name on the search path, whether it is loaded already or not, and by its path, more than once."""
    monkeypatch.setenv("LD_LIBRARY_PATH", str(tmp_path / "lib"))
    assert with_nvrtc("libnvrtc.so.13", OPENED, tmp_path) == "['lib', 'standin']\n"


COMPILES = """
import ctypes, sys
nvrtc = ctypes.CDLL(sys.argv[1])
def compile(*options):
    text = ctypes.create_string_buffer(200)
    assert nvrtc.nvrtcCompileProgram(text, len(options), (ctypes.c_char_p * len(options))(*options)) == 6
    print(text.value.decode())
compile()
compile(b"-DX=sm_130", b"--gpu-architecture=sm_130a", b"-w")
compile(b"-arch", b"compute_86")
compile(b"-arch=compute_80", b"--std=c++17")
compile(b"-arch=sm_90a")
compile(b"-arch=sm_50")
"""


def test_nvrtc_is_asked_for_architectures_that_it_knows(tmp_path: Path) -> None:
    wanted = ["", "-DX=sm_130 --gpu-architecture=sm_90 -w", "-arch compute_80", "-arch=compute_80 --std=c++17",
              "-arch=sm_90a", "-arch=sm_50"]  # fmt: skip
    assert [line.strip() for line in with_nvrtc("libnvrtc.so.12", COMPILES, tmp_path).splitlines()] == wanted


DEVICE_FILES = """
import os, subprocess, sys
print(all(map(os.path.exists, ("/dev/nvidia0", "/dev/nvidiactl"))), os.path.exists("/dev/nvidia77"))
print(subprocess.run([sys.argv[1], "--version"], capture_output=True, text=True).stdout.split(":")[0])
os.environ["CICC_PATH"] = "/nvcc"
print(subprocess.run([sys.argv[1], "--version"], capture_output=True, text=True).stdout.split(":")[0])
"""


def test_device_files_and_ptxas_in_a_folder_of_its_own(tmp_path: Path) -> None:
    """What JAX and XLA look for: the files of NVIDIA's driver; our ptxas comes, except below nvcc."""
    other = tmp_path / "ptxas"
    other.write_text("#!/bin/sh\necho other:\n")
    other.chmod(0o755)
    command = [sys.executable, "-m", "ptx2amd.cli", "run", "--device", "vgpu:gfx942", "--"]
    done = subprocess.run(
        [*command, sys.executable, "-c", DEVICE_FILES, str(other)], capture_output=True, text=True, check=True
    )
    assert done.stdout.split("\n")[:3] == ["True False", "ptxas", "other"], done.stdout + done.stderr


NVCC = "import os, sys; os.environ['CICC_PATH'] = '/nvcc'; os.system(sys.argv[1] + ' --version; true')"


@pytest.mark.parametrize(("options", "comes"), [(["-arch=sm_80", "--cubin"], "ptxas"), (["-c"], "other")])
def test_nvcc_that_makes_machine_code_alone_gets_our_ptxas(options: list[str], comes: str, tmp_path: Path) -> None:
    other = tmp_path / "ptxas"
    other.write_text("#!/bin/sh\necho other:\n")
    other.chmod(0o755)
    command = [sys.executable, "-m", "ptx2amd.cli", "run", "--device", "vgpu:gfx942", "--"]
    start = f"import os, sys; os.execv({sys.executable!r}, ['/bin/nvcc', '-c', {NVCC!r}, *sys.argv[1:]])"
    done = subprocess.run(
        [*command, sys.executable, "-c", start, str(other), *options], capture_output=True, text=True, check=True
    )
    assert done.stdout.partition(":")[0] == comes, done.stdout + done.stderr
