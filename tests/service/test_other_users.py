"""What another user of the machine may try: have code of theirs run as ours, keep our programs from running, ask our
service."""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
import socket
import struct
from pathlib import Path

import pytest

from ptx2amd.binary.elf import Elf
from ptx2amd.service.folder import home
from ptx2amd.service.protocol import FRAME, Message
from tests.service.other_users import AS_ROOT as pytestmark  # noqa: F401
from tests.service.other_users import ATTACKER, OWN_TMP, program, run, works, works_in_own_tmp

S_ENDPGM = 0xBF810000  # of gfx9


@pytest.fixture
def place(tmp_path: Path) -> Path:
    for name in ("home", "run"):
        (tmp_path / name).mkdir(mode=0o700)
    return tmp_path


def usual(place: Path) -> dict[str, str]:
    return {"HOME": str(place / "home"), "XDG_RUNTIME_DIR": str(place / "run")}


def poison(path: Path, owner: int) -> bool:
    """Make an entry's kernel end at once, as an attacker would write it: with a right checksum. Whether it was one."""
    blob = bytearray(path.read_bytes())
    [text] = struct.unpack_from("<I", blob, 8)
    if b"\nvgprs" not in blob[56 : 56 + text]:
        return False
    code = bytes(blob[56 + text :])
    section = next(section for section in Elf(code).sections if section.name == ".text")
    at = 56 + text + code.index(bytes(section.data))
    blob[at : at + 4] = struct.pack("<I", S_ENDPGM)
    blob[24:56] = hashlib.blake2b(bytes(blob[56:]), digest_size=32).digest()
    path.write_bytes(blob)
    path.chmod(0o644)
    os.chown(path, owner, owner)
    return True


def entries(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.p2a"))


def test_an_entry_of_another_user_is_not_run(place: Path) -> None:
    works(place, **usual(place))
    cache = place / "home" / ".cache" / "ptx2amd"
    poisoned = [path for path in entries(cache) if poison(path, os.geteuid())]
    assert poisoned
    assert run(program(place / "works.py"), **usual(place)).returncode, "the poison does nothing"
    for path in poisoned:
        os.chown(path, ATTACKER, ATTACKER)
    works(place, **usual(place))
    assert {path.stat().st_uid for path in entries(cache)} == {os.geteuid()}  # written anew


def test_a_cache_folder_of_another_user_is_not_used(place: Path) -> None:
    works(place, **usual(place))
    theirs = shutil.copytree(place / "home" / ".cache" / "ptx2amd", place / "theirs")
    assert sum(poison(path, ATTACKER) for path in entries(theirs))
    for path in [theirs, *theirs.rglob("*")]:
        os.chown(path, ATTACKER, ATTACKER)
        path.chmod(0o755 if path.is_dir() else 0o644)
    done = works(place, **usual(place), PTX2AMD_CACHE_DIR=str(theirs))
    assert done.stderr.count("belongs to another user") == 1 and "set PTX2AMD_CACHE_DIR" in done.stderr


@OWN_TMP
def test_without_home_nothing_is_taken_from_where_anybody_can_write() -> None:
    """The cache is where the system's user table says, not in a /tmp/.cache that somebody has made."""
    account = home() if "HOME" not in os.environ else os.path.expanduser("~root")
    before = f"mkdir -p {account}/.cache /tmp/.cache/ptx2amd; mount -t tmpfs tmpfs {account}/.cache\n"
    before += f"chown -R {ATTACKER} /tmp/.cache; chmod -R 777 /tmp/.cache; touch -d 2001-01-01 /tmp/.cache/ptx2amd"
    after = f"find /tmp/.cache -newermt 2002-01-01 -path '*ptx2amd*'; find {account}/.cache -name '*.p2a' | wc -l"
    done = works_in_own_tmp(before, after)
    assert done.stdout.split("\n")[-2:] == ["2", ""] and ".cache/ptx2amd" not in done.stdout and not done.stderr


def test_modes_do_not_depend_on_the_umask(place: Path) -> None:
    works(place, umask=0, **usual(place))
    found = [path for name in ("home", "run") for path in (place / name).rglob("*")]
    assert {path.name for path in found} >= {".cache", "ptx2amd", "clients"}
    for path in found:
        mode = path.lstat().st_mode & 0o777
        assert mode == 0o700 if path.is_dir() else mode & 0o077 == 0, (path, oct(mode))


TAKEN = "/tmp/ptx2amd-$(id -u)"


@OWN_TMP
@pytest.mark.parametrize(
    "taken",
    [
        f"mkdir -m 777 {TAKEN}; chown {ATTACKER} {TAKEN}",
        f"ln -s /tmp/secret {TAKEN}; chown -h {ATTACKER} {TAKEN}",
        f"touch {TAKEN}; chown {ATTACKER} {TAKEN}",
    ],
    ids=["a folder that is open", "a link to the victim's folder", "a file"],
)
def test_the_runtime_folder_cannot_be_taken_away(taken: str) -> None:
    before = f"mkdir -m 700 /tmp/home /tmp/secret; {taken}"
    after = f"find /tmp/secret {TAKEN}/ -mindepth 1 2>/dev/null; ls /tmp/home/.cache/ptx2amd/run | grep log | wc -l"
    done = works_in_own_tmp(before, after, HOME="/tmp/home")
    assert done.stdout == "still works\n1\n" and not done.stderr


def test_a_runtime_folder_of_the_users_choice_is_refused_by_name(place: Path) -> None:
    theirs = place / "theirs"
    theirs.mkdir()
    os.chown(theirs, ATTACKER, ATTACKER)
    done = run(program(place / "works.py"), **usual(place), PTX2AMD_RUNTIME_DIR=str(theirs))
    assert done.returncode and f"{theirs} belongs to another user" in done.stderr
    assert "set PTX2AMD_RUNTIME_DIR to a folder that you own with mode 700" in done.stderr


def answered(path: Path, user: int) -> str:
    """Ask a service as another user: what comes back."""
    reading, writing = os.pipe()
    if not (child := os.fork()):
        result = "?"
        try:
            os.setgroups([])
            os.setgid(user)
            os.setuid(user)
            with socket.socket(socket.AF_UNIX) as connection:
                connection.settimeout(20)
                connection.connect(str(path))
                connection.sendall(Message({"op": "index"}).pack())
                result = "an answer" if len(connection.recv(FRAME.size)) == FRAME.size else "nothing"
        except OSError as error:
            result = type(error).__name__
        finally:
            os.write(writing, result.encode())
            os._exit(0)
    os.close(writing)
    os.waitpid(child, 0)
    with open(reading) as said:
        return said.read()


@OWN_TMP
def test_the_service_answers_its_user_alone(place: Path) -> None:
    """Even where the user has opened the socket's folder to all."""
    works(place, HOME=str(place / "home"), PTX2AMD_RUNTIME_DIR=str(place / "run"), PTX2AMD_SERVICE_IDLE="60")
    [path] = (place / "run").glob("service-*.sock")
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(str(path))
        [service, _, _] = struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
    opened = [path, *path.parents][:-2]  # not /tmp
    modes = [item.stat().st_mode & 0o7777 for item in opened]
    try:
        assert answered(path, ATTACKER) == "PermissionError"
        for item in opened:
            item.chmod(0o777 if item == path else 0o711)
        assert answered(path, os.geteuid()) == "an answer"
        assert answered(path, ATTACKER) in ("nothing", "ConnectionResetError", "BrokenPipeError")
    finally:
        for item, mode in zip(opened, modes, strict=True):
            item.chmod(mode)
        os.kill(service, signal.SIGTERM)
