"""A function of an API as a row, its parameters with their roles, and the common properties of an API's functions."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cached_property

from ptx2amd.records import dataclass, field


@dataclass(frozen=True)
class Parameter:
    """`type` and `name` are those of C. `role` is the purpose of a pointer:
    - "in", "out", "inout": one object is read, written, or both. With `of`, the name of another parameter, it is an
    array with that number of elements; if that parameter is a pointer, the number it holds after the call.
    - "stream": a structure that may be null, whose field `of` is the stream of the call.
    - "scalar": one number in host or device memory, depending on the handle's pointer mode.
    - "": a value, or a pointer that the called function checks itself.
    `optional`: it may be null.
    """

    type: str
    name: str
    role: str = ""
    of: str = ""
    optional: bool = False

    @property
    def is_pointer(self) -> bool:
        return self.type.endswith("*")

    @property
    def target(self) -> str:
        """The pointed-to type, without const."""
        return self.type.removesuffix("*").strip().removeprefix("const ")

    @property
    def must_be_given(self) -> bool:
        """Whether a null pointer is an error whatever the other arguments are."""
        return self.role in ("in", "out", "inout") and not self.of and not self.optional

    @property
    def text(self) -> str:
        """As C declares it."""
        return f"{self.type}{'' if self.is_pointer else ' '}{self.name}"


_ROLE = re.compile(r"(?:(optional) )?(?:(in|out|inout|scalar|stream)(?:\((\w+)\))? )?(.+)")


def parameters(text: str) -> tuple[Parameter, ...]:
    """The parameters of a C parameter list with roles before types: "out T *list, in(n) const int *numbers, int n"."""
    return () if text == "void" else tuple(_parameter(" ".join(part.split())) for part in text.split(","))


def _parameter(text: str) -> Parameter:
    match = _ROLE.fullmatch(text)
    assert match is not None, text
    optional, role, of, declared = match.groups()
    head, star, tail = declared.rpartition("*")
    kind, _, name = (f"{head.strip()} *".replace("* *", "**"), "", tail.strip()) if star else declared.rpartition(" ")
    if not re.fullmatch(r"[\w *]+", kind) or not name.isidentifier() or (optional and not role):
        raise ValueError(f"not a parameter: {text!r}")
    return Parameter(kind, name, role or "", of or "", bool(optional))


@dataclass(frozen=True)
class Function:
    """An exported function: `symbol`, the API version `since` which it exists, and `parameters` as text (the function
    of that name describes the notation).

    Its implementation is one of
    - `call`: a call of the underlying library, or an expression that yields that library's status; a bare name is
    called with the parameters unchanged;
    - `c`: a C expression that yields this API's status;
    - `value`: a C expression that is stored in the only result, after checks of the arguments;
    - `ours`: a handwritten C function of that name;
    - `absent`: only checks of its arguments: it belongs to a feature that is not available, and returns `answer`; if
    `ours` is also set, a C function does this;
    - none of these: it returns "not supported" and prints its name once.

    `ranges` pairs addresses with sizes ("dst:ByteCount", in elements "dst:N*4"): a range that wraps around the address
    space is rejected without a call. `early`: it works before the API is initialised. `context`: the context in which
    it works, for an API with contexts: "current", "any", "none" or the name of a parameter that has one. `unless`: if
    this C condition holds for its arguments, no call is made, and the status after the colon is returned.
    """

    symbol: str
    since: int
    parameters: str
    call: str = ""
    c: str = ""
    value: str = ""
    ours: bool = False
    absent: str = ""
    answer: str = ""
    ranges: str = ""
    unless: str = ""
    early: bool = False
    context: str = "none"
    returns: str = ""  # if that is not a status
    until: int = 0  # the first version without it; 0: none

    @cached_property
    def takes(self) -> tuple[Parameter, ...]:
        """Its parameters."""
        return parameters(self.parameters)

    @cached_property
    def named(self) -> dict[str, Parameter]:
        """Its parameters by name."""
        return {parameter.name: parameter for parameter in self.takes}

    @property
    def args(self) -> str:
        """The C parameter list, without roles."""
        return ", ".join(parameter.text for parameter in self.takes) or "void"

    @property
    def arguments(self) -> str:
        """The names of its parameters, as passed on in a call."""
        return ", ".join(self.named)

    @property
    def expression(self) -> str:
        """The call of the underlying library."""
        return self.call if "(" in self.call else f"{self.call}({self.arguments})"

    @property
    def disposition(self) -> str:
        """`absent`, `call`, `ours` or `refused`."""
        if self.absent or self.call:
            return "absent" if self.absent else "call"
        return "ours" if self.ours or self.c or self.value else "refused"

    @property
    def works(self) -> bool:
        return self.disposition in ("call", "ours")

    def variants(self) -> list[tuple[str, int]]:
        """(suffix, since) of exported variants of this function with another default stream."""
        return []

    @property
    def exports(self) -> list[str]:
        """The symbol and its variants."""
        return [self.symbol, *(self.symbol + suffix for suffix, _ in self.variants())]


@dataclass(frozen=True)
class Types:
    """The C types of an API, declared as text that cffi also reads. `values`: structures that are passed by value.
    `same`: type to the identical type of the underlying library, if C includes that library's types."""

    handles: Sequence[str] = ()
    enums: Sequence[str] = ()
    scalars: Mapping[str, str] = field(default_factory=dict)
    opaque: Sequence[str] = ()
    structs: str = ""
    values: Sequence[str] = ()
    same: Mapping[str, str] = field(default_factory=dict)

    def declarations(self, beneath: bool = False) -> str:
        """All types. `beneath`: the underlying library's types are declared already."""
        same = self.same if beneath else {}
        kinds = {name: f"struct {name}_st *" for name in self.handles} | dict.fromkeys(self.enums, "int ")
        kinds |= {name: f"{kind} " for kind, names in self.scalars.items() for name in names.split()}
        kinds |= {name: f"struct {name} " for name in self.opaque} | {name: f"{what} " for name, what in same.items()}
        own = "|".join(same) or "(?!)"
        structs = re.sub(rf"typedef struct (?:{own}) \{{[^{{}}]*\}} \w+;\n", "", self.structs)
        return "".join(f"typedef {kind}{name};\n" for name, kind in kinds.items()) + structs


