"""A system's LLVM (PTX2AMD_LLVM): the same code as of llvmlite's, and what is said where it cannot be used."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ptx2amd import launch
from ptx2amd.codegen import llvm_c
from ptx2amd.errors import Ptx2amdError
from ptx2amd.service import build_id
from tests import rocm

LIBRARY = "libLLVM.so.22.1"
KERNELS = Path(__file__).parents[1] / "filetests" / "lower"
#: Translates files for two chips and prints a digest of each code object; then text that is no IR, and the version.
PROGRAM = """
import hashlib, sys
from pathlib import Path
from ptx2amd.codegen import library, llvm
from ptx2amd.target import ARCHS, Target
from ptx2amd.translate import translate

for path in sys.argv[1:]:
    for arch in ("gfx942", "gfx1100"):
        for form in ("hsaco", "asm"):
            [result] = translate(Path(path).read_text(), "k", [arch], mode="module", emit=form)
            print(Path(path).name, arch, form, result.ok, hashlib.sha256(result.code).hexdigest())
for text in ("define void @f( {", "define void @f() { ret i32 0 }"):
    try:
        llvm.emit(text, Target(ARCHS["gfx942"], "paired"))
    except llvm.CodegenError as error:
        print(error)
print(library.version()[:2])
"""


@pytest.mark.slow
def test_a_systems_llvm_emits_the_same_code() -> None:
    prefix = rocm.prefix("7.2", "libllvm22")
    files = sorted(map(str, KERNELS.glob("*.ptx")))[::3]
    command = [sys.executable, "-c", PROGRAM, *files]
    lines = [
        subprocess.run(words, env=os.environ | more, capture_output=True, text=True, check=True).stdout.splitlines()
        for words, more in (
            (command, {}),
            (prefix.command(*command), {"PTX2AMD_LLVM": str(prefix.libraries / LIBRARY)}),
        )
    ]
    assert lines[0] == lines[1]
    assert len(lines[0]) > 4 * len(files)
    assert lines[0][-1] == "(22, 1)"


def chosen(monkeypatch: pytest.MonkeyPatch, library: Any) -> None:
    monkeypatch.setenv("PTX2AMD_LLVM", "/lib/libLLVM.so")
    monkeypatch.setattr(llvm_c, "_library", llvm_c._library.__wrapped__)
    monkeypatch.setattr(ctypes, "CDLL", library)


def test_a_library_that_is_no_llvm(monkeypatch: pytest.MonkeyPatch) -> None:
    real = ctypes.CDLL
    chosen(monkeypatch, lambda path: real(None))
    with pytest.raises(Ptx2amdError, match=r"PTX2AMD_LLVM: /lib/libLLVM.so cannot be used: .*LLVMGetVersion"):
        llvm_c.version()


def test_another_release_of_llvm(monkeypatch: pytest.MonkeyPatch) -> None:
    class Other:
        def __getattr__(self, name: str) -> Any:
            def called(*numbers: Any) -> None:
                for number, value in zip(numbers, (21, 1, 2), strict=True):
                    number._obj.value = value

            return called

    chosen(monkeypatch, lambda path: Other())
    with pytest.raises(Ptx2amdError, match=r"is LLVM 21.1.2; the translator is validated with 22.1"):
        llvm_c.version()


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    ptx = tmp_path / "k.ptx"
    ptx.write_text(".version 7.0\n.target sm_52\n.address_size 64\n.visible .entry k() { ret; }\n")
    command = [sys.executable, "-m", "ptx2amd", "translate", str(ptx), "-o", str(tmp_path / "k.hsaco")]
    environment = os.environ | {"PTX2AMD_LLVM": "/nowhere/libLLVM.so"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 1
    assert "PTX2AMD_LLVM: there is no file /nowhere/libLLVM.so" in done.stderr
    assert "Traceback" not in done.stderr


def test_another_llvm_is_another_translator(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = [build_id.build_id("0", tmp_path / "known.json")]
    for content in (b"one", b"two"):
        (tmp_path / "libLLVM.so").write_bytes(content)
        monkeypatch.setenv("PTX2AMD_LLVM", str(tmp_path / "libLLVM.so"))
        found.append(build_id.build_id("0", tmp_path / "known.json"))
    assert len(set(found)) == 3


def test_run_tells_the_driver_of_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "PTX2AMD_BUILD_ID" not in launch.tools()
    (tmp_path / "libLLVM.so").touch()
    monkeypatch.setenv("PTX2AMD_LLVM", str(tmp_path / "libLLVM.so"))
    assert launch.tools()["PTX2AMD_BUILD_ID"] == build_id.build_id()
