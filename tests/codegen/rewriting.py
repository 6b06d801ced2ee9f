"""One work-around's rewrite of IR text."""

from __future__ import annotations

from ptx2amd.codegen import workarounds


def rewritten(name: str, ir: str) -> str:
    """IR text of functions, or of what is in one; the same object where nothing changed."""
    whole = ir if "define " in ir else f"define void @f() {{\n{ir}}}\n"
    [row] = [row for row in workarounds.ALL if row.name == name]
    found = workarounds.rewritten(whole, [row.rewrite])
    return ir if found is whole else found
