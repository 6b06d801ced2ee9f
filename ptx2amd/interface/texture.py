"""Descriptors of textures and surfaces, in device memory: an object's handle is the address of its descriptor."""

from __future__ import annotations

from ptx2amd.interface.layout import Field, Layout, Number

TEXTURE_INTEGERS = Number(1, "flag: integers stay integers")
TEXTURE_NORMALIZED = Number(2, "flag: coordinates are normalized")
TEXTURE_SRGB = Number(4, "flag: bytes are sRGB, to be made linear")
ADDRESS_WRAP, ADDRESS_CLAMP, ADDRESS_MIRROR, ADDRESS_BORDER = (
    Number(number, f"address mode: {name}") for number, name in enumerate(("wrap", "clamp", "mirror", "border"))
)
KIND_TEXTURE, KIND_SURFACE = Number(1, "a texture object"), Number(2, "a surface object")

_GEOMETRY = (
    Field("base", "u64", "address of the first texel"),
    Field("slice", "u64", "bytes from one slice, or layer, to the next"),
    Field("pitch", "u32", "bytes from one row to the next"),
    Field("width", "u32", "texels"),
    Field("height", "u32", "texels; 0: one dimension"),
    Field("depth", "u32", "texels; 0: two dimensions"),
)
LEVEL = Layout("texture_level", "A level of a mipmap: what it has of its own.", *_GEOMETRY)
DESCRIPTOR = Layout(
    "texture_descriptor", "A texture or a surface.",
    *_GEOMETRY,
    Field("layers", "u32", "0: not layered"),
    Field("format", "u32", "as CUarray_format"),
    Field("channels", "u32", "1, 2 or 4"),
    Field("texel", "u32", "bytes of a texel"),
    Field("modes", "u32", "address modes of the axes: wrap and mirror only with TEXTURE_NORMALIZED", count=3),
    Field("filter", "u32", "0 point, 1 linear"),
    Field("flags", "u32", "TEXTURE_INTEGERS and others"),
    Field("border", "u32", "colour of the border: channels as a texel holds them", count=4),
    Field("kind", "u32", "KIND_TEXTURE or KIND_SURFACE"),
    Field("size", "u32", "bytes of a channel"),
    Field("levels", "u32", "of a mipmap; 0 and 1: none"),
    Field("table", "u64", "of its levels: a `texture_level` each"),
    Field("bias", "f32", "added to levels of detail, which are then clamped"),
    Field("least", "f32", "level of detail"),
    Field("most", "f32", "level of detail"),
    Field("blend", "u32", "whether neighbouring levels are mixed"),
    size=128,
)  # fmt: skip
