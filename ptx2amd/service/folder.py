"""Folders that only this user and root can change: of the cache, whose files are run, and of the service's socket.

Every folder on the way is opened from the one before it, without following links, and looked at by its descriptor: it
belongs to this user or to root, and others cannot write to it, unless it is sticky, as /tmp is. Links are followed if
they belong to this user or to root. What is made has mode 0700, whatever the umask. The same in C:
shim/src/core/folder.c; SECURITY.md has the reasons.
"""

from __future__ import annotations

import contextlib
import grp
import os
import pwd
import stat
from pathlib import Path

from ptx2amd.errors import Ptx2amdError

LINKS = 40
NOBODY = 65534  # what owners that a user namespace does not know look like


class FolderError(Ptx2amdError):
    """A folder that cannot be used, with the reason."""


class NoFolderError(FolderError):
    """A folder that does not exist."""


def open_folder(path: str | Path, make: str = "", private: bool = False) -> tuple[Path, int]:
    """The folder's path without links, and its descriptor.

    make: "last" or "all": folders that are missing are made. private: the folder itself has to be of this user, and
    closed to others. Raises FolderError."""
    rest = _parts(str(path) if str(path).startswith("/") else os.path.abspath(path))
    with contextlib.ExitStack() as opened:

        def keep(handle: int) -> int:
            opened.callback(os.close, handle)
            return handle

        root = folder = keep(os.open("/", os.O_PATH | os.O_DIRECTORY))
        at, links = "", 0
        _check(os.fstat(root), "/", last=not rest, private=private)
        while rest:
            name = rest.pop()
            here = os.path.dirname(at) if name == ".." else f"{at}/{name}"
            inner = keep(_enter(folder, name, here, make == "all" or (make == "last" and not rest)))
            found = os.fstat(inner)
            if stat.S_ISLNK(found.st_mode):
                links += 1
                if not _trusted(found.st_uid):
                    raise FolderError(f"{here} is a link that belongs to another user (uid {found.st_uid})")
                if links > LINKS:
                    raise FolderError(f"{here}: too many links")
                target = os.readlink("", dir_fd=inner)
                rest += _parts(target)
                folder, at = (root, "") if target.startswith("/") else (folder, at)
            else:
                _check(found, here or "/", last=not rest, private=private)
                folder, at = inner, here
        try:
            return Path(at or "/"), os.open(".", os.O_RDONLY | os.O_DIRECTORY, dir_fd=folder)
        except OSError as error:
            raise FolderError(f"{at}: {error.strerror}") from None


def _parts(path: str) -> list[str]:
    """The names in a path, last one first."""
    return [part for part in path.split("/") if part not in ("", ".")][::-1]


def _enter(parent: int, name: str, path: str, make: bool) -> int:
    """The entry `name`, opened only to read its owner and mode."""
    flags = os.O_PATH | os.O_NOFOLLOW
    try:
        return os.open(name, flags, dir_fd=parent)
    except FileNotFoundError:
        if not make:
            raise NoFolderError(f"{path} does not exist") from None
    except OSError as error:
        raise FolderError(f"{path}: {error.strerror}") from None
    try:
        os.mkdir(name, 0o700, dir_fd=parent)
        os.chmod(name, 0o700, dir_fd=parent)
    except FileExistsError:
        pass  # made by another process at the same time
    except OSError as error:
        raise FolderError(f"{path} can't be made: {error.strerror}") from None
    return os.open(name, flags, dir_fd=parent)


def _check(found: os.stat_result, path: str, last: bool, private: bool) -> None:
    mode = stat.S_IMODE(found.st_mode)
    if not stat.S_ISDIR(found.st_mode):
        raise FolderError(f"{path} is not a folder")
    if not _trusted(found.st_uid) or (last and private and found.st_uid != os.geteuid()):
        raise FolderError(f"{path} belongs to another user (uid {found.st_uid})")
    if last and private and mode & 0o077:
        raise FolderError(f"{path} is open to others (mode {mode:03o})")
    sticky = mode & stat.S_ISVTX and not last
    if mode & 0o002 and not sticky:
        raise FolderError(f"{path} can be written to by others (mode {mode:03o})")
    if mode & 0o020 and not sticky and not _alone_in(found.st_gid):
        raise FolderError(f"{path} can be written to by its group (mode {mode:03o})")


def _trusted(owner: int) -> bool:
    return owner in (0, os.geteuid()) or (owner == NOBODY and _unmapped())


def _unmapped() -> bool:
    """Whether this user namespace has no user 65534: then it stands for owners outside of it, as of / and /home."""
    try:
        lines = [[int(word) for word in line.split()] for line in Path("/proc/self/uid_map").read_text().splitlines()]
    except OSError:
        return False
    return not any(first <= NOBODY < first + count for first, _, count in lines)


def _alone_in(group: int) -> bool:
    """Whether a group is this user's own, as many systems give one to each user."""
    try:
        name, found = pwd.getpwuid(os.geteuid()).pw_name, grp.getgrgid(group)
    except KeyError:
        return False
    return found.gr_name == name and set(found.gr_mem) <= {name}


def open_file(name: str, parent: int) -> int:
    """A file in a folder of open_folder, for reading: a regular one, of this user or root, that others cannot write to.
    Never waits. Raises FolderError, OSError."""
    handle = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=parent)
    found = os.fstat(handle)
    if stat.S_ISREG(found.st_mode) and _trusted(found.st_uid) and not found.st_mode & 0o022:
        return handle
    os.close(handle)
    raise FolderError("not a regular file" if not stat.S_ISREG(found.st_mode) else "others can have written it")


def home() -> str:
    """HOME, else the folder in the system's user table; "" if there is none."""
    if (given := os.environ.get("HOME", "")).startswith("/"):
        return given
    try:
        return pwd.getpwuid(os.geteuid()).pw_dir
    except KeyError:
        return ""
