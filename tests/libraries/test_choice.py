"""Whose libraries a program gets. Protects: ROCm's are taken where they work for the chip and never where they do not,
what is missing is named, and paths that a program has for NVIDIA's do not get past the choice."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from ptx2amd.libraries import CUBLAS, CUBLASLT, CUSPARSE, choice, rocm
from ptx2amd.libraries.choice import Choice


def library(folder: Path, soname: str, text: str = "", *flags: str) -> Path:
    """A shared library of a C text, under its soname."""
    folder.mkdir(parents=True, exist_ok=True)
    command = ["gcc", "-shared", "-fPIC", "-xc", "-", "-o", folder / soname, f"-Wl,-soname,{soname}", *flags]
    subprocess.run(command, input=text, text=True, check=True)
    return folder / soname


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A rocBLAS with kernels for two chips."""
    folder = tmp_path / "rocm" / "lib"
    library(folder, "librocblas.so.5", '#include <stdio.h>\nvoid say(void) { puts(""); }')
    (folder / "rocblas" / "library").mkdir(parents=True)
    for chip in ("gfx942", "gfx1100"):
        (folder / "rocblas" / "library" / f"Kernels.so-000-{chip}.hsaco").touch()
    monkeypatch.setenv("ROCM_PATH", str(tmp_path / "rocm"))
    monkeypatch.setattr(rocm, "_SYSTEM", ())
    return folder


def chosen(mode: str, device: str) -> Choice:
    return next(one for one in choice.choose(mode, device) if one.library is CUBLAS)


def test_auto_takes_rocms_where_it_has_code_for_the_chip(installed: Path) -> None:
    assert chosen("auto", "vgpu:gfx1100").path == installed / "librocblas.so.5"
    other = chosen("auto", "vgpu:gfx1030")
    assert other.path is None and "no code for gfx1030, only for gfx1100, gfx942" in other.why
    remarks = list(choice.remarks([other], "auto", "vgpu:gfx1030", ["libc.so.6", "libcublas.so.12"]))
    assert (
        len(remarks) == 1 and remarks[0].startswith("libcublas.so.12: ") and "using NVIDIA's own library" in remarks[0]
    )
    assert not list(choice.remarks([other], "auto", "vgpu:gfx1030", ["libc.so.6"]))


def test_nvidias_are_taken_where_they_are_asked_for_or_rocms_are_missing(installed: Path) -> None:
    assert chosen("nvidia", "vgpu:gfx942").path is None
    (installed / "librocblas.so.5").unlink()
    missing = chosen("auto", "vgpu:gfx942")
    assert missing.path is None and "rocBLAS is not installed; packages: rocblas" in missing.why
    assert choice.served([missing], "auto") == [] and "libcublas.so.12" in choice.served([missing], "rocm")


def test_a_library_that_takes_handles_of_rocms_is_not_nvidias(installed: Path) -> None:
    """A program that passes a handle of cuBLAS to cuBLASLt must not pass one of ours to NVIDIA's."""
    choices = {one.library: one for one in choice.choose("auto", "vgpu:gfx942")}
    light = choices[CUBLASLT]
    assert choices[CUBLAS].path and light.path is None and light.bound and "hipBLASLt is not installed" in light.text
    assert "libcublasLt.so.12" in choice.served(choices.values(), "auto")
    (remark,) = choice.remarks([light], "auto", "vgpu:gfx942", ["libcublasLt.so.12"])
    assert "not supported, because cuBLAS is ROCm's" in remark
    other = next(one for one in choice.choose("auto", "vgpu:gfx1030") if one.library is CUBLASLT)
    assert not other.bound and choice.served([other], "auto") == []


def test_a_newer_c_library_is_named(installed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choice, "_glibc", lambda: (2, 1))
    assert "needs glibc 2." in chosen("auto", "vgpu:gfx942").why


