/* Memory files: memory that processes hand to each other as descriptors, as the driver's buffers are. Behind the memory, a
 * page of the file says that it is one, and keeps what libdrm's users write about a buffer. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kfd.h"

#define MAGIC 0x796d656d2d64666bull
enum { PAGE = 4096 };
struct trailer { uint64_t magic, size; struct buffer_metadata metadata; };
_Static_assert(sizeof(struct trailer) <= PAGE, "fits");

int memfile_new(uint64_t size) {
  struct trailer t = {.magic = MAGIC, .size = size};
  int fd = memfd_create("kfd-memory", MFD_CLOEXEC);
  if (fd < 0) return -1;
  bool ok = size % PAGE == 0 && !ftruncate(fd, (off_t)(size + PAGE)) && pwrite(fd, &t, sizeof t, (off_t)size) == sizeof t;
  return ok ? fd : (close(fd), errno = ENOMEM, -1);
}

static bool read_trailer(int fd, struct trailer *t) {
  struct stat about;
  if (fstat(fd, &about) || !S_ISREG(about.st_mode) || about.st_size <= PAGE) return false;
  bool read = pread(fd, t, sizeof *t, about.st_size - PAGE) == sizeof *t;
  return read && t->magic == MAGIC && t->size == (uint64_t)about.st_size - PAGE;
}

/* A memory file of another library, such as a software Vulkan driver: no other kind of file has seals. */
static uint64_t foreign_size(int fd) {
  struct stat about;
  bool memory = fcntl(fd, F_GET_SEALS) >= 0 && !fstat(fd, &about) && about.st_size % PAGE == 0;
  return memory ? (uint64_t)about.st_size : 0;
}

uint64_t memfile_size(int fd) {
  struct trailer t;
  return read_trailer(fd, &t) ? t.size : foreign_size(fd);
}

bool memfile_metadata(int fd, struct buffer_metadata *metadata) {
  struct trailer t = {0};
  if (!read_trailer(fd, &t) && !foreign_size(fd)) return false;
  *metadata = t.metadata;
  return true;
}

bool memfile_set_metadata(int fd, const struct buffer_metadata *metadata) {
  enum { AT = offsetof(struct trailer, metadata) };
  off_t at = (off_t)memfile_size(fd) + AT;
  return at > AT && pwrite(fd, metadata, sizeof *metadata, at) == sizeof *metadata;
}
