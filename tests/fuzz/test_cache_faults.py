"""Entries of the cache that were changed, or are something else than files: the driver's reader (under ASan and UBSan)
and the translator's take and refuse the same, take nothing that was changed, and never wait."""

from __future__ import annotations

import os
import random
import stat
import struct
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ptx2amd import native
from ptx2amd.service import cache, entry
from ptx2amd.service.entry import HEADER, MAGIC, Entry, EntryError, digest
from ptx2amd.settings import generate

HERE = Path(__file__).resolve().parent
SHIM = HERE.parents[1] / "shim" / "src"
OTHER = 61234  # a user who is nobody here


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Path:
    program = tmp_path_factory.mktemp("reader") / "cache_reader"
    sources = [
        HERE / "cache_reader.c",
        *(SHIM / name for name in ("module/cache.c", "core/folder.c", "core/blake2b.c")),
    ]
    generated = native.WORK / "shim"
    flags = ["-std=gnu11", "-O1", "-g1", "-pthread", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    flags += native.shim_includes(generated)
    command = ["gcc", *flags, *map(str, [*sources, *generate.write(generated)]), "-o", str(program)]
    subprocess.run(command, check=True)
    return program


@pytest.fixture
def opened(reader: Path, tmp_path: Path) -> Iterator[Callable[[str], str]]:
    """What the driver's reader says of a key."""
    environment = {"PTX2AMD_CACHE_DIR": str(tmp_path), "ASAN_OPTIONS": "detect_leaks=1"}
    process = subprocess.Popen([str(reader)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, text=True)
    assert process.stdin and process.stdout

    def ask(key: str) -> str:
        process.stdin.write(key + "\n")
        process.stdin.flush()
        return process.stdout.readline().strip()

    yield ask
    process.stdin.close()
    assert process.wait(60) == 0


def sample(random: random.Random) -> Entry:
    lines = "".join(f"key{number} value {random.randbytes(4).hex()}\n" for number in range(random.randrange(9)))
    return Entry(lines, random.randbytes(random.choice((0, 1, 55, 56, 57, 1000, 5000))))


def flip(blob: bytes, random: random.Random) -> bytes:
    at = random.randrange(len(blob))
    return blob[:at] + bytes([blob[at] ^ 1 << random.randrange(8)]) + blob[at + 1 :]


def overwrite(blob: bytes, random: random.Random) -> bytes:
    at, size = random.randrange(len(blob)), random.randrange(1, 64)
    part = random.choice((bytes(size), b"\xff" * size, random.randbytes(size)))
    return (blob[:at] + part + blob[at + size :])[: len(blob)]


def lie(blob: bytes, random: random.Random) -> bytes:
    """Sizes that are not so, under a right checksum."""
    body = blob[HEADER.size :]
    text = random.choice((0, 1, len(body), len(blob), 1 << 31, (1 << 32) - 1))
    payload = random.choice((0, 1, len(body), len(blob), len(body) - text, -text, -1, 1 << 63))
    return HEADER.pack(MAGIC, text, 0, payload % (1 << 64), digest(body)) + body


BYTES: dict[str, Callable[[bytes, random.Random], bytes]] = {
    "as it is": lambda blob, random: blob, "a bit": flip, "some bytes": overwrite, "sizes": lie,
    "cut": lambda blob, random: blob[: random.randrange(len(blob))],
    "longer": lambda blob, random: blob + random.randbytes(random.randrange(1, 99)),
    "twice": lambda blob, random: blob + blob, "empty": lambda blob, random: b"",
    "anything": lambda blob, random: random.randbytes(random.randrange(200)),
    "a header alone": lambda blob, random: struct.pack("<8sIIQ32s", MAGIC, 0, 0, 0, digest()),
}  # fmt: skip


def of_mode(path: Path, mode: int) -> None:
    path.write_bytes(Entry("a b\n", b"").pack())
    path.chmod(mode)


def of_other(path: Path) -> None:
    of_mode(path, 0o644)
    os.chown(path, OTHER, OTHER)


def linked(path: Path, to: str) -> None:
    Path(path.parent / "real").write_bytes(Entry("a b\n", b"").pack())
    path.symlink_to(to)


#: What else may be in a file's place, and whether it is taken.
OTHERS: dict[str, tuple[Callable[[Path], object], bool]] = {
    "nothing": (bool, False),
    "a FIFO": (os.mkfifo, False),
    "a folder": (Path.mkdir, False),
    "a socket": (lambda path: os.mknod(path, stat.S_IFSOCK | 0o600), False),
    "a link to an entry": (lambda path: linked(path, "real"), False),
    "a link to itself": (lambda path: linked(path, path.name), False),
    "a link to zeros": (lambda path: path.symlink_to("/dev/zero"), False),
    "others can write": (lambda path: of_mode(path, 0o666), False),
    "a group can write": (lambda path: of_mode(path, 0o660), False),
    "others can read": (lambda path: of_mode(path, 0o644), True),
    "own alone": (lambda path: of_mode(path, 0o400), True),
    **({"of another user": (of_other, False)} if os.geteuid() == 0 else {}),
}  # fmt: skip


def judged(path: Path) -> str:
    """What the translator's reader says, in the driver's words."""
    try:
        found = cache.read(path)
    except (EntryError, OSError):
        return "refused"
    total = 0
    for byte in found.payload:
        total = (total * 31 + byte) & 0xFFFFFFFF
    text = found.text.encode(errors="surrogateescape")
    return f"taken {len(text)} {len(text.partition(bytes(1))[0])} {len(found.payload)} {total}"


def sweep(folder: Path, opened: Callable[[str], str], rounds: int, seed: int) -> dict[str, int]:
    """Mutants by kind; each is judged by both readers."""
    chosen, counts = random.Random(seed), dict.fromkeys([*BYTES, *OTHERS], 0)
    for number in range(rounds):
        key = digest(f"{seed} {number}".encode()).hex()
        path = cache.path_of(folder, key)
        path.parent.mkdir(mode=0o700, exist_ok=True)
        kind = chosen.choice(list(counts))
        counts[kind] += 1
        if kind in BYTES:
            whole = sample(chosen).pack()
            blob = BYTES[kind](whole, chosen)
            entry.write(path, blob)
            changed = blob[:12] + blob[16:] != whole[:12] + whole[16:]  # four bytes are spare
            may_be_taken = not changed or kind in ("sizes", "a header alone")
        else:
            OTHERS[kind][0](path)
            may_be_taken = OTHERS[kind][1]
        found = opened(key)
        assert found == judged(path), (seed, number, kind)
        assert found == "refused" or may_be_taken, (seed, number, kind)
        assert found != "refused" or kind != "as it is"
        if kind not in BYTES or kind == "as it is":
            assert (found != "refused") == may_be_taken, (seed, number, kind)
    return counts


def test_entries_that_were_changed(tmp_path: Path, opened: Callable[[str], str]) -> None:
    assert all(sweep(tmp_path, opened, 600, seed=1).values())


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_many_entries_that_were_changed(tmp_path: Path, opened: Callable[[str], str], seed: int) -> None:
    assert all(sweep(tmp_path, opened, 5000, seed=100 + seed).values())
