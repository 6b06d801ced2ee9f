/* cuLink: takes PTX in any container, gives a linked image (linked.h) that loads like any other. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "linked.h"
#include "module.h"

struct link {
  struct handle h;
  struct jit jit;
  struct linked linked;
  bool complete;
};
FITS(struct link, SLOT_LINK);

static struct link *link_checked(CUlinkState state) {
  return handle_ok(HANDLE_LINK, state) ? (struct link *)state : NULL;
}

CUresult cuLinkCreate_v2(unsigned int numOptions, CUjit_option *options, void **optionValues, CUlinkState *stateOut) {
  if (!stateOut || (numOptions && (!options || !optionValues))) return CUDA_ERROR_INVALID_VALUE;
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

/* Adds the PTX found in `data`, which is judged if it is text, under the name that the program gives it; also for the
 * nvJitLink stand-in. */
static CUresult link_add(struct linked *linked, const void *data, size_t size, const char *name, struct jit *jit) {
  char problem[1024], *text = NULL;
  struct image image;
  bool ours = device_runtime(data, size, &image);
  CUresult result = ours ? CUDA_SUCCESS : image_find(data, size, &image, problem, sizeof problem);
  if (result) {
    jit_error(jit, problem);
    return result;
  }
  if (!ours && image.text) result = check_text(&image, name && *name ? name : "<ptx>", &text);
  if (result) jit_error(jit, text ? text : "the check failed");
  else if (!linked_add(linked, &image)) result = CUDA_ERROR_OUT_OF_MEMORY;
  free(text);
  free(image.owned);
  return result;
}

CUresult cuLinkAddData_v2(CUlinkState state, CUjitInputType type, void *data, size_t size, const char *name,
                          unsigned int numOptions, CUjit_option *options, void **optionValues) {
  (void)numOptions, (void)options, (void)optionValues;
  struct link *l = link_checked(state);
  if (!l) return CUDA_ERROR_INVALID_HANDLE;
  if (!data || !size || l->complete) return CUDA_ERROR_INVALID_VALUE;
  if (type < CU_JIT_INPUT_CUBIN || type > CU_JIT_INPUT_NVVM) return CUDA_ERROR_INVALID_VALUE;
  struct image image;
  if ((type == CU_JIT_INPUT_LIBRARY && !device_runtime(data, size, &image)) || type == CU_JIT_INPUT_NVVM)
    return refuse_input(l, CUDA_ERROR_NOT_SUPPORTED, "linking takes PTX: as text, in a fatbin or in an object file");
  CUresult result = link_add(&l->linked, data, size, name, &l->jit);
  if (result) jit_done(&l->jit);
  return result;
}

CUresult cuLinkAddFile_v2(CUlinkState state, CUjitInputType type, const char *path, unsigned int numOptions,
                          CUjit_option *options, void **optionValues) {
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

/* Links, to tell of errors now; the cache keeps the result for the load. */
CUresult link_finish(struct linked *linked, struct jit *jit) {
  struct module *m = NULL;
  if (!linked_limit(linked, jit->registers) || !linked_finish(linked)) return CUDA_ERROR_OUT_OF_MEMORY;
  jit->registers = 0; /* the image says it */
  jit->linking = true;
  CUresult result = module_load(linked->data, linked->size, true, true, jit, &m);
  if (!result) module_drop(m);
  return result;
}

CUresult cuLinkComplete(CUlinkState state, void **cubinOut, size_t *sizeOut) {
  struct link *l = link_checked(state);
  if (!l) return CUDA_ERROR_INVALID_HANDLE;
  if (!cubinOut) return CUDA_ERROR_INVALID_VALUE;
  if (l->complete) return CUDA_ERROR_INVALID_HANDLE;
  if (!l->linked.parts) return refuse_input(l, CUDA_ERROR_INVALID_VALUE, "nothing to link");
  CUresult result = link_finish(&l->linked, &l->jit);
  jit_done(&l->jit);
  if (result == CUDA_ERROR_INVALID_PTX || result == CUDA_ERROR_UNKNOWN) result = CUDA_ERROR_INVALID_SOURCE;
  if (result) return result;
  l->complete = true;
  *cubinOut = l->linked.data;
  if (sizeOut) *sizeOut = l->linked.size;
  return CUDA_SUCCESS;
}

CUresult cuLinkDestroy(CUlinkState state) {
  struct link *l = link_checked(state);
  if (!l) return CUDA_ERROR_INVALID_HANDLE;
  if (!handle_claim(l)) return CUDA_ERROR_INVALID_HANDLE;
  linked_free(&l->linked);
  handle_free(HANDLE_LINK, l);
  return CUDA_SUCCESS;
}

/* ---- for libnvJitLink (shim/standin/nvjitlink.c), which needs no context ---- */

__attribute__((visibility("default"))) int ptx2amd_link(const void *const *data, const size_t *sizes, unsigned count,
                     unsigned registers, void **out, size_t *out_size, char *problem, size_t problem_size);
int ptx2amd_link(const void *const *data, const size_t *sizes, unsigned count, unsigned registers, void **out,
                 size_t *out_size, char *problem, size_t problem_size) {
  struct linked linked = {0};
  struct jit jit = {.error_log = problem, .error_size = problem_size, .registers = registers};
  CUresult result = cuInit(0);
  problem[0] = 0;
  for (unsigned i = 0; !result && i < count; i++) result = link_add(&linked, data[i], sizes[i], NULL, &jit);
  if (!result) result = link_finish(&linked, &jit);
  if (result) {
    linked_free(&linked);
    return (int)result;
  }
  *out = linked.data; /* the caller frees it */
  *out_size = linked.size;
  return 0;
}
