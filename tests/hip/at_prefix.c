/* Preloaded into programs of a tree of packages (tests/rocm.py): files that they look for in /usr and that are not there
 * are those of the tree, AT_PREFIX. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *at(const char *path, char room[4096]) {
  const char *prefix = getenv("AT_PREFIX");
  if (!prefix || strncmp(path, "/usr/", 5) || !access(path, F_OK)) return path;
  return snprintf(room, 4096, "%s%s", prefix, path) < 4096 ? room : path;
}

FILE *fopen(const char *path, const char *mode) {
  static FILE *(*next)(const char *, const char *);
  char room[4096];
  if (!next) next = dlsym(RTLD_NEXT, "fopen");
  return next(at(path, room), mode);
}
FILE *fopen64(const char *path, const char *mode) __attribute__((alias("fopen")));

int open(const char *path, int flags, ...) {
  static int (*next)(const char *, int, ...);
  char room[4096];
  va_list arguments;
  va_start(arguments, flags);
  mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  if (!next) next = dlsym(RTLD_NEXT, "open");
  return next(at(path, room), flags, mode);
}
int open64(const char *path, int flags, ...) __attribute__((alias("open")));
