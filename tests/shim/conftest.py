"""The shim in this process, over a stub HIP library and a cache of ready-made entries: no translator, no GPU."""

from __future__ import annotations

import struct
import subprocess
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import cffi
import pytest

from ptx2amd import native
from ptx2amd.api.driver.libcuda import cdef
from tests.shim.cache_entries import BUILD_ID, INDEX, PTX, write_index, write_kernel

HERE = Path(__file__).resolve().parent

STUB = """
struct launch { void *function; unsigned grid[3], block[3], shared; void *stream; size_t size; char bytes[4096]; };
extern struct launch stub_last;
extern int stub_launches, stub_fail, stub_loads, stub_together, stub_under_way, stub_questions;
uint64_t stub_environment(int i);
"""


@pytest.fixture(scope="session")
def stub_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("stub") / "libstub_hip.so"
    subprocess.run(
        ["gcc", "-shared", "-fPIC", "-Wall", "-Wextra", "-Werror", str(HERE / "stub_hip.c"), "-o", str(path)],
        check=True,
    )
    return path


@pytest.fixture(scope="session")
def environment(stub_path: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    base = tmp_path_factory.mktemp("shim")
    return {
        "PTX2AMD_HIP_LIBRARY": str(stub_path),
        "PTX2AMD_CACHE_DIR": str(base / "cache"),
        "PTX2AMD_RUNTIME_DIR": str(base / "run"),
        "PTX2AMD_BUILD_ID": BUILD_ID,
        "PTX2AMD_PYTHON": "/bin/false",
        "PTX2AMD_TRACE": "",
    }


@pytest.fixture(scope="session")
def loaded(environment: dict[str, str], stub_path: Path) -> SimpleNamespace:
    """ffi, cuda (the library), stub, cache directory; initialised."""
    library = native.DIRECTORY / "libcuda.so.1"
    if not library.exists():
        native.build(["shim"])
    ffi = cffi.FFI()
    ffi.cdef(cdef())
    stub_ffi = cffi.FFI()
    stub_ffi.cdef(STUB)
    with pytest.MonkeyPatch.context() as patch:
        for name, value in environment.items():
            patch.setenv(name, value)
        cuda = ffi.dlopen(str(library))
        assert cuda.cuInit(0) == 0
    return SimpleNamespace(
        ffi=ffi,
        cuda=cuda,
        stub=stub_ffi.dlopen(str(stub_path)),
        stub_ffi=stub_ffi,
        path=library,
        cache=Path(environment["PTX2AMD_CACHE_DIR"]),
    )


@pytest.fixture
def shim(loaded: SimpleNamespace, environment: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """The loaded shim. It reads settings late: they hold for the tests that use it, not for others."""
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    return loaded


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


@pytest.fixture(scope="session")
def image(loaded: SimpleNamespace) -> bytes:
    """PTX text whose index and kernels (scale, plain) lie in the cache."""
    write_index(loaded.cache, PTX, INDEX, struct.pack("<I", 7) + bytes(12) + bytes(range(16)) + bytes(8))
    write_kernel(loaded.cache, PTX, "scale", max_threads=512, static_shared=1024, cells="0")
    write_kernel(loaded.cache, PTX, "plain", local=48, registers=128)
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
