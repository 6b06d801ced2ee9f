/* Scratch memory, scaling factors, refusals. */
#include "compute.h"

#include <pthread.h>

const float CUDNN_ONE = 1, CUDNN_ZERO = 0;

float cudnn_factor(const struct cudnn_tensor *tensor, const void *factor) {
  return tensor->type == CUDNN_DATA_DOUBLE ? (float)*(const double *)factor : *(const float *)factor;
}

void *cudnn_scratch(cudnnHandle_t handle, int which, size_t size) {
  struct cudnn_buffer *buffer = &handle->scratch[which];
  if (buffer->size < size) {
    if (buffer->at) libmap_driver.release(buffer->at);
    *buffer = (struct cudnn_buffer){0};
    if (libmap_driver.allocate(&buffer->at, size)) return NULL;
    buffer->size = size;
  }
  return (void *)(uintptr_t)buffer->at;
}

static _Thread_local const char *last_refusal = "";

const char *cudnn_last_refusal(void) { return last_refusal; }

miopenStatus_t cudnn_no(const char *what) {
  last_refusal = what;
  enum { KNOWN = 64 };
  static const char *said[KNOWN];
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&lock);
  int at = 0;
  while (at < KNOWN && said[at] && said[at] != what) at++;
  bool first = at < KNOWN && !said[at];
  if (first) said[at] = what;
  pthread_mutex_unlock(&lock);
  if (first) libmap_say(what, "not supported");
  return miopenStatusUnsupportedOp;
}

cudnnStatus_t cudnn_reject(bool wrong, const char *what) {
  return wrong ? CUDNN_STATUS_BAD_PARAM : cudnn_status(cudnn_no(what));
}

miopenStatus_t cudnn_sums(const struct cudnn_tensor *tensor) {
  return tensor->type == CUDNN_DATA_BFLOAT16 ? cudnn_no("sums, products and scaling factors with bf16") : miopenStatusSuccess;
}

miopenStatus_t cudnn_blend(struct cudnn_blend *blend, int buffer, cudnnHandle_t handle, const void *alpha,
                           const void *beta, const struct cudnn_tensor *tensor, void *out) {
  if (!alpha || !beta || !out) return miopenStatusBadParm;
  *blend = (struct cudnn_blend){handle, tensor, cudnn_factor(tensor, alpha), cudnn_factor(tensor, beta), out, out};
  miopenStatus_t done = blend->alpha == 1 && blend->beta == 0 ? miopenStatusSuccess : cudnn_sums(tensor);
  if (done || blend->beta == 0) return done;
  blend->into = cudnn_scratch(handle, buffer, cudnn_bytes(tensor));
  return blend->into ? miopenStatusSuccess : miopenStatusAllocFailed;
}

/* A product with 0 is avoided, which is NaN for an infinite number. */
miopenStatus_t cudnn_blended(const struct cudnn_blend *blend) {
  miopenHandle_t handle = blend->handle->miopen;
  miopenTensorDescriptor_t tensor = blend->tensor->miopen;
  if (blend->beta == 0) {
    return blend->alpha == 1 ? miopenStatusSuccess
                             : cudnn_scale_by(blend->handle, blend->tensor, blend->out, blend->alpha);
  }
  return miopen.OpTensor(handle, miopenTensorOpAdd, &blend->alpha, tensor, blend->into, &blend->beta, tensor, blend->out,
                         &CUDNN_ZERO, tensor, blend->out);
}
