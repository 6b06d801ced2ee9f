"""Runs kernels on the engine beneath the HIP API: assembly or HIP source to code object to memory to dispatch."""

from __future__ import annotations

import ctypes
import shutil
import struct
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np

from ptx2amd import native
from ptx2amd.vgpu.isa.op import REPRESENTATIVES

FAULTS = (
    "none", "illegal", "unimplemented", "memory", "misaligned", "lds", "scratch", "trap", "deadlock", "runaway",
    "bad launch", "bad jump", "register",
)  # fmt: skip


class EngineFault(Exception):
    """The dispatch ended with a fault."""

    def __init__(self, kind: int, text: str) -> None:
        super().__init__(text)
        self.kind = FAULTS[kind]


@cache
def library() -> ctypes.CDLL:
    lib = ctypes.CDLL(str(native.DIRECTORY / "libptx2amd_vgpu.so"))
    lib.ptx2amd_vgpu_adopt.restype = ctypes.c_void_p
    lib.ptx2amd_vgpu_adopt.argtypes = [ctypes.c_void_p, ctypes.c_uint64, ctypes.c_int]
    lib.ptx2amd_vgpu_forget.argtypes = [ctypes.c_void_p]
    lib.ptx2amd_vgpu_code.restype = ctypes.c_void_p
    lib.ptx2amd_vgpu_code.argtypes = [ctypes.c_char_p, ctypes.c_uint64, ctypes.c_uint64]
    lib.ptx2amd_vgpu_code_free.argtypes = [ctypes.c_void_p]
    lib.ptx2amd_vgpu_dispatch.argtypes = [
        ctypes.c_void_p, ctypes.c_uint64, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint32, ctypes.c_uint32,
        ctypes.c_uint64, ctypes.c_uint64, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_void_p,
    ]  # fmt: skip
    lib.ptx2amd_vgpu_describe.argtypes = [
        ctypes.c_char_p, ctypes.c_uint, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t,
    ]  # fmt: skip
    return lib


def describe(arch: str, words: Sequence[int], lanes: int = 64) -> tuple[int, str]:
    """(length in dwords, 0 unknown, negative without handler; description). A generation means its representative."""
    arch = REPRESENTATIVES.get(arch, arch)
    data = (ctypes.c_uint32 * len(words))(*words)
    text = ctypes.create_string_buffer(512)
    n = library().ptx2amd_vgpu_describe(arch.encode(), lanes, data, len(words), text, 512)
    return n, text.value.decode()


ZIG = (sys.executable, "-m", "ziglang")


def assemble(text: str, arch: str) -> bytes:
    """A relocatable object from assembly text, by LLVM 22."""
    with tempfile.TemporaryDirectory() as d:
        source, out = Path(d, "x.s"), Path(d, "x.o")
        source.write_text(text)
        command = [*ZIG, "clang", "-target", "amdgcn-amd-amdhsa", f"-mcpu={arch}", "-c", str(source), "-o", str(out)]
        subprocess.run(command, check=True, capture_output=True)
        return out.read_bytes()


def assemble_code_object(text: str, arch: str) -> bytes:
    """A linked code object from assembly text."""
    return link([assemble(text, arch)])


def link(objects: Sequence[bytes]) -> bytes:
    """A code object of relocatable ones."""
    with tempfile.TemporaryDirectory() as d:
        sources, out = [Path(d, f"{n}.o") for n in range(len(objects))], Path(d, "x.hsaco")
        for source, content in zip(sources, objects, strict=True):
            source.write_bytes(content)
        command = [*ZIG, "ld.lld", "-m", "elf64_amdgpu", "-shared", *map(str, sources), "-o", str(out)]
        subprocess.run(command, check=True, capture_output=True)
        return out.read_bytes()


