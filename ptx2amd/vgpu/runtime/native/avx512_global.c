/* Global memory with AVX-512. */
#include "avx512.h"

/* The element for all lanes if they have the same address. Jumps away if they do not. */
static void global_same(struct compiler *c, const struct detour *d, jump *other, unsigned *n_other) {
  struct x86 *x = &c->x;
  unsigned t = d->z[4], spare = d->pattern_slot, k = d->k, mask = c->masked ? K_EXEC : 0;
  bool scalar = d->z[7] == 255;
  for (unsigned part = 0; part < (scalar ? 1 : 2); part++) {
    unsigned row = d->z[6 + part], first = row;
    if (c->masked) vec_rr(x, PCOMPRESSD, row, 0, first = t, (struct masking){K_EXEC, true});
    gpr_vec(x, part ? RCX : RAX, first);
    vec_rr(x, BROADCAST_D, spare, 0, first, UNMASKED);
    vec_compare(x, PCMPD, k, row, spare, 4, mask);
    k_test(x, k);
    other[(*n_other)++] = jump_if(x, CC_NE);
  }
  if (scalar) gpr_rm(x, OP_ADD, true, RAX, SCALAR(d->i->src[MEM_SADDR]));
  else gpr_shift_left(x, RCX, 32), gpr_rr(x, OP_OR, true, RAX, RCX);
  if (d->offset) gpr_immediate(x, 0, true, RAX, d->offset);
  int32_t site = (int32_t)(d->site * sizeof(struct native_site));
  gpr_rm(x, OP_CMP, true, RAX, mem(R15, site));
  other[(*n_other)++] = jump_if(x, CC_B);
  gpr_rm(x, OP_CMP, true, RAX, mem(R15, site + 8));
  other[(*n_other)++] = jump_if(x, CC_A);
  if (d->memory->kind == MEMORY_B128) {   /* in one access */
    vec_rm(x, BROADCAST_QUAD, t, 0, mem(RAX, 0), UNMASKED);
    for (unsigned n = 0; n < 4; n++) vec_rr(x, PSHUFD, d->z[n], 0, t, UNMASKED), put8(x, 0x55 * n);
  } else if (d->memory->kind == MEMORY_B64) {
    gpr_rm(x, OP_MOV, true, RCX, mem(RAX, 0));
    vec_rr(x, BROADCAST_GPR, d->z[0], 0, RCX, UNMASKED);
    put8(x, 0x48), put8(x, 0xc1), put8(x, 0xe9), put8(x, 32);   /* shr rcx, 32 */
    vec_rr(x, BROADCAST_GPR, d->z[1], 0, RCX, UNMASKED);
  } else {
    for (int32_t n = 0; n < d->n_data; n++) vec_rm(x, BROADCAST_D, d->z[n], 0, mem(RAX, 4 * n), UNMASKED);
  }
  land_at(x, jump_always(x), d->back);
}

/* Four dwords per lane, each lane's in one access, from the addresses in first (lanes 0 to 7) and second. k, k + 1: the
 * active lanes; the others read at the start of the site. */
static void load_quads_scattered(struct compiler *c, const struct detour *d, unsigned first, unsigned second) {
  struct x86 *x = &c->x;
  const uint8_t *z = d->z;
  if (c->masked) {
    unsigned some = d->pattern_slot;
    vec_rm(x, BROADCAST_Q, some, 0, mem(R15, (int32_t)(d->site * sizeof(struct native_site))), UNMASKED);
    vec_rr(x, PBLENDMQ, first, some, first, (struct masking){d->k, false});
    vec_rr(x, PBLENDMQ, second, some, second, (struct masking){(uint8_t)(d->k + 1), false});
  }
  vec_rm(x, MOVDQA_STORE, first, 0, FRAME(address), UNMASKED);
  vec_rm(x, MOVDQA_STORE, second, 0, FRAME(address[8]), UNMASKED);
  for (unsigned lane = 0; lane < 16; lane++) {   /* lane 4 s + n: quarter s of z[n] */
    unsigned to = z[lane % 4];
    gpr_rm(x, OP_MOV, true, RAX, FRAME(address[lane]));
    if (lane < 4) vec_rm_length(x, MOVDQU_LOAD, to, 0, mem(RAX, 0), UNMASKED, LENGTH_128);
    else vec_rm(x, INSERT_QUAD, to, to, mem(RAX, 0), UNMASKED), put8(x, lane / 4);
  }
  vec_rr(x, UNPACK_LOW_D, first, z[0], z[1], UNMASKED);
  vec_rr(x, UNPACK_LOW_D, second, z[2], z[3], UNMASKED);
  vec_rr(x, UNPACK_HIGH_D, z[0], z[0], z[1], UNMASKED);
  vec_rr(x, UNPACK_HIGH_D, z[2], z[2], z[3], UNMASKED);
  vec_rr(x, UNPACK_HIGH_Q, z[3], z[0], z[2], UNMASKED);
  vec_rr(x, UNPACK_LOW_Q, z[2], z[0], z[2], UNMASKED);
  vec_rr(x, UNPACK_HIGH_Q, z[1], first, second, UNMASKED);
  vec_rr(x, UNPACK_LOW_Q, z[0], first, second, UNMASKED);
}

