"""Scalar memory instructions. The handlers are C macros of runtime/engine/scalar.h, one per kind."""

from __future__ import annotations

from ptx2amd.vgpu.isa.meaning import MESSAGE, Access, How, controls
from ptx2amd.vgpu.isa.op import Op

_NOTHING = ";"


def _reads(bits: int) -> Access:
    return Access("SCALAR", bits // 8, How.READS)


def _loads() -> list[Op]:
    rows = []
    for bits, old in ((32, ""), (64, "x2"), (128, "x4"), (256, "x8"), (512, "x16")):
        for kind, base, access in (("load", "b64", _reads(bits)), ("buffer_load", "b128", None)):
            rows.append(
                Op(f"s_{kind}_b{bits}", "SMEM", f"d:b{bits}, a!s:{base}", f"return scalar_{kind}(w, i, {bits // 32});",
                   names={"gfx9": f"s_{kind}_dword{old}"}, access=access)
            )  # fmt: skip
    return rows


def _stores() -> list[Op]:
    return [
        Op(f"s_store_dword{old}", "SMEM", f"c!s:b{n * 32}, a!s:b64", f"return scalar_store(w, i, {n});")
        for n, old in ((1, ""), (2, "x2"), (4, "x4"))
    ]


def ops() -> list[Op]:
    return [
        *_loads(),
        *_stores(),
        Op("s_load_b96", "SMEM", "d:b96, a!s:b64", "return scalar_load(w, i, 3);", access=_reads(96)),
        Op("s_buffer_load_b96", "SMEM", "d:b96, a!s:b128", "return scalar_buffer_load(w, i, 3);"),
        *[
            Op(
                f"s_load_{t}{bits}",
                "SMEM",
                "d:b32, a!s:b64",
                f"return scalar_load_small(w, i, {bits // 8}, {signed});",
                access=_reads(bits),
            )
            for t, signed in (("i", "true"), ("u", "false"))
            for bits in (8, 16)
        ],
        *[
            Op(
                f"s_buffer_load_{t}{bits}",
                "SMEM",
                "d:b32, a!s:b128",
                f"return scalar_buffer_load_small(w, i, {bits // 8}, {signed});",
            )
            for t, signed in (("i", "true"), ("u", "false"))
            for bits in (8, 16)
        ],
        *[Op(f"s_prefetch_{kind}", "SMEM", "", _NOTHING) for kind in ("inst", "inst_pc_rel", "data", "data_pc_rel")],
        Op("s_buffer_prefetch_data", "SMEM", "", _NOTHING),
        Op("s_dcache_inv", "SMEM", "", _NOTHING, order=controls("SCALAR")),
        Op("s_dcache_wb", "SMEM", "", _NOTHING),
        Op("s_dcache_inv_vol", "SMEM", "", _NOTHING, order=controls("SCALAR")),
        Op("s_dcache_wb_vol", "SMEM", "", _NOTHING),
        Op("s_gl1_inv", "SMEM", "", _NOTHING, order=controls("MIDDLE")),
        Op("s_memtime", "SMEM", "d:b64", "write64(w, i->dst, clock_cycles());", order=MESSAGE),
        Op("s_memrealtime", "SMEM", "d:b64", "write64(w, i->dst, clock_100mhz());", order=MESSAGE),
    ]
