"""The libraries in the place of AMD's libamdhip64.

Protects: programs and libraries of ROCm 5, 6 and 7 start: sonames, version nodes and every symbol are AMD's; functions
that we lack say so instead of crashing.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from ptx2amd import native
from ptx2amd.api.hip import functions
from ptx2amd.vgpu.dropin.generate import MAJORS, exports_of
from tests import rocm

FOLDER = native.DIRECTORY / "hip"
RELEASES = {"5.7": 5, "6.4": 6, "7.2": 7}


def symbols(library: Path) -> Iterator[tuple[str, str]]:
    """The functions that a library exports, with their version nodes."""
    listing = subprocess.run(
        ["nm", "-D", "--defined-only", "--with-symbol-versions", library], check=True, capture_output=True, text=True
    ).stdout
    for line in listing.splitlines():
        name, _, node = line.split()[-1].partition("@")
        if node:
            yield name, node.strip("@")


@pytest.mark.parametrize("major", MAJORS)
def test_symbols_and_nodes_are_those_of_the_table(major: int) -> None:
    ours = dict(symbols(FOLDER / f"libamdhip64.so.{major}"))
    assert ours == {row.symbol: row.version_node for row in exports_of(major)} and len(ours) > 450


@pytest.mark.slow
@pytest.mark.parametrize("release", RELEASES)
def test_the_table_is_amds(release: str) -> None:
    major = RELEASES[release]
    library = rocm.prefix(release, f"libamdhip64-{major}").libraries / f"libamdhip64.so.{major}"
    assert dict(symbols(library)) == {row.symbol: row.version_node for row in exports_of(major)}


PROGRAM = r"""
#include <stdio.h>
typedef struct { unsigned x, y, z; } dim3;
int hipGetDeviceCount(int *), hipMalloc(void **, size_t), hipFree(void *), hipRuntimeGetVersion(int *);
int LACKING(void), hipGetLastError(void);
int main(void) {
  int count = 0, version = 0;
  void *memory = 0;
  if (hipGetDeviceCount(&count) || hipMalloc(&memory, 100) || hipFree(memory)) return 1;
  if (hipRuntimeGetVersion(&version)) return 1;
  printf("%d %d %d %d", count, version / 10000000, LACKING(), LACKING());
  printf(" %d\n", hipGetLastError());
}
"""


def lacking() -> list[str]:
    """AMD's functions that the software GPU has not."""
    lines = subprocess.run(
        ["nm", "-D", "--defined-only", native.DIRECTORY / "libptx2amd_vgpu.so"],
        check=True, capture_output=True, text=True,
    ).stdout.splitlines()  # fmt: skip
    ours = {line.split()[-1] for line in lines}
    return [row.symbol for row in functions() if row.symbol not in ours]


def test_the_page_says_how_many_functions_there_are() -> None:
    names = {row.symbol for row in exports_of(7)}
    page = Path(__file__).resolve().parents[2] / "docs" / "support" / "hip.md"
    assert f"{len(names - set(lacking()))} of the {len(names)} functions of ROCm 7.2" in page.read_text()


@pytest.mark.parametrize("major", MAJORS)
def test_a_program_of_each_version_starts(major: int, tmp_path: Path) -> None:
    """It is linked against the soname, gets the functions of the software GPU, and a clear word about the rest."""
    missing = next(name for name in lacking() if name in {row.symbol for row in exports_of(major)})
    source, program = tmp_path / "program.c", tmp_path / "program"
    source.write_text(PROGRAM)
    link = ["-L", FOLDER, f"-l:libamdhip64.so.{major}", f"-Wl,-rpath,{FOLDER},-rpath-link,{native.DIRECTORY}"]
    subprocess.run(["gcc", f"-DLACKING={missing}", source, "-o", program, *link], check=True)
    needs = subprocess.run(["readelf", "-dV", program], check=True, capture_output=True, text=True).stdout
    assert f"[libamdhip64.so.{major}]" in needs and "hip_4.2" in needs
    done = subprocess.run([program], capture_output=True, text=True, env={"PTX2AMD_VGPU_COUNT": "2"})
    assert done.stdout == f"2 {major} 801 801 801\n"
    assert done.stderr == f"ptx2amd vgpu: {missing} is not supported by the software GPU\n"


