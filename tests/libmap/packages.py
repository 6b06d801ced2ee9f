"""The packages that tests of the libraries over ROCm's need."""

from __future__ import annotations

#: The packages of ROCm 7.2 that each library's calls need.
PACKAGES = {
    "cublas": ("librocblas5", "librocsolver0"),
    "cublaslt": ("libhipblaslt1", "librocblas5"),
    "curand": ("librocrand1",),
    "cufft": ("libhipfft0", "librocfft0", "libhiprtc7"),
    "cufftw": ("libhipfft0", "librocfft0", "libhiprtc7"),
    "cusparse": ("libhipsparse4", "librocsparse1"),
    "cusolver": ("libhipsolver1", "librocsolver0"),
    "cudnn": ("libmiopen1", "librocblas5", "libhiprtc7", "libamdhip64-dev", "librocrand-dev"),
    "nccl": ("librccl1",),
}
