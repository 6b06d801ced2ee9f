/* The launch interface before CUDA 4: parameters and block shape are state of the function. */
#include <stdlib.h>
#include <string.h>

#include "module.h"

struct legacy { unsigned block[3], shared, size; char parameters[4096]; };

static CUresult legacy_of(CUfunction f, struct kernel **k) {
  *k = kernel_checked(f);
  if (!*k) return CUDA_ERROR_INVALID_HANDLE;
  if (!(*k)->legacy) (*k)->legacy = calloc(1, sizeof *(*k)->legacy);
  return (*k)->legacy ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult cuFuncSetBlockShape(CUfunction hfunc, int x, int y, int z) {
  struct kernel *k;
  CUresult result = legacy_of(hfunc, &k);
  if (result) return result;
  if (x <= 0 || y <= 0 || z <= 0) return CUDA_ERROR_INVALID_VALUE;
  memcpy(k->legacy->block, (unsigned[]){(unsigned)x, (unsigned)y, (unsigned)z}, sizeof k->legacy->block);
  return CUDA_SUCCESS;
}

CUresult cuFuncSetSharedSize(CUfunction hfunc, unsigned int bytes) {
  struct kernel *k;
  CUresult result = legacy_of(hfunc, &k);
  if (!result) k->legacy->shared = bytes;
  return result;
}

CUresult cuParamSetSize(CUfunction hfunc, unsigned int numbytes) {
  struct kernel *k;
  CUresult result = legacy_of(hfunc, &k);
  if (result) return result;
  if (numbytes > sizeof k->legacy->parameters) return CUDA_ERROR_INVALID_VALUE;
  k->legacy->size = numbytes;
  return CUDA_SUCCESS;
}

CUresult cuParamSetv(CUfunction hfunc, int offset, void *ptr, unsigned int numbytes) {
  struct kernel *k;
  CUresult result = legacy_of(hfunc, &k);
  if (result) return result;
  size_t room = sizeof k->legacy->parameters;
  if (!ptr || offset < 0 || (size_t)offset > room || numbytes > room - (size_t)offset) return CUDA_ERROR_INVALID_VALUE;
  memcpy(k->legacy->parameters + offset, ptr, numbytes);
  return CUDA_SUCCESS;
}

CUresult cuParamSeti(CUfunction hfunc, int offset, unsigned int value) {
  return cuParamSetv(hfunc, offset, &value, sizeof value);
}

CUresult cuParamSetf(CUfunction hfunc, int offset, float value) {
  return cuParamSetv(hfunc, offset, &value, sizeof value);
}

CUresult cuParamSetTexRef(CUfunction hfunc, int texunit, CUtexref hTexRef) {
  struct kernel *k;
  (void)texunit; /* a reference belongs to its module: every kernel of that sees it */
  CUresult result = legacy_of(hfunc, &k);
  return result ? result : handle_ok(HANDLE_REFERENCE, hTexRef) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuLaunchGridAsync(CUfunction f, int grid_width, int grid_height, CUstream hStream) {
  struct kernel *k;
  CUresult result = legacy_of(f, &k);
  if (result) return result;
  struct legacy *l = k->legacy;
  if (grid_width <= 0 || grid_height <= 0) return CUDA_ERROR_INVALID_VALUE;
  size_t size = l->size > k->parameter_bytes ? l->size : k->parameter_bytes;
  void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, l->parameters, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
                   CU_LAUNCH_PARAM_END};
  if (size > sizeof l->parameters) return CUDA_ERROR_INVALID_VALUE;
  return cuLaunchKernel(f, (unsigned)grid_width, (unsigned)grid_height, 1, l->block[0], l->block[1], l->block[2],
                        l->shared, hStream, NULL, extra);
}

CUresult cuLaunchGrid(CUfunction f, int grid_width, int grid_height) {
  return cuLaunchGridAsync(f, grid_width, grid_height, NULL);
}

CUresult cuLaunch(CUfunction f) { return cuLaunchGridAsync(f, 1, 1, NULL); }
