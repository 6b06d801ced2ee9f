/* Global memory with AVX2. A detour's z: data 0-3; 4, 5 the addresses, in halves; 6 low and 7 high dwords of them
 * (7: YMM_SPARE: from a scalar). t: temporaries. */
#include "avx2.h"

static struct memory site_at(const struct detour *d, unsigned bound) {
  return mem(R15, (int32_t)(d->site * sizeof(struct native_site) + 8 * bound));
}

/* Jumps if rax is outside of the site. */
static unsigned check_site(struct compiler *c, const struct detour *d, jump *outside) {
  gpr_rm(&c->x, OP_CMP, true, RAX, site_at(d, 0));
  outside[0] = jump_if(&c->x, CC_B);
  gpr_rm(&c->x, OP_CMP, true, RAX, site_at(d, 1));
  outside[1] = jump_if(&c->x, CC_A);
  return 2;
}

/* rax += the scalar base, or rcx << 32, and the offset. */
static void full_address(struct compiler *c, const struct detour *d, bool scalar) {
  struct x86 *x = &c->x;
  if (scalar) gpr_rm(x, OP_ADD, true, RAX, SCALAR(d->i->src[MEM_SADDR]));
  else gpr_shift_left(x, RCX, 32), gpr_rr(x, OP_OR, true, RAX, RCX);
  if (d->offset) gpr_immediate(x, 0, true, RAX, d->offset);
}

/* One element for all lanes, if they have the same address. */
static unsigned load_same(struct compiler *c, const struct detour *d, jump *other) {
  struct x86 *x = &c->x;
  unsigned t = d->z[4], n_other = 0;
  bool scalar = d->z[7] == YMM_SPARE;
  if (c->masked) other[n_other++] = find_active(c);
  for (unsigned part = 0; part < (scalar ? 1 : 2); part++) {
    first_lane(c, part ? RCX : RAX, t, d->z[6 + part]);
    vec_rr(x, PXORD, t, t, d->z[6 + part], UNMASKED);
    test_active(c, t);
    other[n_other++] = jump_if(x, CC_NE);
  }
  full_address(c, d, scalar);
  n_other += check_site(c, d, other + n_other);
  if (d->n_data == 2 || d->n_data == 4) {   /* in one access */
    vec_rm(x, d->n_data == 4 ? BROADCAST_QUAD : BROADCAST_Q, t, 0, mem(RAX, 0), UNMASKED);
    for (unsigned n = 0; n < d->n_data; n++) vec_rr(x, PSHUFD, d->z[n], 0, t, UNMASKED), put8(x, 0x55 * n);
  } else {
    for (unsigned n = 0; n < d->n_data; n++) vec_rm(x, BROADCAST_D, d->z[n], 0, mem(RAX, 4 * (int32_t)n), UNMASKED);
  }
  land_at(x, jump_always(x), d->back);
  return n_other;
}

/* z[4] and z[5] = the addresses of lanes 0 to 3 and 4 to 7. */
static void wide_addresses(struct compiler *c, const struct detour *d) {
  struct x86 *x = &c->x;
  unsigned low = d->z[6], high = d->z[7], base = YMM_SPARE;
  bool scalar = high == YMM_SPARE;
  for (unsigned half = 0; half < 2; half++) {
    unsigned to = d->z[4 + half], from = low;
    if (half) vec_rr(x, EXTRACT_QUAD, low, 0, from = to, UNMASKED), put8(x, 1);
    vec_rr(x, MOVZX_DQ, to, 0, from, UNMASKED);
    if (scalar) continue;
    if (half) vec_rr(x, EXTRACT_QUAD, high, 0, YMM_SPARE, UNMASKED), put8(x, 1);
    vec_rr(x, MOVZX_DQ, YMM_SPARE, 0, half ? YMM_SPARE : high, UNMASKED);
    vec_shift_q(x, YMM_SPARE, YMM_SPARE, 6, 32, UNMASKED);
    vec_rr(x, OR_D, to, to, YMM_SPARE, UNMASKED);
  }
  if (!scalar && !d->offset) return;
  if (scalar) {
    gpr_rm(x, OP_MOV, true, RAX, SCALAR(d->i->src[MEM_SADDR]));
    if (d->offset) gpr_immediate(x, 0, true, RAX, d->offset);
  } else {
    gpr_constant(x, RAX, (uint64_t)(int64_t)d->offset);
  }
  vec_broadcast(x, base, RAX, true);
  for (unsigned half = 0; half < 2; half++) vec_rr(x, PADDQ, d->z[4 + half], d->z[4 + half], base, UNMASKED);
}

