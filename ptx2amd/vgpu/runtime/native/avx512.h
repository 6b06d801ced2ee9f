/* AVX-512: 16 lanes in ZMM registers, lane masks in k registers. */
#pragma once
#include "memory_access.h"
#include "native_machine.h"

static inline struct masking exec_mask(const struct compiler *c, bool zero) {
  return (struct masking){c->masked ? K_EXEC : 0, c->masked && zero};
}

/* k = the active lanes of the current 16. */
void native_lanes(struct compiler *c, unsigned k);
/* to = the dwords of the pair (low, high) that the table selects. */
void native_permute(struct compiler *c, unsigned to, unsigned table, unsigned low, unsigned high);

/* Consecutive elements of 16 lanes. z: the dwords' registers, t: free ones. */
void load_quads(struct compiler *c, const uint8_t *z, const unsigned *t, struct memory at);
void store_quads(struct compiler *c, const uint8_t *z, const unsigned *t, struct memory at);
void load_row(struct compiler *c, const struct native_memory *m, const uint8_t *z, struct memory at);
void store_row(struct compiler *c, const struct native_memory *m, const uint8_t *z, struct memory at);

void avx512_global(struct compiler *c, const struct inst *i, const struct native_memory *m);
void avx512_lds(struct compiler *c, const struct inst *i, const struct native_memory *m);
void avx512_scratch(struct compiler *c, const struct inst *i, const struct native_memory *m);
