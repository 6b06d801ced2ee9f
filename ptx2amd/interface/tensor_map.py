"""Tensor maps: a tensor in global memory, and the box that one copy takes from it. CUDA's are opaque; these are ours.
The names are those of PTX's tensormap.replace, where it has the field."""

from __future__ import annotations

from ptx2amd.interface.layout import Field, Layout, Number

MAP_TAG = Number(0x50414D54, "what tells a tensor map from other bytes: TMAP")
MAP_TILED, MAP_IM2COL, MAP_IM2COL_W, MAP_IM2COL_W128 = (
    Number(number, f"mode: {name}") for number, name in enumerate(("tiled", "im2col", "im2col::w", "im2col::w::128"))
)

MAP = Layout(
    "tensor_map", "The 128 bytes of a CUtensorMap.",
    Field("global_address", "u64", "the tensor"),
    Field("global_dim", "u32", "sizes, less 1", count=5),
    Field("tag", "u32", "MAP_TAG"),
    Field("global_stride", "u64", "bytes, of dimensions 1 to 4", count=4),
    Field("box_dim", "u16", "the box; im2col: channels, pixels", count=5),
    Field("element_stride", "u8", "steps of the box", count=5),
    Field("rank", "u8", "dimensions, less 1"),
    Field("elemtype", "u8", "as tensormap.replace numbers them"),
    Field("interleave_layout", "u8", "0: none"),
    Field("swizzle_mode", "u8", "none, 32, 64, 128 bytes"),
    Field("swizzle_atomicity", "u8", "16, 32, 32 with flip, 64 bytes"),
    Field("fill_mode", "u8", "zeros, NaN (0x7ff7 in 16 bits)"),
    Field("mode", "u8", "MAP_TILED and others"),
    Field("lower", "i16", "lower corner of the im2col box: W, H, D; of im2col::w: W", count=3, at=88),
    Field("upper", "i16", "upper corner", count=3),
    size=128,
)  # fmt: skip
