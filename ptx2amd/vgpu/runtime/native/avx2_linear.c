/* Machine code for linear rows: the first lanes' values, the checks, and the accesses of a chunk. */
#include "avx2.h"
#include "native_linear.h"
#include "native_value.h"

enum { OP_AND = 0x23, OP_XOR = 0x33, CC_BE = 6 };

struct emission { struct compiler *c; struct linear *l; struct fallback *f; unsigned span; };   /* span: lanes - 1 */

static struct memory value_at(unsigned value) { return mem(RSP, (int32_t)(offsetof(struct frame, linear) + 4 * value)); }
static struct memory base_of(unsigned access) { return mem(RSP, (int32_t)(offsetof(struct frame, base) + 8 * access)); }

static void fail_if(struct emission *e, unsigned cc) {
  if (e->f->n_from < sizeof e->f->from / sizeof *e->f->from) e->f->from[e->f->n_from++] = jump_if(&e->c->x, (enum condition)cc);
  else e->c->x.full = true;
}

static void shift_right(struct x86 *x, bool wide, enum gpr r, unsigned count) { rex(x, wide, 0, r), put8(x, 0xc1), put8(x, 0xe8 | (r & 7)), put8(x, count); }
static void shift_left32(struct x86 *x, enum gpr r, unsigned count) { rex(x, false, 0, r), put8(x, 0xc1), put8(x, 0xe0 | (r & 7)), put8(x, count); }

/* to = source k: its low dword, its high one (dword 1), or (2) both. Changes rsi. */
static void fetch(struct emission *e, enum gpr to, const struct linear_node *n, unsigned k, unsigned dword) {
  struct x86 *x = &e->c->x;
  const struct inst *i = n->i;
  uint32_t low, high = 0;
  unsigned first = dword == 1;
  if (i->src_kind[k] == OPERAND_VGPR) {
    unsigned v = n->in[k][first], w = n->in[k][1];
    bool pair = dword == 2 && !(v % 2) && w == v + 1;
    gpr_rm(x, OP_MOV, pair, to, value_at(v));
    if (dword != 2 || pair) return;
    gpr_rm(x, OP_MOV, false, RSI, value_at(w));
    gpr_shift_left(x, RSI, 32);
    gpr_rr(x, OP_OR, true, to, RSI);
  } else if (native_constant(i, k, first, &low)) {
    if (dword == 2) native_constant(i, k, 1, &high);
    gpr_constant(x, to, (uint64_t)high << 32 | low);
  } else {
    gpr_rm(x, OP_MOV, dword == 2, to, SCALAR(i->src[k] + first));
  }
}

static uint32_t constant(const struct linear_node *n, unsigned k) {
  uint32_t value = 0;
  native_constant(n->i, k, 0, &value);
  return value;
}

/* Checks that a low dword does not wrap around from the first lane to the last. */
static void check_straight(struct emission *e, unsigned value) {
  struct x86 *x = &e->c->x;
  struct linear_node *n = &e->l->node[value / 2];
  if (value == NO_VALUE || value % 2 || !n->stride || n->straight) return;
  gpr_rm(x, OP_MOV, false, RCX, value_at(value));
  gpr_immediate(x, 0, false, RCX, (int32_t)(n->stride * e->span));
  fail_if(e, CC_B);
  n->straight = true;
}

/* Checks that bits of eax from `bit` on are the same in all lanes. Changes ecx. */
static void check_same_bits(struct emission *e, unsigned stride, unsigned bit) {
  struct x86 *x = &e->c->x;
  if (!stride || bit > 31) return;
  gpr_lea(x, RCX, mem(RAX, (int32_t)(stride * e->span)));
  gpr_rr(x, OP_XOR, false, RCX, RAX);
  shift_right(x, false, RCX, bit);   /* a shift by 0 would not set the flags */
  if (!bit) put8(x, 0x85), put8(x, 0xc9);
  fail_if(e, CC_NE);
}

