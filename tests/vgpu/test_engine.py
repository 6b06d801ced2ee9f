"""The engine: control flow, lane exchange, modes, barriers, faults, limits, threads.

Protects: that every wrong launch or access ends as a report that names it, never as a crash or a hang.
"""

from __future__ import annotations

import ctypes
import os
import random
import subprocess
import sys
import threading
from functools import cache

import numpy as np
import pytest

from tests import ROOT
from tests.vgpu.engine import CodeObject, EngineFault, assemble_code_object, kernel_text

ARCHES = ["gfx942", "gfx1100"]
W = {"gfx942": 64, "gfx1100": 32}

START = {
    "gfx942": "s_load_dwordx2 s[6:7], s[0:1], 0x0\ns_load_dwordx2 s[8:9], s[0:1], 0x8\n"
              "v_and_b32 v0, 0x3ff, v0\nv_lshlrev_b32 v1, 2, v0\ns_waitcnt lgkmcnt(0)\n",
    "gfx1100": "s_load_b64 s[6:7], s[0:1], 0x0\ns_load_b64 s[8:9], s[0:1], 0x8\n"
               "v_and_b32 v0, 0x3ff, v0\nv_lshlrev_b32 v1, 2, v0\ns_waitcnt lgkmcnt(0)\n",
}  # fmt: skip


def old_names(text: str) -> str:
    """Assembly written with GFX11's names for GFX9."""
    for new, old in (("_load_b32", "_load_dword"), ("_store_b32", "_store_dword"), ("ds_load_dword", "ds_read_b32"),
                     ("ds_store_dword", "ds_write_b32"), ("ds_load_2addr_stride64_", "ds_read2st64_"),
                     ("ds_load_2addr_", "ds_read2_"), ("ds_store_2addr_stride64_", "ds_write2st64_"),
                     ("ds_store_2addr_", "ds_write2_"), ("ds_storexchg_2addr_rtn", "ds_wrxchg2_rtn"),
                     ("v_add_nc_u32", "v_add_u32")):  # fmt: skip
        text = text.replace(new, old)
    return text


@cache
def kernel(arch: str, body: str, **options: int) -> CodeObject:
    """Arguments: two pointers, in s[6:7] and s[8:9]; v0 the work-item, v1 = 4 * v0."""
    text = START[arch] + (old_names(body) if arch == "gfx942" else body)
    return CodeObject(assemble_code_object(kernel_text(text, arch, kernarg=32, **options), arch), arch)


def fault(code: CodeObject, *arguments: object, grid: int = 1, block: int = 64, **options: int) -> EngineFault:
    with pytest.raises(EngineFault) as e:
        code.run("k", [grid], [block], list(arguments), **options)
    assert "k" in str(e.value)
    return e.value


@pytest.fixture(params=ARCHES)
def arch(request: pytest.FixtureRequest) -> str:
    return request.param


WAIT = "s_waitcnt vmcnt(0) lgkmcnt(0)\n"
LOAD = "global_load_b32 v2, v1, s[6:7]\n" + WAIT
STORE = "global_store_b32 v1, v3, s[8:9]\n"


def exchange(arch: str, text: str, values: np.ndarray, extra: str = "") -> np.ndarray:
    """Runs text on v2 = values[lane]; returns v3 (zero before)."""
    out = np.zeros(len(values), np.uint32)
    kernel(arch, LOAD + "v_mov_b32 v3, 0\n" + text + WAIT + extra + STORE).run("k", [1], [len(values)], [values, out])
    return out


# --- exchange between lanes ---------------------------------------------------------------------------------


def swizzled(offset: int, lane: int) -> int:
    if offset & 0x8000:
        return lane & ~3 | offset >> 2 * (lane & 3) & 3
    return ((lane & 31 & offset | offset >> 5 & 31) & 31 ^ offset >> 10) & 31 | lane & 32


@pytest.mark.parametrize("offset", [0x041F, 0x7C1F, 0x0018, 0x03E0, 0x801B, 0x80B1, 0x1C07])
def test_swizzle(arch: str, offset: int) -> None:
    n = W[arch]
    values = np.arange(n, dtype=np.uint32) * 3 + 1
    out = exchange(arch, f"ds_swizzle_b32 v3, v2 offset:{offset:#x}\n", values)
    assert np.array_equal(out, [values[swizzled(offset, k)] for k in range(n)])


