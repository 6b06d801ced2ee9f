"""The same call again gives the same bits. Protects: what cuSPARSE promises, with waves and workgroups in another order
at each call (the software GPU's weak-memory mode). Calls for which it promises nothing do vary, which shows that the
test can fail."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from ptx2amd import native
from tests import rocm
from tests.libmap import on_rocm
from tests.libmap.packages import PACKAGES

pytestmark = pytest.mark.slow

#: Functions that are called again.
FUNCTIONS = "SpMV|SpMM|SDDMM|SpSV_solve|SpSM_solve|SpVV|SparseToDense|Axpby"
#: Calls for which cuSPARSE promises the same bits: of products only some algorithms, the last number of a call, with
#: vectors only where the first, the operation, is none.
PROMISED = re.compile(r"cusparse(?!SpM[VM]\()|SpMV\(0,\d+,[34]\)|SpMM\(.*,(2|12)\)")


def test_cusparse() -> None:
    prefix, program = rocm.prefix("7.2", *PACKAGES["cusparse"]), Path(__file__).with_name("repeated.py")
    libraries = (native.DIRECTORY / "libcuda.so.1", on_rocm.LIBRARIES / "libcusparse.so.12")
    words = (Path(sys.executable).resolve(), program, *libraries, "cusparse", f"^cusparse({FUNCTIONS})$")
    done = on_rocm.run(prefix, "gfx1100", *words, settings={"PTX2AMD_WEAK": "1"})
    assert done.returncode == 0, done.stderr[-500:]
    repeated, differ = done.stdout.splitlines()[-2:]
    assert len(repeated.split()) == len(FUNCTIONS.split("|")), repeated
    assert differ
    assert not [call for call in differ.split() if PROMISED.search(call)]
