"""ds_read_b64_tr_b16 and its like (gfx950): 16 lanes load a tile of 16 columns by rows, each gets a column of it.

Protects: the order of elements, of every width, and that each lane's own address counts.
"""

from __future__ import annotations

import numpy as np
import pytest

from tests.vgpu.engine import CodeObject, assemble_code_object, kernel_text

#: bits of an element -> (mnemonic, dwords of a lane)
READS = {16: ("ds_read_b64_tr_b16", 2), 8: ("ds_read_b64_tr_b8", 2), 4: ("ds_read_b64_tr_b4", 2),
         6: ("ds_read_b96_tr_b6", 3)}  # fmt: skip


def program(bits: int) -> str:
    """Arguments: 4 dwords a lane for LDS, each lane's address there, results."""
    mnemonic, dwords = READS[bits]
    return f"""
    s_load_dwordx4 s[4:7], s[0:1], 0
    s_load_dwordx2 s[8:9], s[0:1], 16
    v_and_b32 v0, 0x3ff, v0
    v_lshlrev_b32 v1, 4, v0
    v_lshlrev_b32 v2, 2, v0
    v_mul_u32_u24 v3, {4 * dwords}, v0
    s_waitcnt lgkmcnt(0)
    global_load_dwordx4 v[4:7], v1, s[4:5]
    global_load_dword v2, v2, s[6:7]
    s_waitcnt vmcnt(0)
    ds_write_b128 v1, v[4:7]
    s_waitcnt lgkmcnt(0)
    {mnemonic} v[8:{7 + dwords}], v2
    s_waitcnt lgkmcnt(0)
    global_store_dwordx{dwords} v3, v[8:{7 + dwords}], s[8:9]
    s_waitcnt vmcnt(0)
    """


@pytest.mark.parametrize("bits", READS)
def test_transposed_load(bits: int) -> None:
    rng, dwords = np.random.default_rng(bits), READS[bits][1]
    data = rng.integers(0, 1 << 32, (64, 4), np.uint32)
    at = (rng.permutation(64) * 16).astype(np.uint32)
    out = np.zeros((64, dwords), np.uint32)
    text = kernel_text(program(bits), "gfx950", kernarg=24, lds=1024)
    CodeObject(assemble_code_object(text, "gfx950"), "gfx950").run("k", [1], [64], [data, at, out])
    rows = 32 * dwords // bits
    for group in range(4):
        words = [data[at[16 * group + lane] // 16, :dwords].tobytes() for lane in range(16)]
        tile = int.from_bytes(b"".join(words), "little")
        elements = np.array([tile >> k * bits & (1 << bits) - 1 for k in range(16 * rows)]).reshape(rows, 16)
        for lane in range(16):
            want = sum(int(e) << k * bits for k, e in enumerate(elements[:, lane]))
            assert int.from_bytes(out[16 * group + lane].tobytes(), "little") == want
