"""Textures: rows of the instruction table."""

from ptx2amd.isa.effects import READS, SOURCES, WHOLE
from ptx2amd.isa.form import family

row = family("9.7.12", "- - tex tld4 txq istypep", does=READS, result=SOURCES, memory="texture", software="all")

READ = "approx: filters with weights of 8 bits, sums in f32; texels that are not filtered are exact"
DEPTH = "refused: depth textures, which no function of the driver makes"
SAMPLES = "refused: textures with several samples, which no function of the driver makes"
SAMPLERS = "refused: samplers apart from textures, which no function of the driver binds"
FORMATS = (("{vec:v4}.{t:u32|s32|f16|f32}", (1, 0), 0), ("{vec:v2}.{t:f16x2}", (4, 2), 53))
FLAT, CUBES = "1d|2d|3d|a1d|a2d", "cube|acube"
QUERIES = (
    "width|height|depth|channel_data_type|channel_order|normalized_coords|array_size|num_mipmap_levels"
    "|num_samples|filter_mode|addr_mode_0|addr_mode_1|addr_mode_2"
)
RESULT = "{d}:t|p:pred?"  # the predicate: whether the texels are resident
CUBE_OFFSETS = "refused: texel offsets in cubes"
OFFSET, COMPARED = ", {b*?}:s32?", ", {b*?}:s32?, c:f32"


def _ends(geometry: str, lower: str, exact: str) -> tuple[tuple[str, tuple[str, str]], ...]:
    """(operands behind the others, lowering and fidelity) for some geometries."""
    if geometry == FLAT:
        return (OFFSET, (lower, exact)), (COMPARED, ("", DEPTH))
    return ("", (lower, exact)), (", b:s32", ("", CUBE_OFFSETS)), (", b:s32?, c:f32", ("", DEPTH))


LEVELS = (  # kind, further operands by the type of coordinates
    ("", {"s32": "", "f32": ""}),
    (".base", {"s32": "", "f32": ""}),
    (".level", {"s32": ", l:s32", "f32": ", l:f32"}),
    (".grad", {"f32": ", {g*?}:f32, {h*?}:f32"}),
)

FORMS = [
    *(
        row(
            f"tex{kind}.{{geom:{geometry}}}.{format_}.{{ct:{ct}}}",
            f"{RESULT}, [a,*]{more}{end}",
            *how,
            max(since, (4, 3) if kind == ".grad" and geometry == CUBES else since),
            sm,
            takes=WHOLE if "f16x2" in format_ else 0,
            name_words=int(kind != ""),
        )
        for kind, operands in LEVELS
        for format_, since, sm in FORMATS
        for geometry in (FLAT, CUBES)
        for ct, more in operands.items()
        if geometry == FLAT or ct == "f32"
        for end, how in _ends(geometry, "tex_level" if more else "tex", READ)
        if how[1] != DEPTH or ct == "f32"
    ),
    row("tex.{geom:2dms|a2dms}.{vec:v4}.{t:u32|s32|f16|f32}.s32", f"{RESULT}, [a,*]", "", SAMPLES, (3, 2)),
    *(
        row(
            f"tld4.{{comp:r|g|b|a}}.{{geom:{geometry}}}.{{vec:v4}}.{{t:u32|s32|f32}}.f32",
            f"{RESULT}, [a,*]{end}",
            *how,
            *(((4, 3), 30) if like == CUBES else ((2, 2), 0)),
        )
        for geometry, like in (("2d|a2d", FLAT), (CUBES, CUBES))
        for end, how in _ends(like, "tld4", "exact")
    ),
    row(f"txq.{{query:{QUERIES}}}.b32", "d:b32, [a]", "image_query", "exact", (1, 5), software="", name_words=1),
    row("txq.force_unnormalized_coords.b32", "d:b32, [a]", "", SAMPLERS, (1, 5), name_words=2),
    row(
        "txq.level.{query:width|height|depth}.b32",
        "d:b32, [a], l:b32",
        "image_query",
        "exact",
        (4, 3),
        30,
        software="",
        name_words=1,
    ),
    row("istypep.{t:texref|samplerref|surfref}", "p:pred, a:u64", "istypep", "exact", (4, 0), 30, software=""),
]
