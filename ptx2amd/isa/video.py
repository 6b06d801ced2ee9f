"""SIMD video instructions on whole registers (PTX manual 9.7.10); no lane selectors, no masks."""

from __future__ import annotations

from ptx2amd.isa.form import Form

WORD = "u32|s32"
TYPES = f"{{t:{WORD}}}.{{at:{WORD}}}.{{bt:{WORD}}}"
SINCE = (3, 0)

FORMS = [
    *(
        Form(f"{name}{lanes}.{TYPES}.[{tail}]", "d:t, a:at, b:bt, c:t", "video_lanes", since=SINCE, sm=30)
        for name in ("vadd", "vsub", "vavrg", "vabsdiff", "vmin", "vmax")
        for lanes in (2, 4)
        for tail in ("sat:sat", "acc:add")
    ),
    *(
        Form(
            f"vset{lanes}.{{at:{WORD}}}.{{bt:{WORD}}}.{{cmp:eq|ne|lt|le|gt|ge}}.[acc:add]",
            "d:u32, a:at, b:bt, c:u32",
            "video_lanes",
            since=SINCE,
            sm=30,
        )
        for lanes in (2, 4)
    ),
]
