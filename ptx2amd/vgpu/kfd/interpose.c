/* Replacements of libc's file functions (LD_PRELOAD): /dev/kfd, the render nodes and the topology's folder are handled
 * here if the process has software GPUs. Open files of the driver are empty memory files; their inode identifies the
 * GPU, so that duplicated descriptors and reused numbers are handled correctly. */
#define _GNU_SOURCE
#include "interpose.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- the driver's files --- */

static struct node { int fd; dev_t device; ino_t inode; } nodes[1 + MAX_GPUS];   /* 0: /dev/kfd, then the GPUs' render nodes */
static _Atomic bool any_node;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* The node's file, which stays open. */
static int node_fd(unsigned index) {
  struct node *n = &nodes[index];
  pthread_mutex_lock(&lock);
  if (!any_node || !n->inode) {
    struct stat about;
    int fd = memfd_create(index ? "kfd-render" : "kfd", MFD_CLOEXEC);
    if (fd >= 0 && !fstat(fd, &about)) *n = (struct node){fd, about.st_dev, about.st_ino};
    any_node = true;
  }
  int fd = n->inode ? n->fd : -1;
  pthread_mutex_unlock(&lock);
  return fd;
}

static int node_open(unsigned index) { return fcntl(node_fd(index), F_DUPFD_CLOEXEC, 3); }

/* Index of the node that the file represents, or -1. */
static int node_of(int fd) {
  struct stat about;
  if (fd < 0 || !any_node) return -1;
  int before = errno;
  int found = -1;
  if (!fstat(fd, &about))
    for (unsigned k = 0; k <= gpu_count && found < 0; k++)
      if (nodes[k].inode == about.st_ino && nodes[k].device == about.st_dev) found = (int)k;
  errno = before;
  return found;
}

struct gpu *render_gpu(int fd) {
  int index = node_of(fd);
  return index > 0 ? &gpus[index - 1] : NULL;
}
int render_fd(struct gpu *g) { return node_fd(g->node); }

/* --- paths --- */

static bool starts(const char *path, const char *with) { return !strncmp(path, with, strlen(with)); }

/* -1: not one of ours; otherwise *fd is set. */
static bool open_ours(const char *path, int *fd) {
  if (!path || path[0] != '/') return false;
  if (!strcmp(path, "/dev/kfd") && kfd_active()) return *fd = node_open(0), true;
  if (starts(path, "/dev/dri/renderD") && kfd_active()) {
    unsigned minor = (unsigned)atoi(path + strlen("/dev/dri/renderD")), index = minor - RENDER_MINOR;
    if (index >= gpu_count) return errno = ENOENT, *fd = -1, true;
    return *fd = node_open(index + 1), true;
  }
  if ((starts(path, "/sys/devices/virtual/kfd/") || starts(path, "/sys/class/kfd/")) && kfd_active()) {
    static const char class[] = "/sys/class/kfd/kfd/";
    char path_there[256];
    if (starts(path, class)) snprintf(path_there, sizeof path_there, "/sys/devices/virtual/kfd/kfd/%s", path + strlen(class));
    else snprintf(path_there, sizeof path_there, "%s", path);
    if ((*fd = file_open(path_there)) < 0) errno = ENOENT;
    return true;
  }
  return false;
}

#define OPEN(name, parameters, arguments) \
  API int name parameters { \
    REAL(name); \
    int fd; \
    return open_ours(path, &fd) ? fd : real arguments; \
  }
#define OPEN_WITH_MODE(name) \
  API int name(const char *path, int flags, ...) { \
    REAL(name); \
    int fd; \
    if (open_ours(path, &fd)) return fd; \
    mode_t mode = 0; \
    if (flags & (O_CREAT | __O_TMPFILE)) { \
      va_list values; \
      va_start(values, flags); \
      mode = va_arg(values, mode_t); \
      va_end(values); \
    } \
    return real(path, flags, mode); \
  }
int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);
OPEN_WITH_MODE(open)
OPEN_WITH_MODE(open64)
OPEN(__open_2, (const char *path, int flags), (path, flags))
OPEN(__open64_2, (const char *path, int flags), (path, flags))

#define FOPEN(name) \
  API FILE *name(const char *restrict path, const char *restrict mode) { \
    REAL(name); \
    int fd; \
    if (!open_ours(path, &fd)) return real(path, mode); \
    return fd < 0 ? NULL : fdopen(fd, "r"); \
  }
FOPEN(fopen)
FOPEN(fopen64)

/* --- folders --- */

struct folder {
  struct folder *next;
  char path[256];
  unsigned at;
  struct dirent entry;
};
static struct folder *folders;

static struct folder *folder_of(DIR *d) {
  pthread_mutex_lock(&lock);
  struct folder *f = folders;
  while (f && (DIR *)f != d) f = f->next;
  pthread_mutex_unlock(&lock);
  return f;
}

API DIR *opendir(const char *path) {
  REAL(opendir);
  if (!starts(path, "/sys/devices/virtual/kfd/") || !kfd_active()) return real(path);
  bool found;
  file_entry(path, 0, &found);
  struct folder *f = found ? calloc(1, sizeof *f) : NULL;
  if (!f) return errno = found ? ENOMEM : ENOENT, NULL;
  snprintf(f->path, sizeof f->path, "%s", path);
  pthread_mutex_lock(&lock);
  f->next = folders;
  folders = f;
  pthread_mutex_unlock(&lock);
  return (DIR *)f;
}

API struct dirent *readdir(DIR *d) {
  REAL(readdir);
  struct folder *f = folder_of(d);
  if (!f) return real(d);
  bool found;
  const char *name = file_entry(f->path, f->at, &found);
  if (!name) return NULL;
  f->entry = (struct dirent){.d_ino = ++f->at, .d_type = DT_UNKNOWN};
  snprintf(f->entry.d_name, sizeof f->entry.d_name, "%s", name);
  return &f->entry;
}
_Static_assert(sizeof(struct dirent) == sizeof(struct dirent64), "one structure for both");
API struct dirent64 *readdir64(DIR *d) {
  REAL(readdir64);
  return folder_of(d) ? (struct dirent64 *)(void *)readdir(d) : real(d);
}

API int closedir(DIR *d) {
  REAL(closedir);
  struct folder *f = folder_of(d);
  if (!f) return real(d);
  pthread_mutex_lock(&lock);
  struct folder **p = &folders;
  while (*p != f) p = &(*p)->next;
  *p = f->next;
  pthread_mutex_unlock(&lock);
  free(f);
  return 0;
}

/* --- requests and mappings --- */

API int ioctl(int fd, unsigned long request, ...) {
  REAL(ioctl);
  va_list values;
  va_start(values, request);
  void *argument = va_arg(values, void *);
  va_end(values);
  int node = node_of(fd);
  if (node < 0) return real(fd, request, argument);
  int error = node ? -ENOTTY : kfd_request((unsigned)request & 0xff, argument);
  return error < 0 ? (errno = -error, -1) : error;
}

#define MMAP(name) \
  API void *name(void *address, size_t size, int protection, int flags, int fd, off_t offset) { \
    REAL(name); \
    if (node_of(fd) >= 0) return kfd_map(address, size, protection, offset); \
    return real(address, size, protection, flags, fd, offset); \
  }
MMAP(mmap)
MMAP(mmap64)
