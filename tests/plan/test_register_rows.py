"""The estimate of registers takes every form of every instruction: it is made of each kernel that is translated."""

from __future__ import annotations

from ptx2amd.errors import PtxError
from ptx2amd.isa import table
from ptx2amd.plan.registers import MOST, estimate
from ptx2amd.ptx.parse import parse_module
from tests.ptx import forms


def test_every_row_has_an_estimate() -> None:
    rows = [form for form in table.rows() if not form.exact.startswith("refused") and form.mnemonic != "call"]
    statements = [forms.statement(form, next(iter(forms.choices(form)))) for form in rows]
    kernels = (
        f".entry k{n}(.param .align 16 .b8 fpar[64]) {{ {forms.DECLARATIONS}\n{statement}\nLABEL: ret; }}\n"
        for n, statement in enumerate(statements)
    )
    module = parse_module(f".version 9.4\n.target sm_90\n.address_size 64\n{forms.MODULE}\n{''.join(kernels)}")
    taken = 0
    for n in range(len(statements)):
        try:
            assert 0 < estimate(module, module.functions[f"k{n}"]) <= MOST
            taken += 1
        except PtxError:
            continue  # of another target, or a form that only stands in a .func
    assert taken > 0.9 * len(statements)
