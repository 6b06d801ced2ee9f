"""Globals that all kernels of a code object share: the environment, locks, and in whole-module code objects the
module's variables. If a code object is compiled in parts, one part defines them and the others declare them."""

from __future__ import annotations

from bisect import bisect_left

from ptx2amd.lower.core.function import FunctionLowering, ModuleContext, quoted
from ptx2amd.lower.core.shared_globals import Shared
from ptx2amd.lower.memory import data
from ptx2amd.ptx.ast import Var
from ptx2amd.ptx.layout import size_of

ENV = "__ptx2amd_env"
# Locks of whole-module code objects that are given no heap; see lower/memory/wide.py.
LOCKS, LOCK_COUNT = "__ptx2amd_locks", 8


def definitions(module: ModuleContext) -> list[str]:
    """LLVM globals. In whole-module mode all variables are there, as the host may ask for them too."""
    fixed = _fixed(module.shared_globals)
    lines = [f"@{name} = protected {head} {ty} zeroinitializer, align 64" for name, head, ty in fixed]
    if module.mode == "module":
        known = module.segment.offsets.keys() - module.segment.problems.keys()
        lines += [_definition(module, module.module.variables[name]) for name in sorted(known)]
    return lines


def declarations(module: ModuleContext) -> list[str]:
    """Declarations of the same globals, for parts that do not define them."""
    external = "external dso_local protected"
    fixed = _fixed(module.shared_globals)
    lines = [f"@{name} = {external} {head} {ty}, align 64" for name, head, ty in fixed]
    for name in sorted(module.shared_globals.variables):
        var = module.module.variables[name]
        head = f"{external} addrspace({_space(var)}) externally_initialized global"
        lines.append(f"{quoted(name)} = {head} [{size_of(var)} x i8], align {data.placed_align(var)}")
    return lines


def _fixed(shared: Shared) -> list[tuple[str, str, str]]:
    """Name, kind and type of the globals that are no variables of the module."""
    found = []
    if shared.cells:
        found.append((ENV, "addrspace(1) externally_initialized global", "[8 x i64]"))
    if shared.locks:
        found.append((LOCKS, "addrspace(1) global", f"[{LOCK_COUNT} x i32]"))
    return found


def _space(var: Var) -> int:
    return 1 if var.space == "global" else 4


def _definition(module: ModuleContext, var: Var) -> str:
    """A variable with its initial bytes, and the addresses among these."""
    nowhere = FunctionLowering("", module.target, module)
    at = module.segment.offsets[var.name]
    end = at + size_of(var)
    image = module.segment.image
    parts: list[str] = []
    for cell in image.cells[bisect_left(image.cells, at, key=_at) : bisect_left(image.cells, end, key=_at)]:
        parts += map(_bytes, image.pieces(at, cell.at))
        target = module.symbol_address(nowhere, cell.symbol, 0)
        parts.append(f"i64 ptrtoint ({target.ty} getelementptr (i8, {target.t}, i64 {cell.offset}) to i64)")
        at = cell.at + 8
    parts += map(_bytes, image.pieces(at, end))
    ty = "<{ " + ", ".join(p[: p.index("]") + 1] if p[0] == "[" else "i64" for p in parts) + " }>"
    return (
        f"{quoted(var.name)} = protected addrspace({_space(var)}) externally_initialized global {ty} "
        f"<{{ {', '.join(parts)} }}>, align {data.placed_align(var)}"
    )


def _at(cell: data.Cell) -> int:
    return cell.at


def _bytes(blob: bytes | int) -> str:
    if isinstance(blob, int) or not any(blob):
        return f"[{blob if isinstance(blob, int) else len(blob)} x i8] zeroinitializer"
    return f'[{len(blob)} x i8] c"' + "".join(f"\\{b:02X}" for b in blob) + '"'
