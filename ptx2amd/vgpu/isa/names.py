"""Alternative names of an instruction on some architectures, in addition to those in its row."""

from __future__ import annotations

from functools import cache

#: The row's name -> the others, except those that follow from rules.
_ALIASES: dict[str, tuple[str, ...]] = {
    "s_add_u32": ("s_add_co_u32",),
    "s_sub_u32": ("s_sub_co_u32",),
    "s_add_i32": ("s_add_co_i32",),
    "s_sub_i32": ("s_sub_co_i32",),
    "s_addc_u32": ("s_add_co_ci_u32",),
    "s_subb_u32": ("s_sub_co_ci_u32",),
    "s_addk_i32": ("s_addk_co_i32",),
    "s_getpc_b64": ("s_get_pc_i64",),
    "s_setpc_b64": ("s_set_pc_i64",),
    "s_swappc_b64": ("s_swap_pc_i64",),
    "s_call_b64": ("s_call_i64",),
    "global_load_tr_b128": ("global_load_tr16_b128",),
    "s_set_inst_prefetch_distance": ("s_inst_prefetch",),
    "v_cvt_pk_rtz_f16_f32": ("v_cvt_pkrtz_f16_f32",),
    "v_mul_dx9_zero_f32": ("v_mul_legacy_f32",),
    "v_fmac_dx9_zero_f32": ("v_fmac_legacy_f32",),
    "v_fma_dx9_zero_f32": ("v_fma_legacy_f32",),
    "v_mad_u64_u32": ("v_mad_co_u64_u32",),
    "v_mad_i64_i32": ("v_mad_co_i64_i32",),
}


#: Names on gfx9 -> names on gfx803, which gfx9 uses for other instructions. opcodes.tsv has gfx9's.
GFX8_NAMES: dict[str, str] = {
    **{f"v_{op}_co_u32": f"v_{op}_u32" for op in ("add", "sub", "subrev", "addc", "subb", "subbrev")},
    **{
        f"v_{op}_legacy_{t}": f"v_{op}_{t}"
        for op, t in (("mad", "f16"), ("mad", "u16"), ("mad", "i16"), ("fma", "f16"))
    },
    "v_div_fixup_legacy_f16": "v_div_fixup_f16",
}
#: Architecture -> name in opcodes.tsv -> the assembler's.
ASSEMBLY = {"gfx803": GFX8_NAMES}


def _float_extrema(found: dict[str, tuple[str, ...]]) -> None:
    """GFX12 adds `num` to minimum and maximum that return the number if one operand is a NaN."""
    for t in ("f16", "f32", "f64"):
        for op in ("min", "max"):
            found[f"v_{op}_{t}"] = (f"v_{op}_num_{t}",)
            found[f"v_{op}3_{t}"] = (f"v_{op}3_num_{t}",)
            found[f"v_pk_{op}_{t}"] = (f"v_pk_{op}_num_{t}",)
            found[f"ds_{op}_{t}"] = (f"ds_{op}_num_{t}",)
            found[f"ds_{op}_rtn_{t}"] = (f"ds_{op}_num_rtn_{t}",)
        for op in ("med3", "minmax", "maxmin"):
            found[f"v_{op}_{t}"] = (f"v_{op}_num_{t}",)


def _memory(found: dict[str, tuple[str, ...]]) -> None:
    """GFX10 keeps GFX9's names of integer atomics and renames the others."""
    for prefix in ("flat", "global", "buffer"):
        for t, x2 in (("f32", ""), ("f64", "_x2")):
            found[f"{prefix}_atomic_cmpswap_{t}"] = (f"{prefix}_atomic_fcmpswap{x2}",)
            for op in ("min", "max"):
                found[f"{prefix}_atomic_{op}_{t}"] = (
                    f"{prefix}_atomic_{op}_num_{t}", f"{prefix}_atomic_f{op}{x2}",
                )  # fmt: skip
        found[f"{prefix}_atomic_csub_u32"] = (f"{prefix}_atomic_csub", f"{prefix}_atomic_sub_clamp_u32")
    found["global_load_addtid_b32"] = ("global_load_dword_addtid",)
    found["global_store_addtid_b32"] = ("global_store_dword_addtid",)


def _mfma(found: dict[str, tuple[str, ...]]) -> None:
    """gfx908 and gfx90a: no underscores, no number of blocks."""
    for shape, old, name in (
        ("32x32x1_2b", "32x32x1", "f32"), ("16x16x1_4b", "16x16x1", "f32"), ("4x4x1_16b", "4x4x1", "f32"),
        ("32x32x2", "32x32x2", "f32"), ("16x16x4", "16x16x4", "f32"), ("32x32x4_2b", "32x32x4", "f16"),
        ("16x16x4_4b", "16x16x4", "f16"), ("4x4x4_16b", "4x4x4", "f16"), ("32x32x8", "32x32x8", "f16"),
        ("16x16x16", "16x16x16", "f16"), ("32x32x4_2b", "32x32x4", "bf16"), ("16x16x4_4b", "16x16x4", "bf16"),
        ("4x4x4_16b", "4x4x4", "bf16"), ("32x32x8", "32x32x8", "bf16"), ("16x16x16", "16x16x16", "bf16"),
        ("16x16x4", "16x16x4", "f64"), ("4x4x4_4b", "4x4x4", "f64"), ("32x32x4_2b", "32x32x4", "i8"),
        ("16x16x4_4b", "16x16x4", "i8"), ("4x4x4_16b", "4x4x4", "i8"),
    ):  # fmt: skip
        result = {"f64": "f64", "i8": "i32"}.get(name, "f32")
        suffix = "_1k" if name == "bf16" else ""
        found[f"v_mfma_{result}_{shape}_{name}"] = (f"v_mfma_{result}_{old}{name}{suffix}",)


@cache
def aliases() -> dict[str, tuple[str, ...]]:
    """The row's name -> the others."""
    found = dict(_ALIASES)
    for add in (_float_extrema, _memory, _mfma):
        add(found)
    return found
