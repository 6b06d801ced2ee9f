"""Matrix products of a warp with a sparse A (mma.sp): rows of the instruction table."""

from ptx2amd.isa.effects import LANE, WARP
from ptx2amd.isa.form import Form, family
from ptx2amd.isa.matrix import SUM

row = family("9.7.16.6", "", does=WARP, result=LANE, software="all")

BYTES = "u8|s8"
NIBBLES = "u4|s4"
EIGHTHS = "e4m3|e5m2"
SMALL = f"{EIGHTHS}|e3m2|e2m3|e2m1"

# (shape, element types, registers of a and of b, types of c and d, first sm, PTX)
SHAPES = [
    ("m16n8k16", "f16", 2, ("f16", "f32"), 80, (7, 1)),
    ("m16n8k32", "f16", 4, ("f16", "f32"), 80, (7, 1)),
    ("m16n8k16", "bf16", 2, ("f32",), 80, (7, 1)),
    ("m16n8k32", "bf16", 4, ("f32",), 80, (7, 1)),
    ("m16n8k8", "tf32", 2, ("f32",), 80, (7, 1)),
    ("m16n8k16", "tf32", 4, ("f32",), 80, (7, 1)),
    ("m16n8k32", BYTES, 2, ("s32",), 80, (7, 1)),
    ("m16n8k64", BYTES, 4, ("s32",), 80, (7, 1)),
    ("m16n8k64", NIBBLES, 2, ("s32",), 80, (7, 1)),
    ("m16n8k128", NIBBLES, 4, ("s32",), 80, (7, 1)),
    ("m16n8k64", EIGHTHS, 4, ("f32",), 89, (8, 4)),
    ("m16n8k64", EIGHTHS, 4, ("f16",), 120, (8, 7)),
]
_ACCUMULATORS = {"f16": (2, "b32"), "f32": (4, "f32"), "s32": (4, "s32")}


def _row(
    sparse: str, since: tuple[int, int], shape: str, types: str, count: int, c: str, sm: int, word: str = ""
) -> Form:
    registers, kind = _ACCUMULATORS[c]
    sat = ".[sat:satfinite]" if c == "s32" else ""
    return row(
        f"mma.{{sparse:{sparse}}}.sync.aligned.{{shape:{shape}}}.row.col{sat}{word}"
        f".{{dt:{c}}}.{{at:{types}}}.{{bt:{types}}}.{{ct:{c}}}",
        f"{{d*{registers}}}:{kind}, {{a*{count}}}:b32, {{b*{count}}}:b32, {{c*{registers}}}:{kind}, m:b32, n:imm",
        "mma_sparse",
        "exact" if c == "s32" else SUM,
        since,
        sm,
    )


FORMS = [
    _row(sparse, max(first, since), shape, types, count, c, sm)
    for sparse, first in (("sp", (7, 1)), ("sp::ordered_metadata", (8, 5)))
    for shape, types, count, accumulators, sm, since in SHAPES
    for c in accumulators
    if sparse != "sp" or sm < 120
] + [  # elements of 4 and 6 bits too, in bytes
    _row("sp::ordered_metadata", (8, 7), "m16n8k64", SMALL, 4, c, 120, ".{kind:kind::f8f6f4}") for c in ("f16", "f32")
]
