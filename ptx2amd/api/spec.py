"""A function of an API as a row, its parameters with their roles, and what the functions of one API have in common."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property


@dataclass(frozen=True)
class Parameter:
    """`type` and `name` as C has them. `role` says what a pointer is for:

    - "in", "out", "inout": one object is read, written, or both. With `of`, the name of another parameter, it is an
      array of as many; where that is a pointer, of as many as it says afterwards.
    - "stream": a structure that may be null, whose field `of` is the stream of the call.
    - "scalar": one number, in the memory of the host or of the device as the handle's pointer mode says.
    - "": a value, or a pointer that whoever is called looks at.

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
        """What a pointer points to, without const."""
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
    """Of a C parameter list with roles before types: "out T *list, in(n) const int *numbers, int n"."""
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
    """An exported function: `symbol`, the version of the API `since` which it is there, and `parameters` as text (the
    function of that name has the notation).

    What it does is one of
    - `call`: a call of the library beneath, an expression whose value is that library's status; a name alone is called
      with the parameters as they are;
    - `c`: a C expression whose value is this API's status;
    - `value`: a C expression that is stored where the only result goes, after checks of the arguments;
    - `ours`: a C function of that name, written by hand;
    - `absent`: nothing but checks of its arguments: it belongs to a feature that is not there, and answers `answer`;
      with `ours` too, a C function does that;
    - nothing of these: it answers that it is not supported, and says so once.

    `ranges` pairs addresses with sizes ("dst:ByteCount", in elements "dst:N*4"): a call is not made where one would run
    over the end of all addresses. `early`: it works before the API is initialised. `context`: in whose context it
    works, for an API that has them: "current", "any", "none" or the name of a parameter that leads to one. `unless`:
    where this C condition holds of its arguments, no call is made, and the answer is what stands behind the colon.
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
    returns: str = ""  # where that is not a status
    until: int = 0  # the first version that does not have it any more; 0: all have it

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
        """The names of its parameters, as a call passes them on."""
        return ", ".join(self.named)

    @property
    def expression(self) -> str:
        """The call of the library beneath."""
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
        """(suffix, since) of exported symbols that are this function with another default."""
        return []

    @property
    def exports(self) -> list[str]:
        """The symbol and its variants."""
        return [self.symbol, *(self.symbol + suffix for suffix, _ in self.variants())]


@dataclass(frozen=True)
class Types:
    """The C types of an API, declared as text that cffi reads too. `values`: structures that are passed by value.
    `same`: type to the one of the library beneath that it is, where C has that library's types."""

    handles: Sequence[str] = ()
    enums: Sequence[str] = ()
    scalars: Mapping[str, str] = field(default_factory=dict)
    opaque: Sequence[str] = ()
    structs: str = ""
    values: Sequence[str] = ()
    same: Mapping[str, str] = field(default_factory=dict)

    def declarations(self, beneath: bool = False) -> str:
        """All types. `beneath`: those of the library beneath are declared already."""
        same = self.same if beneath else {}
        kinds = {name: f"struct {name}_st *" for name in self.handles} | dict.fromkeys(self.enums, "int ")
        kinds |= {name: f"{kind} " for kind, names in self.scalars.items() for name in names.split()}
        kinds |= {name: f"struct {name} " for name in self.opaque} | {name: f"{what} " for name, what in same.items()}
        own = "|".join(same) or "(?!)"
        structs = re.sub(rf"typedef struct (?:{own}) \{{[^{{}}]*\}} \w+;\n", "", self.structs)
        return "".join(f"typedef {kind}{name};\n" for name, kind in kinds.items()) + structs


@dataclass(frozen=True)
class Check:
    """A condition of C, with {} for the argument, under which a function answers `answer`."""

    wrong: str
    answer: str


@dataclass(frozen=True)
class Found:
    """A handle that the library beneath knows by another: `by`(handle, &found) is false if there is none."""

    by: str
    type: str  # as it stands before the name of a variable
    answer: str


@dataclass(frozen=True)
class Enum:
    """An enumeration that the library beneath has as `type`: number to its name there. Others are answered `answer`."""

    type: str
    names: Mapping[int, str]
    answer: str


@dataclass(frozen=True)
class Translated:
    """A handle that calls replace by another: `now`(handle) returns that, `then`(results) the program's own; with
    `lists`, both take a number of them, and `done` ends what a list of arguments needed."""

    now: str
    then: str
    lists: str = ""
    done: str = ""


@dataclass(frozen=True)
class Api:
    """What the generator has to know of an API besides its functions."""

    name: str
    status: str  # what its functions return
    header: str  # with its types, generated or not
    null: str  # what a function answers to a null pointer
    beneath: tuple[str, str] = ("", "")  # pattern of a function's name in `call`, and what it is called as
    result: str = "{}"  # of a call's status, this API's
    success: str = "0"
    types: Types = Types()
    found: Mapping[str, Found] = field(default_factory=dict)
    enums: Mapping[str, Enum] = field(default_factory=dict)
    casts: Mapping[str, str] = field(default_factory=dict)  # type to the one beneath that has the same bits
    translated: Mapping[str, Translated] = field(default_factory=dict)
    together: Mapping[tuple[str, str], Check] = field(default_factory=dict)  # of two types, of which a call has both
    range_fits: str = "{} {} {}"  # address, count, size of an element
    before: str = ""  # what a function that stores a value begins with
    checks: Mapping[str, Check] = field(default_factory=dict)  # of a type, where nothing is called
    own_stream: Mapping[str, str] = field(default_factory=dict)  # suffix of a variant: what its default stream is
    stream: str = ""  # the type of streams
    refusal: str = ""  # of a function that is not supported; {} is its name

    def finds(self, kind: str) -> Found | None:
        """How an argument of the type is found beneath."""
        enum = self.enums.get(kind)
        return Found(f"beneath_{kind}", f"{enum.type} ", enum.answer) if enum else self.found.get(kind)


NOTE = "/* Generated from the tables of ptx2amd/api; do not edit. */\n"
