/* What CUDA's libraries over ROCm's share: they find the library beneath and our libcuda at first use (libmap.c). */
#ifndef LIBMAP_H
#define LIBMAP_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hip_types.h"

typedef struct CUstream_st *CUstream;

/* A library and the one beneath, generated from its table. `missing` stands for functions that an older release lacks. */
struct libmap {
  const char *name, *beneath, *packages;
  const char *const *sonames; /* newest first, NULL at the end */
  const char *const *functions;
  void **slots;
  int count;
  void *missing;
};
extern const struct libmap libmap;

/* What our libcuda does for them; each gives a CUresult. */
struct libmap_driver {
  void (*keep_memory)(void); /* gives nothing: what is on a device stays when that is reset */
  int (*stream)(CUstream, hipStream_t *);
  int (*synchronize)(CUstream);
  int (*allocate)(uint64_t *, size_t);
  int (*release)(uint64_t);
  int (*copy_in_async)(uint64_t, const void *, size_t, CUstream);
  int (*copy_out_async)(void *, uint64_t, size_t, CUstream);
  int (*copy_in)(uint64_t, const void *, size_t);
  int (*copy_out)(void *, uint64_t, size_t);
};
extern struct libmap_driver libmap_driver;

/* The version that a library of this soname answers. */
extern const int libmap_version;

/* Whether all that is needed has been found; else it was said why. */
bool libmap_ready(void);
/* Opens a library beneath and finds its functions; else it says why not. */
bool libmap_open(const struct libmap *one);
/* One line on standard error. */
void libmap_say(const char *what, const char *why);
/* Says once that a function is not supported; gives `answer`. */
int libmap_refuse(int *said, const char *function, int answer);
/* A library's property (major, minor, patch) of a version in decimal parts; negative: there is no such. */
int libmap_property(int which, int major, int minor, int patch);
#endif
