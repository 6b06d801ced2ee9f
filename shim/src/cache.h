/* The cache of translations: docs/architecture.md, "Cache entries". */
#ifndef SHIM_CACHE_H
#define SHIM_CACHE_H
#include <stdbool.h>
#include <stddef.h>

#include "blake2b.h"

struct cache_entry {
  char *text;    /* lines, ended by a NUL; may be written to */
  void *payload;
  size_t text_size, payload_size;
  void *memory;  /* what cache_close frees */
};

const char *build_id(void);
const char *cache_directory(void);
/* The key of text made by printf-like formatting. */
void cache_key(char key[65], const char *format, ...) __attribute__((format(printf, 2, 3)));
bool cache_open(const char *key, struct cache_entry *entry);      /* false: absent or damaged */
bool cache_open_file(const char *path, struct cache_entry *entry);
void cache_close(struct cache_entry *entry);
#endif
