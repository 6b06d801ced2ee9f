/* The cache of translations: docs/internals/service.md. */
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

/* What follows the reason why an entry is not understood. */
#define OTHER_VERSION "; are the native libraries of another version than the translator? Run `python -m ptx2amd.native`; if " \
  "that does not help, `ptx2amd cache clear`"

const char *build_id(void);
/* "" where there is none: it is switched off, no home is known, or others can change it (which is said once). */
const char *cache_directory(void);
/* The key of text made by printf-like formatting. */
void cache_key(char key[65], const char *format, ...) __attribute__((format(printf, 2, 3)));
bool cache_open(const char *key, struct cache_entry *entry); /* false: absent or damaged */
/* Of a malloc'd entry, which is the entry's then, or is freed: it is damaged. */
bool cache_parse(char *memory, size_t size, struct cache_entry *entry);
/* For this process: an entry that could not be written to the folder. */
void cache_keep(const char *key, const char *bytes, size_t size);
void cache_close(struct cache_entry *entry);
#endif
