"""Cache entries as docs/internals/abi.md has them, written without the project's own code."""

from __future__ import annotations

import hashlib
import struct
from pathlib import Path

BUILD_ID = "shim-tests"
PTX = b".version 8.0\n.target sm_80\n.address_size 64\n// a module of the tests\n"
ELF = b"\x7fELF" + bytes(60)

INDEX = """ptx 8 0
target 75
segment_size 64
segment_align 16
kernel scale
param 0 8 8
param 8 4 4
param 16 24 8
max_threads 256
static_shared 1024
kernel plain
target 61
kernel strange
refused uses an instruction that nobody has
variable counter 0 4 global
variable table 16 16 const
variable pointer 32 8 global
reloc 32 16
"""


def write_entry(cache: Path, key_text: str, text: str, payload: bytes = b"") -> None:
    """A cache entry as docs/internals/abi.md has it, written without the project's own code."""
    key = hashlib.blake2b(key_text.encode(), digest_size=32).hexdigest()
    body = text.encode() + payload
    head = b"P2AENT01" + struct.pack("<IIQ", len(text.encode()), 0, len(payload))
    path = cache / key[:2] / f"{key}.p2a"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(head + hashlib.blake2b(body, digest_size=32).digest() + body)


def module_id(image: bytes) -> str:
    return hashlib.blake2b(image, digest_size=32).hexdigest()


def write_index(cache: Path, image: bytes, text: str, payload: bytes = b"") -> None:
    """The index of an image, and what says that a text which is linked with others was judged."""
    whole = f"checked 1\n{text}part 0 {len(payload)} 0\n"
    write_entry(cache, f"index\n{module_id(image)}\n{BUILD_ID}\n", whole, payload)
    write_entry(cache, f"check\n{module_id(image)}\n{BUILD_ID}\n", "checked 1\n")


def write_kernel(cache: Path, image: bytes, name: str, options: str = "", **values: object) -> None:
    given = {
        "name": name,
        "arch": "gfx942",
        "mapping": "paired",
        "wave": 64,
        "max_threads": 1024,
        "static_shared": 0,
        "local": 0,
        "vgprs": 24,
        "sgprs": 16,
        "registers": 24,
        "cells": "",
        "time_ms": 1,
        **values,
    }
    text = "".join(f"{key} {value}\n" for key, value in given.items())
    write_entry(cache, f"kernel\n{module_id(image)}\n{BUILD_ID}\ngfx942\n{options}\n{name}\n", text, ELF)
