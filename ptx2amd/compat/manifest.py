"""Manifests of CUDA projects: where the sources are, how programs are built and run, and what shows they are right.

docs/compat.md describes the format; `projects/` has ours."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

from ptx2amd.errors import Ptx2amdError
from ptx2amd.records import dataclass, field, fields

PROJECTS = Path(__file__).parent / "projects"
LIMIT = 120


@dataclass(frozen=True)
class Group:
    """Programs that are built and run alike: one for each file (or folder) of `sources`, or one called `name`. All
    commands are shell commands. beside: they run in the source's folder, not the project's. limit: seconds of a run."""

    run: str = "$OUT"
    build: str = "$NVCC $SOURCE -o $OUT"
    sources: list[str] = field(default_factory=list)
    name: str = ""
    expect: str = ""
    reject: str = ""
    beside: bool = False
    limit: int = LIMIT
    known: dict[str, str] = field(default_factory=dict)  # program -> why it is not right
    arguments: dict[str, str] = field(default_factory=dict)  # program -> what follows its run command


@dataclass(frozen=True)
class Program:
    """One program of a project. source: relative to the project's folder, empty when the build knows."""

    name: str
    source: str
    group: Group

    @property
    def run(self) -> str:
        return f"{self.group.run} {self.group.arguments.get(self.name, '')}".strip()

    @property
    def known(self) -> str:
        """Why it is not right, where that is known."""
        return self.group.known.get(self.name, "")


@dataclass(frozen=True)
class Manifest:
    """A project. origin: see sources.fetched; home: the manifest's folder; scale: its name in SCALE's published
    results; prepare: a command before the first build; flags: for nvcc."""

    name: str
    title: str
    origin: str
    groups: list[Group]
    home: Path
    scale: str = ""
    prepare: str = ""
    flags: str = ""
    arch: str = "compute_80"
    packages: list[str] = field(default_factory=list)  # from PyPI: headers and libraries of CUDA
    parts: dict[str, str] = field(default_factory=dict)  # other sources: folder in the project -> where they come from
    python: list[str] = field(default_factory=list)  # what pip installs into an environment of the project's own

    def programs(self, root: Path) -> list[Program]:
        """The programs, with their sources below `root`."""
        found: list[Program] = []
        for group in self.groups:
            if not group.sources:
                found.append(Program(group.name, "", group))
                continue
            files = {f for glob in group.sources if glob[0] != "!" for f in root.glob(glob)}
            files -= {f for glob in group.sources if glob[0] == "!" for f in root.glob(glob[1:])}
            if not files:
                raise Ptx2amdError(f"{self.name}: no sources are called {' '.join(group.sources)} in {root}")
            found += [Program(f.stem, str(f.relative_to(root)), group) for f in sorted(files)]
        return found


def load(path: Path) -> Manifest:
    """A manifest's file. Raises Ptx2amdError that names the key."""
    try:
        data = tomllib.loads(path.read_text())
    except (tomllib.TOMLDecodeError, OSError) as error:
        raise Ptx2amdError(f"{path}: {error}") from None
    groups = data.pop("programs", [])
    origin = data.pop("from", f"folder {path.parent.resolve()}")
    if not groups:
        raise Ptx2amdError(f"{path}: no [[programs]]")
    settings = {"title": path.stem, **_checked(path, Manifest, data, {"name", "groups", "origin", "home"})}
    described = [_group(path, group) for group in groups]
    return Manifest(path.stem, origin=origin, groups=described, home=path.parent.resolve(), **settings)


def _group(path: Path, data: dict[str, Any]) -> Group:
    group = Group(**_checked(path, Group, data, set()))
    if bool(group.sources) == bool(group.name):
        raise Ptx2amdError(f"{path}: [[programs]] have `sources`, or a `name`")
    for key in ("expect", "reject"):
        try:
            re.compile(getattr(group, key))
        except re.error as error:
            raise Ptx2amdError(f"{path}: {key}: {error}") from None
    return group


def _checked(path: Path, kind: type, data: dict[str, Any], ours: set[str]) -> dict[str, Any]:
    """The settings of a table, which has no others."""
    known = {f.name: f for f in fields(kind) if f.name not in ours}
    for key, value in data.items():
        if key not in known:
            raise Ptx2amdError(f"{path}: no setting is called {key}; there are {', '.join(sorted(known))}")
        wanted = str(known[key].type).partition("[")[0]
        if type(value).__name__ != wanted:
            raise Ptx2amdError(f"{path}: {key} is {type(value).__name__}, not {wanted}")
    return data


def ours() -> list[Manifest]:
    """The manifests that come with the project."""
    return [load(path) for path in sorted(PROJECTS.glob("*.toml"))]


def named(names: tuple[str, ...]) -> list[Manifest]:
    """Manifests by name, or by the path of their file; all of ours without names. Raises Ptx2amdError."""
    known = {manifest.name: manifest for manifest in ours()}
    if unknown := [name for name in names if name not in known and not name.endswith(".toml")]:
        raise Ptx2amdError(
            f"no project is called {unknown[0]}: there are {', '.join(known)}, or the path of a .toml file"
        )
    return [load(Path(name)) if name.endswith(".toml") else known[name] for name in names] or list(known.values())
