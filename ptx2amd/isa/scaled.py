"""Matrix products of a warp with elements of 4, 6 and 8 bits, some with scales for blocks of them (sm_120): rows of
the instruction table."""

from ptx2amd.isa.effects import LANE, WARP
from ptx2amd.isa.form import Form, family
from ptx2amd.isa.matrix import SUM

row = family("9.7.16.5", "", does=WARP, result=LANE, software="f16")

SMALL = "e4m3|e5m2|e3m2|e2m3|e2m1"
BYTES = "mma.sync.aligned.{shape:m16n8k32}.row.col"
NIBBLES = "mma.sync.aligned.{shape:m16n8k64}.row.col"
SPARSE = "mma.{sparse:sp::ordered_metadata}.sync.aligned"
# behind C: the scales of A, their byte and thread; the same of B
SCALES = "{s*1}:b32, {x*2}:u16, {t*1}:b32, {y*2}:u16"
SCALED = f"{{d*4}}:f32, {{a*4}}:b32, {{b*2}}:b32, {{c*4}}:f32, {SCALES}"
SPARSE_SCALED = f"{{d*4}}:f32, {{a*4}}:b32, {{b*4}}:b32, {{c*4}}:f32, m:b32, n:imm, {SCALES}"
PLAIN = {
    "f16": "{d*2}:b32, {a*4}:b32, {b*2}:b32, {c*2}:b32",
    "f32": "{d*4}:f32, {a*4}:b32, {b*2}:b32, {c*4}:f32",
}


def _scaled(
    head: str,
    kind: str,
    size: str,
    elements: str,
    scale: str,
    since: tuple[int, int] = (8, 7),
) -> list[Form]:
    """The row of a scaled product, and the same with a sparse A, which has twice the columns."""
    tail = (
        f".{{kind:kind::{kind}}}.block_scale.{size}"
        f".{{dt:f32}}.{{at:{elements}}}.{{bt:{elements}}}.{{ct:f32}}.{{st:{scale}}}"
    )
    shape = head.partition("shape:")[2].partition("}")[0]
    sparse = head.replace("mma.sync.aligned", SPARSE).replace(shape, {"m16n8k32": "m16n8k64"}.get(shape, "m16n8k128"))
    return [
        row(head + tail, SCALED, "mma_scaled", SUM, since, 120),
        row(sparse + tail, SPARSE_SCALED, "mma_sparse_scaled", SUM, since, 120, see="9.7.16.6", software="all"),
    ]


FORMS = [
    *(
        row(
            f"{BYTES}.{{kind:kind::f8f6f4}}.{{dt:{d}}}.{{at:{SMALL}}}.{{bt:{SMALL}}}.{{ct:{d}}}",
            operands,
            "mma_small",
            SUM,
            (8, 7),
            120,
        )
        for d, operands in PLAIN.items()
    ),
    *_scaled(BYTES, "mxf8f6f4", "[size:scale_vec::1X]", SMALL, "ue8m0"),
    *_scaled(NIBBLES, "mxf4", "[size:scale_vec::2X]", "e2m1", "ue8m0"),
    *_scaled(NIBBLES, "mxf4nvf4", "{size:scale_vec::2X}", "e2m1", "ue8m0"),
    *_scaled(NIBBLES, "mxf4nvf4", "{size:scale_vec::4X}", "e2m1", "ue4m3"),
    *_scaled(NIBBLES, "mxf4nvf4", "{size:scale_vec::4X}", "e2m1", "ue8m0", (9, 1)),
]
