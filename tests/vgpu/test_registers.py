"""Registers beyond what a kernel's descriptor allocates.

Protects: that code which names one ends in a fault that names it, in each register file, at the exact boundary, however
the code was come to; that a block whose registers no multiprocessor holds is not launched.
"""

from __future__ import annotations

import pytest

from tests.vgpu.engine import CodeObject, EngineFault, assemble_code_object, kernel_text
from tests.vgpu.hip_gpu import fails, opened

#: (architecture, registers asked for, where accumulation registers begin, what fits, what does not, the register)
CASES = [
    ("gfx942", 32, 16, "v_mov_b32 v15, 0", "v_mov_b32 v16, 0", "v16"),
    ("gfx942", 32, 16, "v_mov_b64 v[14:15], 0", "v_mov_b64 v[16:17], 0", "v17"),
    ("gfx942", 32, 16, "v_accvgpr_write_b32 a15, 0", "v_accvgpr_write_b32 a16, 0", "a16"),
    ("gfx942", 32, 16, "ds_read_b128 v[12:15], v1", "ds_read_b128 v[14:17], v1", "v17"),
    ("gfx942", 32, 16, "ds_read_b128 a[12:15], v1", "ds_read_b128 a[14:17], v1", "a17"),
    ("gfx942", 32, 16, "v_mfma_f32_4x4x1_16b_f32 a[12:15], v0, v1, a[12:15]",
     "v_mfma_f32_4x4x1_16b_f32 a[12:15], v0, v1, a[14:17]", "a17"),
    ("gfx942", 32, 32, "s_mov_b32 s47, 0", "s_mov_b32 s48, 0", "s48"),
    ("gfx942", 32, 32, "s_mov_b64 s[46:47], 0", "v_cmp_eq_u32 s[48:49], v0, v0", "s49"),
    ("gfx908", 12, None, "v_accvgpr_write_b32 a11, 0", "v_accvgpr_write_b32 a12, 0", "a12"),
    ("gfx906", 9, None, "v_add_u32_sdwa v11, v0, v1 src0_sel:BYTE_0",
     "v_add_u32_sdwa v0, v12, v1 src0_sel:BYTE_0", "v12"),
    ("gfx1100", 20, None, "v_mov_b32 v23, 0", "v_mov_b32 v24, 0", "v24"),
    ("gfx1100", 20, None, "v_dual_mov_b32 v22, v1 :: v_dual_mov_b32 v23, v2",
     "v_dual_mov_b32 v2, v1 :: v_dual_mov_b32 v25, v2", "v25"),
    ("gfx1100", 20, None, "s_mov_b32 s105, 0", "v_mov_b32_dpp v0, v24 row_shl:1", "v24"),
    ("gfx1200", 20, None, "ds_store_b64 v1, v[22:23]", "ds_store_b64 v1, v[23:24]", "v24"),
]  # fmt: skip


def run(arch: str, body: str, vgprs: int, accum: int | None, grid: int = 1) -> None:
    text = kernel_text(body, arch, vgprs=vgprs, accum=accum, lds=1024)
    CodeObject(assemble_code_object(text, arch), arch).run("k", [grid], [64])


@pytest.mark.parametrize(("arch", "vgprs", "accum", "fits", "beyond", "register"), CASES)
def test_boundary(arch: str, vgprs: int, accum: int | None, fits: str, beyond: str, register: str) -> None:
    start = "v_lshlrev_b32 v1, 4, v0\nv_and_b32 v1, 0x3f0, v1\n"
    run(arch, start + fits, vgprs, accum)
    with pytest.raises(EngineFault, match=f" names {register}, ") as e:
        run(arch, start + beyond, vgprs, accum)
    assert e.value.kind == "register"


@pytest.mark.parametrize("arch", ["gfx942", "gfx1100"])
def test_after_many_rounds(arch: str) -> None:
    """In code that runs natively by the time a wave comes to the instruction; waves before it went past."""
    body = "s_cmp_lg_u32 s2, 99\ns_cbranch_scc1 over\nv_mov_b32 v40, 0\nover: v_mov_b32 v1, 0\n"
    with pytest.raises(EngineFault, match="v40"):
        run(arch, body, 32, None, grid=100)
    run(arch, body, 32, None, grid=99)


def test_function_of_two_kernels() -> None:
    """A function with v40 is in order for the kernel that has it, and only for that one."""
    call = "s_getpc_b64 s[8:9]\ns_add_u32 s8, s8, f-. \ns_addc_u32 s9, s9, 0\ns_swappc_b64 s[10:11], s[8:9]\n"
    call = call.replace("f-. ", "f@rel32@lo+4").replace("s9, 0\n", "s9, f@rel32@hi+12\n")
    text = kernel_text(call, "gfx942", vgprs=64, name="large")
    text += kernel_text(call, "gfx942", vgprs=32, name="small").split("\n", 1)[1]
    text += ".text\nf: v_mov_b32 v40, 0\ns_setpc_b64 s[10:11]\n"
    code = CodeObject(assemble_code_object(text, "gfx942"), "gfx942")
    for _ in range(3):
        code.run("large", [30], [64])
        with pytest.raises(EngineFault, match="v40"):
            code.run("small", [30], [64])


METADATA = """
.amdgpu_metadata
amdhsa.version: [1, 2]
amdhsa.kernels:
  - {{.name: k, .symbol: k.kd, .kernarg_segment_size: 0, .kernarg_segment_align: 8, .group_segment_fixed_size: 0,
     .private_segment_fixed_size: 0, .wavefront_size: {lanes}, .sgpr_count: 32, .vgpr_count: {vgprs},
     .max_flat_workgroup_size: 1024, .args: []}}
.end_amdgpu_metadata
"""


@pytest.mark.parametrize(("arch", "lanes", "vgprs", "most"), [("gfx942", 64, 512, 256), ("gfx1100", 32, 256, 640)])
def test_block_with_too_many_registers(
    arch: str, lanes: int, vgprs: int, most: int, capfd: pytest.CaptureFixture[str]
) -> None:
    text = kernel_text("s_nop 0", arch, kernarg=0, vgprs=vgprs, accum=256) + METADATA.format(lanes=lanes, vgprs=vgprs)
    gpu = next(source := opened(arch))
    kernel = gpu.load(assemble_code_object(text, arch)).kernel("k")
    kernel.launch(1, most, [])
    gpu.synchronize()
    with fails("hipErrorLaunchOutOfResources"):
        kernel.launch(1, most + lanes, [])
    assert f"{most + lanes} threads with {vgprs} registers" in capfd.readouterr().err
    source.close()


def test_fault_through_hip() -> None:
    text = kernel_text("v_mov_b32 v99, 0", "gfx942", kernarg=0) + METADATA.format(lanes=64, vgprs=32)
    gpu = next(source := opened("gfx942"))
    gpu.load(assemble_code_object(text, "gfx942")).kernel("k").launch(1, 64, [])
    with fails("hipErrorIllegalInstruction"):
        gpu.synchronize()
    source.close()
