/* Rows of 16 lanes in memory, with AVX-512. */
#include "avx512.h"

void native_permute(struct compiler *c, unsigned to, unsigned table, unsigned low, unsigned high) {
  gpr_constant(&c->x, RDX, (uint64_t)(uintptr_t)table_at(table));
  vec_rm(&c->x, MOVDQA_LOAD, to, 0, mem(RDX, 0), UNMASKED);
  vec_rr(&c->x, PERMI2D, to, low, high, UNMASKED);
}

/* Four dwords per lane: 16 lanes fill four registers. */
void load_quads(struct compiler *c, const uint8_t *z, const unsigned *t, struct memory at) {
  unsigned upper = t[4];
  for (int n = 0; n < 4; n++) {
    struct memory part = at;
    part.offset += 64 * n;
    vec_rm(&c->x, MOVDQU_LOAD, t[n], 0, part, UNMASKED);
  }
  for (unsigned n = 0; n < 4; n++) {
    native_permute(c, z[n], TABLE_FOURTH + n, t[0], t[1]);
    native_permute(c, upper, TABLE_FOURTH + n, t[2], t[3]);
    vec_rr(&c->x, INSERT_HALF, z[n], z[n], upper, UNMASKED), put8(&c->x, 1);
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
    vec_rm(&c->x, MOVDQU_STORE, out, 0, part, UNMASKED);
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
      vec_rr(&c->x, PXORD, z[2], z[2], z[2], UNMASKED);
      vec_rr(&c->x, PXORD, z[3], z[3], z[3], UNMASKED);
      k_shift_right(&c->x, z[7], K_EXEC, 8);
      vec_rm(&c->x, (struct evex){1, 2, 1, 0x6f}, z[2], 0, at, (struct masking){K_EXEC, false});
      vec_rm(&c->x, (struct evex){1, 2, 1, 0x6f}, z[3], 0, next, (struct masking){z[7], false});
    } else {
      vec_rm(&c->x, MOVDQU_LOAD, z[2], 0, at, UNMASKED);
      vec_rm(&c->x, MOVDQU_LOAD, z[3], 0, next, UNMASKED);
    }
    native_permute(c, z[0], TABLE_EVEN, z[2], z[3]);
    native_permute(c, z[1], TABLE_ODD, z[2], z[3]);
    break;
  case MEMORY_B32: vec_rm(&c->x, MOVDQU_LOAD, z[0], 0, at, exec_mask(c, true)); break;
  default: vec_rm(&c->x, *small[m->kind], z[0], 0, at, exec_mask(c, true)); break;
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
    vec_rm(&c->x, (struct evex){1, 2, 1, 0x7f}, z[2], 0, at, exec_mask(c, false));
    vec_rm(&c->x, (struct evex){1, 2, 1, 0x7f}, z[3], 0, next, (struct masking){c->masked ? z[7] : 0, false});
    break;
  case MEMORY_B8: vec_rm(&c->x, TRUNCATE_B, z[0], 0, at, exec_mask(c, false)); break;
  case MEMORY_B16: vec_rm(&c->x, TRUNCATE_W, z[0], 0, at, exec_mask(c, false)); break;
  default: vec_rm(&c->x, MOVDQU_STORE, z[0], 0, at, exec_mask(c, false)); break;
  }
}

void native_lanes(struct compiler *c, unsigned k) {
  if (c->masked) k_op(&c->x, K_OR, k, K_EXEC, K_EXEC);
  else k_op(&c->x, K_XNOR, k, k, k);
}
