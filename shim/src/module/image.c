/* Containers: wrapper (what nvcc's start-up code registers), fatbin, ELF, PTX text. Nothing of them is trusted. */
#define _GNU_SOURCE
#include "image.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "fatbin.h"
#include "linked.h"
#include "ptx_builds.h"
#include "shim.h"

enum { ELF_MAGIC = 0x464c457f, TILE_IR_MAGIC = 0x6c69547f /* \177TileIR */ };

/* What a container was found to hold. */
struct found {
  struct image best;
  int rank;                     /* of best */
  int capability;               /* 80: as reported to the program, or to the library with the image */
  int ptx, elf;                 /* entries */
  char machine_code[96];        /* "sm_80 sm_90" */
};

/* Whether [p, p + size) can be read: asked of the kernel, as the program's pointer may be anything. */
static bool readable(const void *p, size_t size) {
  static const size_t page = 4096;
  uintptr_t at = (uintptr_t)p, end = at + size;
  if (!p || end < at) return false;
  while (at < end) {
    char bytes[64];
    struct iovec to = {bytes, sizeof bytes}, from[64];
    unsigned n = 0;
    for (; n < 64 && at < end; n++, at = (at & ~(page - 1)) + page) from[n] = (struct iovec){(void *)at, 1};
    ssize_t got = process_vm_readv(getpid(), &to, 1, from, n, 0);
    if (got < 0 && errno != EFAULT) return true; /* not allowed to ask: trust it */
    if (got != (ssize_t)n) return false;
  }
  return true;
}

/* Prefer what a real driver of the reported compute capability would take: the highest target up to it, else the
 * lowest above; plain targets before arch-specific ones. */
static int rank_of(const struct entry *e, int capability) {
  int sm = (int)e->sm;
  int rank = sm <= capability ? 10000 + sm : 5000 - sm;
  return e->flags & (FLAG_ARCH_SPECIFIC | FLAG_FAMILY_SPECIFIC) ? rank - 5000 : rank;
}

static bool take_entry(const struct entry *e, const char *data, struct found *f) {
  if (e->kind == KIND_ELF) {
    size_t n = strlen(f->machine_code);
    f->elf++;
    if (n + 12 < sizeof f->machine_code)
      snprintf(f->machine_code + n, sizeof f->machine_code - n, "%ssm_%u", n ? " " : "", e->sm);
    return true;
  }
  if (e->kind == KIND_LINKED) {
    f->best = (struct image){.data = data, .size = e->payload, .full_size = e->payload, .encoding = ENCODING_LINKED};
    f->rank = INT_MAX;
    f->ptx++;
    return true;
  }
  if (e->kind != KIND_PTX) return true; /* kinds of later toolchains */
  int rank = rank_of(e, f->capability);
  if (f->ptx++ && rank <= f->rank) return true;
  struct image image = {.data = data, .size = e->payload, .full_size = e->payload, .sm = (int)e->sm};
  if (e->flags & (FLAG_LZ4 | FLAG_ZSTD)) {
    image.encoding = e->flags & FLAG_LZ4 ? ENCODING_LZ4 : ENCODING_ZSTD;
    image.full_size = e->full_size;
    if (!e->compressed || e->compressed > e->payload || !e->full_size) return false;
    image.size = e->compressed;
  } else {
    image.full_size = image.size = strnlen(data, e->payload);
  }
  f->best = image;
  f->rank = rank;
  return true;
}

/* limit: bytes known to belong to the image, 0 when unknown. */
static CUresult scan_fatbin(const char *data, size_t limit, struct found *f, char *problem, size_t size) {
  uint32_t magic;
  uint16_t version, header;
  uint64_t payload;
  if (limit ? limit < FATBIN_HEADER : !readable(data, FATBIN_HEADER)) goto bad;
  memcpy(&magic, data, 4);
  memcpy(&version, data + 4, 2);
  memcpy(&header, data + 6, 2);
  memcpy(&payload, data + 8, 8);
  if (magic != FATBIN_MAGIC || version != 1 || header < FATBIN_HEADER || header > 4096) goto bad;
  if (payload > (uint64_t)1 << 40 || (limit ? header + payload > limit : !readable(data, header + payload))) goto bad;
  const char *p = data + header, *end = p + payload;
  while (end - p >= ENTRY_HEADER) {
    struct entry e;
    memcpy(&e, p, sizeof e);
    size_t left = (size_t)(end - p);
    if (e.header_size < ENTRY_HEADER || e.header_size > left || e.payload > left - e.header_size) goto bad;
    if (!take_entry(&e, p + e.header_size, f)) goto bad;
    p += e.header_size + e.payload;
  }
  return CUDA_SUCCESS;
bad:
  snprintf(problem, size, "the fatbin is truncated or corrupt");
  return CUDA_ERROR_INVALID_IMAGE;
}

static CUresult scan_wrapper(const struct wrapper *w, struct found *f, char *problem, size_t size) {
  if (!readable(w, sizeof *w) || (w->version != 1 && w->version != 2)) {
    snprintf(problem, size, "the fatbin wrapper is corrupt");
    return CUDA_ERROR_INVALID_IMAGE;
  }
  CUresult result = scan_fatbin(w->fatbin, 0, f, problem, size);
  if (result || w->version == 1 || f->ptx || !w->prelinked) return result;
  /* Separate compilation: the PTX is in one fatbin per object file. */
  struct linked l = {0};
  for (const void *const *part = w->prelinked; !result && readable(part, sizeof *part) && *part; part++) {
    struct found one = {.capability = f->capability};
    result = scan_fatbin(*part, 0, &one, problem, size);
    if (result || !one.ptx) continue;
    f->best = one.best;
    f->ptx++;
    if (!linked_add(&l, &one.best)) result = CUDA_ERROR_OUT_OF_MEMORY;
  }
  if (result || l.parts < 2) {
    linked_free(&l);
    return result;
  }
  f->best = linked_image(&l);
  f->best.owned = l.data;
  return CUDA_SUCCESS;
}

