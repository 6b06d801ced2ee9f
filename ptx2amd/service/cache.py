"""The cache directory: where it is, what is in it, keeping its size bounded.

Its entries are machine code that is run, so it has to be a folder that others cannot change (folder.py)."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from pathlib import Path

from ptx2amd import settings
from ptx2amd.records import dataclass
from ptx2amd.service.entry import PARTIAL, Entry, EntryError
from ptx2amd.service.folder import FolderError, home, open_file, open_folder

SUFFIX = ".p2a"
PARTIAL_SECONDS = 3600  # after which a file that is being written counts as left behind


def directory() -> Path:
    """PTX2AMD_CACHE_DIR, else $XDG_CACHE_HOME/ptx2amd, else .cache/ptx2amd in the home folder; shim/src/module/cache.c
    does the same. Raises FolderError where no home folder is known."""
    if explicit := settings.CACHE_DIR.text():
        return Path(explicit)
    if (base := os.environ.get("XDG_CACHE_HOME", "")).startswith("/"):
        return Path(base) / "ptx2amd"
    if base := home():
        return Path(base) / ".cache" / "ptx2amd"
    raise FolderError("no home folder is known; set PTX2AMD_CACHE_DIR to a folder that you own")


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
    """The entry files of a cache directory. Files that cannot be examined are left out: other processes trim the
    folder too."""
    for path in _files(root):
        if path.suffix == SUFFIX:
            with contextlib.suppress(OSError):
                stat = path.lstat()
                yield Stored(path, stat.st_size, max(stat.st_atime, stat.st_mtime))


def _files(root: Path) -> Iterator[Path]:
    """The files two levels down."""
    for folder in _scan(root):
        if len(folder.name) == 2 and folder.is_dir(follow_symlinks=False):
            yield from (Path(item.path) for item in _scan(folder.path) if item.is_file(follow_symlinks=False))


def _scan(folder: Path | str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as items:
            return list(items)
    except OSError:
        return []


@dataclass(frozen=True, slots=True)
class Trimmed:
    """In bytes."""

    freed: int
    left: int


def trim(root: Path, bound: int) -> Trimmed:
    """Delete the entries not used for longest until at most `bound` bytes are left, and what killed translations have
    left behind. Files that cannot be deleted stay."""
    for path in _files(root):
        with contextlib.suppress(OSError):
            if path.name.startswith(PARTIAL) and time.time() - path.lstat().st_mtime > PARTIAL_SECONDS:
                path.unlink()
    entries = sorted(stored(root), key=lambda entry: entry.used)
    left, freed = sum(entry.size for entry in entries), 0
    for entry in entries:
        if left <= bound:
            break
        with contextlib.suppress(OSError):
            entry.path.unlink(missing_ok=True)
            left, freed = left - entry.size, freed + entry.size
    return Trimmed(freed, left)


def read(path: Path) -> Entry:
    """An entry. Raises EntryError when it is damaged or others can have written it, OSError when it is not there."""
    try:
        _, folder = open_folder(path.parent)
        try:
            file = open_file(path.name, folder)
        finally:
            os.close(folder)
    except FolderError as error:
        raise EntryError(f"{path}: {error}") from None
    with open(file, "rb") as opened:
        return Entry.unpack(opened.read(), str(path))


def damaged(root: Path) -> list[str]:
    """A message for each entry that does not verify."""
    problems = []
    for item in stored(root):
        try:
            read(item.path)
        except FileNotFoundError:
            pass  # trimmed meanwhile
        except (EntryError, OSError) as error:
            problems.append(str(error))
    return problems
