/* The chips that the engine can simulate (ptx2amd/target/chips.toml). */
#include <string.h>

#include "chip_tables.h"
#include "engine.h"

static const struct arch archs[] = {ARCH_ROWS};
enum { COUNT = sizeof archs / sizeof *archs };

const struct arch *arch_find(const char *name) {
  size_t n = strcspn(name, ":");
  for (size_t k = 0; k < COUNT; k++)
    if (strlen(archs[k].name) == n && strncmp(archs[k].name, name, n) == 0) return &archs[k];
  return NULL;
}

const struct arch *arch_at(size_t index) { return index < COUNT ? &archs[index] : NULL; }