/* The same for rax's high dword: no carry out of the low one. */
static void check_same_high(struct emission *e, struct linear_node *n) {
  struct x86 *x = &e->c->x;
  if (!n->stride) return;
  gpr_rr(x, OP_MOV, false, RCX, RAX);
  gpr_immediate(x, 0, false, RCX, (int32_t)(n->stride * e->span));
  fail_if(e, CC_B);
  n->straight = true;
}

static struct memory carry_of(unsigned node) { return mem(RSP, (int32_t)(offsetof(struct frame, carry) + 4 * node)); }

/* Keeps the carry out of rax's low dword. */
static void keep_carry(struct emission *e, unsigned node) {
  struct x86 *x = &e->c->x;
  gpr_rr(x, OP_MOV, true, RCX, RAX), shift_right(x, true, RCX, 32);
  gpr_store(x, false, carry_of(node), RCX);
}

/* Writes a carry to the scalar registers. Only when nothing can fail any more: the ordinary code may read what they had. */
static void write_carry(struct emission *e, unsigned node) {
  struct x86 *x = &e->c->x;
  const struct linear_node *n = &e->l->node[node];
  const struct inst *i = n->i;
  if (n->op != LINEAR_ADD_CARRY && n->op != LINEAR_ADD_CARRIED) return;
  if (i->op->dst2_type == TYPE_none || i->dst2 == S_SINK) return;
  gpr_rm(x, OP_MOV, false, RCX, carry_of(node));
  put8(x, 0x48), put8(x, 0xf7), put8(x, 0xd9);   /* neg rcx */
  if (e->c->masked) gpr_rm(x, OP_AND, true, RCX, SCALAR(S_EXEC));
  gpr_store(x, e->c->lanes == 64, SCALAR(i->dst2), RCX);
}

/* rdi: the wave's VGPRs. */
static void check_root(struct emission *e, unsigned node) {
  struct x86 *x = &e->c->x;
  const struct linear_node *n = &e->l->node[node];
  int32_t row = (int32_t)n->row * e->c->row_bytes;
  enum { EXPECTED = 1, DIFFERENT, STEP, COMPARED };
  gpr_rm(x, OP_MOV, false, RAX, mem(RDI, row));
  gpr_store(x, false, value_at(2 * node), RAX);
  vec_rm(x, BROADCAST_D, EXPECTED, 0, mem(RDI, row), UNMASKED);
  if (n->stride) {
    gpr_constant(x, RDX, (uint64_t)(uintptr_t)table_at(n->stride));
    vec_rm(x, PADDD, EXPECTED, EXPECTED, mem(RDX, 0), UNMASKED);
    vec_constant(x, STEP, n->stride * 8u);
  }
  for (unsigned chunk = 0; chunk < e->c->lanes / 8; chunk++) {
    unsigned to = chunk ? COMPARED : DIFFERENT;
    vec_rm(x, PXORD, to, EXPECTED, mem(RDI, row + 32 * (int32_t)chunk), UNMASKED);
    if (chunk) vec_rr(x, OR_D, DIFFERENT, DIFFERENT, to, UNMASKED);
    if (n->stride && chunk + 1 < e->c->lanes / 8) vec_rr(x, PADDD, EXPECTED, EXPECTED, STEP, UNMASKED);
  }
  test_bits(e->c, DIFFERENT, DIFFERENT);
  fail_if(e, CC_NE);
}

static void check_sources(struct emission *e, const struct linear_node *n, unsigned count) {
  for (unsigned k = 0; k < count; k++) check_straight(e, n->in[k][0]);
}

