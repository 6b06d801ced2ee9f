"""PTX programs in which the warps of a block multiply matrices apart from each other."""

from __future__ import annotations

import random

from tests.lower.matrix_programs import AT, LANE, Matrices, Product, expected, fragments, matrices_of, products, width
from tests.reference import matrix

TURNS = (1, 0, 3, 2)  # times that each warp of a block goes through the loop
SOME = {  # one product of each kind of element, of each depth
    product.opcode: product
    for product in products()
    if product["shape"] in ("m8n8k16", "m8n8k4", "m16n8k8", "m16n8k16", "m16n8k32", "m16n8k64")
    and not dict(product.mods).get("sat")
}


def kernel(name: str, product: Product) -> str:
    """`name(in, out)`: each warp adds A B to C, two times in each of its turns of a loop, and once more in a branch
    that odd warps take. Lanes read and write at LANE tid."""
    texts, lines = {}, []
    for x in "abc":
        count, ptype = product.registers(x)
        size = 8 if ptype == "f64" else 4
        names = [f"%{x}{k}" for k in range(count)]
        lines.append(f".reg .{ptype} {', '.join(names)};")
        texts[x] = "{" + ", ".join(names) + "}"
        lines += [f"ld.global.{ptype} {r}, [%in+{AT[x] + size * k}];" for k, r in enumerate(names)]
    multiply = f"{product.opcode} {texts['c']}, {texts['a']}, {texts['b']}, {texts['c']};"
    count, ptype = product.registers("c")
    size = 8 if ptype == "f64" else 4
    return f"""
.visible .entry {name}(.param .u64 in, .param .u64 out)
{{
.reg .b32 %t, %w, %n, %i; .reg .b64 %in, %out, %at; .reg .pred %p;
mov.u32 %t, %tid.x; ld.param.u64 %in, [in]; ld.param.u64 %out, [out];
mul.wide.u32 %at, %t, {LANE}; add.u64 %in, %in, %at; add.u64 %out, %out, %at;
{chr(10).join(lines)}
shr.u32 %w, %t, 5; shl.b32 %n, %w, 3; mov.u32 %i, {sum(n << 8 * k for k, n in enumerate(TURNS))};
shr.u32 %n, %i, %n; and.b32 %n, %n, 255; mov.u32 %i, 0;
again:
setp.ge.u32 %p, %i, %n; @%p bra done;
{multiply}
{multiply}
add.u32 %i, %i, 1; bra again;
done:
and.b32 %w, %w, 1; setp.eq.u32 %p, %w, 0; @%p bra even;
{multiply}
even:
{chr(10).join(f"st.global.{ptype} [%out+{size * k}], %c{k};" for k in range(count))}
ret;
}}
"""


def warp_matrices(product: Product, warp: int) -> Matrices:
    data = matrices_of(f"{product.opcode} {warp}", dict(product.mods), product.shape)
    if product["at"] == "e4m3":  # without the smallest ones, sums of several products are exact too
        data.a = {at: 0x38 if bits in (0x01, 0x08) else bits for at, bits in data.a.items()}
    return data


def inputs(product: Product, warps: int) -> bytes:
    return b"".join(fragments(product, warp_matrices(product, warp)) for warp in range(warps))


def results(product: Product, warps: int) -> bytes:
    found = b""
    for warp in range(warps):
        data = warp_matrices(product, warp)
        times = 2 * TURNS[warp] + warp % 2
        image = bytes(32 * LANE)
        for _ in range(times):
            image = expected(product, data)
            data = Matrices(data.a, data.b, _accumulators(product, image))
        assert times
        found += image
    return found


def _accumulators(product: Product, image: bytes) -> dict[tuple[int, int], int]:
    size = width(product["dt"]) // 8
    found = {}
    for lane, index, row, column in matrix.c_fragment(product.shape[0], 8):
        at = LANE * lane + size * index
        found[row, column] = int.from_bytes(image[at : at + size], "little")
    return found


# random numbers of all sizes, in the floating-point types

FLOATS = {
    "f16": (16, 5, 10),
    "bf16": (16, 8, 7),
    "tf32": (32, 8, 23),
    "e4m3": (8, 4, 3),
    "e5m2": (8, 5, 2),
    "f64": (64, 11, 52),
}


def random_bits(ptype: str, seed: random.Random, spread: int) -> int:
    """A number within 2**spread of 1, zero, or (f16 and the 8-bit types) subnormal."""
    bits, exponent, mantissa = FLOATS[ptype]
    bias = (1 << exponent - 1) - 1
    kind = seed.random()
    low = 0 if ptype in ("f16", "e4m3", "e5m2") and kind < 0.3 else bias - min(spread, bias - 1)
    field = 0 if kind < 0.1 else seed.randint(low, bias + min(spread, bias - 1))
    sign = seed.getrandbits(1)
    return sign << bits - 1 | field << mantissa | seed.getrandbits(mantissa)