#: What each function that we lack answers, beside the line with its name.
EACH = r"""
#include <stdio.h>
#define STATUS(f) int f(void);
#define TEXT(f) const char *f(void);
#define NUMBER(f) unsigned long f(void);
#define NOTHING(f) void f(void);
#include "list.h"
#undef STATUS
#undef TEXT
#undef NUMBER
#undef NOTHING
#define STATUS(f) if (f() != 801) puts(#f);
#define TEXT(f) if (*f()) puts(#f);
#define NUMBER(f) if (f()) puts(#f);
#define NOTHING(f) f();
int main(void) {
#include "list.h"
  puts("end");
}
"""


@pytest.mark.parametrize("major", MAJORS)
def test_every_function_that_we_lack_says_so(major: int, tmp_path: Path) -> None:
    """By name, once, with the error where its result is a status, and nothing that a program would follow elsewhere."""
    kinds = {"": "STATUS", "const char *": "TEXT", "size_t": "NUMBER", "unsigned short": "NUMBER", "void": "NOTHING"}
    names = set(lacking())
    lacked = [row for row in exports_of(major) if row.symbol in names and row.returns != "float"]
    assert len(lacked) > 80
    (tmp_path / "list.h").write_text("".join(f"{kinds[row.returns]}({row.symbol})\n" for row in lacked))
    (source := tmp_path / "program.c").write_text(EACH)
    link = ["-L", FOLDER, f"-l:libamdhip64.so.{major}", f"-Wl,-rpath,{FOLDER},-rpath-link,{native.DIRECTORY}"]
    subprocess.run(["gcc", "-w", "-fno-builtin", source, "-o", tmp_path / "program", *link], check=True)
    done = subprocess.run([tmp_path / "program"], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "end\n")
    said = [f"ptx2amd vgpu: {row.symbol} is not supported by the software GPU" for row in lacked]
    assert done.stderr.splitlines() == said


def test_two_versions_in_one_process(tmp_path: Path) -> None:
    """A program and a library that want different versions share devices and memory; the first one's version counts."""
    code = f"""
import ctypes as c
old, new = (c.CDLL({str(FOLDER)!r} + f"/libamdhip64.so.{{major}}") for major in (6, 7))
pointer, word, version = c.c_void_p(), c.c_uint(), c.c_int()
assert not old.hipMalloc(c.byref(pointer), c.c_size_t(64)) and not new.hipMemset(pointer, 3, c.c_size_t(64))
assert not old.hipMemcpy(c.byref(word), pointer, c.c_size_t(4), 2) and not new.hipFree(pointer)
for library in (old, new):
    assert not library.hipRuntimeGetVersion(c.byref(version))
    print(hex(word.value), version.value // 10000000)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("0x3030303 6\n" * 2, "")


def run(*words: object, **variables: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "ptx2amd.cli", "run", *map(str, words)]
    return subprocess.run(command, env={**os.environ, **variables}, capture_output=True, text=True, timeout=120)


def test_run_puts_our_library_in_the_place_of_any_other(tmp_path: Path) -> None:
    """Also where the program's own RPATH names another folder, and where it opens a full path."""
    library, program = tmp_path / "libamdhip64.so.7.2.99", tmp_path / "program"
    (tmp_path / "theirs.c").write_text("int hipGetDeviceCount(int *count) { *count = 99; return 0; }")
    (tmp_path / "program.c").write_text(
        "#include <dlfcn.h>\n#include <stdio.h>\nint hipGetDeviceCount(int *);\n"
        "int main(int n, char **v) { int a = 0, b = 0; void *l = dlopen(v[1], RTLD_NOW); hipGetDeviceCount(&a);\n"
        'if (!l) return puts(dlerror()); ((int (*)(int *))dlsym(l, "hipGetDeviceCount"))(&b); printf("%d %d", a, b); }'
    )
    gcc = ["gcc", "-Wl,--disable-new-dtags"]
    soname = "-Wl,-soname,libamdhip64.so.7"
    subprocess.run([*gcc, "-shared", "-fPIC", soname, tmp_path / "theirs.c", "-o", library], check=True)
    (tmp_path / "libamdhip64.so.7").symlink_to(library.name)
    link = [f"-Wl,-rpath,{tmp_path}", "-ldl"]
    subprocess.run([*gcc, tmp_path / "program.c", library, "-o", program, *link], check=True)
    assert subprocess.run([program, library], capture_output=True, text=True).stdout == "99 99"
    assert run("--hip", "--", program, library, PTX2AMD_VGPU_COUNT="3").stdout == "3 3"


