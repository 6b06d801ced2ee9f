"""CUDA's libraries that ROCm's can stand in for, as facts: names, versions, packages, where their code for chips is.

`choice` decides which of a program's libraries are served by what; `ptx2amd/api` has their functions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Library:
    """One of CUDA's libraries over one of ROCm's.

    name, title: as in "cublas", "cuBLAS". sonames: what programs ask for, to the version that it then answers.
    beneath: ROCm's library by name, `rocm`: its sonames, newest first. packages: AMD's and Debian's that have it.
    kernels: the folder beside ROCm's library whose files name chips, or the library beside it that has its code; "":
    its code is in the library itself; None: it compiles for any chip at run time. takes: the library whose handles its
    functions take too, so that both have to be ROCm's or NVIDIA's.
    """

    name: str
    title: str
    sonames: Mapping[str, int] = field(hash=False)
    beneath: str
    rocm: tuple[str, ...]
    packages: str
    kernels: str | None
    takes: Library | None = None


CUBLAS = Library(
    "cublas", "cuBLAS", {"libcublas.so.11": 111103, "libcublas.so.12": 120900, "libcublas.so.13": 130100},
    "rocBLAS", ("librocblas.so.5", "librocblas.so.4", "librocblas.so"), "rocblas (AMD), librocblas5 (Debian)",
    "rocblas",
)  # fmt: skip
CUBLASLT = Library(
    "cublaslt", "cuBLASLt", {soname.replace("blas", "blasLt"): version for soname, version in CUBLAS.sonames.items()},
    "hipBLASLt", ("libhipblaslt.so.1", "libhipblaslt.so.0", "libhipblaslt.so"),
    "hipblaslt (AMD), libhipblaslt1 (Debian)", "hipblaslt", takes=CUBLAS,
)  # fmt: skip
CURAND = Library(
    "curand", "cuRAND", {"libcurand.so.10": 10310},
    "rocRAND", ("librocrand.so.1", "librocrand.so"), "rocrand (AMD), librocrand1 (Debian)", "",
)  # fmt: skip
CUFFT = Library(
    "cufft", "cuFFT", {"libcufft.so.10": 10900, "libcufft.so.11": 11401, "libcufft.so.12": 12000},
    "hipFFT", ("libhipfft.so.0", "libhipfft.so"), "hipfft and rocfft (AMD), libhipfft0 (Debian)", None,
)  # fmt: skip
CUSPARSE = Library(
    "cusparse", "cuSPARSE", {"libcusparse.so.11": 11705, "libcusparse.so.12": 12510},
    "hipSPARSE", ("libhipsparse.so.4", "libhipsparse.so.1", "libhipsparse.so"),
    "hipsparse and rocsparse (AMD), libhipsparse4 (Debian)", "librocsparse.so.1",
)  # fmt: skip
CUSOLVER = Library(
    "cusolver", "cuSOLVER", {"libcusolver.so.11": 11705, "libcusolver.so.12": 12004},
    "hipSOLVER", ("libhipsolver.so.1", "libhipsolver.so.0", "libhipsolver.so"),
    "hipsolver and rocsolver (AMD), libhipsolver1 (Debian)", "librocsolver.so.0",
)  # fmt: skip

ALL = (CUBLAS, CUBLASLT, CURAND, CUFFT, CUSPARSE, CUSOLVER)
#: Soname to library.
SERVED = {soname: library for library in ALL for soname in library.sonames}
