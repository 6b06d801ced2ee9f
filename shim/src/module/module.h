/* Modules and kernels. A CUmodule and a CUlibrary are the same object, so are a CUfunction and a CUkernel: every
 * call accepts either. What depends on the device is made when a device first needs it. */
#ifndef SHIM_MODULE_H
#define SHIM_MODULE_H

#include "cache.h"
#include "image.h"
#include "interface_arena.h"
#include "interface_kernel.h"
#include "interface_launch_words.h"
#include "interface_module.h"
#include "jit.h"
#include "shim.h"

/* A kernel's code on one device. */
struct kernel_code {
  hipFunction_t function;
  hipModule_t module;
  unsigned spread; /* lanes that a thread takes: 2 in the padded warp mapping, which doubles blocks in x */
  struct kernel_properties properties;
  char *text;      /* that they lead into */
};
/* Why it is padded, or NULL. */
static inline const char *hazard_of(const struct kernel_code *code) {
  return code->properties.hazard_count ? code->properties.hazards[0] : NULL;
}

/* What a launch needs that is not known when the kernel is translated. */
enum variant {
  SPILLED = 1,   /* more shared memory than the chip has */
  PADDED = 2,    /* pointers of one allocation, by which warps may wait for each other */
  WIDE = 4,      /* more blocks than the code is made for */
  VARIANTS = 8
};

struct kernel {
  struct handle h;
  struct module *module;
  const char *name;
  struct index_kernel index;                          /* what its PTX says */
  uint32_t parameter_bytes;
  int dynamic_limit, carveout, cache_config; /* the first two: 0 unset, else one more */
  int large_clusters, cluster_policy;        /* kept for those who ask: clusters are of one block */
  bool loading;                                       /* a thread is at it */
  CUresult failed[VARIANTS][MAX_DEVICES];             /* why it cannot run, now and later */
  struct kernel_code *code[VARIANTS][MAX_DEVICES];
  struct legacy *legacy;                              /* cuParamSet... state */
};
FITS(struct kernel, SLOT_KERNEL);

struct module {
  struct handle h;
  struct context *context;   /* where it was loaded; NULL for libraries */
  bool library, no_image;    /* no_image: a library of machine code, which says so when asked for what is in it */
  char id[65], name[64];
  struct image image;        /* kept for the translation of its kernels */
  void *owned_image;         /* our copy, unless the program keeps the image alive */
  struct cache_entry entry;  /* of its index; names point into it */
  struct module_index index; /* its variables are sorted by name */
  struct kernel **kernels;   /* sorted by name */
  uint32_t kernel_count;
  uint64_t segment[MAX_DEVICES];
  pthread_mutex_t lock;
};
FITS(struct module, SLOT_MODULE);

/* ---- index.c ---- */
CUresult index_parse(struct module *m, char *problem, size_t size);
void index_drop(struct module *m);

/* ---- module.c ---- */
CUresult module_load(const void *data, size_t size, bool library, bool preserved, struct jit *jit,
                     struct module **out);
void module_drop(struct module *m);
void modules_drop(struct context *c);
void libraries_reset(int device); /* variables have their initial values again */
struct module *module_checked(const void *handle);
struct kernel *module_kernel(struct module *m, const char *name);
struct index_variable *module_variable(struct module *m, const char *name);
CUresult module_segment(struct module *m, int device, uint64_t *address); /* allocates at first use */
const char *segment_initial(uint64_t address, size_t *size); /* what a device address held at first, or NULL */
CUresult read_file(const char *path, void **data, size_t *size);
void image_id(const struct image *image, char id[65]); /* a digest, which names a module in the cache */