def test_permute_and_bpermute_with_inactive_lanes(arch: str) -> None:
    n = W[arch]
    rng = np.random.default_rng(1)
    values = rng.integers(0, 1 << 31, n).astype(np.uint32)
    mask = 0x5A5A_F0F1_0FF0_A5A5 & ((1 << n) - 1)
    setup = "v_mul_u32_u24 v4, 28, v0\n"
    if arch == "gfx942":
        setup += f"s_mov_b32 exec_lo, {mask & 0xFFFFFFFF:#x}\ns_mov_b32 exec_hi, {mask >> 32:#x}\n"
        reset = "s_mov_b64 exec, -1\n"
    else:
        setup += f"s_mov_b32 exec_lo, {mask:#x}\n"
        reset = "s_mov_b32 exec_lo, -1\n"
    active = [mask >> k & 1 for k in range(n)]
    target = [(7 * k + 1) % n for k in range(n)]
    pushed, pulled = np.zeros(n, np.uint32), np.zeros(n, np.uint32)
    for k in range(n):
        if active[k] and active[target[k]]:
            pushed[target[k]] = values[k]
            pulled[k] = values[target[k]]
    out = exchange(arch, setup + "ds_permute_b32 v3, v4, v2 offset:4\n", values, reset)
    assert np.array_equal(out, pushed)
    out = exchange(arch, setup + "ds_bpermute_b32 v3, v4, v2 offset:4\n", values, reset)
    assert np.array_equal(out, pulled)


def test_two_address_ds(arch: str) -> None:
    n = W[arch]
    values = np.arange(n, dtype=np.uint32) + 100
    body = (
        LOAD
        + """
    v_add_nc_u32 v4, 1000, v2
    ds_store_2addr_b32 v1, v2, v4 offset0:0 offset1:64
    s_waitcnt lgkmcnt(0)
    v_mov_b32 v10, v2
    ds_storexchg_2addr_rtn_b32 v[6:7], v1, v4, v10 offset0:64 offset1:0
    s_waitcnt lgkmcnt(0)
    ds_load_2addr_b32 v[8:9], v1 offset0:0 offset1:64
    ds_store_2addr_stride64_b32 v1, v2, v4 offset0:2 offset1:3
    s_waitcnt lgkmcnt(0)
    ds_load_2addr_stride64_b32 v[10:11], v1 offset0:2 offset1:3
    s_waitcnt lgkmcnt(0)
    """
    )
    # after the stores: [0] = v2, [64] = v2 + 1000; the exchange writes the same again and returns it reversed
    stores = "".join(
        f"v_mov_b32 v3, v{r}\n{STORE}s_add_u32 s8, s8, {4 * n}\ns_addc_u32 s9, s9, 0\n" for r in range(6, 12)
    )
    out = np.zeros(6 * n, np.uint32)
    kernel(arch, body + stores, lds=2048).run("k", [1], [n], [values, out])
    big = values + 1000
    assert np.array_equal(out.reshape(6, n), [big, values, values, big, values, big])


# --- control flow and modes ----------------------------------------------------------------------------------


def test_calls_and_program_counter(arch: str) -> None:
    """s_getpc, s_swappc, s_setpc, s_call: the subroutine adds 1, 10 and 100."""
    body = (
        LOAD
        + """
    s_getpc_b64 s[10:11]
    s_add_u32 s10, s10, add-.
    s_addc_u32 s11, s11, 0
    s_add_u32 s10, s10, 4
    s_mov_b32 s14, 1
    s_swappc_b64 s[12:13], s[10:11]
    s_mov_b32 s14, 10
    s_call_b64 s[12:13], add
    s_movk_i32 s14, 100
    s_call_b64 s[12:13], add
    v_mov_b32 v3, v2
    """
        + STORE
        + """
    s_endpgm
    add:
    v_add_nc_u32 v2, s14, v2
    s_setpc_b64 s[12:13]
    """
    )
    body = body.replace("s_add_u32 s10, s10, add-.\n", "base: s_add_u32 s10, s10, add-base\n").replace(
        "    s_add_u32 s10, s10, 4\n", ""
    )
    values, out = np.arange(64, dtype=np.uint32), np.zeros(64, np.uint32)
    kernel(arch, body).run("k", [1], [64], [values, out])
    assert np.array_equal(out, values + 111)


