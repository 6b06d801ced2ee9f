"""What each library over ROCm's exports. Protects: programs that were linked with NVIDIA's find all that the tables
have, under the names of versions that NVIDIA's have."""

from __future__ import annotations

import subprocess

import pytest

from ptx2amd.api.libraries import MAPPED
from ptx2amd.api.mapped import Mapped
from tests.libmap import on_rocm

PAIRS = [(mapped, soname) for mapped in MAPPED for soname in mapped.library.sonames]


@pytest.mark.parametrize(("mapped", "soname"), PAIRS, ids=[soname for _, soname in PAIRS])
def test_all_rows_are_exported_and_nothing_else(mapped: Mapped, soname: str) -> None:
    command = ["nm", "-D", "--defined-only", on_rocm.LIBRARIES / soname]
    listing = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    symbols = {line.split()[-1].partition("@")[0] for line in listing} - {soname}
    assert symbols == {row.symbol for row in mapped.rows} and symbols
    assert all(f"@@{soname}" in line for line in listing if " T " in line)