@dataclass(frozen=True)
class Check:
    """A C condition, with {} for the argument, under which a function returns `answer`."""

    wrong: str
    answer: str


@dataclass(frozen=True)
class Found:
    """A handle that corresponds to another in the underlying library: `by`(handle, &found) is false if there is
    none."""

    by: str
    type: str  # the C type as written before a variable's name
    answer: str


@dataclass(frozen=True)
class Enum:
    """An enumeration that the underlying library has as `type`: value to its name there. Other values return
    `answer`."""

    type: str
    names: Mapping[int, str]
    answer: str


@dataclass(frozen=True)
class Translated:
    """A handle that calls replace by another: `now`(handle) returns that one, `then`(results) the program's own; with
    `lists`, both take a number of handles, and `done` releases what a list of arguments needed."""

    now: str
    then: str
    lists: str = ""
    done: str = ""


@dataclass(frozen=True)
class Api:
    """The generator's description of an API, apart from its functions."""

    name: str
    status: str  # return type of its functions
    header: str  # header with its types, generated or not
    null: str  # the status for a null pointer
    beneath: tuple[str, str] = ("", "")  # pattern of a function name in `call`, and the expression to call it
    result: str = "{}"  # converts a call's status to this API's
    success: str = "0"
    types: Types = Types()
    found: Mapping[str, Found] = field(default_factory=dict)
    enums: Mapping[str, Enum] = field(default_factory=dict)
    casts: Mapping[str, str] = field(default_factory=dict)  # type to the underlying type with the same representation
    translated: Mapping[str, Translated] = field(default_factory=dict)
    together: Mapping[tuple[str, str], Check] = field(default_factory=dict)  # for two types in the same call
    range_fits: str = "{} {} {}"  # address, count, element size
    before: str = ""  # prologue of a function that stores a value
    checks: Mapping[str, Check] = field(default_factory=dict)  # of a type, for functions without a call
    own_stream: Mapping[str, str] = field(default_factory=dict)  # suffix of a variant: its default stream
    stream: str = ""  # the stream type
    refusal: str = ""  # body of an unsupported function; {} is its name

    def finds(self, kind: str) -> Found | None:
        """The conversion of an argument of this type for the underlying library."""
        enum = self.enums.get(kind)
        return Found(f"beneath_{kind}", f"{enum.type} ", enum.answer) if enum else self.found.get(kind)


NOTE = "/* Generated from the tables of ptx2amd/api; do not edit. */\n"
