/* Errors: names, texts, and the last error of each thread. */
#include <stdarg.h>
#include <stdio.h>

#include "hip_state.h"

static __thread hipError_t last = hipSuccess;

hipError_t done(hipError_t error) {
  if (error != hipSuccess && error != hipErrorNotReady) last = error;
  hip_result = error;
  return error;
}

hipError_t hipGetLastError(void) {
  hipError_t error = last;
  last = hipSuccess;
  return error;
}

hipError_t hipExtGetLastError(void) { return hipGetLastError(); }

hipError_t hipPeekAtLastError(void) { return last; }

void complain(const char *format, ...) {
  char line[2048];
  va_list args;
  va_start(args, format);
  vsnprintf(line, sizeof line, format, args);
  va_end(args);
  for (char *c = line; *c; c++)   /* names come from files: print them as one line of plain text, whatever they contain
                                   * */
    if (*c < ' ' || *c > '~') *c = '?';
  fprintf(stderr, "ptx2amd vgpu: %s\n", line);
}

static const struct { int error; const char *name, *text; } names[] = {
#define ROW(name, text) {name, #name, text}
    ROW(hipSuccess, "no error"),
    ROW(hipErrorInvalidValue, "invalid argument"),
    ROW(hipErrorOutOfMemory, "out of memory"),
    ROW(hipErrorNotInitialized, "initialization error"),
    ROW(hipErrorDeinitialized, "driver shutting down"),
    ROW(hipErrorProfilerDisabled, "profiler disabled while using external profiling tool"),
    ROW(hipErrorProfilerNotInitialized, "profiler is not initialized"),
    ROW(hipErrorProfilerAlreadyStarted, "profiler already started"),
    ROW(hipErrorProfilerAlreadyStopped, "profiler already stopped"),
    ROW(hipErrorInvalidConfiguration, "invalid configuration argument"),
    ROW(hipErrorInvalidPitchValue, "invalid pitch argument"),
    ROW(hipErrorInvalidSymbol, "invalid device symbol"),
    ROW(hipErrorInvalidDevicePointer, "invalid device pointer"),
    ROW(hipErrorInvalidMemcpyDirection, "invalid copy direction for memcpy"),
    ROW(hipErrorInsufficientDriver, "driver version is insufficient for runtime version"),
    ROW(hipErrorMissingConfiguration, "__global__ function call is not configured"),
    ROW(hipErrorPriorLaunchFailure, "unspecified launch failure in prior launch"),
    ROW(hipErrorInvalidDeviceFunction, "invalid device function"),
    ROW(hipErrorNoDevice, "no ROCm-capable device is detected"),
    ROW(hipErrorInvalidDevice, "invalid device ordinal"),
    ROW(hipErrorInvalidImage, "device kernel image is invalid"),
    ROW(hipErrorInvalidContext, "invalid device context"),
    ROW(hipErrorContextAlreadyCurrent, "context is already current context"),
    ROW(hipErrorMapFailed, "mapping of buffer object failed"),
    ROW(hipErrorUnmapFailed, "unmapping of buffer object failed"),
    ROW(hipErrorArrayIsMapped, "array is mapped"),
    ROW(hipErrorAlreadyMapped, "resource already mapped"),
    ROW(hipErrorNoBinaryForGpu, "no kernel image is available for execution on the device"),
    ROW(hipErrorAlreadyAcquired, "resource already acquired"),
    ROW(hipErrorNotMapped, "resource not mapped"),
    ROW(hipErrorNotMappedAsArray, "resource not mapped as array"),
    ROW(hipErrorNotMappedAsPointer, "resource not mapped as pointer"),
    ROW(hipErrorECCNotCorrectable, "uncorrectable ECC error encountered"),
    ROW(hipErrorUnsupportedLimit, "limit is not supported on this architecture"),
    ROW(hipErrorContextAlreadyInUse, "exclusive-thread device already in use by a different thread"),
    ROW(hipErrorPeerAccessUnsupported, "peer access is not supported between these two devices"),
    ROW(hipErrorInvalidKernelFile, "invalid kernel file"),
    ROW(hipErrorInvalidGraphicsContext, "invalid OpenGL or DirectX context"),
    ROW(hipErrorInvalidSource, "device kernel image is invalid"),
    ROW(hipErrorFileNotFound, "file not found"),
    ROW(hipErrorSharedObjectSymbolNotFound, "shared object symbol not found"),
    ROW(hipErrorSharedObjectInitFailed, "shared object initialization failed"),
    ROW(hipErrorOperatingSystem, "OS call failed or operation not supported on this OS"),
    ROW(hipErrorInvalidHandle, "invalid resource handle"),
    ROW(hipErrorIllegalState, "the operation cannot be performed in the present state"),
    ROW(hipErrorNotFound, "named symbol not found"),
    ROW(hipErrorNotReady, "device not ready"),
    ROW(hipErrorIllegalAddress, "an illegal memory access was encountered"),
    ROW(hipErrorLaunchOutOfResources, "too many resources requested for launch"),
    ROW(hipErrorLaunchTimeOut, "the launch timed out and was terminated"),
    ROW(hipErrorPeerAccessAlreadyEnabled, "peer access is already enabled"),
    ROW(hipErrorPeerAccessNotEnabled, "peer access has not been enabled"),
    ROW(hipErrorSetOnActiveProcess, "cannot set while device is active in this process"),
    ROW(hipErrorContextIsDestroyed, "context is destroyed"),
    ROW(hipErrorAssert, "device-side assert triggered"),
    ROW(hipErrorHostMemoryAlreadyRegistered, "part or all of the requested memory range is already mapped"),
    ROW(hipErrorHostMemoryNotRegistered, "pointer does not correspond to a registered memory region"),
    ROW(hipErrorIllegalInstruction, "an illegal instruction was encountered"),
    ROW(hipErrorMisalignedAddress, "misaligned address"),
    ROW(hipErrorLaunchFailure, "unspecified launch failure"),
    ROW(hipErrorCooperativeLaunchTooLarge, "too many blocks in cooperative launch"),
    ROW(hipErrorNotSupported, "operation not supported"),
    ROW(hipErrorStreamCaptureUnsupported, "operation not permitted when stream is capturing"),
    ROW(hipErrorStreamCaptureInvalidated, "operation failed due to a previous error during capture"),
    ROW(hipErrorStreamCaptureMerge, "operation would result in a merge of separate capture sequences"),
    ROW(hipErrorStreamCaptureUnmatched, "capture was not ended in the same stream as it began"),
    ROW(hipErrorStreamCaptureUnjoined, "capturing stream has unjoined work"),
    ROW(hipErrorStreamCaptureIsolation, "dependency created on uncaptured work in another stream"),
    ROW(hipErrorStreamCaptureImplicit, "operation would make the legacy stream depend on a capturing blocking stream"),
    ROW(hipErrorCapturedEvent, "operation not permitted on an event last recorded in a capturing stream"),
    ROW(hipErrorStreamCaptureWrongThread, "attempt to terminate a thread-local capture sequence from another thread"),
    ROW(hipErrorGraphExecUpdateFailure, "the graph update was not performed because it violated a constraint"),
    ROW(hipErrorInvalidChannelDescriptor, "invalid channel descriptor"),
    ROW(hipErrorInvalidTexture, "invalid texture"),
    ROW(hipErrorUnknown, "unknown error"),
    ROW(hipErrorRuntimeMemory, "runtime memory call returned error"),
    ROW(hipErrorRuntimeOther, "runtime call other than memory returned error"),
#undef ROW
};

static long row_of(hipError_t error) {
  for (size_t k = 0; k < sizeof names / sizeof *names; k++)
    if (names[k].error == (int)error) return (long)k;
  return -1;
}

const char *hipGetErrorName(hipError_t error) {
  long row = row_of(error);
  return row < 0 ? "hipErrorUnknown" : names[row].name;
}

const char *hipGetErrorString(hipError_t error) {
  long row = row_of(error);
  return row < 0 ? "unknown error" : names[row].text;
}

hipError_t hipDrvGetErrorName(hipError_t error, const char **text) {
  long row = row_of(error);
  if (!text) return hipErrorInvalidValue;
  *text = row < 0 ? NULL : names[row].name;
  return row < 0 ? hipErrorInvalidValue : hipSuccess;
}

hipError_t hipDrvGetErrorString(hipError_t error, const char **text) {
  long row = row_of(error);
  if (!text) return hipErrorInvalidValue;
  *text = row < 0 ? NULL : names[row].text;
  return row < 0 ? hipErrorInvalidValue : hipSuccess;
}
