"""A CUDA program with kernels of its own between products of cuBLAS, in a stream and in a captured graph.

Protects: streams, memory and graphs of our libcuda are the same objects for rocBLAS.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ptx2amd import native
from ptx2amd.compat import toolkit
from ptx2amd.errors import Ptx2amdError
from tests import rocm

SOURCE = Path(__file__).with_name("kernel_and_products.cu")
LIBRARIES = native.DIRECTORY / "libmap"


@pytest.mark.slow
@pytest.mark.parametrize("arch", ["gfx942", "gfx1100"])
def test_kernels_and_products_share_streams_and_graphs(arch: str, tmp_path: Path) -> None:
    prefix, program = rocm.prefix("7.2", "librocblas5"), tmp_path / "program"
    try:
        tools = toolkit.find()
    except Ptx2amdError as error:
        pytest.skip(str(error))
    link = [f"-L{LIBRARIES}", "-l:libcublas.so.12"]
    subprocess.run([str(tools.nvcc), *tools.flags, "-arch=sm_80", "-o", program, SOURCE, *link], check=True)
    environment = {**os.environ, "PTX2AMD_DEVICE": f"vgpu:{arch}", "PTX2AMD_PYTHON": sys.executable}
    command = prefix.command(program, before=(LIBRARIES, native.DIRECTORY / "hip", native.DIRECTORY))
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    assert (done.stdout, done.returncode) == ("14\n", 0), done.stderr
