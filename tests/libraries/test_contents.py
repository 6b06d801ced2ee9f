"""What `ptx2amd doctor` says of a program or an environment before it runs. Protects: machine code only is found and
attributed to its package, with the way out; files of other kinds are not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from ptx2amd.cli import doctor
from ptx2amd.cli.doctor_program import CHECKED_PTX, SLOW_PTX
from ptx2amd.libraries import contents, ptx_builds
from ptx2amd.precompile import images
from tests.fatbin.containers import entry, executable, fatbin

PTX, MACHINE = b".version 8.0\n.target sm_80\n.address_size 64\n", b"\x7fELF"
WITH, WITHOUT = fatbin(entry(MACHINE, 2), entry(PTX)), fatbin(entry(MACHINE, 2, sm=86), entry(MACHINE, 2, sm=90))


def library(path: Path, *fatbins: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(executable(b".nv_fatbin", b"".join(fatbins)))
    return path


def findings(*arguments: str | Path) -> tuple[int, dict[str, dict[str, str]]]:
    done = CliRunner().invoke(doctor.command, [*map(str, arguments), "--json"], env={"PTX2AMD_DEVICE": "vgpu:gfx942"})
    return done.exit_code, {finding["what"]: finding for finding in json.loads(done.stdout)}


def test_a_program_with_ptx_runs(tmp_path: Path) -> None:
    status, found = findings(library(tmp_path / "app", WITH, WITH))
    assert status == 0 and found["app"]["level"] == "ok" and "all 2 modules" in found["app"]["text"]
    assert "software GPU as gfx942" in found["device"]["text"]


def test_a_program_of_machine_code_does_not(tmp_path: Path) -> None:
    status, found = findings(library(tmp_path / "app", WITHOUT))
    assert status == 1 and found["app"]["level"] == "missing"
    assert "machine code only (sm_86 sm_90)" in found["app"]["text"] and "nvcc -gencode" in found["app"]["remedy"]


def test_some_modules_without_ptx(tmp_path: Path) -> None:
    status, found = findings(library(tmp_path / "app", WITH, WITHOUT))
    assert status == 0 and found["app"]["level"] == "note" and "1 of 2 modules" in found["app"]["text"]


def test_much_ptx_is_slow_at_first(tmp_path: Path) -> None:
    text = PTX + b"// " + b"x" * SLOW_PTX
    _, found = findings(library(tmp_path / "app", fatbin(entry(text, encoding="zstd"))))
    assert "first use of each kernel is slow" in found["app"]["text"]
    assert "ptx2amd precompile" in found["app"]["remedy"]


GOOD = b".visible .entry good(.param .u64 p) { ret; }\n"
BAD = b".visible .entry bad() { .reg .b32 %r<2>; add.foo %r1, %r1, 1; ret; }\n"


@pytest.mark.parametrize(
    ("kernels", "status", "what", "level", "text"),
    [
        (GOOD, 0, "kernels", "ok", "1 kernel, runs on gfx942"),
        (GOOD + BAD, 0, "bad", "note", "does not run on gfx942"),
        (BAD, 1, "bad", "missing", ".foo"),
        (GOOD[:-3], 1, "good", "missing", "found the end"),
        (GOOD + b"//" + b" " * CHECKED_PTX, 0, "kernels", "note", "not checked"),
    ],
)
def test_the_kernels_of_small_ptx_are_checked(
    tmp_path: Path, kernels: bytes, status: int, what: str, level: str, text: str
) -> None:
    """Headers say that there is PTX, not that it can be translated."""
    file = tmp_path / "kernels.ptx"
    file.write_bytes(PTX + kernels)
    got, found = findings(file)
    assert got == status and found[what]["level"] == level and text in found[what]["text"]


def test_an_environment_by_package(tmp_path: Path) -> None:
    """As pip installs them: RECORD names the files."""
    site = tmp_path / "lib" / "python3.12" / "site-packages"
    torch = library(site / "torch" / "lib" / "libtorch_cuda.so", WITHOUT)
    good = library(site / "good" / "core.so", WITH)
    loose = library(tmp_path / "bin" / "tool", WITH)
    for name, file in (("torch-2.9.1", torch), ("good-1.0", good), ("tool_kit-3", loose)):
        record = site / f"{name}.dist-info" / "RECORD"
        record.parent.mkdir()
        record.write_text(
            f"../../../bin/tool,,\n{name}.py,,\n" if file == loose else f"{file.relative_to(site)},sha256=x,1\n"
        )
    (site / "text.so").write_text("INPUT(libm.so)")
    status, found = findings("--env", tmp_path)
    assert status == 1 and {"torch 2.9.1", "good 1.0", "tool_kit 3", "kernels", "device"} == set(found)
    assert "libtorch_cuda.so" in found["torch 2.9.1"]["text"]
    assert "python3-torch-cuda" in found["torch 2.9.1"]["remedy"] and "conda-forge" in found["torch 2.9.1"]["remedy"]


def test_ptx2amd_in_the_environment_is_left_out(tmp_path: Path) -> None:
    """Installed beside the user's packages, its own libraries and PTX were listed as theirs."""
    library(tmp_path / "app" / "core.so", WITH)
    ours = tmp_path / "ptx2amd"
    (ours / "typical.ptx").parent.mkdir()
    (ours / "typical.ptx").write_bytes(PTX)
    library(ours / "_native" / "libmap" / "libcublas.so.12", WITHOUT)
    library(tmp_path / "other" / "ptx2amd" / "plugin.so", WITHOUT)  # of that name only
    _, found = findings("--env", tmp_path)
    assert set(found) == {"other files", "kernels", "device"} and "1 of 2 modules" in found["other files"]["text"]
    assert [path.name for path in images.files_of(tmp_path)] == ["core.so", "plugin.so"]


