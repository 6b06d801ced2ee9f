/* The way into the exported functions (generated entry.c) when something is in the way: the driver is not initialised,
 * calls are traced, or the process is locked. */
#ifndef SHIM_ENTRY_H
#define SHIM_ENTRY_H
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "cuda_types.h"

enum entry_state {
  ENTRY_CLOSED = 1, /* before cuInit, after a fork, and when the process ends */
  ENTRY_TRACED = 2,
  ENTRY_LOCKED = 4, /* checkpoint.h */
};
extern int entry_state; /* the bits that hold; 0: straight on */
extern CUresult entry_closed; /* what calls answer then */

enum entry_kind {
  ENTRY_POINTER = 'p', ENTRY_SIGNED = 'i', ENTRY_UNSIGNED = 'u', ENTRY_FLOAT = 'f', ENTRY_TEXT = 's', ENTRY_STRUCT = '-',
  /* pointers to results, which are read when the call succeeded */
  ENTRY_OUT_WORD = 'W', ENTRY_OUT_SIZE = 'U', ENTRY_OUT_INT = 'I', ENTRY_OUT_FLOAT = 'F',
};
struct entry_parameter { const char *name; char kind; };
struct entry {
  const char *name;
  bool early; /* works before cuInit */
  int count;
  const struct entry_parameter *parameters;
};
struct call {
  const struct entry *about;
  uint64_t begin; /* ns; 0: not traced */
  CUresult result;
};

/* False: the call ends with call->result. */
bool entry_begin(struct call *call, const struct entry *about);
void entry_end(struct call *call, const uint64_t *arguments);

static inline uint64_t entry_float(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}
#endif
