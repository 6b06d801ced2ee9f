"""The whole instruction table: the rows of all family files, by mnemonic."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.util import find_spec

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


@cache
def rows() -> tuple[Form, ...]:
    """All rows, in family order."""
    found: list[Form] = []
    for family in FAMILIES:
        name = f"ptx2amd.isa.{family}"
        if find_spec(name) is not None:
            found += import_module(name).FORMS
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
