"""Surfaces: rows of the instruction table."""

from ptx2amd.isa.form import Form

FORMATTED = "refused: stores that convert to the format of the surface"
CLAMP = ".{clamp:trap|clamp|zero}"
SHAPES = "{geom:1d|2d|3d|a1d|a2d}"
QUERIES = "width|height|depth|channel_data_type|channel_order|array_size|memory_layout"

FORMS = [
    Form(
        f"suld.b.{SHAPES}.[cop:ca|cg|cs|cv].[vec:v2|v4].{{t:b8|b16|b32|b64}}{CLAMP}",
        "{d}:t, [a,*]",
        "suld",
        "exact",
        (1, 5),
    ),
    Form(
        f"sust.{{mode:b}}.{SHAPES}.[cop:wb|cg|cs|wt].[vec:v2|v4].{{t:b8|b16|b32|b64}}{CLAMP}",
        "[a,*], {b}:t",
        "sust",
        "exact",
        (1, 5),
    ),
    Form(f"sust.{{mode:p}}.{SHAPES}.[vec:v2|v4].{{t:b32}}{CLAMP}", "[a,*], {b}:t", "", FORMATTED, (2, 0)),
    Form(
        f"sured.{{mode:b|p}}.{{op:add|min|max|and|or}}.{SHAPES}.{{t:u32|u64|s32|b32|s64|b64}}{CLAMP}",
        "[a,*], b:t",
        "sured",
        "exact",
        (3, 0),
    ),
    Form(f"suq.{{query:{QUERIES}}}.b32", "d:b32, [a]", "image_query", "exact", (1, 5)),
]
