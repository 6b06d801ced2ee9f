"""The CUDA libraries on ROCm's whose functions are tables here."""

from __future__ import annotations

from ptx2amd.api import cublas, cublaslt, cudnn, cufft, cufftw, curand, cusolver, cusparse, nccl
from ptx2amd.api.mapped import SOURCES

MAPPED = (cublas.MAPPED, cublaslt.MAPPED, curand.MAPPED, cufft.MAPPED, cufftw.MAPPED, cusparse.MAPPED, cusolver.MAPPED,
          cudnn.MAPPED, nccl.MAPPED)  # fmt: skip
#: The source that is compiled for each soname, with -DLIBRARY_VERSION.
VERSION = SOURCES / "common" / "version.c"
