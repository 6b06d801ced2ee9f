/* Locates a code object: memory of unknown size and unverified content, bare or in a clang offload bundle. */
#define _GNU_SOURCE
#include "bundle.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "hip_state.h"

#define LIMIT BUNDLE_LIMIT

bool read_memory(void *to, const void *from, size_t size) {
  while (size > 0) {
    struct iovec local = {to, size}, remote = {(void *)from, size};
    ssize_t n = process_vm_readv(getpid(), &local, 1, &remote, 1, 0);
    if (n < 0 && (errno == ENOSYS || errno == EPERM)) {   /* in a sandbox: trust the caller */
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

/* The extent of the ELF file at data according to its headers; 0: unreadable or implausible. */
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

/* Whether a chip's target satisfies the entry's requirement for a feature (":xnack+", ":xnack-"); off is the disabled
 * form. */
static bool feature_fits(const char *target, const char *feature, size_t length) {
  for (const char *at = strchr(target, ':'); at; at = strchr(at + 1, ':'))
    if (!strncmp(at, feature, length - 1)) return at[length - 1] == feature[length - 1];
  return feature[length - 1] == '-';
}

/* How well code for a target ("gfx942:sramecc+") fits a chip; 0: not at all. The chip's own code is better than its
 * family's, and code for its features better than code for any. */
static int target_fit(const char *target, const struct chip *chip) {
  size_t length = strcspn(target, ":");
  int fit = 0;
  if (strlen(chip->arch) == length && !strncmp(chip->arch, target, length)) fit = 100;
  for (const unsigned *mach = chip->elf_mach; !fit && *mach; mach++) {
    const char *name = mach_name(*mach);
    if (strlen(name) == length && !strncmp(name, target, length)) fit = 1;
  }
  for (const char *feature = target + length; fit && *feature; fit++) {
    size_t n = 1 + strcspn(feature + 1, ":");
    if (!feature_fits(chip->target, feature, n)) return 0;
    feature += n;
  }
  return fit;
}

/* The target of an entry like "hipv4-amdgcn-amd-amdhsa--gfx942:sramecc+"; NULL: not for AMD GPUs. */
static const char *entry_target(const char *id) {
  const char *system = strstr(id, "-amdhsa-");
  if (!system) return NULL;
  system += strlen("-amdhsa-");
  const char *environment = strchr(system, '-');   /* old compilers omitted it */
  return environment ? environment + 1 : system;
}

/* Finds the best entry for the device; true: *offset and *size within the bundle (whose size may be unknown: 0). seen:
 * the targets of all entries. */
static bool bundle_find(const char *data, size_t limit, const struct device *d, uint64_t *offset, uint64_t *size,
                        char *seen, size_t seen_size) {
  uint64_t count, at = sizeof bundle_magic - 1;
  int best = 0;
  *seen = 0;
  if (!limit) limit = LIMIT;
  if (at + 8 > limit || !read_memory(&count, data + at, 8) || count > BUNDLE_ENTRIES) return false;
  at += 8;
  for (uint64_t k = 0; k < count; k++) {
    uint64_t head[3];
    char id[256];
    if (at + sizeof head > limit || !read_memory(head, data + at, sizeof head) || head[2] >= sizeof id) return false;
    at += sizeof head;
    if (at + head[2] > limit || !read_memory(id, data + at, head[2])) return false;
    at += head[2];
    id[head[2]] = 0;
    const char *target = entry_target(id);
    if (!target) continue;
    size_t used = strlen(seen);
    snprintf(seen + used, seen_size - used, "%s%s", used ? ", " : "", target);
    int fit = target_fit(target, d->chip);
    if (fit <= best) continue;
    if (head[0] > limit || head[1] > limit - head[0]) return false;
    *offset = head[0];
    *size = head[1];
    best = fit;
  }
  return best > 0;
}

int bundle_entry(const struct device *d, const char **data, size_t *size, char *why, size_t why_size) {
  char magic[sizeof bundle_magic - 1] = {0}, seen[512];
  if (*size && *size < sizeof magic) return hipSuccess;
  if (!read_memory(magic, *data, sizeof magic) || memcmp(magic, bundle_magic, sizeof magic)) return hipSuccess;
  uint64_t offset, length;
  if (!bundle_find(*data, *size, d, &offset, &length, seen, sizeof seen)) {
    snprintf(why, why_size, "there is no code for %s: the offload bundle holds %s", d->chip->target,
             *seen ? seen : "nothing for AMD GPUs");
    return hipErrorNoBinaryForGpu;
  }
  *data += offset;
  *size = length;
  return hipSuccess;
}

/* A copy of the code object at data; size 0: unknown. */
static int copy_object(const char *at, size_t size, uint8_t **copy, size_t *copy_size, char *why, size_t why_size) {
  char magic[4] = {0};
  if (!size) {
    size = read_memory(magic, at, sizeof magic) && !memcmp(magic, ELFMAG, 4) ? elf_extent(at) : 0;
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

int image_fetch(struct device *d, const void *data, size_t size, uint8_t **copy, size_t *copy_size, char *why,
                size_t why_size) {
  const char *at = data;
  char magic[4] = {0};
  if (!data || (size && size < 4) || !read_memory(magic, at, sizeof magic)) {
    snprintf(why, why_size, "no readable code object at %p", data);
    return data ? hipErrorInvalidImage : hipErrorInvalidValue;
  }
  if (!memcmp(magic, "CCOB", 4)) return bundle_decompress(d, at, size, copy, copy_size, why, why_size);
  int error = bundle_entry(d, &at, &size, why, why_size);
  return error == hipSuccess ? copy_object(at, size, copy, copy_size, why, why_size) : error;
}
