"""A PTX program that moves matrices of 8-bit and smaller elements (ldmatrix, stmatrix), and what it has to do, as the
manual's fragment tables say. Shared memory holds 32 rows of 16 bytes; lane i has the address of row i."""

from __future__ import annotations

from collections.abc import Callable

HEAD = ".version 8.6\n.target sm_100a\n.address_size 64\n"
FORMATS = {"b8": 8, "b8x16.b6x16_p32": 6, "b8x16.b4x16_p64": 4}
LOADS = [
    *(("m8n16", n, n, t) for n in (1, 2, 4) for t in ("b8x16.b6x16_p32", "b8x16.b4x16_p64")),
    *(("m16n16", n, 2 * n, t) for n in (1, 2) for t in FORMATS),
]
STORES = [1, 2, 4]
ROW = 16


def kernel() -> str:
    """`bytes(in, out)`: each load's four words a lane, then shared memory after each store."""
    lines = [
        ".visible .entry bytes(.param .u64 in, .param .u64 out)",
        "{",
        ".shared .align 16 .b8 sh[512]; .reg .b32 %t, %own, %d<4>, %s<4>; .reg .b64 %in, %out, %at;",
        "mov.u32 %t, %tid.x; ld.param.u64 %in, [in]; ld.param.u64 %out, [out]; mov.u32 %own, sh;",
        "mad.lo.u32 %own, %t, 16, %own; mul.wide.u32 %at, %t, 16; add.u64 %in, %in, %at; add.u64 %out, %out, %at;",
        "ld.global.v4.u32 {%s0, %s1, %s2, %s3}, [%in]; st.shared.v4.u32 [%own], {%s0, %s1, %s2, %s3};",
        "bar.warp.sync -1;",
    ]
    for i, (shape, n, registers, kind) in enumerate(LOADS):
        lines.append("mov.b32 %d0, 0; mov.b32 %d1, 0; mov.b32 %d2, 0; mov.b32 %d3, 0;")
        names = ", ".join(f"%d{k}" for k in range(registers))
        trans = ".trans" if shape == "m16n16" else ""
        lines.append(f"ldmatrix.sync.aligned.{shape}.x{n}{trans}.shared.{kind} {{{names}}}, [%own];")
        lines.append(f"st.global.v4.u32 [%out+{512 * i}], {{%d0, %d1, %d2, %d3}};")
    for i, n in enumerate(STORES, len(LOADS)):
        names = ", ".join(f"%s{k}" for k in range(n))
        lines.append(f"stmatrix.sync.aligned.m16n8.x{n}.trans.shared.b8 [%own], {{{names}}}; bar.warp.sync -1;")
        lines.append(f"ld.shared.v4.u32 {{%d0, %d1, %d2, %d3}}, [%own]; st.global.v4.u32 [%out+{512 * i}], ")
        lines.append("{%d0, %d1, %d2, %d3}; bar.warp.sync -1;")
        lines.append("st.shared.v4.u32 [%own], {%s0, %s1, %s2, %s3}; bar.warp.sync -1;")
    return "\n".join([*lines, "ret;", "}", ""])


def element(data: bytes, row: int, column: int, bits: int) -> int:
    """An element of a row, as a byte."""
    number = int.from_bytes(data[ROW * row : ROW * (row + 1)], "little")
    return number >> bits * column & (1 << bits) - 1


def loaded(shape: str, n: int, kind: str, data: bytes) -> bytes:
    bits = FORMATS[kind]
    result = bytearray(512)
    place: Callable[[int, int, int], tuple[int, int]]
    if shape == "m8n16":  # register i is matrix i

        def place(lane: int, register: int, k: int) -> tuple[int, int]:
            return 8 * register + lane // 4, lane % 4 * 4 + k
    else:  # registers 2i and 2i + 1 are matrix i, of which the columns have become rows

        def place(lane: int, register: int, k: int) -> tuple[int, int]:
            return 16 * (register // 2) + lane % 4 * 4 + k, lane // 4 + 8 * (register % 2)

    for lane in range(32):
        for register in range(n * (1 if shape == "m8n16" else 2)):
            for k in range(4):
                result[16 * lane + 4 * register + k] = element(data, *place(lane, register, k), bits)
    return bytes(result)


def stored(n: int, data: bytes) -> bytes:
    """Shared memory after a store of the lanes' first words, which is as it was where nothing goes."""
    result = bytearray(data)
    for lane in range(32):
        group, thread = divmod(lane, 4)
        for register in range(n):
            for k in range(4):
                row, column = 8 * register + 2 * thread + k % 2, group + 8 * (k // 2)
                result[ROW * row + column] = data[16 * lane + 4 * register + k]
    return bytes(result)
