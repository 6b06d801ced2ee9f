/* libnvrtc.so.NN, in the place of a real one: where machine code is asked for, the PTX that it was made of is given, as
 * a linked image for our libcuda.so.1 (shim/src/module/linked.h). Where a program compiles for an architecture that the library
 * does not know (PTX2AMD_COMPUTE_CAPABILITY may be newer than it), the newest known one below is taken: PTX runs on later
 * ones. All other functions are the real library's: this one depends on it by the name REAL_LIBRARY, which the audit
 * library resolves. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "linked.h"

enum { SUCCESS, OUT_OF_MEMORY, INVALID_INPUT = 3, INTERNAL_ERROR = 11 };
#define API __attribute__((visibility("default")))

typedef int get_size(void *program, size_t *size);
typedef int get_data(void *program, char *data);
typedef int get_archs(int *archs);
typedef int compile(void *program, int count, const char *const *options);

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

/* The newest architecture that the library knows up to `wanted`: `wanted` itself, or 0 where that can't be found out. */
static int known(int wanted) {
  get_archs *count = (get_archs *)real("nvrtcGetNumSupportedArchs"), *list = (get_archs *)real("nvrtcGetSupportedArchs");
  int archs[64], n = 0, best = 0;
  if (!count || !list || count(&n) || n < 1 || n > 64 || list(archs)) return 0;
  for (int i = 0; i < n; i++)
    if (archs[i] <= wanted && archs[i] > best) best = archs[i];
  return best;
}

/* The option with an architecture that the library knows, in `text`; NULL where it can stay as it is. */
static const char *known_option(const char *option, char text[64]) {
  const char *number = strstr(option, "sm_") ? strstr(option, "sm_") + 3 : strstr(option, "compute_");
  if (number && *number == 'c') number += 8;
  int wanted = number ? atoi(number) : 0, taken = wanted ? known(wanted) : 0;
  if (!taken || taken == wanted || snprintf(text, 64, "%.*s%d", (int)(number - option), option, taken) >= 64) return NULL;
  return text;
}

static int names_architecture(const char *option, const char *before) {
  return !strncmp(option, "-arch=", 6) || !strncmp(option, "--gpu-architecture=", 19) ||
         (before && (!strcmp(before, "-arch") || !strcmp(before, "--gpu-architecture")));
}

API int nvrtcCompileProgram(void *program, int count, const char *const *options) {
  compile *next = (compile *)real("nvrtcCompileProgram");
  if (!next) return INTERNAL_ERROR;
  if (count <= 0 || !options) return next(program, count, options);
  const char **changed = malloc((size_t)count * sizeof *changed);
  char(*texts)[64] = malloc((size_t)count * sizeof *texts);
  int result = OUT_OF_MEMORY;
  if (changed && texts) {
    for (int i = 0; i < count; i++) {
      const char *before = i ? options[i - 1] : NULL, *other = NULL;
      if (options[i] && names_architecture(options[i], before)) other = known_option(options[i], texts[i]);
      changed[i] = other ? other : options[i];
    }
    result = next(program, count, changed);
  }
  free(changed);
  free(texts);
  return result;
}
