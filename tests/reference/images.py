"""Reference semantics of textures and surfaces, from the CUDA programming guide (Texture Fetching), the PTX manual, and
where these leave it open from what an H100 answers (tests/hardware/textures.py), on Python numbers. A texel is a list
of channels as floats or integers."""

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

    def mode(self, axis: int) -> int:
        """Only normalized coordinates wrap and mirror."""
        mode = self.modes[axis]
        return mode if self.flags & NORMALIZED or mode == BORDER else CLAMP

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
        letter = FORMATS[self.format][0]
        colour = b"".join(
            struct.pack(f"<{letter}", int(v) if letter not in "ef" else v).ljust(4, b"\0") for v in border(self)
        )
        if mipmap:
            levels = (len(mipmap.levels), mipmap.bias, mipmap.least, mipmap.most, mipmap.blend)
        return self.geometry(base) + struct.pack(
            "<IIIIIIIII16sIIIQfffIII", self.size[2] if self.layered else 0, self.format, self.channels, self.texel,
            *map(self.mode, range(3)), int(self.linear), self.flags, colour, kind,
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
        """Numbers of level detail are rounded down to 256ths before they are added, clamped or used as weights."""
        detail, bias, least, most = (math.floor(v * 256) for v in (detail, self.bias, self.least, self.most))
        fixed = min(max(min(detail + bias, most), least, 0), 256 * (len(self.levels) - 1))
        if not self.blend:
            return sample(self.levels[fixed + 128 >> 8], coordinates, layer)
        first, part = divmod(fixed, 256)
        if not part:
            return sample(self.levels[first], coordinates, layer)
        near, far = self.levels[first : first + 2]
        if near.linear:
            sums = (mean(near, coordinates, layer, 256 - part), mean(far, coordinates, layer, part))
            return filtered(near, [a + b for a, b in zip(*sums, strict=True)])
        pair = zip(sample(near, coordinates, layer), sample(far, coordinates, layer), strict=True)
        return [(a * (256 - part) + b * part) / 256 for a, b in pair]


def index(i: int, size: int, mode: int) -> int | None:
    """A texel's number by the address mode; None: the border."""
    if mode == WRAP:
        return i % size
    if mode == MIRROR:
        i %= 2 * size
        return i if i < size else 2 * size - 1 - i
    if mode == CLAMP:
        return min(max(i, 0), size - 1)
    return i if 0 <= i < size else None


def border(image: Image) -> list[float]:
    """The colour of the border as a texel holds it. Integers that are read as such have the low bits of the float."""
    letter, one = FORMATS[image.format]
    if letter == "f":
        return list(image.border)
    if letter == "e":
        return [towards_zero(v) for v in image.border]
    if image.flags & READ_AS_INTEGER or not one:
        size = struct.calcsize(letter)
        return [struct.unpack(f"<{letter}", struct.pack("<f", v)[:size])[0] for v in image.border]
    least = -1.0 if letter.islower() else 0.0
    whole = [min(max(v, least), 1.0) * one for v in image.border]
    return [math.copysign(math.ceil(abs(v) - 0.5), v) for v in whole]


def towards_zero(v: float) -> float:
    """The half float towards zero."""
    near = struct.unpack("<e", struct.pack("<e", v))[0]
    bits = struct.unpack("<H", struct.pack("<e", v))[0]
    return struct.unpack("<e", struct.pack("<H", bits - 1))[0] if abs(near) > abs(v) else near


def texel(image: Image, where: list[int | None], layer: int) -> list[float]:
    """Four channels as they are in memory at an index along each axis. Those that a format lacks are zero."""
    if None in where:
        return [*border(image)[: image.channels], 0, 0, 0][:4]
    x, y, z = [*where, 0, 0][:3]
    z = min(layer, image.size[2] - 1) if image.layered else z
    at = ((z * image.size[1] + y) * image.size[0] + x) * image.channels
    return [*image.data[at : at + image.channels], 0, 0, 0][:4]


def light(image: Image, values: list[float]) -> list[float]:
    """Of sRGB the first channel, and of four channels the next two, are made linear."""
    if not image.flags & SRGB:
        return values
    count = 3 if image.channels == 4 else 1
    return [v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in values[:count]] + values[count:]


def returned(image: Image, values: list[float]) -> list[float]:
    """A texel as an instruction returns it."""
    _, one = FORMATS[image.format]
    if one and not image.flags & READ_AS_INTEGER:
        values = [max(v / one, -1.0) for v in values]
    return light(image, values)


def filtered(image: Image, sums: list[float]) -> list[float]:
    """Means of texels as an instruction returns them: those of small integers have 16 bits, rounded up from the
    middle; those of half floats are half floats."""
    letter, one = FORMATS[image.format]
    if letter == "e" or image.flags & SRGB:
        return [struct.unpack("<e", struct.pack("<e", v))[0] for v in sums]
    if not one:
        return sums
    full = 32767 if letter.islower() else 65535
    return [max(math.floor(v * full / one + 0.5) / full, -1.0) for v in sums]


def fetch(image: Image, coordinates: list[int], layer: int = 0) -> list[float]:
    """tex with integer coordinates: zeros outside, whatever the address mode."""
    moved = [i + image.offset[a] for a, i in enumerate(coordinates)]
    if any(not 0 <= i < image.size[a] for a, i in enumerate(moved)) or (image.layered and layer >= image.size[2]):
        return [0] * 4
    return returned(image, texel(image, moved, layer))


def places(image: Image, coordinates: list[float]) -> list[tuple[float, int]]:
    """(coordinate in texels, size) of each axis, moved by the offset. Normalized coordinates are rounded down to 21
    fraction bits (22 for more than 16384 texels) before they are multiplied by the size. NaN is 0, and in wrap and
    mirror mode infinity is, too."""
    found = []
    for a, x in enumerate(coordinates):
        size = image.size[a]
        normalized = image.flags & NORMALIZED
        if math.isnan(x) or (math.isinf(x) and normalized and image.mode(a) in (WRAP, MIRROR)):
            x = 0.0
        x = min(max(x, -1e30), 1e30)
        scale = 2**22 if size > 16384 else 2**21
        found.append(((math.floor(x * scale) * size / scale if normalized else x) + image.offset[a], size))
    return found


def numbers(image: Image, where: list[int]) -> list[int | None]:
    return [index(i, image.size[a], image.mode(a)) for a, i in enumerate(where)]


def footprint(image: Image, coordinates: list[float], clamps: bool) -> tuple[list[int], list[int]]:
    """The first of the two texels along each axis, and the second one's weight in 256ths."""
    firsts, parts = [], []
    for a, (x, size) in enumerate(places(image, coordinates)):
        fixed = math.floor(x * 256 + 0.5) - 128
        if clamps and image.mode(a) == CLAMP:
            fixed = min(max(fixed, 0), (size - 1) * 256)
        firsts.append(fixed >> 8)
        parts.append(fixed & 255)
    return firsts, parts


def split(whole: int, part: int) -> tuple[int, int]:
    """A weight shared between two texels, in 256ths, rounded up from the middle."""
    second = (whole * part + 128) >> 8
    return whole - second, second


def weights(share: int, parts: list[int]) -> list[int]:
    """The weights of 2, 4 or 8 texels in 256ths, the first axis varying fastest: the third axis is split first."""
    if len(parts) == 1:
        return list(split(share, parts[0]))
    if len(parts) == 3:
        near, far = split(share, parts[2])
        return weights(near, parts[:2]) + weights(far, parts[:2])
    left, right = split(share, parts[0])
    upper_right, lower_right = split(right, parts[1])
    lower_left, upper_left = split(left, 256 - parts[1])
    return [upper_left, upper_right, lower_left, lower_right]


def corners(firsts: list[int]) -> list[list[int]]:
    """The texels of a footprint, the first axis varying fastest."""
    return [list(c[::-1]) for c in itertools.product(*((i, i + 1) for i in firsts[::-1]))]


def mean(image: Image, coordinates: list[float], layer: int = 0, share: int = 256) -> list[float]:
    """The sum of the texels around a point by their weights, which add up to a share in 256ths."""
    firsts, parts = footprint(image, coordinates, clamps=True)
    total = [0.0] * 4
    for where, weight in zip(corners(firsts), weights(share, parts), strict=True):
        four = texel(image, numbers(image, where), layer)
        if image.flags & SRGB:
            four = returned(image, four)
        total = [t + weight * v / 256 for t, v in zip(total, four, strict=True)]
    return total


def sample(image: Image, coordinates: list[float], layer: int = 0) -> list[float]:
    """tex with floating-point coordinates."""
    if image.linear:
        return filtered(image, mean(image, coordinates, layer))
    where = [math.floor(x) for x, _ in places(image, coordinates)]
    return returned(image, texel(image, numbers(image, where), layer))


def gather(image: Image, coordinates: list[float], channel: int, layer: int = 0) -> list[float]:
    """tld4: counter-clockwise from the lower left texel."""
    firsts, _ = footprint(image, coordinates, clamps=False)
    four = [returned(image, texel(image, numbers(image, where), layer))[channel] for where in corners(firsts)]
    return [four[2], four[3], four[1], four[0]]
