/* Private memory with AVX2: one offset for all lanes; others in C. */
#include "avx2.h"

static unsigned lanes_shift(const struct compiler *c) { return (unsigned)__builtin_ctz(c->lanes); }

/* Detour: lanes with different offsets, which are in z[4]. */
static void scattered(struct compiler *c, const struct detour *d) {
  vec_rm(&c->x, MOVDQA_STORE, d->z[4], 0, FRAME(offset), UNMASKED);
  call_access(c, d);
}

/* Jumps to the detour if active lanes differ from the first one's offset, which is in eax. */
static void check_same(struct compiler *c, struct detour *d) {
  struct x86 *x = &c->x;
  unsigned offsets = d->z[4], t = d->t[0];
  first_lane(c, RAX, t, offsets);
  vec_rr(x, PXORD, t, t, offsets, UNMASKED);
  test_active(c, t);
  d->from[d->n_from++] = jump_if(x, CC_NE);
}

void avx2_scratch(struct compiler *c, const struct inst *i, const struct native_memory *m) {
  struct x86 *x = &c->x;
  unsigned dwords = dwords_of(m);
  bool vector = i->src_kind[MEM_ADDR] != OPERAND_NONE;
  struct detour *d = detour_new(c, i);
  d->emit = scattered;
  d->memory = m;
  d->n_data = (uint8_t)dwords;
  for (unsigned n = 0; n < dwords; n++)
    d->z[n] = (uint8_t)(m->store ? vec_row(c, i->src[MEM_DATA] + n) : vec_temporary(c));
  unsigned row = vector ? vec_row(c, i->src[MEM_ADDR]) : 0, offsets = vec_temporary(c);
  d->z[4] = (uint8_t)offsets, d->t[0] = (uint8_t)vec_temporary(c);
  gpr_constant(x, RAX, (uint32_t)i->imm);
  if (i->src_kind[MEM_SADDR] != OPERAND_NONE) gpr_rm(x, OP_ADD, false, RAX, SCALAR(i->src[MEM_SADDR]));
  vec_broadcast(x, offsets, RAX, false);
  if (vector) vec_rr(x, PADDD, offsets, offsets, row, UNMASKED);
  jump none = c->masked ? find_active(c) : NULL;
  if (vector) check_same(c, d);
  put8(x, 0xa8), put8(x, 3);   /* test al, 3 */
  d->from[d->n_from++] = jump_if(x, CC_NE);
  gpr_lea(x, RCX, mem(RAX, (int32_t)bytes_of(m)));
  gpr_rm(x, OP_CMP, true, RCX, WAVE(scratch_size));
  d->from[d->n_from++] = jump_if(x, CC_A);
  gpr_shift_left(x, RAX, lanes_shift(c));
  gpr_rm(x, OP_ADD, true, RAX, WAVE(scratch));   /* the first dword of the chunk's lanes */
  gpr_rr(x, OP_ADD, true, RAX, RBX);
  gpr_rm(x, OP_SUB, true, RAX, WAVE(v));
  for (unsigned n = 0; n < dwords; n++) {
    struct memory at = mem(RAX, (int32_t)n * c->row_bytes);
    if (m->store) store_part(c, d->z[n], at);
    else load_part(c, d->z[n], at);
  }
  d->back = x->at;
  if (none) land(x, none);
  if (m->store) memory_immediate(x, 0, true, WAVE(changes), 1);
  else
    for (unsigned n = 0; n < dwords; n++) commit_row(c, i->dst + n, d->z[n]);
}