static void emit_node(struct emission *e, unsigned node) {
  struct x86 *x = &e->c->x;
  struct linear_node *n = &e->l->node[node];
  unsigned constant_source = native_constant(n->i, 0, 0, &(uint32_t){0}) ? 0 : 1;
  bool wide = n->high;
  switch ((enum linear_op)n->op) {
  case LINEAR_ROOT: return;
  case LINEAR_MOVE: fetch(e, RAX, n, 0, 0); break;
  case LINEAR_ADD: case LINEAR_ADD3: case LINEAR_ADD_SHIFT:
    fetch(e, RAX, n, 0, 0), fetch(e, RDX, n, 1, 0);
    gpr_rr(x, OP_ADD, false, RAX, RDX);
    if (n->op == LINEAR_ADD3) fetch(e, RDX, n, 2, 0), gpr_rr(x, OP_ADD, false, RAX, RDX);
    if (n->op == LINEAR_ADD_SHIFT) shift_left32(x, RAX, constant(n, 2));
    break;
  case LINEAR_SUBTRACT: case LINEAR_SUBTRACT_FROM:
    fetch(e, RAX, n, n->op == LINEAR_SUBTRACT_FROM, 0), fetch(e, RDX, n, n->op == LINEAR_SUBTRACT, 0);
    gpr_rr(x, OP_SUB, false, RAX, RDX);
    break;
  case LINEAR_MULTIPLY:
    fetch(e, RAX, n, 0, 0), fetch(e, RDX, n, 1, 0);
    put8(x, 0x0f), put8(x, 0xaf), put8(x, 0xc2);   /* imul eax, edx */
    break;
  case LINEAR_SHIFT: fetch(e, RAX, n, 1, 0), shift_left32(x, RAX, constant(n, 0)); break;
  case LINEAR_SHIFT_ADD:
    fetch(e, RAX, n, 0, 0), shift_left32(x, RAX, constant(n, 1));
    fetch(e, RDX, n, 2, 0), gpr_rr(x, OP_ADD, false, RAX, RDX);
    break;
  case LINEAR_LOW_BITS: {
    uint32_t mask = constant(n, constant_source);
    fetch(e, RAX, n, !constant_source, 0);
    check_same_bits(e, n->stride, mask ? 32u - (unsigned)__builtin_clz(mask) : 0);
    gpr_constant(x, RDX, mask), gpr_rr(x, OP_AND, false, RAX, RDX);
    break;
  }
  case LINEAR_SIGN:
    fetch(e, RAX, n, 1, 0);
    check_same_bits(e, n->in[1][0] == NO_VALUE ? 0 : linear_stride(e->l, n->in[1][0]), 31);
    put8(x, 0xc1), put8(x, 0xf8), put8(x, 31);     /* sar eax, 31 */
    break;
  case LINEAR_SHIFT64:
    fetch(e, RAX, n, 1, 0);
    check_same_bits(e, n->stride >> constant(n, 0), 32 - constant(n, 0));
    fetch(e, RAX, n, 1, 2);
    gpr_shift_left(x, RAX, constant(n, 0));
    n->straight = true;
    break;
  case LINEAR_SHIFT_ADD64:
    check_straight(e, n->in[0][0]), check_straight(e, n->in[2][0]);
    fetch(e, RAX, n, 0, 2);
    if (constant(n, 1)) gpr_shift_left(x, RAX, constant(n, 1));
    fetch(e, RDX, n, 2, 2);
    gpr_rr(x, OP_ADD, true, RAX, RDX);
    check_same_high(e, n);
    break;
  case LINEAR_ADD_CARRY:
    check_sources(e, n, 2);
    fetch(e, RAX, n, 0, 0), fetch(e, RDX, n, 1, 0);
    gpr_rr(x, OP_ADD, true, RAX, RDX);
    check_same_high(e, n);
    keep_carry(e, node);
    break;
  case LINEAR_ADD_CARRIED:
    fetch(e, RAX, n, 0, 0), fetch(e, RDX, n, 1, 0);
    gpr_rm(x, OP_MOV, false, RCX, carry_of(n->carry));
    gpr_rr(x, OP_ADD, true, RAX, RDX), gpr_rr(x, OP_ADD, true, RAX, RCX);
    keep_carry(e, node);
    break;
  case LINEAR_MULTIPLY_ADD64:
    if (wide) check_straight(e, n->in[2][0]);
    fetch(e, RAX, n, 0, 0), fetch(e, RDX, n, 1, 0);
    put8(x, 0x48), put8(x, 0x0f), put8(x, 0xaf), put8(x, 0xc2);   /* imul rax, rdx */
    fetch(e, RDX, n, 2, wide ? 2 : 0);
    gpr_rr(x, OP_ADD, true, RAX, RDX);
    if (wide) check_same_high(e, n);
    break;
  }
  gpr_store(x, wide, value_at(2 * node), RAX);
}

