"""Image and sampler descriptors (T#, S#) and buffer descriptors (V#) of each generation, for tests: AMD's ISA documents
and register tables, written down a second time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

#: name -> (GFX9 data format, number format, GFX10's number, GFX11's and GFX12's number)
FORMATS = {
    "8_unorm": (1, 0, 1, 1), "8_snorm": (1, 1, 2, 2), "8_uint": (1, 4, 5, 5), "8_sint": (1, 5, 6, 6),
    "8_8_unorm": (3, 0, 14, 14), "8_8_8_8_unorm": (10, 0, 56, 42), "8_8_8_8_snorm": (10, 1, 57, 43),
    "8_8_8_8_uint": (10, 4, 60, 46), "8_8_8_8_sint": (10, 5, 61, 47), "8_8_8_8_srgb": (10, 9, 130, 66),
    "8_8_8_8_uscaled": (10, 2, 58, 44), "8_8_8_8_sscaled": (10, 3, 59, 45),
    "16_unorm": (2, 0, 7, 7), "16_snorm": (2, 1, 8, 8), "16_uint": (2, 4, 11, 11), "16_sint": (2, 5, 12, 12),
    "16_float": (2, 7, 13, 13), "16_16_float": (5, 7, 29, 29), "16_16_16_16_float": (12, 7, 71, 57),
    "16_16_16_16_uint": (12, 4, 69, 55), "32_uint": (4, 4, 20, 20), "32_sint": (4, 5, 21, 21),
    "32_float": (4, 7, 22, 22),
    "32_32_float": (11, 7, 64, 50), "32_32_uint": (11, 4, 62, 48), "32_32_32_float": (13, 7, 74, 60),
    "32_32_32_32_float": (14, 7, 77, 63), "32_32_32_32_uint": (14, 4, 75, 61), "2_10_10_10_unorm": (9, 0, 50, 36),
    "2_10_10_10_uint": (9, 4, 54, 40), "10_11_11_float": (6, 7, 36, 30), "5_6_5_unorm": (16, 0, 133, 68),
}  # fmt: skip
#: What image instructions and, 8 higher, descriptors call the dimensions.
DIMS = ("1d", "2d", "3d", "cube", "1darray", "2darray")
IDENTITY = (4, 5, 6, 7)


def generation(arch: str) -> int:
    return 0 if arch.startswith("gfx9") else int(arch[3:5]) - 9


def texel_bytes(name: str) -> int:
    return sum(int(n) for n in name.split("_")[:-1]) // 8


@dataclass(frozen=True)
class Shape:
    """Size in texels; slices: of arrays, faces of cubes included."""

    dim: str
    width: int
    height: int = 1
    depth: int = 1
    slices: int = 1

    @property
    def planes(self) -> int:
        return self.depth * self.slices

    def pitch(self, arch: str, size: int) -> int:
        unit = 128 if generation(arch) == 3 else 256
        width = self.width
        while width * size % unit:
            width += 1
        return width


def image(arch: str, base: int, fmt: str, shape: Shape, select: tuple[int, ...] = IDENTITY) -> np.ndarray:
    """The 8 dwords of a linear image."""
    assert base % 256 == 0
    gen, t = generation(arch), [0] * 8
    data, number, gfx10, gfx11 = FORMATS[fmt]
    size = texel_bytes(fmt)
    plain = shape.dim in ("1d", "2d")
    last = shape.depth - 1 if shape.dim == "3d" else shape.slices - 1
    pitch = shape.pitch(arch, size) - 1
    width, height = shape.width - 1, shape.height - 1
    t[0], t[1] = base >> 8 & 0xFFFFFFFF, base >> 40
    t[3] = sum(s << 3 * k for k, s in enumerate(select)) | (8 + DIMS.index(shape.dim)) << 28
    if gen == 0:
        t[1] |= data << 20 | number << 26
        t[2] = width | height << 14
        t[4] = last | pitch << 13
    else:
        t[1] |= {1: gfx10 << 20, 2: gfx11 << 20, 3: gfx11 << 17}[gen] | (width & 3) << 30
        t[2] = width >> 2 | height << 14 | (1 << 31 if gen == 1 else 0)
        t[4] = pitch if plain else last
    return np.array(t, np.uint32)


def sampler(
    arch: str, clamp: int = 2, linear: bool = False, unnormalized: bool = False, border: int = 0, compare: int = 0
) -> np.ndarray:
    """The 4 dwords of a sampler; clamp: 0 wrap, 1 mirror, 2 edge, 6 border."""
    most = 0x1FFF << 13 if generation(arch) == 3 else 0xFFF << 12
    first = clamp * 0b1001001 | compare << 12 | unnormalized << 15 | (not linear) << 27
    return np.array([first, most, linear * (1 << 20 | 1 << 22), border << 30], np.uint32)


def buffer(arch: str, base: int, fmt: str, records: int, select: tuple[int, ...] = IDENTITY) -> np.ndarray:
    """The 4 dwords of a buffer of elements."""
    gen = generation(arch)
    data, number, gfx10, gfx11 = FORMATS[fmt]
    word = sum(s << 3 * k for k, s in enumerate(select))
    word |= {0: number << 12 | data << 15, 1: gfx10 << 12, 2: gfx11 << 12, 3: gfx11 << 12}[gen]
    size = texel_bytes(fmt)
    return np.array([base & 0xFFFFFFFF, base >> 32 | size << 16, records, word], np.uint32)


def typed(arch: str, fmt: str) -> int:
    """The format operand of llvm.amdgcn.struct.tbuffer.load and store."""
    data, number, gfx10, gfx11 = FORMATS[fmt]
    return {0: data | number << 4, 1: gfx10, 2: gfx11, 3: gfx11}[generation(arch)]
