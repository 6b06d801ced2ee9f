/* LD_AUDIT library. Whatever path a program uses for libcuda (RPATH, a folder of its own), it gets ours. Where there
 * is a libnvJitLink, ours comes in its place, and opens the real one by the name REAL for what it leaves to it.
 * The only calls made are those at the opening of a library. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define API __attribute__((visibility("default")))
#define REAL "ptx2amd-real-nvJitLink"

enum { LENGTH = 4096 };
static char own[LENGTH]; /* folder of this library */
static char real[LENGTH]; /* the libnvJitLink that would have been opened */
static __thread char path[LENGTH];

API unsigned la_version(unsigned version) {
  Dl_info info;
  const char *slash = dladdr(own, &info) ? strrchr(info.dli_fname, '/') : NULL;
  if (slash) snprintf(own, sizeof own, "%.*s", (int)(slash - info.dli_fname), info.dli_fname);
  return version;
}

static char *ours(const char *folder, const char *base) {
  return snprintf(path, sizeof path, "%s%s/%s", own, folder, base) < LENGTH ? path : NULL;
}

static char *replacement(const char *name, unsigned flag) {
  const char *slash = strrchr(name, '/'), *base = slash ? slash + 1 : name;
  if (flag == LA_SER_ORIG && (!strcmp(base, "libcuda.so.1") || !strcmp(base, "libcuda.so"))) return ours("", base);
  if (flag == LA_SER_ORIG && !strcmp(name, REAL)) return *real ? real : NULL;
  if (!slash || strncmp(base, "libnvJitLink.so.", 16) || !strcmp(name, real)) return NULL;
  if ((strcmp(base + 16, "12") && strcmp(base + 16, "13")) || access(name, R_OK)) return NULL;
  snprintf(real, sizeof real, "%s", name);
  return ours("/standin", base);
}

API char *la_objsearch(const char *name, uintptr_t *cookie, unsigned flag) {
  (void)cookie;
  char *other = *own ? replacement(name, flag) : NULL;
  return other ? other : (char *)name;
}
