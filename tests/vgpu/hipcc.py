"""HIP source to code objects for the tests of the HIP API, through the clang and lld inside the wheel ziglang."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

from ptx2amd import hip

ARCHS = ("gfx942", "gfx1100")

HEAD = """
#define GLOBAL extern "C" __attribute__((global))
#define DEVICE extern "C" __attribute__((device))
#define CONSTANT extern "C" __attribute__((constant))
#define SHARED __attribute__((shared))
typedef unsigned u32; typedef unsigned long long u64;
#define TX __builtin_amdgcn_workitem_id_x()
#define TY __builtin_amdgcn_workitem_id_y()
#define TZ __builtin_amdgcn_workitem_id_z()
#define BX __builtin_amdgcn_workgroup_id_x()
#define BY __builtin_amdgcn_workgroup_id_y()
#define BZ __builtin_amdgcn_workgroup_id_z()
#define NX __builtin_amdgcn_workgroup_size_x()
#define NY __builtin_amdgcn_workgroup_size_y()
#define NZ __builtin_amdgcn_workgroup_size_z()
#define GX (__builtin_amdgcn_grid_size_x() / NX)
DEVICE inline void barrier() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
"""

#: Kernels that several files of tests use.
COMMON = r"""
GLOBAL void saxpy(float *y, const float *x, float a, int n) {
  int i = BX * NX + TX;
  if (i < n) y[i] = a * x[i] + y[i];
}
GLOBAL void add_one(u32 *p, int n) {
  int i = BX * NX + TX;
  if (i < n) p[i] += 1;
}
GLOBAL void slow(u32 *p, int rounds) {          /* a chain of dependent steps on one lane */
  u32 v = p[0];
  for (int k = 0; k < rounds; k++) v = v * 1664525u + 1013904223u;
  p[0] = v;
}
GLOBAL void store(u32 *p, u64 index, u32 value) { if (TX == 0) p[index] = value; }
GLOBAL void empty() {}
"""


ZIG = (sys.executable, "-m", "ziglang")


def _run(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr


def have_clang19() -> bool:
    return shutil.which("clang-19") is not None


@cache
def compile_hip(source: str, arch: str, version: int = 5, *options: str, compiler: str = "clang22") -> bytes:
    """A code object of that code object version, by the wheel's clang ("clang22") or Debian's "clang19"."""
    flags = ("-nogpulib", "-nogpuinc", f"-mcode-object-version={version}", *(options or ("-O2",)))
    key = hashlib.blake2b(f"{HEAD}{source}{arch}{flags}{compiler}".encode()).hexdigest()[:16]
    target = Path(tempfile.gettempdir()) / "ptx2amd-test-kernels" / f"{key}.hsaco"
    if target.exists():
        return target.read_bytes()
    target.parent.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        text, assembly, relocatable, linked = (Path(name) / f"k.{end}" for end in ("hip", "s", "o", "hsaco"))
        text.write_text(HEAD + source)
        device = ("-x", "hip", f"--offload-arch={arch}", "--cuda-device-only", "--no-gpu-bundle-output", *flags)
        if compiler == "clang19":
            _run("clang-19", *device, str(text), "-o", str(linked))
        else:
            machine = ("-target", "amdgcn-amd-amdhsa", f"-mcpu={arch}", *(f for f in flags if f.startswith("-m")))
            _run(*ZIG, "clang", *device, "-S", str(text), "-o", str(assembly))
            _run(*ZIG, "clang", "-c", *machine, str(assembly), "-o", str(relocatable))
            _run(*ZIG, "ld.lld", "-m", "elf64_amdgpu", "-shared", str(relocatable), "-o", str(linked))
        image = linked.read_bytes()
    part = target.with_suffix(f".{id(image)}")
    part.write_bytes(image)
    part.replace(target)
    return image


_common: dict[str, hip.Module] = {}


def common(gpu: hip.Gpu, kernel: str) -> hip.Kernel:
    """A kernel of COMMON. The module stays loaded: unloading would wait for the device."""
    if gpu.arch not in _common:
        _common[gpu.arch] = gpu.load(compile_hip(COMMON, gpu.arch))
    return _common[gpu.arch].kernel(kernel)
