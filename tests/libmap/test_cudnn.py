"""libcudnn over AMD's MIOpen. Protects: results of all functions are numpy's, errors cuDNN's; types are those of
NVIDIA's header; programs that were compiled with that run."""

from __future__ import annotations

import re
import subprocess
import sysconfig
from pathlib import Path

import pytest

from ptx2amd.api import cudnn
from ptx2amd.compat import toolkit
from ptx2amd.errors import Ptx2amdError
from tests import rocm
from tests.headers import other_types
from tests.libmap import cudnn_headers, on_rocm
from tests.libmap.packages import PACKAGES

pytestmark = pytest.mark.slow
SOURCE = Path(__file__).with_name("convolution.cu")


@pytest.mark.parametrize(("arch", "soname"), [("gfx1100", "libcudnn.so.9"), ("gfx942", "libcudnn.so.8")])
def test_calls(arch: str, soname: str) -> None:
    on_rocm.check(rocm.prefix("7.2", *PACKAGES["cudnn"]), arch, "cudnn", soname)


def test_rows_have_the_types_of_nvidias_header() -> None:
    include = cudnn_headers.include()
    names = {name for path in include.glob("*.h") for name in re.findall(r"\bcudnn[A-Z]\w+", path.read_text())}
    rows = [row for row in cudnn.MAPPED.rows if row.symbol in names and (row.works or row.takes)]
    runtime = Path(sysconfig.get_path("purelib")).glob("nvidia/*/include/cuda_runtime.h")
    flags = [f"-I{include}", *(f"-I{header.parent}" for header in runtime)]
    assert len(rows) > 120 and other_types(["#include <cudnn.h>"], rows, cudnn.API.status, flags) == set()


@pytest.mark.parametrize("arch", ["gfx942", "gfx1100"])
def test_a_program_convolves(arch: str, tmp_path: Path) -> None:
    prefix, program = rocm.prefix("7.2", *PACKAGES["cudnn"]), tmp_path / "program"
    try:
        tools = toolkit.find()
    except Ptx2amdError as error:
        pytest.skip(str(error))
    link = ["-I", cudnn_headers.include(), f"-L{on_rocm.LIBRARIES}", "-l:libcudnn.so.9"]
    subprocess.run([str(tools.nvcc), *tools.flags, "-arch=sm_80", "-o", program, SOURCE, *link], check=True)
    done = on_rocm.run(prefix, arch, program)
    assert (done.stdout, done.returncode) == ("0 0 0 0 4 14 34 44 54 ", 0), done.stderr
