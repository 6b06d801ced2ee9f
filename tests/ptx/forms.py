"""Statements made from rows of the instruction table: every choice of every field, operands of the right kinds,
and mutations of them, to be judged by ptxas."""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Iterator, Sequence

from ptx2amd.isa.form import Form
from ptx2amd.isa.operands import Slot, length, resolve, slots
from ptx2amd.isa.syntax import Field, fields

_REGISTERS = (
    "pred",
    "b8",
    "b16",
    "b32",
    "b64",
    "b128",
    "u16",
    "u32",
    "u64",
    "s16",
    "s32",
    "s64",
    "f16",
    "f16x2",
    "f32",
    "f64",
)
MODULE = """.global .align 16 .b32 gvar[64];
.const .align 16 .b32 cvar[64];
.shared .align 16 .b32 svar[64];
.global .texref tvar;
.global .surfref uvar;
.extern .func callee (.param .b32 z);"""
DECLARATIONS = " ".join(f".reg .{ptype} {ptype}_<40>;" for ptype in _REGISTERS) + (
    " .param .align 16 .b8 pvar[64]; .local .align 16 .b8 lvar[64];"
    " TARGETS: .branchtargets LABEL; PROTO: .callprototype (.param .b32 _) _ (.param .b32 _);"
)

# What holds values of types that are no register types.
_STORAGE = {
    **dict.fromkeys(("bf16", "e4m3x2", "e5m2x2", "ue8m0x2", "s2f6x2", "e2m3x2", "e3m2x2"), "b16"),
    **dict.fromkeys(("bf16x2", "tf32", "s16x2", "u16x2", "u8x4", "s8x4"), "b32"),
    **dict.fromkeys(("e4m3x4", "e5m2x4", "e2m3x4", "e3m2x4"), "b32"),
    **dict.fromkeys(("u8", "s8", "e4m3", "e5m2", "e2m1x2"), "b8"),
    **dict.fromkeys(("u4", "s4"), "b32"),
    "e2m1x4": "b16",
    "f32x2": "b64",
}
_SPACES = {"shared": "svar", "const": "cvar", "param": "pvar", "local": "lvar", "global": "gvar"}
_VECTORS = {"": 1, "v2": 2, "v4": 4, "v8": 8}


