/* The compute capability that is reported: PTX2AMD_COMPUTE_CAPABILITY, or 8.0, which every toolchain knows.
 * NVIDIA's libraries have machine code for each chip that they know, and PTX for newer chips: such a chip
 * is reported to them. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <execinfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shim.h"

static const struct capability usual = {8, 0}, newer = {13, 0};
static struct capability wanted;
static bool is_wanted;

void capability_read(void) {
  int version = (int)setting_number(SETTING_COMPUTE_CAPABILITY);
  is_wanted = version > 0;
  wanted = (struct capability){version / 100, version % 100};
}

bool capability_is_set(void) { return is_wanted; }

const char *library_at(const void *address) {
  Dl_info found;
  if (!address || !dladdr(address, &found) || !found.dli_fname || !*found.dli_fname) return NULL;
  const char *slash = strrchr(found.dli_fname, '/');
  return slash ? slash + 1 : found.dli_fname;
}

bool has_ptx_for_newer(const char *library) {
  static const char *const begins[] = {"libcublas", "libcudnn", "libcufft", "libcurand", "libcusolver", "libcusparse",
                                       "libnpp", "libnvjpeg"};
  for (unsigned i = 0; i < sizeof begins / sizeof *begins; i++)
    if (!strncmp(library, begins[i], strlen(begins[i]))) return true;
  return false;
}

static struct capability told(const char *library) { return library && has_ptx_for_newer(library) ? newer : usual; }

struct capability capability_for(const void *data) { return is_wanted ? wanted : told(library_at(data)); }

/* The library that called this one, through the runtime library or not. */
struct capability capability_for_caller(void) {
  if (is_wanted) return wanted;
  void *frames[16];
  int count = backtrace(frames, sizeof frames / sizeof *frames);
  for (int i = 1; i < count; i++) {
    const char *library = library_at(frames[i]);
    if (!library || (strncmp(library, "libcudart", 9) && strncmp(library, "libcuda.so", 10))) return told(library);
  }
  return usual;
}
