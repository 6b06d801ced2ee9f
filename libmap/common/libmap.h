/* Common code of CUDA's libraries on ROCm's: they load ROCm's library and find our libcuda at first use (libmap.c). */
#ifndef LIBMAP_H
#define LIBMAP_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hip_types.h"

typedef struct CUstream_st *CUstream;

/* A library and ROCm's library below it, generated from its table. `missing` replaces functions that an older release
 * lacks. `same_names`: that library has functions with the names of ours, and must call its own. */
struct libmap {
  const char *name, *beneath, *packages;
  const char *const *sonames; /* newest first, terminated by NULL */
  const char *const *functions;
  void **slots;
  int count;
  void *missing;
  bool same_names;
};
extern const struct libmap libmap;

/* Functions of our libcuda for these libraries; most return a CUresult. */
struct libmap_driver {
  void (*keep_memory)(void); /* returns nothing; allocations then survive a reset of the device */
  const char *(*chip)(int device); /* "gfx942"; NULL: no such device */
  int (*stream)(CUstream, hipStream_t *);
  int (*synchronize)(CUstream);
  int (*allocate)(uint64_t *, size_t);
  int (*release)(uint64_t);
  int (*copy_in_async)(uint64_t, const void *, size_t, CUstream);
  int (*copy_out_async)(void *, uint64_t, size_t, CUstream);
  int (*copy_in)(uint64_t, const void *, size_t);
  int (*copy_out)(void *, uint64_t, size_t);
  int (*copy_2d)(const void *); /* libmap_copy_2d */
  int (*devices)(int *count);
  int (*keep)(void **context, int device), (*drop)(int device); /* the device's primary context */
  int (*enter)(void *context), (*leave)(void **context); /* it is current; the one before it is again */
  int (*load)(void **library, const void *code, void *, void *, unsigned, void *, void *, unsigned);
  int (*kernel)(void **kernel, void *library, const char *name);
  int (*launch)(void *kernel, unsigned x, unsigned y, unsigned z, unsigned threads, unsigned, unsigned, unsigned shared,
                CUstream, void **parameters, void **);
  int (*capture_mode)(int *); /* exchanges the thread's mode of captures */
};
extern struct libmap_driver libmap_driver;

/* A copy of rows of `width` bytes, to and from host or device memory. Returns a CUresult. */
struct libmap_copy {
  uint64_t address;
  size_t pitch;
};
int libmap_copy_2d(struct libmap_copy to, struct libmap_copy from, size_t width, size_t rows);

/* The version that the library with this soname reports. */
extern const int libmap_version;

/* A library's references to functions that it defines itself become its own. False: the loader or system refused. */
bool libmap_bind_own_functions(void *library);

/* Whether all requirements have been found; if not, a message has been printed. */
bool libmap_ready(void);
/* Loads a ROCm library and finds its functions; on failure prints the reason. */
bool libmap_open(const struct libmap *one);
/* Prints one line to standard error. */
void libmap_say(const char *what, const char *why);
/* Prints once that a function is not supported; returns `answer`. */
int libmap_refuse(int *said, const char *function, int answer);
/* A library property (major, minor, patch) of a decimally encoded version; negative: no such property. */
int libmap_property(int which, int major, int minor, int patch);
#endif
