"""Symbol resolution: the declarations of a global name in several objects become one symbol."""

from __future__ import annotations

from ptx2amd.codegen.linker.objects import LOCAL, WEAK, Object, Symbol
from ptx2amd.errors import LinkError


def resolve(objects: list[Object]) -> list[Symbol]:
    """Let all objects refer to the same global symbols, and return them in the order in which they are first named.

    Raises LinkError for those without a definition, or with two."""
    table: dict[str, Symbol] = {}
    for item in objects:
        for number, symbol in enumerate(item.symbols):
            if symbol.binding == LOCAL:
                continue
            known = table.setdefault(symbol.name, symbol)
            if known is not symbol:
                _join(known, symbol)
                item.symbols[number] = known
    if missing := sorted(symbol.name for symbol in table.values() if not symbol.defined):
        raise LinkError(f"undefined symbols in the generated code: {', '.join(missing)}")
    return list(table.values())


def _join(known: Symbol, other: Symbol) -> None:
    """Add what another object says about a symbol. The most restricted visibility counts."""
    known.visibility = min(filter(None, (known.visibility, other.visibility)), default=0)
    if not other.defined or (known.defined and other.binding == WEAK):
        return
    if known.defined and known.binding != WEAK:
        raise LinkError(f"symbol {known.name} is defined twice")
    known.type, known.binding, known.absolute = other.type, other.binding, other.absolute
    known.piece, known.value, known.size = other.piece, other.value, other.size
