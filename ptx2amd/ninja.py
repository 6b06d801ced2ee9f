"""The build as a file for ninja, which runs the commands that are out of date.

Paths below the root are relative in it, so that a copy of the tree is as up to date as the tree."""

from __future__ import annotations

import fcntl
import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from ptx2amd.errors import Ptx2amdError
from ptx2amd.records import dataclass, field

ROOT = Path(__file__).resolve().parent.parent
THREAD = "-fsanitize=thread"
#: What makes the libraries run on glibc 2.28, also when they are built on a newer one.
GLIBC = ROOT / "shim" / "glibc"
CFLAGS = (
    "-std=gnu11",
    "-O2",
    "-g1",
    "-fPIC",
    "-pthread",
    "-fvisibility=hidden",
    "-Wall",
    "-Wextra",
    "-include",
    str(GLIBC / "symbols.h"),
)

#: Part of libc since glibc 2.34, where these files are empty: the linker would leave them out.
LIBRARIES = ("-Wl,--no-as-needed", "-l:libdl.so.2", "-l:libpthread.so.0")

#: A library is replaced, not overwritten: programs that have the old one mapped keep it.
RULES = """\
ninja_required_version = 1.8
builddir = {folder}
rule compile
  command = {compiler} $flags -MMD -MF $out.d -c -o $out $in
  depfile = $out.d
  deps = gcc
  description = compile $out
rule link
  command = {compiler} -pthread $flags -o $out.new $in $libraries && mv -f $out.new $out
  description = link $out

"""


@dataclass(frozen=True, slots=True)
class Object:
    """One compilation: a source, its own flags, and what tells it from others of the same source. kernels: what it does
    to shared memory is what kernels do, races included."""

    source: Path
    flags: tuple[str, ...] = ()
    variant: str = ""
    kernels: bool = False


@dataclass
class BuildFile:
    """All that is built at once; `folder` has build.ninja and ninja's own records."""

    folder: Path
    compiler: str = field(default_factory=lambda: os.environ.get("CC", "gcc"))
    edges: dict[Path, str] = field(default_factory=dict)  # what is built -> how
    commands: list[dict[str, str]] = field(default_factory=list)  # for compile_commands.json

    def add(self, output: Path, edge: str) -> None:
        if self.edges.setdefault(output, edge) != edge:
            raise ValueError(f"{output} is built in two ways")

    def run(self) -> None:
        """Build what is out of date, as many at a time as there are cores. Raises Ptx2amdError when a command fails,
        after its messages and it have been printed."""
        self.folder.mkdir(parents=True, exist_ok=True)
        text = RULES.format(folder=_escaped(self.folder), compiler=self.compiler) + "\n".join(self.edges.values())
        with (self.folder / "lock").open("w") as lock:  # ninja's records are for one process at a time
            fcntl.flock(lock, fcntl.LOCK_EX)
            _write(self.folder / "build.ninja", text.replace(f"{ROOT}/", ""))
            command = [_ninja(), "--quiet", f"-j{os.cpu_count() or 1}", "-f", str(self.folder / "build.ninja")]
            done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            print(done.stdout, file=sys.stderr, end="")
            if done.returncode:
                raise Ptx2amdError("the C code could not be built")

    def write_commands(self, path: Path) -> None:
        """compile_commands.json, by which clangd and clang-tidy know the flags of each file."""
        _write(path, json.dumps(self.commands, indent=1))


class Builder:
    """Adds to a file what has its objects under `work` and is compiled with the flags `extra`."""

    def __init__(self, file: BuildFile, work: Path, extra: tuple[str, ...] = ()) -> None:
        self.file, self.work, self.extra = file, work, extra
        work.mkdir(parents=True, exist_ok=True)

    def plain(self) -> Builder:
        """The same without flags of its own, and so with objects of its own."""
        return Builder(self.file, self.work / "plain")

    def library(
        self, path: Path, objects: Iterable[Object], link: tuple[str, ...] = (), uses: tuple[Path, ...] = ()
    ) -> None:
        """A shared library. uses: other files that the options in `link` name."""
        self._linked(path, objects, ("-shared", *link), uses)

    def program(
        self, path: Path, objects: Iterable[Object], link: tuple[str, ...] = (), uses: tuple[Path, ...] = ()
    ) -> None:
        """An executable."""
        self._linked(path, [*objects, Object(GLIBC / "start.c")], link, uses)

    def _linked(self, path: Path, objects: Iterable[Object], link: tuple[str, ...], uses: tuple[Path, ...]) -> None:
        items = [*objects, Object(GLIBC / "functions.c", variant="glibc")]
        inputs = " ".join(_escaped(self._compiled(item)) for item in items)
        needs = " ".join(map(_escaped, uses))
        self.file.add(
            path,
            f"build {_escaped(path)}: link {inputs} | {needs}\n"
            f"  flags = {_command(self.extra)}\n  libraries = {_command((*link, *LIBRARIES))}\n",
        )

    def _compiled(self, item: Object) -> Path:
        """The object file."""
        target = self.work / (item.source.stem + (f"-{item.variant}" if item.variant else "") + ".o")
        extra = () if item.kernels and THREAD in self.extra else self.extra
        flags = _command((*CFLAGS, *item.flags, *extra))
        self.file.add(target, f"build {_escaped(target)}: compile {_escaped(item.source)}\n  flags = {flags}\n")
        command = shlex.join([self.file.compiler, *CFLAGS, *item.flags, *extra, "-c", str(item.source)])
        self.file.commands.append({"directory": str(ROOT), "file": str(item.source), "command": command})
        return target


def _command(words: Iterable[str]) -> str:
    """Words for the shell, as the value of a variable."""
    return shlex.join(words).replace("$", "$$")


def _escaped(path: Path) -> str:
    """A path in a build line."""
    return str(path).replace("$", "$$").replace(" ", "$ ").replace(":", "$:")


def _ninja() -> str:
    """Ninja of this Python's environment, or the system's."""
    found = shutil.which("ninja", path=os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", ""))))
    if found is None:
        raise Ptx2amdError("ninja is needed to build the C code: pip install ninja")
    return found


def _write(path: Path, text: str) -> None:
    if not path.exists() or path.read_text() != text:
        path.write_text(text)