def test_options_that_make_no_sense_for_hip_programs() -> None:
    for words, said in ((["--mapping", "native"], "for CUDA programs"), (["--device", "hip"], "for the software GPU"),
                        (["--device", "kfd:gfx942"], "leave out one"),
                        (["--device", "vgpus"], "unknown device")):  # fmt: skip
        done = run("--hip", *words, "--", "true")
        assert done.returncode and said in done.stderr


def test_a_program_of_the_other_language_is_named(tmp_path: Path) -> None:
    """And still runs: what a file looks like is not what it does."""
    both = "int main(void) { return 7; }\n"
    section = '__attribute__((section("%s"))) char code[8];\n'
    (cuda := tmp_path / "cuda.c").write_text(section % ".nv_fatbin" + both)
    (hip := tmp_path / "hip.c").write_text(section % ".hip_fatbin" + both)
    (plain := tmp_path / "plain.c").write_text(both)
    for source in (cuda, hip, plain):
        subprocess.run(["gcc", source, "-o", source.with_suffix("")], check=True)
    trace = ("--trace", str(tmp_path / "trace"))
    for source, words, said in (
        (cuda, ("--hip",), "cuda is a CUDA program: --hip is for HIP programs"),
        (hip, (), "hip is a HIP program: --hip runs it on the software GPU"),
        (hip, ("--device", "kfd", *trace), "--trace has no calls of a HIP program on AMD's library"),
        (cuda, (), ""), (hip, ("--hip", *trace), ""), (hip, ("--device", "kfd"), ""),
        (plain, ("--hip",), ""), (plain, (), ""),
    ):  # fmt: skip
        done = run(*words, "--", source.with_suffix(""))
        assert done.returncode == 7 and (said in done.stderr if said else not done.stderr), (words, done.stderr)


LINKS = """
import ctypes
smi, hip = ctypes.CDLL("librocm_smi64.so.7"), ctypes.CDLL("libamdhip64.so.7")
count, number, word = ctypes.c_uint32(), ctypes.c_uint64(), ctypes.c_uint64()
kind, text = ctypes.c_int(), ctypes.create_string_buffer(32)
assert not smi.rsmi_init(ctypes.c_uint64(0)) and not smi.rsmi_num_monitor_devices(ctypes.byref(count))
for gpu in range(count.value):
    assert not smi.rsmi_dev_pci_id_get(gpu, ctypes.byref(number)) and not hip.hipDeviceGetPCIBusId(text, 32, gpu)
    id = number.value
    print(text.value.decode() == f"{id >> 32:04x}:{id >> 8 & 255:02x}:{id >> 3 & 31:02x}.{id & 7:x}", end=" ")
    print(smi.rsmi_topo_get_link_type(0, gpu, ctypes.byref(number), ctypes.byref(kind)), number.value, end=" ")
    print(kind.value, end=" ")
    print(smi.rsmi_topo_get_link_weight(0, gpu, ctypes.byref(word)), word.value)
print(smi.rsmi_dev_pci_id_get(count.value, ctypes.byref(number)), smi.rsmi_num_monitor_devices(None))
"""


def test_the_software_gpus_are_linked_as_rccl_asks() -> None:
    changes = {"LD_LIBRARY_PATH": str(FOLDER), "PTX2AMD_VGPU_COUNT": "2", "PTX2AMD_DEVICE": "vgpu:gfx942"}
    command = [sys.executable, "-c", LINKS]
    done = subprocess.run(command, env={**os.environ, **changes}, capture_output=True, text=True, timeout=60)
    assert done.stdout == "True 0 1 2 0 0\nTrue 0 1 2 0 15\n1 1\n", done
