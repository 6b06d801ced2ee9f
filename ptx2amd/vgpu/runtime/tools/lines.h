/* From code to source: a code object's line table (.debug_line) and its table of CUDA positions
 * (docs/internals/lowering.md). Decoded only when needed. */
#ifndef PTX2AMD_VGPU_LINES_H
#define PTX2AMD_VGPU_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lines {
  uint8_t *table;        /* .debug_line, DWARF 4 */
  size_t table_size;
  uint8_t *origins;      /* of PTX lines in CUDA source */
  size_t origins_size;
  uint64_t bias;         /* loaded addresses minus those of the table */
};

struct place {
  uint32_t line;         /* in the file */
  char file[128];
  uint32_t origin_line;  /* 0: not known */
  char origin[128];      /* file */
  bool strong;           /* the PTX instruction orders threads: volatile, relaxed, atomic ... */
  bool apart;            /* the PTX instruction is a load or store, and the machine instruction belongs to no other one
                          * */
};

/* False: the table has no entry for the address, or is malformed. */
bool lines_find(const struct lines *lines, uint64_t address, struct place *place);
/* "PTX line 12 of x.ptx (x.cu:7)", or "" if nothing is known. Returns text. */
const char *lines_describe(const struct lines *lines, uint64_t address, char *text, size_t size);
#endif
