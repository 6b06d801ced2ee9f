"""The published support page says what the instruction table says, and every row can be lowered."""

from __future__ import annotations

import pytest

from ptx2amd.isa import support
from ptx2amd.isa.form import Form
from ptx2amd.isa.match import candidates
from ptx2amd.isa.table import FAMILIES, rows
from ptx2amd.lower.core.module import ModuleLowering
from ptx2amd.plan.kernel import Request
from ptx2amd.target import target
from ptx2amd.translate import parse
from tests.lower import matrix_programs


def test_the_page_is_up_to_date() -> None:
    assert (support.FOLDER / "ptx.md").read_text() == support.page(), "run python -m ptx2amd.isa.support"
    assert (support.FOLDER / "ptx.json").read_text() == support.machine_readable()


@pytest.mark.parametrize("form", rows(), ids=lambda form: form.syntax)
def test_a_row_is_lowered_or_refused_with_a_reason(form: Form) -> None:
    kind = support.status(form)
    assert kind in ("exact", "approximate", "hint", "refused"), form.exact
    if kind == "refused":
        assert form.exact.partition(":")[2].strip(), "a refusal needs its reason"
    else:
        assert form.lower or kind == "hint"
    if kind == "approximate":
        assert form.exact.partition(":")[2].strip(), "an approximation needs its bound"


def test_all_families_exist() -> None:
    import importlib.util

    missing = [family for family in FAMILIES if importlib.util.find_spec(f"ptx2amd.isa.{family}") is None]
    assert not missing


@pytest.mark.parametrize("arch", support.FAMILIES)
def test_products_in_software(arch: str) -> None:
    """What the page says of matrix products is what they are lowered to."""
    first = {}  # a product of each row
    for product in matrix_programs.products():
        first.setdefault(id(candidates(product.opcode)[0][0]), product)
    for product in list(first.values())[::3]:
        form, mods = candidates(product.opcode)[0]
        module = parse(matrix_programs.HEAD + matrix_programs.kernel("k", [product]))
        lowering = ModuleLowering(module, Request(target(arch)))
        lowering.kernel("k")
        on_chip = any(f"llvm.amdgcn.{unit}." in lowering.ir() for unit in ("mfma", "wmma"))
        assert on_chip == support.has_unit(arch, mods["at"], mods["bt"]), (product.opcode, form)
