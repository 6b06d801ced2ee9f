"""DS instructions: local memory and exchange between lanes. Their handlers are functions of runtime/vmem/vmem.h."""

from __future__ import annotations

from ptx2amd.vgpu.isa.meaning import Access, Call, How, atomic, moves
from ptx2amd.vgpu.isa.op import Op


def _row(name: str, operands: str, call: Call, access: Access | None = None, old: str = "") -> Op:
    """A row; `old` is the mnemonic on GFX9 if it differs."""
    return Op(name, "DS", operands, call, access=access, names={"gfx9": old} if old else {})


def _lanes(name: str, operands: str, function: str, *arguments: str, old: str = "") -> Op:
    """A row that does not access memory, or whose access the tools ignore."""
    return _row(name, operands, Call(function, arguments), old=old)


#: (name, gfx9's name, kind, register type)
_LOADS = [
    ("load_b32", "read_b32", "LOAD_B32", "b32"),
    ("load_i8", "read_i8", "LOAD_I8", "b32"),
    ("load_u8", "read_u8", "LOAD_U8", "b32"),
    ("load_i16", "read_i16", "LOAD_I16", "b32"),
    ("load_u16", "read_u16", "LOAD_U16", "b32"),
    ("load_b64", "read_b64", "LOAD_B64", "b64"),
    ("load_b96", "read_b96", "LOAD_B96", "b96"),
    ("load_b128", "read_b128", "LOAD_B128", "b128"),
    ("load_u8_d16", "read_u8_d16", "LOAD_D16_U8", "b32"),
    ("load_u8_d16_hi", "read_u8_d16_hi", "LOAD_D16_HI_U8", "b32"),
    ("load_i8_d16", "read_i8_d16", "LOAD_D16_I8", "b32"),
    ("load_i8_d16_hi", "read_i8_d16_hi", "LOAD_D16_HI_I8", "b32"),
    ("load_u16_d16", "read_u16_d16", "LOAD_D16", "b32"),
    ("load_u16_d16_hi", "read_u16_d16_hi", "LOAD_D16_HI", "b32"),
]
_STORES = [
    ("store_b32", "write_b32", "STORE_B32", "b32"),
    ("store_b8", "write_b8", "STORE_B8", "b32"),
    ("store_b16", "write_b16", "STORE_B16", "b32"),
    ("store_b64", "write_b64", "STORE_B64", "b64"),
    ("store_b96", "write_b96", "STORE_B96", "b96"),
    ("store_b128", "write_b128", "STORE_B128", "b128"),
    ("store_b8_d16_hi", "write_b8_d16_hi", "STORE_D16_HI_B8", "b32"),
    ("store_b16_d16_hi", "write_b16_d16_hi", "STORE_D16_HI_B16", "b32"),
]
#: (name, type letter, operation)
_ATOMICS = [
    ("add", "u", "ATOMIC_ADD"), ("sub", "u", "ATOMIC_SUB"), ("rsub", "u", "ATOMIC_RSUB"), ("inc", "u", "ATOMIC_INC"),
    ("dec", "u", "ATOMIC_DEC"), ("min", "i", "ATOMIC_MIN_I"), ("max", "i", "ATOMIC_MAX_I"),
    ("min", "u", "ATOMIC_MIN_U"), ("max", "u", "ATOMIC_MAX_U"), ("and", "b", "ATOMIC_AND"), ("or", "b", "ATOMIC_OR"),
    ("xor", "b", "ATOMIC_XOR"), ("mskor", "b", "ATOMIC_MSKOR"), ("cmpstore", "b", "ATOMIC_CMPSWAP"),
    ("cmpstore", "f", "ATOMIC_CMPSWAP_F"), ("min", "f", "ATOMIC_MIN_F"), ("max", "f", "ATOMIC_MAX_F"),
]  # fmt: skip
_TWO_OPERANDS = ("mskor", "cmpstore")


def _atomic(name: str, data: str, operation: str, bits: int, d: str = "", old: str = "") -> Op:
    """data: the operands with data; d: the result's type, if any."""
    operands = f"d:{d}, a:b32, {data}" if d else f"a:b32, {data}"
    return _row(name, operands, *atomic("ds", operation, bits, "true" if d else "false"), old)


