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
READ_AS_INTEGER, NORMALIZED = 1, 2


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

    def bytes(self) -> bytes:
        return struct.pack(f"<{len(self.data)}{FORMATS[self.format][0]}", *self.data)

    @property
    def texel(self) -> int:
        return struct.calcsize(FORMATS[self.format][0]) * self.channels

    def descriptor(self, base: int, kind: int = 1) -> bytes:
        """As docs/architecture.md lays it out."""
        width, height, depth = self.size
        pitch = width * self.texel
        return struct.pack(
            "<QQIIIIIIIIIIIII4fIIIQQQQ", base, pitch * height, pitch, width, height if self.dims > 1 else 0,
            depth if self.dims > 2 else 0, depth if self.layered else 0, self.format, self.channels, self.texel,
            *self.modes, int(self.linear), self.flags, *self.border, kind, self.texel // self.channels, 0, 0, 0, 0, 0,
        )  # fmt: skip


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
    return values + [0, 0, 0, 1][image.channels :]


def fetch(image: Image, coordinates: list[int], layer: int = 0) -> list[float]:
    """tex with integer coordinates."""
    where = [index(image, i, image.size[a], image.modes[a]) for a, i in enumerate(coordinates)]
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
