/* Scalar instructions in machine code: values in eax and edx, results and SCC directly to the scalar file. */
#include "access.h"
#include "native_emit.h"
#include "wave_events.h"

enum { OP_ADC = 0x13, OP_SBB = 0x1b, OP_AND = 0x23, OP_XOR = 0x33 };
enum { CC_O = 0, CC_BE = 6, CC_L = 12, CC_GE = 13, CC_LE = 14, CC_G = 15 };

static void load(struct compiler *c, enum gpr to, const struct inst *i, unsigned k, bool wide) {
  uint32_t low, high = 0;
  if (native_constant(i, k, 0, &low)) {
    if (wide) native_constant(i, k, 1, &high);
    gpr_constant(&c->x, to, (uint64_t)high << 32 | low);
  } else {
    gpr_rm(&c->x, OP_MOV, wide, to, SCALAR(i->src[k]));
  }
}

static void set_scc(struct compiler *c, unsigned cc) {
  put8(&c->x, 0x0f), put8(&c->x, 0x90 | cc), put8(&c->x, 0xc1);      /* setcc cl */
  put8(&c->x, 0x0f), put8(&c->x, 0xb6), put8(&c->x, 0xc9);           /* movzx ecx, cl */
  gpr_store(&c->x, false, SCALAR(S_SCC), RCX);
}

static void negate_bits(struct x86 *x, bool wide, enum gpr r) {
  rex(x, wide, 0, r), put8(x, 0xf7), put8(x, 0xd0 | r);
}

static void shift(struct compiler *c, const struct inst *i, unsigned extension, bool wide) {
  load(c, RCX, i, 1, false);
  rex(&c->x, wide, 0, RAX), put8(&c->x, 0xd3), put8(&c->x, 0xc0 | extension << 3);
  rex(&c->x, wide, RAX, RAX), put8(&c->x, 0x85), put8(&c->x, 0xc0);  /* test: a count of 0 leaves the flags */
}

/* and_saveexec and similar: the old EXEC is written to the destination. */
static void save_exec(struct compiler *c, const struct inst *i, const struct native_scalar *s) {
  load(c, RAX, i, 0, s->wide);
  gpr_rm(&c->x, OP_MOV, s->wide, RDX, SCALAR(S_EXEC));
  gpr_store(&c->x, s->wide, SCALAR(i->dst), RDX);
  if (s->inverted) negate_bits(&c->x, s->wide, RDX);
  gpr_rr(&c->x, s->how == SCALAR_SAVE_AND ? OP_AND : s->how == SCALAR_SAVE_OR ? OP_OR : OP_XOR, s->wide, RAX, RDX);
  gpr_store(&c->x, s->wide, SCALAR(S_EXEC), RAX);
  set_scc(c, CC_NE);
}

static const uint8_t compare_codes[2][6] = {
  {CC_E, CC_NE, CC_G, CC_GE, CC_L, CC_LE}, {CC_E, CC_NE, CC_A, CC_AE, CC_B, CC_BE}};

