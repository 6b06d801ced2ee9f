/* Loads and stores of 16 lanes: consecutive addresses in one access, others by gather and scatter, and the remaining
 * cases by native_access in C. This file has the parts that the address spaces share. */
#include "native_memory.h"

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
  }
}
const uint32_t *table_at(unsigned table) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, make_tables);
  return tables[table];
}

void native_permute(struct compiler *c, unsigned to, unsigned table, unsigned low, unsigned high) {
  gpr_constant(&c->x, RDX, (uint64_t)(uintptr_t)table_at(table));
  zmm_rm(&c->x, MOVDQA_LOAD, to, 0, mem(RDX, 0), UNMASKED);
  zmm_rr(&c->x, PERMI2D, to, low, high, UNMASKED);
}

/* Four dwords per lane: 16 lanes fill four registers. */
void load_quads(struct compiler *c, const uint8_t *z, const unsigned *t, struct memory at) {
  unsigned upper = t[4];
  for (int n = 0; n < 4; n++) {
    struct memory part = at;
    part.offset += 64 * n;
    zmm_rm(&c->x, MOVDQU_LOAD, t[n], 0, part, UNMASKED);
  }
  for (unsigned n = 0; n < 4; n++) {
    native_permute(c, z[n], TABLE_FOURTH + n, t[0], t[1]);
    native_permute(c, upper, TABLE_FOURTH + n, t[2], t[3]);
    zmm_rr(&c->x, INSERT_HALF, z[n], z[n], upper, UNMASKED), put8(&c->x, 1);
  }
}
void store_quads(struct compiler *c, const uint8_t *z, const unsigned *t, struct memory at) {
  unsigned pairs[2][2] = {{t[0], t[1]}, {t[2], t[3]}}, out = t[4];
  for (unsigned n = 0; n < 2; n++)
    for (unsigned high = 0; high < 2; high++) {
      native_permute(c, pairs[high][n], high ? TABLE_HIGH : TABLE_LOW, z[2 * n], z[2 * n + 1]);
    }
  for (unsigned n = 0; n < 4; n++) {
    struct memory part = at;
    part.offset += 64 * (int32_t)n;
    native_permute(c, out, n & 1 ? TABLE_QUAD_HIGH : TABLE_QUAD_LOW, pairs[n / 2][0], pairs[n / 2][1]);
    zmm_rm(&c->x, MOVDQU_STORE, out, 0, part, UNMASKED);
  }
}

/* Loads consecutive elements from [rax + offset]. z: the result's registers, then one temporary for each additional
 * register. */
void load_row(struct compiler *c, const struct native_memory *m, const uint8_t *z, struct memory at) {
  static const struct evex *const small[] = {[MEMORY_U8] = &MOVZX_B, [MEMORY_I8] = &MOVSX_B, [MEMORY_U16] = &MOVZX_W,
                                             [MEMORY_I16] = &MOVSX_W};
  struct memory next = at;
  next.offset += 64;
  switch ((enum native_kind)m->kind) {
  case MEMORY_B64:   /* the two halves of the lanes, then low and high dwords of each */
    if (c->masked) {
      zmm_rr(&c->x, PXORD, z[2], z[2], z[2], UNMASKED);
      zmm_rr(&c->x, PXORD, z[3], z[3], z[3], UNMASKED);
      k_shift_right(&c->x, z[7], K_EXEC, 8);
      zmm_rm(&c->x, (struct evex){1, 2, 1, 0x6f}, z[2], 0, at, (struct masking){K_EXEC, false});
      zmm_rm(&c->x, (struct evex){1, 2, 1, 0x6f}, z[3], 0, next, (struct masking){z[7], false});
    } else {
      zmm_rm(&c->x, MOVDQU_LOAD, z[2], 0, at, UNMASKED);
      zmm_rm(&c->x, MOVDQU_LOAD, z[3], 0, next, UNMASKED);
    }
    native_permute(c, z[0], TABLE_EVEN, z[2], z[3]);
    native_permute(c, z[1], TABLE_ODD, z[2], z[3]);
    break;
  case MEMORY_B32: zmm_rm(&c->x, MOVDQU_LOAD, z[0], 0, at, exec_mask(c, true)); break;
  default: zmm_rm(&c->x, *small[m->kind], z[0], 0, at, exec_mask(c, true)); break;
  }
}

void store_row(struct compiler *c, const struct native_memory *m, const uint8_t *z, struct memory at) {
  struct memory next = at;
  next.offset += 64;
  switch ((enum native_kind)m->kind) {
  case MEMORY_B64:
    native_permute(c, z[2], TABLE_LOW, z[0], z[1]);
    native_permute(c, z[3], TABLE_HIGH, z[0], z[1]);
    if (c->masked) k_shift_right(&c->x, z[7], K_EXEC, 8);
    zmm_rm(&c->x, (struct evex){1, 2, 1, 0x7f}, z[2], 0, at, exec_mask(c, false));
    zmm_rm(&c->x, (struct evex){1, 2, 1, 0x7f}, z[3], 0, next, (struct masking){c->masked ? z[7] : 0, false});
    break;
  case MEMORY_B8: zmm_rm(&c->x, TRUNCATE_B, z[0], 0, at, exec_mask(c, false)); break;
  case MEMORY_B16: zmm_rm(&c->x, TRUNCATE_W, z[0], 0, at, exec_mask(c, false)); break;
  default: zmm_rm(&c->x, MOVDQU_STORE, z[0], 0, at, exec_mask(c, false)); break;
  }
}

void native_lanes(struct compiler *c, unsigned k) {
  if (c->masked) k_op(&c->x, K_OR, k, K_EXEC, K_EXEC);
  else k_op(&c->x, K_XNOR, k, k, k);
}

void call_access(struct compiler *c, const struct detour *d) {
  struct x86 *x = &c->x;
  if (c->masked) gpr_k(x, RAX, K_EXEC);
  else gpr_constant(x, RAX, 0xffff);
  gpr_store(x, true, FRAME(lanes), RAX);
  for (unsigned n = 0; n < d->n_data && d->memory->store; n++)
    zmm_rm(x, MOVDQA_STORE, d->z[n], 0, mem(RSP, (int32_t)(offsetof(struct frame, data) + 64 * n)), UNMASKED);
  gpr_constant(x, RSI, (uint64_t)(uintptr_t)d->i);
  gpr_lea(x, R8, mem(R15, (int32_t)(d->site * sizeof(struct native_site))));
  gpr_constant(x, RAX, (uint64_t)(uintptr_t)native_access);
  native_access_call(c);
  put8(x, 0x48), put8(x, 0x85), put8(x, 0xc0);   /* test rax, rax */
  leave(c, jump_if(x, CC_E));
  for (unsigned n = 0; n < d->n_data && !d->memory->store; n++)
    zmm_rm(x, MOVDQA_LOAD, d->z[n], 0, mem(RSP, (int32_t)(offsetof(struct frame, data) + 64 * n)), UNMASKED);
  land_at(x, jump_always(x), d->back);
}

void native_memory_emit(struct compiler *c, const struct inst *i) {
  const struct native_memory *m = memory_of(i);
  if (m->space == MEMORY_SCRATCH) {
    scratch_emit(c, i, m);
    return;
  }
  if (m->space == MEMORY_LDS) lds_emit(c, i, m);
  else global_emit(c, i, m);
}
