/* Private memory with AVX-512. */
#include "avx512.h"

static unsigned lanes_shift(const struct compiler *c) { return (unsigned)__builtin_ctz(c->lanes); }

/* rax += offset of the first dword of the chunk's lanes. */
static void scratch_base(struct compiler *c) {
  gpr_rm(&c->x, OP_ADD, true, RAX, WAVE(scratch));
  gpr_rr(&c->x, OP_ADD, true, RAX, RBX);
  if (c->chunk) gpr_immediate(&c->x, 0, true, RAX, chunk_bytes(c));
  gpr_rm(&c->x, OP_SUB, true, RAX, WAVE(v));
}

/* Detour: lanes with different offsets, which are in z[4]. z: data 0-3; 5 a temporary. */
static void scratch_scattered(struct compiler *c, const struct detour *d) {
  static const struct evex test = {2, 1, 0, 0x27};
  struct x86 *x = &c->x;
  unsigned k = d->k, offsets = d->z[4], t = d->z[5], exec = c->masked ? K_EXEC : 0;
  jump slow[3];
  gpr_rm(x, OP_MOV, false, RAX, WAVE(scratch_size));
  gpr_immediate(x, 5, false, RAX, (int32_t)bytes_of(d->memory));
  slow[0] = jump_if(x, CC_B);
  vec_rr(x, BROADCAST_GPR, t, 0, RAX, UNMASKED);
  vec_compare(x, PCMPUD, k, offsets, t, 6, exec);
  k_test(x, k);
  slow[1] = jump_if(x, CC_NE);
  vec_constant(x, t, 3);
  vec_rr(x, test, k, offsets, t, (struct masking){(uint8_t)exec, false});
  k_test(x, k);
  slow[2] = jump_if(x, CC_NE);
  vec_shift_d(x, t, offsets, 6, lanes_shift(c), UNMASKED);
  gpr_constant(x, RDX, (uint64_t)(uintptr_t)table_at(TABLE_STEPS4));
  vec_rm(x, PADDD, t, t, mem(RDX, 0), UNMASKED);
  gpr_constant(x, RAX, 0);
  scratch_base(c);
  for (unsigned n = 0; n < d->n_data; n++) {
    native_lanes(c, k);
    vec_rm(x, d->memory->store ? SCATTER_DD : GATHER_DD, d->z[n], 0, mem_vec(RAX, t, (int32_t)n * c->row_bytes),
           (struct masking){(uint8_t)k, false});
  }
  land_at(x, jump_always(x), d->back);
  for (unsigned n = 0; n < 3; n++) land(x, slow[n]);
  vec_rm(x, MOVDQA_STORE, offsets, 0, FRAME(offset), UNMASKED);
  call_access(c, d);
}

void avx512_scratch(struct compiler *c, const struct inst *i, const struct native_memory *m) {
  struct x86 *x = &c->x;
  unsigned dwords = dwords_of(m);
  bool vector = i->src_kind[MEM_ADDR] != OPERAND_NONE;
  struct detour *d = detour_new(c, i);
  d->emit = scratch_scattered;
  d->memory = m;
  d->n_data = (uint8_t)dwords;
  for (unsigned n = 0; n < dwords; n++)
    d->z[n] = (uint8_t)(m->store ? vec_row(c, i->src[MEM_DATA] + n) : vec_temporary(c));
  unsigned row = vector ? vec_row(c, i->src[MEM_ADDR]) : 0, offsets = vec_temporary(c), t = vec_temporary(c);
  unsigned k = mask_temporary(c);
  d->z[4] = (uint8_t)offsets, d->z[5] = (uint8_t)t, d->k = (uint8_t)k;
  jump none = NULL;
  gpr_constant(x, RAX, (uint32_t)i->imm);
  if (i->src_kind[MEM_SADDR] != OPERAND_NONE) gpr_rm(x, OP_ADD, false, RAX, SCALAR(i->src[MEM_SADDR]));
  vec_rr(x, BROADCAST_GPR, offsets, 0, RAX, UNMASKED);
  if (vector) {
    unsigned first = offsets;
    vec_rr(x, PADDD, offsets, offsets, row, UNMASKED);
    if (c->masked) {
      k_test(x, K_EXEC);
      none = jump_if(x, CC_E);
      vec_rr(x, PCOMPRESSD, offsets, 0, first = t, (struct masking){K_EXEC, true});
    }
    gpr_vec(x, RAX, first);
    vec_rr(x, BROADCAST_D, t, 0, first, UNMASKED);
    vec_compare(x, PCMPD, k, offsets, t, 4, c->masked ? K_EXEC : 0);
    k_test(x, k);
    d->from[d->n_from++] = jump_if(x, CC_NE);
  } else if (c->masked) {
    k_test(x, K_EXEC);
    none = jump_if(x, CC_E);
  }
  put8(x, 0xa8), put8(x, 3);   /* test al, 3 */
  d->from[d->n_from++] = jump_if(x, CC_NE);
  gpr_lea(x, RCX, mem(RAX, (int32_t)bytes_of(m)));
  gpr_rm(x, OP_CMP, true, RCX, WAVE(scratch_size));
  d->from[d->n_from++] = jump_if(x, CC_A);
  gpr_shift_left(x, RAX, lanes_shift(c));
  scratch_base(c);
  for (unsigned n = 0; n < dwords; n++) {
    struct memory at = mem(RAX, (int32_t)n * c->row_bytes);
    if (m->store) vec_rm(x, MOVDQU_STORE, d->z[n], 0, at, exec_mask(c, false));
    else vec_rm(x, MOVDQU_LOAD, d->z[n], 0, at, exec_mask(c, true));
  }
  d->back = x->at;
  if (none) land(x, none);
  if (m->store) memory_immediate(x, 0, true, WAVE(changes), 1);
  else
    for (unsigned n = 0; n < dwords; n++) commit_row(c, i->dst + n, d->z[n]);
}
