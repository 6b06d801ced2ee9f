"""An aligned element of a lane, of up to 16 bytes, is loaded and stored in one piece, as other threads see it.

Protects: decoupled look-back, whose state has 16 bytes, and every flag with a value beside it. One workgroup writes
elements whose bytes are all alike, others read them: each form of access, width, pattern of addresses and part of the
engine. (Shared and private memory belong to one workgroup, which one thread runs.)
"""

from __future__ import annotations

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from tests import ROOT
from tests.vgpu.engine import CodeObject, assemble_code_object, kernel_text

SETTINGS = {
    "plain": {"PTX2AMD_VGPU_LEVEL": "v2"},
    "AVX2": {"PTX2AMD_VGPU_LEVEL": "v3", "PTX2AMD_VGPU_NATIVE": "0"},
    "AVX-512": {"PTX2AMD_VGPU_LEVEL": "v4", "PTX2AMD_VGPU_NATIVE": "0"},
    "native": {"PTX2AMD_VGPU_NATIVE": "always"},
}
ARCHS = {"gfx942": 64, "gfx1030": 32}
ROUNDS, READERS = 4000, 3
FORMS = ("saddr", "global", "flat", "buffer")
WIDTHS = {2: ("ushort", "short"), 4: ("dword",) * 2, 8: ("dwordx2",) * 2, 16: ("dwordx4",) * 2}  # bytes: load, store


def patterns(lanes: int) -> dict[str, tuple[np.ndarray, int]]:
    """Each lane's element by its number, and which lanes take part."""
    every, number = (1 << lanes) - 1, np.arange(lanes)
    some = 0x5BD1E995A7C3F16D & every
    shuffled = np.random.default_rng(5).permutation(lanes)
    return {
        "row": (number, every), "row of some": (number, some), "row of three": (number, 7),
        "off a line": (number + 1, every), "stride": (3 * number, every), "backwards": (number[::-1], every),
        "scattered": (shuffled, every), "scattered, some": (shuffled, some), "one for all": (0 * number, every),
        "one for some": (0 * number, some), "pairs": (number // 2, every),
        "far rows": (number + 100 * (number // 8), every),
    }  # fmt: skip


def kernel(arch: str, form: str, width: int) -> str:
    """Arguments: cells, each lane's offset in bytes, each lane's result (0: nothing torn), the lanes, rounds."""
    load, store = WIDTHS[width]
    wave64 = ARCHS[arch] == 64
    data = {8: "v[8:9]", 16: "v[8:11]"}.get(width, "v8")
    name, read, write = {
        "saddr": ("global", f"{data}, v2, s[4:5]", f"v2, {data}, s[4:5]"),
        "global": ("global", f"{data}, v[4:5], off", f"v[4:5], {data}, off"),
        "flat": ("flat", f"{data}, v[4:5]", f"v[4:5], {data}"),
        "buffer": ("buffer", *[f"{data}, v2, s[16:19], 0 offen"] * 2),
    }[form]
    alike = "0x101" if width == 2 else "0x1010101"
    compare = [f"v_xor_b32 v13, v{8 + k}, v14\n v_or_b32 v12, v12, v13" for k in range(max(width // 4, 1))]
    loop = ["s_sub_u32 s12, s12, 1", "s_cmp_lg_u32 s12, 0", "s_cbranch_scc1"]
    body = [
        "s_load_dwordx4 s[4:7], s[0:1], 0", "s_load_dwordx4 s[8:11], s[0:1], 16", "s_load_dword s12, s[0:1], 32",
        "s_waitcnt lgkmcnt(0)", "v_and_b32 v1, 0x3ff, v0", "v_lshlrev_b32 v1, 2, v1",
        "global_load_dword v2, v1, s[6:7]", "s_mov_b64 s[16:17], s[4:5]", "s_mov_b32 s18, -1",
        f"s_mov_b32 s19, {'0x00020000' if wave64 else '0x31016000'}", "v_mov_b32 v12, 0", "v_mov_b32 v5, s5",
        f"s_mov_b32 s13, {alike}", "s_waitcnt vmcnt(0)",
        "v_add_co_u32 v4, vcc, s4, v2" if wave64 else "v_add_co_u32 v4, vcc_lo, s4, v2",
        "v_addc_co_u32 v5, vcc, 0, v5, vcc" if wave64 else "v_add_co_ci_u32 v5, vcc_lo, 0, v5, vcc_lo",
        "s_mov_b64 exec, s[10:11]" if wave64 else "s_mov_b32 exec_lo, s10", "s_cmp_eq_u32 s2, 0",
        f"s_cbranch_scc0 READ_{form}_{width}", f"WRITE_{form}_{width}:", "s_and_b32 s14, s12, 0xff",
        "s_mul_i32 s14, s14, s13", *(f"v_mov_b32 v{8 + k}, s14" for k in range(4)), f"{name}_store_{store} {write}",
        *loop, f" WRITE_{form}_{width}", "s_endpgm", f"READ_{form}_{width}:", f"{name}_load_{load} {read}",
        "s_waitcnt vmcnt(0) lgkmcnt(0)", "v_and_b32 v14, 0xff, v8", "v_mul_lo_u32 v14, v14, s13", *compare,
        *loop, f" READ_{form}_{width}", "global_store_dword v1, v12, s[8:9]",
    ]  # fmt: skip
    text = "\n".join(body).replace("s_cbranch_scc1\n", "s_cbranch_scc1")
    return kernel_text(text, arch, kernarg=40, name=f"{form}_{width}")


def torn(arch: str) -> list[str]:
    """The form, width and pattern of what was torn."""
    lanes, found = ARCHS[arch], []
    text = "\n".join(kernel(arch, form, width) for form in FORMS for width in WIDTHS)
    code = CodeObject(assemble_code_object(text, arch), arch)
    memory = np.zeros(64 * 1024 + 64, np.uint8)
    cells = memory[-memory.ctypes.data % 64 :][: 64 * 1024]
    for form in FORMS:
        for width in WIDTHS:
            for pattern, (number, mask) in patterns(lanes).items():
                cells[:] = 0
                result = np.zeros(lanes, np.uint32)
                arguments = [cells, (number * width).astype(np.uint32), result, np.uint64(mask), ROUNDS]
                code.run(f"{form}_{width}", [1 + READERS], [lanes], arguments)
                if result.any():
                    found.append(f"{form}, {width} bytes, {pattern}")
                assert cells.any()
    return found


@pytest.mark.parametrize("arch", ARCHS)
@pytest.mark.parametrize("setting", SETTINGS)
def test_in_one_piece(setting: str, arch: str) -> None:
    code = f"import json; from tests.vgpu import test_tearing as t; print(json.dumps(t.torn({arch!r})))"
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PTX2AMD_VGPU_THREADS": "4", **SETTINGS[setting]}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert not json.loads(done.stdout)
