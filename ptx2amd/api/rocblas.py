"""rocBLAS's products of matrices, for libraries over another library of ROCm's: graphs of cuDNN, and cuBLASLt where
hipBLASLt has no code for the chip."""

from __future__ import annotations

from ptx2amd.api.mapped import Beside
from ptx2amd.api.spec import Function

ROCBLAS = Beside(
    prefix="rocblas",
    name="rocBLAS",
    sonames=("librocblas.so.5", "librocblas.so.4", "librocblas.so"),
    packages="rocblas (AMD), librocblas5 (Debian)",
    functions=(
        Function("rocblas_create_handle", 0, "rocblas_handle *handle"),
        Function("rocblas_destroy_handle", 0, "rocblas_handle handle"),
        Function("rocblas_set_atomics_mode", 0, "rocblas_handle handle, rocblas_atomics_mode mode"),
        Function("rocblas_set_stream", 0, "rocblas_handle handle, hipStream_t stream"),
        Function("rocblas_set_workspace", 0, "rocblas_handle handle, void *at, size_t size"),
        Function(
            "rocblas_gemm_strided_batched_ex",
            0,
            "rocblas_handle handle, rocblas_operation transA, rocblas_operation transB, int m, int n, int k, "
            "const void *alpha, const void *a, rocblas_datatype a_type, int lda, int64_t stride_a, const void *b, "
            "rocblas_datatype b_type, int ldb, int64_t stride_b, const void *beta, const void *c, "
            "rocblas_datatype c_type, int ldc, int64_t stride_c, void *d, rocblas_datatype d_type, int ldd, "
            "int64_t stride_d, int batch_count, rocblas_datatype compute_type, rocblas_gemm_algo algo, "
            "int32_t solution_index, uint32_t flags",
        ),
    ),
    status="rocblas_status",
    missing="2",
)
