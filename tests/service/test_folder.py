"""Folders that only this user and root can change: what is taken, what is refused and why, and that the driver's C and
the translator's Python judge alike."""

from __future__ import annotations

import ctypes
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ptx2amd.service.folder import FolderError, open_file, open_folder

SOURCES = Path(__file__).resolve().parents[2] / "shim" / "src"
OTHER = 61234  # a user who is nobody here
MAKE_LAST, MAKE, PRIVATE = 1, 2, 4
AS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="giving files to another user takes root")


@pytest.fixture(scope="module")
def in_c(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    """folder.c in this process."""
    library = tmp_path_factory.mktemp("folder") / "libfolder.so"
    flags = ["-std=gnu11", "-shared", "-fPIC", "-Wall", "-Wextra", "-Werror"]
    subprocess.run(["gcc", *flags, str(SOURCES / "core" / "folder.c"), "-o", str(library)], check=True)
    return ctypes.CDLL(str(library))


def c_open(library: ctypes.CDLL, path: str, how: int) -> tuple[str, str]:
    """(the path without links, "") or ("", why not)."""
    buffer, why = ctypes.create_string_buffer(os.fsencode(path), 4096), ctypes.create_string_buffer(5000)
    handle = library.folder_open(buffer, how, why, len(why))
    if handle < 0:
        return "", os.fsdecode(why.value)
    assert os.path.samestat(os.fstat(handle), os.stat(os.fsdecode(buffer.value)))
    os.close(handle)
    return os.fsdecode(buffer.value), ""


def python_open(path: str, how: int) -> tuple[str, str]:
    make = "all" if how & MAKE else "last" if how & MAKE_LAST else ""
    try:
        found, handle = open_folder(path, make, bool(how & PRIVATE))
    except FolderError as error:
        return "", str(error)
    assert os.path.samestat(os.fstat(handle), os.stat(found))
    os.close(handle)
    return str(found), ""


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Path]:
    before = os.umask(0o022)
    yield tmp_path
    os.umask(before)


def folder(path: Path, mode: int = 0o700, owner: int | None = None) -> Path:
    path.mkdir(parents=True, exist_ok=True)
    path.chmod(mode)
    if owner is not None:
        os.chown(path, owner, owner)
    return path


def link(path: Path, to: str, owner: int | None = None) -> Path:
    path.symlink_to(to)
    if owner is not None:
        os.lchown(path, owner, owner)
    return path


#: What is there, what is asked for, and the reason of the refusal, or where that leads, below the place.
SITUATIONS: dict[str, tuple[Callable[[Path], object], str, int, str]] = {
    "is there": (lambda p: folder(p / "a"), "a", 0, "a"),
    "others may read": (lambda p: folder(p / "a", 0o755), "a", 0, "a"),
    "others may read a private one": (lambda p: folder(p / "a", 0o755), "a", PRIVATE, "is open to others"),
    "is made": (lambda p: None, "a/b/c", MAKE, "a/b/c"),
    "the last is made": (lambda p: folder(p / "a"), "a/b", MAKE_LAST, "a/b"),
    "more than the last is missing": (lambda p: None, "a/b", MAKE_LAST, "does not exist"),
    "is missing": (lambda p: None, "a", 0, "does not exist"),
    "is a file": (lambda p: (p / "a").touch(), "a", MAKE, "is not a folder"),
    "is below a file": (lambda p: (p / "a").touch(), "a/b", MAKE, "is not a folder"),
    "is a FIFO": (lambda p: os.mkfifo(p / "a"), "a", MAKE, "is not a folder"),
    "others can write": (lambda p: folder(p / "a", 0o777), "a", 0, "can be written to by others"),
    "others can write, but not delete": (lambda p: folder(p / "a", 0o1777), "a", 0, "can be written to by others"),
    "others can write above": (lambda p: folder(folder(p / "a", 0o700) / "b") and folder(p / "a", 0o777), "a/b", 0,
                               "can be written to by others"),
    "others cannot delete above": (lambda p: folder(p / "a/b") and folder(p / "a", 0o1777), "a/b", 0, "a/b"),
    "a group can write": (lambda p: folder(p / "a", 0o770) and os.chown(p / "a", -1, OTHER), "a", 0,
                          "can be written to by its group"),
    "dots and slashes": (lambda p: folder(p / "a/b"), "a/.//b/../b/", 0, "a/b"),
    "own link": (lambda p: folder(p / "a/b") and link(p / "l", "a"), "l/b", 0, "a/b"),
    "own link to an absolute path": (lambda p: folder(p / "a/b") and link(p / "l", f"{p}/a/b"), "l", 0, "a/b"),
    "own link upwards": (lambda p: folder(p / "a/b") and link(p / "a/l", "../a/b"), "a/l", 0, "a/b"),
    "links in a circle": (lambda p: link(p / "a", "b") and link(p / "b", "a"), "a", MAKE, "too many links"),
    "a link to nothing": (lambda p: link(p / "a", "nothing"), "a", 0, "does not exist"),
}  # fmt: skip
OF_OTHERS: dict[str, tuple[Callable[[Path], object], str, int, str]] = {
    "of another user": (lambda p: folder(p / "a", 0o700, OTHER), "a", 0, "belongs to another user"),
    "below one of another user": (lambda p: folder(p / "a/b") and folder(p / "a", 0o755, OTHER), "a/b", 0,
                                  "belongs to another user"),
    "private, of another user": (lambda p: folder(p / "a", 0o700, OTHER), "a", PRIVATE, "belongs to another user"),
    "link of another user": (lambda p: folder(p / "a") and link(p / "l", "a", OTHER), "l", 0,
                             "is a link that belongs to another user"),
    "link of another user on the way": (lambda p: folder(p / "a/b") and link(p / "l", "a", OTHER), "l/b", MAKE,
                                        "is a link that belongs to another user"),
}  # fmt: skip


