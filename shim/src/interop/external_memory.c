/* Memory of other APIs. */
#include "live.h"
#include "shim.h"

CUresult cuImportExternalMemory(CUexternalMemory *extMem_out, const CUDA_EXTERNAL_MEMORY_HANDLE_DESC *memHandleDesc) {
  if (!extMem_out) return CUDA_ERROR_INVALID_VALUE;
  int error = hip.ImportExternalMemory(extMem_out, memHandleDesc);
  if (!error) live_add(LIVE_EXTERNAL_MEMORY, *extMem_out);
  return from_hip(error);
}

CUresult cuDestroyExternalMemory(CUexternalMemory extMem) {
  int error = hip.DestroyExternalMemory(extMem);
  if (!error) live_drop(LIVE_EXTERNAL_MEMORY, extMem);
  return from_hip(error);
}
