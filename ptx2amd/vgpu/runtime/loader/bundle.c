/* Where a code object comes from: memory of unknown size and doubtful content, bare or in a clang offload bundle. */
#define _GNU_SOURCE
#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "hip_state.h"

#define LIMIT ((size_t)2 << 30)

/* memcpy that fails where memcpy would crash. */
static bool read_memory(void *to, const void *from, size_t size) {
  while (size > 0) {
    struct iovec local = {to, size}, remote = {(void *)from, size};
    ssize_t n = process_vm_readv(getpid(), &local, 1, &remote, 1, 0);
    if (n < 0 && (errno == ENOSYS || errno == EPERM)) {   /* a sandbox: trust the caller */
      memcpy(to, from, size);
      return true;
    }
    if (n <= 0) return false;
    to = (char *)to + n;
    from = (const char *)from + n;
    size -= (size_t)n;
  }
  return true;
}

static size_t max(size_t a, size_t b) { return a > b ? a : b; }

/* The extent of the ELF file at data by its own headers; 0: unreadable or absurd. */
static size_t elf_extent(const char *data) {
  Elf64_Ehdr h;
  if (!read_memory(&h, data, sizeof h) || h.e_phentsize != sizeof(Elf64_Phdr)) return 0;
  size_t size = sizeof h;
  if (h.e_phoff > LIMIT || h.e_shoff > LIMIT) return 0;
  if (h.e_shnum) size = max(size, h.e_shoff + (size_t)h.e_shnum * h.e_shentsize);
  size = max(size, h.e_phoff + (size_t)h.e_phnum * h.e_phentsize);
  for (unsigned k = 0; k < h.e_phnum; k++) {
    Elf64_Phdr p;
    if (!read_memory(&p, data + h.e_phoff + k * sizeof p, sizeof p)) return 0;
    if (p.p_offset > LIMIT || p.p_filesz > LIMIT) return 0;
    size = max(size, p.p_offset + p.p_filesz);
  }
  return size > LIMIT ? 0 : size;
}

static const char bundle_magic[] = "__CLANG_OFFLOAD_BUNDLE__";

/* "hipv4-amdgcn-amd-amdhsa--gfx942:sramecc+" fits a device "gfx942". */
static bool entry_fits(const char *id, size_t length, const struct device *d) {
  char text[256];
  if (length >= sizeof text) return false;
  memcpy(text, id, length);
  text[length] = 0;
  char *target = strstr(text, "amdhsa--");
  if (!target) return false;
  target += 8;
  target[strcspn(target, ":")] = 0;
  return !strcmp(target, d->chip->arch);
}

/* Finds the entry for the device; true: *offset and *size within the bundle (whose size may be unknown: 0). */
static bool bundle_find(const char *data, size_t limit, const struct device *d, uint64_t *offset, uint64_t *size,
                        char *seen, size_t seen_size) {
  uint64_t count, at = sizeof bundle_magic - 1;
  *seen = 0;
  if (!limit) limit = LIMIT;
  if (at + 8 > limit || !read_memory(&count, data + at, 8) || count > 4096) return false;
  at += 8;
  for (uint64_t k = 0; k < count; k++) {
    uint64_t head[3];
    char id[256];
    if (at + sizeof head > limit || !read_memory(head, data + at, sizeof head) || head[2] >= sizeof id) return false;
    at += sizeof head;
    if (at + head[2] > limit || !read_memory(id, data + at, head[2])) return false;
    at += head[2];
    id[head[2]] = 0;
    size_t used = strlen(seen);
    if (strstr(id, "amdhsa")) snprintf(seen + used, seen_size - used, "%s%s", used ? ", " : "", strstr(id, "amdhsa") + 6);
    if (!entry_fits(id, head[2], d)) continue;
    if (head[0] > limit || head[1] > limit - head[0]) return false;
    *offset = head[0];
    *size = head[1];
    return true;
  }
  return false;
}

int image_fetch(struct device *d, const void *data, size_t size, uint8_t **copy, size_t *copy_size, char *why,
                size_t why_size) {
  const char *at = data;
  char magic[sizeof bundle_magic - 1] = {0};
  if (!data || (size && size < 4) || !read_memory(magic, at, size && size < sizeof magic ? size : 4)) {
    snprintf(why, why_size, "no readable code object at %p", data);
    return data ? hipErrorInvalidImage : hipErrorInvalidValue;
  }
  if (!memcmp(magic, bundle_magic, 4) && read_memory(magic, at, sizeof magic) &&
      !memcmp(magic, bundle_magic, sizeof magic)) {
    uint64_t offset, length;
    char seen[512];
    if (!bundle_find(at, size, d, &offset, &length, seen, sizeof seen)) {
      snprintf(why, why_size, "the offload bundle has nothing for %s (it holds:%s)", d->chip->arch, seen);
      return hipErrorNoBinaryForGpu;
    }
    at += offset;
    size = length;
  } else if (!memcmp(magic, "CCOB", 4)) {
    snprintf(why, why_size, "compressed offload bundles are not supported: unbundle it first");
    return hipErrorInvalidImage;
  }
  if (!size) {
    size = memcmp(magic, ELFMAG, 4) ? 0 : elf_extent(at);
    if (!size) {
      snprintf(why, why_size, "not an ELF code object, or its headers are corrupt");
      return hipErrorInvalidImage;
    }
  }
  if (size > LIMIT) {
    snprintf(why, why_size, "the code object is larger than %zu bytes", LIMIT);
    return hipErrorInvalidImage;
  }
  *copy = malloc(size);
  if (!*copy) return hipErrorOutOfMemory;
  if (!read_memory(*copy, at, size)) {
    free(*copy);
    snprintf(why, why_size, "the code object's %zu bytes are not readable: truncated or corrupt", size);
    return hipErrorInvalidImage;
  }
  *copy_size = size;
  return hipSuccess;
}