def _atomics() -> list[Op]:
    rows = []
    for name, letter, operation in _ATOMICS:
        for bits in (32, 64):
            for rtn in ("", "_rtn"):
                t = f"b{bits}"
                data = f"b:{t}, c:{t}" if name in _TWO_OPERANDS else f"b:{t}"
                old = f"ds_cmpst{rtn}_{letter}{bits}" if name == "cmpstore" else ""
                rows.append(_atomic(f"ds_{name}{rtn}_{letter}{bits}", data, operation, bits, t if rtn else "", old))
    for bits in (32, 64):
        t = f"b{bits}"
        rows.append(_atomic(f"ds_storexchg_rtn_{t}", f"b:{t}", "ATOMIC_SWAP", bits, t, f"ds_wrxchg_rtn_{t}"))
    rows.append(_atomic("ds_wrap_rtn_b32", "b:b32, c:b32", "ATOMIC_WRAP", 32, "b32"))
    for name, t, operation, bits in (
        ("add{}_f32", "f32", "ATOMIC_ADD_F", 32), ("pk_add{}_f16", "b32", "ATOMIC_PK_ADD_F16", 32),
        ("pk_add{}_bf16", "b32", "ATOMIC_PK_ADD_BF16", 32), ("add{}_f64", "f64", "ATOMIC_ADD_F", 64),
        ("sub_clamp{}_u32", "b32", "ATOMIC_CSUB", 32), ("cond_sub{}_u32", "b32", "ATOMIC_COND_SUB", 32),
    ):  # fmt: skip
        rows += [_atomic(f"ds_{name.format(r)}", f"b:{t}", operation, bits, t if r else "") for r in ("", "_rtn")]
    return rows


def _two_addresses() -> list[Op]:
    rows = []
    for bits in (32, 64):
        for stride, old, far in (("", "", "false"), ("_stride64", "st64", "true")):
            b, n = f"b{bits}", bits // 8
            step = n * 64 if stride else n
            loads, stores = (
                Access("LDS2", n, How.READS, step, b.upper()),
                Access("LDS2", n, How.WRITES, step, b.upper()),
            )
            both = Access("LDS2", n, How.READS | How.WRITES | How.ATOMIC, step)
            rows += [
                _row(f"ds_store_2addr{stride}_{b}", f"a:b32, b:{b}, c:{b}", Call("ds_store2", (str(bits), far)), stores,
                     f"ds_write2{old}_{b}"),
                _row(f"ds_load_2addr{stride}_{b}", f"d:b{2 * bits}, a:b32", Call("ds_load2", (str(bits), far)), loads,
                     f"ds_read2{old}_{b}"),
                _row(f"ds_storexchg_2addr{stride}_rtn_{b}", f"d:b{2 * bits}, a:b32, b:{b}, c:{b}",
                     Call("ds_exchange2", (str(bits), far)), both, f"ds_wrxchg2{old}_rtn_{b}"),
            ]  # fmt: skip
    return rows


def _transposed(bits: int, size: int) -> Op:
    access = Access("LDS", size // 8, How.READS)
    return _row(f"ds_read_b{size}_tr_b{bits}", f"d:b{size}, a:b32",
                Call("ds_load_transposed", (f"LOAD_B{size}", str(bits))), access)  # fmt: skip


def ops() -> list[Op]:
    return [
        *[_row(f"ds_{name}", f"d:{t}, a:b32", *moves("ds", kind), f"ds_{old}") for name, old, kind, t in _LOADS],
        *[_row(f"ds_{name}", f"a:b32, b:{t}", *moves("ds", kind), f"ds_{old}") for name, old, kind, t in _STORES],
        *_two_addresses(),
        *_atomics(),
        _lanes("ds_bpermute_fi_b32", "d:b32, a:b32, b:b32", "ds_bpermute_fi"),
        _lanes("ds_condxchg32_rtn_b64", "d:b64, a:b32, b:b64", "ds_condxchg32"),
        _lanes("ds_nop", "", "fence"),
        _lanes("ds_swizzle_b32", "d:b32, a:b32", "ds_swizzle"),
        _lanes("ds_permute_b32", "d:b32, a:b32, b:b32", "ds_permute"),
        _lanes("ds_bpermute_b32", "d:b32, a:b32, b:b32", "ds_bpermute"),
        _lanes("ds_store_addtid_b32", "b:b32", "ds_addtid", "true", old="ds_write_addtid_b32"),
        _lanes("ds_load_addtid_b32", "d:b32", "ds_addtid", "false", old="ds_read_addtid_b32"),
        *[_transposed(bits, size) for bits, size in ((16, 64), (8, 64), (4, 64), (6, 96))],
        _lanes("ds_gws_init", "a:b32", "ds_gws_init"),
        _lanes("ds_gws_barrier", "a:b32", "ds_gws_barrier"),
        _lanes("ds_consume", "d:b32", "ds_append", "-1"),
        _lanes("ds_append", "d:b32", "ds_append", "1"),
    ]