/* Registers that advance with the chunks, so that base + index * 2^scale is the chunk's address. */
static struct memory chunk_index(unsigned stride) {
  struct memory at = mem(RAX, 0);
  if (stride) at.index = stride == 1 ? R12 : RBX;
  at.scale = stride == 1 ? 3 : stride == 8 ? 1 : stride == 16 ? 2 : 0;
  return at;
}

static void check_access(struct emission *e, unsigned number) {
  struct x86 *x = &e->c->x;
  struct linear_access *a = &e->l->access[number];
  const struct inst *i = e->l->p->step[a->step].i;
  int32_t site = (int32_t)(a->site * sizeof(struct native_site));
  bool scalar = i->src_kind[MEM_SADDR] != OPERAND_NONE;
  check_straight(e, a->low);
  if (!scalar && !(a->low % 2) && a->high == a->low + 1) {
    gpr_rm(x, OP_MOV, true, RAX, value_at(a->low));
  } else {
    gpr_rm(x, OP_MOV, false, RAX, value_at(a->low));
    if (!scalar) gpr_rm(x, OP_MOV, false, RCX, value_at(a->high)), gpr_shift_left(x, RCX, 32), gpr_rr(x, OP_OR, true, RAX, RCX);
  }
  if (scalar) gpr_rm(x, OP_ADD, true, RAX, SCALAR(i->src[MEM_SADDR]));
  if (i->imm) gpr_immediate(x, 0, true, RAX, i->imm);
  gpr_rm(x, OP_CMP, true, RAX, mem(R15, site));
  fail_if(e, CC_B);
  gpr_lea(x, RCX, mem(RAX, (int32_t)(a->stride * e->span)));
  gpr_rm(x, OP_CMP, true, RCX, mem(R15, site + 8));
  fail_if(e, CC_A);
  struct memory at = chunk_index(a->stride);
  if (a->stride) {   /* rdi: what rbx will be */
    if (a->stride == 1) gpr_lea(x, RCX, SCALAR(0));
    else gpr_rr(x, OP_MOV, true, RCX, RDI);
    if (at.scale) gpr_shift_left(x, RCX, at.scale);
    gpr_rr(x, OP_SUB, true, RAX, RCX);
  }
  gpr_store(x, true, base_of(number), RAX);
}

/* Checks that a store and another access do not overlap, or are of the same elements. */
static void check_apart(struct emission *e, unsigned store, unsigned other) {
  struct x86 *x = &e->c->x;
  const struct linear_access *a = &e->l->access[store], *b = &e->l->access[other];
  const struct native_memory *m = memory_of(e->l->p->step[a->step].i), *n = memory_of(e->l->p->step[b->step].i);
  unsigned bytes = bytes_of(m) > bytes_of(n) ? bytes_of(m) : bytes_of(n);
  int32_t extent = (int32_t)(a->stride * e->span + bytes) - 1;
  jump same = NULL;
  gpr_rm(x, OP_MOV, true, RAX, base_of(store));
  gpr_rm(x, OP_SUB, true, RAX, base_of(other));
  if (bytes_of(m) == bytes_of(n)) same = jump_if(x, CC_E);   /* the flags of the subtraction */
  gpr_immediate(x, 0, true, RAX, extent);
  gpr_immediate(x, 7, true, RAX, 2 * extent);
  fail_if(e, CC_BE);
  if (same) land(x, same);
}

