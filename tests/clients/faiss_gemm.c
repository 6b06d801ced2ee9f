// The matrix products that faiss asks cuBLAS for, on the host: cuBLAS has them as machine code only. The software GPU's
// device memory is host memory.
typedef int (*synchronize)(void);
synchronize faiss_gemm_synchronize;

int cublasSgemmEx(void *handle, int transposed_a, int transposed_b, int m, int n, int k, const float *alpha, const void *a_,
                  int a_type, int lda, const void *b_, int b_type, int ldb, const float *beta, void *c_, int c_type, int ldc) {
  const float *a = a_, *b = b_;
  float *c = c_;
  if (a_type || b_type || c_type) return 15; /* CUBLAS_STATUS_NOT_SUPPORTED: f32 only */
  faiss_gemm_synchronize();
  for (int j = 0; j < n; j++)
    for (int i = 0; i < m; i++) {
      double sum = 0;
      for (int l = 0; l < k; l++) {
        float x = transposed_a ? a[l + (long)i * lda] : a[i + (long)l * lda];
        sum += (double)x * (transposed_b ? b[j + (long)l * ldb] : b[l + (long)j * ldb]);
      }
      float *to = c + i + (long)j * ldc;
      *to = *alpha * sum + (*beta ? *beta * *to : 0);
    }
  return 0;
}
