"""Symbol tables: .dynsym and its two hash tables, for loaders, and .symtab, for tools."""

from __future__ import annotations

import struct

from ptx2amd.binary.elf import SYMBOL
from ptx2amd.codegen.linker.objects import HIDDEN, LOCAL, SHN_ABS, Symbol
from ptx2amd.records import dataclass

GNU_HEAD = struct.Struct("<IIII")
BLOOM_SHIFT = 26
BLOOM_BITS = 12  # for each symbol
LOAD = 4  # symbols in a bucket of .gnu.hash


class Strings:
    """A table of strings, each with a NUL behind it; an empty one comes first."""

    def __init__(self) -> None:
        self.content = bytearray(1)
        self._known = {"": 0}

    def add(self, text: str) -> int:
        """Where the string lies."""
        if text not in self._known:
            self._known[text] = len(self.content)
            self.content += text.encode() + b"\0"
        return self._known[text]


@dataclass(slots=True)
class Dynamic:
    """What a loader finds symbols by. symbols: in the order of .dynsym, which has an empty one before them."""

    symbols: list[Symbol]
    strings: Strings
    gnu_hash: bytes
    hash: bytes

    @property
    def size(self) -> int:
        """Of .dynsym."""
        return SYMBOL.size * (len(self.symbols) + 1)

    def table(self) -> bytes:
        """.dynsym; symbols have their addresses now."""
        return _table(self.symbols, self.strings)


def dynamic(symbols: list[Symbol]) -> Dynamic:
    """Tables of symbols that are exported. .gnu.hash wants those of a bucket side by side."""
    strings = Strings()
    for symbol in symbols:
        strings.add(symbol.name)
    buckets = max(len(symbols) // LOAD, 1)
    hashed = sorted(((gnu_hash(s.name), s) for s in symbols), key=lambda pair: pair[0] % buckets)
    order = [symbol for _, symbol in hashed]
    return Dynamic(order, strings, _gnu_table([value for value, _ in hashed], buckets), _sysv_table(order))


def gnu_hash(name: str) -> int:
    value = 5381
    for byte in name.encode():
        value = (value * 33 + byte) & 0xFFFFFFFF
    return value


def sysv_hash(name: str) -> int:
    value = 0
    for byte in name.encode():
        value = (value << 4) + byte
        high = value & 0xF0000000
        value = (value ^ high >> 24) & ~high & 0xFFFFFFFF
    return value


def _gnu_table(hashes: list[int], count: int) -> bytes:
    words = 1 << (len(hashes) * BLOOM_BITS // 64).bit_length()
    bloom, buckets, chain = [0] * words, [0] * count, []
    for number, value in enumerate(hashes, 1):
        bloom[value // 64 % words] |= 1 << value % 64 | 1 << (value >> BLOOM_SHIFT) % 64
        bucket = value % count
        buckets[bucket] = buckets[bucket] or number
        last = number == len(hashes) or hashes[number] % count != bucket
        chain.append(value & ~1 | last)
    head = GNU_HEAD.pack(count, 1, words, BLOOM_SHIFT)
    return head + struct.pack(f"<{words}Q{count}I{len(chain)}I", *bloom, *buckets, *chain)


def _sysv_table(symbols: list[Symbol]) -> bytes:
    count = len(symbols) + 1
    buckets, chain = [0] * count, [0] * count
    for number, symbol in enumerate(symbols, 1):
        bucket = sysv_hash(symbol.name) % count
        chain[number], buckets[bucket] = buckets[bucket], number
    return struct.pack(f"<{2 + 2 * count}I", count, count, *buckets, *chain)


def symtab(locals_: list[Symbol], globals_: list[Symbol], strings: Strings) -> tuple[bytes, int]:
    """.symtab, and how many of its symbols, which come first, are local: with them, those that are not exported."""
    first = [*locals_, *(symbol for symbol in globals_ if not symbol.exported)]
    return _table(first + [symbol for symbol in globals_ if symbol.exported], strings), len(first) + 1


def _table(symbols: list[Symbol], strings: Strings) -> bytes:
    rows = [bytes(SYMBOL.size)]
    for symbol in symbols:
        binding = symbol.binding if symbol.exported else LOCAL
        visibility = HIDDEN if binding == LOCAL and symbol.binding != LOCAL else symbol.visibility
        section = symbol.piece.section if symbol.piece else SHN_ABS
        name = strings.add(symbol.name)
        rows.append(SYMBOL.pack(name, binding << 4 | symbol.type, visibility, section, symbol.address, symbol.size))
    return b"".join(rows)
