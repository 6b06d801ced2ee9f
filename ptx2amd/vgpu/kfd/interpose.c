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

/* The topology's folder has two names. NULL: the path is not in it. */
static const char *topology_path(const char *path, char buffer[256]) {
  static const char class[] = "/sys/class/kfd/kfd/";
  bool in_class = path && starts(path, class);
  if (!path || !(in_class || starts(path, "/sys/devices/virtual/kfd/")) || !kfd_active()) return NULL;
  if (!in_class) return path;
  snprintf(buffer, 256, "/sys/devices/virtual/kfd/kfd/%s", path + strlen(class));
  return buffer;
}

/* False: not one of ours; otherwise *fd is set. */
static bool open_ours(const char *path, int *fd) {
  char buffer[256];
  if (!path || path[0] != '/') return false;
  if (!strcmp(path, "/dev/kfd") && kfd_active()) return *fd = node_open(0), true;
  if (starts(path, "/dev/dri/renderD") && kfd_active()) {
    unsigned minor = (unsigned)atoi(path + strlen("/dev/dri/renderD")), index = minor - RENDER_MINOR;
    if (index >= gpu_count) return errno = ENOENT, *fd = -1, true;
    return *fd = node_open(index + 1), true;
  }
  const char *there = topology_path(path, buffer);
  if (there && (*fd = file_open(there)) < 0) errno = ENOENT;
  return there;
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

/* A regular file or a folder of the topology; false: leave it to the system. */
static bool describe(const char *path, mode_t *mode, off_t *size, int *result) {
  char buffer[256];
  struct stat about;
  const char *there = topology_path(path, buffer);
  if (!there) return false;
  bool folder;
  file_entry(there, 0, &folder);
  int fd = folder ? -1 : file_open(there);
  *mode = folder ? S_IFDIR | 0755 : S_IFREG | 0444;
  *size = fd >= 0 && !fstat(fd, &about) ? about.st_size : 0;
  *result = folder || fd >= 0 ? 0 : -1;
  if (*result) errno = ENOENT;
  if (fd >= 0) close(fd);
  return true;
}

#define STAT(name, type) \
  API int name(const char *restrict path, struct type *restrict about) { \
    REAL(name); \
    mode_t mode; \
    off_t size; \
    int result; \
    if (!describe(path, &mode, &size, &result)) return real(path, about); \
    if (!result) *about = (struct type){.st_mode = mode, .st_size = size, .st_nlink = 1}; \
    return result; \
  }
STAT(stat, stat)
STAT(lstat, stat)
STAT(stat64, stat64)
STAT(lstat64, stat64)

API int access(const char *path, int mode) {
  REAL(access);
  mode_t kind;
  off_t size;
  int result;
  if (!describe(path, &kind, &size, &result)) return real(path, mode);
  return !result && mode & W_OK ? (errno = EACCES, -1) : result;
}

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
  char buffer[256];
  const char *there = topology_path(path, buffer);
  if (!there) return real(path);
  bool found;
  file_entry(there, 0, &found);
  struct folder *f = found ? calloc(1, sizeof *f) : NULL;
  if (!f) return errno = found ? ENOMEM : ENOENT, NULL;
  snprintf(f->path, sizeof f->path, "%s", there);
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
