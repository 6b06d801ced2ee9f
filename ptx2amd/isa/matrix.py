"""Matrix operations on the fragments of a warp: rows of the instruction table."""

from ptx2amd.isa.effects import LANE, READS, WARP, WRITES
from ptx2amd.isa.form import Form, family

row = family("9.7.16.5", "", does=WARP, result=LANE)
load = family("9.7.16.5", "", does=WARP | READS, memory="shared", result=LANE)
store = family("9.7.16.5", "", does=WARP | WRITES, memory="shared")

SPACE = ".[space:shared|shared::cta]"
TRANS = ".[trans:trans]"


SUM = "approx: products are exact, sums are rounded in a fixed order of our own, to f32"

# ldmatrix and stmatrix: {modifier}, fragments a lane
COUNTS = (("x1", 1), ("x2", 2), ("x4", 4))

LOADS = [
    form
    for count, n in COUNTS
    for form in (
        load(
            f"ldmatrix.sync.aligned.m8n8.{{num:{count}}}{TRANS}{SPACE}.b16",
            f"{{d*{n}}}:b32, [a]",
            "ldmatrix",
            since=(6, 5),
            sm=75,
        ),
        store(
            f"stmatrix.sync.aligned.m8n8.{{num:{count}}}{TRANS}{SPACE}.b16",
            f"[a], {{b*{n}}}:b32",
            "stmatrix",
            since=(7, 8),
            sm=90,
        ),
    )
]

PACKED = "b8x16.b6x16_p32|b8x16.b4x16_p64"  # elements of 6 and 4 bits that become bytes

BYTES = [
    *(
        load(
            f"ldmatrix.sync.aligned.{{shape:m8n16}}.{{num:{count}}}{SPACE}.{{t:{PACKED}}}",
            f"{{d*{n}}}:b32, [a]",
            "ldmatrix_bytes",
            since=(8, 6),
            sm=100,
        )
        for count, n in COUNTS
    ),
    *(
        load(
            f"ldmatrix.sync.aligned.{{shape:m16n16}}.{{num:{count}}}.trans{SPACE}.{{t:b8|{PACKED}}}",
            f"{{d*{2 * n}}}:b32, [a]",
            "ldmatrix_bytes_trans",
            since=(8, 6),
            sm=100,
        )
        for count, n in COUNTS[:2]
    ),
    *(
        store(
            f"stmatrix.sync.aligned.{{shape:m16n8}}.{{num:{count}}}.trans{SPACE}.b8",
            f"[a], {{b*{n}}}:b32",
            "stmatrix_bytes_trans",
            since=(8, 6),
            sm=100,
        )
        for count, n in COUNTS
    ),
]