def test_mode_register(arch: str) -> None:
    """Rounding and denormals change between instructions; s_getreg sees what s_setreg wrote."""
    third = "v_mov_b32 v4, 1.0\nv_mov_b32 v5, 0x33800000\n"  # 1 + 2^-24
    set_mode = {"nearest": 0, "up": 1, "down": 2, "zero": 3}
    results = {}
    for name, value in set_mode.items():
        text = f"s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 2), {value}\n" + third + "v_add_f32 v3, v4, v5\n"
        results[name] = int(exchange(arch, text, np.zeros(32, np.uint32))[0])
    assert results == {"nearest": 0x3F800000, "up": 0x3F800001, "down": 0x3F800000, "zero": 0x3F800000}
    text = "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), {}\nv_mov_b32 v4, 0x00400000\nv_add_f32 v3, v4, v4\n"
    assert exchange(arch, text.format(0), np.zeros(32, np.uint32))[0] == 0
    assert exchange(arch, text.format(3), np.zeros(32, np.uint32))[0] == 0x00800000
    text = "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 4), 9\n"
    text += "s_getreg_b32 s14, hwreg(HW_REG_MODE, 0, 4)\nv_mov_b32 v3, s14\n"
    assert exchange(arch, text, np.zeros(32, np.uint32))[0] == 9


def test_barrier_with_waves_that_ended(arch: str) -> None:
    """Waves that end do not hold up the others; LDS written before the barrier is seen after it."""
    n = W[arch]
    body = (
        LOAD
        + f"""
    v_readfirstlane_b32 s14, v0
    s_cmp_ge_u32 s14, {n * 3}
    s_cbranch_scc1 done
    ds_store_b32 v1, v2
    s_waitcnt lgkmcnt(0)
    s_barrier
    v_sub_u32 v4, {n * 12 - 4}, v1
    ds_load_b32 v3, v4
    s_waitcnt lgkmcnt(0)
    """.replace("v_sub_u32", "v_sub_nc_u32" if arch == "gfx1100" else "v_sub_u32")
        + STORE
        + "done:\n"
    )
    values, out = np.arange(n * 4, dtype=np.uint32) + 5, np.zeros(n * 4, np.uint32)
    kernel(arch, body, lds=2048).run("k", [1], [n * 4], [values, out])
    assert np.array_equal(out[: 3 * n], values[: 3 * n][::-1]) and not out[3 * n :].any()


# --- faults ---------------------------------------------------------------------------------------------------


def test_read_and_write_outside_every_allocation(arch: str) -> None:
    values, out = np.zeros(64, np.uint32), np.zeros(64, np.uint32)
    e = fault(kernel(arch, "s_mov_b64 s[6:7], 0x1000\n" + LOAD), values, out)
    assert e.kind == "memory" and "read of 4 bytes" in str(e) and "thread (0,0,0)" in str(e)
    e = fault(kernel(arch, "v_mov_b32 v3, 1\n" + STORE), values, out, block=96)
    assert e.kind == "memory" and "write of 4 bytes" in str(e) and "thread (64,0,0)" in str(e)
    assert out.sum() == 0 or (out == 1).all()


def test_scalar_access_around_the_end_of_the_address_space(arch: str) -> None:
    code = "s_load_b32 s12, s[6:7], 0x0\ns_waitcnt lgkmcnt(0)\ns_mov_b64 s[8:9], -1\n{} s[12:15], s[8:9], 0x0"
    for name in ["s_load_dwordx4", "s_store_dwordx4"] if arch == "gfx942" else ["s_load_b128"]:
        e = fault(kernel(arch, code.format(name)), np.zeros(64, np.uint32), np.zeros(64, np.uint32))
        assert e.kind == "memory" and "16 bytes at 0xfffffffffffffffc" in str(e)


def test_one_lane_out_of_range(arch: str) -> None:
    """The report names the lane; lanes switched off do not count."""
    values, out = np.zeros(64, np.uint32), np.zeros(64, np.uint32)
    stray = "v_cmp_eq_u32 vcc{0}, 13, v0\nv_mov_b32 v5, 0x7ffffff0\nv_cndmask_b32 v1, v1, v5, vcc{0}\n".format(
        "" if arch == "gfx942" else "_lo"
    )
    e = fault(kernel(arch, stray + LOAD), values, out)
    assert e.kind == "memory" and "thread (13,0,0)" in str(e)
    off = "s_bitset0_b32 exec_lo, 13\n"
    kernel(arch, stray + off + LOAD).run("k", [1], [W[arch]], [values, out])