/* Text that could be PTX: no control characters but white space at the start, and a version directive. */
static bool looks_like_text(const char *data, size_t limit, size_t *length) {
  size_t n = 0;
  if (limit) n = strnlen(data, limit);
  else
    while (readable(data + n, 1)) { /* page by page: there may be no NUL */
      size_t page = 4096 - ((uintptr_t)(data + n) & 4095), got = strnlen(data + n, page);
      n += got;
      if (got < page) break;
    }
  *length = n;
  size_t look = n < 256 ? n : 256;
  for (size_t i = 0; i < look; i++) {
    unsigned char c = (unsigned char)data[i];
    if (c < 0x20 && c != '\n' && c != '\r' && c != '\t' && c != '\f' && c != '\v') return false;
  }
  return n > 0;
}

/* PTX, after blanks and comments. */
static bool begins_with_version(const char *text, size_t length) {
  const char *end = text + length;
  while (text < end) {
    if (strchr(" \t\n\r\f\v", *text)) text++;
    else if (end - text > 1 && !memcmp(text, "//", 2)) text = memchr(text, '\n', (size_t)(end - text));
    else if (end - text > 1 && !memcmp(text, "/*", 2)) text = memmem(text + 2, (size_t)(end - text - 2), "*/", 2);
    else break;
    if (!text) return false;
    if (!memcmp(text, "*/", 2)) text += 2;
  }
  static const char directive[] = ".version";
  return (size_t)(end - text) >= sizeof directive - 1 && !memcmp(text, directive, sizeof directive - 1);
}

/* What to do about machine code without PTX, in a library or in general. */
static const char *way_out(const char *library) {
  for (size_t i = 0; library && i < sizeof ptx_builds / sizeof *ptx_builds; i++)
    if (!strncmp(library, ptx_builds[i].prefix, strlen(ptx_builds[i].prefix))) return ptx_builds[i].remedy;
  if (!library || !has_ptx_for_newer(library)) return PTX_BUILDS_IN_GENERAL;
  return capability_is_set() ? "this library gives its PTX to GPUs newer than itself: unset "
                               "PTX2AMD_COMPUTE_CAPABILITY, or set it to 13.0"
                             : "this part of the library is not there as PTX";
}

/* data: where the container was found, which tells the library that it is part of. */
static CUresult settle(const struct found *f, const void *data, struct image *image, char *problem, size_t size) {
  if (f->ptx) {
    *image = f->best;
    return CUDA_SUCCESS;
  }
  const char *library = library_at(data);
  snprintf(problem, size, "the module%s%s has machine code only (%s) and no PTX, which is what can be translated; %s",
           library ? " in " : "", library ? library : "", f->machine_code[0] ? f->machine_code : "no entry for any GPU",
           way_out(library));
  return CUDA_ERROR_NO_BINARY_FOR_GPU;
}

CUresult image_find(const void *data, size_t size, struct image *image, char *problem, size_t problem_size) {
  struct capability told = capability_for(data);
  struct found f = {.capability = told.major * 10 + told.minor};
  uint32_t magic = 0;
  CUresult result;
  size_t length;
  problem[0] = 0;
  if (size || readable(data, 4)) {
    /* Byte by byte: text may be shorter than any magic number, none of which has a NUL. */
    const unsigned char *bytes = data;
    for (unsigned i = 0; i < 4 && (!size || i < size) && bytes[i]; i++) magic |= (uint32_t)bytes[i] << 8 * i;
  } else {
    snprintf(problem, problem_size, "the image's address cannot be read");
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (magic == WRAPPER_MAGIC) {
    result = scan_wrapper(data, &f, problem, problem_size);
    return result ? result : settle(&f, data, image, problem, problem_size);
  }
  if (magic == FATBIN_MAGIC) {
    result = scan_fatbin(data, size, &f, problem, problem_size);
    return result ? result : settle(&f, data, image, problem, problem_size);
  }
  if (magic == ELF_MAGIC) {
    snprintf(f.machine_code, sizeof f.machine_code, "an ELF file");
    return settle(&f, data, image, problem, problem_size);
  }
  if (magic == TILE_IR_MAGIC) {
    snprintf(problem, problem_size, "the image is CUDA Tile IR (cuBLAS 13.10 has its f16 products so, 13.2 as PTX), "
             "and no PTX, which is what can be translated");
    return CUDA_ERROR_NO_BINARY_FOR_GPU;
  }
  if (!looks_like_text(data, size, &length)) {
    snprintf(problem, problem_size, "the image is neither a fatbin nor ELF nor PTX text");
    return CUDA_ERROR_INVALID_IMAGE;
  }
  if (!begins_with_version(data, length)) {
    snprintf(problem, problem_size, "the image is text, but not PTX, which begins with .version");
    return CUDA_ERROR_INVALID_IMAGE;
  }
  *image = (struct image){.data = data, .size = length, .full_size = length, .text = true};
  return CUDA_SUCCESS;
}