bool native_scalar_emit(struct compiler *c, const struct inst *i) {
  const struct native_scalar *s = &native_rows[i->op->id].scalar;
  struct x86 *x = &c->x;
  for (unsigned k = 0; k < i->op->n_src; k++)
    if (i->src_kind[k] != OPERAND_SCALAR && i->src_kind[k] != OPERAND_LITERAL) return false;
  unsigned op = 0, cc = CC_NE;
  switch ((enum native_scalar_how)s->how) {
  case SCALAR_NONE: return false;
  case SCALAR_SAVE_AND: case SCALAR_SAVE_OR: case SCALAR_SAVE_XOR: save_exec(c, i, s); return true;
  case SCALAR_MOVE: load(c, RAX, i, 0, s->wide); break;
  case SCALAR_MOVE_IMMEDIATE: gpr_constant(x, RAX, (uint32_t)i->imm); break;
  case SCALAR_MULTIPLY:
    load(c, RAX, i, 0, false), load(c, RDX, i, 1, false);
    put8(x, 0x0f), put8(x, 0xaf), put8(x, 0xc2);
    break;
  case SCALAR_MULTIPLY_HIGH:
    load(c, RAX, i, 0, false), load(c, RDX, i, 1, false);
    if (s->inverted) put8(x, 0x48), put8(x, 0x63), put8(x, 0xc0), put8(x, 0x48), put8(x, 0x63), put8(x, 0xd2);   /* movsxd */
    put8(x, 0x48), put8(x, 0x0f), put8(x, 0xaf), put8(x, 0xc2);
    put8(x, 0x48), put8(x, 0xc1), put8(x, 0xe8), put8(x, 32);   /* shr rax, 32 */
    break;
  case SCALAR_NOT: case SCALAR_ABSOLUTE:
    load(c, RAX, i, 0, s->wide);
    if (s->how == SCALAR_NOT) {
      negate_bits(x, s->wide, RAX);
    } else {
      put8(x, 0x89), put8(x, 0xc2), put8(x, 0xf7), put8(x, 0xda);        /* mov edx, eax; neg edx */
      put8(x, 0x0f), put8(x, 0x49), put8(x, 0xc2);                       /* cmovns eax, edx */
    }
    rex(x, s->wide, RAX, RAX), put8(x, 0x85), put8(x, 0xc0);
    gpr_store(x, s->wide, SCALAR(i->dst), RAX);
    set_scc(c, CC_NE);
    return true;
  case SCALAR_CHOOSE: {
    unsigned code = compare_codes[s->inverted][s->wide];
    load(c, RAX, i, 0, false), load(c, RDX, i, 1, false);
    gpr_rr(x, OP_CMP, false, RAX, RDX);
    set_scc(c, code);
    put8(x, 0x0f), put8(x, 0x40 | (code ^ 1)), put8(x, 0xc2);            /* cmov eax, edx */
    gpr_store(x, false, SCALAR(i->dst), RAX);
    return true;
  }
  case SCALAR_COMPARE:
    load(c, RAX, i, 0, false), load(c, RDX, i, 1, false);
    gpr_rr(x, OP_CMP, false, RAX, RDX);
    set_scc(c, compare_codes[s->inverted][s->wide]);
    return true;
  case SCALAR_SELECT:
    load(c, RAX, i, 0, s->wide), load(c, RDX, i, 1, s->wide);
    memory_immediate(x, 7, false, SCALAR(S_SCC), 0);
    rex(x, s->wide, RAX, RDX), put8(x, 0x0f), put8(x, 0x44), put8(x, 0xc2);   /* cmove */
    break;
  case SCALAR_SHIFT_LEFT: load(c, RAX, i, 0, s->wide), shift(c, i, 4, s->wide); break;
  case SCALAR_SHIFT_RIGHT: load(c, RAX, i, 0, s->wide), shift(c, i, 5, s->wide); break;
  case SCALAR_SHIFT_SIGNED: load(c, RAX, i, 0, s->wide), shift(c, i, 7, s->wide); break;
  case SCALAR_ADD: op = OP_ADD, cc = CC_B; break;
  case SCALAR_ADD_SIGNED: op = OP_ADD, cc = CC_O; break;
  case SCALAR_ADD_CARRY: op = OP_ADC, cc = CC_B; break;
  case SCALAR_SUB: op = OP_SUB, cc = CC_B; break;
  case SCALAR_SUB_SIGNED: op = OP_SUB, cc = CC_O; break;
  case SCALAR_SUB_BORROW: op = OP_SBB, cc = CC_B; break;
  case SCALAR_AND: op = OP_AND; break;
  case SCALAR_OR: op = OP_OR; break;
  case SCALAR_XOR: op = OP_XOR; break;
  }
  if (op) {
    load(c, RAX, i, 0, s->wide), load(c, RDX, i, 1, s->wide);
    if (s->inverted) negate_bits(x, s->wide, RDX);
    if (op == OP_ADC || op == OP_SBB) {
      gpr_rm(x, OP_MOV, false, RCX, SCALAR(S_SCC));
      put8(x, 0xf7), put8(x, 0xd9);   /* neg ecx: carry if it is not 0 */
    }
    gpr_rr(x, op, s->wide, RAX, RDX);
  }
  bool flags = op || (s->how >= SCALAR_SHIFT_LEFT && s->how <= SCALAR_SHIFT_SIGNED);
  gpr_store(x, s->wide, SCALAR(i->dst), RAX);
  if (flags) set_scc(c, cc);
  return true;
}

