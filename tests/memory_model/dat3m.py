"""The PTX litmus tests of Dat3M (github.com/hernanponcedeleon/Dat3M, MIT) with their published expectations, from one
commit. `folder()` finds or fetches them; `python -m tests.memory_model.dat3m REPOSITORY` takes them from a clone."""

from __future__ import annotations

import hashlib
import io
import subprocess
import sys
import tarfile
import urllib.error
import urllib.request
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from tests.memory_model import kernels, litmus
from tests.rocm import CACHE

COMMIT = "30640123b88d4fc5ca01403f936d45c54d83a9c1"
ADDRESS = f"https://codeload.github.com/hernanponcedeleon/Dat3M/tar.gz/{COMMIT}"
#: SHA-256 over the names and contents of the files that are used.
DIGEST = "05c2a3d6c15562c87917de28abda1464a8f6bd891949097e8642bfffdd55529b"
_EXPECTED = "dartagnan/src/test/resources/PTXv7_5{}-expected.csv"


@dataclass(frozen=True, slots=True)
class Case:
    """A test. allowed: whether the state that the condition singles out may be seen (of forall: one that contradicts
    it); ends: whether it always ends under fair scheduling. None: not published."""

    path: str
    test: litmus.Test
    allowed: bool | None
    ends: bool | None

    @property
    def family(self) -> str:
        return "/".join(self.path.split("/")[2:-1])

    @property
    def name(self) -> str:
        return f"{self.family}/{Path(self.path).stem}"

    @property
    def proxies(self) -> bool:
        """Whether it is about aliases, textures and surfaces."""
        return self.family.endswith("proxy")


def digest(folder: Path) -> str:
    total = hashlib.sha256()
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        total.update(f"{path.relative_to(folder)}\0".encode() + path.read_bytes() + b"\0")
    return total.hexdigest()


def _wanted(name: str) -> bool:
    return (name.startswith("litmus/PTX/") and name.endswith(".litmus")) or name in (
        _EXPECTED.format(""), _EXPECTED.format("-Liveness"))  # fmt: skip


def _unpack(archive: bytes, prefix: bool) -> Path:
    target = CACHE / f"dat3m-{COMMIT[:12]}"
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        for member in tar.getmembers():
            name = member.name.partition("/")[2] if prefix else member.name
            content = tar.extractfile(member)
            if content and _wanted(name):
                (target / name).parent.mkdir(parents=True, exist_ok=True)
                (target / name).write_bytes(content.read())
    return target


@cache
def folder() -> Path:
    """Where the files are; fetched at first use. Skips the test where they cannot be had."""
    target = CACHE / f"dat3m-{COMMIT[:12]}"
    if not target.exists():
        try:
            with urllib.request.urlopen(ADDRESS, timeout=60) as response:
                _unpack(response.read(), True)
        except (urllib.error.URLError, OSError) as error:
            pytest.skip(f"Dat3M's litmus tests cannot be fetched: {error}")
    if digest(target) != DIGEST:
        raise RuntimeError(f"{target} is not commit {COMMIT} of Dat3M: remove it")
    return target


def _table(text: str) -> dict[str, bool]:
    return {name: value == "1" for name, value in (line.rsplit(",", 1) for line in text.split())}


@cache
def cases() -> tuple[list[Case], dict[str, str]]:
    """The tests that are PTX, and the others by path with the reason."""
    root = folder()
    safe = _table((root / _EXPECTED.format("")).read_text())
    live = _table((root / _EXPECTED.format("-Liveness")).read_text())
    found, others = [], {}
    for path in sorted((root / "litmus/PTX").rglob("*.litmus")):
        name = str(path.relative_to(root))
        try:
            test = litmus.parse(path.stem, path.read_text())
            kernels.let_all_end(test)
            kernels.let_all_meet(test)
            for gpu in test.gpus:
                kernels.kernel(test, "k", gpu)
        except litmus.NotPtx as why:
            others[name] = str(why)
            continue
        holds = safe.get(name)
        allowed = holds if holds is None or test.quantifier == "exists" else not holds
        found.append(Case(name, test, allowed, live.get(name)))
    return found, others


if __name__ == "__main__":
    command = ["git", "-C", sys.argv[1], "archive", COMMIT, "litmus/PTX", "dartagnan/src/test/resources"]
    archive = subprocess.run(command, check=True, capture_output=True).stdout
    print(digest(_unpack(archive, False)))
