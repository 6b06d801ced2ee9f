/* Copies of vectors and matrices between host and device: columns of `width` elements, which begin `from_pitch` and
 * `to_pitch` elements apart. */
#include "cublas_handle.h"

static int copy(int how, char *to, const char *from, size_t size, cudaStream_t stream) {
  uint64_t device = (uint64_t)(uintptr_t)(how & CUBLAS_COPY_OUT ? from : to);
  switch (how) {
    case CUBLAS_COPY_OUT: return libmap_driver.copy_out(to, device, size);
    case CUBLAS_COPY_ASYNC: return libmap_driver.copy_in_async(device, from, size, stream);
    case CUBLAS_COPY_OUT | CUBLAS_COPY_ASYNC: return libmap_driver.copy_out_async(to, device, size, stream);
    default: return libmap_driver.copy_in(device, from, size);
  }
}

cublasStatus_t cublas_copy(int how, int64_t width, int64_t columns, int64_t element, const void *from, int64_t from_pitch,
                           void *to, int64_t to_pitch, cudaStream_t stream) {
  if (width < 0 || columns < 0 || element <= 0 || from_pitch < width || to_pitch < width || from_pitch <= 0 || to_pitch <= 0)
    return CUBLAS_STATUS_INVALID_VALUE;
  if (!libmap_ready()) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (!width || !columns) return CUBLAS_STATUS_SUCCESS;
  if (!from || !to) return CUBLAS_STATUS_INVALID_VALUE;
  size_t size = (size_t)element, whole = from_pitch == to_pitch && from_pitch == width;
  size_t bytes = size * (size_t)width * (whole ? (size_t)columns : 1);
  for (int64_t i = 0; i < (whole ? 1 : columns); i++)
    if (copy(how, (char *)to + (size_t)i * (size_t)to_pitch * size, (const char *)from + (size_t)i * (size_t)from_pitch * size,
             bytes, stream))
      return CUBLAS_STATUS_MAPPING_ERROR;
  return CUBLAS_STATUS_SUCCESS;
}
