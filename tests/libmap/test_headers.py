"""The tables of libraries over ROCm's against the headers of both sides. Protects: types of calls on either side."""

from __future__ import annotations

import re
import subprocess
import sysconfig
from pathlib import Path

import pytest

from ptx2amd.api import cublas, cusolver
from ptx2amd.api.cublas import xt
from ptx2amd.api.libraries import MAPPED
from ptx2amd.api.mapped import Mapped
from ptx2amd.compat import toolkit
from ptx2amd.errors import Ptx2amdError
from tests import rocm
from tests.headers import other_types

#: Of CUDA; of ROCm; the package that has the latter; types that are C++'s only.
HEADERS = {
    "cublas": ("cublas_v2.h", "rocblas/rocblas.h", "librocblas-dev", "__half|__nv_bfloat16"),
    "cublaslt": ("cublasLt.h", "hipblaslt/hipblaslt.h", "libhipblaslt-dev", ""),
    "curand": ("curand.h", "rocrand/rocrand.h", "librocrand-dev", ""),
    "cufft": ("cufftXt.h", "hipfft/hipfftXt.h", "libhipfft-dev", ""),
    "cufftw": ("cufftw.h", "", "", "_complex"),
    "cusparse": ("cusparse.h", "hipsparse/hipsparse.h", "libhipsparse-dev", ""),
    "cusolver": ("cusolverDn.h", "hipsolver/hipsolver.h", "libhipsolver-dev", ""),
    "cudnn": ("cudnn.h", "miopen/miopen.h", "libmiopen-dev", ""),
    "nccl": ("nccl.h", "rccl/rccl.h", "librccl-dev", "^void$"),
}
#: Headers that are C++, and further packages that these need.
CPP: dict[str, tuple[str, ...]] = {"hipblaslt/hipblaslt.h": ("libhipblas-common-dev",), "miopen/miopen.h": ()}
#: Further headers, and rows of what they declare: those of earlier versions have functions that the present ones have
#: macros for.
FURTHER = {
    "cublas": (("cublas.h", cublas.FIRST), ("cublasXt.h", xt.ROWS)),
    "cusolver": (
        ("cusolverSp.h", cusolver.SPARSE), ("cusolverSp_LOWLEVEL_PREVIEW.h", cusolver.STEPS),
        ("cusolverRf.h", cusolver.REFACTOR),
    ),
}  # fmt: skip
EACH = pytest.mark.parametrize("mapped", MAPPED, ids=[mapped.library.name for mapped in MAPPED])
_ON_ROCM = [mapped for mapped in MAPPED if not mapped.opens]


@pytest.mark.slow
@pytest.mark.parametrize("mapped", _ON_ROCM, ids=[mapped.library.name for mapped in _ON_ROCM])
def test_the_library_beneath_is_called_with_the_types_of_its_headers(mapped: Mapped, tmp_path: Path) -> None:
    _, header, package, _ = HEADERS[mapped.library.name]
    prefix = rocm.prefix("7.2", package, "libamdhip64-dev", *CPP.get(header, ()))
    (tmp_path / "cstddef").write_text("#include <stddef.h>")  # which a header wants that is C otherwise
    flags = ["-D__HIP_PLATFORM_AMD__", f"-I{tmp_path}", "-idirafter", prefix.include]
    before = ["#include <hip/hip_runtime_api.h>", "typedef _Float16 __half;"] if header.startswith("rocrand") else []
    language = "c++" if header in CPP else "c"
    assert other_types([*before, f"#include <{header}>"], mapped.beneath, mapped.status, flags, language) == set()


#: Header and package of what further libraries of ROCm's declare, but for functions that are exported only.
BESIDE = {
    "rocblas": ("rocblas/rocblas.h", "librocblas-dev", "-"),
    "rocsolver": ("rocsolver/rocsolver.h", "librocsolver-dev", "_ptr_batched"),
    "rocsparse": ("rocsparse/rocsparse.h", "librocsparse-dev", "-"),
}


@pytest.mark.slow
@EACH
def test_further_libraries_are_called_with_the_types_of_their_headers(mapped: Mapped) -> None:
    for beside in mapped.beside:
        header, package, undeclared = BESIDE[beside.prefix]
        prefix = rocm.prefix("7.2", package, "librocblas-dev", "libamdhip64-dev")
        rows = [row for row in beside.functions if not row.symbol.endswith(undeclared)]
        flags = ["-D__HIP_PLATFORM_AMD__", "-idirafter", prefix.include]
        assert other_types([f"#include <{header}>"], rows, beside.status or mapped.status, flags) == set()


@EACH
def test_rows_have_the_types_of_cudas_headers(mapped: Mapped, tmp_path: Path) -> None:
    header, _, _, only_cpp = HEADERS[mapped.library.name]
    source = tmp_path / "all.cu"
    source.write_text(f"#include <{header}>")
    try:
        tools = toolkit.find()
    except Ptx2amdError as error:
        pytest.skip(str(error))
    done = subprocess.run([str(tools.nvcc), *tools.flags, "-M", str(source)], capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"the toolkit has no {header}")
    folders = {Path(word).parent for word in done.stdout.split() if word.endswith((f"/{header}", "/cuComplex.h"))}
    rows = [row for row in mapped.rows if not only_cpp or not re.search(only_cpp, row.parameters)]
    rows = [
        row for row in rows if not row.until and (row.works or row.takes)
    ]  # of others, the names are all that is known
    flags = [f"-I{folder}" for folder in folders]
    further = FURTHER.get(mapped.library.name, ())
    elsewhere = [row for _, part in further for row in part]
    for name, part in ((header, [row for row in rows if row not in elsewhere]), *further):
        assert other_types([f"#include <{name}>"], part, mapped.api.status, flags) == set()


def test_functions_have_names_of_cudas_headers() -> None:
    """Also those whose types are C++'s."""
    include = Path(sysconfig.get_path("purelib")) / "nvidia"
    for mapped in MAPPED:
        header = HEADERS[mapped.library.name][0]
        texts = [path.read_text() for path in include.glob(f"*/include/{Path(header).stem.partition('_')[0][:5]}*.h")]
        if not texts:
            pytest.skip(f"the toolkit has no {header}")
        names = {name for text in texts for name in re.findall(r"\bcu[a-z]+[A-Z]\w+", text)}
        assert {row.symbol for row in mapped.rows if row.works and row.since < 13000 and not row.until} <= names
