/* LDS with AVX2. */
#include "avx2.h"

enum { ROW, SAME, OTHER };

static struct memory slot_at(unsigned slot, unsigned which) {
  return mem(RSP, (int32_t)(offsetof(struct frame, slot) + 8 * slot + 4 * which));
}

/* CC_NE: active lanes of `from` differ from the first one's, which is in eax. t: a temporary. */
static void compare_first(struct compiler *c, unsigned from, unsigned t) {
  first_lane(c, RAX, t, from);
  vec_rr(&c->x, PXORD, t, t, from, UNMASKED);
  test_active(c, t);
}

/* The slot with the pattern of addresses in a row, for elements of `bytes`. */
static unsigned address_pattern(struct compiler *c, unsigned row, unsigned bytes) {
  for (unsigned s = 0; s < c->n_slots; s++)
    if (c->slots[s].row == row_key(c, row) && c->slots[s].step == bytes) return s;
  unsigned slot = c->n_slots < 8 ? c->n_slots++ : c->clock % 8;
  c->slots[slot].row = row_key(c, row), c->slots[slot].step = bytes;
  struct x86 *x = &c->x;
  unsigned low = vec_row(c, row), t1 = vec_temporary(c), t2 = vec_temporary(c);
  jump done[2], none = c->masked ? find_active(c) : NULL;
  gpr_constant(x, RDI, (uint64_t)(uintptr_t)table_at(bytes));
  vec_rm(x, PSUBD, t1, low, mem(RDI, 0), UNMASKED);
  compare_first(c, t1, t2);
  gpr_constant(x, RCX, ROW);
  done[0] = jump_if(x, CC_E);
  compare_first(c, low, t2);
  gpr_constant(x, RCX, SAME);
  done[1] = jump_if(x, CC_E);
  if (none) land(x, none);
  gpr_constant(x, RCX, OTHER);
  land(x, done[0]), land(x, done[1]);
  gpr_store(x, false, slot_at(slot, 0), RAX);
  gpr_store(x, false, slot_at(slot, 1), RCX);
  return slot;
}

/* One element for all lanes. ecx: the pattern, rax: the first offset. */
static void load_same(struct compiler *c, const struct detour *d, unsigned bytes, unsigned dwords) {
  struct x86 *x = &c->x;
  gpr_immediate(x, 7, false, RCX, SAME);
  jump other = jump_if(x, CC_NE);
  gpr_lea(x, RDX, mem(RAX, d->offset + (int32_t)bytes));
  gpr_rm(x, OP_MOV, false, RSI, WAVE(lds_size));
  gpr_rr(x, OP_CMP, true, RDX, RSI);
  jump outside = jump_if(x, CC_A);
  gpr_rr(x, OP_ADD, true, RAX, RBP);
  for (unsigned n = 0; n < dwords; n++)
    vec_rm(x, BROADCAST_D, d->z[n], 0, mem(RAX, d->offset + 4 * (int32_t)n), UNMASKED);
  land_at(x, jump_always(x), d->back);
  land(x, other), land(x, outside);
}

/* The frame's addresses = LDS + offsets. */
static void store_addresses(struct compiler *c, unsigned offsets) {
  struct x86 *x = &c->x;
  vec_rm(x, MOVDQA_STORE, offsets, 0, FRAME(data[1]), UNMASKED);
  for (unsigned lane = 0; lane < 8; lane++) {
    gpr_rm(x, OP_MOV, false, RAX, mem(RSP, (int32_t)(offsetof(struct frame, data[1]) + 4 * lane)));
    gpr_rr(x, OP_ADD, true, RAX, RBP);
    gpr_store(x, true, FRAME(address[lane]), RAX);
  }
}

