"""Textures: rows of the instruction table."""

from ptx2amd.isa.form import Form

READ = "approx: filters with weights of 8 bits, sums in f32; texels that are not filtered are exact"
LEVELS = "refused: mipmap levels and samples"
OFFSETS = "refused: texel offsets, depth comparison and residency"
SHIFT = ", {b*?}:s32, c:f32?"
FORMATS = ("{vec:v4}.{t:u32|s32|f16|f32}", "{vec:v2}.{t:f16x2}")
GEOMETRIES = (("1d|2d|3d|a1d|a2d", "s32|f32"), ("cube|acube", "f32"))
QUERIES = (
    "width|height|depth|channel_data_type|channel_order|normalized_coords|array_size|num_mipmap_levels"
    "|num_samples"
)


def _texture(level: str, more: str = "") -> list[Form]:
    """Coordinates are in the address; a level or gradients (of no effect: images have one level) behind it."""
    gradients = level == ".grad"
    return [
        Form(f"tex{level}.{{geom:{geometry}}}.{format_}.{{ct:{'f32' if gradients else ct}}}", *rest)
        for format_ in FORMATS
        for geometry, ct in GEOMETRIES
        for rest in (
            (f"{{d}}:t, [a,*]{more}", "tex", READ),
            (f"{{d}}:t, [a,*]{more}{SHIFT}", "", OFFSETS),
            (f"{{d}}:t, [a,*]{more}, c:f32", "", OFFSETS),
        )
    ]


FORMS = [
    *_texture(""),
    *_texture(".base"),
    *_texture(".level", ", l:b32"),
    *_texture(".grad", ", {g*?}:f32, {h*?}:f32"),
    Form("tex.{geom:2dms|a2dms}.{vec:v4}.{t:u32|s32|f16|f32}.s32", "{d}:t, [a,*]", "", LEVELS, (3, 2)),
    Form(
        "tld4.{comp:r|g|b|a}.{geom:2d|a2d|cube|acube}.{vec:v4}.{t:u32|s32|f32}.f32",
        "{d}:t, [a,*]",
        "tld4",
        "exact",
        (2, 2),
    ),
    Form(
        "tld4.{comp:r|g|b|a}.{geom:2d|a2d|cube|acube}.{vec:v4}.{t:u32|s32|f32}.f32",
        f"{{d}}:t, [a,*]{SHIFT}",
        "",
        OFFSETS,
        (2, 2),
    ),
    Form(
        f"txq.{{query:{QUERIES}|filter_mode|addr_mode_0|addr_mode_1|addr_mode_2|force_unnormalized_coords}}.b32",
        "d:b32, [a]",
        "image_query",
        "exact",
        (1, 5),
    ),
    Form("txq.level.{query:width|height|depth}.b32", "d:b32, [a], l:b32", "image_query", "exact", (4, 3)),
    Form("istypep.{t:texref|samplerref|surfref}", "p:pred, a:u64", "istypep", "exact", (4, 0)),
]