# (shape, type of a, type of b, registers of a, of b, type of d and c, registers of d, first sm, PTX)
_F16, _BF16, _TF32, _F64 = "f16", "bf16", "tf32", "f64"
DENSE = [
    ("m16n8k8", _F16, _F16, 2, 1, "f16", 2, 75, (6, 5)),
    ("m16n8k8", _F16, _F16, 2, 1, "f32", 4, 75, (6, 5)),
    ("m16n8k16", _F16, _F16, 4, 2, "f16", 2, 80, (7, 0)),
    ("m16n8k16", _F16, _F16, 4, 2, "f32", 4, 80, (7, 0)),
    ("m16n8k8", _BF16, _BF16, 2, 1, "f32", 4, 80, (7, 0)),
    ("m16n8k16", _BF16, _BF16, 4, 2, "f32", 4, 80, (7, 0)),
    ("m16n8k4", _TF32, _TF32, 2, 1, "f32", 4, 80, (7, 0)),
    ("m16n8k8", _TF32, _TF32, 4, 2, "f32", 4, 80, (7, 0)),
    ("m8n8k4", _F64, _F64, 1, 1, "f64", 2, 80, (7, 0)),
    ("m16n8k4", _F64, _F64, 2, 1, "f64", 4, 90, (7, 8)),
    ("m16n8k8", _F64, _F64, 4, 2, "f64", 4, 90, (7, 8)),
    ("m16n8k16", _F64, _F64, 8, 4, "f64", 4, 90, (7, 8)),
    ("m8n8k16", "u8|s8", "u8|s8", 1, 1, "s32", 2, 75, (6, 5)),
    ("m16n8k16", "u8|s8", "u8|s8", 2, 1, "s32", 4, 80, (7, 0)),
    ("m16n8k32", "u8|s8", "u8|s8", 4, 2, "s32", 4, 80, (7, 0)),
    ("m8n8k32", "u4|s4", "u4|s4", 1, 1, "s32", 2, 75, (6, 5)),
    ("m16n8k32", "u4|s4", "u4|s4", 2, 1, "s32", 4, 80, (7, 0)),
    ("m16n8k64", "u4|s4", "u4|s4", 4, 2, "s32", 4, 80, (7, 0)),
    ("m16n8k32", "e4m3|e5m2", "e4m3|e5m2", 4, 2, "f32", 4, 89, (8, 4)),
    ("m16n8k32", "e4m3|e5m2", "e4m3|e5m2", 4, 2, "f16", 2, 89, (8, 7)),
    ("m16n8k16", "e4m3|e5m2", "e4m3|e5m2", 2, 1, "f32", 4, 89, (8, 7)),
    ("m16n8k16", "e4m3|e5m2", "e4m3|e5m2", 2, 1, "f16", 2, 89, (8, 7)),
]
BINARY = [
    ("m8n8k128", 1, 1, 2, 75, (7, 0)),
    ("m16n8k128", 2, 1, 4, 80, (7, 0)),
    ("m16n8k256", 4, 2, 4, 80, (7, 0)),
]


def _dense(shape: str, a: str, b: str, na: int, nb: int, c: str, nc: int, sm: int, since: tuple[int, int]) -> Form:
    word = {"f16": "b32", "f64": "f64"}
    source, accumulator = word.get(a if a == "f64" else "", "b32"), word.get(c, c)
    more = {"s32": ".[sat:satfinite]", "f64": ".[rnd:rn|rz|rm|rp]"}.get(c, "")
    return row(
        f"mma.sync.aligned.{{shape:{shape}}}.row.col{more}.{{dt:{c}}}.{{at:{a}}}.{{bt:{b}}}.{{ct:{c}}}",
        f"{{d*{nc}}}:{accumulator}, {{a*{na}}}:{source}, {{b*{nb}}}:{source}, {{c*{nc}}}:{accumulator}",
        "mma",
        "exact" if c in ("s32",) else SUM,
        since,
        sm,
        software="product",
    )


HALF = {"f16": (4, "b32"), "f32": (8, "f32")}  # registers of m8n8k4 accumulators

MMA = [
    *(_dense(*row) for row in DENSE),
    *(
        row(
            f"mma.sync.aligned.{{shape:{shape}}}.row.col.{{dt:s32}}.{{at:b1}}.{{bt:b1}}.{{ct:s32}}.{{op:xor.popc|and.popc}}",
            f"{{d*{nc}}}:s32, {{a*{na}}}:b32, {{b*{nb}}}:b32, {{c*{nc}}}:s32",
            "mma",
            since=since,
            sm=sm,
            software="product",
        )
        for shape, na, nb, nc, sm, since in BINARY
    ),
    *(
        row(
            f"mma.sync.aligned.m8n8k4.{{alayout:row|col}}.{{blayout:row|col}}.{{dt:{d}}}.f16.f16.{{ct:{c}}}",
            f"{{d*{HALF[d][0]}}}:{HALF[d][1]}, {{a*2}}:b32, {{b*2}}:b32, {{c*{HALF[c][0]}}}:{HALF[c][1]}",
            "mma_quadpair",
            SUM,
            (6, 4),
            70,
            software="all",
        )
        for d, c in (("f16", "f16"), ("f32", "f32"), ("f32", "f16"))
    ),
]

FORMS = [
    *LOADS,
    *BYTES,
    row("movmatrix.sync.aligned.m8n8.trans.b16", "d:b32, a:b32", "movmatrix", since=(7, 8), sm=75),
    *MMA,
]