/* Jumps if an active lane's address is outside of the site: sites are below 2^63, addresses compare as signed. */
static jump check_lanes(struct compiler *c, const struct detour *d) {
  struct x86 *x = &c->x;
  unsigned t = d->t[0], outside[2] = {d->t[1], YMM_SPARE};
  for (unsigned half = 0; half < 2; half++) {
    unsigned at = d->z[4 + half], wrong = outside[half];
    vec_rm(x, BROADCAST_Q, t, 0, site_at(d, 0), UNMASKED);
    vec_rr(x, CMPGT_Q, wrong, t, at, UNMASKED);
    vec_rm(x, BROADCAST_Q, t, 0, site_at(d, 1), UNMASKED);
    vec_rr(x, CMPGT_Q, t, at, t, UNMASKED);
    vec_rr(x, OR_D, wrong, wrong, t, UNMASKED);
    if (!c->masked) continue;
    widen_mask(c, t, YMM_EXEC, half);
    vec_rr(x, AND_D, wrong, wrong, t, UNMASKED);
  }
  vec_rr(x, OR_D, t, outside[0], outside[1], UNMASKED);
  test_bits(c, t, t);
  return jump_if(x, CC_NE);
}

/* A dword of each lane, at its address plus offset. */
static void gather_dwords(struct compiler *c, const struct detour *d, unsigned to, int32_t offset) {
  static const struct evex gather = {2, 1, 0, 0x91};
  struct x86 *x = &c->x;
  unsigned mask = d->t[0], upper = d->t[1];
  active_lanes(c, mask);
  vec_rm(x, gather, to, mask, mem_vec(RAX, d->z[4], offset), UNMASKED);
  active_lanes(c, mask);
  vec_rr(x, EXTRACT_QUAD, mask, 0, mask, UNMASKED), put8(x, 1);
  vec_rm(x, gather, upper, mask, mem_vec(RAX, d->z[5], offset), UNMASKED);
  vec_rr(x, INSERT_QUAD, to, to, upper, UNMASKED), put8(x, 1);
}

static void gather_pairs(struct compiler *c, const struct detour *d) {
  static const struct evex gather = {2, 1, 1, 0x91};
  struct x86 *x = &c->x;
  unsigned mask = d->t[2];
  for (unsigned half = 0; half < 2; half++) {
    active_lanes(c, mask);
    widen_mask(c, mask, mask, half);
    vec_rm(x, gather, d->t[half], mask, mem_vec(RAX, d->z[4 + half], 0), UNMASKED);
  }
  for (unsigned high = 0; high < 2; high++) {
    vec_rr(x, SHUFFLE_PS, d->z[high], d->t[0], d->t[1], UNMASKED), put8(x, high ? 0xdd : 0x88);
    vec_rr(x, PERMUTE_Q, d->z[high], 0, d->z[high], UNMASKED), put8(x, 0xd8);
  }
}

/* Four dwords of each lane in one access. Lanes that are not active read at the start of the site. */
static void gather_quads(struct compiler *c, const struct detour *d) {
  struct x86 *x = &c->x;
  for (unsigned half = 0; half < 2; half++) {
    unsigned at = d->z[4 + half];
    if (c->masked) {
      vec_rm(x, BROADCAST_Q, d->t[0], 0, site_at(d, 0), UNMASKED);
      widen_mask(c, d->t[1], YMM_EXEC, half);
      blend(c, at, d->t[0], at, d->t[1]);
    }
    vec_rm(x, MOVDQA_STORE, at, 0, FRAME(address[4 * half]), UNMASKED);
  }
  for (unsigned lane = 0; lane < 8; lane++) {
    unsigned to = d->t[lane % 4];
    gpr_rm(x, OP_MOV, true, RAX, FRAME(address[lane]));
    if (lane < 4) vec_rm_length(x, MOVDQU_LOAD, to, 0, mem(RAX, 0), UNMASKED, LENGTH_128);
    else vec_rm(x, INSERT_QUAD, to, to, mem(RAX, 0), UNMASKED), put8(x, 1);
  }
  transpose(c, d->z, d->t);
}

/* Detour: addresses that are not consecutive. */
static void scattered(struct compiler *c, const struct detour *d) {
  struct x86 *x = &c->x;
  const struct native_memory *m = d->memory;
  jump other[5], outside = NULL;
  unsigned n_other = 0;
  bool dwords = bytes_of(m) >= 4;
  if (!m->store && dwords) n_other = load_same(c, d, other);
  for (unsigned n = 0; n < n_other; n++) land(x, other[n]);
  wide_addresses(c, d);
  if (dwords && !(m->store && d->n_data > 2)) {
    outside = check_lanes(c, d);
    if (m->store) {
      for (unsigned half = 0; half < 2; half++)
        vec_rm(x, MOVDQA_STORE, d->z[4 + half], 0, FRAME(address[4 * half]), UNMASKED);
      store_lanes(c, d);
    } else if (d->n_data == 4) {
      gather_quads(c, d);
    } else {
      gpr_constant(x, RAX, 0);   /* gathers need a base */
      if (d->n_data == 2) gather_pairs(c, d);
      else
        for (unsigned n = 0; n < d->n_data; n++) gather_dwords(c, d, d->z[n], 4 * (int32_t)n);
    }
    land_at(x, jump_always(x), d->back);
  }
  if (outside) land(x, outside);
  for (unsigned half = 0; half < 2; half++)
    vec_rm(x, MOVDQA_STORE, d->z[4 + half], 0, FRAME(address[4 * half]), UNMASKED);
  call_access(c, d);
}

