"""Instructions that are refused are refused by name: ptxas takes them, the front end finds their row, and the
lowering gives the row's reason."""

from __future__ import annotations

import pytest

from ptx2amd.errors import PtxError
from ptx2amd.ptx.ast import Inst
from ptx2amd.ptx.parse import parse_body, parse_module
from tests import oracle
from tests.ptx import forms

SM_100 = ("9.0", "sm_100a", "sm_100a")

STATEMENTS = {
    "tensor memory": (
        SM_100,
        """tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [b32_1], 32
        tcgen05.dealloc.cta_group::1.sync.aligned.b32 b32_1, 32
        tcgen05.relinquish_alloc_permit.cta_group::2.sync.aligned
        tcgen05.ld.sync.aligned.32x32b.x2.b32 {b32_1, b32_2}, [b32_3]
        tcgen05.st.sync.aligned.16x64b.x1.b32 [b32_3], {b32_1}
        tcgen05.cp.cta_group::1.128x256b [b32_1], b64_1
        tcgen05.shift.cta_group::1.down [b32_1]
        tcgen05.mma.cta_group::1.kind::f16 [b32_1], b64_1, b64_2, b32_2, pred_1
        tcgen05.mma.cta_group::1.kind::tf32 [b32_1], [b32_3], b64_2, b32_2, {b32_5, b32_6, b32_7, b32_8}, pred_1
        tcgen05.commit.cta_group::1.mbarrier::arrive::one.b64 [b64_1]
        tcgen05.wait::ld.sync.aligned
        tcgen05.wait::st.sync.aligned
        tcgen05.fence::before_thread_sync
        tcgen05.fence::after_thread_sync""",
    ),
    "im2col::w": (
        SM_100,
        """cp.async.bulk.tensor.3d.shared::cta.global.im2col::w.mbarrier::complete_tx::bytes [b64_1], \
        [b64_2, {b32_1, b32_2, b32_3}], [b64_3], {b16_1, b16_2}""",
    ),
}


@pytest.mark.parametrize("what", STATEMENTS)
def test_refused_by_name(what: str) -> None:
    setting, text = STATEMENTS[what]
    statements = [" ".join(line.split()) + ";" for line in text.split("\n")]
    assert oracle.verdicts(statements, forms.declarations(setting), setting, forms.MODULE) == [""] * len(statements)
    lines = "\n".join(statements)
    body = f".func f(.param .align 16 .b8 fpar[64]) {{ {forms.DECLARATIONS}\n{lines}\nLABEL: ret; }}"
    module = parse_module(f".version 9.0\n.target {setting[1]}\n.address_size 64\n{forms.MODULE}\n{body}\n")
    found = [item for item in parse_body(module, module.functions["f"]).items if isinstance(item, Inst)]
    assert [inst.shape.form.exact.partition(":")[0] for inst in found[:-1]] == ["refused"] * len(statements)


def test_32_bit_addresses_are_refused_by_name() -> None:
    with pytest.raises(PtxError, match="32-bit addresses are not supported: compile for 64 bits"):
        parse_module(".version 8.0\n.target sm_80\n.address_size 32\n.entry k() { ret; }\n")
