"""The data segment: where a module's .global and .const variables lie, and their initial bytes.

The layout is a pure function of the module, so that kernels that are compiled one by one, at different
times, agree on it with each other and with the loader."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from ptx2amd.errors import Ptx2amdError
from ptx2amd.ptx.ast import InitSym, Module, Var
from ptx2amd.ptx.handles import handles, has_body
from ptx2amd.ptx.layout import align_of, element_size, size_of
from ptx2amd.records import dataclass, field

SEGMENT_ALIGN = 256
FACTS_ALIGN = 64


def placed_align(var: Var) -> int:
    """Alignment in bytes of a .global or .const variable. CUDA's guide (device memory accesses) promises 256 for what
    lies in global memory, and programs count on it (16-byte accesses, tensor maps); here a variable gets as much of
    that as its size is worth."""
    return max(align_of(var), min(256, 1 << max(size_of(var), 1).bit_length() - 1))


@dataclass(slots=True)
class Cell:
    """An 8-byte cell of initial data that holds an address: of symbol + offset."""

    at: int
    symbol: str
    offset: int


GAP = 256  # zeros up to which two parts of an image are one


@dataclass(slots=True)
class Image:
    """Initial contents, of which most may be zero. parts: bytes at offsets, ascending and apart; what they leave is
    zero. cells: those that hold addresses, zero in the parts."""

    parts: list[tuple[int, bytearray]] = field(default_factory=list)
    cells: list[Cell] = field(default_factory=list)

    def append(self, at: int, data: bytes | bytearray) -> None:
        """Add bytes behind all others."""
        start, last = self.parts[-1] if self.parts else (0, bytearray())
        gap = at - start - len(last)
        if self.parts and gap <= GAP:
            last += bytes(gap) + data
        elif data:
            self.parts.append((at, bytearray(data)))

    def put(self, at: int, data: bytes) -> None:
        """Change bytes of a part."""
        start, part = self.parts[bisect_right(self.parts, at, key=_offset) - 1]
        part[at - start : at - start + len(data)] = data

    def pieces(self, begin: int, end: int) -> Iterator[bytes | int]:
        """The bytes from `begin` to `end` in pieces: as they are, or how many zeros."""
        at = begin
        for start, part in self.parts[max(0, bisect_right(self.parts, begin, key=_offset) - 1) :]:
            first, last = max(start, at), min(start + len(part), end)
            if first >= last:
                continue
            if first > at:
                yield first - at
            yield bytes(part[first - start : last - start])
            at = last
        if at < end:
            yield end - at


def _offset(part: tuple[int, bytearray]) -> int:
    return part[0]


@dataclass(slots=True)
class Segment:
    """The data segment of a module. `offsets`: variable -> byte offset; `image`: initial contents, in whose
    cells are addresses of the segment; `problems`: variable -> why its initialiser cannot be computed; `kernels`:
    byte offsets of the facts about kernels that kernels may launch."""

    size: int
    align: int
    offsets: dict[str, int]
    image: Image
    problems: dict[str, str]
    kernels: dict[str, int]

    def place(self, symbol: str) -> int:
        """The byte offset of a cell's target."""
        return self.offsets[symbol] if symbol in self.offsets else self.kernels[symbol]


def initial(var: Var) -> Image:
    """The initial contents of one variable. Raises Ptx2amdError for an address in less than 8 bytes."""
    width = element_size(var) // var.vec
    at = 0
    elements = var.init or []
    values = bytearray(len(elements) * width)
    image = Image([(0, values)] if values else [])
    i = 0
    while i < len(elements):
        element = elements[i]
        if isinstance(element, InitSym):
            if element.mask:
                i += _masked_run(elements, i, element)
            elif width != 8:
                raise Ptx2amdError(f"{var.name}: the address of {element.name} in a {8 * width}-bit element")
            else:
                i += 1
            image.cells.append(Cell(at, element.name, element.offset))
            at += 8
            continue
        values[at : at + width] = (element & ((1 << 8 * width) - 1)).to_bytes(width, "little")
        at += width
        i += 1
    return image


def _masked_run(elements: Sequence[int | InitSym], start: int, first: InitSym) -> int:
    """`0xFF(s), 0xFF00(s) ...`: the 8 bytes of an address, one by one. Returns how many elements."""
    for byte in range(8):
        want = InitSym(first.name, first.offset, first.generic, 0xFF << 8 * byte)
        if start + byte >= len(elements) or elements[start + byte] != want:
            raise Ptx2amdError(f"only a part of the address of {first.name} is stored")
    return 8


def segment(module: Module, facts: Mapping[str, bytes] = MappingProxyType({})) -> Segment:
    """Lay out the .global and .const variables that the module defines, in their order, and then the facts about
    kernels that kernels may launch (lower/runtime/facts.py)."""
    at, align = 0, SEGMENT_ALIGN
    offsets: dict[str, int] = {}
    problems: dict[str, str] = {}
    image = Image()
    for var in module.variables.values():
        if var.space not in ("global", "const") or var.linkage == "extern":
            continue
        step = placed_align(var)
        align = max(align, step)
        at = -(-at // step) * step
        offsets[var.name] = at
        try:
            contents = initial(var)
        except Ptx2amdError as error:
            problems[var.name] = str(error)
            contents = Image()
        for offset, part in contents.parts:
            image.append(at + offset, part)
        image.cells += [Cell(at + cell.at, cell.symbol, cell.offset) for cell in contents.cells]
        at += size_of(var)
    kernels: dict[str, int] = {}
    for name, known in facts.items():
        at = -(-at // FACTS_ALIGN) * FACTS_ALIGN
        kernels[name] = at
        image.append(at, known)
        at += len(known)
    _settle(module, image, offsets, kernels, problems)
    return Segment(at, align, offsets, image, problems, kernels)


def _settle(
    module: Module, image: Image, offsets: dict[str, int], kernels: dict[str, int], problems: dict[str, str]
) -> None:
    """Keep cells only for addresses within the segment: functions become handles, other symbols are problems."""
    cells, image.cells = image.cells, []
    known: dict[str, int] | None = None
    for cell in cells:
        cell.symbol = module.aliases.get(cell.symbol, cell.symbol)
        if cell.symbol in offsets or cell.symbol in kernels:
            image.cells.append(cell)
        elif has_body(module, cell.symbol) and not cell.offset:
            known = known or handles(module)
            image.put(cell.at, known[cell.symbol].to_bytes(8, "little"))
        else:
            owner = next(n for n in reversed(offsets) if offsets[n] <= cell.at)
            what = "undefined function" if cell.symbol in module.functions else "external symbol"
            problems[owner] = f"the initialiser of {owner} holds the address of {what} {cell.symbol}"
