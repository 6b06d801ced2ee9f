"""Clang offload bundles: several code objects in one file that hipModuleLoad takes apart."""

from __future__ import annotations

import struct

MAGIC = b"__CLANG_OFFLOAD_BUNDLE__"
ALIGN = 4096
HOST = b"host-x86_64-unknown-linux-gnu-"


def bundle(codes: dict[str, bytes]) -> bytes:
    """Arch -> code object, as one bundle; the empty host entry comes first, as HIP expects."""
    entries = [(HOST, b"")] + [(f"hipv4-amdgcn-amd-amdhsa--{arch}".encode(), code) for arch, code in codes.items()]
    at = len(MAGIC) + 8 + sum(24 + len(name) for name, _ in entries)
    header, body = bytearray(MAGIC + struct.pack("<Q", len(entries))), bytearray()
    start = -(-at // ALIGN) * ALIGN
    for name, code in entries:
        offset = start + len(body)
        header += struct.pack("<QQQ", offset, len(code), len(name)) + name
        body += code + bytes(-len(code) % ALIGN)
    return bytes(header) + bytes(start - at) + bytes(body)
