/* LD_AUDIT library of `ptx2amd run --hip`: whatever path a program uses for libamdhip64 or librocm_smi64 (RPATH, a
 * folder of its own), the loader opens our library, which is in the same folder as this file. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define API __attribute__((visibility("default")))
#define NAME "libamdhip64.so"

enum { LENGTH = 4096 };
static char own[LENGTH];          /* folder of this library */
static __thread char path[LENGTH];

API unsigned la_version(unsigned version) {
  Dl_info info;
  const char *slash = dladdr(own, &info) ? strrchr(info.dli_fname, '/') : NULL;
  if (slash) snprintf(own, sizeof own, "%.*s", (int)(slash - info.dli_fname), info.dli_fname);
  return version;
}

/* The soname of our replacement for this library; NULL: another library. "libamdhip64.so.7.2.53211" becomes
 * "libamdhip64.so.7". */
static const char *replaced(const char *base) {
  static const char *const names[] = {NAME ".5", NAME ".6", NAME ".7", "librocm_smi64.so.7"};
  if (!strcmp(base, NAME)) return NAME;
  for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
    size_t length = strlen(names[k]);
    if (!strncmp(base, names[k], length) && (!base[length] || base[length] == '.')) return names[k];
  }
  return NULL;
}

API char *la_objsearch(const char *name, uintptr_t *cookie, unsigned flag) {
  (void)cookie;
  const char *slash = strrchr(name, '/'), *ours = replaced(slash ? slash + 1 : name);
  if (!ours || !*own || flag != LA_SER_ORIG) return (char *)name;
  return snprintf(path, sizeof path, "%s/%s", own, ours) < LENGTH ? path : (char *)name;
}
