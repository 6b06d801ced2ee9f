"""Assemble AMDGPU instructions with LLVM and run them on the software GPU's register state."""

from __future__ import annotations

import struct
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import cffi
import numpy as np

from ptx2amd import native
from ptx2amd.vgpu.isa.encoding import DECODERS
from ptx2amd.vgpu.isa.op import REPRESENTATIVES

ROWS = 576  # VGPR_ROWS of wave.h
#: What the assembler is told, by generation of the tables.
CHIPS = REPRESENTATIVES | {arch: arch for arch in DECODERS}
#: MODE as a HIP kernel starts: nearest even, denormals kept, DX10_CLAMP and IEEE on.
MODE = 0x3F0


@cache
def best_level(level: str) -> str:
    """The level itself, or the highest below it that this processor has."""
    flags = set(Path("/proc/cpuinfo").read_text().split())
    needs = {"v2": set(), "v3": {"avx2", "fma", "f16c", "bmi2"}, "v4": {"avx512f", "avx512bw", "avx512dq", "avx512vl"}}
    below = [k for k in ("v4", "v3", "v2") if k <= level]
    return next(k for k in below if needs[k] <= flags and (k == "v2" or needs["v3"] <= flags))


@cache
def library() -> tuple[cffi.FFI, object]:
    """The software GPU with its single-instruction entry."""
    ffi = cffi.FFI()
    ffi.cdef(
        "int ptx2amd_vgpu_execute(const char *arch, unsigned lanes, const char *level, const uint32_t *code,"
        " size_t dwords, uint32_t *v, uint32_t *s, uint32_t mode);"
    )
    return ffi, ffi.dlopen(str(native.DIRECTORY / "libptx2amd_vgpu.so"))


def sections(elf: bytes) -> dict[str, bytes]:
    """Contents of an ELF file's sections by name."""
    offset, size, count, names = (
        struct.unpack_from("<Q", elf, 40)[0],
        *struct.unpack_from("<HHH", elf, 58),
    )
    heads = [struct.unpack_from("<IIQQQQ", elf, offset + k * size) for k in range(count)]
    strings = heads[names][4]
    result = {}
    for name, _, _, _, at, length in heads:
        end = elf.index(b"\0", strings + name)
        result[elf[strings + name : end].decode()] = elf[at : at + length]
    return result


def assemble(generation: str, lines: list[str], lanes: int = 0) -> list[bytes]:
    """Machine code of each line (for waves of 64 lanes on GFX11 if asked), by LLVM's assembler.

    ValueError with its message where it refuses one."""
    text = [".text", *(f"L{k}: {line}" for k, line in enumerate(lines)), f"L{len(lines)}:", ".section .sizes"]
    text += [f".long L{k + 1}-L{k}" for k in range(len(lines))]
    with tempfile.TemporaryDirectory() as directory:
        source, target = Path(directory) / "x.s", Path(directory) / "x.o"
        source.write_text("\n".join(text) + "\n")
        command = [sys.executable, "-m", "ziglang", "clang", "-target", "amdgcn-amd-amdhsa"]
        command += [f"-mcpu={CHIPS[generation]}", "-c", str(source), "-o", str(target)]
        if lanes == 64 and generation not in ("gfx9", "gfx942", "gfx950"):
            command.append("-mwavefrontsize64")
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise ValueError(done.stderr)
        found = sections(target.read_bytes())
    sizes = struct.unpack(f"<{len(lines)}I", found[".sizes"])
    code, result = found[".text"], []
    for n in sizes:
        result.append(code[:n])
        code = code[n:]
    return result


@dataclass
class State:
    """Registers of one wave: v[row, lane], s[index]."""

    lanes: int
    v: np.ndarray = field(init=False)
    s: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        self.v = np.zeros((ROWS, self.lanes), np.uint32)
        self.s = np.zeros(128, np.uint32)
        self.exec = (1 << self.lanes) - 1

    def mask(self, index: int) -> int:
        """A lane mask register."""
        value = int(self.s[index])
        return value | int(self.s[index + 1]) << 32 if self.lanes == 64 else value

    def set_mask(self, index: int, value: int) -> None:
        self.s[index] = value & 0xFFFFFFFF
        if self.lanes == 64:
            self.s[index + 1] = value >> 32

    @property
    def exec(self) -> int:
        return self.mask(126)

    @exec.setter
    def exec(self, value: int) -> None:
        self.set_mask(126, value)

    def set64(self, row: int, values: np.ndarray) -> None:
        """64-bit lane values into a register pair."""
        bits = np.ascontiguousarray(values).view(np.uint64)
        self.v[row] = bits & 0xFFFFFFFF
        self.v[row + 1] = bits >> 32

    def get64(self, row: int) -> np.ndarray:
        return self.v[row].astype(np.uint64) | self.v[row + 1].astype(np.uint64) << np.uint64(32)


STATUS = {1: "no such build", 2: "unknown or unimplemented instruction", 3: "fault"}


def execute(generation: str, code: bytes, state: State, mode: int = MODE, level: str = "v3") -> None:
    """Run machine code on the state. RuntimeError where an instruction is unknown."""
    ffi, lib = library()
    state.v = np.ascontiguousarray(state.v)
    status = lib.ptx2amd_vgpu_execute(  # type: ignore[attr-defined]
        CHIPS[generation].encode(), state.lanes, best_level(level).encode(), ffi.from_buffer("uint32_t[]", code),
        len(code) // 4,
        ffi.cast("uint32_t *", state.v.ctypes.data), ffi.cast("uint32_t *", state.s.ctypes.data), mode,
    )  # fmt: skip
    if status:
        raise RuntimeError(STATUS[status])
