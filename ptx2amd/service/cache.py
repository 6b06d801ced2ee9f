"""The cache directory: where it is, what is in it, keeping its size bounded."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ptx2amd import settings
from ptx2amd.service.entry import Entry, EntryError

SUFFIX = ".p2a"


def directory() -> Path:
    """PTX2AMD_CACHE_DIR, else $XDG_CACHE_HOME/ptx2amd, else $HOME/.cache/ptx2amd, as in shim/src/cache.c."""
    if explicit := settings.CACHE_DIR.text():
        return Path(explicit)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path(os.environ.get("HOME") or "/tmp") / ".cache") / "ptx2amd"


def limit() -> int:
    """The size bound in bytes."""
    return int(settings.CACHE_LIMIT.number())


def path_of(root: Path, key: str) -> Path:
    return root / key[:2] / (key + SUFFIX)


@dataclass(frozen=True, slots=True)
class Stored:
    path: Path
    size: int
    used: float  # time of last use, seconds since the epoch


def stored(root: Path) -> Iterator[Stored]:
    """The entry files of a cache directory."""
    for path in root.glob(f"[0-9a-f][0-9a-f]/*{SUFFIX}"):
        with contextlib.suppress(FileNotFoundError):  # another process may be trimming
            stat = path.stat()
            yield Stored(path, stat.st_size, max(stat.st_atime, stat.st_mtime))


def trim(root: Path, bound: int) -> int:
    """Delete the entries not used for longest until at most `bound` bytes are left; bytes freed."""
    entries = sorted(stored(root), key=lambda entry: entry.used)
    excess = sum(entry.size for entry in entries) - bound
    freed = 0
    for entry in entries:
        if freed >= excess:
            break
        entry.path.unlink(missing_ok=True)
        freed += entry.size
    return freed


def damaged(root: Path) -> list[str]:
    """What is wrong with the entries that don't verify, a line each."""
    problems = []
    for item in stored(root):
        try:
            Entry.unpack(item.path.read_bytes(), str(item.path))
        except EntryError as error:
            problems.append(str(error))
    return problems
