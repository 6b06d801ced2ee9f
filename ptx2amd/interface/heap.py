"""The heap of malloc in device code."""

from __future__ import annotations

from ptx2amd.interface.layout import Field, Layout

HEAP = Layout(
    "heap_header",
    "At the start of the heap; `lower/runtime/helpers/ptx2amd_malloc.ll` says how it is used.",
    Field("size", "u64", "bytes of the heap"),
    Field("used", "u64", "bytes used, this header too"),
    Field("locks", "u32", "of 128-bit atomics", count=8, at=32),
    Field("lists", "u64", "free lists, one for each size class", count=128, at=64),
)  # fmt: skip
