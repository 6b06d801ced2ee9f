"""Parameters that are too large are errors of the PTX, as in ptxas: launches could not pass them, and LLVM ends the
process over some."""

from __future__ import annotations

import pytest

from ptx2amd.errors import PtxError
from ptx2amd.translate import parse, translate

HEAD = ".version 8.5\n.target sm_80\n.address_size 64\n"


def kernel(size: int) -> str:
    return f"{HEAD}.visible .entry k(.param .u64 p, .param .align 4 .b8 x[{size}]) {{ ret; }}\n"


def test_a_kernel_has_as_many_bytes_of_parameters_as_in_cuda() -> None:
    [result] = translate(kernel(32764 - 8), archs=["gfx942"])
    assert result.ok
    with pytest.raises(PtxError, match=r"<ptx>:4:1: error: 32,768 bytes of parameters of kernel k, .* 32,764"):
        parse(kernel(32764 - 8 + 4))


@pytest.mark.parametrize("head", ["(.param .align 4 .b8 x[4294967296]) f()", "f(.param .align 4 .b8 x[4294967296])"])
def test_no_parameter_or_result_has_4_gib(head: str) -> None:
    with pytest.raises(PtxError, match="4,294,967,296 bytes for x of f"):
        parse(f"{HEAD}.func {head} {{ ret; }}\n")
