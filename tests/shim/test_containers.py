"""Containers: what nvcc and the wheels write is found; damaged ones are refused, never followed."""

from __future__ import annotations

import ctypes
import random
import struct
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.shim.cache_entries import INDEX, PTX, write_index

INVALID_VALUE, INVALID_IMAGE, NO_BINARY, NO_COMPILER, NOT_FOUND = 1, 200, 209, 221, 500
KIND_PTX, KIND_ELF, KIND_LINKED = 1, 2, 0x7032
LZ4, ZSTD, SPECIFIC = 0x2000, 0x8000, 0x100000


def entry(
    payload: bytes, kind: int = KIND_PTX, sm: int = 80, flags: int = 0x11, header: int = 64, full: int = 0
) -> bytes:
    padded = payload + bytes(-len(payload) % 8)
    compressed = len(payload) if full else 0
    head = struct.pack(
        "<HHIQIIHHIIIQQQ", kind, 0x101, header, len(padded), compressed, 0, 0, 8, sm, 0, 0, flags, 0, full
    )
    return head + bytes(header - 64) + padded


def fatbin(*entries: bytes) -> bytes:
    return struct.pack("<IHHQ", 0xBA55ED50, 1, 16, sum(map(len, entries))) + b"".join(entries)


class Loader:
    def __init__(self, shim: SimpleNamespace) -> None:
        self.shim, self.kept = shim, []

    def load(self, image: bytes) -> int:
        """cuLibraryLoadData of bytes in a buffer of exactly their size."""
        return self.load_address(self.keep(image))

    def keep(self, image: bytes) -> object:
        self.kept.append(self.shim.ffi.new("char[]", image))
        return self.kept[-1]

    def load_address(self, address: object) -> int:
        """The result of loading; of asking for a kernel, where that says that there is no image."""
        handle, null = self.shim.ffi.new("CUlibrary *"), self.shim.ffi.NULL
        result = self.shim.cuda.cuLibraryLoadData(handle, address, null, null, 0, null, null, 0)
        if result == 0:
            kernel = self.shim.ffi.new("CUkernel *")
            asked = [self.shim.cuda.cuLibraryGetKernel(kernel, handle[0], b"nothing") for _ in range(2)]
            assert asked in ([NOT_FOUND] * 2, [NO_BINARY] * 2)
            assert self.shim.cuda.cuLibraryUnload(handle[0]) == 0
            return NO_BINARY if asked[0] == NO_BINARY else 0
        return result

    def wrapper(self, image: bytes, version: int = 1, parts: list[bytes] | None = None) -> object:
        fields = self.shim.ffi.new("uint64_t[3]")
        fields[0] = 0x466243B1 | version << 32
        fields[1] = int(self.shim.ffi.cast("uintptr_t", self.keep(image)))
        if parts:
            array = self.shim.ffi.new(
                "uint64_t[]", [int(self.shim.ffi.cast("uintptr_t", self.keep(p))) for p in parts] + [0]
            )
            self.kept.append(array)
            fields[2] = int(self.shim.ffi.cast("uintptr_t", array))
        self.kept.append(fields)
        return fields


@pytest.fixture
def loader(shim: SimpleNamespace, image: bytes) -> Loader:
    return Loader(shim)


def linked_entry(text: bytes) -> bytes:
    """A PTX entry as the linker's container has it."""
    padded = text + bytes(-len(text) % 8)
    return struct.pack("<HHIQIIHHIIIQQQ", KIND_PTX, 0x101, 64, len(padded), 0, 0, 0, 0, 80, 0, 0, 0, 0, 0) + padded


def known(shim: SimpleNamespace, payload: bytes) -> bytes:
    """The payload, with an index in the cache: loading it works only if exactly these bytes were picked."""
    write_index(shim.cache, payload, INDEX, bytes(64))
    return payload


def test_text_fatbin_and_wrapper(shim: SimpleNamespace, loader: Loader) -> None:
    assert loader.load(PTX + b"\0") == 0
    assert loader.load(fatbin(entry(b"\x7fELF", KIND_ELF, 75), entry(PTX + b"\0\0\0"))) == 0
    assert loader.load_address(loader.wrapper(fatbin(entry(PTX)))) == 0
    assert loader.load(fatbin(entry(PTX, header=112))) == 0
    spaced = known(shim, b"\n" * 8 + PTX)
    assert loader.load(fatbin(entry(spaced))) == 0


def test_compressed_entries_are_handed_on_as_stored(shim: SimpleNamespace, loader: Loader) -> None:
    for flag, payload in ((ZSTD, b"zstd frame of a module"), (LZ4, b"lz4 block of a module!!")):
        assert loader.load(fatbin(entry(known(shim, payload), flags=0x11 | flag, full=1000))) == 0


def test_the_entry_for_the_reported_capability_is_picked(shim: SimpleNamespace, loader: Loader) -> None:
    wanted, other = known(shim, PTX + b"// this one\n"), PTX + b"// not this one\n"

    def picked(*targets: tuple[bytes, int, int]) -> bool:
        return loader.load(fatbin(*(entry(text, sm=sm, flags=0x11 | flags) for text, sm, flags in targets))) == 0

    assert picked((other, 50, 0), (wanted, 80, 0), (other, 90, 0))  # the device says 8.0
    assert picked((other, 120, 0), (wanted, 90, 0))  # nothing up to it: the lowest above
    assert picked((wanted, 75, 0), (other, 120, 0))
    assert picked((other, 90, SPECIFIC), (wanted, 90, 0), (other, 103, SPECIFIC))


