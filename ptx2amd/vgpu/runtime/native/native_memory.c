/* Loads and stores of a chunk of lanes: consecutive addresses in one access, others by gather, scatter or lane by lane,
 * and the remaining cases by native_access in C. This file has the parts that machines and address spaces share. */
#include "memory_access.h"
#include "native_machine.h"

bool native_memory_known(const struct inst *i) {
  const struct native_memory *m = memory_of(i);
  if (m->space == MEMORY_NONE || (i->flags & (FLAG_GDS | FLAG_LDS | FLAG_SIGNED)) || i->scale) return false;
  if (m->space == MEMORY_SCRATCH) return bytes_of(m) >= 4;
  return m->space == MEMORY_GLOBAL || (m->kind != MEMORY_B96 && !(m->kind == MEMORY_B128 && m->store));
}

static _Alignas(64) uint32_t tables[TABLES][16];
static void make_tables(void) {
  for (unsigned k = 0; k < 16; k++) {
    for (unsigned step = 1; step <= 16; step *= 2) tables[step][k] = k * step;
    tables[TABLE_EVEN][k] = 2 * k;
    tables[TABLE_ODD][k] = 2 * k + 1;
    tables[TABLE_LOW][k] = k / 2 + k % 2 * 16;        /* interleaves the low halves of two rows */
    tables[TABLE_HIGH][k] = 8 + k / 2 + k % 2 * 16;
    tables[TABLE_QUAD_LOW][k] = k / 4 * 2 + k % 2 + k / 2 % 2 * 16;   /* the same with pairs of dwords */
    tables[TABLE_QUAD_HIGH][k] = 8 + tables[TABLE_QUAD_LOW][k];
    for (unsigned n = 0; n < 4; n++) tables[TABLE_FOURTH + n][k] = (4 * k + n) & 31;   /* every fourth, from the n-th */
    tables[TABLE_BITS][k] = 1u << k;
  }
}
const uint32_t *table_at(unsigned table) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, make_tables);
  return tables[table];
}

/* Sites are shared by instructions with the same element size and direction. */
unsigned site_of(struct compiler *c, const struct native_memory *m) {
  static const uint8_t sizes[] = {[1] = 0, [2] = 1, [4] = 2, [8] = 3, [12] = 4, [16] = 5};
  unsigned size = sizes[bytes_of(m)], number = c->n_sites++;
  return m->store ? 6 * 48 + size * 16 + number % 16 : size * 48 + number % 48;
}
_Static_assert(SCALAR_SITES == 6 * 48 + 6 * 16, "six sizes: 48 sites for loads and 16 for stores each");

/* The distance for which elements are treated as consecutive; those of three dwords overlap, like neighbours in
 * stencils. */
unsigned step_of(const struct native_memory *m) { return m->kind == MEMORY_B96 ? 4 : bytes_of(m); }

void call_access(struct compiler *c, const struct detour *d) {
  struct x86 *x = &c->x;
  if (c->masked) c->machine->mask_bits(c, RAX, c->machine->exec, false);
  else gpr_constant(x, RAX, (1u << c->machine->lanes) - 1);
  gpr_store(x, true, FRAME(lanes), RAX);
  for (unsigned n = 0; n < d->n_data && d->memory->store; n++)
    vec_rm(x, MOVDQA_STORE, d->z[n], 0, mem(RSP, (int32_t)(offsetof(struct frame, data) + 64 * n)), UNMASKED);
  gpr_constant(x, RSI, (uint64_t)(uintptr_t)d->i);
  gpr_lea(x, R8, mem(R15, (int32_t)(d->site * sizeof(struct native_site))));
  gpr_constant(x, RAX, (uint64_t)(uintptr_t)native_access);
  native_access_call(c);
  put8(x, 0x48), put8(x, 0x85), put8(x, 0xc0);   /* test rax, rax */
  leave(c, jump_if(x, CC_E));
  for (unsigned n = 0; n < d->n_data && !d->memory->store; n++)
    vec_rm(x, MOVDQA_LOAD, d->z[n], 0, mem(RSP, (int32_t)(offsetof(struct frame, data) + 64 * n)), UNMASKED);
  land_at(x, jump_always(x), d->back);
}

void native_memory_emit(struct compiler *c, const struct inst *i) {
  const struct native_memory *m = memory_of(i);
  if (m->space == MEMORY_SCRATCH) c->machine->scratch(c, i, m);
  else if (m->space == MEMORY_LDS) c->machine->lds(c, i, m);
  else c->machine->global(c, i, m);
}
