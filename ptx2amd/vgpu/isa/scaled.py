"""gfx950's conversions between f32, f16, bf16 and floats of 8, 6 and 4 bits with a scale
(runtime/valu/valu_scaled.c)."""

from __future__ import annotations

from ptx2amd.vgpu.isa.meaning import SmallFloats
from ptx2amd.vgpu.isa.op import Op

_WIDE = ("f32", "f16", "bf16")
_EIGHT, _SIX = ("fp8", "bf8"), ("fp6", "bf6")
#: Registers of two and of 32 values.
_TWO = {"f32": "b64", "f16": "b32", "bf16": "b32"}
_MANY = {"f32": "b1024", "f16": "b512", "bf16": "b512"}


def _row(name: str, operands: str, kind: str, small: str, wide: str, count: int, sources: int, stochastic: bool) -> Op:
    shape = SmallFloats(kind, small, wide, count, sources, stochastic)
    return Op(f"v_cvt_scalef32_{name}", "VOP3", operands, shape, archs=("gfx950",), keeps_high_half=True)


def _to(name: str, d: str, values: str, small: str, wide: str, count: int, *, stochastic: bool = False) -> Op:
    """A row that produces small floats; `values`: types of the operands that hold them."""
    types = [*values.split(), *(["b32"] if stochastic else []), "b32"]
    operands = f"d=:{d}, " + ", ".join(f"{n}:{t}" for n, t in zip("abc", types, strict=False))
    return _row(name, operands, "narrow", small, wide, count, len(values.split()), stochastic)


def _from(name: str, d: str, a: str, small: str, wide: str, count: int) -> Op:
    read = "=" if d == "b16" else ""
    return _row(name, f"d{read}:{d}, a:{a}, b:b32", "widen", small, wide, count, 1, False)


def ops() -> list[Op]:
    rows = []
    for wide in _WIDE:
        two, many = _TWO[wide], _MANY[wide]
        for small in _EIGHT:
            pair = "b32 b32" if wide == "f32" else "b32"
            rows.append(_to(f"pk_{small}_{wide}", "b32", pair, small, wide, 2))
            rows.append(_to(f"sr_{small}_{wide}", "b32", "b32", small, wide, 1, stochastic=True))
            rows.append(_from(f"pk_{wide}_{small}", two, "b32", small, wide, 2))
            if wide != "bf16":
                rows.append(_from(f"{wide}_{small}", "b32" if wide == "f32" else "b16", "b32", small, wide, 1))
        rows.append(_to(f"pk_fp4_{wide}", "b32", "b32 b32" if wide == "f32" else "b32", "fp4", wide, 2))
        rows.append(_to(f"sr_pk_fp4_{wide}", "b32", two, "fp4", wide, 2, stochastic=True))
        rows.append(_from(f"pk_{wide}_fp4", two, "b32", "fp4", wide, 2))
        for small in _SIX:
            if wide == "f32":
                rows.append(_to(f"2xpk16_{small}_f32", "b192", "b512 b512", small, wide, 32))
            else:
                rows.append(_to(f"pk32_{small}_{wide}", "b192", many, small, wide, 32))
            rows.append(_to(f"sr_pk32_{small}_{wide}", "b192", many, small, wide, 32, stochastic=True))
            rows.append(_from(f"pk32_{wide}_{small}", many, "b192", small, wide, 32))
    return rows
