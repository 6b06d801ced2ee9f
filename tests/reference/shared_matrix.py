"""How matrices of wgmma lie in shared memory (manual: "Shared Memory Matrix Layout"), as the pictures of the canonical
layouts there show them: core matrices of eight rows of 16 bytes; with swizzling, atoms of eight rows of 32, 64 or 128
bytes, in which the place of a 16-byte chunk is its number XOR (some bits of) the row's."""

from __future__ import annotations

SWIZZLES = {0: 16, 3: 32, 2: 64, 1: 128}  # mode in the descriptor -> bytes of an atom's row


def place(mode: int, leading: int, stride: int, across: bool, line: int, deep: int, size: int) -> int:
    """The byte offset of element `deep` of row (column) `line`; `size`: bytes of an element; across: lines, not K, run
    along memory. leading, stride: bytes."""
    row_bytes = SWIZZLES[mode]
    along, rows = (line, deep) if across else (deep, line)
    chunk, inside = divmod(along * size, 16)
    block, row = divmod(rows, 8)
    per_row = row_bytes // 16
    if mode == 0:
        # a core matrix is 128 bytes together; the strides lead from one to the next
        steps = (block * leading + chunk * stride) if across else (block * stride + chunk * leading)
        return steps + 16 * row + inside
    atom, chunk = divmod(chunk, per_row)
    if not across:
        assert atom == 0  # K of one instruction lies within an atom
    # rows of an atom are row_bytes apart; every 128 bytes the pattern of exchanged chunks goes on by one
    exchanged = chunk ^ (row * row_bytes // 128 % per_row)
    return block * stride + atom * leading + row * row_bytes + 16 * exchanged + inside


def descriptor(start: int, mode: int, leading: int, stride: int) -> int:
    return start >> 4 & 0x3FFF | (leading >> 4) << 16 | (stride >> 4) << 32 | mode << 62
