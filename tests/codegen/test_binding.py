"""LLVM through llvmlite's library: several threads at once, text that is no IR, and the user's malloc."""

from __future__ import annotations

import locale
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from ptx2amd.codegen import binding
from ptx2amd.codegen.llvm import emit
from ptx2amd.target import ARCHS, Target


def ir(number: int) -> str:
    """A kernel with a few hundred instructions, different for each number."""
    lines = ["  %v0 = load i32, ptr addrspace(1) %p, align 4"]
    for i in range(300):
        lines.append(f"  %v{i + 1} = {('mul', 'add', 'xor')[(i + number) % 3]} i32 %v{i}, {7 * i + number}")
    body = "\n".join([*lines, "  store i32 %v300, ptr addrspace(1) %p, align 4", "  ret void"])
    return f"define amdgpu_kernel void @k{number}(ptr addrspace(1) %p) {{\n{body}\n}}\n"


def test_threads_have_the_results_of_one() -> None:
    target = Target(ARCHS["gfx942"], "paired")
    texts = [ir(n) for n in range(100)]
    alone, known = [emit(text, target) for text in texts[::10]], locale.setlocale(locale.LC_ALL)
    with ThreadPoolExecutor(8) as threads:
        assert len(set(threads.map(lambda text: str(binding.Module(text)), texts * 10))) == 100
        assert list(threads.map(lambda text: emit(text, target), texts[::10])) == alone
    assert locale.setlocale(locale.LC_ALL) == known  # which llvmlite changes while it prints


def test_text_that_is_no_ir() -> None:
    for _ in range(3):  # and what is left of it is no harm
        with pytest.raises(RuntimeError, match="expected"):
            binding.Module("define void @f( {")


USERS_OWN = """
import ctypes
from ptx2amd.codegen import binding
from ptx2amd.translate import translate

class Info(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in "arena ordblks smblks hblks".split()] + [("_", 6 * ctypes.c_size_t)]

c = ctypes.CDLL(None)
c.mallinfo2.restype = Info
c.malloc.restype = ctypes.c_void_p

def from_the_system(size):
    before = c.mallinfo2().hblks
    c.malloc(ctypes.c_size_t(size))
    return c.mallinfo2().hblks - before

LARGE = 40 << 20  # above glibc's own highest threshold
ptx = ".version 7.0\\n.target sm_52\\n.address_size 64\\n.visible .entry empty() { ret; }\\n"
assert translate(ptx, "empty.ptx", ["gfx942"], mode="module")[0].code and binding._library.cache_info().currsize
print(from_the_system(LARGE))
binding.keep_memory()
print(from_the_system(LARGE))
"""


def test_a_users_own_malloc_stays_as_it_is() -> None:
    """A program that translates in its own process gives large pieces back to the system; only the translator's
    own processes keep them."""
    done = subprocess.run([sys.executable, "-c", USERS_OWN], capture_output=True, text=True)
    assert done.stdout.split() == ["1", "0"], done.stdout + done.stderr
