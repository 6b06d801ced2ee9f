/* LDS with AVX-512. */
#include "avx512.h"

enum { ROW, SAME, OTHER };

/* The slot with the pattern of addresses in a row, for elements of `bytes`. */
static unsigned lds_pattern(struct compiler *c, unsigned row, unsigned bytes) {
  for (unsigned s = 0; s < c->n_slots; s++)
    if (c->slots[s].row == row_key(c, row) && c->slots[s].step == bytes) return s;
  unsigned slot = c->n_slots < 8 ? c->n_slots++ : c->clock % 8;
  c->slots[slot].row = row_key(c, row), c->slots[slot].step = bytes;
  struct x86 *x = &c->x;
  struct memory first = mem(RSP, (int32_t)(offsetof(struct frame, slot) + 8 * slot)), pattern = first;
  pattern.offset += 4;
  unsigned low = vec_row(c, row), t1 = vec_temporary(c), t2 = vec_temporary(c), steps = vec_table(c, bytes);
  unsigned k = mask_temporary(c);
  jump done[2];
  vec_rr(x, PSUBD, t1, low, steps, UNMASKED);
  if (c->masked) vec_rr(x, PCOMPRESSD, t1, 0, t2, (struct masking){K_EXEC, true});
  gpr_vec(x, RAX, c->masked ? t2 : low);
  vec_rr(x, BROADCAST_D, t2, 0, c->masked ? t2 : low, UNMASKED);
  vec_compare(x, PCMPD, k, t1, t2, 4, c->masked ? K_EXEC : 0);
  gpr_constant(x, RCX, ROW);
  k_test(x, k);
  done[0] = jump_if(x, CC_E);
  if (c->masked) {
    vec_rr(x, PCOMPRESSD, low, 0, t2, (struct masking){K_EXEC, true});
    gpr_vec(x, RAX, t2);
    vec_rr(x, BROADCAST_D, t2, 0, t2, UNMASKED);
  }
  vec_compare(x, PCMPD, k, low, t2, 4, c->masked ? K_EXEC : 0);
  gpr_constant(x, RCX, SAME);
  k_test(x, k);
  done[1] = jump_if(x, CC_E);
  gpr_constant(x, RCX, OTHER);
  land(x, done[0]), land(x, done[1]);
  gpr_store(x, false, first, RAX);
  gpr_store(x, false, pattern, RCX);
  return slot;
}

/* Detour: one element for all lanes, or scattered ones. ecx: the pattern, rax: the first offset. z: data 0-3; 4, 5
 * temporaries; 6 the row of offsets. */
