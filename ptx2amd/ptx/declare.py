"""Declarations and parameters: each distinct run of qualifiers goes through the grammar once and serves as a
template; names, sizes and plain integer initialisers are filled in."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ptx2amd.errors import PtxError
from ptx2amd.ptx import plain
from ptx2amd.ptx.ast import Function, Proto, Var
from ptx2amd.ptx.by_grammar import build
from ptx2amd.ptx.constants import integer
from ptx2amd.ptx.special import SPECIAL
from ptx2amd.ptx.variables import initialise, raw, register_count, set_dimensions, width
from ptx2amd.regex import regex

_QUALIFIER = r"\.\w+(?:\s+\d+\s+|\s*)(?=\.)"
_DECLARATION = regex(
    rf"((?:\.attribute\s*\([^()]*\)\s*|{_QUALIFIER})*\.\w+\s+(?:\d+\s+)?)([A-Za-z_$%][\w$]*)\s*"
    r"(?:<\s*(\d+)\s*>|((?:\[\s*\d*\s*\]\s*)*))\s*(?:=\s*([^;]*?)\s*)?;\Z",
    re.A,
)
_PARAMETER = regex(rf"\s*((?:{_QUALIFIER})*\.\w+\s+(?:\d+\s+)?)([A-Za-z_$%][\w$]*)\s*((?:\[\s*\d*\s*\]\s*)*)\Z", re.A)
_INTEGERS = regex(r"\{\s*(?:-?(?:0|[1-9]\d*)\s*,\s*)*-?(?:0|[1-9]\d*)\s*\}\Z", re.A)
# In a body, where `isspacep.shared %p, %r;` declares nothing. Begins with what can be searched for fast.
_SHARED = regex(r"\.shared(?<![\w.]\.shared)\s+\.[^;]*;")

_TEMPLATES: dict[tuple[str, str], Var] = {}
_REGISTERS: dict[str, list[Var]] = {}  # `.reg .f16 low, high;`: the whole text


def _template(qualifiers: str, start: str, source: str, line: int, column: int) -> Var:
    """The Var that these qualifiers declare, without name and size."""
    key = (start, " ".join(qualifiers.split()))
    if key not in _TEMPLATES:
        found = plain.declared(qualifiers, start)
        if found is None and start == "declaration":
            [found] = build(qualifiers + "x;", start, source, line, column)
        _TEMPLATES[key] = found or build(qualifiers + "x", start, source, line, column)
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


def shared_in(function: Function, source: str) -> list[Var]:
    """The shared variables that a function's body declares. Raises PtxError."""
    return [
        var for found in _SHARED.finditer(function.text) for var in declarations(found[0], source, function.line, 1)
    ]


def declarations(text: str, source: str, line: int, column: int) -> list[Var]:
    """The variables of one declaration, `.space ... ;`, that begins at line:column. Raises PtxError."""
    if text in _REGISTERS:
        return [_copy(var, line) for var in _REGISTERS[text]]
    found = _DECLARATION.match(text)
    if not found:
        variables = plain.registers(text, line) or _parsed(text, source, line, column)
        if text.startswith(".reg") and len(text) < 200:  # inline assembly repeats itself
            _REGISTERS[text] = variables
        return variables
    qualifiers, name, registers, sizes, initial = found.groups()
    model = _template(qualifiers, "declaration", source, line, column)
    var = _instance(model, name, line + qualifiers.count("\n"))
    if registers is not None and var.space != "reg":
        return _parsed(text, source, line, column)
    try:
        if registers is not None:
            var.regs = register_count(var.name, integer(registers).bits)
        if sizes or initial is not None:
            _shape(var, sizes or "", initial, source, line, column)
    except ValueError as error:
        raise PtxError(str(error), source, line, column) from None
    except PtxError:  # several declarators with values; or an error, whose place the whole knows
        return _parsed(text, source, line, column)
    return [var]


def _parsed(text: str, source: str, line: int, column: int) -> list[Var]:
    variables: list[Var] = build(text, "declaration", source, line, column)
    return variables


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
            var.init = values
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
        try:
            set_dimensions(var, [integer(s).bits if s else None for s in re.findall(r"\[\s*(\d*)\s*\]", match[3])])
        except ValueError as error:
            raise PtxError(str(error), source, line, column) from None
        found.append(var)
        line += part.count("\n")
    return found


_OPAQUE = ("texref", "surfref", "samplerref")


