"""The sources of the software GPU's library.

write(outdir) -> list of Unit

writes the generated C and headers into `outdir` and returns the units to compile: generated files there and the
handwritten files of runtime/. A unit is compiled with `-I runtime -I outdir` and, according to its `per`, once, once
per wave width, or once per wave width and x86-64 level (unit.py). Files whose text did not change keep their time
stamps. Linked with -shared -pthread -lm -ldl the objects are libptx2amd_vgpu.so.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from ptx2amd.api.hip import per_thread
from ptx2amd.records import replace
from ptx2amd.settings import generate as settings
from ptx2amd.vgpu import gen_access, gen_chips, gen_memory, gen_native, gen_scalar, gen_tables, gen_weak
from ptx2amd.vgpu.isa import encoding
from ptx2amd.vgpu.isa.table import all_ops, symbol, vector_ops
from ptx2amd.vgpu.unit import LEVELS, RUNTIME, WIDTHS, Handlers, Unit

#: Handwritten files that are not compiled separately, or are units of their handlers' generator.
_NOT_ONCE = ("decode.c", "wave_loop.c")


def write(outdir: Path) -> list[Unit]:
    """Writes the generated files, returns the compile units."""
    outdir.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as staging_name:
        staging = Path(staging_name)
        units = _generate(staging)
        for path in staging.iterdir():
            target = outdir / path.name
            text = path.read_text()
            if not target.exists() or target.read_text() != text:
                target.write_text(text)
        return [replace(u, path=outdir / u.path.name) if u.path.parent == staging else u for u in units]


def _generate(out: Path) -> list[Unit]:
    gen_tables.write(out)
    gen_chips.write(out)
    sets = [gen_scalar.write(out), gen_memory.write(out)]
    if vector_ops():
        from ptx2amd.vgpu import gen_vector

        sets.append(gen_vector.write(out, vector_ops()))
    _handler_table(out, sets)
    _build_list(out)
    units = [u for s in sets for u in s.units]
    units.append(Unit(RUNTIME / "engine" / "wave_loop.c", "build"))
    for arch in encoding.DECODERS:
        path = out / f"decode_{arch}.c"
        path.write_text(f'/* Generated. */\n#define DECODER {arch}\n#include "decode.c"\n')
        units.append(Unit(path, flags=("-g0",)))
    units.append(Unit(out / "all_builds.c"))
    units.append(gen_access.write(out))
    units.append(gen_weak.write(out))
    units += gen_native.write(out)
    units += [Unit(path) for path in settings.write(out)]
    (out / "per_thread.c").write_text(per_thread.source())
    units.append(Unit(out / "per_thread.c"))
    taken = {u.path.name for u in units}
    units += [
        Unit(path)
        for path in sorted(RUNTIME.glob("*/*.c"))
        if path.name not in taken and path.name not in _NOT_ONCE and path.parent.name != "valu"
    ]
    return units


def _handler_table(out: Path, sets: list[Handlers]) -> None:
    """handler_table.h for wave_loop.c: the handlers of every row, by row number."""
    width = {s_name for s in sets for s_name in s.names if any(u.per == "width" for u in s.units)}
    names = {key: pair for s in sets for key, pair in s.names.items()}
    lines = [
        "/* Generated from ptx2amd/vgpu/isa. */",
        '#include "ops.h"',
        "#define VGW(name) VG_PASTE2(name, W, v2)   /* handlers that exist once per width */",
        "#define LEVEL_NAME_OF(level) #level",
        "#define LEVEL_NAME_AS(level) LEVEL_NAME_OF(level)",
        "#define LEVEL_NAME LEVEL_NAME_AS(LEVEL)",
    ]
    declared = set()
    rows = []
    for index, op in enumerate(all_ops()):
        pair = names.get(symbol(op))
        if not pair:
            continue
        macro = "VGW" if symbol(op) in width else "VG"
        for name in filter(None, pair):
            if name not in declared:
                declared.add(name)
                lines.append(f"const struct inst *{macro}({name})(struct wave *w, const struct inst *i);")
        functions = ", ".join(f"{macro}({name})" for name in pair if name)
        rows.append(f"  [{index}] = {{{{{functions}}}}},")
    lines.append("static const struct handler_pair VG(handlers)[OP_COUNT] = {")
    lines += rows
    lines.append("};")
    if "vopd" in names:
        lines.append(f"const struct inst *VG({names['vopd'][0]})(struct wave *w, const struct inst *i);")
        lines.append(f"#define VOPD_HANDLER VG({names['vopd'][0]})")
    else:
        lines.append("#define VOPD_HANDLER NULL")
    (out / "handler_table.h").write_text("\n".join(lines) + "\n")


def _build_list(out: Path) -> None:
    """all_builds.c: the builds, best level first."""
    builds = [f"build_w{width}_{level}" for level in sorted(LEVELS, reverse=True) for width in WIDTHS]
    lines = ["/* Generated. */", '#include "state.h"']
    lines += [f"extern const struct build {name};" for name in builds]
    lines += ["extern const struct build *const all_builds[];"]
    lines += [
        f"const struct build *const all_builds[{len(builds) + 1}] = {{" + ", ".join(f"&{b}" for b in builds) + "};"
    ]
    (out / "all_builds.c").write_text("\n".join(lines) + "\n")
