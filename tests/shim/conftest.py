"""The shim in this process, over a stub HIP library and a cache of ready-made entries: no translator, no GPU."""

from __future__ import annotations

import hashlib
import os
import struct
import subprocess
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import cffi
import pytest

from ptx2amd import native
from shim.generate import cdef

HERE = Path(__file__).resolve().parent
BUILD_ID = "shim-tests"
PTX = b".version 8.0\n.target sm_80\n.address_size 64\n// a module of the tests\n"
ELF = b"\x7fELF" + bytes(60)

STUB = """
struct launch { void *function; unsigned grid[3], block[3], shared; void *stream; size_t size; char bytes[4096]; };
extern struct launch stub_last;
extern int stub_launches, stub_fail;
uint64_t stub_environment(int i);
"""


def write_entry(cache: Path, key_text: str, text: str, payload: bytes = b"") -> None:
    """A cache entry as docs/architecture.md has it, written without the project's own code."""
    key = hashlib.blake2b(key_text.encode(), digest_size=32).hexdigest()
    body = text.encode() + payload
    head = b"P2AENT01" + struct.pack("<IIQ", len(text.encode()), 0, len(payload))
    path = cache / key[:2] / f"{key}.p2a"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(head + hashlib.blake2b(body, digest_size=32).digest() + body)


def module_id(image: bytes) -> str:
    return hashlib.blake2b(image, digest_size=32).hexdigest()


def write_index(cache: Path, image: bytes, text: str, payload: bytes = b"") -> None:
    write_entry(cache, f"index\n{module_id(image)}\n{BUILD_ID}\n", text, payload)


def write_kernel(cache: Path, image: bytes, name: str, **values: object) -> None:
    given = {"kernel": name, "arch": "gfx942", "mapping": "paired", "wave": 64, "max_threads": 1024, "static_shared": 0,
             "local": 0, "vgprs": 24, "sgprs": 16, "env": 0, "time_ms": 1, **values}
    text = "".join(f"{key} {value}\n" for key, value in given.items())
    write_entry(cache, f"kernel\n{module_id(image)}\n{BUILD_ID}\ngfx942\n\n{name}\n", text, ELF)


@pytest.fixture(scope="session")
def stub_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("stub") / "libstub_hip.so"
    subprocess.run(["gcc", "-shared", "-fPIC", "-Wall", "-Wextra", "-Werror", str(HERE / "stub_hip.c"), "-o", str(path)],
                   check=True)
    return path


@pytest.fixture(scope="session")
def environment(stub_path: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    base = tmp_path_factory.mktemp("shim")
    return {"PTX2AMD_HIP_LIBRARY": str(stub_path), "PTX2AMD_CACHE_DIR": str(base / "cache"),
            "PTX2AMD_RUNTIME_DIR": str(base / "run"), "PTX2AMD_BUILD_ID": BUILD_ID, "PTX2AMD_PYTHON": "/bin/false",
            "PTX2AMD_TRACE": ""}


@pytest.fixture(scope="session")
def shim(environment: dict[str, str], stub_path: Path) -> SimpleNamespace:
    """ffi, cuda (the library), stub, cache directory; initialised."""
    library = native.DIRECTORY / "libcuda.so.1"
    if not library.exists():
        native.build(["shim"])
    os.environ.update(environment)
    ffi = cffi.FFI()
    ffi.cdef(cdef())
    stub_ffi = cffi.FFI()
    stub_ffi.cdef(STUB)
    cuda = ffi.dlopen(str(library))
    assert cuda.cuInit(0) == 0
    return SimpleNamespace(ffi=ffi, cuda=cuda, stub=stub_ffi.dlopen(str(stub_path)), stub_ffi=stub_ffi, path=library,
                           cache=Path(environment["PTX2AMD_CACHE_DIR"]))


@pytest.fixture
def context(shim: SimpleNamespace) -> Iterator[object]:
    """The primary context, current; gone afterwards."""
    handle = shim.ffi.new("CUcontext *")
    assert shim.cuda.cuDevicePrimaryCtxRetain(handle, 0) == 0
    assert shim.cuda.cuCtxSetCurrent(handle[0]) == 0
    shim.stub.stub_fail = 0
    yield handle[0]
    shim.stub.stub_fail = 0
    shim.cuda.cuCtxSetCurrent(shim.ffi.NULL)
    shim.cuda.cuDevicePrimaryCtxRelease_v2(0)


INDEX = """ptx 8 0
target sm_75
segment 64 16
kernel scale
param 0 8 8
param 8 4 4
param 16 24 8
maxthreads 256
static_shared 1024
kernel plain
kernel strange
global counter 0 4 global
global table 16 16 const
global pointer 32 8 global
reloc 32 16
refused strange uses an instruction that nobody has
"""


@pytest.fixture(scope="session")
def image(shim: SimpleNamespace) -> bytes:
    """PTX text whose index and kernels (scale, plain) lie in the cache."""
    write_index(shim.cache, PTX, INDEX, struct.pack("<I", 7) + bytes(12) + bytes(range(16)))
    write_kernel(shim.cache, PTX, "scale", max_threads=512, static_shared=1024, env=1)
    write_kernel(shim.cache, PTX, "plain", local=48)
    return PTX


@pytest.fixture
def module(shim: SimpleNamespace, context: object, image: bytes) -> object:
    handle = shim.ffi.new("CUmodule *")
    assert shim.cuda.cuModuleLoadData(handle, image) == 0
    return handle[0]


@pytest.fixture
def kernel(shim: SimpleNamespace, module: object) -> object:
    handle = shim.ffi.new("CUfunction *")
    assert shim.cuda.cuModuleGetFunction(handle, module, b"scale") == 0
    return handle[0]