static void lds_scattered(struct compiler *c, const struct detour *d) {
  struct x86 *x = &c->x;
  const struct native_memory *m = d->memory;
  unsigned bytes = bytes_of(m), dwords = dwords_of(m), k = d->k, t1 = d->z[4], t2 = d->z[5];
  jump slow[4];
  unsigned n_slow = 0;
  bool wide = bytes >= 4;
  if (!m->store && wide) {
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
  vec_constant(x, t2, (uint32_t)d->offset);
  vec_rr(x, PADDD, t1, d->z[6], t2, UNMASKED);
  if (wide) {
    gpr_rm(x, OP_MOV, false, RAX, WAVE(lds_size));
    gpr_immediate(x, 5, false, RAX, (int32_t)bytes);
    slow[n_slow++] = jump_if(x, CC_B);
    vec_rr(x, BROADCAST_GPR, t2, 0, RAX, UNMASKED);
    vec_compare(x, PCMPUD, k, t1, t2, 6, c->masked ? K_EXEC : 0);
    k_test(x, k);
    slow[n_slow++] = jump_if(x, CC_NE);
    if (m->store && dwords == 2) {   /* lane by lane, because elements may overlap */
      native_permute(c, d->z[2], TABLE_LOW, d->z[0], d->z[1]);
      native_permute(c, d->z[3], TABLE_HIGH, d->z[0], d->z[1]);
      vec_rr(x, EXTRACT_HALF, t1, 0, t2, UNMASKED), put8(x, 1);
      native_lanes(c, k);
      vec_rm(x, SCATTER_DQ, d->z[2], 0, mem_vec(RBP, t1, 0), (struct masking){(uint8_t)k, false});
      native_lanes(c, k);
      k_shift_right(x, k, k, 8);
      vec_rm(x, SCATTER_DQ, d->z[3], 0, mem_vec(RBP, t2, 0), (struct masking){(uint8_t)k, false});
    }
    for (unsigned n = 0; n < dwords && !(m->store && dwords == 2); n++) {
      native_lanes(c, k);
      vec_rm(x, m->store ? SCATTER_DD : GATHER_DD, d->z[n], 0, mem_vec(RBP, t1, 4 * (int32_t)n),
             (struct masking){(uint8_t)k, false});
    }
    land_at(x, jump_always(x), d->back);
  }
  for (unsigned n = 0; n < n_slow; n++) land(x, slow[n]);
  vec_rm(x, MOVDQA_STORE, t1, 0, FRAME(offset), UNMASKED);
  call_access(c, d);
}

/* One element per lane at the address plus offset. */
static void lds_element(struct compiler *c, const struct inst *i, const struct native_memory *m, unsigned which,
                        unsigned slot) {
  struct x86 *x = &c->x;
  unsigned bytes = bytes_of(m), dwords = dwords_of(m);
  int32_t offset = (int32_t)lds_offset(i, m, which);
  struct detour *d = detour_new(c, i);
  d->emit = lds_scattered;
  d->memory = m;
  d->offset = offset;
  d->n_data = (uint8_t)dwords;
  unsigned data = which ? i->src[MEM_DATA2] : i->src[MEM_DATA];
  for (unsigned n = 0; n < dwords; n++) d->z[n] = (uint8_t)(m->store ? vec_row(c, data + n) : vec_temporary(c));
  for (unsigned n = dwords; n < 4 && dwords > 1; n++) d->z[n] = (uint8_t)vec_temporary(c);
  d->z[4] = (uint8_t)vec_temporary(c), d->z[5] = (uint8_t)vec_temporary(c);
  d->z[6] = (uint8_t)vec_row(c, i->src[MEM_ADDR]);
  d->k = (uint8_t)mask_temporary(c);
  struct memory first = mem(RSP, (int32_t)(offsetof(struct frame, slot) + 8 * slot)), pattern = first;
  pattern.offset += 4;
  gpr_rm(x, OP_MOV, false, RCX, pattern);
  gpr_rm(x, OP_MOV, false, RAX, first);
  if (bytes <= 8) {
    put8(x, 0x85), put8(x, 0xc9);   /* test ecx, ecx */
    d->from[d->n_from++] = jump_if(x, CC_NE);
    gpr_lea(x, RDX, mem(RAX, offset + 16 * (int32_t)bytes));
    gpr_rm(x, OP_MOV, false, RSI, WAVE(lds_size));
    gpr_rr(x, OP_CMP, true, RDX, RSI);
    d->from[d->n_from++] = jump_if(x, CC_A);
    gpr_rr(x, OP_ADD, true, RAX, RBP);
    uint8_t z[8];
    memcpy(z, d->z, sizeof z);
    z[7] = d->k;
    if (m->store) store_row(c, m, z, mem(RAX, offset));
    else load_row(c, m, z, mem(RAX, offset));
  } else {
    d->from[d->n_from++] = jump_always(x);
  }
  d->back = x->at;
}

void avx512_lds(struct compiler *c, const struct inst *i, const struct native_memory *m) {
  unsigned dwords = dwords_of(m), slot = lds_pattern(c, i->src[MEM_ADDR], bytes_of(m));
  unsigned first = c->n_detours;
  lds_element(c, i, m, 0, slot);
  if (m->unit) lds_element(c, i, m, 1, slot);
  if (m->store) memory_immediate(&c->x, 0, true, WAVE(changes), 1);
  else
    for (unsigned e = 0; e < (m->unit ? 2 : 1); e++)
      for (unsigned n = 0; n < dwords; n++) commit_row(c, i->dst + e * dwords + n, c->detours[first + e].z[n]);
}
