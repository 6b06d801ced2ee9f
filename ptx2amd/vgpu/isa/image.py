"""Image instructions: MIMG, on GFX12 VIMAGE (called MIMG here too) and VSAMPLE. Their handlers are functions of
runtime/vmem/vmem.h."""

from __future__ import annotations

from ptx2amd.vgpu.isa.encoding import DECODERS
from ptx2amd.vgpu.isa.meaning import Call
from ptx2amd.vgpu.isa.op import Op
from ptx2amd.vgpu.isa.survey_images import SAMPLES

#: (name, GFX12's name, operation)
ATOMICS = [
    ("swap", "", "SWAP"), ("cmpswap", "", "CMPSWAP"), ("add", "add_uint", "ADD"), ("sub", "sub_uint", "SUB"),
    ("smin", "min_int", "MIN_I"), ("umin", "min_uint", "MIN_U"), ("smax", "max_int", "MAX_I"),
    ("umax", "max_uint", "MAX_U"), ("and", "", "AND"), ("or", "", "OR"), ("xor", "", "XOR"), ("inc", "inc_uint", "INC"),
    ("dec", "dec_uint", "DEC"), ("fcmpswap", "", "CMPSWAP_F"), ("fmin", "min_num_flt", "MIN_F"),
    ("fmax", "max_num_flt", "MAX_F"), ("add_flt", "", "ADD_F"), ("pk_add_f16", "", "PK_ADD_F16"),
    ("pk_add_bf16", "", "PK_ADD_BF16"),
]  # fmt: skip
_SUFFIXES = {
    "o": "OFFSET", "b": "BIAS", "c": "COMPARE", "d": "GRAD", "cd": "GRAD", "l": "LOD", "cl": "CLAMP", "lz": "ZERO",
    "g16": "G16",
}  # fmt: skip


def _row(name: str, fmt: str, operands: str, call: Call | None, image: tuple[str, ...] = (), new: str = "") -> Op:
    """new: GFX12's name if it differs."""
    names = {"gfx12": f"image_{new}"} if new else {}
    return Op(f"image_{name}", fmt, operands, call or "", names=names, image=image)


def _sampled(name: str) -> list[Op]:
    """A row of survey_images.SAMPLES; its suffixes describe the address operands."""
    if name == "get_lod":
        call: Call | None = Call("image_lod")
        flags = ["IMAGE_SAMPLED"]
    else:
        kind, *suffixes = name.split("_")
        call = None if kind == "gather4h" else Call("image_sample")
        flags = ["IMAGE_SAMPLED", *(f"IMAGE_{_SUFFIXES[s]}" for s in suffixes)]
        flags += ["IMAGE_GATHER"] if kind != "sample" else []
    rows = [_row(name, fmt, "d:b128, a:b32", call, tuple(flags)) for fmt in ("MIMG", "VSAMPLE")]
    return [row for row in rows if any(row.opcode(arch) is not None for arch in DECODERS)]


def ops() -> list[Op]:
    mip = ("IMAGE_MIP",)
    return [
        _row("load", "MIMG", "d:b128, a:b32", Call("image_load")),
        _row("load_mip", "MIMG", "d:b128, a:b32", Call("image_load"), mip),
        _row("store", "MIMG", "a:b32, b:b128", Call("image_store")),
        _row("store_mip", "MIMG", "a:b32, b:b128", Call("image_store"), mip),
        *[_row(f"atomic_{name}", "MIMG", "d:b32, a:b32, b:b32", Call("image_atomic", (f"ATOMIC_{operation}",)),
               new=f"atomic_{new}" if new else "") for name, new, operation in ATOMICS],
        _row("get_resinfo", "MIMG", "d:b128, a:b32", Call("image_resinfo"), ("IMAGE_RESINFO", "IMAGE_MIP")),
        *[op for name in SAMPLES for op in _sampled(name)],
    ]  # fmt: skip
