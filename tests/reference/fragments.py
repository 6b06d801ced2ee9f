"""Matrices as the registers of a warp's threads hold them, lane after lane, a number for each register: what the PTX
manual's figures (tests/reference/matrix.py, sparse.py, shared_matrix.py) say of whole numpy matrices.

Elements have a PTX type, or "e2m1x2": e2m1 in four bits, not in the middle of a byte."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from tests.reference import matrix, shared_matrix, sparse
from tests.reference.conversions import SMALL, small_code
from tests.reference.numbers import decode

SELECTED = {"tf32": (1, 2), "s4": (4, 8), "u4": (4, 8), "e2m1x2": (4, 8)}  # elements kept of a group of so many; 2 of 4


def numbers(rows: int, columns: int, step: int, most: int) -> np.ndarray:
    """A matrix of whole numbers around 0, `most` different ones."""
    return np.arange(rows * columns).reshape(rows, columns) * step % most - most // 2


def width(kind: str) -> int:
    """Bits of an element in a register."""
    if kind[0] == "e":
        return 4 if kind.endswith("x2") else 8
    return {"tf32": 32, "bf16": 16}.get(kind) or int(kind[1:])


def code(value: float, kind: str) -> int:
    """The bits of an element that has the value exactly."""
    if kind[0] == "e":
        name = kind.removesuffix("x2")
        bits = small_code(decode(int(np.float32(value).view("u4")), "f32"), name)
        assert name in SMALL
        return bits << 2 if kind == "e2m1" else bits
    if kind in ("f16", "f32", "f64"):
        size = int(kind[1:]) // 8
        return int(np.array(value, f"f{size}").view(f"u{size}"))
    if kind in ("bf16", "tf32"):
        return int(np.float32(value).view("u4")) >> (16 if kind == "bf16" else 0)
    return int(value) % (1 << width(kind))


def _words(places: Iterable[matrix.Place], cells: np.ndarray, kind: str) -> list[int]:
    found: dict[tuple[int, int], int] = {}
    for lane, register, position, row, column in places:
        bits = code(cells[row, column], kind) << position * width(kind)
        found[lane, register] = found.get((lane, register), 0) | bits
    return [found[at] for at in sorted(found)]


def a(cells: np.ndarray, kind: str) -> list[int]:
    """Matrix A of a warp (8 or 16 rows) or of a warp group (64)."""
    if len(cells) == 64:
        return [word for first in range(0, 64, 16) for word in a(cells[first : first + 16], kind)]
    per_word = max(1, 32 // width(kind))
    return _words(matrix.a_fragment(*cells.shape, per_word), cells, kind)


def b(cells: np.ndarray, kind: str) -> list[int]:
    return _words(matrix.b_fragment(*cells.shape, max(1, 32 // width(kind))), cells, kind)


def c(cells: np.ndarray, kind: str) -> list[int]:
    """Accumulators of a warp or a warp group, two to a register if they have 16 bits."""
    if len(cells) == 64:
        return [word for first in range(0, 64, 16) for word in c(cells[first : first + 16], kind)]
    found = [code(cells[row, column], kind) for _, _, row, column in matrix.c_fragment(*cells.shape)]
    return [low | high << 16 for low, high in zip(found[::2], found[1::2], strict=True)] if kind == "f16" else found


def quadpairs(products: np.ndarray, operand: str, major: str, kind: str) -> list[int]:
    """Matrix "a", "b" or "c" of the four products of mma.m8n8k4; products[i] is the matrix of product i."""
    found: dict[int, list[int]] = {lane: [] for lane in range(32)}
    for product, lane, _, row, column in matrix.quadpair(operand, major, kind):
        found[lane].append(code(products[product][row, column], kind))
    words = [word for lane in range(32) for word in found[lane]]
    return [low | high << 16 for low, high in zip(words[::2], words[1::2], strict=True)] if kind == "f16" else words


class Sparse:
    """A matrix A of which each row has some of its columns: in row r, group g of columns (2, 4, or 4 pairs) has the
    choice number r + g of those that there are."""

    def __init__(self, packed: np.ndarray, kind: str, selector: int = 0) -> None:
        """packed: what the columns have that there are, half as many as A has."""
        rows, half = packed.shape
        self.packed, self.kind, self.selector = packed, kind, selector
        few, group = SELECTED.get(kind, (2, 4))
        pairs = [(i, j) for i in range(4) for j in range(i + 1, 4)]
        choices = [(0,), (1,)] if group == 2 else pairs
        if group == 8:
            choices = [(2 * i, 2 * i + 1, 2 * j, 2 * j + 1) for i, j in pairs]
        self.kept = {
            row: [group * g + i for g in range(half // few) for i in choices[(row + g) % len(choices)]]
            for row in range(rows)
        }

    @property
    def dense(self) -> np.ndarray:
        found = np.zeros((len(self.packed), 2 * self.packed.shape[1]), self.packed.dtype)
        for row, columns in self.kept.items():
            found[row, columns] = self.packed[row]
        return found

    @property
    def words(self) -> list[int]:
        return a(self.packed, self.kind)

    @property
    def metadata(self) -> list[int]:
        """A word for each lane."""
        kind = {"e2m1x2": "s4"}.get(self.kind, self.kind)
        found = []
        for first in range(0, len(self.packed), 16):
            kept = {row: self.kept[first + row] for row in range(16)}
            found += sparse.metadata(kind, 2 * self.packed.shape[1], kept, self.selector)
        return found


def scales(blocks: np.ndarray, kind: str, thread: int, first: int) -> list[int]:
    """A word for each lane, its scales from byte `first` on: 16 rows of A with the columns' blocks, of which a thread
    of the quad and the next have those of rows g and g + 8; or 8 columns of B. Other bytes are scales of NaN."""
    found = []
    for lane in range(32):
        group, own = divmod(lane, 4)
        word = bytearray(b"\xff" * 4)
        line = group + 8 * (own - thread)
        if thread <= own < thread + len(blocks) // 8:
            for i, value in enumerate(blocks[line]):
                word[first + i] = int(np.log2(value)) + 127 if kind == "ue8m0" else code(value, "e4m3")
        found.append(int.from_bytes(word, "little"))
    return found


def expanded(blocks: np.ndarray, depth: int) -> np.ndarray:
    """Scales of blocks as those of `depth` elements."""
    return np.repeat(blocks, depth // blocks.shape[1], axis=1)


def shared(cells: np.ndarray, kind: str, size: int, mode: int = 0, across: bool = False) -> list[int]:
    """The words of `size` bytes of shared memory with lines of A, or of B transposed, for wgmma."""
    leading, stride = strides(len(cells), mode, across)
    image, bits = bytearray(size), width(kind)
    for (line, deep), value in np.ndenumerate(cells):
        byte = max(1, bits // 8)
        at = shared_matrix.place(mode, leading, stride, across, line, deep * bits // 8 // byte, byte)
        old = int.from_bytes(image[at : at + byte], "little")
        image[at : at + byte] = (old | code(value, kind) << deep * bits % 8).to_bytes(byte, "little")
    return list(np.frombuffer(image, "u4"))


def strides(lines: int, mode: int, across: bool) -> tuple[int, int]:
    """The leading and the stride byte offset with which lines lie without gaps."""
    row = shared_matrix.SWIZZLES[mode]
    if mode == 0:
        return 128 * (lines // 8), 128
    return (8 * row, 8 * row * -(-2 * lines // row)) if across else (16, 8 * row)


def descriptor(lines: int, start: int, mode: int = 0, across: bool = False) -> int:
    return shared_matrix.descriptor(start, mode, *strides(lines, mode, across))


def memory(cells: np.ndarray, kind: str, major: str, gap: int = 0) -> list[int]:
    """A matrix in memory as bytes: rows, or columns, one after the other, `gap` elements of zeros between them."""
    bits = width(kind)
    lines: Sequence[np.ndarray] = list(cells if major == "row" else cells.T)
    total = sum(
        code(value, kind) << bits * (number * (len(line) + gap) + i)
        for number, line in enumerate(lines)
        for i, value in enumerate(line)
    )
    length = len(lines) * (len(lines[0]) + gap) * bits // 8
    return list(total.to_bytes(length, "little"))