def test_readonly_memory(arch: str) -> None:
    values, out = np.zeros(64, np.uint32), np.zeros(64, np.uint32)
    out.flags.writeable = False
    assert fault(kernel(arch, "v_mov_b32 v3, 1\n" + STORE), values, out).kind == "memory"
    assert not out.any()


def test_misaligned_atomic(arch: str) -> None:
    name = (
        "global_atomic_add v1, v0, s[8:9] offset:2"
        if arch == "gfx942"
        else "global_atomic_add_u32 v1, v0, s[8:9] offset:2"
    )
    e = fault(kernel(arch, name + "\n"), np.zeros(64, np.uint32), np.zeros(80, np.uint32))
    assert e.kind == "misaligned"


def test_lds_and_scratch_out_of_range(arch: str) -> None:
    values, out = np.zeros(64, np.uint32), np.zeros(64, np.uint32)
    e = fault(kernel(arch, "v_mov_b32 v4, 60\nds_load_b32 v3, v4 offset:4\n", lds=64), values, out)
    assert e.kind == "lds" and "0x40 of 64" in str(e)
    kernel(arch, "v_mov_b32 v4, 28\nds_load_b32 v3, v4\n", lds=28).run("k", [1], [64], [values, out])  # of 32
    e = fault(kernel(arch, "v_mov_b32 v4, 28\nds_load_b32 v3, v4 offset:4\n", lds=28), values, out)
    assert e.kind == "lds" and "0x20 of 32" in str(e)
    e = fault(kernel(arch, "scratch_load_b32 v3, off, off offset:32\n", private=32), values, out)
    assert e.kind == "scratch"


def test_unknown_instruction(arch: str) -> None:
    e = fault(kernel(arch, ".long 0xbfff0000\n"), np.zeros(64, np.uint32), np.zeros(64, np.uint32))
    assert e.kind == "illegal" and "bfff0000" in str(e)


def test_jump_outside_the_code(arch: str) -> None:
    arguments = np.zeros(64, np.uint32), np.zeros(64, np.uint32)
    assert fault(kernel(arch, "s_mov_b64 s[10:11], 0\ns_setpc_b64 s[10:11]\n"), *arguments).kind == "bad jump"
    assert fault(kernel(arch, "s_branch 30000\n"), *arguments).kind == "bad jump"


def test_endless_loop_is_stopped(arch: str) -> None:
    code = kernel(arch, "again: s_branch again\n")
    e = fault(code, np.zeros(64, np.uint32), np.zeros(64, np.uint32), grid=3, max_instructions=100000)
    assert e.kind == "runaway"


def test_workgroups_that_wait_cost_little(arch: str) -> None:
    """Each polls what the next one writes: only the first turn of each is spent with polling."""
    groups, vcc, lanes = 12, "vcc" if arch == "gfx942" else "vcc_lo", W[arch]
    text = f"s_mul_i32 s10, s2, {4 * lanes}\nv_add_nc_u32 v1, s10, v1\nloop:\n" \
           f"global_load_b32 v2, v1, s[6:7] offset:{4 * lanes}\n{WAIT}v_cmp_eq_u32 {vcc}, 0, v2\n"  # fmt: skip
    code = kernel(arch, text + "s_cbranch_vccnz loop\nv_mov_b32 v3, 1\nglobal_store_b32 v1, v3, s[6:7]\n")
    flags = np.zeros((groups + 1) * lanes, np.uint32)
    flags[-lanes:] = 1
    executed = code.run("k", [groups], [lanes], [flags, np.zeros(64, np.uint32)])
    assert flags.all() and executed < 1.2 * groups * (1 << 17)


def test_launch_limits(arch: str) -> None:
    arguments = np.zeros(64, np.uint32), np.zeros(64, np.uint32)
    assert fault(kernel(arch, "s_nop 0\n"), *arguments, block=1025).kind == "bad launch"
    e = fault(kernel(arch, "s_nop 0\n", lds=1024), *arguments, dynamic_lds=65536)
    assert e.kind == "bad launch" and "66560" in str(e)


# --- threads --------------------------------------------------------------------------------------------------


