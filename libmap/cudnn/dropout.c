/* Dropout. MIOpen's random numbers are a function of the states, which it leaves as they are. */
#include "compute.h"

cudnnStatus_t cudnnCreateDropoutDescriptor(cudnnDropoutDescriptor_t *dropoutDesc) {
  if (!dropoutDesc) return CUDNN_STATUS_BAD_PARAM;
  if (!libmap_ready()) return CUDNN_STATUS_NOT_INITIALIZED;
  cudnnDropoutDescriptor_t made = cudnn_new(CUDNN_A_DROPOUT, sizeof *made);
  if (!made) return CUDNN_STATUS_ALLOC_FAILED;
  miopenStatus_t done = miopen.CreateDropoutDescriptor(&made->miopen);
  if (!done) done = miopen.CreateDropoutDescriptor(&made->next);
  if (done) cudnnDestroyDropoutDescriptor(made);
  else *dropoutDesc = made;
  return cudnn_status(done);
}

cudnnStatus_t cudnnDestroyDropoutDescriptor(cudnnDropoutDescriptor_t dropoutDesc) {
  if (!dropoutDesc) return CUDNN_STATUS_SUCCESS;
  if (!cudnn_is(dropoutDesc, CUDNN_A_DROPOUT)) return CUDNN_STATUS_BAD_PARAM;
  if (dropoutDesc->miopen) miopen.DestroyDropoutDescriptor(dropoutDesc->miopen);
  if (dropoutDesc->next) miopen.DestroyDropoutDescriptor(dropoutDesc->next);
  cudnn_free(dropoutDesc);
  return CUDNN_STATUS_SUCCESS;
}

bool cudnn_dropout(cudnnDropoutDescriptor_t given, cudnnDropoutDescriptor_t *found) {
  *found = given;
  return cudnn_is(given, CUDNN_A_DROPOUT);
}

/* The next call has states of another seed. */
miopenStatus_t cudnn_drop(cudnnHandle_t handle, cudnnDropoutDescriptor_t desc, const struct cudnn_tensor *x,
                          const void *x_at, const struct cudnn_tensor *y, void *y_at, void *reserve, size_t size) {
  const unsigned long long apart = 0x9e3779b97f4a7c15u;
  miopenStatus_t done = miopen.DropoutForward(handle->miopen, desc->miopen, x->miopen, x->miopen, x_at, y->miopen, y_at,
                                              reserve, size);
  if (done) return done;
  unsigned long long seed = desc->seed + ++desc->turn * apart;
  return miopen.SetDropoutDescriptor(desc->next, handle->miopen, desc->dropout, desc->states, desc->size, seed, false,
                                     false, MIOPEN_RNG_PSEUDO_XORWOW);
}

typedef miopenStatus_t setter(miopenDropoutDescriptor_t, miopenHandle_t, float, void *, size_t, unsigned long long,
                              bool, bool, miopenRNGType_t);

/* Without states, as for dropout in what has none, there is nothing for MIOpen to do. */
static cudnnStatus_t set_dropout(setter *by, cudnnDropoutDescriptor_t desc, cudnnHandle_t handle, float dropout,
                                 void *states, size_t size, unsigned long long seed) {
  if (!cudnn_dropout(desc, &desc) || !cudnn_handle(handle, &handle) || !(dropout >= 0 && dropout <= 1)) {
    return CUDNN_STATUS_BAD_PARAM;
  }
  cudnnStatus_t status =
      states ? cudnn_status(by(desc->miopen, handle->miopen, dropout, states, size, seed, false, false,
                               MIOPEN_RNG_PSEUDO_XORWOW))
             : CUDNN_STATUS_SUCCESS;
  if (!status) desc->dropout = dropout, desc->states = states, desc->size = size, desc->seed = seed, desc->turn = 0;
  return status;
}

cudnnStatus_t cudnnSetDropoutDescriptor(cudnnDropoutDescriptor_t dropoutDesc, cudnnHandle_t handle, float dropout,
                                        void *states, size_t stateSizeInBytes, unsigned long long seed) {
  return set_dropout(miopen.SetDropoutDescriptor, dropoutDesc, handle, dropout, states, stateSizeInBytes, seed);
}

cudnnStatus_t cudnnRestoreDropoutDescriptor(cudnnDropoutDescriptor_t dropoutDesc, cudnnHandle_t handle, float dropout,
                                            void *states, size_t stateSizeInBytes, unsigned long long seed) {
  return set_dropout(miopen.RestoreDropoutDescriptor, dropoutDesc, handle, dropout, states, stateSizeInBytes, seed);
}

cudnnStatus_t cudnnGetDropoutDescriptor(cudnnDropoutDescriptor_t dropoutDesc, cudnnHandle_t handle, float *dropout,
                                        void **states, unsigned long long *seed) {
  cudnnDropoutDescriptor_t desc;
  if (!cudnn_dropout(dropoutDesc, &desc) || !cudnn_handle(handle, &handle)) return CUDNN_STATUS_BAD_PARAM;
  CUDNN_GIVE(dropout, desc->dropout);
  CUDNN_GIVE(states, desc->states);
  CUDNN_GIVE(seed, desc->seed);
  return CUDNN_STATUS_SUCCESS;
}
