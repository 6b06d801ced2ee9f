"""Image instructions: MIMG, on GFX12 VIMAGE (called MIMG here too) and VSAMPLE. Semantics name a function of
runtime/vmem/vmem.h; what the address has besides coordinates follows from the name (`flags`)."""

from __future__ import annotations

from ptx2amd.vgpu.isa.encoding import DECODERS
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


def flags(op: Op) -> list[str]:
    """Members of enum image_flag that hold for an image instruction."""
    if not op.name.startswith("image_"):
        return []
    first, *suffixes = op.name.removeprefix("image_").replace("get_lod", "lod").split("_")
    if first in ("sample", "gather4", "gather4h", "lod"):
        found = ["IMAGE_SAMPLED", *(f"IMAGE_{_SUFFIXES[s]}" for s in suffixes)]
        return [*found, "IMAGE_GATHER"] if first.startswith("gather4") else found
    if "resinfo" in suffixes:
        return ["IMAGE_RESINFO", "IMAGE_MIP"]
    return ["IMAGE_MIP"] if "mip" in suffixes else []


def _sampled(name: str) -> list[Op]:
    call = "" if name == "gather4h" else "image_lod()" if name == "get_lod" else "image_sample()"
    return [Op(f"image_{name}", fmt, "d:b128, a:b32", call) for fmt in ("MIMG", "VSAMPLE")]


OPS = [
    *[Op(f"image_load{m}", "MIMG", "d:b128, a:b32", "image_load()") for m in ("", "_mip")],
    *[Op(f"image_store{m}", "MIMG", "a:b32, b:b128", "image_store()") for m in ("", "_mip")],
    *[Op(f"image_atomic_{name}", "MIMG", "d:b32, a:b32, b:b32", f"image_atomic(ATOMIC_{op})",
         names={"gfx12": f"image_atomic_{new}"} if new else {})
      for name, new, op in ATOMICS],
    Op("image_get_resinfo", "MIMG", "d:b128, a:b32", "image_resinfo()"),
    *[op for name in SAMPLES for op in _sampled(name) if any(op.opcode(arch) is not None for arch in DECODERS)],
]  # fmt: skip