def test_several_host_threads(arch: str) -> None:
    """Dispatches from several host threads at once, each with its own result, over one pool."""
    code = kernel(arch, "s_lshl_b32 s14, s2, 8\nv_add_nc_u32 v1, s14, v1\n" + LOAD + "v_add_nc_u32 v3, 7, v2\n" + STORE)
    failures = []

    def work(seed: int) -> None:
        values = np.random.default_rng(seed).integers(0, 1 << 31, 64 * 50).astype(np.uint32)
        for _ in range(10):
            out = np.zeros(64 * 50, np.uint32)
            code.run("k", [50], [64], [values, out])
            if not np.array_equal(out, values + 7):
                failures.append(seed)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(6)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not failures


def test_atomics_are_atomic_between_threads(arch: str) -> None:
    name = "global_atomic_add v4, v5, s[8:9]" if arch == "gfx942" else "global_atomic_add_u32 v4, v5, s[8:9]"
    out = np.zeros(1, np.uint32)
    code = kernel(arch, f"v_mov_b32 v4, 0\nv_mov_b32 v5, 1\n{name}\n")
    code.run("k", [2000], [64], [np.zeros(1, np.uint32), out])
    assert out[0] == 128000


SCRIPT = """
import sys, os
import numpy as np
from tests.vgpu import test_engine as t
index = "s_lshl_b32 s14, s2, 8\\nv_add_nc_u32 v1, s14, v1\\n"
code = t.kernel("gfx942", index + t.LOAD + "v_add_nc_u32 v3, 7, v2\\n" + t.STORE)
def once():
    values = np.arange(64 * 20, dtype=np.uint32); out = np.zeros(64 * 20, np.uint32)
    code.run("k", [20], [64], [values, out])
    assert np.array_equal(out, values + 7)
once()
pid = os.fork()
once()
if pid == 0:
    os._exit(0)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
"""


def test_fork() -> None:
    """A forked child has no pool threads and starts its own."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PTX2AMD_VGPU_THREADS": "4"}
    done = subprocess.run([sys.executable, "-c", SCRIPT], timeout=120, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("level", ["v2", "v3", "v4"])
def test_levels_and_thread_counts_agree(level: str) -> None:
    """Every build that the CPU can run gives the same results, with one thread and with three."""
    script = (
        "from tests.vgpu import test_engine as t\n"
        "t.test_two_address_ds('gfx942'); t.test_two_address_ds('gfx1100')\n"
        "t.test_permute_and_bpermute_with_inactive_lanes('gfx942'); t.test_mode_register('gfx1100')\n"
        "t.test_several_host_threads('gfx942'); t.test_one_lane_out_of_range('gfx1100')\n"
    )
    for threads in ("1", "3"):
        environment = {
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "PTX2AMD_VGPU_THREADS": threads,
            "PTX2AMD_VGPU_LEVEL": level,
        }
        done = subprocess.run(
            [sys.executable, "-c", script], timeout=120, env=environment, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr


def test_random_code_never_crashes(arch: str) -> None:
    """Random instruction words end in a fault or an end, within the instruction limit."""
    rng = random.Random(5)
    template = kernel(arch, "\n".join(["s_nop 0"] * 64) + "\n", lds=256, private=64)
    entry = template.base + template.symbols["k"]
    words = (ctypes.c_uint32 * 40).from_address(entry + 64)
    from tests.vgpu.engine import library

    for _ in range(60):
        for k in range(40):
            words[k] = rng.getrandbits(32) if rng.random() < 0.3 else rng.choice(
                [0x7E000200, 0x02000000, 0xD1000000, 0xDC508000, 0xD8D80000, 0xBE800000, 0x80000000, 0xC0020000]
            ) | rng.getrandbits(12) << rng.randrange(12)  # fmt: skip
        lib = library()
        text = lib.ptx2amd_vgpu_code(arch.encode(), entry, 64 * 4 + 128)
        old, template.code = template.code, text
        try:
            template.run("k", [1], [64], [np.zeros(64, np.uint32), np.zeros(64, np.uint32)], max_instructions=20000)
        except EngineFault as e:
            assert e.kind in ("illegal", "unimplemented", "memory", "misaligned", "lds", "scratch", "trap", "runaway",
                              "bad jump", "bad launch", "register")  # fmt: skip
        finally:
            template.code = old
            lib.ptx2amd_vgpu_code_free(text)
