/* libnvJitLink.so.12 and .13, in the place of a real one: the result is a linked image for our libcuda.so.1
 * (shim/src/module/linked.h) instead of machine code. PTX is linked by us; of intermediate code (LTO) the real library,
 * which the audit library opens for us by the name REAL_LIBRARY, makes PTX first. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fatbin.h"
#include "linked.h"

enum { SUCCESS, UNRECOGNIZED_OPTION, MISSING_ARCH, INVALID_INPUT, PTX_COMPILE, NVVM_COMPILE, INTERNAL };
enum { INPUT_LTOIR = 3, INPUT_LIBRARY = 6 };

struct input {
  void *data;
  size_t size;
  int type;
  bool lto; /* intermediate code, of which the real library makes PTX */
};

struct link {
  struct input *inputs;
  unsigned count;
  char **options;
  uint32_t option_count;
  char *ptx; /* of LTO inputs */
  void *linked;
  size_t linked_size;
  char log[4096];
};
typedef struct link *handle;
typedef int linker(const void *const *, const size_t *, unsigned, unsigned, void **, size_t *, char *, size_t);

/* Every function under its own name and under those of the toolkits' headers: __nvJitLinkCreate_12_4. */
#define ALIAS(name, version) \
  __asm__(".globl __" #name "_" #version "\n.set __" #name "_" #version ", " #name "\n");
#define ALIASES(name) \
  ALIAS(name, 12_0) ALIAS(name, 12_1) ALIAS(name, 12_2) ALIAS(name, 12_3) ALIAS(name, 12_4) ALIAS(name, 12_5) \
  ALIAS(name, 12_6) ALIAS(name, 12_7) ALIAS(name, 12_8) ALIAS(name, 12_9) ALIAS(name, 13_0) ALIAS(name, 13_1) \
  ALIAS(name, 13_2) ALIAS(name, 13_3) ALIAS(name, 13_4) ALIAS(name, 13_5)
#define API __attribute__((visibility("default")))

/* ---- the real library ---- */

static void *real_function(const char *name) {
  static void *library;
  if (!library) library = dlopen(REAL_LIBRARY, RTLD_LAZY | RTLD_LOCAL);
  return library ? dlsym(library, name) : NULL;
}
#define REAL(name) ((__typeof__(&name))real_function(#name))

API int nvJitLinkCreate(handle *out, uint32_t count, const char **options) {
  bool arch = false;
  if (!out || (count && !options)) return INVALID_INPUT;
  for (uint32_t i = 0; i < count; i++) arch |= !strncmp(options[i], "-arch=", 6);
  if (!arch) return MISSING_ARCH;
  handle h = *out = calloc(1, sizeof **out);
  if (!h) return INTERNAL;
  h->options = calloc(count + 2, sizeof *h->options);
  for (uint32_t i = 0; h->options && i < count; i++) h->options[h->option_count++] = strdup(options[i]);
  return h->options ? SUCCESS : INTERNAL;
}

API int nvJitLinkDestroy(handle *h) {
  if (!h || !*h) return INVALID_INPUT;
  for (unsigned i = 0; i < (*h)->count; i++) free((*h)->inputs[i].data);
  for (unsigned i = 0; i < (*h)->option_count; i++) free((*h)->options[i]);
  free((*h)->inputs);
  free((*h)->options);
  free((*h)->ptx);
  free((*h)->linked);
  free(*h);
  *h = NULL;
  return SUCCESS;
}

static int refuse(handle h, int result, const char *name, const char *why) {
  snprintf(h->log, sizeof h->log, "%s: %s", name ? name : "input", why);
  return result;
}

struct kinds { bool ptx, lto; }; /* what fatbins hold */

static void look_at_fatbin(const char *data, size_t size, struct kinds *found) {
  struct fatbin_header header;
  struct entry e;
  if (size < sizeof header) return;
  memcpy(&header, data, sizeof header);
  if (header.magic != FATBIN_MAGIC || header.header_size > size) return;
  size_t at = header.header_size, end = header.payload < size - at ? at + header.payload : size;
  for (; end - at >= sizeof e; at += e.header_size + e.payload) {
    memcpy(&e, data + at, sizeof e);
    if (e.header_size < sizeof e || e.header_size > end - at || e.payload > end - at - e.header_size) return;
    found->ptx |= e.kind == KIND_PTX;
    found->lto |= e.kind == KIND_LTO;
  }
}

/* Whether an input has intermediate code and no PTX, which we would link ourselves. Object files and libraries are
 * searched for fatbins, which lie at even places. */
static bool is_lto(const char *data, size_t size) {
  if (size > 4 && (!memcmp(data, "BC\xc0\xde", 4) || !memcmp(data, "\xed\x43\x4e\x7f", 4))) return true;
  struct kinds found = {0};
  bool holds_files = size > 8 && (!memcmp(data, "\x7f" "ELF", 4) || !memcmp(data, "!<arch>\n", 8));
  for (size_t at = 0; at == 0 || (holds_files && at < size); at += 2) look_at_fatbin(data + at, size - at, &found);
  return found.lto && !found.ptx;
}

API int nvJitLinkAddData(handle h, int type, const void *data, size_t size, const char *name) {
  if (!h || !data || !size) return INVALID_INPUT;
  struct image image;
  bool lto = type == INPUT_LTOIR || is_lto(data, size);
  if (type == INPUT_LIBRARY && !lto && !device_runtime(data, size, &image))
    return refuse(h, INVALID_INPUT, name, "ptx2amd links PTX, not libraries");
  struct input *all = realloc(h->inputs, (h->count + 1) * sizeof *all);
  char *copy = malloc(size + 1);
  if (all) h->inputs = all;
  if (!all || !copy) {
    free(copy);
    return INTERNAL;
  }
  memcpy(copy, data, size);
  copy[size] = 0;
  h->inputs[h->count++] = (struct input){copy, size, type, lto};
  return SUCCESS;
}

API int nvJitLinkAddFile(handle h, int type, const char *path) {
  if (!h || !path) return INVALID_INPUT;
  FILE *file = fopen(path, "re");
  char *data = NULL;
  size_t size = 0, got;
  if (!file) return refuse(h, INVALID_INPUT, path, "cannot be opened");
  for (char *more; (more = realloc(data, size + 65536)); size += got) {
    data = more;
    if (!(got = fread(data + size, 1, 65536, file))) break;
  }
  fclose(file);
  int result = data && size ? nvJitLinkAddData(h, type, data, size, path) : INVALID_INPUT;
  free(data);
  return result;
}

static bool has_option(handle h, const char *option) {
  for (uint32_t i = 0; i < h->option_count; i++)
    if (!strcmp(h->options[i], option)) return true;
  return false;
}

int nvJitLinkComplete(handle h);
int nvJitLinkGetLinkedPtxSize(handle h, size_t *size);
int nvJitLinkGetLinkedPtx(handle h, char *out);
int nvJitLinkGetErrorLogSize(handle h, size_t *size);
int nvJitLinkGetErrorLog(handle h, char *log);

/* The LTO inputs become one PTX text, by the real library. */
static int compile_lto(handle h) {
  if (!real_function("nvJitLinkCreate") || !REAL(nvJitLinkGetLinkedPtx))
    return refuse(h, NVVM_COMPILE, NULL, "intermediate code (LTO) needs NVIDIA's libnvJitLink, which was not found");
  const char *options[h->option_count + 2];
  uint32_t count = 0;
  for (; count < h->option_count; count++) options[count] = h->options[count];
  if (!has_option(h, "-lto") && !has_option(h, "-dlto")) options[count++] = "-lto";
  if (!has_option(h, "-ptx")) options[count++] = "-ptx";
  handle lto = NULL;
  size_t size = 0;
  int result = REAL(nvJitLinkCreate)(&lto, count, options);
  for (const struct input *i = h->inputs; !result && i < h->inputs + h->count; i++)
    if (i->lto) result = REAL(nvJitLinkAddData)(lto, i->type, i->data, i->size, "input");
  if (!result) result = REAL(nvJitLinkComplete)(lto);
  if (!result) result = REAL(nvJitLinkGetLinkedPtxSize)(lto, &size);
  if (!result && !(h->ptx = calloc(1, size + 1))) result = INTERNAL;
  if (!result) result = REAL(nvJitLinkGetLinkedPtx)(lto, h->ptx);
  if (result && lto && !REAL(nvJitLinkGetErrorLogSize)(lto, &size) && size && size < sizeof h->log)
    REAL(nvJitLinkGetErrorLog)(lto, h->log);
  if (lto) REAL(nvJitLinkDestroy)(&lto);
  return result;
}

static int link_all(handle h) {
  void *cuda = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
  linker *link = cuda ? (linker *)dlsym(cuda, "ptx2amd_link") : NULL;
  if (!link) return refuse(h, INTERNAL, "libcuda.so.1", "not ptx2amd's");
  const void *data[h->count + 1];
  size_t sizes[h->count + 1];
  unsigned count = 0;
  if (h->ptx) data[count] = h->ptx, sizes[count++] = strlen(h->ptx);
  for (const struct input *i = h->inputs; i < h->inputs + h->count; i++)
    if (!i->lto) data[count] = i->data, sizes[count++] = i->size;
  unsigned registers = 0;
  for (uint32_t i = 0; i < h->option_count; i++) sscanf(h->options[i], "-maxrregcount=%u", &registers);
  int result = link(data, sizes, count, registers, &h->linked, &h->linked_size, h->log, sizeof h->log);
  return !result ? SUCCESS : result == 218 /* invalid PTX */ ? PTX_COMPILE : INTERNAL;
}

API int nvJitLinkComplete(handle h) {
  if (!h || h->linked) return INVALID_INPUT;
  if (!h->count) return refuse(h, INVALID_INPUT, NULL, "nothing to link");
  bool lto = false;
  for (unsigned i = 0; i < h->count; i++) lto |= h->inputs[i].lto;
  int result = lto ? compile_lto(h) : SUCCESS;
  return result || has_option(h, "-ptx") ? result : link_all(h);
}

API int nvJitLinkGetLinkedCubinSize(handle h, size_t *size) {
  if (!h || !h->linked || !size) return INVALID_INPUT;
  *size = h->linked_size;
  return SUCCESS;
}

API int nvJitLinkGetLinkedCubin(handle h, void *out) {
  if (!h || !h->linked || !out) return INVALID_INPUT;
  memcpy(out, h->linked, h->linked_size);
  return SUCCESS;
}

API int nvJitLinkGetLinkedPtxSize(handle h, size_t *size) {
  if (!h || !h->ptx || !size) return INVALID_INPUT;
  *size = strlen(h->ptx) + 1;
  return SUCCESS;
}

API int nvJitLinkGetLinkedPtx(handle h, char *out) {
  if (!h || !h->ptx || !out) return INVALID_INPUT;
  strcpy(out, h->ptx);
  return SUCCESS;
}

API int nvJitLinkGetErrorLogSize(handle h, size_t *size) {
  if (!h || !size) return INVALID_INPUT;
  *size = h->log[0] ? strlen(h->log) + 1 : 0;
  return SUCCESS;
}

API int nvJitLinkGetErrorLog(handle h, char *log) {
  if (!h || !log) return INVALID_INPUT;
  if (h->log[0]) strcpy(log, h->log);
  return SUCCESS;
}

API int nvJitLinkGetInfoLogSize(handle h, size_t *size) {
  if (!h || !size) return INVALID_INPUT;
  *size = 0;
  return SUCCESS;
}

API int nvJitLinkGetInfoLog(handle h, char *log) { return h && log ? SUCCESS : INVALID_INPUT; }

/* The real library's, as LTO is left to it. */
API int nvJitLinkVersion(unsigned *major, unsigned *minor) {
  if (!major || !minor) return INVALID_INPUT;
  if (real_function("nvJitLinkVersion")) return REAL(nvJitLinkVersion)(major, minor);
  *major = 12, *minor = 2;
  return SUCCESS;
}

ALIASES(nvJitLinkCreate)
ALIASES(nvJitLinkDestroy)
ALIASES(nvJitLinkAddData)
ALIASES(nvJitLinkAddFile)
ALIASES(nvJitLinkComplete)
ALIASES(nvJitLinkGetLinkedCubinSize)
ALIASES(nvJitLinkGetLinkedCubin)
ALIASES(nvJitLinkGetLinkedPtxSize)
ALIASES(nvJitLinkGetLinkedPtx)
ALIASES(nvJitLinkGetErrorLogSize)
ALIASES(nvJitLinkGetErrorLog)
ALIASES(nvJitLinkGetInfoLogSize)
ALIASES(nvJitLinkGetInfoLog)
ALIASES(nvJitLinkVersion)
