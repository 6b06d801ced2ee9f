"""Vector instructions as sequences of AVX-512 instructions, for the translation to native code (runtime/native.c).

A sequence does 16 lanes. `x = op y z` is one x86 instruction; its operands are

    A B C K, AH BH CH   sources: the row's operands by name, H the high dword of a 64-bit one
    O OH                what the destination held before
    D DH                the result (each is complete once it was last written)
    E                   a lane mask result: v_cmp's, a carry; sources that are lane masks are mask registers
    S T U V X           temporaries;  P Q R  temporary mask registers;  ODD  the mask register of odd lanes
    #n                  a constant in all lanes
    x = op y z          of vfmadd132ps and vpternlogd: x is read too
    x{m} = ...          only the lanes in mask register m; the others keep what x was (mask results: 0)
    op/n                the instruction's immediate byte

Operations on constants are done at translation, and what does not contribute to a result that is wanted is left out.
A row without a sequence is called as the interpreter calls it.
"""

from __future__ import annotations

import struct

from ptx2amd.vgpu.isa.vopc import FLOAT_RELATIONS, INTEGER_RELATIONS


def _f32(value: float) -> str:
    """The bits of a constant as #n."""
    return f"#{struct.unpack('<I', struct.pack('<f', value))[0]:#x}"


#: x86 instruction -> (opcode map, prefix 0-3: none 66 F3 F2, W, opcode, shape). Shapes: see enum x86_shape.
X86 = {
    "vpaddd": (1, 1, 0, 0xFE, "BINARY"), "vpsubd": (1, 1, 0, 0xFA, "BINARY"), "vpandd": (1, 1, 0, 0xDB, "BINARY"),
    "vpord": (1, 1, 0, 0xEB, "BINARY"), "vpxord": (1, 1, 0, 0xEF, "BINARY"), "vpmulld": (2, 1, 0, 0x40, "BINARY"),
    "vpmuludq": (1, 1, 1, 0xF4, "BINARY"), "vpmuldq": (2, 1, 1, 0x28, "BINARY"),
    "vpsllvd": (2, 1, 0, 0x47, "BINARY"), "vpsrlvd": (2, 1, 0, 0x45, "BINARY"), "vpsravd": (2, 1, 0, 0x46, "BINARY"),
    "vpminsd": (2, 1, 0, 0x39, "BINARY"), "vpmaxsd": (2, 1, 0, 0x3D, "BINARY"),
    "vpminud": (2, 1, 0, 0x3B, "BINARY"), "vpmaxud": (2, 1, 0, 0x3F, "BINARY"),
    "vaddps": (1, 0, 0, 0x58, "BINARY"), "vsubps": (1, 0, 0, 0x5C, "BINARY"), "vmulps": (1, 0, 0, 0x59, "BINARY"),
    "vrangeps": (3, 1, 0, 0x50, "BINARY_IMM"), "vpternlogd": (3, 1, 0, 0x25, "CHANGE_IMM"),
    "vfmadd132ps": (2, 1, 0, 0x98, "CHANGE"),
    "vpsrlq": (1, 1, 1, 0x73, "SHIFT2"), "vpsllq": (1, 1, 1, 0x73, "SHIFT6"),
    "vcvtdq2ps": (1, 0, 0, 0x5B, "UNARY"), "vcvtudq2ps": (1, 3, 0, 0x7A, "UNARY"),
    "vcvttps2dq": (1, 2, 0, 0x5B, "UNARY"), "vcvttps2udq": (1, 0, 0, 0x78, "UNARY"),
    "vrndscaleps": (3, 1, 0, 0x08, "UNARY_IMM"), "mov": (1, 1, 0, 0x6F, "UNARY"),
    "vpblendmd": (2, 1, 0, 0x64, "BINARY"),
    "vpcmpd": (3, 1, 0, 0x1F, "COMPARE"), "vpcmpud": (3, 1, 0, 0x1E, "COMPARE"), "vcmpps": (1, 0, 0, 0xC2, "COMPARE"),
    "vpmovd2m": (2, 2, 0, 0x39, "TO_MASK"), "korw": (1, 0, 0, 0x45, "MASKS"),
}  # fmt: skip

