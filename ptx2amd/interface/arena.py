"""The arena: shared memory beyond LDS, in slots that blocks take and give back."""

from __future__ import annotations

from ptx2amd.interface.layout import Field, Layout, Number

BLOCK_SHARED_LIMIT = Number(232448, "bytes of shared memory that CUDA gives a block at most")
SLOT_BYTES = Number(234496, "of a slot: room for that and its alignment")

ARENA = Layout(
    "arena_header",
    "At the start of the arena. A block that takes a slot exchanges place `taken++` of the ring with 0 until it finds "
    "a ticket there; when it ends, it puts the ticket to place `given++` once that is 0. So blocks wait in turn.",
    Field("slots", "u32", "slots of the arena"),
    Field("mask", "u32", "places of the ring, a power of two, less 1"),
    Field("first", "u64", "offset of the first slot"),
    Field("taken", "u32", "slots taken so far", at=64),
    Field("given", "u32", "slots given back so far; at first all", at=128),
    Field("ring", "u32", "tickets: a slot's number + 1, or 0", count=0, at=192),
)  # fmt: skip