/* --- loads ------------------------------------------------------------------------------------------------ */

static const struct inst *load_in_c(struct wave *w, const struct inst *i, handler_fn handler, struct native_site *site) {
  uint64_t base = (uint64_t)w->s[i->src[0] + 1] << 32 | w->s[i->src[0]];
  uint64_t address = (base + (uint64_t)(int64_t)i->imm + (i->src_kind[1] == OPERAND_NONE ? 0 : w->s[i->src[1]])) & ~UINT64_C(3);
  const struct inst *next = handler(w, i);
  unsigned bytes = native_rows[i->op->id].scalar_dwords * 4u;
  const struct mem_window *found = next ? find_window(w, address, address + bytes - 1) : NULL;
  if (found) *site = (struct native_site){found->lo, found->hi - bytes};
  return next;
}

static void load_slowly(struct compiler *c, const struct detour *d) {
  struct x86 *x = &c->x;
  gpr_rr(x, OP_MOV, true, RDI, R13);
  gpr_constant(x, RSI, (uint64_t)(uintptr_t)d->i);
  gpr_constant(x, RDX, (uint64_t)(uintptr_t)d->handler);
  gpr_lea(x, RCX, mem(R15, (int32_t)(d->site * sizeof(struct native_site))));
  gpr_constant(x, RAX, (uint64_t)(uintptr_t)load_in_c);
  put8(x, 0xff), put8(x, 0xd0);
  put8(x, 0x48), put8(x, 0x85), put8(x, 0xc0);
  leave(c, jump_if(x, CC_E));
  land_at(x, jump_always(x), d->back);
}

bool native_scalar_load_emit(struct compiler *c, const struct inst *i, handler_fn handler) {
  static const struct evex quad[2] = {{1, 2, 0, 0x6f}, {1, 2, 0, 0x7f}};
  unsigned dwords = native_rows[i->op->id].scalar_dwords;
  struct x86 *x = &c->x;
  if (!dwords || (dwords & (dwords - 1)) || i->src_kind[0] != OPERAND_SCALAR || i->scale) return false;
  struct detour *d = detour_new(c, i);
  d->emit = load_slowly;
  d->handler = handler;
  d->site = SCALAR_SITES + (unsigned)__builtin_ctz(dwords) * 16 + c->n_sites++ % 16;
  int32_t site = (int32_t)(d->site * sizeof(struct native_site));
  gpr_rm(x, OP_MOV, true, RAX, SCALAR(i->src[0]));
  if (i->imm) gpr_immediate(x, 0, true, RAX, i->imm);
  if (i->src_kind[1] != OPERAND_NONE) {
    gpr_rm(x, OP_MOV, false, RCX, SCALAR(i->src[1]));
    gpr_rr(x, OP_ADD, true, RAX, RCX);
  }
  gpr_immediate(x, 4, true, RAX, -4);
  gpr_rm(x, OP_CMP, true, RAX, mem(R15, site));
  d->from[d->n_from++] = jump_if(x, CC_B);
  gpr_rm(x, OP_CMP, true, RAX, mem(R15, site + 8));
  d->from[d->n_from++] = jump_if(x, CC_A);
  if (dwords <= 2) {
    gpr_rm(x, OP_MOV, dwords == 2, RCX, mem(RAX, 0));
    gpr_store(x, dwords == 2, SCALAR(i->dst), RCX);
  } else {   /* 128, 256 or 512 bits */
    unsigned length = (unsigned)__builtin_ctz(dwords) - 2, parts = length > full_length(x) ? 2 : 1;
    for (unsigned n = 0; n < parts; n++) {
      vec_rm_length(x, quad[0], 0, 0, mem(RAX, 32 * (int32_t)n), UNMASKED, length - parts + 1);
      vec_rm_length(x, quad[1], 0, 0, SCALAR(i->dst + 8 * n), UNMASKED, length - parts + 1);
    }
  }
  d->back = x->at;
  return true;
}