/* Jumps to the detour unless the lanes' addresses are consecutive and inside of the site; rax = the first lane's. */
static jump check_row(struct compiler *c, struct detour *d, bool scalar) {
  struct x86 *x = &c->x;
  unsigned low = d->z[6], high = d->z[7], t1 = d->t[0], t2 = d->t[1], step = step_of(d->memory);
  jump none = c->masked ? find_active(c) : NULL;
  gpr_constant(x, RDI, (uint64_t)(uintptr_t)table_at(step));
  vec_rm(x, PSUBD, t1, low, mem(RDI, 0), UNMASKED);
  first_lane(c, RAX, t2, t1);
  vec_rr(x, PXORD, t1, t1, t2, UNMASKED);
  if (!scalar) {
    first_lane(c, RCX, t2, high);
    vec_rr(x, PXORD, t2, t2, high, UNMASKED);
    vec_rr(x, OR_D, t1, t1, t2, UNMASKED);
  }
  test_active(c, t1);
  d->from[d->n_from++] = jump_if(x, CC_NE);
  if (c->masked || scalar || d->offset) {   /* the low dword does not wrap around; otherwise the site ends there */
    gpr_immediate(x, 7, false, RAX, -(int32_t)(8 * bytes_of(d->memory)));
    d->from[d->n_from++] = jump_if(x, CC_A);
  }
  full_address(c, d, scalar);
  if (c->masked) {   /* from the first active lane to the last */
    unsigned shift = (unsigned)__builtin_ctz(step);
    gpr_rr(x, OP_SUB, true, RSI, RSP);
    if (shift > 2) gpr_shift_left(x, RSI, shift - 2);
    else if (shift < 2) put8(x, 0xc1), put8(x, 0xee), put8(x, 2 - shift);   /* shr esi */
    put8(x, 0x0f), put8(x, 0xbd), put8(x, 0xd2);                            /* bsr edx, edx */
    if (shift) gpr_shift_left(x, RDX, shift);
    gpr_rr(x, OP_ADD, true, RSI, RAX);
    gpr_rr(x, OP_ADD, true, RDX, RAX);
    gpr_rm(x, OP_CMP, true, RSI, site_at(d, 0));
    d->from[d->n_from++] = jump_if(x, CC_B);
    gpr_rm(x, OP_CMP, true, RDX, site_at(d, 1));
  } else {
    gpr_rm(x, OP_CMP, true, RAX, site_at(d, 0));
    d->from[d->n_from++] = jump_if(x, CC_B);
    gpr_lea(x, RCX, mem(RAX, (int32_t)(7 * step)));
    gpr_rm(x, OP_CMP, true, RCX, site_at(d, 1));
  }
  d->from[d->n_from++] = jump_if(x, CC_A);
  return none;
}

/* All registers are reserved before the first jump: reserving one may write another back. */
void avx2_global(struct compiler *c, const struct inst *i, const struct native_memory *m) {
  struct x86 *x = &c->x;
  unsigned dwords = dwords_of(m);
  bool scalar = i->src_kind[MEM_SADDR] != OPERAND_NONE;
  unsigned low = vec_row(c, i->src[MEM_ADDR]), high = scalar ? YMM_SPARE : vec_row(c, i->src[MEM_ADDR] + 1u);
  struct detour *d = detour_new(c, i);
  d->emit = scattered;
  d->memory = m;
  d->n_data = (uint8_t)dwords;
  d->site = site_of(c, m);
  d->offset = i->imm;
  for (unsigned n = 0; n < dwords; n++)
    d->z[n] = (uint8_t)(m->store ? vec_row(c, i->src[MEM_DATA] + n) : vec_temporary(c));
  d->z[4] = (uint8_t)vec_temporary(c), d->z[5] = (uint8_t)vec_temporary(c);
  d->z[6] = (uint8_t)low, d->z[7] = (uint8_t)high;
  for (unsigned n = 0; n < 4; n++) d->t[n] = (uint8_t)vec_temporary(c);
  jump none = NULL;
  if (!row_known(c, m)) {
    if (c->masked) none = find_active(c);
    d->from[d->n_from++] = jump_always(x);
  } else {
    none = check_row(c, d, scalar);
    if (m->store) avx2_store_row(c, m, d->z, d->t, mem(RAX, 0));
    else avx2_load_row(c, m, d->z, d->t, mem(RAX, 0));
  }
  d->back = x->at;
  if (none) land(x, none);
  for (unsigned n = 0; n < 4; n++) vec_free(c, d->z[4 + n]), vec_free(c, d->t[n]);
  if (m->store) memory_immediate(x, 0, true, WAVE(changes), 1);
  else
    for (unsigned n = 0; n < dwords; n++) commit_row(c, i->dst + n, d->z[n]);
}