/* ---- kernel.c ---- */
static inline struct kernel *kernel_checked(const void *handle) {
  return handle_ok(HANDLE_KERNEL, handle) ? (struct kernel *)handle : NULL;
}
CUresult kernel_load(struct kernel *k, int device, unsigned variant); /* translates and loads; messages when it fails */
static inline CUresult kernel_variant(struct kernel *k, int device, unsigned variant, struct kernel_code **code) {
  *code = __atomic_load_n(&k->code[variant][device], __ATOMIC_ACQUIRE);
  if (__builtin_expect(*code != NULL, 1)) return CUDA_SUCCESS;
  CUresult result = kernel_load(k, device, variant);
  *code = k->code[variant][device];
  return result;
}
static inline CUresult kernel_code(struct kernel *k, int device, struct kernel_code **code) {
  return kernel_variant(k, device, 0, code);
}
/* The code for launches with so much dynamic shared memory. */
static inline CUresult kernel_code_for(struct kernel *k, int device, size_t shared, struct kernel_code **code) {
  CUresult result = kernel_code(k, device, code);
  if (result || (*code)->properties.spilled || (size_t)(*code)->properties.static_shared + shared <= (size_t)devices[device].lds) return result;
  return kernel_variant(k, device, SPILLED, code);
}
void kernel_drop_code(struct kernel *k);

/* Asks the cache, then the service. */
CUresult translate(struct module *m, const struct kernel *kernel, int device, unsigned variant,
                   struct cache_entry *entry, char **problem);
/* The same for a module's index. check: "text" for PTX that nobody has judged, "link" for a link's result, or NULL. */
CUresult translate_index(struct module *m, const char *check, struct cache_entry *entry, char **problem);
/* Whether an image that is to be linked is PTX; names it `name` in messages. */
CUresult check_text(const struct image *image, const char *name, char **problem);

/* ---- arena.c ---- */
enum { LAUNCH_WORDS = sizeof(struct launch_words) / 8, LAUNCH_ROOM = sizeof(struct launch_words) + 16 }; /* behind parameters */
/* Shared memory that a block can have: in LDS, or in a slot of the arena. */
static inline int most_shared(int device) {
  return devices[device].lds > BLOCK_SHARED_LIMIT ? devices[device].lds : BLOCK_SHARED_LIMIT;
}
CUresult arena_prepare(int device, uint64_t *address); /* allocates at first use */
CUresult launch_words(const struct kernel *k, const struct kernel_code *code, int device, unsigned shared,
                      bool cooperative, uint64_t records, char *buffer, size_t *size);
void point_at_parameters(const struct kernel *k, const struct kernel_code *code, char *buffer, void **pointers);
unsigned launch_lds(const struct kernel_code *code, int device, unsigned shared); /* dynamic LDS to ask HIP for */
int resident_slots(const struct kernel_code *code, int blocks); /* of `blocks` a processor, how many have slots */

/* ---- occupancy.c ---- */
int most_threads(const struct kernel *k, const struct kernel_code *code); /* of a block, as reported to programs */
CUresult active_blocks(struct kernel *k, int device, int block, size_t dynamic, int *blocks); /* of a processor, likewise */
/* Dynamic shared memory that a launch may ask for. */
static inline int dynamic_limit(const struct kernel *k) {
  enum { WITHOUT_ASKING = 49152 }; /* with the static part */
  int free = WITHOUT_ASKING - k->index.static_shared;
  return k->dynamic_limit ? k->dynamic_limit - 1 : free > 0 ? free : 0;
}

/* ---- launch.c: CUDA's ways to pass parameters, as one buffer ---- */
enum { PARAMETER_BYTES_MAX = 32764 };
struct shape { unsigned grid[3], block[3], shared; };
struct launch {
  struct kernel *kernel;
  struct shape shape;
  int device;
  hipStream_t stream;
  void **params, **extra;
  bool cooperative;
  uint64_t records; /* for what the kernel launches (children.h); 0: to be made, if it may */
};
CUresult kernel_launch(const struct launch *launch);
CUresult shape_checked(const struct kernel *k, const struct kernel_code *code, const struct shape *s); /* says why not */
CUresult pack_parameters(const struct kernel *k, void **params, void **extra, void *buffer, size_t *size);
/* `code` becomes that for the grid, the block's shape, and the pointers among the packed parameters. */
CUresult code_for_launch(struct kernel *k, int device, const struct shape *s, const char *buffer,
                         struct kernel_code **code);


/* ---- trace.c ---- */
void trace_module(const struct module *m);
#endif