def check(in_c: ctypes.CDLL, place: Path, situation: tuple[Callable[[Path], object], str, int, str]) -> None:
    """In a copy each, as what is missing is made."""
    prepare, path, how, expected = situation
    results = []
    for number, judge in enumerate((lambda path, how: c_open(in_c, path, how), python_open)):
        own = folder(place / str(number))
        prepare(own)
        found, why = judge(f"{own}/{path}", how)
        results.append((found.replace(str(own), ""), bool(why)))
        assert expected in why if why else found == str(own / expected), (found, why)
    assert results[0] == results[1]


@pytest.mark.parametrize("name", SITUATIONS)
def test_c_and_python_judge_alike(in_c: ctypes.CDLL, place: Path, name: str) -> None:
    check(in_c, place, SITUATIONS[name])


@AS_ROOT
@pytest.mark.parametrize("name", OF_OTHERS)
def test_what_others_own_is_refused(in_c: ctypes.CDLL, place: Path, name: str) -> None:
    check(in_c, place, OF_OTHERS[name])


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o777])
def test_what_is_made_is_closed_whatever_the_umask(in_c: ctypes.CDLL, place: Path, umask: int) -> None:
    for name, judge in (("c", lambda path: c_open(in_c, path, MAKE)), ("python", lambda path: python_open(path, MAKE))):
        before = os.umask(umask)
        try:
            _, why = judge(f"{place}/{name}/b/c")
        finally:
            os.umask(before)
        assert not why
        assert [(place / path).stat().st_mode & 0o7777 for path in (name, f"{name}/b", f"{name}/b/c")] == [0o700] * 3


def test_relative_paths_begin_here(in_c: ctypes.CDLL, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder(place / "a"))
    folder(place / "a" / "b")
    assert c_open(in_c, "b", 0) == python_open("b", 0) == (str(place / "a" / "b"), "")


def test_long_paths(in_c: ctypes.CDLL, place: Path) -> None:
    """Up to what the system takes; a longer one is refused, not cut."""
    for length in (255, 256, 3000, 3900, 4090):
        path = str(place)
        while len(path) < length:
            path += "/" + "x" * min(200, length - len(path))
        found, why = c_open(in_c, path, MAKE)
        assert found == path or why, length
        found_too, why_too = python_open(path, MAKE)
        assert found_too == path or why_too
        assert length > 3000 or (found and found_too)


def test_names_that_are_no_text(in_c: ctypes.CDLL, place: Path) -> None:
    for name in ("line\nbreak", "\udcff\udcfe", "\u2028", "100%", " ", "-"):
        path = f"{place}/{name}"
        assert c_open(in_c, path, MAKE) == python_open(path, MAKE) == (path, "")


@pytest.mark.parametrize(
    ("kind", "taken"),
    [("file", True), *((kind, False) for kind in ("written by others", "FIFO", "folder", "link", "socket"))],
)
def test_files(in_c: ctypes.CDLL, place: Path, kind: str, taken: bool) -> None:
    """Nothing that is not a regular file of ours is opened, and nothing makes the reader wait."""
    import socket

    path = place / "x"
    if kind == "FIFO":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    elif kind == "link":
        link(path, "/etc/passwd")
    elif kind == "socket":
        socket.socket(socket.AF_UNIX).bind(os.path.relpath(path))
    else:
        path.write_text("x")
        path.chmod(0o666 if kind == "written by others" else 0o600)
    handle = os.open(place, os.O_RDONLY)
    found = in_c.folder_file(handle, b"x")
    assert (found >= 0) == taken
    try:
        os.close(open_file("x", handle))
        assert taken
    except (FolderError, OSError):
        assert not taken
    os.close(handle)


@AS_ROOT
def test_a_file_of_another_user_is_not_read(in_c: ctypes.CDLL, place: Path) -> None:
    (place / "x").write_text("x")
    os.chown(place / "x", OTHER, OTHER)
    handle = os.open(place, os.O_RDONLY)
    assert in_c.folder_file(handle, b"x") < 0
    with pytest.raises(FolderError, match="others can have written it"):
        open_file("x", handle)
    os.close(handle)
