"""Layouts of memory that translated code and the driver share, and the numbers that both know.

    LAUNCH_WORDS = Layout("launch_words", "...", Field("records", "u64", "..."), ...)

Offsets are those of C: each field is aligned to its type and follows the one before it, unless `at` says where it is.
The generated struct has static asserts for every offset and the size. Lowerings take `LAYOUT["field"].offset` and
`.llvm`, helpers in LLVM IR `{layout.field}`, the size as `{layout}`, and numbers as `{NAME}`.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import ModuleType

from ptx2amd.records import dataclass, replace

#: type: bytes, C, LLVM
TYPES = {
    "u8": (1, "uint8_t", "i8"), "u16": (2, "uint16_t", "i16"), "i16": (2, "int16_t", "i16"),
    "u32": (4, "uint32_t", "i32"), "u64": (8, "uint64_t", "i64"), "f32": (4, "float", "float"),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Field:
    """count: elements; 0: as many as follow. at: the offset in bytes, -1 for the next that is aligned."""

    name: str
    type: str
    meaning: str
    count: int = 1
    at: int = -1

    @property
    def offset(self) -> int:
        return self.at

    @property
    def step(self) -> int:
        """Bytes from one element to the next."""
        return TYPES[self.type][0]

    @property
    def llvm(self) -> str:
        return TYPES[self.type][2]

    @property
    def c(self) -> str:
        return TYPES[self.type][1]


class Layout:
    """A struct. size: in bytes, with what is left unused at the end; 0: to the end of the last field."""

    def __init__(self, name: str, meaning: str, *fields: Field, size: int = 0) -> None:
        self.name, self.meaning = name, meaning
        self.fields: dict[str, Field] = {}
        end = 0
        for field in fields:
            at = field.at if field.at >= 0 else -(-end // field.step) * field.step
            assert at >= end and at % field.step == 0 and field.name not in self.fields, (name, field.name)
            self.fields[field.name] = replace(field, at=at)
            end = at + field.step * field.count
        largest = max(field.step for field in fields)
        self.size = size or -(-end // largest) * largest
        assert self.size >= end and self.size % largest == 0, name

    def __getitem__(self, name: str) -> Field:
        return self.fields[name]

    def pack(self, **values: int | tuple[int, ...]) -> bytes:
        """The struct with these integers, zeros elsewhere."""
        blob = bytearray(self.size)
        for name, value in values.items():
            field = self.fields[name]
            for number, element in enumerate(value if isinstance(value, tuple) else (value,)):
                at = field.offset + number * field.step
                blob[at : at + field.step] = element.to_bytes(field.step, "little")
        return bytes(blob)


class Number(int):
    """A number that both sides know by the same name."""

    meaning: str

    def __new__(cls, value: int, meaning: str = "") -> Number:
        number = super().__new__(cls, value)
        number.meaning = meaning
        return number


def layouts(module: ModuleType) -> list[Layout]:
    return [value for value in vars(module).values() if isinstance(value, Layout)]


def numbers(module: ModuleType) -> Mapping[str, Number]:
    return {name: value for name, value in vars(module).items() if isinstance(value, Number)}
