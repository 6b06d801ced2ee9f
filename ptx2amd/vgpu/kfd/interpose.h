/* The files that represent the driver (interpose.c). */
#ifndef PTX2AMD_KFD_INTERPOSE_H
#define PTX2AMD_KFD_INTERPOSE_H
#include <dlfcn.h>

#include "kfd.h"

/* libc's function that this one replaces. */
#define REAL(name) \
  static __typeof__(name) *real; \
  if (!real) real = (__typeof__(name) *)dlsym(RTLD_NEXT, #name)

/* The GPU whose render node the file represents; NULL: another file. */
struct gpu *render_gpu(int fd);
/* A file of the GPU's render node that stays open; -1: the system returned an error. */
int render_fd(struct gpu *g);
#endif