_CARRY_IN = "T = vpaddd A B; P = vpcmpud/1 T A; D = mov T; D{C} = vpsubd D #0xffffffff; Q = vpcmpud/1 D T; E = korw P Q"
_BORROW = (
    "T = vpsubd {0} {1}; P = vpcmpud/1 {0} {1}; D = mov T; D{{C}} = vpaddd D #0xffffffff; "
    "Q = vpcmpud/1 T D; E = korw P Q"
)
_WIDE = "S = {mul} A B; T = vpsrlq/32 A; U = vpsrlq/32 B; T = {mul} T U; S = vpsrlq/32 S; S{{ODD}} = mov T"
_MAD64 = (
    "X = vpmulld A B; {wide}; D = vpaddd X C; P = vpcmpud/1 D X; T = vpaddd S CH; DH = mov T; "
    "DH{{P}} = vpsubd DH #0xffffffff"
)
_SHIFT = "S = vpandd A #63; T = vpsubd #32 S; U = vpsubd S #32"
_INT24 = "S = vpsllvd A #8; S = vpsravd S #8; T = vpsllvd B #8; T = vpsravd T #8"

#: Row -> sequence.
SEQUENCES = {
    "v_mov_b32": "D = mov A",
    "v_mov_b64": "D = mov A; DH = mov AH",
    "v_not_b32": "D = vpxord A #0xffffffff",
    "v_add_nc_u32": "D = vpaddd A B",
    "v_add_nc_i32": "D = vpaddd A B",
    "v_sub_nc_u32": "D = vpsubd A B",
    "v_sub_nc_i32": "D = vpsubd A B",
    "v_subrev_nc_u32": "D = vpsubd B A",
    "v_add_co_u32": "D = vpaddd A B; E = vpcmpud/1 D A",
    "v_sub_co_u32": "D = vpsubd A B; E = vpcmpud/1 A B",
    "v_subrev_co_u32": "D = vpsubd B A; E = vpcmpud/1 B A",
    "v_add_co_ci_u32": _CARRY_IN,
    "v_sub_co_ci_u32": _BORROW.format("A", "B"),
    "v_subrev_co_ci_u32": _BORROW.format("B", "A"),
    "v_and_b32": "D = vpandd A B",
    "v_or_b32": "D = vpord A B",
    "v_xor_b32": "D = vpxord A B",
    "v_xnor_b32": "T = vpxord A B; D = vpxord T #0xffffffff",
    "v_lshlrev_b32": "S = vpandd A #31; D = vpsllvd B S",
    "v_lshrrev_b32": "S = vpandd A #31; D = vpsrlvd B S",
    "v_ashrrev_i32": "S = vpandd A #31; D = vpsravd B S",
    "v_lshlrev_b64": f"{_SHIFT}; V = vpsllvd BH S; T = vpsrlvd B T; U = vpsllvd B U; V = vpord V T; DH = vpord V U; "
    "D = vpsllvd B S",
    "v_lshrrev_b64": f"{_SHIFT}; V = vpsrlvd B S; T = vpsllvd BH T; U = vpsrlvd BH U; V = vpord V T; D = vpord V U; "
    "DH = vpsrlvd BH S",
    "v_ashrrev_i64": f"{_SHIFT}; V = vpsrlvd B S; T = vpsllvd BH T; V = vpord V T; U = vpsravd BH U; "
    "P = vpcmpud/6 S #31; D = mov V; D{P} = mov U; DH = vpsravd BH S",
    "v_lshl_add_u64": "S = vpandd B #7; T = vpsllvd A S; U = vpsllvd AH S; S = vpsubd #32 S; S = vpsrlvd A S; "
    "U = vpord U S; D = vpaddd T C; P = vpcmpud/1 D C; DH = vpaddd U CH; DH{P} = vpsubd DH #0xffffffff",
    "v_lshl_add_u32": "S = vpandd B #31; S = vpsllvd A S; D = vpaddd S C",
    "v_add_lshl_u32": "S = vpandd C #31; T = vpaddd A B; D = vpsllvd T S",
    "v_lshl_or_b32": "S = vpandd B #31; S = vpsllvd A S; D = vpord S C",
    "v_add3_u32": "T = vpaddd A B; D = vpaddd T C",
    "v_xad_u32": "T = vpxord A B; D = vpaddd T C",
    "v_and_or_b32": "T = vpandd A B; D = vpord T C",
    "v_or3_b32": "T = vpord A B; D = vpord T C",
    "v_xor3_b32": "T = vpxord A B; D = vpxord T C",
    "v_bfi_b32": "D = mov A; D = vpternlogd/0xca B C",
    "v_bfe_u32": "S = vpandd B #31; T = vpsrlvd A S; S = vpandd C #31; S = vpsllvd #1 S; S = vpaddd S #0xffffffff; "
    "D = vpandd T S",
    "v_bfe_i32": "S = vpandd B #31; T = vpsrlvd A S; S = vpandd C #31; U = vpsllvd #1 S; U = vpaddd U #0xffffffff; "
    "T = vpandd T U; S = vpsubd S #1; S = vpsllvd #1 S; T = vpxord T S; D = vpsubd T S",
    "v_alignbit_b32": "S = vpandd C #31; T = vpsrlvd B S; S = vpsubd #32 S; S = vpsllvd A S; D = vpord S T",
    "v_mul_lo_u32": "D = vpmulld A B",
    "v_mul_hi_u32": _WIDE.format(mul="vpmuludq") + "; D = mov S",
    "v_mul_hi_i32": _WIDE.format(mul="vpmuldq") + "; D = mov S",
    "v_mul_u32_u24": "S = vpandd A #0xffffff; T = vpandd B #0xffffff; D = vpmulld S T",
    "v_mul_i32_i24": f"{_INT24}; D = vpmulld S T",
    "v_mad_u32_u24": "S = vpandd A #0xffffff; T = vpandd B #0xffffff; S = vpmulld S T; D = vpaddd S C",
    "v_mad_i32_i24": f"{_INT24}; S = vpmulld S T; D = vpaddd S C",
    "v_mad_u64_u32": _MAD64.format(wide=_WIDE.format(mul="vpmuludq"))
    + "; P = vpcmpud/1 T S; Q = vpcmpud/1 DH T; E = korw P Q",
    "v_mad_i64_i32": _MAD64.format(wide=_WIDE.format(mul="vpmuldq"))
    + "; U = vpxord S DH; V = vpxord CH DH; U = vpandd U V; U = vpxord U DH; E = vpmovd2m U",
    "v_min_i32": "D = vpminsd A B",
    "v_max_i32": "D = vpmaxsd A B",
    "v_min_u32": "D = vpminud A B",
    "v_max_u32": "D = vpmaxud A B",
    "v_min3_i32": "T = vpminsd A B; D = vpminsd T C",
    "v_max3_i32": "T = vpmaxsd A B; D = vpmaxsd T C",
    "v_min3_u32": "T = vpminud A B; D = vpminud T C",
    "v_max3_u32": "T = vpmaxud A B; D = vpmaxud T C",
    "v_med3_i32": "T = vpminsd A B; U = vpmaxsd A B; U = vpminsd U C; D = vpmaxsd T U",
    "v_med3_u32": "T = vpminud A B; U = vpmaxud A B; U = vpminud U C; D = vpmaxud T U",
    "v_cndmask_b32": "D = mov A; D{C} = mov B",
    "v_add_f32": "D = vaddps A B",
    "v_sub_f32": "D = vsubps A B",
    "v_subrev_f32": "D = vsubps B A",
    "v_mul_f32": "D = vmulps A B",
    "v_fmac_f32": "D = mov A; D = vfmadd132ps O B",
    "v_fma_f32": "D = mov A; D = vfmadd132ps C B",
    "v_fmamk_f32": "D = mov A; D = vfmadd132ps B K",
    "v_fmaak_f32": "D = mov A; D = vfmadd132ps K B",
    "v_min_f32": f"S = vmulps A {_f32(1)}; T = vmulps B {_f32(1)}; D = vrangeps/4 T S",
    "v_max_f32": f"S = vmulps A {_f32(1)}; T = vmulps B {_f32(1)}; D = vrangeps/5 T S",
    "v_floor_f32": f"T = vrndscaleps/9 A; D = vmulps T {_f32(1)}",
    "v_ceil_f32": f"T = vrndscaleps/10 A; D = vmulps T {_f32(1)}",
    "v_trunc_f32": f"T = vrndscaleps/11 A; D = vmulps T {_f32(1)}",
    "v_rndne_f32": f"T = vrndscaleps/8 A; D = vmulps T {_f32(1)}",
    "v_cvt_f32_i32": "D = vcvtdq2ps A",
    "v_cvt_f32_u32": "D = vcvtudq2ps A",
    "v_cvt_i32_f32": f"D = vcvttps2dq A; P = vcmpps/0x1d A {_f32(2**31)}; D{{P}} = mov #0x7fffffff; "
    "Q = vcmpps/3 A A; D{Q} = mov #0",
    "v_cvt_u32_f32": "D = vcvttps2udq A; P = vcmpps/0x19 A #0; D{P} = mov #0",
    **{
        f"v_cvt_f32_ubyte{k}": f"T = vpsrlvd A #{8 * k}; T = vpandd T #255; D = vcvtdq2ps T"
        for k in range(4)
    },
}  # fmt: skip

