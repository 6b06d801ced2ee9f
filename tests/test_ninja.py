"""The native build compiles what is out of date, and nothing else. Protects against libraries of old code after a
change of a header, of a flag or of a library that another is linked with."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from ptx2amd.errors import Ptx2amdError
from ptx2amd.ninja import THREAD, Builder, BuildFile, Object


class Project:
    """A program of two objects, linked with a library; the folder's name has what has to be escaped."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "a $b: c"
        self.folder.mkdir()
        self.write("value.h", "#define VALUE 1\n")
        self.write("main.c", '#include "value.h"\n#include <stdio.h>\nint of(void);\nint shared(void);\n'
                             'int main(void) { printf("%d %d %d", VALUE, of(), shared()); }\n')  # fmt: skip
        self.write("of.c", "int of(void) { return OF; }\n")
        self.write("shared.c", '__attribute__((visibility("default"))) int shared(void) { return 3; }\n')

    def write(self, name: str, text: str) -> None:
        (self.folder / name).write_text(text)

    def build(self, of: int = 2) -> tuple[str, set[str]]:
        """What the program prints, and the files that were built anew."""
        before = self._times()
        builder = Builder(BuildFile(self.folder / "work"), self.folder / "work")
        library = self.folder / "libshared.so"
        builder.library(library, [Object(self.folder / "shared.c")], ("-Wl,-soname,libshared.so",))
        objects = [Object(self.folder / "main.c"), Object(self.folder / "of.c", (f"-DOF={of}",), "of")]
        builder.program(self.folder / "main", objects, (str(library), "-Wl,-rpath,$ORIGIN"), uses=(library,))
        builder.file.run()
        builder.file.write_commands(self.folder / "compile_commands.json")
        printed = subprocess.run([self.folder / "main"], capture_output=True, text=True, check=True).stdout
        return printed, {name for name, time in self._times().items() if before.get(name) != time}

    def _times(self) -> dict[str, int]:
        built = [*self.folder.glob("work/*.o"), *self.folder.glob("*.so"), self.folder / "main"]
        return {path.name: path.stat().st_mtime_ns for path in built if path.exists()}


def test_what_is_built(tmp_path: Path) -> None:
    project = Project(tmp_path)
    glibc = {"functions-glibc.o", "start.o"}
    assert project.build() == ("1 2 3", {"main.o", "of-of.o", "shared.o", "libshared.so", "main"} | glibc)
    assert project.build() == ("1 2 3", set())
    project.write("value.h", "#define VALUE 10\n")
    assert project.build() == ("10 2 3", {"main.o", "main"})
    assert project.build(of=20) == ("10 20 3", {"of-of.o", "main"})
    project.write("shared.c", (project.folder / "shared.c").read_text().replace("3", "30"))
    assert project.build(of=20) == ("10 20 30", {"shared.o", "libshared.so", "main"})
    commands = json.loads((project.folder / "compile_commands.json").read_text())
    assert {Path(command["file"]).name for command in commands} == {
        "main.c",
        "of.c",
        "shared.c",
        "functions.c",
        "start.c",
    }


def test_a_command_that_fails(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    project = Project(tmp_path)
    project.write("of.c", "int of(void) { return }\n")
    with pytest.raises(Ptx2amdError, match="could not be built"):
        project.build()
    assert "error: expected expression before" in capsys.readouterr().err


def test_sanitizers_leave_out_what_kernels_do(tmp_path: Path) -> None:
    builder = Builder(BuildFile(tmp_path), tmp_path, (THREAD,))
    items = [Object(tmp_path / "a.c"), Object(tmp_path / "b.c", kernels=True)]
    builder.library(tmp_path / "lib.so", items)
    own = [command for command in builder.file.commands if Path(command["file"]).parent == tmp_path]
    assert [THREAD in command["command"] for command in own] == [True, False]


def test_one_file_in_two_ways(tmp_path: Path) -> None:
    builder = Builder(BuildFile(tmp_path), tmp_path)
    builder.program(tmp_path / "one", [Object(tmp_path / "a.c")])
    with pytest.raises(ValueError, match=r"a\.o is built in two ways"):
        builder.program(tmp_path / "two", [Object(tmp_path / "a.c", ("-DX",))])


def test_without_flags_of_its_own(tmp_path: Path) -> None:
    """One file builds a library with flags and one without; both have the functions that make glibc 2.28 enough."""
    builder = Builder(BuildFile(tmp_path), tmp_path, ("-Werror",))
    builder.library(tmp_path / "flags.so", [Object(tmp_path / "a.c")])
    builder.plain().library(tmp_path / "plain.so", [Object(tmp_path / "b.c")])
    made = {Path(command["file"]).name: "-Werror" in command["command"] for command in builder.file.commands[::2]}
    assert made == {"a.c": True, "b.c": False}