/* Detour: one element for all lanes, or scattered ones. z: data 0-3; 4, 5 temporaries; 6 the row of offsets. */
static void scattered(struct compiler *c, const struct detour *d) {
  static const struct evex gather = {2, 1, 0, 0x90};
  struct x86 *x = &c->x;
  const struct native_memory *m = d->memory;
  unsigned bytes = bytes_of(m), dwords = dwords_of(m), at = d->z[4], t = d->z[5];
  jump slow[2];
  unsigned n_slow = 0;
  if (!m->store && bytes >= 4) load_same(c, d, bytes, dwords);
  vec_constant(x, t, (uint32_t)d->offset);
  vec_rr(x, PADDD, at, d->z[6], t, UNMASKED);
  if (bytes >= 4) {
    gpr_rm(x, OP_MOV, false, RAX, WAVE(lds_size));
    gpr_immediate(x, 5, false, RAX, (int32_t)bytes);
    slow[n_slow++] = jump_if(x, CC_B);
    vec_broadcast(x, t, RAX, false);
    vec_rr(x, MAX_UD, YMM_SPARE, t, at, UNMASKED);
    vec_rr(x, CMPEQ_D, t, t, YMM_SPARE, UNMASKED);   /* lanes inside */
    active_lanes(c, YMM_SPARE);
    test_bits(c, t, YMM_SPARE);
    slow[n_slow++] = jump_if(x, CC_AE);
    if (m->store) {
      store_addresses(c, at);
      store_lanes(c, d);
    }
    for (unsigned n = 0; n < dwords && !m->store; n++) {
      active_lanes(c, t);
      vec_rm(x, gather, d->z[n], t, mem_vec(RBP, at, 4 * (int32_t)n), UNMASKED);
    }
    land_at(x, jump_always(x), d->back);
  }
  for (unsigned n = 0; n < n_slow; n++) land(x, slow[n]);
  vec_rm(x, MOVDQA_STORE, at, 0, FRAME(offset), UNMASKED);
  call_access(c, d);
}

/* One element per lane at the address plus offset. */
static void element(struct compiler *c, const struct inst *i, const struct native_memory *m, unsigned which, unsigned slot) {
  struct x86 *x = &c->x;
  unsigned bytes = bytes_of(m), dwords = dwords_of(m);
  int32_t offset = (int32_t)lds_offset(i, m, which);
  struct detour *d = detour_new(c, i);
  d->emit = scattered;
  d->memory = m;
  d->offset = offset;
  d->n_data = (uint8_t)dwords;
  unsigned data = which ? i->src[MEM_DATA2] : i->src[MEM_DATA];
  for (unsigned n = 0; n < dwords; n++) d->z[n] = (uint8_t)(m->store ? vec_row(c, data + n) : vec_temporary(c));
  d->z[4] = (uint8_t)vec_temporary(c), d->z[5] = (uint8_t)vec_temporary(c);
  d->z[6] = (uint8_t)vec_row(c, i->src[MEM_ADDR]);
  bool row = bytes <= 8 && row_known(c, m);
  uint8_t t[4] = {d->z[4], d->z[5]};
  for (unsigned n = 2; n < 4 && row && bytes == 8; n++) t[n] = (uint8_t)vec_temporary(c);
  gpr_rm(x, OP_MOV, false, RCX, slot_at(slot, 1));
  gpr_rm(x, OP_MOV, false, RAX, slot_at(slot, 0));
  if (row) {
    put8(x, 0x85), put8(x, 0xc9);   /* test ecx, ecx */
    d->from[d->n_from++] = jump_if(x, CC_NE);
    gpr_lea(x, RDX, mem(RAX, offset + 8 * (int32_t)bytes));
    gpr_rm(x, OP_MOV, false, RSI, WAVE(lds_size));
    gpr_rr(x, OP_CMP, true, RDX, RSI);
    d->from[d->n_from++] = jump_if(x, CC_A);
    gpr_rr(x, OP_ADD, true, RAX, RBP);
    if (m->store) avx2_store_row(c, m, d->z, t, mem(RAX, offset));
    else avx2_load_row(c, m, d->z, t, mem(RAX, offset));
  } else {
    d->from[d->n_from++] = jump_always(x);
  }
  d->back = x->at;
}

void avx2_lds(struct compiler *c, const struct inst *i, const struct native_memory *m) {
  unsigned dwords = dwords_of(m), slot = address_pattern(c, i->src[MEM_ADDR], bytes_of(m)), first = c->n_detours;
  element(c, i, m, 0, slot);
  if (m->unit) element(c, i, m, 1, slot);
  if (m->store) memory_immediate(&c->x, 0, true, WAVE(changes), 1);
  else
    for (unsigned e = 0; e < (m->unit ? 2 : 1); e++)
      for (unsigned n = 0; n < dwords; n++) commit_row(c, i->dst + e * dwords + n, c->detours[first + e].z[n]);
}
