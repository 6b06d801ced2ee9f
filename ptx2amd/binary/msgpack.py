"""MessagePack, as far as AMDGPU metadata uses it: text, numbers, truth values, lists, maps."""

from __future__ import annotations

import struct
from typing import Any

from ptx2amd.binary.blob import Blob

NUMBERS = {0xCA: ">f", 0xCB: ">d", 0xCC: ">B", 0xCD: ">H", 0xCE: ">I", 0xCF: ">Q"}
NUMBERS |= {0xD0: ">b", 0xD1: ">h", 0xD2: ">i", 0xD3: ">q"}
STRINGS = {0xD9: ">B", 0xDA: ">H", 0xDB: ">I"}
BYTES = {0xC4: ">B", 0xC5: ">H", 0xC6: ">I"}
ARRAYS = {0xDC: ">H", 0xDD: ">I"}
MAPS = {0xDE: ">H", 0xDF: ">I"}
CONSTANTS = {0xC0: None, 0xC2: False, 0xC3: True}
FORMS = {tag: struct.Struct(form) for kind in (NUMBERS, STRINGS, BYTES, ARRAYS, MAPS) for tag, form in kind.items()}
DEPTH = 64  # of values in values; AMDGPU metadata has 5


def unpack(blob: Blob, at: int = 0, depth: int = 0) -> tuple[Any, int]:
    """One value at `at`: (value, position after it). Raises ContainerError."""
    if depth > DEPTH:
        raise blob.error(at, "MessagePack values are nested too deeply")
    begin = at
    tag = blob.read(at, 1, "a MessagePack value")[0]
    at += 1
    if tag < 0x80 or tag >= 0xE0:
        return tag if tag < 0x80 else tag - 256, at
    if tag in CONSTANTS:
        return CONSTANTS[tag], at
    count = tag & (31 if 0xA0 <= tag < 0xC0 else 15)
    if tag in FORMS:
        (count,) = blob.unpack(FORMS[tag], at, "a MessagePack value")
        at += FORMS[tag].size
    if tag in NUMBERS:
        return count, at
    if tag in STRINGS or 0xA0 <= tag < 0xC0:
        return blob.read(at, count, "a MessagePack string").decode(errors="replace"), at + count
    if tag in BYTES:
        return blob.read(at, count, "MessagePack bytes"), at + count
    if tag in MAPS or tag & 0xF0 == 0x80:
        return _map(blob, at, count, depth + 1)
    if tag in ARRAYS or tag & 0xF0 == 0x90:
        items = []
        for _ in range(count):
            item, at = unpack(blob, at, depth + 1)
            items.append(item)
        return items, at
    raise blob.error(begin, f"there is no MessagePack tag {tag:#x}")


def _map(blob: Blob, at: int, count: int, depth: int) -> tuple[dict[Any, Any], int]:
    result = {}
    for _ in range(count):
        key, after = unpack(blob, at, depth)
        if not isinstance(key, str | int):
            raise blob.error(at, "a MessagePack map has a key that is neither text nor a number")
        result[key], at = unpack(blob, after, depth)
    return result, at


def pack(value: Any) -> bytes:
    """The bytes of a value, each count and number in a form that always fits."""
    if isinstance(value, bool) or value is None:
        return bytes([next(tag for tag, known in CONSTANTS.items() if known is value)])
    if isinstance(value, int):
        return b"\xd3" + struct.pack(">q", value) if value < 0 else b"\xcf" + struct.pack(">Q", value)
    if isinstance(value, str):
        text = value.encode()
        return b"\xdb" + struct.pack(">I", len(text)) + text
    if isinstance(value, list):
        return b"\xdd" + struct.pack(">I", len(value)) + b"".join(map(pack, value))
    if isinstance(value, dict):
        items = b"".join(pack(key) + pack(item) for key, item in value.items())
        return b"\xdf" + struct.pack(">I", len(value)) + items
    raise TypeError(f"no MessagePack for {type(value).__name__}")