def test_a_library_beside_that_has_the_code_is_looked_at_too(installed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """hipSPARSE's code is rocSPARSE's."""
    library(installed, "libhipsparse.so.4", "int hipsparse;")
    beside = library(installed, "librocsparse.so.1", '#include <stdio.h>\nvoid say(void) { puts(""); }')
    monkeypatch.setattr(choice, "_glibc", lambda: (2, 1))
    one = next(one for one in choice.choose("auto", "vgpu:gfx942") if one.library is CUSPARSE)
    assert one.path is None and f"{beside} needs glibc 2." in one.why


def test_what_a_program_asks_for_is_read_as_far_as_it_can_be(tmp_path: Path) -> None:
    one = library(tmp_path, "libcublas.so.12")
    program = library(tmp_path, "libprogram.so", "", "-Wl,--no-as-needed", "-xnone", str(one))
    assert "libcublas.so.12" in rocm.needed(program)
    whole = program.read_bytes()
    for size in (0, 3, 63, 64, len(whole) // 2, len(whole) - 65):  # the sections' headers are at the end
        program.write_bytes(whole[:size])
        assert rocm.needed(program) == []
    damaged = bytearray(whole)
    damaged[-64 * 3 :] = b"\xff" * 64 * 3
    program.write_bytes(damaged)
    rocm.needed(program)
    assert rocm.needed(tmp_path / "none") == []


def test_chips_of_this_machine_are_those_of_the_kernel_driver(tmp_path: Path) -> None:
    for number, version in enumerate((0, 90402, 90010, 110001)):
        (tmp_path / str(number)).mkdir()
        (tmp_path / str(number) / "properties").write_text(f"cpu_cores_count 8\ngfx_target_version {version}\n")
    assert rocm.machine_chips(tmp_path) == ["gfx942", "gfx90a", "gfx1101"]


def test_doctor_and_inspect_say_whose_a_library_will_be(tmp_path: Path) -> None:
    program = library(
        tmp_path, "libprogram.so", "", "-Wl,--no-as-needed", "-xnone", str(library(tmp_path, "libcublas.so.12"))
    )
    environment = {**os.environ, "ROCM_PATH": str(tmp_path), "LD_LIBRARY_PATH": "", "PTX2AMD_LIBRARIES": "nvidia"}
    for arguments, line in (
        (["inspect", program], "libcublas.so.12: NVIDIA's own"),
        (["doctor"], "NVIDIA's own library"),
    ):
        command = [sys.executable, "-m", "ptx2amd.cli", *arguments]
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        assert line in done.stdout, done


PROGRAM = "#include <stdio.h>\nint cublasGetProperty(int, int *);\nint main(void) { int v = 0; cublasGetProperty(0, &v); printf(\"%d\", v); }\n"  # fmt: skip # noqa: E501


@pytest.mark.parametrize(("libraries", "version"), [("rocm", "12"), ("nvidia", "99"), ("auto", "99")])
def test_an_rpath_does_not_lead_past_the_choice(libraries: str, version: str, tmp_path: Path) -> None:
    text = "int cublasGetProperty(int type, int *value) { *value = 99 + type; return 0; }"
    theirs = library(tmp_path / "theirs", "libcublas.so.12", text, "-Wl,--default-symver")
    program = tmp_path / "program"
    link = [str(theirs), "-Wl,--disable-new-dtags", f"-Wl,-rpath,{theirs.parent}"]
    subprocess.run(["gcc", "-xc", "-", "-o", program, "-xnone", *link], input=PROGRAM, text=True, check=True)
    command = [sys.executable, "-m", "ptx2amd.cli", "run", "--device", "vgpu", "--libraries", libraries, "--", program]
    environment = {**os.environ, "PTX2AMD_CACHE_DIR": str(tmp_path / "cache"), "ROCM_PATH": str(tmp_path)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.stdout == version, done.stderr
    assert ("rocBLAS is not installed" in done.stderr) == (libraries == "rocm")


def test_inspect_lists_the_libraries_of_a_program_and_of_an_environment(installed: Path, tmp_path: Path) -> None:
    """In an environment, libraries that lie there count too: programs open them at run time."""
    folder = tmp_path / "site-packages"
    blas = library(folder / "nvidia", "libcublas.so.12")
    library(folder / "torch", "libtorch_cuda.so", "", "-Wl,--no-as-needed", "-xnone", str(blas))
    library(folder / "nvidia", "libcurand.so.10")
    environment = {**os.environ, "LD_LIBRARY_PATH": "", "PTX2AMD_LIBRARIES": "auto"}
    for path, files in (
        (folder, ["nvidia/libcublas.so.12", "torch/libtorch_cuda.so"]),
        (folder / "torch" / "libtorch_cuda.so", ["libtorch_cuda.so"]),
    ):
        command = [sys.executable, "-m", "ptx2amd.cli", "inspect", "--json", path]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        found = {one["name"]: one for one in json.loads(done.stdout)["libraries"]}
        served = found["libcublas.so.12"]
        assert (served["library"], served["by"], served["asked_by"]) == ("cuBLAS", "rocBLAS", files)
        assert served["path"] == str(installed / "librocblas.so.5")
        assert ("libcurand.so.10" in found) == (path == folder)
    text = subprocess.run([*command[:-2], folder], env=environment, capture_output=True, text=True).stdout
    assert "libcublas.so.12: rocBLAS (" in text and "asked for by nvidia/libcublas.so.12 and 1 more" in text
    empty = tmp_path / "empty"
    empty.mkdir()
    text = subprocess.run([*command[:-2], empty], env=environment, capture_output=True, text=True).stdout
    assert "no file asks for a CUDA library" in text
