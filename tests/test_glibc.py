"""The native libraries run on glibc 2.28. Protects against a newer function, or a newer version of one, that the
machine of a build brings in; and against files of the program that the translation service keeps open without them."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from ptx2amd import native

NEWEST = (2, 28)
ELF = [path for path in sorted(native.DIRECTORY.rglob("*")) if path.is_file() and path.read_bytes()[:4] == b"\x7fELF"]
CLIENT = """
import ctypes, sys
cuda, text = ctypes.CDLL(sys.argv[1]), sys.argv[2].encode()
device, context, module, function = (ctypes.c_void_p() for _ in range(4))
for result in (cuda.cuInit(0), cuda.cuDeviceGet(ctypes.byref(device), 0),
               cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0), cuda.cuCtxSetCurrent(context),
               cuda.cuModuleLoadData(ctypes.byref(module), text),
               cuda.cuModuleGetFunction(ctypes.byref(function), module, b"k"),
               cuda.cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, None, None, None), cuda.cuCtxSynchronize()):
    assert result == 0, result
"""
WITHOUT = "int posix_spawn_file_actions_addclosefrom_np(void *actions, int from) { return 38; } /* ENOSYS */"


def needed(path: Path) -> list[tuple[int, ...]]:
    """The versions of glibc's symbols that a library needs."""
    listing = subprocess.run(["readelf", "-W", "-V", path], check=True, capture_output=True, text=True).stdout
    return [tuple(map(int, text.split("."))) for text in re.findall(r"Name: GLIBC_([0-9.]+)", listing)]


@pytest.mark.parametrize("path", ELF, ids=lambda path: path.name)
def test_symbols_are_not_newer(path: Path) -> None:
    assert max(needed(path), default=(2,)) <= NEWEST


def test_the_libraries_of_threads_and_of_the_loader_are_named() -> None:
    """Before glibc 2.34 dlopen and pthread_create are in these."""
    assert len(ELF) > 20
    dynamic = subprocess.run(["readelf", "-d", native.DIRECTORY / "libcuda.so.1"], capture_output=True, text=True)
    assert {"libdl.so.2", "libpthread.so.0"} <= set(re.findall(r"\[(.*?)\]", dynamic.stdout))


@pytest.mark.parametrize("newer", [True, False], ids=["addclosefrom", "without"])
def test_the_service_has_no_files_of_the_program(tmp_path: Path, newer: bool) -> None:
    ptx = ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry k() { ret; }\n"
    preload = tmp_path / "without.so"
    subprocess.run(["gcc", "-shared", "-fPIC", "-x", "c", "-", "-o", preload], input=WITHOUT, text=True, check=True)
    read, write = os.pipe()
    pipe = os.readlink(f"/proc/self/fd/{write}")
    with tempfile.TemporaryDirectory() as runtime:
        own = {"PTX2AMD_CACHE_DIR": str(tmp_path / "cache"), "PTX2AMD_RUNTIME_DIR": runtime, "PTX2AMD_DEVICE": "vgpu"}
        own |= {"PTX2AMD_PYTHON": sys.executable} | ({} if newer else {"LD_PRELOAD": str(preload)})
        client = [sys.executable, "-c", CLIENT, str(native.DIRECTORY / "libcuda.so.1"), ptx]
        subprocess.run(client, env={**os.environ, **own}, pass_fds=(write,), check=True, timeout=120)
        os.close(write), os.close(read)
        started = [folder for folder in Path("/proc").glob("[0-9]*") if runtime in _text(folder / "environ")]
        try:
            assert any(b"ptx2amd.service" in (folder / "cmdline").read_bytes() for folder in started)
            links = {os.readlink(link) for folder in started for link in (folder / "fd").iterdir()}
            assert links and pipe not in links
        finally:
            for folder in started:
                os.kill(int(folder.name), signal.SIGTERM)


def _text(path: Path) -> str:
    try:
        return path.read_bytes().decode(errors="replace")
    except OSError:  # ended, or another user's
        return ""
