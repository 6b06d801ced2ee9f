"""Damaged containers handed to libcuda.so.1, under ASan and UBSan: each is refused or loaded, and nothing is read
beyond the memory that holds it, though nobody says how long it is."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests import ROOT
from tests.test_sanitizers import KINDS, SUPPRESSED, library

# In a process of its own: each mutant ends where a page that cannot be read begins.
PROGRAM = r"""
import ctypes as c, mmap, random, sys
from tests.fuzz.container_mutants import mutants
from tests.bad_input.driver import Driver
first, count = map(int, sys.argv[1:3])
libc = c.CDLL(None, use_errno=True)
libc.mmap.restype, libc.mmap.argtypes = c.c_void_p, [c.c_void_p, c.c_size_t, c.c_int, c.c_int, c.c_int, c.c_long]
libc.mprotect.argtypes = [c.c_void_p, c.c_size_t, c.c_int]
ROOM = 1 << 20
area = libc.mmap(None, ROOM + mmap.PAGESIZE, 3, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, -1, 0)
assert not libc.mprotect(area + ROOM, mmap.PAGESIZE, 0)
cu, results = Driver().start(), {}
def told(function, *arguments):
    result = getattr(cu.library, function)(*arguments)
    results[result] = results.get(result, 0) + 1
    return result
for _, blob in zip(range(count), mutants(random.Random(first))):
    if not blob or len(blob) > ROOM: continue
    data = c.c_void_p(area + ROOM - len(blob))
    c.memmove(data, blob, len(blob))
    module, handle, state = c.c_void_p(), c.c_void_p(), c.c_void_p()
    if not told("cuModuleLoadData", c.byref(module), data): cu.cuModuleUnload(module)
    if not told("cuModuleLoadFatBinary", c.byref(module), data): cu.cuModuleUnload(module)
    if not told("cuLibraryLoadData", c.byref(handle), data, None, None, 0, None, None, 0): cu.cuLibraryUnload(handle)
    cu.cuLinkCreate_v2(0, None, None, c.byref(state))
    for kind in (1, 2, 3, 4):
        told("cuLinkAddData_v2", state, kind, data, c.c_size_t(len(blob)), b"mutant", 0, None, None)
    cu.cuLinkDestroy(state)
print("done", results)
"""


def load(first: int, count: int, folder: Path) -> str:
    """Load mutants; what went wrong, or ""."""
    file = subprocess.run(["gcc", "-print-file-name=libasan.so"], capture_output=True, text=True, check=True)
    (folder / "suppressions").write_text(SUPPRESSED)
    options = f"{KINDS['address'].options['ASAN_OPTIONS']}:log_path={folder / 'report'}"
    environment = {
        **os.environ,
        "LD_PRELOAD": file.stdout.strip(),
        "LD_LIBRARY_PATH": str(library("address")),
        "ASAN_OPTIONS": f"{options}:suppressions={folder / 'suppressions'}",
        "UBSAN_OPTIONS": f"print_stacktrace=1:log_path={folder / 'report'}",
        "PTX2AMD_DEVICE": "vgpu:gfx942",
        "PTX2AMD_CACHE": "0",
        "PTX2AMD_RUNTIME_DIR": str(folder / "nowhere" / "at" / "all"),  # no service: containers only
    }
    command = [sys.executable, "-c", PROGRAM, str(first), str(count)]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=900)
    found = "".join(path.read_text()[:4000] for path in sorted(folder.glob("report*")))
    return found if found or "done" in done.stdout else f"status {done.returncode}: {done.stderr[-3000:]}"


@pytest.mark.slow
@pytest.mark.parametrize("first", range(200, 220))
def test_damaged_containers_are_loaded_or_refused(first: int, tmp_path: Path) -> None:
    assert not load(first, 10_000, tmp_path)