/* Detour: addresses that are not consecutive. z: data 0-3; 4, 5 temporaries; 6 low and 7 high dwords (7: 255: from a
 * scalar). k: two free mask registers from here on. */
static void global_scattered(struct compiler *c, const struct detour *d) {
  struct x86 *x = &c->x;
  unsigned first = d->z[4], second = d->z[5], low = d->z[6], high = d->z[7], spare = d->pattern_slot;
  bool scalar = high == 255;
  jump other[4];
  unsigned n_other = 0;
  if (!d->memory->store && bytes_of(d->memory) >= 4) global_same(c, d, other, &n_other);
  for (unsigned n = 0; n < n_other; n++) land(x, other[n]);
  for (int half = 0; half < 2; half++) {
    unsigned to = half ? second : first;
    unsigned from = low;
    if (half) {
      vec_rr(x, EXTRACT_HALF, low, 0, to, UNMASKED), put8(x, 1);
      from = to;
    }
    vec_rr(x, MOVZX_DQ, to, 0, from, UNMASKED);
    if (!scalar) {
      from = high;
      if (half) {
        vec_rr(x, EXTRACT_HALF, high, 0, spare, UNMASKED), put8(x, 1);
        from = spare;
      }
      vec_rr(x, MOVZX_DQ, spare, 0, from, UNMASKED);
      vec_shift_q(x, spare, spare, 6, 32, UNMASKED);
      vec_rr(x, PORQ, to, to, spare, UNMASKED);
    }
  }
  if (scalar) {
    gpr_rm(x, OP_MOV, true, RAX, SCALAR(d->i->src[MEM_SADDR]));
    if (d->offset) gpr_immediate(x, 0, true, RAX, d->offset);
  } else {
    put8(x, 0x48), put8(x, 0xc7), put8(x, 0xc0), put32(x, (uint32_t)d->offset);   /* mov rax, sign-extended */
  }
  if (scalar || d->offset) {
    vec_rr(x, BROADCAST_GPRQ, spare, 0, RAX, UNMASKED);
    vec_rr(x, PADDQ, first, first, spare, UNMASKED);
    vec_rr(x, PADDQ, second, second, spare, UNMASKED);
  }
  jump outside[2];
  unsigned n_outside = 0;
  bool gathers = bytes_of(d->memory) >= 4 && !(d->memory->store && d->n_data > 2);   /* elements may overlap: done in C
                                                                                      * */
  unsigned k = d->k, k2 = d->k + 1u;   /* two that are free */
  if (gathers) {
    int32_t site = (int32_t)(d->site * sizeof(struct native_site));
    for (unsigned bound = 0; bound < 2; bound++) {   /* below the site's first address, above its last */
      uint8_t relation = bound ? 6 : 1;
      native_lanes(c, k);
      k_shift_right(x, k2, k, 8);
      vec_rm(x, BROADCAST_Q, spare, 0, mem(R15, site + 8 * (int32_t)bound), UNMASKED);
      vec_compare(x, PCMPUQ, k, first, spare, relation, k);
      vec_compare(x, PCMPUQ, k2, second, spare, relation, k2);
      k_op(x, K_OR, k, k, k2);
      k_test(x, k);
      outside[n_outside++] = jump_if(x, CC_NE);
    }
    native_lanes(c, k);
    k_shift_right(x, k2, k, 8);
    gpr_constant(x, RAX, 0);   /* gathers need a base */
    if (d->n_data == 4) {
      load_quads_scattered(c, d, first, second);
    } else if (d->n_data == 3) {
      for (int32_t n = 0; n < d->n_data; n++) {
        native_lanes(c, k);
        k_shift_right(x, k2, k, 8);
        vec_rm(x, GATHER_QD, d->z[n], 0, mem_vec(RAX, first, 4 * n), (struct masking){(uint8_t)k, false});
        vec_rm(x, GATHER_QD, spare, 0, mem_vec(RAX, second, 4 * n), (struct masking){(uint8_t)k2, false});
        vec_rr(x, INSERT_HALF, d->z[n], d->z[n], spare, UNMASKED), put8(x, 1);
      }
    } else if (d->memory->kind == MEMORY_B64) {
      if (d->memory->store) {
        native_permute(c, d->z[2], TABLE_LOW, d->z[0], d->z[1]);
        native_permute(c, d->z[3], TABLE_HIGH, d->z[0], d->z[1]);
        vec_rm(x, SCATTER_QQ, d->z[2], 0, mem_vec(RAX, first, 0), (struct masking){(uint8_t)k, false});
        vec_rm(x, SCATTER_QQ, d->z[3], 0, mem_vec(RAX, second, 0), (struct masking){(uint8_t)k2, false});
      } else {
        vec_rm(x, GATHER_QQ, d->z[2], 0, mem_vec(RAX, first, 0), (struct masking){(uint8_t)k, false});
        vec_rm(x, GATHER_QQ, d->z[3], 0, mem_vec(RAX, second, 0), (struct masking){(uint8_t)k2, false});
        native_permute(c, d->z[0], TABLE_EVEN, d->z[2], d->z[3]);
        native_permute(c, d->z[1], TABLE_ODD, d->z[2], d->z[3]);
      }
    } else if (d->memory->store) {
      vec_rr(x, EXTRACT_HALF, d->z[0], 0, spare, UNMASKED), put8(x, 1);
      vec_rm(x, SCATTER_QD, d->z[0], 0, mem_vec(RAX, first, 0), (struct masking){(uint8_t)k, false});
      vec_rm(x, SCATTER_QD, spare, 0, mem_vec(RAX, second, 0), (struct masking){(uint8_t)k2, false});
    } else {
      vec_rm(x, GATHER_QD, d->z[0], 0, mem_vec(RAX, first, 0), (struct masking){(uint8_t)k, false});
      vec_rm(x, GATHER_QD, spare, 0, mem_vec(RAX, second, 0), (struct masking){(uint8_t)k2, false});
      vec_rr(x, INSERT_HALF, d->z[0], d->z[0], spare, UNMASKED), put8(x, 1);
    }
    land_at(x, jump_always(x), d->back);
  }
  for (unsigned n = 0; n < n_outside; n++) land(x, outside[n]);
  vec_rm(x, MOVDQA_STORE, first, 0, FRAME(address), UNMASKED);
  vec_rm(x, MOVDQA_STORE, second, 0, FRAME(address[8]), UNMASKED);
  call_access(c, d);
}

