#include "linked.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fatbin.h"

enum { HEADERS = FATBIN_HEADER + ENTRY_HEADER, MARGIN = 16 };

static bool reserve(struct linked *l, size_t more) {
  size_t need = (l->size ? l->size : HEADERS) + more + MARGIN;
  if (need > l->capacity) {
    char *data = realloc(l->data, 2 * need);
    if (!data) return false;
    l->data = data, l->capacity = 2 * need;
  }
  if (!l->size) {
    memset(l->data, 0, HEADERS);
    l->size = HEADERS;
  }
  return true;
}

static void append(struct linked *l, const void *data, size_t size) {
  memcpy(l->data + l->size, data, size);
  l->size += size;
}

bool linked_add(struct linked *l, const struct image *image) {
  static const char zeros[8];
  size_t padding = -image->size & 7;
  if (!reserve(l, ENTRY_HEADER + image->size + padding)) return false;
  l->parts++;
  if (image->encoding == ENCODING_LINKED) { /* entries already */
    append(l, image->data, image->size);
    return true;
  }
  struct entry e = {.kind = KIND_PTX, .one = 0x101, .header_size = ENTRY_HEADER, .payload = image->size + padding,
                    .sm = (uint32_t)image->sm};
  if (image->encoding != ENCODING_NONE) {
    e.flags = image->encoding == ENCODING_LZ4 ? FLAG_LZ4 : FLAG_ZSTD;
    e.compressed = (uint32_t)image->size;
    e.full_size = image->full_size;
  }
  append(l, &e, sizeof e);
  append(l, image->data, image->size);
  append(l, zeros, padding);
  return true;
}

bool linked_limit(struct linked *l, unsigned registers) {
  char text[100];
  int n = snprintf(text, sizeof text, ".version 1.0\n.target sm_10\n.pragma \"ptx2amd maxnreg %u\";\n", registers);
  struct image part = {.data = text, .size = (size_t)n, .full_size = (size_t)n};
  return !registers || linked_add(l, &part);
}

bool linked_finish(struct linked *l) {
  if (!reserve(l, 0)) return false;
  size_t payload = l->size - HEADERS;
  struct fatbin_header header = {FATBIN_MAGIC, 1, FATBIN_HEADER, ENTRY_HEADER + payload};
  struct entry e = {.kind = KIND_LINKED, .one = 0x101, .header_size = ENTRY_HEADER, .payload = payload};
  memcpy(l->data, &header, sizeof header);
  memcpy(l->data + sizeof header, &e, sizeof e);
  memset(l->data + l->size, 0, MARGIN);
  return true;
}

struct image linked_image(const struct linked *l) {
  size_t size = l->size - HEADERS;
  return (struct image){.data = l->data + HEADERS, .size = size, .full_size = size, .encoding = ENCODING_LINKED};
}

void linked_free(struct linked *l) {
  free(l->data);
  *l = (struct linked){0};
}
