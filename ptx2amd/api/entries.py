"""The exported functions of an API whose calls are traced, depend on a state and a context, and may name objects that
have been moved.

Each entry checks `entry_state` and the context, and continues in its body. If the state is not 0, it calls entry_begin
and entry_end (entry.h), which check whether the API is initialised and write the trace. If no context is current, it
returns an error or uses another context (`Function.context`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ptx2amd.api.spec import NOTE, Api, Function, Parameter
from ptx2amd.records import dataclass


@dataclass(frozen=True)
class Entries:
    """The properties of an API's types that entries need."""

    headers: Sequence[str]
    owners: Mapping[str, str]  # type: the C function that returns the context of such an object
    read: Sequence[str]  # types of objects that another thread may free during the call (readers.c)
    frees: str  # suffix of functions that free such objects, and wait for readers themselves
    addresses: Sequence[str]  # types of device addresses
    known: Mapping[str, str]  # type: the C function that checks whether a handle is one
    unknown: str  # the status for an invalid handle
    results: Mapping[str, str]  # pointer types: how the trace shows the pointed-to value (entry.h has the list)


def source(api: Api, about: Entries, table: Iterable[Function], procs: str) -> str:
    """entry.c; `procs`: the table for lookups by name."""
    headers = "".join(f'#include "{name}"\n' for name in about.headers)
    out = [
        f'{NOTE}{headers}#define API __attribute__((visibility("default")))\n'
        "#define COLD __attribute__((cold, noinline)) static\n"
    ]
    writer = _Writer(api, about)
    for function in table:
        for symbol in function.exports:
            out += [writer.moved(function, symbol)] if writer.names_moved(function) else []
            out.append(writer.entry(function, symbol))
    return "\n".join([*out, procs])


class _Writer:
    def __init__(self, api: Api, about: Entries) -> None:
        self.api, self.about, self.status = api, about, api.status

    def entry(self, function: Function, symbol: str) -> str:
        names, args, takes, moves = function.arguments, function.args, function.takes, self.names_moved(function)
        traced = "".join(f'{{"{p.name}", {self.trace_kind(p.type)}}}, ' for p in takes)
        words = ", ".join(self.trace_word(p) for p in takes)
        inner = f"{'moved' if moves else 'ptx2amd'}_{symbol}({names})"
        handles = [p for p in takes if p.type in self.about.known and function.works]
        for wrong in [f"!{self.about.known[p.type]}({p.name})" for p in handles]:
            inner = f"({wrong} ? {self.about.unknown} : {inner})"
        in_context, body = self.in_context(function, symbol, inner)
        if any(p.type in self.about.read for p in takes) and not symbol.endswith(self.about.frees):
            body = f"({{ struct reader *in = reader_enter(); {self.status} out = {body}; reader_leave(in); out; }})"
        declared = "" if moves else f"{self.status} ptx2amd_{symbol}({args});\n"
        return (
            f"{declared}{in_context}COLD {self.status} slow_{symbol}({args}) {{\n"
            f"  static const struct entry_parameter parameters[] = {{{traced}{{0, 0}}}};\n"
            f'  static const struct entry about = {{"{symbol}", {int(function.early)}, {len(takes)}, parameters}};\n'
            "  struct call call;\n"
            "  if (!entry_begin(&call, &about)) return call.result;\n"
            f"  call.result = {body};\n"
            f"  entry_end(&call, (const uint64_t[]){{{words or 0}}});\n"
            "  return call.result;\n}\n"
            f"API {self.status} {symbol}({args}) {{\n"
            f"  if (__builtin_expect(entry_state, 0)) return slow_{symbol}({names});\n"
            f"  return {body};\n}}\n"
        )

    def in_context(self, function: Function, symbol: str, inner: str) -> tuple[str, str]:
        """The code before a call, and the call, for the context that the row requires."""
        if function.context == "none" or function.disposition == "refused":
            return "", inner
        if function.context == "current":
            return "", f"(__builtin_expect(context_current() != NULL, 1) ? {inner} : context_missing())"
        return (
            f"COLD {self.status} alone_{symbol}({function.args}) {{\n"
            "  if (thread_state.current) return context_missing();\n"
            f"  struct context *owner, *before;\n  {self.status} code = {self.find_owner(function)};\n"
            "  if (code) return code;\n"
            f"  before = context_lend(owner);\n  code = {inner};\n  context_return(before);\n  return code;\n}}\n",
            f"(__builtin_expect(context_current() != NULL, 1) ? {inner} : alone_{symbol}({function.arguments}))",
        )

    def find_owner(self, function: Function) -> str:
        if function.context == "any":
            return "any_owner(&owner)"
        parameter, value = function.named[function.context], function.context
        if parameter.role == "stream":
            return f"{self.about.owners[self.api.stream]}((void *)({value} ? {value}->{parameter.of} : NULL), &owner)"
        return f"{self.about.owners[parameter.type]}((void *){value}, &owner)"

    def names_moved(self, function: Function) -> bool:
        """Whether it takes or returns objects that may have been moved."""
        return any((p.target if p.role else p.type) in self.api.translated for p in function.takes)

    def moved(self, function: Function, symbol: str) -> str:
        """The call, with moved objects replaced by the underlying library's handles, and results by the program's."""
        before, after, values = [], [], []
        for p in function.takes:
            name, value, how = p.name, p.name, self.api.translated.get(p.target if p.role else p.type)
            if how and not p.role:
                value = f"{how.now}({name})"
            elif how and p.role == "in":
                before.append(f"const {p.target} *now_{name} = {how.lists}({name}, {p.of});")
                after.append(f"{how.done}({name}, now_{name});")
                value = f"({p.type})now_{name}"
            elif how and how.lists:
                after.append(f"{how.then}({name}, {f'{p.of} ? *{p.of} : 0' if p.of else 1});")
            elif how:
                after.append(f"{how.then}({name});")
            values.append(value)
        call = f"ptx2amd_{symbol}({', '.join(values)})"
        lines = [*before, f"{self.status} result = {call};", *after, "return result;"] if after else [f"return {call};"]
        return (
            f"{self.status} ptx2amd_{symbol}({function.args});\n"
            f"static inline {self.status} moved_{symbol}({function.args}) {{\n  " + "\n  ".join(lines) + "\n}\n"
        )

    def trace_kind(self, kind: str) -> str:
        """The format of a parameter in a trace: `entry.h` has the list."""
        types = self.api.types
        if kind == "const char *":
            return "ENTRY_TEXT"
        if kind.endswith("*"):
            target = kind[:-1].strip()
            if target.startswith("const ") or target in ("void", "char") or target.endswith("*"):
                return "ENTRY_POINTER"
            if target in types.handles:
                return "ENTRY_OUT_WORD"
            if target in types.enums:
                return "ENTRY_OUT_INT"
            return f"ENTRY_OUT_{self.about.results[target]}" if target in self.about.results else "ENTRY_POINTER"
        if kind in types.handles or kind in self.about.addresses:
            return "ENTRY_POINTER"
        if kind in types.values:
            return "ENTRY_STRUCT"
        if kind == "float":
            return "ENTRY_FLOAT"
        return "ENTRY_SIGNED" if kind in types.enums or kind == "int" else "ENTRY_UNSIGNED"

    def trace_word(self, parameter: Parameter) -> str:
        kind, name = parameter.type, parameter.name
        if kind in self.api.types.values:
            return "0"
        if kind == "float":
            return f"entry_float({name})"
        pointer = parameter.is_pointer or kind in self.api.types.handles
        return f"(uint64_t)(uintptr_t){name}" if pointer else f"(uint64_t){name}"
