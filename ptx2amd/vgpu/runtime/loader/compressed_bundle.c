/* Compressed offload bundles: "CCOB", a header, a plain bundle compressed with zlib or zstd. The system's libraries
 * decompress them: programs with such bundles are rare, and ROCm's own compiler installs both. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bundle.h"
#include "hip_types.h"

struct header {
  unsigned version, method;
  uint64_t total, raw;            /* bytes: of the whole bundle, and decompressed */
  size_t length;                  /* of the header */
};
enum { METHOD_ZLIB = 0, METHOD_ZSTD = 1 };

static int read_header(const char *data, size_t size, struct header *h, char *why, size_t why_size) {
  struct { char magic[4]; uint16_t version, method; uint64_t sizes[2]; } head = {0};
  if ((size && size < sizeof head) || !read_memory(&head, data, sizeof head)) {
    snprintf(why, why_size, "the compressed offload bundle is truncated");
    return hipErrorInvalidImage;
  }
  *h = (struct header){.version = head.version, .method = head.method};
  uint32_t narrow[2];
  memcpy(narrow, head.sizes, sizeof narrow);
  switch (head.version) {   /* a hash of 8 bytes follows the sizes */
    case 2: h->total = narrow[0], h->raw = narrow[1], h->length = 24; break;
    case 3: h->total = head.sizes[0], h->raw = head.sizes[1], h->length = 32; break;
    default:
      snprintf(why, why_size, "version %u of compressed offload bundles is not supported (2 and 3 are): compile with "
               "--no-offload-compress", h->version);
      return hipErrorInvalidImage;
  }
  if (h->total <= h->length || h->total > BUNDLE_LIMIT || h->raw > BUNDLE_LIMIT || (size && h->total > size)) {
    snprintf(why, why_size, "the compressed offload bundle is truncated or corrupt (%llu bytes, %llu decompressed)",
             (unsigned long long)h->total, (unsigned long long)h->raw);
    return hipErrorInvalidImage;
  }
  return hipSuccess;
}

/* What is compressed, and the part of it that is wanted decompressed: `length` bytes at `offset`. `head`: nothing behind
 * that part is looked at. */
struct job {
  void *library;
  const char *from;
  size_t count, raw;
  uint64_t offset;
  char *to;
  size_t length;
  bool head;
};

/* Each: true, the part is there and (but for a head) all of it is sound. */
static bool inflate_zlib(const struct job *j) {
  int (*uncompress)(char *, unsigned long *, const char *, unsigned long) = dlsym(j->library, "uncompress");
  unsigned long length = j->raw;
  char *packed = malloc(j->count), *whole = malloc(j->raw + 1);
  bool good = packed && whole && uncompress && read_memory(packed, j->from, j->count) &&
              !uncompress(whole, &length, packed, j->count) && length == j->raw;
  if (good) memcpy(j->to, whole + j->offset, j->length);
  free(packed);
  free(whole);
  return good;
}

/* The bytes of the part among `count` that stand at `at` of the whole. */
static void keep(const struct job *j, uint64_t at, const char *bytes, size_t count) {
  uint64_t start = at > j->offset ? at : j->offset, end = at + count, stop = j->offset + j->length;
  if (end > stop) end = stop;
  if (start < end) memcpy(j->to + (start - j->offset), bytes + (start - at), end - start);
}

/* Piece by piece: a library's bundle has code for a dozen chips, of which one is wanted. */
static bool inflate_zstd(const struct job *j) {
  struct buffer { const char *data; size_t size, at; };
  void *(*begin)(void) = dlsym(j->library, "ZSTD_createDStream");
  size_t (*step)(void *, struct buffer *, struct buffer *) = dlsym(j->library, "ZSTD_decompressStream");
  size_t (*end)(void *) = dlsym(j->library, "ZSTD_freeDStream");
  unsigned (*wrong)(size_t) = dlsym(j->library, "ZSTD_isError");
  enum { PIECE = 1 << 20 };
  char *in = malloc(PIECE), *out = malloc(PIECE);
  void *stream = begin && step && end && wrong && in && out ? begin() : NULL;
  uint64_t read = 0, made = 0;
  size_t left = 1;   /* 0: the end of what was compressed */
  bool good = stream != NULL;
  while (good && left && read < j->count && !(j->head && made >= j->offset + j->length)) {
    struct buffer source = {in, j->count - read < PIECE ? j->count - read : PIECE, 0};
    good = read_memory(in, j->from + read, source.size);
    read += source.size;
    bool full = false;   /* there may be more to write */
    while (good && left && (source.at < source.size || full)) {
      struct buffer target = {out, PIECE, 0};
      left = step(stream, &target, &source);
      good = !wrong(left) && target.at <= j->raw - made;
      if (good) keep(j, made, out, target.at);
      made += target.at;
      full = target.at == PIECE;
    }
  }
  if (stream) end(stream);
  free(in);
  free(out);
  return good && (j->head ? made >= j->offset + j->length : !left && made == j->raw);
}

static const struct {
  const char *name, *library;
  bool (*inflate)(const struct job *j);
} methods[] = {
    [METHOD_ZLIB] = {"zlib", "libz.so.1", inflate_zlib},
    [METHOD_ZSTD] = {"zstd", "libzstd.so.1", inflate_zstd},
};

static int part(const struct header *h, const struct job *j, char *why, size_t why_size) {
  if (methods[h->method].inflate(j)) return hipSuccess;
  snprintf(why, why_size, "the offload bundle, compressed with %s, is truncated or corrupt", methods[h->method].name);
  return hipErrorInvalidImage;
}

int bundle_decompress(struct device *d, const char *data, size_t size, uint8_t **copy, size_t *copy_size, char *why,
                      size_t why_size) {
  struct header h;
  int error = read_header(data, size, &h, why, why_size);
  if (error != hipSuccess) return error;
  if (h.method >= sizeof methods / sizeof *methods) {
    snprintf(why, why_size, "compression method %u of offload bundles is not supported", h.method);
    return hipErrorInvalidImage;
  }
  struct job j = {.from = data + h.length, .count = h.total - h.length, .raw = h.raw, .head = true};
  j.library = dlopen(methods[h.method].library, RTLD_NOW | RTLD_LOCAL);
  if (!j.library) {
    snprintf(why, why_size, "the offload bundle is compressed with %s, and %s can't be loaded (%s): install it",
             methods[h.method].name, methods[h.method].library, dlerror());
    return hipErrorSharedObjectInitFailed;
  }
  j.length = h.raw < BUNDLE_HEAD ? h.raw : BUNDLE_HEAD;
  char *head = calloc(1, BUNDLE_HEAD), *code = NULL;
  j.to = head;
  error = head ? part(&h, &j, why, why_size) : hipErrorOutOfMemory;
  const char *at = head;
  size_t length = h.raw;
  if (error == hipSuccess) error = bundle_entry(d, &at, &length, why, why_size);
  if (error == hipSuccess && !(code = malloc(length + 1))) error = hipErrorOutOfMemory;
  if (error == hipSuccess) {
    j.offset = (uint64_t)(at - head), j.to = code, j.length = length, j.head = false;
    error = part(&h, &j, why, why_size);
  }
  free(head);
  dlclose(j.library);
  if (error != hipSuccess) {
    free(code);
    return error;
  }
  *copy = (uint8_t *)code;
  *copy_size = length;
  return hipSuccess;
}
