/* Common parts of native loads and stores, and those of each address space. */
#pragma once
#include "access.h"
#include "native_emit.h"

static inline unsigned bytes_of(const struct native_memory *m) {
  static const uint8_t kind_bytes[] = {4, 8, 12, 16, 1, 1, 2, 2, 1, 2};
  return kind_bytes[m->kind];
}
static inline unsigned dwords_of(const struct native_memory *m) { return bytes_of(m) <= 4 ? 1 : bytes_of(m) / 4; }
static inline const struct native_memory *memory_of(const struct inst *i) { return &native_rows[i->op->id].memory; }

/* The offset of element `which` of an LDS instruction, in bytes. */
unsigned lds_offset(const struct inst *i, const struct native_memory *m, unsigned which);

/* An instruction's entry in the workgroup's sites, and the distance at which elements are treated as consecutive. */
unsigned site_of(struct compiler *c, const struct native_memory *m);
unsigned step_of(const struct native_memory *m);

/* The access in C, with the addresses in the frame. d->z[0...]: data. */
uint64_t native_access(struct wave *w, const struct inst *i, struct frame *f, const uint32_t *v,
                       struct native_site *site);
void call_access(struct compiler *c, const struct detour *d);
