/* Memory of other processes (hipIpc): a name says where /proc shows the memory file of the process that has it. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kfd.h"

enum { PROCESS, DESCRIPTOR, INODE, SUM };   /* of a name */
#define MAGIC 0x7067u

static uint32_t sum(const uint32_t *name) { return MAGIC ^ name[PROCESS] ^ name[DESCRIPTOR] << 16 ^ name[INODE]; }

int ipc_export(struct kfd_ipc_export *a) {
  uint64_t size;
  struct stat about;
  int fd = memory_file(a->handle, &size);
  if (fd < 0) return fd;
  if (fstat(fd, &about)) return -errno;
  a->name[PROCESS] = (uint32_t)getpid();
  a->name[DESCRIPTOR] = (uint32_t)fd;
  a->name[INODE] = (uint32_t)about.st_ino;
  a->name[SUM] = sum(a->name);
  return 0;
}

int ipc_import(struct kfd_ipc_import *a) {
  char path[64];
  struct stat about;
  struct gpu *g = gpu_by_id(a->gpu_id);
  if (!g || a->name[SUM] != sum(a->name)) return -EINVAL;
  snprintf(path, sizeof path, "/proc/%u/fd/%u", a->name[PROCESS], a->name[DESCRIPTOR]);
  int fd = open(path, O_RDWR | O_CLOEXEC);
  if (fd < 0) return -errno;
  bool same = !fstat(fd, &about) && (uint32_t)about.st_ino == a->name[INODE];   /* else the memory is gone */
  int error = same ? memory_import(g, a->va, memfile_size(fd), fd, &a->handle) : -EINVAL;
  close(fd);
  a->mmap_offset = a->handle << 12;
  a->flags = 0;
  return error;
}
