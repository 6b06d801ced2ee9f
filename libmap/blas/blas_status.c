/* Names of cuBLAS's status codes, and the versions that libcublas and libcublasLt report. */
#include "blas_codes.h"

#include "libmap.h"

static const struct { int status; const char *name, *text; } texts[] = {
    {CUBLAS_STATUS_SUCCESS, "CUBLAS_STATUS_SUCCESS", "success"},
    {CUBLAS_STATUS_NOT_INITIALIZED, "CUBLAS_STATUS_NOT_INITIALIZED", "the library was not initialized"},
    {CUBLAS_STATUS_ALLOC_FAILED, "CUBLAS_STATUS_ALLOC_FAILED", "the resource allocation failed"},
    {CUBLAS_STATUS_INVALID_VALUE, "CUBLAS_STATUS_INVALID_VALUE", "an unsupported value or parameter was passed"},
    {CUBLAS_STATUS_ARCH_MISMATCH, "CUBLAS_STATUS_ARCH_MISMATCH", "the GPU lacks what the function needs"},
    {CUBLAS_STATUS_MAPPING_ERROR, "CUBLAS_STATUS_MAPPING_ERROR", "GPU memory could not be accessed"},
    {CUBLAS_STATUS_EXECUTION_FAILED, "CUBLAS_STATUS_EXECUTION_FAILED", "the function failed on the GPU"},
    {CUBLAS_STATUS_INTERNAL_ERROR, "CUBLAS_STATUS_INTERNAL_ERROR", "an internal operation failed"},
    {CUBLAS_STATUS_NOT_SUPPORTED, "CUBLAS_STATUS_NOT_SUPPORTED", "the functionality is not supported"},
    {CUBLAS_STATUS_LICENSE_ERROR, "CUBLAS_STATUS_LICENSE_ERROR", "the license could not be checked"},
};

const char *blas_status_name(int status) {
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
    if (texts[i].status == status) return texts[i].name;
  return "CUBLAS_STATUS_<unknown>";
}

const char *blas_status_text(int status) {
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
    if (texts[i].status == status) return texts[i].text;
  return "an unknown status";
}

int blas_property(int which, int *value) {
  int version = libmap_version, found = libmap_property(which, version / 10000, version / 100 % 100, version % 100);
  if (!value || found < 0) return CUBLAS_STATUS_INVALID_VALUE;
  *value = found;
  return CUBLAS_STATUS_SUCCESS;
}

int blas_cudart_version(void) { return libmap_version / 10000 * 1000 + libmap_version / 100 % 100 * 10; }
