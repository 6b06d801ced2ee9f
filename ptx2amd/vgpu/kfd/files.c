/* Virtual files: a list of paths with contents. Folders are the prefixes of paths. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kfd.h"

static struct file { char *path, *text; } *list;
static unsigned count;

void file_add(const char *path, const char *format, ...) {
  struct file *more = realloc(list, (count + 1) * sizeof *list);
  if (!more) return;
  list = more;
  va_list values;
  va_start(values, format);
  list[count].path = strdup(path);
  if (vasprintf(&list[count].text, format, values) < 0) list[count].text = NULL;
  va_end(values);
  if (list[count].path && list[count].text) count++;
}

int file_open(const char *path) {
  for (unsigned k = 0; k < count; k++) {
    if (strcmp(list[k].path, path)) continue;
    int fd = memfd_create("kfd-file", MFD_CLOEXEC);
    size_t size = strlen(list[k].text);
    if (fd < 0 || (size_t)pwrite(fd, list[k].text, size, 0) == size) return fd;
    close(fd);
  }
  return -1;
}

/* The part of the path below the folder; NULL: it is not inside. */
static const char *below(const char *folder, const char *path) {
  size_t n = strlen(folder);
  while (n && folder[n - 1] == '/') n--;
  return !strncmp(path, folder, n) && path[n] == '/' ? path + n + 1 : NULL;
}

const char *file_entry(const char *folder, unsigned index, bool *found) {
  static _Thread_local char name[256];
  unsigned seen = 0;
  const char *last = "";
  *found = false;
  for (unsigned k = 0; k < count; k++) {   /* the files of a folder follow one another */
    const char *rest = below(folder, list[k].path);
    if (!rest) continue;
    *found = true;
    size_t n = strcspn(rest, "/");
    if (!strncmp(last, rest, n) && last[n] == rest[n]) continue;
    last = rest;
    if (seen++ < index) continue;
    snprintf(name, sizeof name, "%.*s", (int)n, rest);
    return name;
  }
  return NULL;
}

bool files_copy(const char *folder, const char *target, bool (*write)(const char *path, const char *text)) {
  bool ok = true;
  for (unsigned k = 0; k < count && ok; k++) {
    const char *rest = below(folder, list[k].path);
    char *path = NULL;
    if (!rest) continue;
    ok = asprintf(&path, "%s/%s", target, rest) >= 0 && write(path, list[k].text);
    free(path);
  }
  return ok;
}