#: Relation -> vpcmp's and vcmpps's predicates.
_INTEGER = {"lt": 1, "eq": 0, "le": 2, "gt": 6, "ne": 4, "ge": 5}
_FLOAT = {
    "lt": 0x11, "eq": 0, "le": 0x12, "gt": 0x1E, "lg": 0x0C, "ge": 0x1D, "o": 7, "u": 3, "nge": 0x19, "nlg": 8,
    "ngt": 0x1A, "nle": 0x16, "neq": 4, "nlt": 0x15,
}  # fmt: skip
for _relation in INTEGER_RELATIONS:
    if _relation in _INTEGER:
        _n = _INTEGER[_relation]
        SEQUENCES[f"v_cmp_{_relation}_i32"] = f"E = vpcmpd/{_n} A B"
        SEQUENCES[f"v_cmp_{_relation}_u32"] = f"E = vpcmpud/{_n} A B"
for _relation in FLOAT_RELATIONS:
    if _relation in _FLOAT:
        SEQUENCES[f"v_cmp_{_relation}_f32"] = f"E = vcmpps/{_FLOAT[_relation]} A B"
for _sign, _compare in (("i", "vpcmpd"), ("u", "vpcmpud")):
    for _relation, _high, _low in (("lt", 1, 1), ("le", 1, 2), ("gt", 6, 6), ("ge", 6, 5)):
        SEQUENCES[f"v_cmp_{_relation}_{_sign}64"] = (
            f"P = {_compare}/{_high} AH BH; Q = vpcmpd/0 AH BH; Q{{Q}} = vpcmpud/{_low} A B; E = korw P Q"
        )
    SEQUENCES[f"v_cmp_eq_{_sign}64"] = "P = vpcmpd/0 AH BH; E{P} = vpcmpd/0 A B"
    SEQUENCES[f"v_cmp_ne_{_sign}64"] = "P = vpcmpd/4 AH BH; Q = vpcmpd/4 A B; E = korw P Q"

