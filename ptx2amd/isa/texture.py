"""Textures: rows of the instruction table."""

from ptx2amd.isa.form import Form

WHY = "refused: textures"
TYPES = "{t:u32|s32|f16|f32}"
PAIRED = "{t:f16x2}"
GEOMETRY = "{geom:1d|2d|3d|a1d|a2d|cube|acube}"
QUERIES = (
    "width|height|depth|channel_data_type|channel_order|normalized_coords|array_size|num_mipmap_levels"
    "|num_samples"
)


def _texture(level: str, more: str) -> list[Form]:
    """Coordinates, levels and gradients are in the address and behind it; results are four elements."""
    return [
        Form(f"tex{level}.{GEOMETRY}.{kind}.{{ct:s32|f32}}", f"{{d}}:t, [a,*]{more}", "", WHY)
        for kind in (f"{{vec:v4}}.{TYPES}", f"{{vec:v2}}.{PAIRED}")
    ]


FORMS = [
    *_texture("", ", b:b32?, c:f32?"),
    *_texture(".base", ", b:b32?, c:f32?"),
    *_texture(".level", ", l:b32, b:b32?, c:f32?"),
    *_texture(".grad", ", {g*?}:f32, {h*?}:f32, b:b32?, c:f32?"),
    Form("tex.{geom:2dms|a2dms}.{vec:v4}.{t:u32|s32|f16|f32}.s32", "{d}:t, [a,*]", "", WHY, (3, 2)),
    Form(
        "tld4.{comp:r|g|b|a}.{geom:2d|a2d|cube|acube}.{vec:v4}.{t:u32|s32|f32}.f32",
        "{d}:t, [a,*], b:b32?, c:f32?",
        "",
        WHY,
        (2, 2),
    ),
    Form(
        f"txq.{{query:{QUERIES}|filter_mode|addr_mode_0|addr_mode_1|addr_mode_2|force_unnormalized_coords}}.b32",
        "d:b32, [a]",
        "",
        WHY,
        (1, 5),
    ),
    Form("txq.level.{query:width|height|depth}.b32", "d:b32, [a], l:b32", "", WHY, (4, 3)),
    Form("istypep.{t:texref|samplerref|surfref}", "p:pred, a:u64+sym", "", WHY, (4, 0)),
]
