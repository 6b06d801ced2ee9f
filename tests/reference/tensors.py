"""Tensor maps and what copies through them do, from the PTX manual's chapter on tensors: elements are looked up
one by one, and places in shared memory come from the swizzle's table of 16-byte chunks, not from address bits."""

from __future__ import annotations

import itertools
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

# elemtype of tensormap.replace: bytes of an element
SIZES = {0: 1, 1: 2, 2: 4, 3: 4, 4: 8, 5: 8, 6: 2, 7: 4, 8: 4, 9: 8, 10: 2, 11: 4, 12: 4}
SPANS = {0: 0, 1: 32, 2: 64, 3: 128}
ATOMS = {0: 16, 1: 32, 2: 32, 3: 64}
TF32 = (11, 12)


@dataclass
class TensorMap:
    """sizes and box from dimension 0 up; strides in bytes from dimension 1 up; corners of im2col: W, H, D."""

    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    box: tuple[int, ...]
    steps: tuple[int, ...] = ()
    elemtype: int = 2
    swizzle: int = 0
    atomicity: int = 0
    nan: bool = False
    im2col: bool = False
    lower: tuple[int, ...] = ()
    upper: tuple[int, ...] = ()
    address: int = 0
    interleave: int = 0
    image: bytes = field(default=b"", repr=False)

    @property
    def element(self) -> int:
        return SIZES[self.elemtype]

    def encoded(self) -> bytes:
        """The 128 bytes, as docs/internals/abi.md lays them out."""
        n = len(self.sizes)

        def five(values: tuple[int, ...], filler: int, count: int = 5) -> list[int]:
            return [*values, *[filler] * (count - len(values))]

        steps = self.steps or (1,) * n
        return struct.pack(
            "<Q5II4Q5H5B7B2x3h3h28x",
            self.address,
            *five(tuple(s - 1 for s in self.sizes), 0),
            0x50414D54,
            *five(self.strides, 0, 4),
            *five(self.box, 0),
            *five(steps, 0),
            n - 1,
            self.elemtype,
            self.interleave,
            self.swizzle,
            self.atomicity,
            self.nan,
            self.im2col,
            *five(self.lower, 0, 3),
            *five(self.upper, 0, 3),
        )

    # rows of the box: coordinates of dimensions 1, 2 ...

    def rows(self, at: tuple[int, ...], offsets: tuple[int, ...] = (), four: bool = False) -> Iterator[tuple[int, ...]]:
        if four:
            yield from ((row,) for row in at[1:])
        elif self.im2col:
            yield from self._pixels(at, offsets)
        else:
            steps = self.steps or (1,) * len(self.sizes)
            axes = [range(0, b, s) for b, s in zip(self.box[1:], steps[1:], strict=True)]
            for moves in itertools.product(*reversed(axes)):
                yield tuple(a + m for a, m in zip(at[1:], reversed(moves), strict=True))

    def _pixels(self, at: tuple[int, ...], offsets: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        """Pixels of the bounding box in the order W, H, D, N, from the start on."""
        spatial = len(self.sizes) - 2
        steps = (self.steps or (1,) * 5)[1 : 1 + spatial]
        now = list(at[1:])
        for _ in range(self.box[1]):
            yield tuple(c + o for c, o in zip(now, [*(offsets or (0,) * spatial), 0], strict=True))
            for axis in range(spatial):
                now[axis] += steps[axis]
                if now[axis] <= self.sizes[1 + axis] - 1 + self.upper[axis]:
                    break
                now[axis] = self.lower[axis]
            else:
                now[-1] += 1

    def pieces(
        self, base: int, at: tuple[int, ...], offsets: tuple[int, ...] = (), four: bool = False
    ) -> Iterator[tuple[int, int | None]]:
        """Every byte of the box: (shared address, offset in the tensor's memory, None outside of it)."""
        width = self.box[0] * self.element
        pitch = max(width, SPANS[self.swizzle])
        for number, row in enumerate(self.rows(at, offsets, four)):
            inside = all(0 <= c < s for c, s in zip(row, self.sizes[1:], strict=False))
            start = sum(c * s for c, s in zip(row, self.strides, strict=False))
            for x in range(width):
                column = at[0] + x // self.element
                there = start + column * self.element + x % self.element
                yield self.place(base + number * pitch + x), there if inside and 0 <= column < self.sizes[0] else None

    def place(self, address: int) -> int:
        """Where a byte of the unswizzled box lies: within each line of 128 bytes, atoms change places within each
        span by the line's number."""
        span, atom = SPANS[self.swizzle], ATOMS[self.atomicity]
        if not span or span <= atom:
            return address
        line, byte = divmod(address, 128)
        first = byte // span * span
        slot, within = divmod(byte - first, atom)
        if self.atomicity == 2 and line % 2:  # halves of each 16 bytes in every other line
            within = within // 16 * 16 + (within + 8) % 16
        return line * 128 + first + (slot ^ line % (span // atom)) * atom + within

    # what copies do

    def loaded(self, memory: bytes, shared: bytearray, base: int, at: tuple[int, ...], **more) -> int:
        """Load the box from `memory` to `shared`; the bytes that the barrier is told of."""
        count, fill = 0, b"\xf7\x7f" if self.nan else b"\0\0"
        for n, (place, there) in enumerate(self.pieces(base, at, **more)):
            shared[place] = fill[n % 2] if there is None else self._read(memory, there)
            count += 1
        return count

    def _read(self, memory: bytes, there: int) -> int:
        if self.elemtype not in TF32:
            return memory[there]
        start = there // 4 * 4
        [bits] = struct.unpack_from("<I", memory, start)
        if bits & 0x7FFFFFFF > 0x7F800000:
            bits = 0x7FFFE000
        elif bits & 0x7F800000 != 0x7F800000:
            low = bits & 0x1FFF
            up = low > 0x1000 or (low == 0x1000 and bits & 0x2000)
            bits = (bits - low) + (0x2000 if up else 0)
        return bits >> 8 * (there % 4) & 0xFF

    def stored(self, memory: bytearray, shared: bytes, base: int, at: tuple[int, ...], **more) -> None:
        for place, there in self.pieces(base, at, **more):
            if there is not None:
                memory[there] = shared[place]

    def reduced(
        self, memory: bytearray, shared: bytes, base: int, at: tuple[int, ...], op: Callable[[int, int], int], **more
    ) -> None:
        """Each element of the tensor, as an unsigned integer, with one of the box."""
        size = self.element
        for place, there in self.pieces(base, at, **more):
            if there is not None and there % size == 0:
                old, new = (int.from_bytes(x[i : i + size], "little") for x, i in ((memory, there), (shared, place)))
                memory[there : there + size] = (op(old, new) % (1 << 8 * size)).to_bytes(size, "little")