#: v_cmpx: the same lane mask goes to EXEC (runtime/native.c knows where).
SEQUENCES |= {name.replace("v_cmp_", "v_cmpx_"): text for name, text in SEQUENCES.items() if name.startswith("v_cmp_")}

#: Rows that the sequences hold for only without MODE's IEEE bit, or without GFX9's register index mode.
NEEDS_IEEE_OFF = ("v_min_f32", "v_max_f32")
NEEDS_INDEX_OFF = ("v_mov_b32",)

#: Scalar row -> (what it does: enum native_scalar_how, 64 bits, second operand complemented).
SCALAR: dict[str, tuple[str, int, int]] = {
    "s_mov_b32": ("MOVE", 0, 0), "s_mov_b64": ("MOVE", 1, 0), "s_movk_i32": ("MOVE_IMMEDIATE", 0, 0),
    "s_add_u32": ("ADD", 0, 0), "s_add_i32": ("ADD_SIGNED", 0, 0), "s_addc_u32": ("ADD_CARRY", 0, 0),
    "s_sub_u32": ("SUB", 0, 0), "s_sub_i32": ("SUB_SIGNED", 0, 0), "s_subb_u32": ("SUB_BORROW", 0, 0),
    "s_mul_i32": ("MULTIPLY", 0, 0), "s_ashr_i32": ("SHIFT_SIGNED", 0, 0), "s_ashr_i64": ("SHIFT_SIGNED", 1, 0),
}  # fmt: skip
for _bits in (32, 64):
    _wide = int(_bits == 64)
    for _name, _how, _inverted in (
        ("and", "AND", 0), ("or", "OR", 0), ("xor", "XOR", 0), ("and_not1", "AND", 1), ("or_not1", "OR", 1),
        ("lshl", "SHIFT_LEFT", 0), ("lshr", "SHIFT_RIGHT", 0), ("cselect", "SELECT", 0),
        ("and_saveexec", "SAVE_AND", 0), ("or_saveexec", "SAVE_OR", 0), ("xor_saveexec", "SAVE_XOR", 0),
        ("and_not1_saveexec", "SAVE_AND", 1), ("or_not1_saveexec", "SAVE_OR", 1),
    ):  # fmt: skip
        SCALAR[f"s_{_name}_b{_bits}"] = (_how, _wide, _inverted)
#: Of comparisons the second number is the relation, the third whether it is unsigned.
for _relation_number, _relation in enumerate(("eq", "lg", "gt", "ge", "lt", "le")):
    for _type in ("i32", "u32"):
        SCALAR[f"s_cmp_{_relation}_{_type}"] = ("COMPARE", _relation_number, int(_type == "u32"))
