/* Modules and kernels. A CUmodule and a CUlibrary are the same object, so are a CUfunction and a CUkernel: every
 * call accepts either. What depends on the device is made when a device first needs it. */
#ifndef SHIM_MODULE_H
#define SHIM_MODULE_H

#include "cache.h"
#include "image.h"
#include "jit.h"
#include "shim.h"

struct parameter { uint32_t offset, size, align; };

/* A kernel's code on one device. */
struct kernel_code {
  void *function, *module; /* HIP's */
  int max_threads, static_shared, local, vgprs, sgprs, wave;
  char mapping[16];
};

struct kernel {
  struct handle h;
  struct module *module;
  const char *name;
  struct parameter *parameters;
  uint32_t parameter_count, parameter_bytes;
  int max_threads, required[3], static_shared, local; /* what the PTX says; max_threads 0: nothing */
  const char *refused;                                /* why it cannot be translated, or NULL */
  int dynamic_limit, carveout, cache_config;
  bool loading;                                       /* a thread is at it */
  CUresult failed;                                    /* sticky result of a translation that failed */
  struct kernel_code *code[MAX_DEVICES];
  struct legacy *legacy;                              /* cuParamSet... state */
};

struct variable { const char *name; uint64_t offset, size; bool managed; };
struct relocation { uint64_t at, target; };

struct module {
  struct handle h;
  struct context *context;   /* where it was loaded; NULL for libraries */
  bool library;
  char id[65], name[64];
  struct image image;        /* kept for the translation of its kernels */
  void *owned_image;         /* our copy, unless the program keeps the image alive */
  struct cache_entry index;  /* names point into it */
  int ptx_major, ptx_minor, target;
  struct kernel **kernels;   /* sorted by name */
  struct variable *variables;
  struct relocation *relocations;
  uint32_t kernel_count, variable_count, relocation_count;
  uint64_t segment_size, segment_align;
  uint64_t segment[MAX_DEVICES];
  pthread_mutex_t lock;
};

/* ---- index.c ---- */
CUresult index_parse(struct module *m, char *problem, size_t size);
void index_drop(struct module *m);

/* ---- module.c ---- */
CUresult module_load(const void *data, size_t size, bool library, bool preserved, struct jit *jit,
                     struct module **out);
void module_drop(struct module *m);
void modules_drop(struct context *c);
struct module *module_checked(const void *handle);
struct kernel *module_kernel(struct module *m, const char *name);
struct variable *module_variable(struct module *m, const char *name);
CUresult module_segment(struct module *m, int device, uint64_t *address); /* allocates at first use */
CUresult read_file(const char *path, void **data, size_t *size);

/* ---- kernel.c ---- */
static inline struct kernel *kernel_checked(const void *handle) {
  return handle_ok(HANDLE_KERNEL, handle) ? (struct kernel *)handle : NULL;
}
CUresult kernel_load(struct kernel *k, int device); /* translates and loads; messages when it fails */
static inline CUresult kernel_code(struct kernel *k, int device, struct kernel_code **code) {
  *code = __atomic_load_n(&k->code[device], __ATOMIC_ACQUIRE);
  if (__builtin_expect(*code != NULL, 1)) return CUDA_SUCCESS;
  CUresult result = kernel_load(k, device);
  *code = k->code[device];
  return result;
}
void kernel_drop_code(struct kernel *k);

/* Asks the cache, then the service. `kernel`: NULL for the index. */
CUresult translate(struct module *m, const struct kernel *kernel, int device, struct cache_entry *entry,
                   char **problem);
void translated_line(const char *line, const char *key, int *value); /* "key N" */

/* ---- launch.c: CUDA's ways to pass parameters, as one buffer ---- */
enum { PARAMETER_BYTES_MAX = 32764 };
CUresult pack_parameters(const struct kernel *k, void **params, void **extra, void *buffer, size_t *size);

#endif
