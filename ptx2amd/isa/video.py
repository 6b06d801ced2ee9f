"""Video instructions on parts of registers, scalar and SIMD (PTX manual: Scalar Video, SIMD Video Instructions).

The third source c is accumulated with .add, .min or .max, or takes the result as one of its parts (the
destination then selects it)."""

from __future__ import annotations

from ptx2amd.isa.effects import NOTHING
from ptx2amd.isa.form import Form, family

row = family("9.7.20.1", "", does=NOTHING)  # no sections of their own
lanes = family("9.7.20.2", "", does=NOTHING)

WORD = "u32|s32"
TYPES = f"{{t:{WORD}}}.{{at:{WORD}}}.{{bt:{WORD}}}"
SHIFTED = f"{{t:{WORD}}}.{{at:{WORD}}}.{{bt:u32}}"
COMPARED = f"{{at:{WORD}}}.{{bt:{WORD}}}.{{cmp:eq|ne|lt|le|gt|ge}}"
ACC = "{acc:add|min|max}"
LANES = ((2, 30), (4, 30))


def _scalar(head: str, saturates: bool, t: str = "t") -> list[Form]:
    """A scalar instruction alone, with a secondary operation, and merged into c."""
    sat = ".[sat:sat]" if saturates else ""
    two = "a.:at, b.:bt"
    return [
        row(f"{head}{sat}", f"d:{t}, {two}, c:{t}?", "video", since=(2, 0), sm=20),
        row(f"{head}{sat}.{ACC}", f"d:{t}, {two}, c:{t}", "video", since=(2, 0), sm=20),
        row(f"{head}{sat}", f"d.:{t}, {two}, c:{t}", "video", since=(2, 0), sm=20),
    ]


def _simd(syntax: str, t: str = "t") -> list[Form]:
    """A SIMD instruction on all lanes, and on those that the destination selects."""
    return [lanes(syntax, f"{d}:{t}, a.:at, b.:bt, c:{t}", "video_lanes", since=(3, 0), sm=30) for d in ("d", "d.")]


SCALAR = [
    *(form for name in ("vadd", "vsub", "vabsdiff", "vmin", "vmax") for form in _scalar(f"{name}.{TYPES}", True)),
    *(form for name in ("vshl", "vshr") for form in _scalar(f"{name}.{SHIFTED}.[sat:sat].{{mode:clamp|wrap}}", False)),
    *_scalar(f"vset.{COMPARED}", False, "u32"),
    *(
        row(
            f"vmad.{TYPES}.{one}[sat:sat].[scale:shr7|shr15]",
            operands,
            "vmad",
            since=(2, 0),
            sm=20,
        )
        for one, operands in (("", "d:t, -a.:at, -b.:bt, -c:t"), ("{po:po}.", "d:t, a.:at, b.:bt, c:t"))
    ),
]

SIMD = [
    *(
        form
        for name in ("vadd", "vsub", "vavrg", "vabsdiff", "vmin", "vmax")
        for lanes in (2, 4)
        for tail in ("sat:sat", "acc:add")
        for form in _simd(f"{name}{lanes}.{TYPES}.[{tail}]")
    ),
    *(form for lanes in (2, 4) for form in _simd(f"vset{lanes}.{COMPARED}.[acc:add]", "u32")),
]

FORMS = [*SCALAR, *SIMD]
