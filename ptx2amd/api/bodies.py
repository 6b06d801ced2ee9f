"""The functions of an API that need no handwritten C: calls of the underlying library, expressions, rejections,
variants."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ptx2amd.api.spec import NOTE, Api, Function, Parameter


def forward(api: Api, table: Iterable[Function]) -> str:
    """Functions that consist of one call of the underlying library, one C expression, or one stored value."""
    out = [_head(api)]
    for function in table:
        if function.call:
            out.append(_define(api, function, [*_call(api, function)]))
        elif function.c:
            unused = [f"(void){name};" for name in function.named if not _uses(function.c, name)]
            out.append(_define(api, function, [*unused, f"return {function.c};"]))
        elif function.value:
            out.append(_define(api, function, [*_store(api, function)]))
    return "\n".join(out)


def absent(api: Api, table: Iterable[Function]) -> str:
    """Functions of features that are not available: they check their arguments and return an error."""
    out = [_head(api)]
    for function in table:
        if function.absent and not function.ours:
            lines = [_checked(api, parameter) for parameter in function.takes]
            out.append(_define(api, function, [*lines, f"return {function.answer};"]))
    return "\n".join(out)


def variants(api: Api, table: Iterable[Function]) -> str:
    """Symbols for variants of a function with a different default stream."""
    out = [_head(api)]
    for function in table:
        for suffix, _ in function.variants():
            own = api.own_stream.get(suffix, "{}")
            lines, values = [], []
            for parameter in function.takes:
                name, value = parameter.name, parameter.name
                if parameter.type == api.stream:
                    value = own.format(name)
                elif parameter.role == "stream" and own != "{}":
                    lines.append(f"{parameter.target} own_{name};")
                    field = f"own_{name}.{parameter.of}"
                    lines.append(f"if ({name}) own_{name} = *{name}, {field} = {own.format(field)};")
                    value = f"{name} ? &own_{name} : NULL"
                values.append(value)
            lines.append(f"return {function.symbol}({', '.join(values)});")
            out.append(_define(api, function, lines, suffix))
    return "\n".join(out)


def refused(api: Api, table: Iterable[Function]) -> str:
    """Functions that are not supported."""
    out = [_head(api, '#pragma GCC diagnostic ignored "-Wunused-parameter"\n')]
    for function in table:
        if function.disposition == "refused":
            said = "static int said;" if "said" in api.refusal else ""
            lines = [said, f"return {api.refusal.format(function.symbol)};"]
            out.append(_define(api, function, lines))
    return "\n".join(out)


def _head(api: Api, before: str = "") -> str:
    return f'{NOTE}{before}#include "{api.header}"\n'


def _define(api: Api, function: Function, lines: list[str], suffix: str = "") -> str:
    body = "".join(f"  {line}\n" for line in lines if line)
    return f"{function.returns or api.status} {function.symbol}{suffix}({function.args}) {{\n{body}}}\n"


def _uses(text: str, name: str) -> bool:
    return re.search(rf"\b{name}\b", text) is not None


def _call(api: Api, function: Function) -> Iterable[str]:
    """The body of a function that calls the underlying library: checks its arguments and translates handles."""
    call, after = function.expression, []
    for parameter in function.takes:
        name, found = parameter.name, api.finds(parameter.type)
        if found:
            yield f"{found.type}beneath_{name};"
            yield f"if (!{found.by}({name}, &beneath_{name})) return {found.answer};"
            call = re.sub(rf"\b{name}\b", f"beneath_{name}", call)
        elif not _uses(call, name):
            yield f"(void){name};"
        elif parameter.must_be_given:
            yield f"if (!{name}) return {api.null};"
        if parameter.role == "out" and (enum := api.enums.get(parameter.target)):
            yield f"{enum.type} beneath_{name} = 0;"
            call = re.sub(rf"\b{name}\b", f"&beneath_{name}", call)
            after.append(f"*{name} = above_{parameter.target}(beneath_{name});")
        if cast := api.casts.get(parameter.type):
            call = re.sub(rf"\b{name}\b", f"({cast}){name}", call)
    if function.unless:
        wrong, _, answer = function.unless.rpartition(": ")
        yield f"if ({wrong}) return {answer};"
    by_type = {parameter.type: parameter.name for parameter in function.takes}
    for pair, check in api.together.items():
        if by_type.keys() >= set(pair):
            yield f"if ({check.wrong.format(*(by_type[kind] for kind in pair))}) return {check.answer};"
    for address, _, size in (part.partition(":") for part in function.ranges.split()):
        count, _, element = size.partition("*")
        yield f"if (!{api.range_fits.format(address, count, element or 1)}) return {api.null};"
    pattern, called = api.beneath
    result = api.result.format(re.sub(pattern, called, call))
    if after:
        yield f"{api.status} result = {result};"
        yield from (f"if (!result) {line}" for line in after)
    yield f"return {'result' if after else result};"


def enumerations(api: Api) -> str:
    """For each enumeration, functions that convert the API's values to the underlying library's (false: no such value)
    and back."""
    return "".join(
        f"static inline bool beneath_{kind}({kind} value, {enum.type} *out) {{\n  switch (value) {{\n"
        + "".join(f"    case {number}: *out = {name}; return true;\n" for number, name in enum.names.items())
        + f"    default: return false;\n  }}\n}}\nstatic inline {kind} above_{kind}({enum.type} value) {{\n"
        + "".join(f"  if (value == {name}) return {number};\n" for number, name in enum.names.items())
        + f"  return {next(iter(enum.names))};\n}}\n"
        for kind, enum in api.enums.items()
    )


def _store(api: Api, function: Function) -> Iterable[str]:
    """The body of a function that stores a value."""
    yield api.before
    yield from (_checked(api, parameter) for parameter in function.takes)
    yield from (f"*{parameter.name} = {function.value};" for parameter in function.takes if parameter.role == "out")
    yield f"return {api.success};"


def _checked(api: Api, parameter: Parameter) -> str:
    check = api.checks.get(parameter.type)
    if parameter.must_be_given:
        return f"if (!{parameter.name}) return {api.null};"
    return f"if ({check.wrong.format(parameter.name)}) return {check.answer};" if check else f"(void){parameter.name};"
