"""What device code prints: records in a buffer that the driver drains at synchronisation."""

from __future__ import annotations

from ptx2amd.interface.layout import Field, Layout, Number

PRINTF_ASSERTION = Number(1, "kind of a record: a failed assert, for standard error; further calls fail")
PRINTF_COPIED = Number(1 << 63, "bit of a string argument: the rest is the place of a copy in the record")

BUFFER = Layout(
    "printf_buffer",
    "The buffer's head; the records follow.",
    Field("capacity", "u32", "bytes of the records, a multiple of 8"),
    Field("position", "u32", "bytes reserved so far; if more than there are, those records are lost"),
)
RECORD = Layout(
    "printf_record",
    "A record's head. The arguments follow as vprintf lays them out, then copies of strings that are in local or "
    "shared memory.",
    Field("size", "u32", "bytes of the record, a multiple of 8; 0: this one and all behind it are lost"),
    Field("kind", "u32", "0 printf, or PRINTF_ASSERTION"),
    Field("format", "u64", "address of the format string"),
)