def test_separate_compilation_keeps_the_ptx_in_the_parts(
    shim: SimpleNamespace, loader: Loader, capfd: pytest.CaptureFixture[str]
) -> None:
    linked, part = fatbin(entry(b"\x7fELF", KIND_ELF)), fatbin(entry(PTX))
    assert loader.load_address(loader.wrapper(linked, 2, [part])) == 0
    linked_payload = linked_entry(PTX) * 2  # several parts are put together
    known(shim, linked_payload)
    assert loader.load_address(loader.wrapper(linked, 2, [part, part])) == 0
    assert loader.load(fatbin(entry(linked_payload, KIND_LINKED))) == 0  # what cuLinkComplete gives is that, too
    assert capfd.readouterr().err == ""


def test_machine_code_only(loader: Loader, capfd: pytest.CaptureFixture[str]) -> None:
    assert loader.load(fatbin(entry(b"\x7fELF", KIND_ELF, 80), entry(b"\x7fELF", KIND_ELF, 90))) == NO_BINARY
    assert "machine code only (sm_80 sm_90)" in capfd.readouterr().err
    assert loader.load(b"\x7fELF" + bytes(60)) == NO_BINARY
    assert loader.load(b"\x7fTileIR\0" + bytes(60)) == NO_BINARY
    assert "Tile IR" in capfd.readouterr().err


def placed(loader: Loader, image: bytes, library: Path) -> object:
    """The image's address, in a library of its own."""
    source = library.with_suffix(".c")
    source.write_text(f"const unsigned char image[] = {{{','.join(map(str, image))}}};\n")
    subprocess.run(["gcc", "-shared", "-o", str(library), str(source)], check=True)
    found = ctypes.c_char.in_dll(ctypes.CDLL(str(library)), "image")
    return loader.shim.ffi.cast("void *", ctypes.addressof(found))


@pytest.mark.parametrize(
    ("library", "way"),
    [
        ("libcublasLt.so.12", "this part of the library"),
        ("libtorch_cuda.so", "python3-torch-cuda"),
        ("libmine.so", "nvcc "),
    ],
)
def test_machine_code_only_in_a_library(
    library: str, way: str, loader: Loader, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """The message names the library, and what helps there."""
    image = fatbin(entry(b"\x7fELF", KIND_ELF, 80))
    assert loader.load_address(placed(loader, image, tmp_path / library)) == NO_BINARY
    message = capfd.readouterr().err
    assert f"in {library} has" in message and way in message


def test_nvidias_libraries_give_the_ptx_for_the_newest_gpu(
    shim: SimpleNamespace, loader: Loader, tmp_path: Path
) -> None:
    """They launch what they have chosen for the newer GPU that they are told of."""
    for library, sm in (("libcufft.so.12", 120), ("libmine.so", 80)):
        texts = {each: PTX + f"// {library} {each}\n".encode() for each in (75, 80, 120)}
        known(shim, texts[sm])
        image = fatbin(*(entry(text, sm=each) for each, text in texts.items()))
        assert loader.load_address(placed(loader, image, tmp_path / library)) == 0


def test_addresses_that_cannot_be_read(shim: SimpleNamespace, loader: Loader) -> None:
    assert loader.load_address(shim.ffi.cast("void *", 0x10)) == INVALID_VALUE
    assert loader.load_address(shim.ffi.NULL) == INVALID_VALUE
    broken = loader.wrapper(fatbin(entry(PTX)))
    broken[1] = 0x1000
    assert loader.load_address(broken) == INVALID_IMAGE
    broken[1] = 0xFFFFFFFFFFFFF000
    assert loader.load_address(broken) == INVALID_IMAGE


def test_text_that_is_none(loader: Loader) -> None:
    assert loader.load(b"\x01\x02\x03binary") == INVALID_IMAGE
    assert loader.load(b"\0") == INVALID_IMAGE


def test_damaged_fatbins_end_in_an_error(loader: Loader, capfd: pytest.CaptureFixture[str]) -> None:
    """Every header byte changed, and random damage: an answer each time, and no crash."""
    whole = fatbin(entry(b"\x7fELF" + bytes(20), KIND_ELF), entry(b"z" * 40, flags=0x11 | ZSTD, full=99), entry(PTX))
    allowed = {0, INVALID_IMAGE, NO_BINARY, NO_COMPILER}
    rng = random.Random(7)
    headers = [i for i in range(len(whole)) if i < 80 or 104 <= i < 168 or 208 <= i < 272]
    for i in headers:
        for value in (0, 0xFF, whole[i] ^ 0x40):
            damaged = bytearray(whole)
            damaged[i] = value
            assert loader.load(bytes(damaged)) in allowed, (i, value)
    for _ in range(300):
        damaged = bytearray(whole)
        for _ in range(rng.randrange(1, 8)):
            damaged[rng.randrange(4, len(damaged))] = rng.randrange(256)
        assert loader.load(bytes(damaged)) in allowed
    capfd.readouterr()


def test_truncated_files(shim: SimpleNamespace, loader: Loader, tmp_path: object, context: object) -> None:
    """Of a file the size is known: every truncation of the container is noticed."""
    whole = fatbin(entry(b"\x7fELF" + bytes(20), KIND_ELF), entry(PTX))
    module = shim.ffi.new("CUmodule *")
    for size in range(1, len(whole)):
        path = tmp_path / "image"  # type: ignore[operator]
        path.write_bytes(whole[:size])
        assert shim.cuda.cuModuleLoad(module, str(path).encode()) in (INVALID_IMAGE, NO_COMPILER), size
    path.write_bytes(whole)
    assert shim.cuda.cuModuleLoad(module, str(path).encode()) == 0
    assert shim.cuda.cuModuleLoad(module, b"/nonexistent/file") == 301
