/* libnccl over AMD's RCCL: streams, memory, texts. The rest is in the table (ptx2amd/api/nccl). */
#include "nccl_stream.h"

#include <string.h>

bool nccl_stream(cudaStream_t stream, hipStream_t *found) {
  return libmap_ready() && !libmap_driver.stream(stream, found);
}

/* RCCL's code for other chips has other formats of 8 bits (FNUZ), in which products and averages are others. */
static bool has_ocp8(const char *chip) {
  static const char *const chips[] = {"gfx908", "gfx90a", "gfx1200", "gfx1201"};
  for (size_t i = 0; chip && i < sizeof chips / sizeof *chips; i++)
    if (!strcmp(chip, chips[i])) return true;
  return false;
}

bool nccl_computes(ncclDataType_t type, ncclComm_t comm) {
  static int said;
  enum { E4M3 = 10, E5M2 };
  int device = 0;
  if ((type != E4M3 && type != E5M2) || !libmap_ready() || nccl.CommCuDevice(comm, &device)) return true;
  return has_ocp8(libmap_driver.chip(device)) ||
         libmap_refuse(&said, "reductions of 8-bit floating point on this chip", false);
}

/* Of our libcuda, so that it is known there as the program's other memory is. */
ncclResult_t pncclMemAlloc(void **ptr, size_t size) {
  uint64_t made = 0;
  if (!libmap_ready()) return ncclSystemError;
  if (!ptr || (size && libmap_driver.allocate(&made, size))) return ncclUnhandledCudaError; /* as cudaMalloc's */
  *ptr = (void *)(uintptr_t)made;
  return ncclSuccess;
}

ncclResult_t pncclMemFree(void *ptr) {
  if (!ptr) return ncclSuccess;
  if (!libmap_ready()) return ncclSystemError;
  return libmap_driver.release((uint64_t)(uintptr_t)ptr) ? ncclUnhandledCudaError : ncclSuccess;
}

const char *pncclGetErrorString(ncclResult_t result) {
  return libmap_ready() ? nccl.GetErrorString(result) : "RCCL cannot be loaded";
}

const char *pncclGetLastError(ncclComm_t comm) {
  return libmap_ready() ? nccl.GetLastError(comm) : "RCCL cannot be loaded";
}

void pncclResetDebugInit(void) {
  if (libmap_ready()) nccl.ResetDebugInit();
}
