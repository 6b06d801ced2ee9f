"""Memory instructions that test_memory_instructions.py does not enumerate: two-address LDS forms, those without an
address, those of GFX10 and GFX12, loads into LDS, transposed and block loads, scalar memory.

Protects: every row of the memory tables has its value compared with Python's.
"""

from __future__ import annotations

import struct

import numpy as np
import pytest

from tests.vgpu.engine import CodeObject, assemble_code_object, kernel_text

LDS = 4096
OLD = ("gfx942", "gfx950", "gfx1030")  # GFX9's and GFX10's names
W = {"gfx942": 64, "gfx950": 64, "gfx1030": 32, "gfx1100": 32, "gfx1200": 32}


def run(
    arch: str, body: str, registers: np.ndarray, memory: np.ndarray, exec_mask: int | None = None, private: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """Runs `body` with v[4:11] of `registers` (lane, 8), v1 = lane, s[8:9] = memory, and LDS filled from memory's
    first 4 KiB. Returns v[12:19] of all lanes and LDS afterwards. Nothing waits: the software GPU is never late."""
    lanes = W[arch]
    load, store = ("dwordx4", "dwordx4") if arch in OLD else ("b128", "b128")
    write, read = ("ds_write_b128", "ds_read_b128") if arch in OLD else ("ds_store_b128", "ds_load_b128")
    s_load = "s_load_dwordx2" if arch in OLD else "s_load_b64"
    add = "v_add_u32" if arch in ("gfx942", "gfx950") else "v_add_nc_u32"
    fill, drain = [], []
    for at in range(0, LDS, lanes * 16):
        fill += [f"{add} v3, {at:#x}, v2", f"global_load_{load} v[20:23], v3, s[8:9]", f"{write} v3, v[20:23]"]
        drain += [f"{add} v3, {at:#x}, v2", f"{read} v[20:23], v3", f"global_store_{store} v3, v[20:23], s[10:11]"]
    exec_low = "exec" if lanes == 64 else "exec_lo"
    mov = "s_mov_b64" if lanes == 64 else "s_mov_b32"
    text = [
        *(f"{s_load} s[{6 + 2 * k}:{7 + 2 * k}], s[0:1], {8 * k}" for k in range(4)),
        "v_and_b32 v1, 0x3ff, v0", "v_lshlrev_b32 v2, 4, v1", *fill, "v_lshlrev_b32 v24, 5, v1",
        f"global_load_{load} v[4:7], v24, s[6:7]", f"global_load_{load} v[8:11], v24, s[6:7] offset:16",
        *(f"v_mov_b32 v{12 + k}, 0" for k in range(8)),
        *([] if exec_mask is None else [
            f"s_mov_b32 s20, {exec_mask & 0xFFFFFFFF:#x}", f"s_mov_b32 s21, {exec_mask >> 32:#x}",
            f"{mov} {exec_low}, s{'[20:21]' if lanes == 64 else '20'}"]),
        body, f"{mov} {exec_low}, -1", *drain, f"global_store_{store} v24, v[12:15], s[12:13]",
        f"global_store_{store} v24, v[16:19], s[12:13] offset:16",
    ]  # fmt: skip
    code = kernel_text("\n".join(text), arch, kernarg=32, lds=LDS, private=private, vgprs=96)
    out, lds = np.zeros((lanes, 8), np.uint32), np.zeros(LDS // 4, np.uint32)
    CodeObject(assemble_code_object(code, arch), arch).run("k", [1], [lanes], [registers, memory, lds, out])
    return out, lds


def inputs(arch: str, seed: int) -> tuple[np.random.Generator, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng, rng.integers(0, 1 << 32, (W[arch], 8), np.uint32), rng.integers(0, 1 << 32, LDS // 4 + 64, np.uint32)


@pytest.mark.parametrize("arch", ["gfx942", "gfx1100", "gfx1200"])
@pytest.mark.parametrize("bits", [32, 64])
@pytest.mark.parametrize("far", [False, True])
def test_two_addresses(arch: str, bits: int, far: bool) -> None:
    """Offsets count elements, times 64 in the far forms."""
    n, unit = bits // 32, bits // 8 * (64 if far else 1)
    offsets = (0, 3) if far else (5, 130)
    lanes = W[arch]
    if arch == "gfx942":
        names = [f"ds_{k}2{'st64' if far else ''}_{rtn}b{bits}"
                 for k, rtn in (("read", ""), ("write", ""), ("wrxchg", "rtn_"))]  # fmt: skip
    else:
        names = [f"ds_{k}_2addr{'_stride64' if far else ''}_{rtn}b{bits}"
                 for k, rtn in (("load", ""), ("store", ""), ("storexchg", "rtn_"))]  # fmt: skip
    first, second = ("v6", "v8") if n == 1 else ("v[6:7]", "v[8:9]")
    at = f"offset0:{offsets[0]} offset1:{offsets[1]}"
    d = f"v[12:{11 + 2 * n}]"
    places = [[(lane * (8 if far else 16) + o * unit) // 4 for o in offsets] for lane in range(lanes)]
    for name, kind in zip(names, ("load", "store", "exchange"), strict=True):
        _, registers, memory = inputs(arch, bits)
        registers[:, 0] = np.arange(lanes) * (8 if far else 16)
        data = f"v4, {first}, {second}"
        operands = {"load": f"{d}, v4", "store": data, "exchange": f"{d}, {data}"}[kind]
        mask = 0x00FF00FF12345679 & (1 << lanes) - 1
        out, lds = run(arch, f"{name} {operands} {at}", registers, memory, mask)
        want = memory[: LDS // 4].copy()
        for lane in range(lanes):
            if not mask >> lane & 1:
                assert not out[lane].any()
                continue
            for k, place in enumerate(places[lane]):
                if kind != "store":
                    assert (out[lane, k * n : k * n + n] == memory[place : place + n]).all()
                if kind != "load":
                    want[place : place + n] = registers[lane, 2 + 2 * k : 2 + 2 * k + n]
        assert (lds == want).all()


@pytest.mark.parametrize("arch", ["gfx942", "gfx1100", "gfx1200"])
def test_without_an_address(arch: str) -> None:
    """M0 + offset + 4 * lane; and counters that all active lanes change at once."""
    _, registers, memory = inputs(arch, 1)
    load, store = ("ds_read", "ds_write") if arch == "gfx942" else ("ds_load", "ds_store")
    mask = 0x0FF00FF0FF00FF01 & (1 << W[arch]) - 1
    body = f"s_mov_b32 m0, 512\n{load}_addtid_b32 v12 offset:16\n{store}_addtid_b32 v5 offset:1024\n"
    body += "ds_append v13 offset:32\nds_consume v14 offset:36"
    out, lds = run(arch, body, registers, memory, mask)
    want = memory[: LDS // 4].copy()
    active = [lane for lane in range(W[arch]) if mask >> lane & 1]
    for lane in active:
        want[(512 + 1024) // 4 + lane] = registers[lane, 1]
        assert out[lane, 0] == memory[(512 + 16) // 4 + lane]
        assert out[lane, 1] == memory[544 // 4]
        assert out[lane, 2] == memory[548 // 4]
    want[544 // 4] += len(active)
    want[548 // 4] -= len(active)
    assert (lds == want).all()


@pytest.mark.parametrize("arch", ["gfx942", "gfx1200"])
def test_conditional_exchange(arch: str) -> None:
    """Each dword of the pair is stored, without its top bit, where that is set."""
    lanes = W[arch]
    _, registers, memory = inputs(arch, 2)
    registers[:, 0] = np.arange(lanes) * 8
    out, lds = run(arch, "ds_condxchg32_rtn_b64 v[12:13], v4, v[6:7] offset:64", registers, memory)
    want = memory[: LDS // 4].copy()
    for lane in range(lanes):
        for k in range(2):
            place, value = 16 + 2 * lane + k, int(registers[lane, 2 + k])
            assert out[lane, k] == memory[place]
            if value >> 31:
                want[place] = value & 0x7FFFFFFF
    assert (lds == want).all()


def test_bpermute_of_inactive_lanes() -> None:
    _, registers, memory = inputs("gfx1200", 3)
    registers[:, 0] *= 4
    out, _ = run("gfx1200", "ds_bpermute_fi_b32 v12, v4, v5 offset:8", registers, memory, 0xFF00)
    for lane in range(8, 16):
        assert out[lane, 0] == registers[(int(registers[lane, 0]) + 8) // 4 % 32, 1]
    assert not out[:8].any() and not out[16:].any()


ATOMICS = {
    "sub_clamp_u32": lambda old, s: max(old - s, 0),
    "cond_sub_u32": lambda old, s: old - s if old >= s else old,
    "csub": lambda old, s: max(old - s, 0),
    "csub_u32": lambda old, s: max(old - s, 0),
}


@pytest.mark.parametrize(
    ("arch", "name"),
    [("gfx1200", f"{p}_atomic_{op}") for p in ("global", "flat", "buffer") for op in ("sub_clamp_u32", "cond_sub_u32")]
    + [("gfx1030", "global_atomic_csub"), ("gfx1030", "buffer_atomic_csub"), ("gfx1100", "global_atomic_csub_u32")],
)  # fmt: skip
def test_clamped_subtraction(arch: str, name: str) -> None:
    rng, registers, memory = inputs(arch, 4)
    registers[:, 0] = np.arange(32) * 4
    registers[:, 1] = rng.integers(0, 1 << 32, 32, np.uint32) >> rng.integers(0, 3, 32).astype(np.uint32)
    space, _, op = name.partition("_atomic_")
    glc = "th:TH_ATOMIC_RETURN" if arch == "gfx1200" else "glc"
    descriptor = "s_mov_b64 s[16:17], s[8:9]\ns_mov_b32 s18, 4096\ns_mov_b32 s19, 0x31016000\n"
    null = "null" if arch == "gfx1200" else "0"
    texts = {
        "global": f"{name} v12, v4, v5, s[8:9] {glc}",
        "flat": "v_add_co_u32 v6, vcc_lo, s8, v4\nv_mov_b32 v7, s9\nv_add_co_ci_u32 v7, vcc_lo, 0, v7, vcc_lo\n"
                f"{name} v12, v[6:7], v5 {glc}",
        "buffer": f"{descriptor}v_mov_b32 v12, v5\n{name} v12, v4, s[16:19], {null} offen {glc}",
    }  # fmt: skip
    before = memory.copy()
    out, _ = run(arch, texts[space], registers, memory)
    for lane in range(32):
        assert out[lane, 0] == before[lane]
        assert memory[lane] == ATOMICS[op](int(before[lane]), int(registers[lane, 1]))


@pytest.mark.parametrize("name", ["ds_sub_clamp_u32", "ds_sub_clamp_rtn_u32", "ds_cond_sub_u32", "ds_cond_sub_rtn_u32"])
def test_clamped_subtraction_in_lds(name: str) -> None:
    _, registers, memory = inputs("gfx1200", 5)
    registers[:, 0] = np.arange(32) * 4
    returns = "_rtn_" in name
    out, lds = run("gfx1200", f"{name} {'v12, ' if returns else ''}v4, v5 offset:256", registers, memory)
    f = ATOMICS[name.removeprefix("ds_").replace("_rtn", "")]
    for lane in range(32):
        assert out[lane, 0] == (memory[64 + lane] if returns else 0)
        assert lds[64 + lane] == f(int(memory[64 + lane]), int(registers[lane, 1]))


@pytest.mark.parametrize("space", ["global", "flat", "buffer"])
def test_compare_and_swap_of_doubles(space: str) -> None:
    """gfx1030; numbers are compared: -0 is +0, a NaN is not itself."""
    _, registers, memory = inputs("gfx1030", 6)
    values = [0.0, -0.0, 1.5, float("nan"), -3.0] * 7
    doubles = memory.view(np.float64)
    doubles[:32] = values[:32]
    wanted = [(-0.0, 0.0, 1.5, float("nan"), 3.0)[k % 5] for k in range(32)]
    for lane in range(32):
        registers[lane, 0] = lane * 8
        registers[lane, 2:6] = struct.unpack("<4I", struct.pack("<dd", lane + 0.5, wanted[lane]))
    descriptor = "s_mov_b64 s[16:17], s[8:9]\ns_mov_b32 s18, 4096\ns_mov_b32 s19, 0x31016000\n"
    text = {
        "global": "global_atomic_fcmpswap_x2 v[12:13], v4, v[6:9], s[8:9] glc",
        "flat": "v_add_co_u32 v10, vcc_lo, s8, v4\nv_mov_b32 v11, s9\nv_add_co_ci_u32 v11, vcc_lo, 0, v11, vcc_lo\n"
                "flat_atomic_fcmpswap_x2 v[12:13], v[10:11], v[6:9] glc",
        "buffer": descriptor + "\n".join(f"v_mov_b32 v{12 + k}, v{6 + k}" for k in range(4))
                  + "\nbuffer_atomic_fcmpswap_x2 v[12:15], v4, s[16:19], 0 offen glc",
    }[space]  # fmt: skip
    before = doubles.copy()
    run("gfx1030", text, registers, memory)
    for lane in range(32):
        want = lane + 0.5 if before[lane] == wanted[lane] else before[lane]
        assert doubles[lane] == want or (want != want and doubles[lane] != doubles[lane])


def test_packed_addition_in_buffers() -> None:
    _, registers, memory = inputs("gfx950", 7)
    memory[:64] = 0x40003F80  # 2.0 and 1.0
    registers[:, 0], registers[:, 1] = np.arange(64) * 4, 0x3F804040  # 1.0 and 3.0
    descriptor = "s_mov_b64 s[16:17], s[8:9]\ns_mov_b32 s18, 4096\ns_mov_b32 s19, 0x00020000\n"
    run("gfx950", f"{descriptor}buffer_atomic_pk_add_bf16 v5, v4, s[16:19], 0 offen", registers, memory)
    assert (memory[:64] == 0x40404080).all()


@pytest.mark.parametrize(
    ("arch", "kind", "size"),
    [("gfx942", "ubyte", 1), ("gfx942", "sbyte", 1), ("gfx942", "ushort", 2), ("gfx942", "sshort", 2),
     ("gfx942", "dword", 4), ("gfx950", "dwordx3", 12), ("gfx950", "dwordx4", 16)],
)  # fmt: skip
def test_loads_into_lds(arch: str, kind: str, size: int) -> None:
    """Lane l's data go to M0 + offset + l times their size, a dword at least; the offset counts for both addresses."""
    rng, registers, memory = inputs(arch, 8)
    registers[:, 0] = rng.permutation(64) * 16
    _, lds = run(arch, f"s_mov_b32 m0, 1024\nglobal_load_lds_{kind} v4, s[8:9] offset:32", registers, memory)
    want = memory[: LDS // 4].copy().view(np.uint8)
    step = max(size, 4)
    for lane in range(64):
        raw = memory.view(np.uint8)[int(registers[lane, 0]) + 32 :][:size].tobytes()
        data = int.from_bytes(raw, "little", signed=kind[0] == "s").to_bytes(step, "little", signed=kind[0] == "s")
        at = 1024 + 32 + lane * step
        want[at : at + step] = np.frombuffer(data, np.uint8)
    assert (lds.view(np.uint8) == want).all()


def test_transposed_load() -> None:
    """Groups of 8 lanes load 8 rows of 8 elements of 16 bits; lane l gets column l."""
    rng, registers, memory = inputs("gfx1200", 9)
    registers[:, 0] = rng.permutation(32) * 16
    out, _ = run("gfx1200", "global_load_tr_b128 v[12:15], v4, s[8:9] offset:16", registers, memory)
    halves = memory.view(np.uint16)
    for lane in range(32):
        column = [halves[(int(registers[lane & ~7 | k, 0]) + 16) // 2 + lane % 8] for k in range(8)]
        assert out[lane, :4].view(np.uint16).tolist() == column


@pytest.mark.parametrize("space", ["global", "scratch"])
def test_blocks(space: str) -> None:
    """Registers, and dwords at the address, for the bits of M0."""
    _, registers, memory = inputs("gfx1200", 10)
    registers[:, 0] = np.arange(32) * 128
    mask = 0x80000025
    base = "v4, s[8:9]" if space == "global" else "off, off"
    moves = "\n".join(f"v_mov_b32 v{40 + k}, v{4 + k % 8}" for k in range(32))
    store = "global_store_block v4, v[40:71], s[8:9]" if space == "global" else "scratch_store_block off, v[40:71], off"
    clear = "\n".join(f"v_mov_b32 v{40 + k}, -1" for k in range(32))
    results = "\n".join(f"v_mov_b32 v{12 + k}, v{40 + n}" for k, n in enumerate((0, 1, 2, 5, 31)))
    body = f"s_mov_b32 m0, {mask:#x}\n{moves}\n{store}\n{clear}\n{space}_load_block v[40:71], {base}\n{results}"
    before = memory.copy()
    out, _ = run("gfx1200", body, registers, memory, private=128)
    for lane in range(32):
        stored = [int(registers[lane, n % 8]) for n in (0, 2, 5, 31)]
        assert out[lane, :5].tolist() == [stored[0], 0xFFFFFFFF, *stored[1:]]
        if space == "global":
            for k in range(32):
                want = registers[lane, k % 8] if mask >> k & 1 else before[lane * 32 + k]
                assert memory[lane * 32 + k] == want


def test_scalar_bytes() -> None:
    """GFX12 loads bytes and halves into SGPRs, from buffers too: zero past their end."""
    _, registers, memory = inputs("gfx1200", 11)
    raw = memory.view(np.uint8)
    cases = [("i8", 1, True), ("u8", 1, False), ("i16", 2, True), ("u16", 2, False)]
    body = ["s_mov_b64 s[24:25], s[8:9]", "s_mov_b32 s26, 64", "s_mov_b32 s27, 0x31016000"]
    for k, (t, _, _) in enumerate(cases):
        body += [f"s_load_{t} s30, s[8:9], {18 + 2 * k}", f"s_buffer_load_{t} s31, s[24:27], {26 + 2 * k}",
                 f"s_buffer_load_{t} s22, s[24:27], 64", f"v_mov_b32 v{12 + k}, s30", f"v_mov_b32 v{16 + k}, s31",
                 f"v_add_nc_u32 v{12 + k}, s22, v{12 + k}"]  # fmt: skip
    out, _ = run("gfx1200", "\n".join(body), registers, memory)
    for k, (_, size, is_signed) in enumerate(cases):
        for column, at in ((k, 18 + 2 * k), (4 + k, 26 + 2 * k)):
            value = int.from_bytes(raw[at : at + size].tobytes(), "little", signed=is_signed)
            assert out[0, column] == value & 0xFFFFFFFF


@pytest.mark.parametrize("arch", ["gfx942", "gfx1200"])
def test_scalar_loads(arch: str) -> None:
    """All widths; of a buffer, dwords past its end are zero."""
    _, registers, memory = inputs(arch, 12)
    sizes = {1: "", 2: "x2", 4: "x4", 8: "x8", 16: "x16"} | ({3: "x3"} if arch == "gfx1200" else {})
    for n, suffix in sizes.items():
        name = f"load_dword{suffix}" if arch == "gfx942" else f"load_b{32 * n}"
        for first in (0, 8):  # which of the loaded dwords are looked at
            registers_of = f"s[32:{31 + n}]" if n > 1 else "s32"
            body = ["s_mov_b64 s[24:25], s[8:9]", "s_mov_b32 s26, 80", "s_mov_b32 s27, 0x31016000",
                    f"s_{name} {registers_of}, s[8:9], 64",
                    *(f"v_mov_b32 v{12 + k}, s{32 + first + k}" for k in range(4) if first + k < n),
                    f"s_buffer_{name} {registers_of}, s[24:27], 64",
                    *(f"v_mov_b32 v{16 + k}, s{32 + first + k}" for k in range(4) if first + k < n)]  # fmt: skip
            out, _ = run(arch, "\n".join(body), registers, memory)
            for k in range(4):
                if first + k < n:
                    assert out[0, k] == memory[16 + first + k]
                    assert out[0, 4 + k] == (memory[16 + first + k] if first + k < 4 else 0)


def test_scalar_stores() -> None:
    _, registers, memory = inputs("gfx942", 13)
    before = memory.copy()
    values = "\n".join(f"v_readfirstlane_b32 s{32 + k}, v{4 + k}" for k in range(8))
    run("gfx942", f"{values}\ns_store_dword s32, s[8:9], 256\ns_store_dwordx2 s[34:35], s[8:9], 264\n"
        "s_store_dwordx4 s[36:39], s[8:9], 272", registers, memory)  # fmt: skip
    first = registers[0]
    assert memory[64:72].tolist() == [first[0], before[65], first[2], first[3], *first[4:8]]