def kernel_text(
    body: str,
    arch: str,
    *,
    kernarg: int = 16,
    lds: int = 0,
    private: int = 0,
    vgprs: int = 32,
    sgprs: int = 32,
    accum: int | None = None,
    extra: str = "",
    name: str = "k",
) -> str:
    """Assembly of one kernel. On entry: s[0:1] argument pointer, s2 s3 s4 workgroup, v0 packed work-item."""
    wave32 = arch.startswith("gfx1")
    lines = [
        f'.amdgcn_target "amdgcn-amd-amdhsa--{arch}"', ".text", f".globl {name}", ".p2align 8",
        f".type {name},@function", f"{name}:", body, "s_endpgm", f".size {name}, .-{name}", ".rodata", ".p2align 6",
        f".amdhsa_kernel {name}", f".amdhsa_group_segment_fixed_size {lds}",
        f".amdhsa_private_segment_fixed_size {private}", f".amdhsa_kernarg_size {kernarg}",
        ".amdhsa_user_sgpr_kernarg_segment_ptr 1", ".amdhsa_system_sgpr_workgroup_id_y 1",
        ".amdhsa_system_sgpr_workgroup_id_z 1", ".amdhsa_system_vgpr_workitem_id 2",
        f".amdhsa_next_free_vgpr {vgprs}", f".amdhsa_next_free_sgpr {sgprs}",
    ]  # fmt: skip
    if arch in ("gfx90a", "gfx942", "gfx950"):
        lines.append(f".amdhsa_accum_offset {accum or (vgprs + 3) // 4 * 4}")
    if private:
        lines.append(".amdhsa_enable_private_segment 1" if arch in ("gfx942", "gfx950") or wave32
                     else ".amdhsa_system_sgpr_private_segment_wavefront_offset 1")  # fmt: skip
    if wave32:
        lines.append(".amdhsa_wavefront_size32 1")
    return "\n".join([*lines, extra, ".end_amdhsa_kernel"]) + "\n"


def have_clang19() -> bool:
    return shutil.which("clang-19") is not None


def compile_hip(source: str, arch: str, *flags: str) -> bytes:
    """A code object from HIP source by Debian's clang-19: a producer that is not ours."""
    with tempfile.TemporaryDirectory() as d:
        path, out = Path(d, "k.hip"), Path(d, "k.hsaco")
        path.write_text(source)
        command = ["clang-19", "-x", "hip", f"--offload-arch={arch}", "--cuda-device-only", "--no-gpu-bundle-output",
                   "-nogpulib", "-nogpuinc", "-O3", *flags, str(path), "-o", str(out)]  # fmt: skip
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(done.stderr)
        return out.read_bytes()


