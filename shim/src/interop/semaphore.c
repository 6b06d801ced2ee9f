/* Semaphores of other APIs, in streams. HIP 5's parameters are shorter, as NvSciSync is not in them, so that HIP 5 would not
 * find the second of several: it gets them one after the other. */
#include "shim.h"

/* Of a signal as of a wait, whose time-out is the first of the words. */
struct hip5_parameters {
  unsigned long long fence, key, words[6];
  unsigned flags, reserved[16];
};

typedef int semaphore_call(const hipExternalSemaphore_t *, const hipExternalSemaphoreParams *, unsigned, hipStream_t);

static CUresult in_stream(semaphore_call *call, const CUexternalSemaphore *semaphores, const hipExternalSemaphoreParams *given,
                          unsigned count, CUstream of) {
  hipStream_t stream;
  if (!stream_hip(of, &stream)) return CUDA_ERROR_INVALID_HANDLE;
  if (hip_version >= 600) return with_children(from_hip(call(semaphores, given, count, stream)));
  if (!semaphores || !given || !count) return CUDA_ERROR_INVALID_VALUE;
  int error = 0;
  for (unsigned i = 0; i < count && !error; i++) {
    struct hip5_parameters p = {.fence = given[i].fence, .key = given[i].words[0], .flags = given[i].flags};
    p.words[0] = given[i].words[1];
    error = call(&semaphores[i], (const hipExternalSemaphoreParams *)&p, 1, stream);
  }
  return with_children(from_hip(error));
}

CUresult cuSignalExternalSemaphoresAsync(const CUexternalSemaphore *extSemArray,
                                         const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS *paramsArray, unsigned int numExtSems,
                                         CUstream stream) {
  return in_stream(hip.SignalExternalSemaphoresAsync, extSemArray, paramsArray, numExtSems, stream);
}

CUresult cuWaitExternalSemaphoresAsync(const CUexternalSemaphore *extSemArray,
                                       const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS *paramsArray, unsigned int numExtSems,
                                       CUstream stream) {
  return in_stream(hip.WaitExternalSemaphoresAsync, extSemArray, paramsArray, numExtSems, stream);
}
