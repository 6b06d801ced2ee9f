"""The table is loaded family by family. Protects that a mnemonic's rows are all found, whichever files have them."""

from __future__ import annotations

import pytest

from ptx2amd.isa import table


@pytest.mark.parametrize("name", table.FAMILIES)
def test_a_family_has_the_mnemonics_it_is_listed_with(name: str) -> None:
    assert list(dict.fromkeys(form.mnemonic for form in table.family(name))) == table.FAMILIES[name].split()


def test_a_mnemonic_has_its_rows_in_table_order() -> None:
    for mnemonic in table.mnemonics():
        assert table.forms(mnemonic) == tuple(form for form in table.rows() if form.mnemonic == mnemonic)
    assert table.forms("nothing") == ()
