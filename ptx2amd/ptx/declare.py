"""Declarations and parameters: each distinct run of qualifiers goes through the grammar once and serves as a
template; names, sizes and plain integer initialisers are filled in."""

from __future__ import annotations

import re

from ptx2amd.errors import PtxError
from ptx2amd.ptx.ast import Var
from ptx2amd.ptx.build import build, initialise, raw, set_dimensions
from ptx2amd.ptx.constants import integer

_DECLARATION = re.compile(
    r"((?:\.attribute\s*\([^()]*\)\s*|\.\w+\s+(?:\d+\s+)?)+)([A-Za-z_$%][\w$]*)\s*"
    r"(?:<\s*(\d+)\s*>|((?:\[\s*\d*\s*\]\s*)*))\s*(?:=\s*([^;]*?)\s*)?;\Z",
    re.A,
)
_PARAMETER = re.compile(r"\s*((?:\.\w+\s+(?:\d+\s+)?)+)([A-Za-z_$%][\w$]*)\s*((?:\[\s*\d*\s*\]\s*)*)\Z", re.A)
_INTEGERS = re.compile(r"\{\s*(?:-?(?:0|[1-9]\d*)\s*,\s*)*-?(?:0|[1-9]\d*)\s*\}\Z", re.A)

_TEMPLATES: dict[tuple[str, str], Var] = {}
_REGISTERS: dict[str, list[Var]] = {}  # `.reg .f16 low, high;`: the whole text


def _template(qualifiers: str, start: str, source: str, line: int, column: int) -> Var:
    """The Var that these qualifiers declare, without name and size."""
    key = (start, " ".join(qualifiers.split()))
    if key not in _TEMPLATES:
        end = "x" if start == "parameter" else "x;"
        found = build(qualifiers + end, start, source, line, column)
        _TEMPLATES[key] = found[0] if isinstance(found, list) else found
    return _TEMPLATES[key]


def _copy(model: Var, line: int) -> Var:
    var = _instance(model, model.name, line)
    var.count, var.regs = model.count, model.regs
    return var


def _instance(model: Var, name: str, line: int) -> Var:
    return Var(
        model.space,
        model.type,
        name,
        align=model.align,
        vec=model.vec,
        linkage=model.linkage,
        attrs=dict(model.attrs),
        line=line,
    )


def declarations(text: str, source: str, line: int, column: int) -> list[Var]:
    """The variables of one declaration, `.space ... ;`, that begins at line:column. Raises PtxError."""
    if text in _REGISTERS:
        return [_copy(var, line) for var in _REGISTERS[text]]
    found = _DECLARATION.match(text)
    if not found:
        variables = build(text, "declaration", source, line, column)
        if text.startswith(".reg") and len(text) < 200:  # inline assembly repeats itself
            _REGISTERS[text] = variables
        return variables
    qualifiers, name, registers, sizes, initial = found.groups()
    model = _template(qualifiers, "declaration", source, line, column)
    var = _instance(model, name, line + qualifiers.count("\n"))
    if registers is not None:
        if var.space != "reg":
            build(text, "declaration", source, line, column)
        var.regs = integer(registers).bits
    try:
        if sizes or initial is not None:
            _shape(var, sizes or "", initial, source, line, column)
    except ValueError as error:
        raise PtxError(str(error), source, line, column) from None
    except PtxError:  # several declarators with values; or an error, whose place the whole knows
        return build(text, "declaration", source, line, column)
    return [var]


def _shape(var: Var, sizes: str, initial: str | None, source: str, line: int, column: int) -> None:
    dimensions = [integer(size).bits if size else None for size in re.findall(r"\[\s*(\d*)\s*\]", sizes)]
    set_dimensions(var, dimensions)
    if initial is None:
        return
    if len(dimensions) == 1 and var.vec == 1 and var.type[0] in "bsu" and _INTEGERS.match(initial):
        values = list(map(int, initial[1:-1].split(",")))
        if dimensions[0] is None:
            var.count = len(values)
        if var.space in ("global", "const") and len(values) <= var.count:
            bits = int(var.type[1:])
            if min(values) < 0 or max(values) >> bits:
                values = [value & ((1 << bits) - 1) for value in values]
            var.init = values + [0] * (var.count - len(values))
            return
    var.init = initialise(var, dimensions, build(initial, "initial", source, line, column))


def parameters(text: str | None, source: str, line: int, column: int) -> list[Var]:
    """The parameters of a list `a, b` that begins at line:column (without its parentheses)."""
    if text is None or not text.strip():
        return []
    found = []
    for part in text.split(","):
        match = _PARAMETER.match(part)
        if not match:
            raise PtxError("malformed parameter", source, line, column)
        lead = part[: match.start(2)].count("\n")
        model = _template(match[1], "parameter", source, line, column)
        var = _instance(model, match[2], line + lead)
        set_dimensions(var, [integer(s).bits if s else None for s in re.findall(r"\[\s*(\d*)\s*\]", match[3])])
        found.append(var)
        line += part.count("\n")
    return found


__all__ = ["declarations", "parameters", "raw"]
