"""Each argument of a function wrong in turn: null, negative, no such value, an object that is none or was destroyed.
Protects: no call ends the program, and what is no object or no value gets an error. Other arguments are valid; memory
holds zeros, and the rows of a matrix with one element."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import pytest

from ptx2amd import native
from tests import rocm
from tests.libmap import on_rocm
from tests.libmap.packages import PACKAGES

pytestmark = pytest.mark.slow
#: Library, soname, functions, and the least number of calls.
SWEEPS = (
    ("cublas", "libcublas.so.12", "^cublasXt", 600),
    ("cublas", "libcublas.so.13", "_v2$|_v2_64$", 3000),
    ("cusolver", "libcusolver.so.12", "^cusolver(Sp|Rf)", 1800),
    ("curand", "libcurand.so.10", ".", 50),
    ("cufft", "libcufft.so.12", ".", 200),
    ("cudnn", "libcudnn.so.9", ".", 1900),
    ("cusparse", "libcusparse.so.12", ".", 5700),
)  # fmt: skip


@pytest.mark.parametrize(("name", "soname", "pattern", "least"), SWEEPS, ids=[f"{s[1]}-{s[2]}" for s in SWEEPS])
def test_one_wrong_argument_is_an_error(name: str, soname: str, pattern: str, least: int) -> None:
    prefix, program = rocm.prefix("7.2", *PACKAGES[name]), Path(__file__).with_name("one_wrong.py")
    libraries = (native.DIRECTORY / "libcuda.so.1", on_rocm.LIBRARIES / soname)
    done = on_rocm.run(prefix, "gfx1100", Path(sys.executable).resolve(), program, *libraries, name, "0", pattern)
    *lines, end = done.stdout.splitlines() or [""]
    assert end == "end", (done.stdout.splitlines()[-1:], done.stderr[-500:])
    assert "memory access fault" not in done.stderr, done.stderr
    calls = [(*what.split(maxsplit=3), status) for what, status in zip(lines[::2], lines[1::2], strict=True)]
    good = [call for call in calls if call[4] == "= 0" and call[3] not in ("null", "negative")]
    assert not good, good
    assert len(calls) >= least, Counter(call[3] for call in calls)
