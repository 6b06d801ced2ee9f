/* NVIDIA's device runtime library: what programs link for launches from kernels, and numba for barriers of a grid. The
 * translator has all of it that there is, and takes this part for it (ptx2amd/service/translation.py). */
#define _GNU_SOURCE
#include <string.h>

#include "linked.h"

static const char text[] = ".version 1.0\n.target sm_10\n.pragma \"ptx2amd device runtime\";\n";

bool device_runtime(const void *data, size_t size, struct image *image) {
  static const char archive[] = "!<arch>\n", member[] = "cuda_device_runtime.o/";
  if (size < sizeof archive - 1 || memcmp(data, archive, sizeof archive - 1)) return false;
  if (!memmem(data, size, member, sizeof member - 1)) return false;
  *image = (struct image){.data = text, .size = sizeof text - 1, .full_size = sizeof text - 1};
  return true;
}
