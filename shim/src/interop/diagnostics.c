/* Logs, core dumps, notifications: accepted, and never anything to report. */
#include <stdlib.h>
#include <string.h>

#include "shim.h"

CUresult cuLogsRegisterCallback(CUlogsCallback callbackFunc, void *userData, CUlogsCallbackHandle *callback) {
  (void)userData;
  if (!callbackFunc) return CUDA_ERROR_INVALID_VALUE;
  if (callback) *callback = (CUlogsCallbackHandle)callbackFunc;
  return CUDA_SUCCESS;
}

CUresult cuLogsUnregisterCallback(CUlogsCallbackHandle callback) {
  return callback ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuLogsCurrent(CUlogIterator *iterator, unsigned int flags) {
  (void)flags;
  if (!iterator) return CUDA_ERROR_INVALID_VALUE;
  *iterator = 0;
  return CUDA_SUCCESS;
}

CUresult cuLogsDumpToFile(CUlogIterator *iterator, const char *pathToFile, unsigned int flags) {
  (void)iterator;
  return pathToFile && !flags ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuLogsDumpToMemory(CUlogIterator *iterator, char *buffer, size_t *size, unsigned int flags) {
  (void)iterator;
  if (!buffer || !size || flags) return CUDA_ERROR_INVALID_VALUE;
  if (*size) buffer[0] = 0;
  *size = 0;
  return CUDA_SUCCESS;
}

CUresult cuDeviceRegisterAsyncNotification(CUdevice device, CUasyncCallback callbackFunc, void *userData,
                                           CUasyncCallbackHandle *callback) {
  (void)userData;
  if (!initialised) return CUDA_ERROR_NOT_INITIALIZED;
  if (!device_ok(device)) return CUDA_ERROR_INVALID_DEVICE;
  if (!callbackFunc || !callback) return CUDA_ERROR_INVALID_VALUE;
  *callback = (CUasyncCallbackHandle)callbackFunc;
  return CUDA_SUCCESS;
}

CUresult cuDeviceUnregisterAsyncNotification(CUdevice device, CUasyncCallbackHandle callback) {
  if (!device_ok(device)) return CUDA_ERROR_INVALID_DEVICE;
  return callback ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuCoredumpGetAttributeGlobal(CUcoredumpSettings attrib, void *value, size_t *size) {
  if (!size || attrib < 1 || attrib > 7) return CUDA_ERROR_INVALID_VALUE;
  if (value) memset(value, 0, *size);
  return CUDA_SUCCESS;
}

CUresult cuCoredumpGetAttribute(CUcoredumpSettings attrib, void *value, size_t *size) {
  return cuCoredumpGetAttributeGlobal(attrib, value, size);
}

CUresult cuCoredumpSetAttributeGlobal(CUcoredumpSettings attrib, void *value, size_t *size) {
  if (!size || !value || attrib < 1 || attrib > 7) return CUDA_ERROR_INVALID_VALUE;
  return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult cuCoredumpSetAttribute(CUcoredumpSettings attrib, void *value, size_t *size) {
  return cuCoredumpSetAttributeGlobal(attrib, value, size);
}

static CUresult coredump_callback(CUcoredumpStatusCallback callback, CUcoredumpCallbackHandle *out) {
  if (!callback || !out) return CUDA_ERROR_INVALID_VALUE;
  *out = (CUcoredumpCallbackHandle)callback;
  return CUDA_SUCCESS;
}

CUresult cuCoredumpRegisterStartCallback(CUcoredumpStatusCallback callback, void *userData,
                                         CUcoredumpCallbackHandle *callbackOut) {
  (void)userData;
  return coredump_callback(callback, callbackOut);
}

CUresult cuCoredumpRegisterCompleteCallback(CUcoredumpStatusCallback callback, void *userData,
                                            CUcoredumpCallbackHandle *callbackOut) {
  (void)userData;
  return coredump_callback(callback, callbackOut);
}

CUresult cuCoredumpDeregisterStartCallback(CUcoredumpCallbackHandle callback) {
  return callback ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuCoredumpDeregisterCompleteCallback(CUcoredumpCallbackHandle callback) {
  return callback ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
