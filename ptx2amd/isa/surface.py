"""Surfaces: rows of the instruction table."""

from ptx2amd.isa.form import Form

FORMATTED = "refused: stores and reductions that depend on the format of the surface"
CLAMP = ".{clamp:trap|clamp|zero}"
SHAPES = "{geom:1d|2d|3d|a1d|a2d}"
QUERIES = "width|height|depth|channel_data_type|channel_order|array_size|memory_layout"

# vectors of at most 128 bits; or one element, in braces or not
ALL, SHORT = "b8|b16|b32|b64", "b8|b16|b32"
COUNTS = ((".{vec:v2}", "", ALL), (".{vec:v4}", "", SHORT), ("", "*1", ALL))

FORMS = [
    *(
        form
        for vec, one, types in COUNTS
        for form in (
            Form(
                f"suld.b.{SHAPES}.[cop:ca|cg|cs|cv]{vec}.{{t:{types}}}{CLAMP}",
                f"{{d{one}}}:t, [a,*]",
                "suld",
                "exact",
                (1, 5),
            ),
            Form(
                f"sust.{{mode:b}}.{SHAPES}.[cop:wb|cg|cs|wt]{vec}.{{t:{types}}}{CLAMP}",
                f"[a,*], {{b{one}}}:t",
                "sust",
                "exact",
                (1, 5),
            ),
        )
    ),
    Form(f"sust.{{mode:p}}.{SHAPES}.[vec:v2|v4].{{t:b32}}{CLAMP}", "[a,*], {b}:t", "", FORMATTED, (2, 0)),
    *(
        Form(
            f"sured.{{mode:{mode}}}.{{op:{op}}}.{{geom:1d|2d|3d}}.{{t:{t}}}{CLAMP}",
            "[a,*], b:t",
            "sured" if exact == "exact" else "",
            exact,
            (3, 0),
        )
        for mode, op, t, exact in (
            ("b", "add", "u32|s32|u64", "exact"),
            ("b", "min|max", "u32|s32|u64|s64", "exact"),
            ("b", "and|or", "b32", "exact"),
            ("p", "add|and|or", "b32", "exact"),
            ("p", "min|max", "b32|b64", FORMATTED),
        )
    ),
    Form(f"suq.{{query:{QUERIES}}}.b32", "d:b32, [a]", "image_query", "exact", (1, 5)),
]
