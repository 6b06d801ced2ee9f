"""Where PTX keeps the metadata of a sparse A (manual: "Matrix fragments for multiply-accumulate operation with sparse
matrix A"): which lane has which bits for which columns, table by table as the figures there show them."""

from __future__ import annotations

from collections.abc import Iterator

Block = tuple[int, int, int, int]  # thread of the quad, first bit, row (of groupID and groupID + 8), first column

# element bits, K -> (metadata holders, blocks of columns): a holder's word has `columns` columns of each block
FIGURES: dict[tuple[int, int], tuple[int, int, list[Block]]] = {
    # (holders in a quad, columns of a block, blocks)
    (16, 16): (1, 16, [(0, 0, 0, 0), (0, 16, 8, 0)]),
    (16, 32): (2, 16, [(0, 0, 0, 0), (0, 16, 8, 0), (1, 0, 0, 16), (1, 16, 8, 16)]),
    (32, 8): (1, 8, [(0, 0, 0, 0), (0, 16, 8, 0)]),
    (32, 16): (2, 8, [(0, 0, 0, 0), (0, 16, 8, 0), (1, 0, 0, 8), (1, 16, 8, 8)]),
    (8, 32): (2, 32, [(0, 0, 0, 0), (1, 0, 8, 0)]),
    (8, 64): (4, 32, [(0, 0, 0, 0), (1, 0, 8, 0), (2, 0, 0, 32), (3, 0, 8, 32)]),
    (4, 64): (2, 64, [(0, 0, 0, 0), (1, 0, 8, 0)]),
    (4, 128): (4, 64, [(0, 0, 0, 0), (1, 0, 8, 0), (2, 0, 0, 64), (3, 0, 8, 64)]),
}
BITS = {"f16": 16, "bf16": 16, "tf32": 32, "u4": 4, "s4": 4}


def selectors(ptype: str, k: int) -> list[int]:
    """The sparsity selectors there are."""
    return list(range(4 // FIGURES[BITS.get(ptype, 8), k][0]))


def chunk_codes(ptype: str, columns: list[int]) -> Iterator[int]:
    """The metadata of a run of columns, four bits for each two elements that are kept (one tf32, two pairs)."""
    if ptype == "tf32":
        for column in columns:
            yield 0b1110 if column % 2 else 0b0100
    elif ptype in ("u4", "s4"):
        firsts = [column % 8 // 2 for column in columns[::2]]
        for low, high in zip(firsts[::2], firsts[1::2], strict=True):
            yield low | high << 2
    else:
        for low, high in zip(columns[::2], columns[1::2], strict=True):
            yield low % 4 | high % 4 << 2


def metadata(ptype: str, k: int, kept: dict[int, list[int]], selector: int) -> list[int]:
    """The lanes' metadata words; those that no lane reads hold all ones."""
    holders, width, blocks = FIGURES[BITS.get(ptype, 8), k]
    words = [0xFFFFFFFF] * 32
    for group in range(8):
        for thread in range(holders):
            words[4 * group + selector * holders + thread] = 0
        for thread, bit, row, first in blocks:
            columns = [c for c in kept[group + row] if first <= c < first + width]
            for i, code in enumerate(chunk_codes(ptype, columns)):
                words[4 * group + selector * holders + thread] |= code << bit + 4 * i
    return words
