"""Interface between the generators of the software GPU's C and the build."""

from __future__ import annotations

from pathlib import Path

from ptx2amd.records import dataclass, field

#: The handwritten C of the software GPU, one folder per part. File names are unique across all of them.
RUNTIME = Path(__file__).parent / "runtime"
FOLDERS = tuple(sorted(path for path in RUNTIME.iterdir() if path.is_dir()))

#: x86-64 levels: name -> -march. The library selects one at load.
LEVELS = {"v2": "x86-64-v2", "v3": "x86-64-v3", "v4": "x86-64-v4"}
WIDTHS = (32, 64)


@dataclass(frozen=True, slots=True)
class Unit:
    """One C file to compile, and how often.

    per: "once"   a single time, for the base level, without W;
         "width"  for W = 32 and 64 at the base level (-DW=.. -DLEVEL=v2 -march=x86-64-v2): scalar handlers;
         "build"  for every width and level (-DW=64 -DLEVEL=v4 -march=x86-64-v4).
    """

    path: Path
    per: str = "once"
    flags: tuple[str, ...] = ()


@dataclass(slots=True)
class Handlers:
    """C files with instruction handlers, and which rows they serve.

    names: symbol(row) -> (handler, handler with modifiers). Each is the name inside VG(): the function is
    `const struct inst *VG(name)(struct wave *w, const struct inst *i)`. The decoder takes the second where
    neg, abs, omod, clamp, op_sel, DPP or SDWA are in play; "" there: the first does all.
    """

    units: list[Unit] = field(default_factory=list)
    names: dict[str, tuple[str, str]] = field(default_factory=dict)