void linear_emit_checks(struct compiler *c, struct linear *l, struct fallback *f) {
  struct emission e = {c, l, f, c->lanes - 1};
  unsigned stores = 0;
  for (unsigned k = l->first; k < l->end; k++) {   /* numbered as in the ordinary code */
    if (l->p->step[k].kind != KIND_MEMORY || memory_of(l->p->step[k].i)->space != MEMORY_GLOBAL) continue;
    unsigned site = site_of(c, memory_of(l->p->step[k].i));
    if (l->access_of[k] == NO_VALUE) continue;
    l->access[l->access_of[k]].site = site;
    stores += memory_of(l->p->step[k].i)->store;
  }
  c->n_sites = f->n_sites;
  gpr_rm(&c->x, OP_MOV, true, RDI, WAVE(v));
  for (unsigned n = 0; n < l->n_nodes; n++)
    if (l->node[n].needed && l->node[n].step == NO_STEP) check_root(&e, n);
  for (unsigned n = 0; n < l->n_nodes; n++)
    if (l->node[n].needed && l->node[n].step != NO_STEP) emit_node(&e, n);
  for (unsigned n = 0; n < l->n_accesses; n++) check_access(&e, n);
  for (unsigned n = 0; n < l->n_accesses && l->joined; n++)
    for (unsigned m = 0; m < l->n_accesses; m++) {
      bool second = memory_of(l->p->step[l->access[m].step].i)->store && m < n;   /* pairs of stores: once */
      if (m != n && memory_of(l->p->step[l->access[n].step].i)->store && !second) check_apart(&e, n, m);
    }
  for (unsigned n = 0; n < l->n_nodes; n++)
    if (l->node[n].needed) write_carry(&e, n);
  if (stores) memory_immediate(&c->x, 0, true, WAVE(changes), (int32_t)stores);
}

static void emit_access(struct compiler *c, const struct linear *l, unsigned number) {
  struct x86 *x = &c->x;
  const struct linear_access *a = &l->access[number];
  const struct inst *i = l->p->step[a->step].i;
  const struct native_memory *m = memory_of(i);
  unsigned dwords = dwords_of(m);
  uint8_t z[4], t[4] = {0};
  bool temporaries = dwords == 2 || dwords == 4 || m->kind == MEMORY_B8;
  site_of(c, m);   /* counts it */
  for (unsigned n = 0; n < dwords; n++) z[n] = (uint8_t)(m->store ? vec_row(c, i->src[MEM_DATA] + n) : vec_temporary(c));
  for (unsigned n = 0; n < 4 && temporaries && a->stride; n++) t[n] = (uint8_t)vec_temporary(c);
  gpr_rm(x, OP_MOV, true, RAX, base_of(number));
  struct memory at = chunk_index(a->stride);
  if (!a->stride) {
    for (unsigned n = 0; n < dwords; n++, at.offset += 4) vec_rm(x, BROADCAST_D, z[n], 0, at, UNMASKED);
  } else if (m->store) {
    avx2_store_row(c, m, z, t, at);
  } else {
    avx2_load_row(c, m, z, t, at);
  }
  for (unsigned n = 0; n < 4 && temporaries && a->stride; n++) vec_free(c, t[n]);
  for (unsigned n = 0; n < dwords && !m->store; n++) commit_row(c, i->dst + n, z[n]);
}

bool linear_emit(struct compiler *c, struct linear *l, unsigned step, bool open) {
  const struct inst *i = l->p->step[step].i;
  if (l->access_of[step] != NO_VALUE) {
    emit_access(c, l, l->access_of[step]);
    native_release(c);
    return true;
  }
  if (!l->deferred[step]) return false;
  unsigned node = l->of_step[step];
  linear_define(c, i->dst, 2 * node, open);
  if (l->node[node].high) linear_define(c, i->dst + 1u, 2 * node + 1, open);
  return true;
}
