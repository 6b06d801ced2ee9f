"""The page of the software GPU's instructions, and the opcode table behind it."""

from __future__ import annotations

from ptx2amd.vgpu import gen_tables, support
from ptx2amd.vgpu.isa.encoding import DECODERS
from ptx2amd.vgpu.isa.table import all_ops


def test_page_is_up_to_date() -> None:
    """Protects against a page that says something else than the tables."""
    assert support.PAGE.read_text() == support.page(), "run python -m ptx2amd.vgpu.support"


def test_no_two_rows_share_an_opcode() -> None:
    """On any architecture, VOP3 forms of the short formats included (opcode_tables raises)."""
    for arch in DECODERS:
        assert gen_tables.opcode_tables(arch)


def test_every_row_exists_somewhere() -> None:
    """Protects against misspelt mnemonics: a row whose name no architecture knows would silently never run."""
    lost = [f"{op.format} {op.name}" for op in all_ops() if all(op.opcode(arch) is None for arch in DECODERS)]
    assert not lost