def variable_problem(var: Var, options: tuple[str, ...]) -> str:
    """What is wrong with a variable at module level, as the end of a sentence, or "". options: of .target."""
    checks = (
        (
            var.space in ("reg", "sreg", "param", "local", "tex"),
            f"stands at module level, where .{var.space} has no place",
        ),
        (var.count == 0 and var.linkage != "extern", "has no size and is not .extern"),
        (var.vec * width(var.type) > 128, "is a vector of more than 128 bits"),
        (var.type == "pred", "is a predicate, which must be a register"),
        (var.linkage == "extern" and var.init is not None, "is .extern and cannot have an initial value"),
        (var.linkage == "common" and var.space != "global", "is .common, which only .global variables can be"),
        ("managed" in var.attrs and var.space != "global", "is .managed, which only .global variables can be"),
        (var.type in _OPAQUE and var.space != "global", "is a texture or surface, which must be in .global"),
        (
            var.type == "samplerref" and "texmode_independent" not in options,
            "is a sampler, which exists with .target texmode_independent only",
        ),
        (var.vec > 1 and var.type in _OPAQUE, "is a vector of textures, surfaces or samplers"),
        (var.name in ("_", "$", "%") or var.name in SPECIAL, "is no name that can be declared"),
    )
    return next((problem for wrong, problem in checks if wrong), "")


_SIZES = ("maxntid", "reqntid", "reqnctapercluster")
_POSITIVE = ("maxntid", "reqntid", "maxnreg", "minnctapersm")
MOST_PARAMETER_ALIGNMENT = 128  # of a function


def function_problems(kind: str, proto: Proto, directives: dict[str, tuple[int, ...]], defined: bool) -> Iterator[str]:
    """What is wrong with a function's head. defined: whether a body follows."""
    if proto.name in SPECIAL:
        yield f"'{proto.name}' is a special register"
    for var in proto.params:
        if kind == "entry" and (var.space != "param" or var.count == 0):
            yield f"'{var.name}': a parameter of an .entry {'has no size' if var.count == 0 else 'must be in .param'}"
        if var.count == 0 and var is not proto.params[-1]:
            yield f"'{var.name}': only the last parameter may have no size"
        if var.type == "pred" and var.space == "param":
            yield f"'{var.name}': a predicate must be a register"
        if (var.vec > 1 and var.space == "param") or (var.type in _OPAQUE and kind == "func"):
            yield f"'{var.name}' cannot be a parameter"
    for var in (*proto.params, *proto.results) if kind == "func" and defined else ():
        if problem := alignment_problem(var):
            yield f"'{var.name}' {problem}"
    if len(proto.results) > 1 and any(var.space == "param" for var in proto.results):
        yield f"'{proto.name}': several results must be registers"
    if kind == "entry" and (size := _parameter_bytes(proto.params)) > MOST_PARAMETER_BYTES:
        yield f"{size:,} bytes of parameters of kernel {proto.name}, which can have {MOST_PARAMETER_BYTES:,}"
    wrong = {"noreturn", "abi_preserve", "abi_preserve_control"} if kind == "entry" else {"maxnreg", *_SIZES}
    for name in sorted(wrong & directives.keys()):
        yield f"'{proto.name}': .{name} is not for .{kind}"
    for name in _SIZES:
        if len(directives.get(name, ())) > 3:
            yield f"'{proto.name}': .{name} takes one to three numbers"
    for name in _POSITIVE:
        if 0 in directives.get(name, ()):
            yield f"'{proto.name}': 0 is no number for .{name}"
    if "maxntid" in directives and "reqntid" in directives:
        yield f"'{proto.name}': .maxntid and .reqntid exclude each other"
    if "maxclusterrank" in directives and "reqnctapercluster" in directives:
        yield f"'{proto.name}': .maxclusterrank and .reqnctapercluster exclude each other"
    if "blocksareclusters" in directives and not {"reqntid", "reqnctapercluster"} <= directives.keys():
        yield f"'{proto.name}': .blocksareclusters needs .reqntid and .reqnctapercluster"


def alignment_problem(var: Var) -> str:
    """What is wrong with the alignment of a parameter of a function, or of a .param variable in a body, or ""."""
    wrong = var.space == "param" and var.align > MOST_PARAMETER_ALIGNMENT
    return f"is aligned to {var.align} bytes; {MOST_PARAMETER_ALIGNMENT} at most" if wrong else ""


MOST_PARAMETER_BYTES = 32764  # of a kernel; the shim's PARAMETER_BYTES_MAX


def _parameter_bytes(params: list[Var]) -> int:
    end = 0
    for var in params:
        size = max(1, width(var.type) // 8)
        align = var.align or size
        end = -(-end // align) * align + size * abs(var.count)
    return end


def same_signature(one: Proto, other: Proto) -> bool:
    """Whether two declarations of a function agree, but for names."""

    def shape(variables: list[Var]) -> list[tuple[str, int, int]]:
        return [(var.type, var.count, var.align) for var in variables]

    return shape(one.params) == shape(other.params) and shape(one.results) == shape(other.results)


__all__ = [
    "alignment_problem",
    "declarations",
    "function_problems",
    "parameters",
    "raw",
    "same_signature",
    "variable_problem",
]
