"""NVIDIA's libraries that are not installed. Protects: `ptx2amd doctor` names them and the package that has each, and
says nothing of those that the loader or the program's package finds."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from ptx2amd.cli import doctor
from ptx2amd.libraries import absent


def library(path: Path, *needed: str, runpath: str = "") -> Path:
    """A shared library that needs others, of these sonames."""
    path.parent.mkdir(parents=True, exist_ok=True)
    command = ["gcc", "-shared", "-Wl,--no-as-needed", "-xc", "/dev/null", "-o", path, "-xnone"]
    for soname in needed:
        other = path.parent / "build" / soname
        other.parent.mkdir(exist_ok=True)
        subprocess.run(["gcc", "-shared", "-xc", "/dev/null", "-o", other, f"-Wl,-soname,{soname}"], check=True)
        command.append(other)
    subprocess.run([*command, f"-Wl,-rpath,{runpath}"] if runpath else command, check=True)
    for soname in needed:
        (path.parent / "build" / soname).unlink()
    return path


def missing(*arguments: str | Path) -> dict[str, tuple[str, str]]:
    environment = {"PTX2AMD_DEVICE": "vgpu:gfx942", "PTX2AMD_LIBRARIES": "nvidia"}
    done = CliRunner().invoke(doctor.command, [*map(str, arguments), "--json"], env=environment)
    found = [one for one in json.loads(done.stdout) if one["level"] == "missing"]
    assert done.exit_code == bool(found)
    return {one["what"]: (one["text"], one["remedy"]) for one in found}


def test_an_environment_without_them(tmp_path: Path) -> None:
    library(tmp_path / "site/good/a.so", "libcublas.so.13", "libcusparse.so.9.0", "libnone.so.7", "libc.so.6")
    library(tmp_path / "site/good/b.so", "libcublas.so.13", "libcufft.so.11")
    library(tmp_path / "site/nvidia/cufft/lib/libcufft.so.11")
    found = missing("--env", tmp_path)
    assert set(found) == {"libcublas.so.13", "libcusparse.so.9.0"}
    text, remedy = found["libcublas.so.13"]
    assert "site/good/a.so, site/good/b.so" in text and remedy == "pip install nvidia-cublas"
    assert "version of CUDA" in found["libcusparse.so.9.0"][1]


@pytest.mark.parametrize("how", ["runpath", "origin", "LD_LIBRARY_PATH", "nowhere"])
def test_a_program_that_finds_its_own(how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    there = tmp_path / "there"
    library(there / "libnvrtc.so.12")
    runpath = {"runpath": str(there), "origin": "$ORIGIN/../there"}.get(how, "")
    program = library(tmp_path / "bin" / "app", "libnvrtc.so.12", runpath=runpath)
    monkeypatch.setenv("LD_LIBRARY_PATH", str(there) if how == "LD_LIBRARY_PATH" else "")
    found = missing(program)
    assert set(found) == ({"libnvrtc.so.12"} if how == "nowhere" else set())


@pytest.mark.parametrize(
    ("soname", "package"),
    [
        ("libcudart.so.11.0", "nvidia-cuda-runtime-cu11"),
        ("libcufft.so.11", "nvidia-cufft-cu12"),
        ("libcufft.so.12", "nvidia-cufft"),
        ("libcusolver.so.11", "nvidia-cusolver-cu12"),
        ("libcudnn_ops.so.9", "nvidia-cudnn-cu12"),
        ("libnppig.so.13", "nvidia-npp"),
        ("libnvrtc.so.11.2", "nvidia-cuda-nvrtc-cu11"),
        ("libcudart.so.10.2", ""),
        ("libcuda.so.1", None),
        ("libcudart-a7b20f20.so.12", None),
        ("libm.so.6", None),
    ],
)
def test_packages(soname: str, package: str | None) -> None:
    assert absent.package(soname) == package
