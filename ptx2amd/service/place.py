"""Where the service is: the folder of its socket, the socket's address, and where its workers write."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from ptx2amd import settings
from ptx2amd.service import cache
from ptx2amd.service.folder import FolderError, open_folder

SOCKET_PATH = 107  # bytes, without the NUL
SCRATCH_BYTES = 64 << 20  # that should be free where workers write


def runtime_directory() -> Path:
    """PTX2AMD_RUNTIME_DIR, else the first that is or can be made this user's alone of $XDG_RUNTIME_DIR/ptx2amd,
    /tmp/ptx2amd-<uid> and `run` in the cache's folder; mode 0700. Raises FolderError.
    shim/src/module/service.c does the same."""
    if explicit := settings.RUNTIME_DIR.text():
        return _ours_alone(Path(explicit))
    reasons = []
    for path in _usual_places():
        try:
            return _ours_alone(path)
        except FolderError as error:
            reasons.append(str(error))
    raise FolderError("; ".join(reasons))


def _usual_places() -> list[Path]:
    base = os.environ.get("XDG_RUNTIME_DIR", "")  # of another login, or not there, after su and in containers
    places = [Path(base) / "ptx2amd"] if base.startswith("/") else []
    places.append(Path(f"/tmp/ptx2amd-{os.geteuid()}"))  # which anybody can make first
    with contextlib.suppress(FolderError):
        root, handle = open_folder(cache.directory(), make="all")
        os.close(handle)
        places.append(root / "run")
    return places


def _ours_alone(path: Path) -> Path:
    found, handle = open_folder(path, make="last", private=True)
    os.close(handle)
    return found


def socket_path(build: str) -> Path:
    return runtime_directory() / f"service-{build[:16]}.sock"


@contextlib.contextmanager
def socket_address(path: Path) -> Iterator[str]:
    """What to bind or connect to: a path that is too long goes through its folder's descriptor."""
    if len(bytes(path)) <= SOCKET_PATH:
        yield str(path)
        return
    folder = os.open(path.parent, os.O_PATH | os.O_DIRECTORY)
    try:
        yield f"/proc/self/fd/{folder}/{path.name}"
    finally:
        os.close(folder)


@contextlib.contextmanager
def scratch(first: Path) -> Iterator[None]:
    """Let go of the folders of the program that started the service, which lives on when they are gone: what workers
    write goes to `first`, or where there is room."""
    _remove(first)  # what killed workers left
    made = first
    for folder in (first, Path("/tmp"), Path("/var/tmp"), Path("/dev/shm")):
        with contextlib.suppress(OSError):
            place = first if folder == first else folder / f"ptx2amd-{os.urandom(8).hex()}"
            place.mkdir(mode=0o700)
            made = place
            state = os.statvfs(made)
            if state.f_bavail * state.f_frsize >= SCRATCH_BYTES:
                break
            _remove(made)
    made.mkdir(mode=0o700, exist_ok=True)
    os.chdir("/")
    os.environ["TMPDIR"] = str(made)  # `tempfile` has not looked yet
    try:
        yield
    finally:
        _remove(made)


def _remove(folder: Path) -> None:
    if folder.exists():
        from shutil import rmtree  # which takes as long to import as the service's own files

        rmtree(folder, ignore_errors=True)
