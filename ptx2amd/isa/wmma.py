"""Matrix operations on fragments with a layout of our own (wmma): rows of the instruction table."""

from ptx2amd.isa.effects import ADDRESS_32, LANE, READS, WARP, WRITES
from ptx2amd.isa.form import Form, family

row = family("9.7.16.4", "", does=WARP, result=LANE, software="product")
load = family("9.7.16.4", "", does=WARP | READS, result=LANE, takes=ADDRESS_32, name_words=2)
store = family("9.7.16.4", "", does=WARP | WRITES, takes=ADDRESS_32, name_words=2)

SUM = "approx: products are exact, sums are rounded in a fixed order of our own, to f32"
LAYOUT = "{layout:row|col}"
SPACE = ".[space:global|shared|shared::cta]"
WIDE = ("m16n16k16", "m8n32k16", "m32n8k16")

# (shapes, element type, layouts of a and b, registers of a and of b for each shape, register type, sm, PTX)
INPUTS = (
    (WIDE, "f16", ("row|col", "row|col"), ((8, 8), (8, 8), (8, 8)), "b32", 70, (6, 3)),
    (WIDE, "bf16", ("row|col", "row|col"), ((4, 4), (2, 8), (8, 2)), "b32", 80, (7, 0)),
    (WIDE, "u8|s8", ("row|col", "row|col"), ((2, 2), (1, 4), (4, 1)), "b32", 72, (6, 3)),
    (("m16n16k8",), "tf32", ("row|col", "row|col"), ((4, 4),), "b32", 80, (7, 0)),
    (("m8n8k4",), "f64", ("row|col", "row|col"), ((1, 1),), "f64", 80, (7, 0)),
    (("m8n8k32",), "s4|u4", ("row", "col"), ((1, 1),), "b32", 75, (6, 3)),
    (("m8n8k128",), "b1", ("row", "col"), ((1, 1),), "b32", 75, (6, 3)),
)
# (shapes, type, registers, register type, sm, PTX) of accumulators
ACCUMULATORS = (
    (WIDE, "f16", 4, "b32", 70, (6, 3)),
    (WIDE, "f32", 8, "f32", 70, (6, 3)),
    (WIDE, "s32", 8, "s32", 72, (6, 3)),
    (("m16n16k8",), "f32", 8, "f32", 80, (7, 0)),
    (("m8n8k4",), "f64", 2, "f64", 80, (7, 0)),
    (("m8n8k32", "m8n8k128"), "s32", 2, "s32", 75, (6, 3)),
)

LOADS = [
    load(
        f"wmma.load.{{part:{part}}}.sync.aligned.{{layout:{layouts[i]}}}.{{shape:{shape}}}{SPACE}.{{t:{ptype}}}",
        f"{{d*{counts[i]}}}:{register}, [a], b:u32?",
        "wmma_load",
        since=since,
        sm=sm,
    )
    for shapes, ptype, layouts, registers, register, sm, since in INPUTS
    for shape, counts in zip(shapes, registers, strict=True)
    for i, part in enumerate("ab")
]

RESULTS = [
    form
    for shapes, ptype, count, register, sm, since in ACCUMULATORS
    for form in (
        load(
            f"wmma.load.{{part:c}}.sync.aligned.{LAYOUT}.{{shape:{'|'.join(shapes)}}}{SPACE}.{{t:{ptype}}}",
            f"{{d*{count}}}:{register}, [a], b:u32?",
            "wmma_load",
            since=since,
            sm=sm,
        ),
        store(
            f"wmma.store.{{part:d}}.sync.aligned.{LAYOUT}.{{shape:{'|'.join(shapes)}}}{SPACE}.{{t:{ptype}}}",
            f"[a], {{c*{count}}}:{register}, b:u32?",
            "wmma_store",
            since=since,
            sm=sm,
        ),
    )
]


def _product(
    shape: str,
    layouts: tuple[str, str],
    types: str,
    exact: str,
    regs: tuple[int, int, int, int, str, str, str],
    sm: int,
    since: tuple[int, int],
) -> Form:
    nd, a, b, nc, source, dreg, creg = regs
    return row(
        f"wmma.mma.sync.aligned.{{alayout:{layouts[0]}}}.{{blayout:{layouts[1]}}}.{{shape:{shape}}}.{types}",
        f"{{d*{nd}}}:{dreg}, {{a*{a}}}:{source}, {{b*{b}}}:{source}, {{c*{nc}}}:{creg}",
        "wmma",
        exact,
        since,
        sm,
        name_words=1,
    )


BOTH = ("row|col", "row|col")
HALVES = {"f16": (4, "b32"), "f32": (8, "f32")}
PRODUCTS = [
    *(
        _product(
            shape,
            BOTH,
            f"{{dt:{d}}}.{{ct:{c}}}",
            SUM,
            (nd, 8, 8, nc, "b32", dreg, creg),
            70,
            (6, 3),
        )
        for shape in WIDE
        for d, (nd, dreg) in HALVES.items()
        for c, (nc, creg) in HALVES.items()
    ),
    *(
        _product(
            shape,
            BOTH,
            "{dt:f32}.{at:bf16}.{bt:bf16}.{ct:f32}",
            SUM,
            (8, a, b, 8, "b32", "f32", "f32"),
            80,
            (7, 0),
        )
        for shape, (a, b) in zip(WIDE, INPUTS[1][3], strict=True)
    ),
    *(
        _product(
            shape,
            BOTH,
            f"{{dt:s32}}.{{at:{t}}}.{{bt:{t}}}.{{ct:s32}}.[sat:satfinite]",
            "exact",
            (8, a, b, 8, "b32", "s32", "s32"),
            72,
            (6, 3),
        )
        for shape, (a, b) in zip(WIDE, INPUTS[2][3], strict=True)
        for t in ("u8", "s8")
    ),
    _product(
        "m16n16k8",
        BOTH,
        "{dt:f32}.{at:tf32}.{bt:tf32}.{ct:f32}",
        SUM,
        (8, 4, 4, 8, "b32", "f32", "f32"),
        80,
        (7, 0),
    ),
    _product(
        "m8n8k4",
        BOTH,
        "{dt:f64}.{at:f64}.{bt:f64}.{ct:f64}.[rnd:rn|rz|rm|rp]",
        SUM,
        (2, 1, 1, 2, "f64", "f64", "f64"),
        80,
        (7, 0),
    ),
    *(
        _product(
            "m8n8k32",
            ("row", "col"),
            f"{{dt:s32}}.{{at:{t}}}.{{bt:{t}}}.{{ct:s32}}.[sat:satfinite]",
            "exact",
            (2, 1, 1, 2, "b32", "s32", "s32"),
            75,
            (6, 3),
        )
        for t in ("u4", "s4")
    ),
    row(
        "wmma.mma.{op:xor.popc|and.popc}.sync.aligned.row.col.{shape:m8n8k128}.{dt:s32}.{at:b1}.{bt:b1}.{ct:s32}",
        "{d*2}:s32, {a*1}:b32, {b*1}:b32, {c*2}:s32",
        "wmma",
        since=(6, 3),
        sm=75,
        name_words=1,
    ),
]

FORMS = [*LOADS, *RESULTS, *PRODUCTS]