/* All registers are reserved before the first jump: reserving one may write another back. */
void avx512_global(struct compiler *c, const struct inst *i, const struct native_memory *m) {
  struct x86 *x = &c->x;
  unsigned bytes = bytes_of(m), dwords = dwords_of(m);
  bool scalar = i->src_kind[MEM_SADDR] != OPERAND_NONE;
  unsigned low = vec_row(c, i->src[MEM_ADDR]), high = scalar ? 255 : vec_row(c, i->src[MEM_ADDR] + 1u);
  struct detour *d = detour_new(c, i);
  d->emit = global_scattered;
  d->memory = m;
  d->n_data = (uint8_t)dwords;
  d->site = site_of(c, m);
  d->offset = i->imm;
  for (unsigned n = 0; n < dwords; n++)
    d->z[n] = (uint8_t)(m->store ? vec_row(c, i->src[MEM_DATA] + n) : vec_temporary(c));
  for (unsigned n = dwords; n < 4 && dwords == 2; n++) d->z[n] = (uint8_t)vec_temporary(c);
  d->z[4] = (uint8_t)vec_temporary(c), d->z[5] = (uint8_t)vec_temporary(c);
  d->z[6] = (uint8_t)low, d->z[7] = (uint8_t)high;
  d->pattern_slot = (uint8_t)vec_temporary(c);
  bool quads = dwords == 4 && !c->masked;
  unsigned spare[5];
  for (unsigned n = 0; n < 5 && quads; n++) spare[n] = vec_temporary(c);
  /* Two neighbouring mask registers. */
  unsigned k = K_LAST - 1, k2 = K_LAST;
  c->k[k].key = c->k[k2].key = KEY_FREE;
  d->k = (uint8_t)k;
  unsigned t1 = d->z[4], t2 = d->z[5], step = step_of(m), steps = vec_table(c, step);
  vec_rr(x, PSUBD, t1, low, steps, UNMASKED);
  unsigned first = low, first_high = high;
  if (c->masked) {
    k_test(x, K_EXEC);
    jump none = jump_if(x, CC_E);
    vec_rr(x, PCOMPRESSD, t1, 0, t2, (struct masking){K_EXEC, true});
    gpr_vec(x, RAX, t2);
    vec_rr(x, BROADCAST_D, t2, 0, t2, UNMASKED);
    vec_compare(x, PCMPD, k, t1, t2, 4, K_EXEC);
    if (!scalar) {
      vec_rr(x, PCOMPRESSD, first_high, 0, t2, (struct masking){K_EXEC, true});
      gpr_vec(x, RCX, t2);
    }
    d->from[d->n_from++] = none;   /* cleared again below: no active lane, nothing to do */
  } else {
    gpr_vec(x, RAX, first);
    vec_rr(x, BROADCAST_D, t2, 0, first, UNMASKED);
    vec_compare(x, PCMPD, k, t1, t2, 4, 0);
    if (!scalar) {
      vec_rr(x, BROADCAST_D, t2, 0, first_high, UNMASKED);
      gpr_vec(x, RCX, first_high);
    }
  }
  jump none = c->masked ? d->from[--d->n_from] : NULL;
  if (!scalar) {
    if (c->masked) vec_rr(x, BROADCAST_D, t2, 0, t2, UNMASKED);
    vec_compare(x, PCMPD, k2, high, t2, 4, c->masked ? K_EXEC : 0);
    gpr_shift_left(x, RCX, 32);
  }
  k_test_both(x, k, scalar ? k : k2);
  d->from[d->n_from++] = jump_if(x, CC_NE);
  if (c->masked || scalar || i->imm) {   /* the low dword does not wrap around; otherwise the site ends there */
    gpr_immediate(x, 7, false, RAX, -(int32_t)(16 * bytes));
    d->from[d->n_from++] = jump_if(x, CC_A);
  }
  if (scalar) gpr_rm(x, OP_ADD, true, RAX, SCALAR(i->src[MEM_SADDR]));
  else gpr_rr(x, OP_OR, true, RAX, RCX);
  if (i->imm) gpr_immediate(x, 0, true, RAX, i->imm);
  int32_t site = (int32_t)(d->site * sizeof(struct native_site));
  if (c->masked) {   /* from the first active lane to the last */
    gpr_k(x, RDX, K_EXEC);
    put8(x, 0xf3), put8(x, 0x0f), put8(x, 0xbc), put8(x, 0xf2);   /* tzcnt esi, edx */
    put8(x, 0x0f), put8(x, 0xbd), put8(x, 0xd2);                  /* bsr edx, edx */
    unsigned shift = (unsigned)__builtin_ctz(step);
    if (shift) gpr_shift_left(x, RSI, shift), gpr_shift_left(x, RDX, shift);
    gpr_rr(x, OP_ADD, true, RSI, RAX);
    gpr_rr(x, OP_ADD, true, RDX, RAX);
    gpr_rm(x, OP_CMP, true, RSI, mem(R15, site));
    d->from[d->n_from++] = jump_if(x, CC_B);
    gpr_rm(x, OP_CMP, true, RDX, mem(R15, site + 8));
    d->from[d->n_from++] = jump_if(x, CC_A);
  } else {
    gpr_rm(x, OP_CMP, true, RAX, mem(R15, site));
    d->from[d->n_from++] = jump_if(x, CC_B);
    gpr_lea(x, RCX, mem(RAX, (int32_t)(15 * step)));
    gpr_rm(x, OP_CMP, true, RCX, mem(R15, site + 8));
    d->from[d->n_from++] = jump_if(x, CC_A);
  }
  uint8_t z[8];
  memcpy(z, d->z, sizeof z);
  z[7] = (uint8_t)k;
  if (quads && m->store) store_quads(c, z, spare, mem(RAX, 0));
  else if (quads) load_quads(c, z, spare, mem(RAX, 0));
  else if (dwords == 4 || (dwords == 3 && m->store)) d->from[d->n_from++] = jump_always(x);
  else if (dwords == 3)
    for (unsigned n = 0; n < dwords; n++)
      vec_rm(x, MOVDQU_LOAD, z[n], 0, mem(RAX, 4 * (int32_t)n), exec_mask(c, true));
  else if (m->store) store_row(c, m, z, mem(RAX, 0));
  else load_row(c, m, z, mem(RAX, 0));
  d->back = x->at;
  if (none) land(x, none);
  if (m->store) memory_immediate(x, 0, true, WAVE(changes), 1);
  else
    for (unsigned n = 0; n < dwords; n++) commit_row(c, i->dst + n, d->z[n]);
}
