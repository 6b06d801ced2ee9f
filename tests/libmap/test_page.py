"""Protects: the page of libraries says what the tables and the tests do."""

from __future__ import annotations

from ptx2amd.api.libraries import MAPPED
from tests.libmap import page


def test_the_page_is_up_to_date() -> None:
    assert page.PAGE.read_text() == page.page()


def test_what_is_tested_works() -> None:
    for mapped in MAPPED:
        assert page.tested(mapped.library.name) <= {row.symbol for row in mapped.rows if row.works}