def test_libraries_that_the_program_asks_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ptx2amd.libraries.rocm.needed", lambda path: ["libcublas.so.12", "libc.so.6"])
    _, found = findings(library(tmp_path / "app", WITH))
    assert "libcublas.so.12" in found and "libc.so.6" not in found


def test_parts_of_separate_compilation_are_one_module(tmp_path: Path) -> None:
    """nvcc -rdc=true leaves its own result, machine code, beside the parts with PTX."""
    path = tmp_path / "app"
    path.write_bytes(executable(b"__nv_relfatbin", WITH + WITH))
    code = contents.program(path)
    assert (code.with_ptx, code.without) == (1, 0)


def test_the_cubin_of_a_link_without_kernels_is_no_code(tmp_path: Path) -> None:
    stub = fatbin(entry(executable(b".nv.callgraph", bytes(32)), 2, sm=52, encoding="lz4"))
    kernel = fatbin(entry(executable(b".text.k", bytes(32)), 2, sm=52, encoding="lz4"))
    assert contents.program(library(tmp_path / "none.so", stub)).modules == 0
    assert contents.program(library(tmp_path / "some.so", stub, kernel)).without == 1


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    _, found = findings(library(tmp_path / "app", WITH[:-20]))
    assert "not readable" in found["app"]["text"] and "app" in found["app"]["text"]


def test_table_of_builds() -> None:
    """Its page and the C table are current, and each library is attributed to one package."""
    assert ptx_builds.PAGE.read_text() == ptx_builds.page()
    prefixes = [prefix for package in ptx_builds.packages() for prefix in package.files]
    assert len(prefixes) == len(set(prefixes))
    assert {build.basis for package in ptx_builds.packages() for build in package.builds} <= set(ptx_builds.BASES)
    found = ptx_builds.of_file("libtorch_cuda_linalg.so")
    assert found and found.title == "PyTorch" and ptx_builds.of_file("libc.so.6") is None
    assert all(f'"{prefix}"' in ptx_builds.header() for prefix in prefixes)
