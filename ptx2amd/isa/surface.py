"""Surfaces: rows of the instruction table."""

from ptx2amd.isa.effects import ATOM, READS, SOURCES, WIDER, WRITES
from ptx2amd.isa.form import family

row = family("9.7.13", "suld sust sured suq", does=READS, result=SOURCES, memory="surface", software="all")

FORMATTED = "approx: integers beyond the surface's format are clamped to it, which is not documented"
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
            row(
                f"suld.b.{SHAPES}.[cop:ca|cg|cs|cv]{vec}.{{t:{types}}}{CLAMP}",
                f"{{d{one}}}:t, [a,*]",
                "suld",
                "exact",
                (1, 5),
                takes=WIDER,
                name_words=1,
            ),
            row(
                f"sust.{{mode:b}}.{SHAPES}.[cop:wb|cg|cs|wt]{vec}.{{t:{types}}}{CLAMP}",
                f"[a,*], {{b{one}}}:t",
                "sust",
                "exact",
                (1, 5),
                does=WRITES,
                takes=WIDER,
                name_words=1,
            ),
        )
    ),
    *(
        row(
            f"sust.{{mode:p}}.{SHAPES}{vec}.{{t:b32}}{CLAMP}",
            f"[a,*], {{b{one}}}:t",
            "sust_formatted",
            FORMATTED,
            (2, 0),
            does=WRITES,
            takes=WIDER,
            name_words=1,
        )
        for vec, one in ((".{vec:v2|v4}", ""), ("", "*1"))
    ),
    *(
        row(
            f"sured.{{mode:{mode}}}.{{op:{op}}}.{{geom:1d|2d|3d}}.{{t:{t}}}{CLAMP}",
            "[a,*], b:t",
            "sured",
            "exact",
            (3, 0),
            does=ATOM,
            name_words=1,
        )
        for mode, op, t in (
            ("b", "add", "u32|s32|u64"),
            ("b", "min|max", "u32|s32|u64|s64"),
            ("b", "and|or", "b32"),
            ("p", "add|and|or", "b32"),
            ("p", "min|max", "b32|b64"),
        )
    ),
    row(f"suq.{{query:{QUERIES}}}.b32", "d:b32, [a]", "image_query", "exact", (1, 5), software=""),
]
