/* The files that stand for the driver (interpose.c). */
#ifndef PTX2AMD_KFD_INTERPOSE_H
#define PTX2AMD_KFD_INTERPOSE_H
#include <dlfcn.h>

#include "kfd.h"

/* The function that this one stands before. */
#define REAL(name) \
  static __typeof__(name) *real; \
  if (!real) real = (__typeof__(name) *)dlsym(RTLD_NEXT, #name)

/* The GPU whose render node the file is, NULL: another file. */
struct gpu *render_gpu(int fd);
/* A file of the GPU's render node that stays open; -1: the system gives none. */
int render_fd(struct gpu *g);
#endif
