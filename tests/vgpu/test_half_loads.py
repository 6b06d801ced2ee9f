"""Loads of half a register: chips with SRAM ECC clear the other half, the others keep it. Compilers count on either.

Protects: every form of load, address space and chip, in each part of the engine."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from ptx2amd.vgpu.isa.flat import LOADS
from tests import ROOT
from tests.vgpu.descriptors import buffer
from tests.vgpu.engine import CodeObject, assemble_code_object, kernel_text
from tests.vgpu.test_memory_instructions import SRAM_ECC
from tests.vgpu.test_tearing import SETTINGS

CHIPS = (*SRAM_ECC, "gfx900", "gfx1030", "gfx1100", "gfx1151")
DS = {kind: (new, old) for new, old, kind in (
    ("load_u8_d16", "read_u8_d16", "LOAD_D16_U8"), ("load_i8_d16", "read_i8_d16", "LOAD_D16_I8"),
    ("load_u16_d16", "read_u16_d16", "LOAD_D16"), ("load_u8_d16_hi", "read_u8_d16_hi", "LOAD_D16_HI_U8"),
    ("load_i8_d16_hi", "read_i8_d16_hi", "LOAD_D16_HI_I8"), ("load_u16_d16_hi", "read_u16_d16_hi", "LOAD_D16_HI"),
)}  # fmt: skip
KINDS = tuple(DS)
ROUNDS = 30  # of which the first are not native code


def loads(arch: str) -> list[tuple[str, str]]:
    """(kind, instruction) for each form in each space: from v1 (an offset), v[2:3] or v[4:5] (an address) to v8."""
    newer = arch.startswith("gfx11")
    found = []
    for new, old, kind, _ in LOADS:
        if kind in KINDS:
            name = new if newer else old
            found += [
                (kind, f"global_{name} v8, v1, s[4:5]"),
                (kind, f"flat_{name} v8, v[2:3]"),
                (kind, f"flat_{name} v8, v[4:5]"),
                (kind, f"ds_{DS[kind][not newer]} v8, v1"),
                (kind, f"buffer_{name} v8, v1, s[16:19], 0 offen"),
            ]
            if arch in ("gfx942", "gfx950") or newer:
                found.append((kind, f"scratch_{name} v8, off, off"))
    name = ("load_d16_format_x", "load_d16_hi_format_x") if newer else ("load_format_d16_x", "load_format_d16_hi_x")
    found.append(("LOAD_D16", f"buffer_{name[0]} v8, v0, s[20:23], 0 idxen"))
    found.append(("LOAD_D16_HI", f"buffer_{name[1]} v8, v0, s[20:23], 0 idxen"))
    return found


def kernel(arch: str) -> str:
    """Arguments: a dword a lane, each lane's register before, results, and a buffer's descriptor."""
    wave64 = not arch.startswith("gfx1")
    lanes, vcc = (64, "vcc") if wave64 else (32, "vcc_lo")
    carry = f"{'v_addc_co_u32' if wave64 else 'v_add_co_ci_u32'} v{{0}}, {vcc}, 0, v{{0}}, {vcc}"
    body = [
        "s_load_dwordx4 s[4:7], s[0:1], 0", "s_load_dwordx4 s[8:11], s[0:1], 16", "s_waitcnt lgkmcnt(0)",
        "s_load_dwordx4 s[20:23], s[10:11], 0", "s_mov_b64 s[16:17], s[4:5]", "s_mov_b32 s18, -1", "s_mov_b32 m0, -1",
        f"s_mov_b32 s19, {'0x00020000' if wave64 else '0x31016000'}", "v_and_b32 v0, 0x3ff, v0",
        "v_lshlrev_b32 v1, 2, v0", "v_mov_b32 v3, s5", f"v_add_co_u32 v2, {vcc}, s4, v1", carry.format(3),
        "s_mov_b64 s[14:15], src_shared_base", "v_mov_b32 v5, s15", f"v_add_co_u32 v4, {vcc}, s14, v1", carry.format(5),
        "global_load_dword v7, v1, s[6:7]", "global_load_dword v6, v1, s[4:5]", "s_waitcnt vmcnt(0) lgkmcnt(0)",
        f"{'ds_write_b32' if wave64 or arch == 'gfx1030' else 'ds_store_b32'} v1, v6",
    ]  # fmt: skip
    private = any("scratch" in text for _, text in loads(arch))
    if private:
        body.append("scratch_store_dword off, v6, off")
    body += ["s_waitcnt vmcnt(0) lgkmcnt(0)", f"s_movk_i32 s12, {ROUNDS}", "LOOP:", "v_mov_b32 v9, v1"]
    for _, text in loads(arch):
        body += ["v_mov_b32 v8, v7", text, "s_waitcnt vmcnt(0) lgkmcnt(0)", "global_store_dword v9, v8, s[8:9]"]
        body.append(f"v_add_u32 v9, {4 * lanes}, v9" if wave64 else f"v_add_nc_u32 v9, {4 * lanes}, v9")
    body += ["s_sub_u32 s12, s12, 1", "s_cmp_lg_u32 s12, 0", "s_cbranch_scc1 LOOP"]
    return kernel_text("\n".join(body), arch, kernarg=32, lds=4 * lanes, private=64 * private)


def wanted(kind: str, memory: np.ndarray, before: np.ndarray, clears: bool) -> np.ndarray:
    value = {"U8": memory & 0xFF, "I8": memory.view(np.int8)[::4].astype(np.int16).view(np.uint16).astype(np.uint32)}
    half = value.get(kind.rpartition("_")[2], memory & 0xFFFF)
    if "HI" in kind:
        return half << 16 | (0 if clears else before & 0xFFFF)
    return half | (0 if clears else before & 0xFFFF0000)


def wrong(arch: str) -> list[str]:
    """The instructions whose results are not as the chip's."""
    lanes = 64 if not arch.startswith("gfx1") else 32
    rng = np.random.default_rng(3)
    memory, before = rng.integers(0, 1 << 32, (2, lanes), np.uint32)
    memory &= 0xFFFFBFFF  # halves that are no NaN: formatted loads convert
    descriptor = np.array(buffer(arch, memory.ctypes.data, "16_uint", lanes), np.uint32)
    descriptor[1] += 2 << 16  # elements are 4 bytes apart
    out = np.zeros((len(loads(arch)), lanes), np.uint32)
    room = np.zeros(64, np.uint32)
    aligned = room[-room.ctypes.data % 64 // 4 :][:4]
    aligned[:] = descriptor[:4]
    CodeObject(assemble_code_object(kernel(arch), arch), arch).run("k", [1], [lanes], [memory, before, out, aligned])
    return [
        f"{text}: {out[n][:2]} not {wanted(kind, memory, before, arch in SRAM_ECC)[:2]}"
        for n, (kind, text) in enumerate(loads(arch))
        if not np.array_equal(out[n], wanted(kind, memory, before, arch in SRAM_ECC))
    ]


@pytest.mark.parametrize("setting", SETTINGS)
def test_other_half(setting: str) -> None:
    run = f"print(json.dumps([[a, t.wrong(a)] for a in {CHIPS!r}]))"
    code = f"import json; from tests.vgpu import test_half_loads as t; {run}"
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **SETTINGS[setting]}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert [found for found in json.loads(done.stdout) if found[1]] == []