def choices(form: Form) -> Iterator[dict[int, str]]:
    """Field choices that together take every choice of every field: (field index -> words)."""
    options = [_options(field) for field in fields(form.syntax)]
    for n in range(max((len(o) for o in options), default=1)):
        yield {i: o[(n + i * (n // len(o))) % len(o)] for i, o in enumerate(options)}


def all_choices(form: Form, limit: int, seed: str = "") -> Iterator[dict[int, str]]:
    """All combinations of field choices, or `limit` of them drawn at random where there are more."""
    options = [_options(field) for field in fields(form.syntax)]
    total = 1
    for option in options:
        total *= len(option)
    if total <= limit:
        for values in itertools.product(*options):
            yield dict(enumerate(values))
        return
    draw = random.Random(form.syntax + form.operands + seed)
    for _ in range(limit):
        yield {i: draw.choice(option) for i, option in enumerate(options)}


def _options(field: Field) -> list[str]:
    words = [".".join(choice) for choice in field.choices]
    return [*words, ""] if field.optional else words


def opcode(form: Form, chosen: dict[int, str]) -> str:
    return ".".join([form.mnemonic, *(word for word in chosen.values() if word)])


def mods(form: Form, chosen: dict[int, str]) -> dict[str, str]:
    return {field.name: chosen[i] for i, field in enumerate(fields(form.syntax)) if field.name}


def operands(form: Form, values: dict[str, str], optional: bool = True) -> list[str]:
    """Operand texts for a row under field values; optional ones are there or not."""
    found = []
    for number, slot in enumerate(slots(form.operands)):
        if not values.get(slot.when) if slot.when else slot.optional and not optional:
            continue
        found.append(_operand(form, slot, values, number, optional))
    return found


def _operand(form: Form, slot: Slot, values: dict[str, str], number: int, optional: bool) -> str:
    if slot.kind == "pair":
        first, second = slots(slot.name)[0], slot.second
        assert second is not None
        text = _operand(form, first, values, number, optional)
        return text if second.optional and not optional else text + "|" + _operand(form, second, values, 20, optional)
    if slot.kind == "value" and slot.type == "_":
        return "_"
    if slot.kind == "value":
        part = _PARTS.get(form.mnemonic[-1], "b1") if slot.part else ""
        if part:
            return register(resolve(slot.type, values), number, form.mnemonic) + "." + part[: None if number else 2]
        return register(resolve(slot.type, values), number, form.mnemonic)
    if slot.kind == "vec":
        count = length(slot, values)
        count = 2 if count == -1 else count
        if form.syntax.startswith("tex.grad") and slot.name in ("g", "h"):  # as many as dimensions, padded
            count = {"1": 1, "2": 2}.get(values["geom"].removeprefix("a")[0], 4)
        if form.mnemonic == "tex" and slot.name == "b" and values["geom"] == "3d":
            count = 4
        ptype = resolve(slot.type, values)
        items = [register(ptype, (4 * number + n) % 40, form.mnemonic) for n in range(count)]
        return items[0] if count == 1 and slot.size not in (1, -1) else "{" + ", ".join(items) + "}"
    if slot.kind == "addr":
        param = values.get("space", "").startswith("param") and form.mnemonic in ("ld", "st")
        return ("[fpar]" if form.mnemonic == "ld" else "[pvar]") if param else f"[b64_{number + 9}]"
    if slot.kind == "addr*":
        return _texture_address(form, values)
    if slot.kind == "imm":
        if form.mnemonic == "wgmma" and slot.name == "n":  # the sparsity selector
            return "0"
        return str(next((v for prefix, v in _CONSTANTS.items() if form.syntax.startswith(prefix)), 4))
    if slot.kind == "sym":
        return "svar" if values.get("t", "")[1:] == "32" else "gvar"
    return {"label": "LABEL", "targets": "TARGETS", "proto": "PROTO", "any": "b64_8", "list": "(b32_1)"}[slot.kind]


# Parts that video instructions select: of a source, or (its first letters) a destination.
_PARTS = {"2": "h12", "4": "b1742"}

# Constants that are more than a number: sizes and ranges.
_CONSTANTS = {
    "applypriority": 128,
    "discard": 128,
    "fence.proxy": 128,
    "setmaxnreg": 64,
    "cp.async.{cop:cg}": 16,
    "bmsk": 4,
    "mma": 0,
    "wgmma": 1,
    "st.bulk": 0,
    "tensormap.cp_fenceproxy": 128,
    "tensormap.replace": 1,
}
_COORDINATES = {"1d": 1, "2d": 2, "3d": 4, "a1d": 2, "a2d": 4, "cube": 4, "acube": 4, "2dms": 4, "a2dms": 4}


def _texture_address(form: Form, values: dict[str, str]) -> str:
    if form.mnemonic == "cp":  # tensor maps: as many coordinates as dimensions
        count = 5 if "4" in values.get("mode", "") else int(values["dim"][0])
        return f"[b64_5, {{{', '.join(f's32_{n}' for n in range(count))}}}]"
    count = _COORDINATES[values["geom"]]
    surface = form.mnemonic in ("suld", "sust", "sured")
    kind = "f32" if values.get("ct") == "f32" or form.mnemonic == "tld4" else "s32"
    items = [f"{kind}_{n}" for n in range(count)]
    if form.mnemonic in ("tex", "tld4") and values["geom"] in ("a1d", "a2d", "acube"):
        items[0] = "b32_0"
    if values["geom"] == "2dms" or values["geom"] == "a2dms":
        items[0] = "b32_0"
    return f"[{'uvar' if surface else 'tvar'}, {{{', '.join(items)}}}]"


def register(ptype: str, number: int, mnemonic: str = "") -> str:
    if ptype in ("u8", "s8", "b8") and mnemonic in ("ld", "ldu", "st", "cvt") and (ptype, mnemonic) != ("b8", "cvt"):
        return f"b32_{number}"
    return f"{_STORAGE.get(ptype, ptype)}_{number}"


def statement(form: Form, chosen: dict[int, str], optional: bool = True) -> str:
    values = mods(form, chosen)
    text = ", ".join(operands(form, values, optional))
    return f"{opcode(form, chosen)} {text};" if text else f"{opcode(form, chosen)};"


# (PTX version, .target, ptxas's -arch) in which forms are judged, the first that takes one decides: later
# targets have more, some instructions (shfl and vote without .sync) are gone since PTX 6.4.
SETTINGS = (
    ("9.0", "sm_80", "sm_80"),
    ("9.0", "sm_90a", "sm_90a"),
    ("9.0", "sm_100a", "sm_100a"),
    ("9.0", "sm_120a", "sm_120a"),
    ("6.3", "sm_60", "sm_75"),
)
# The same for rows of PTX after 9.0, for a newer ptxas.
NEW_SETTINGS = (
    ("9.4", "sm_120a", "sm_120a"),
    ("9.4", "sm_100a", "sm_100a"),
    ("9.4", "sm_90a", "sm_90a"),
    ("9.4", "sm_107a", "sm_107a"),
)


def declarations(setting: tuple[str, str, str]) -> str:
    """The registers and the rest that statements use, as far as a PTX version has them."""
    return DECLARATIONS if setting[0] != "6.3" else re.sub(r"\.reg \.b128 [^;]*;", "", DECLARATIONS)


def settings(form: Form) -> list[tuple[str, str, str]]:
    """The settings to judge a row in: those that have what it needs."""
    found = SETTINGS if form.since <= (9, 0) else NEW_SETTINGS
    return [s for s in found if int(s[1][3:].rstrip("a")) >= form.sm and (s[0] != "6.3" or form.since < (6, 4))]


MUTATIONS = ("replace", "drop", "swap", "register", "constant", "count", "discard", "negate")


def mutant(form: Form, kind: str, words: Sequence[str], draw: random.Random) -> str | None:
    """A statement of a row with one thing changed, or None where that does not apply. words: the modifiers of
    all rows of the mnemonic."""
    text = statement(form, draw.choice(list(choices(form))), draw.random() < 0.5)
    name, _, rest = text.rstrip(";").partition(" ")
    parts = name.split(".")
    named = re.findall(r"\b[a-z]\w*?_\d+\b", rest)
    if kind == "replace" and len(parts) > 1:
        word = draw.choice(words)
        if word in parts:  # ptxas takes some modifiers twice
            return None
        parts[draw.randrange(1, len(parts))] = word
    elif kind == "drop" and len(parts) > 1:
        del parts[draw.randrange(1, len(parts))]
    elif kind == "swap" and len(parts) > 2:
        shuffled = parts[1:]
        draw.shuffle(shuffled)
        parts[1:] = shuffled
    elif kind == "register" and named:
        other = draw.choice([r for r in _REGISTERS if r not in ("f16x2", "b128")])
        rest = re.sub(rf"\b{draw.choice(named)}\b", f"{other}_33", rest, count=1)
    elif kind == "constant" and named and "{" not in rest:
        other = draw.choice(("5", "0f3f800000", "1.5", "0d3ff0000000000000", "svar"))
        rest = re.sub(rf"\b{draw.choice(named)}\b", other, rest, count=1)
    elif kind == "count" and rest and "{" not in rest and "[" not in rest:
        items = rest.split(", ")
        rest = ", ".join(items[:-1] if draw.random() < 0.5 else [*items, items[-1]])
    elif kind == "discard" and named:
        rest = re.sub(r"\b[a-z]\w*?_\d+\b", "_", rest, count=1)
    elif kind == "negate" and "pred_" in rest:
        rest = re.sub(r"(?<!\|)\b(pred_\d+)(?!\|)", r"!\1", rest)
    else:
        return None
    return f"{'.'.join(parts)} {rest};" if rest else f"{'.'.join(parts)};"
