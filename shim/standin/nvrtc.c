/* libnvrtc.so.NN, in the place of a real one: where machine code is asked for, the PTX that it was made of is given, as
 * a linked image for our libcuda.so.1 (shim/src/linked.h). All other functions are the real library's: this one depends
 * on it by the name REAL_LIBRARY, which the audit library resolves. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "linked.h"

enum { SUCCESS, OUT_OF_MEMORY, INVALID_INPUT = 3, INTERNAL_ERROR = 11 };
#define API __attribute__((visibility("default")))

typedef int get_size(void *program, size_t *size);
typedef int get_data(void *program, char *data);

static void *real(const char *name) {
  static void *library;
  if (!library) library = dlopen(REAL_LIBRARY, RTLD_LAZY | RTLD_NOLOAD);
  return library ? dlsym(library, name) : NULL;
}

/* The PTX of a program in a container, which the caller frees. *l stays empty where the real library made no machine
 * code: for a virtual architecture, or intermediate code (LTO). */
static int wrap(void *program, struct linked *l) {
  get_size *cubin_size = (get_size *)real("nvrtcGetCUBINSize"), *ptx_size = (get_size *)real("nvrtcGetPTXSize");
  get_data *ptx = (get_data *)real("nvrtcGetPTX");
  size_t size = 0;
  *l = (struct linked){0};
  if (!cubin_size || !ptx_size || !ptx) return INTERNAL_ERROR;
  int result = cubin_size(program, &size);
  if (result || !size) return result;
  result = ptx_size(program, &size);
  if (result) return result;
  char *text = malloc(size + 1);
  if (!text) return OUT_OF_MEMORY;
  result = ptx(program, text);
  if (!result) {
    text[size] = 0;
    size = strlen(text);
    struct image image = {.data = text, .size = size, .full_size = size};
    if (!linked_add(l, &image) || !linked_finish(l)) result = OUT_OF_MEMORY;
  }
  free(text);
  return result;
}

API int nvrtcGetCUBINSize(void *program, size_t *size) {
  if (!size) return INVALID_INPUT;
  struct linked l;
  int result = wrap(program, &l);
  if (!result) *size = l.size;
  linked_free(&l);
  return result;
}

API int nvrtcGetCUBIN(void *program, char *cubin) {
  if (!cubin) return INVALID_INPUT;
  struct linked l;
  int result = wrap(program, &l);
  if (!result && l.size) memcpy(cubin, l.data, l.size);
  linked_free(&l);
  return result;
}
