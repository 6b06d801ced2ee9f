/* LD_AUDIT library. Whatever path a program uses for libcuda (RPATH, a folder of its own), it gets ours. Where there
 * is a library that STANDINS names, ours comes in its place, and opens the real one as PREFIX and that name. So does
 * ours over ROCm's for libraries that PTX2AMD_SERVED names, whether the real one is there or not.
 * The only calls made are those at the opening of a library. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "settings.h"

#define API __attribute__((visibility("default")))
#define PREFIX "ptx2amd-real-"

enum { LENGTH = 4096, STANDINS = 5 };
static const char *const standins[STANDINS] = {"libnvJitLink.so.12", "libnvJitLink.so.13", "libnvrtc.so.11.2",
                                               "libnvrtc.so.12", "libnvrtc.so.13"};
static char real[STANDINS][LENGTH]; /* the library that would have been opened */
static char own[LENGTH]; /* folder of this library */
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

static int is_ours(const char *name) {
  size_t length = strlen(own);
  return !strncmp(name, own, length) && !strncmp(name + length, "/standin/", 9);
}

static int standin(const char *base) {
  int i = 0;
  while (i < STANDINS && strcmp(standins[i], base)) i++;
  return i;
}

/* Whether a name stands in a list of names with colons between them. */
static int listed(const char *list, const char *name) {
  size_t length = strlen(name);
  for (const char *at = list; (at = strstr(at, name)); at += length)
    if ((at == list || at[-1] == ':') && (!at[length] || at[length] == ':')) return 1;
  return 0;
}

static char *replacement(const char *name, unsigned flag) {
  const char *slash = strrchr(name, '/'), *base = slash ? slash + 1 : name;
  /* One file for both names: in a wheel, which has no links, they are two, and would be two drivers in one process. */
  if (flag == LA_SER_ORIG && (!strcmp(base, "libcuda.so.1") || !strcmp(base, "libcuda.so"))) return ours("", "libcuda.so.1");
  if (flag == LA_SER_ORIG && *base && listed(setting_text(SETTING_SERVED), base)) return ours("/libmap", base);
  if (flag == LA_SER_ORIG && !strncmp(name, PREFIX, sizeof PREFIX - 1)) {
    int i = standin(name + sizeof PREFIX - 1);
    return i < STANDINS && *real[i] ? real[i] : NULL;
  }
  int i = standin(base);
  if (!slash || i == STANDINS || is_ours(name) || access(name, R_OK)) return NULL;
  snprintf(real[i], LENGTH, "%s", name);
  return ours("/standin", base);
}

API char *la_objsearch(const char *name, uintptr_t *cookie, unsigned flag) {
  (void)cookie;
  char *other = *own ? replacement(name, flag) : NULL;
  return other ? other : (char *)name;
}
