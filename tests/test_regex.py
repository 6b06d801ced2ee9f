"""Regular expressions that are compiled at their first use."""

from __future__ import annotations

import re

import pytest

from ptx2amd.regex import regex


def test_it_is_compiled_at_its_first_use(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[str] = []
    real = re.compile
    monkeypatch.setattr(re, "compile", lambda text, flags: compiled.append(text) or real(text, flags))
    word = regex("[a-z]+", re.IGNORECASE)
    assert not compiled
    assert [match[0] for match in word.finditer("Ab 1 c")] == ["Ab", "c"]
    word.finditer("d")
    assert compiled == ["[a-z]+"]


def test_it_has_what_a_compiled_one_has() -> None:
    number = regex(rb"(?P<digits>\d+)")
    found = number.fullmatch(b"12")
    assert found is not None and found["digits"] == b"12"
    assert number.sub(b"x", b"1 2") == b"x x"
    assert (number.pattern, dict(number.groupindex)) == (rb"(?P<digits>\d+)", {"digits": 1})
    with pytest.raises(AttributeError):
        _ = number.unknown  # type: ignore[attr-defined]
