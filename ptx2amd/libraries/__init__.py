"""Facts about the CUDA libraries that ROCm's can replace: names, versions, packages, and the location of code for
chips.

`choice` decides which library serves a program; `ptx2amd/api` has the functions.
"""

from __future__ import annotations

from collections.abc import Mapping

from ptx2amd.records import dataclass, field


@dataclass(frozen=True, slots=True)
class Library:
    """One of CUDA's libraries and its counterpart in ROCm.

    name, title: as in "cublas", "cuBLAS". sonames: the sonames that programs load, with the version that each reports.
    beneath: name of ROCm's library; `rocm`: its sonames, newest first. packages: of AMD and Debian. kernels: the folder
    beside ROCm's library with a file per chip, or the library beside it that contains its code; "": the code is in the
    library itself; None: it compiles for any chip at run time. takes: the library whose handles its functions also
    accept, so that both must come from the same vendor.
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
CUFFTW = Library(
    "cufftw",
    "cuFFTW",
    {soname.replace("fft", "fftw"): version for soname, version in CUFFT.sonames.items()},
    CUFFT.beneath,
    CUFFT.rocm,
    CUFFT.packages,
    None,
)
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
#: cuDNN's parts, which programs also open by themselves; each of ours has all functions.
_CUDNN = {
    8: "ops_infer ops_train cnn_infer cnn_train adv_infer adv_train",
    9: "ops cnn adv graph heuristic engines_precompiled engines_runtime_compiled",
}
_CUDNN_VERSIONS = {8: 8907, 9: 92700}
CUDNN = Library(
    "cudnn", "cuDNN",
    {f"libcudnn{part}.so.{major}": _CUDNN_VERSIONS[major]
     for major in (9, 8) for part in ("", *(f"_{name}" for name in _CUDNN[major].split()))},
    "MIOpen", ("libMIOpen.so.1", "libMIOpen.so"), "miopen-hip (AMD), libmiopen1 (Debian)", None,
)  # fmt: skip
NCCL = Library(
    "nccl", "NCCL", {"libnccl.so.2": 22707},
    "RCCL", ("librccl.so.1", "librccl.so"), "rccl (AMD), librccl1 (Debian)", "",
)  # fmt: skip

ALL = (CUBLAS, CUBLASLT, CURAND, CUFFT, CUFFTW, CUSPARSE, CUSOLVER, CUDNN, NCCL)
#: Soname to library.
SERVED = {soname: library for library in ALL for soname in library.sonames}
