/* cuLink: one PTX input, handed back as it is; the result is loaded like any image. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "module.h"

struct link {
  struct handle h;
  struct jit jit;
  char *text;
  size_t size;
  int inputs;
};

static struct link *link_checked(CUlinkState state) {
  return handle_ok(HANDLE_LINK, state) ? (struct link *)state : NULL;
}

CUresult cuLinkCreate_v2(unsigned int numOptions, CUjit_option *options, void **optionValues, CUlinkState *stateOut) {
  ENTER_CONTEXT();
  if (!stateOut) return CUDA_ERROR_INVALID_VALUE;
  struct link *l = handle_new(HANDLE_LINK);
  if (!l) return CUDA_ERROR_OUT_OF_MEMORY;
  jit_read(&l->jit, numOptions, options, optionValues);
  *stateOut = (CUlinkState)l;
  return CUDA_SUCCESS;
}

static CUresult refuse_input(struct link *l, CUresult result, const char *why) {
  jit_error(&l->jit, why);
  jit_done(&l->jit);
  return result;
}

CUresult cuLinkAddData_v2(CUlinkState state, CUjitInputType type, void *data, size_t size, const char *name,
                          unsigned int numOptions, CUjit_option *options, void **optionValues) {
  (void)name, (void)numOptions, (void)options, (void)optionValues;
  ENTER_CONTEXT();
  struct link *l = link_checked(state);
  struct image image;
  char problem[512];
  if (!l) return CUDA_ERROR_INVALID_HANDLE;
  if (!data || !size) return CUDA_ERROR_INVALID_VALUE;
  if (type == CU_JIT_INPUT_LIBRARY || type == CU_JIT_INPUT_OBJECT || type == CU_JIT_INPUT_NVVM)
    return refuse_input(l, CUDA_ERROR_NOT_SUPPORTED, "linking takes PTX only");
  CUresult result = image_find(data, size, &image, problem, sizeof problem);
  if (result) return refuse_input(l, result, problem);
  if (l->inputs++) return refuse_input(l, CUDA_ERROR_NOT_SUPPORTED, "linking several inputs is not supported yet");
  /* The whole container goes on: it may be compressed. */
  l->text = malloc(size + 1);
  if (!l->text) return CUDA_ERROR_OUT_OF_MEMORY;
  memcpy(l->text, data, size);
  l->text[size] = 0;
  l->size = size + 1;
  return CUDA_SUCCESS;
}

CUresult cuLinkAddFile_v2(CUlinkState state, CUjitInputType type, const char *path, unsigned int numOptions,
                          CUjit_option *options, void **optionValues) {
  ENTER_CONTEXT();
  if (!link_checked(state)) return CUDA_ERROR_INVALID_HANDLE;
  if (!path) return CUDA_ERROR_INVALID_VALUE;
  void *data = NULL;
  size_t size = 0;
  CUresult result = read_file(path, &data, &size);
  if (result) return result;
  result = cuLinkAddData_v2(state, type, data, size, path, numOptions, options, optionValues);
  free(data);
  return result;
}

CUresult cuLinkComplete(CUlinkState state, void **cubinOut, size_t *sizeOut) {
  ENTER_CONTEXT();
  struct link *l = link_checked(state);
  if (!l) return CUDA_ERROR_INVALID_HANDLE;
  if (!cubinOut) return CUDA_ERROR_INVALID_VALUE;
  if (!l->text) return refuse_input(l, CUDA_ERROR_INVALID_VALUE, "nothing to link");
  *cubinOut = l->text;
  if (sizeOut) *sizeOut = l->size;
  jit_done(&l->jit);
  return CUDA_SUCCESS;
}

CUresult cuLinkDestroy(CUlinkState state) {
  ENTER_CONTEXT();
  struct link *l = link_checked(state);
  if (!l) return CUDA_ERROR_INVALID_HANDLE;
  free(l->text);
  handle_free(HANDLE_LINK, l);
  return CUDA_SUCCESS;
}
