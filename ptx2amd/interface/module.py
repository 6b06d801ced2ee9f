"""A module's index: what the driver knows of a module before any of its kernels is translated. The payload of its entry
is `payload`."""

from __future__ import annotations

from ptx2amd.interface.lines import row
from ptx2amd.records import dataclass

SPACES = ("global", "const", "managed")


@dataclass(slots=True, kw_only=True, frozen=True)
class IndexKernel:
    """A kernel as its PTX declares it."""

    name: str = row("its name in PTX")
    params: list[tuple[int, int, int]] = row("parameters", list, columns="offset size align", c="uint32_t")
    max_threads: int = row("most threads of a block", 0)
    required: tuple[int, ...] = row("the size of its blocks, where it says that they have one", tuple, columns="x y z")
    static_shared: int = row("static shared memory", 0)
    facts: int = row("where the segment has the facts about it for launches from kernels; -1: nowhere", -1, c="int64_t")
    target: int = row("80: its part of a linked module is for sm_80; 0: for what the module is for", 0)
    refused: str = row("why it is known not to work, without having been translated", "")


@dataclass(slots=True, kw_only=True, frozen=True)
class IndexVariable:
    """A variable of the data segment."""

    name: str = row("its name in PTX")
    offset: int = row("in the segment", c="uint64_t")
    size: int = row("bytes", c="uint64_t")
    space: str = row("where PTX declares it", choices=SPACES)


@dataclass(slots=True, kw_only=True, frozen=True)
class ModuleIndex:
    """A module. Bytes of the data segment that no part has are zero."""

    checked: bool = row("its text was judged whole", False, readers="people")
    ptx: tuple[int, int] = row("the version of PTX", columns="major minor")
    target: int = row("80: it is for sm_80", 0)
    segment_size: int = row("of the data segment", 0, c="uint64_t")
    segment_align: int = row("of the data segment", 1, c="uint64_t")
    kernels: list[IndexKernel] = row("its kernels", list, block=True)
    variables: list[IndexVariable] = row("its variables", list)
    relocs: list[tuple[int, int]] = row(
        "8-byte cells of the segment that hold the segment's address, plus an offset",
        list, columns="at target", c="uint64_t")  # fmt: skip
    parts: list[tuple[int, int, int]] = row(
        "initial bytes of the segment, and where the payload has them", list, columns="at size start",
        c="uint64_t")  # fmt: skip
    payload: bytes = b""

    @property
    def image(self) -> bytes:
        """The data segment's initial bytes, all of them."""
        image = bytearray(self.segment_size)
        for at, size, start in self.parts:
            image[at : at + size] = self.payload[start : start + size]
        return bytes(image)


@dataclass(slots=True, kw_only=True, frozen=True)
class TextCheck:
    """That the text of a module which is to be linked with others was judged, and is PTX."""

    checked: bool = row("always so", True, readers="people")
