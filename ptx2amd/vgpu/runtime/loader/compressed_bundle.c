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

/* True: `to` contains exactly size decompressed bytes. */
static bool inflate_zlib(void *library, char *to, size_t size, const char *from, size_t count) {
  int (*uncompress)(char *, unsigned long *, const char *, unsigned long) = dlsym(library, "uncompress");
  unsigned long length = size;
  return uncompress && !uncompress(to, &length, from, count) && length == size;
}

static bool inflate_zstd(void *library, char *to, size_t size, const char *from, size_t count) {
  size_t (*decompress)(void *, size_t, const void *, size_t) = dlsym(library, "ZSTD_decompress");
  return decompress && decompress(to, size, from, count) == size;   /* errors are very large numbers */
}

static const struct {
  const char *name, *library;
  bool (*inflate)(void *library, char *to, size_t size, const char *from, size_t count);
} methods[] = {
    [METHOD_ZLIB] = {"zlib", "libz.so.1", inflate_zlib},
    [METHOD_ZSTD] = {"zstd", "libzstd.so.1", inflate_zstd},
};

int bundle_decompress(const char *data, size_t size, char **raw, size_t *raw_size, char *why, size_t why_size) {
  struct header h;
  int error = read_header(data, size, &h, why, why_size);
  if (error != hipSuccess) return error;
  if (h.method >= sizeof methods / sizeof *methods) {
    snprintf(why, why_size, "compression method %u of offload bundles is not supported", h.method);
    return hipErrorInvalidImage;
  }
  void *library = dlopen(methods[h.method].library, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    snprintf(why, why_size, "the offload bundle is compressed with %s, and %s can't be loaded (%s): install it",
             methods[h.method].name, methods[h.method].library, dlerror());
    return hipErrorSharedObjectInitFailed;
  }
  char *packed = malloc(h.total), *out = malloc(h.raw + 1);
  bool read = packed && out && read_memory(packed, data, h.total);
  if (!packed || !out) error = hipErrorOutOfMemory;
  else if (!read || !methods[h.method].inflate(library, out, h.raw, packed + h.length, h.total - h.length)) {
    snprintf(why, why_size, "the offload bundle, compressed with %s, is truncated or corrupt", methods[h.method].name);
    error = hipErrorInvalidImage;
  }
  free(packed);
  dlclose(library);
  if (error != hipSuccess) {
    free(out);
    return error;
  }
  *raw = out;
  *raw_size = h.raw;
  return hipSuccess;
}
