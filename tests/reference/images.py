"""Reference semantics of textures and surfaces, from the CUDA programming guide (Texture Fetching) and the PTX
manual, on Python numbers. A texel is a list of channels as floats or integers."""

from __future__ import annotations

import itertools
import math
import struct
from dataclasses import dataclass

WRAP, CLAMP, MIRROR, BORDER = range(4)
# CUarray_format: struct letter, integer that stands for 1.0
FORMATS = {
    0x01: ("B", 255), 0x02: ("H", 65535), 0x03: ("I", 0), 0x08: ("b", 127), 0x09: ("h", 32767), 0x0A: ("i", 0),
    0x10: ("e", 0), 0x20: ("f", 0),
}  # fmt: skip
READ_AS_INTEGER, NORMALIZED, SRGB = 1, 2, 4


@dataclass
class Image:
    """Contents and how to read them. size: width, height, depth (or layers); data: all channels in order."""

    size: tuple[int, int, int]
    format: int
    channels: int
    data: list
    dims: int
    layered: bool = False
    modes: tuple[int, int, int] = (CLAMP,) * 3
    linear: bool = False
    flags: int = 0
    border: tuple[float, float, float, float] = (0.0,) * 4
    offset: tuple[int, ...] = (0, 0, 0)  # texels that an instruction adds

    def bytes(self) -> bytes:
        return struct.pack(f"<{len(self.data)}{FORMATS[self.format][0]}", *self.data)

    @property
    def texel(self) -> int:
        return struct.calcsize(FORMATS[self.format][0]) * self.channels

    def geometry(self, base: int) -> bytes:
        """The first 32 bytes of a descriptor, and what a mipmap's table has of a level."""
        width, height, depth = self.size
        pitch = width * self.texel
        return struct.pack(
            "<QQIIII", base, pitch * height, pitch, width, height if self.dims > 1 else 0, depth if self.dims > 2 else 0
        )

    def descriptor(self, base: int, kind: int = 1, mipmap: Mipmap | None = None, table: int = 0) -> bytes:
        """As docs/internals/abi.md lays it out."""
        levels = (0, 0.0, 0.0, 0.0, False)
        if mipmap:
            levels = (len(mipmap.levels), mipmap.bias, mipmap.least, mipmap.most, mipmap.blend)
        return self.geometry(base) + struct.pack(
            "<IIIIIIIII4fIIIQfffIII", self.size[2] if self.layered else 0, self.format, self.channels, self.texel,
            *self.modes, int(self.linear), self.flags, *self.border, kind,
            self.texel // self.channels, levels[0], table, *levels[1:], 0, 0,
        )  # fmt: skip


@dataclass
class Mipmap:
    """Images, each of half the size of the one before, and how a level of detail chooses among them."""

    levels: list[Image]
    bias: float = 0.0
    least: float = 0.0
    most: float = 100.0
    blend: bool = False

    def sample(self, coordinates: list[float], detail: float, layer: int = 0) -> list[float]:
        detail = min(max(detail + self.bias, self.least), self.most)
        detail = min(max(detail, 0.0), len(self.levels) - 1.0)
        if not self.blend:
            return sample(self.levels[math.floor(detail + 0.5)], coordinates, layer)
        first = math.floor(detail)
        weight = round((detail - first) * 256) / 256
        near, far = (sample(self.levels[min(k, len(self.levels) - 1)], coordinates, layer) for k in (first, first + 1))
        return [a * (1 - weight) + b * weight for a, b in zip(near, far, strict=True)]


def index(image: Image, i: int, size: int, mode: int) -> int | None:
    """A texel's number by the address mode; None: the border."""
    if not image.flags & NORMALIZED and mode in (WRAP, MIRROR):
        mode = CLAMP
    if mode == WRAP:
        return i % size
    if mode == MIRROR:
        i %= 2 * size
        return i if i < size else 2 * size - 1 - i
    if mode == CLAMP:
        return min(max(i, 0), size - 1)
    return i if 0 <= i < size else None


def texel(image: Image, where: list[int | None], layer: int) -> list[float]:
    """Four channels at an index along each axis."""
    if None in where:
        return list(image.border)
    x, y, z = [*where, 0, 0][:3]
    z = min(layer, image.size[2] - 1) if image.layered else z
    at = ((z * image.size[1] + y) * image.size[0] + x) * image.channels
    _, one = FORMATS[image.format]
    values = list(image.data[at : at + image.channels])
    if one and not image.flags & READ_AS_INTEGER:
        values = [max(v / one, -1.0) for v in values]
    if image.flags & SRGB:
        values[:3] = [v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in values[:3]]
    return values + [0, 0, 0, 1][image.channels :]


def fetch(image: Image, coordinates: list[int], layer: int = 0) -> list[float]:
    """tex with integer coordinates."""
    where = [index(image, i + image.offset[a], image.size[a], image.modes[a]) for a, i in enumerate(coordinates)]
    return texel(image, where, layer)


def scaled(image: Image, coordinates: list[float]) -> list[float]:
    normalized = image.flags & NORMALIZED
    return [x * image.size[a] if normalized else x for a, x in enumerate(coordinates)]


def corner_weights(image: Image, coordinates: list[float]):
    """(texel numbers, weight) of each texel of the footprint, the first axis varying fastest."""
    axes = []
    for x in scaled(image, coordinates):
        i = math.floor(x - 0.5)
        w = round((x - 0.5 - i) * 256) / 256
        axes.append([(i, 1 - w), (i + 1, w)])
    for corner in itertools.product(*axes[::-1]):
        yield [i for i, _ in corner[::-1]], math.prod(w for _, w in corner)


def sample(image: Image, coordinates: list[float], layer: int = 0) -> list[float]:
    """tex with floating-point coordinates."""
    if not image.linear:
        return fetch(image, [math.floor(x) for x in scaled(image, coordinates)], layer)
    total = [0.0] * 4
    for numbers, weight in corner_weights(image, coordinates):
        total = [t + weight * v for t, v in zip(total, fetch(image, numbers, layer), strict=True)]
    return total


def gather(image: Image, coordinates: list[float], channel: int, layer: int = 0) -> list[float]:
    """tld4: counter-clockwise from the lower left texel."""
    four = [fetch(image, numbers, layer)[channel] for numbers, _ in corner_weights(image, coordinates)]
    return [four[2], four[3], four[1], four[0]]
