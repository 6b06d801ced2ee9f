"""A CUDA program with kernels of its own between products of cuBLAS, in a stream and in a captured graph.

Protects: streams, memory and graphs of our libcuda are the same objects for rocBLAS.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from ptx2amd.compat import toolkit
from ptx2amd.errors import Ptx2amdError
from tests import rocm
from tests.libmap import on_rocm

SOURCE = Path(__file__).with_name("kernel_and_products.cu")


@pytest.mark.slow
@pytest.mark.parametrize("arch", ["gfx942", "gfx1100"])
def test_kernels_and_products_share_streams_and_graphs(arch: str, tmp_path: Path) -> None:
    prefix, program = rocm.prefix("7.2", "librocblas5"), tmp_path / "program"
    try:
        tools = toolkit.find()
    except Ptx2amdError as error:
        pytest.skip(str(error))
    link = [f"-L{on_rocm.LIBRARIES}", "-l:libcublas.so.12"]
    subprocess.run([str(tools.nvcc), *tools.flags, "-arch=sm_80", "-o", program, SOURCE, *link], check=True)
    done = on_rocm.run(prefix, arch, program)
    assert (done.stdout, done.returncode) == ("14\n", 0), done.stderr
