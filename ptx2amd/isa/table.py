"""The whole instruction table: the rows of all family files, by mnemonic."""

from __future__ import annotations

from functools import cache
from importlib import import_module

from ptx2amd.isa.form import Form

FAMILIES = (
    "integer",
    "extended",
    "bits",
    "float",
    "half",
    "mixed",
    "compare",
    "convert",
    "move",
    "video",
    "memory",
    "atomic",
    "barrier",
    "warp",
    "async_copy",
    "bulk",
    "tensor_copy",
    "mbarrier",
    "matrix",
    "sparse",
    "scaled",
    "wgmma",
    "wmma",
    "tensor",
    "tensor_memory",
    "texture",
    "surface",
    "control",
)


def family(name: str) -> list[Form]:
    """The rows of one of FAMILIES."""
    forms: list[Form] = import_module(f"ptx2amd.isa.{name}").FORMS
    return forms


@cache
def rows() -> tuple[Form, ...]:
    """All rows, in family order. Raises ValueError for one that does not say what it does to memory."""
    found = [form for name in FAMILIES for form in family(name)]
    for form in found:
        if "[" in form.operands and not form.does and form.exact != "hint":
            raise ValueError(f"{form.syntax}: what it does to memory is not said")
    return tuple(found)


@cache
def _by_mnemonic() -> dict[str, tuple[Form, ...]]:
    table: dict[str, list[Form]] = {}
    for form in rows():
        table.setdefault(form.mnemonic, []).append(form)
    return {mnemonic: tuple(forms) for mnemonic, forms in table.items()}


def forms(mnemonic: str) -> tuple[Form, ...]:
    """The rows of one mnemonic, in table order; () when there is none."""
    return _by_mnemonic().get(mnemonic, ())


def mnemonics() -> tuple[str, ...]:
    return tuple(_by_mnemonic())