class CodeObject:
    """A code object in memory."""

    def __init__(self, elf: bytes, arch: str) -> None:
        (phoff,) = struct.unpack_from("<Q", elf, 32)
        phentsize, phnum = struct.unpack_from("<HH", elf, 54)
        segments = []
        for k in range(phnum):
            kind, flags, offset, vaddr, _, filesz, memsz, _ = struct.unpack_from(
                "<IIQQQQQQ", elf, phoff + k * phentsize
            )
            if kind == 1:
                segments.append((flags, offset, vaddr, filesz, memsz))
        size = max(v + m for _, _, v, _, m in segments)
        self.memory = np.zeros(size + 8192, np.uint8)
        self.base = (self.memory.ctypes.data + 4095) & ~4095
        for _, offset, vaddr, filesz, _ in segments:
            ctypes.memmove(self.base + vaddr, elf[offset : offset + filesz], filesz)
        self.symbols = symbols_of(elf)
        self._relocate(elf)
        text = next(s for s in segments if s[0] & 1)
        self.block = library().ptx2amd_vgpu_adopt(self.base, size, 0)
        self.code = library().ptx2amd_vgpu_code(arch.encode(), self.base + text[2], text[3])
        assert self.block and self.code, arch

    def __del__(self) -> None:
        if getattr(self, "code", None):
            library().ptx2amd_vgpu_code_free(self.code)
            library().ptx2amd_vgpu_forget(self.block)

    def _relocate(self, elf: bytes) -> None:
        absolute, relative = 3, 13
        symbols = _dynamic(elf, 11)
        for section in _dynamic(elf, 4):
            for at in range(section[4], section[4] + section[5], 24):
                offset, kind, symbol, addend = struct.unpack_from("<QIIq", elf, at)
                value = self.base + addend
                if kind == absolute:
                    value += struct.unpack_from("<Q", elf, symbols[0][4] + symbol * 24 + 8)[0]
                elif kind != relative:
                    raise ValueError(f"relocation {kind}")
                ctypes.c_uint64.from_address(self.base + offset).value = value

    def run(
        self,
        kernel: str,
        grid: Sequence[int],
        block: Sequence[int],
        arguments: Sequence[object] = (),
        *,
        dynamic_lds: int = 0,
        max_instructions: int = 0,
        private: int = 0,
    ) -> int:
        """Runs a kernel; arrays are passed by address and updated in place. Returns instructions executed."""
        lib = library()
        kernarg = np.zeros(1024, np.uint8)
        blocks = []
        at = 0
        grid3, block3 = [*grid, 1, 1][:3], [*block, 1, 1][:3]
        for value in arguments:
            if isinstance(value, np.ndarray):
                data = struct.pack("<Q", value.ctypes.data)
                blocks.append(lib.ptx2amd_vgpu_adopt(value.ctypes.data, value.nbytes, int(not value.flags.writeable)))
            elif isinstance(value, bytes):  # a struct of 4-byte members
                data = value
            else:
                data = np.asarray(value).tobytes() if not isinstance(value, int) else struct.pack("<i", value)
            align = 4 if isinstance(value, bytes) else len(data)
            at = (at + align - 1) // align * align
            kernarg[at : at + len(data)] = np.frombuffer(data, np.uint8)
            at += len(data)
        at = (at + 7) // 8 * 8  # hidden arguments of code object v5
        hidden = struct.pack("<IIIHHHHHH", *grid3, *block3, 0, 0, 0)
        kernarg[at : at + len(hidden)] = np.frombuffer(hidden, np.uint8)
        blocks.append(lib.ptx2amd_vgpu_adopt(kernarg.ctypes.data, kernarg.nbytes, 1))
        assert all(blocks), "memory overlaps"
        text = ctypes.create_string_buffer(600)
        count = ctypes.c_uint64()
        try:
            kind = lib.ptx2amd_vgpu_dispatch(
                self.code, self.base + self.symbols[kernel + ".kd"], (ctypes.c_uint32 * 3)(*grid3),
                (ctypes.c_uint32 * 3)(*block3), dynamic_lds, private, kernarg.ctypes.data, max_instructions, text, 600,
                ctypes.byref(count),
            )  # fmt: skip
        finally:
            for b in blocks:
                lib.ptx2amd_vgpu_forget(b)
        if kind:
            raise EngineFault(kind, text.value.decode())
        return count.value


def _dynamic(elf: bytes, kind: int) -> list[tuple[int, ...]]:
    """Section headers of a type."""
    (shoff,) = struct.unpack_from("<Q", elf, 40)
    shentsize, shnum = struct.unpack_from("<HH", elf, 58)
    headers = [struct.unpack_from("<IIQQQQIIQQ", elf, shoff + k * shentsize) for k in range(shnum)]
    return [h for h in headers if h[1] == kind]


def symbols_of(elf: bytes) -> dict[str, int]:
    (shoff,) = struct.unpack_from("<Q", elf, 40)
    (shentsize,) = struct.unpack_from("<H", elf, 58)
    found = {}
    for s in _dynamic(elf, 11):
        strings = struct.unpack_from("<IIQQQQIIQQ", elf, shoff + s[6] * shentsize)[4]
        for at in range(s[4], s[4] + s[5], 24):
            name, _, _, _, value, _ = struct.unpack_from("<IBBHQQ", elf, at)
            end = elf.index(b"\0", strings + name)
            found[elf[strings + name : end].decode()] = value
    return found
