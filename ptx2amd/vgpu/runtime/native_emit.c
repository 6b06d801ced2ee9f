/* Groups of vector instructions: the registers they share, and sequences. */
#include "native_emit.h"

/* --- registers --------------------------------------------------------------------------------------- */

static struct memory row_at(const struct compiler *c, unsigned row) { return mem(RBX, (int32_t)row * c->row_bytes); }

static void write_back(struct compiler *c, unsigned z) {
  if (c->z[z].dirty) zmm_rm(&c->x, MOVDQA_STORE, z, 0, row_at(c, (unsigned)c->z[z].key), UNMASKED);
  c->z[z].dirty = false;
}

/* A register to use: free, or the one that was used longest ago. */
static unsigned take(struct compiler *c, int key) {
  unsigned best = ZMM_COUNT;
  for (unsigned z = 0; z < ZMM_COUNT; z++) {
    if (c->z[z].pinned) continue;
    if (c->z[z].key == KEY_FREE) {
      best = z;
      break;
    }
    if (best == ZMM_COUNT || c->z[z].used < c->z[best].used) best = z;
  }
  if (best == ZMM_COUNT) return c->x.full = true, 0;   /* no sequence needs that many */
  write_back(c, best);
  c->z[best] = (struct held){.key = key, .used = ++c->clock, .pinned = true};
  return best;
}

static int find(struct compiler *c, int key) {
  for (unsigned z = 0; z < ZMM_COUNT; z++)
    if (c->z[z].key == key) {
      c->z[z].used = ++c->clock;
      c->z[z].pinned = true;
      return (int)z;
    }
  return -1;
}

unsigned zmm_temporary(struct compiler *c) { return take(c, KEY_TEMPORARY); }

unsigned zmm_row(struct compiler *c, unsigned row) {
  int found = find(c, (int)row);
  if (found >= 0) return (unsigned)found;
  unsigned z = take(c, (int)row);
  zmm_rm(&c->x, MOVDQA_LOAD, z, 0, row_at(c, row), UNMASKED);
  return z;
}

unsigned zmm_scalar(struct compiler *c, unsigned index) {
  int found = find(c, KEY_SCALAR + (int)index);
  if (found >= 0) return (unsigned)found;
  unsigned z = take(c, KEY_SCALAR + (int)index);
  zmm_rm(&c->x, BROADCAST_D, z, 0, SCALAR(index), UNMASKED);
  return z;
}

unsigned zmm_const(struct compiler *c, uint32_t value) {
  for (unsigned z = 0; z < ZMM_COUNT; z++)
    if (c->z[z].key == KEY_CONSTANT && c->z[z].constant == value) {
      c->z[z].used = ++c->clock;
      c->z[z].pinned = true;
      return z;
    }
  unsigned z = take(c, KEY_CONSTANT);
  c->z[z].constant = value;
  zmm_constant(&c->x, z, value);
  return z;
}

static unsigned k_take(struct compiler *c, int key) {
  unsigned best = 0;
  for (unsigned k = K_FIRST; k <= K_LAST; k++)
    if (!c->k[k].pinned && (!best || c->k[k].key == KEY_FREE || c->k[k].used < c->k[best].used)) {
      best = k;
      if (c->k[k].key == KEY_FREE) break;
    }
  if (!best) return c->x.full = true, (unsigned)K_FIRST;
  c->k[best] = (struct held){.key = key, .used = ++c->clock, .pinned = true};
  return best;
}

unsigned k_temporary(struct compiler *c) { return k_take(c, KEY_TEMPORARY); }

static int k_find(struct compiler *c, int key) {
  for (unsigned k = K_FIRST; k <= K_LAST; k++)
    if (c->k[k].key == key) {
      c->k[k].used = ++c->clock;
      c->k[k].pinned = true;
      return (int)k;
    }
  return -1;
}

/* The chunk's bits of a lane mask in the scalar file. */
static unsigned k_mask(struct compiler *c, unsigned index) {
  int found = k_find(c, (int)index);
  if (found >= 0) return (unsigned)found;
  unsigned k = k_take(c, (int)index);
  k_load(&c->x, k, LANE_MASK(index));
  return k;
}

void native_release(struct compiler *c) {
  for (unsigned z = 0; z < ZMM_COUNT; z++) {
    c->z[z].pinned = false;
    if (c->z[z].key == KEY_TEMPORARY) c->z[z].key = KEY_FREE;
  }
  for (unsigned k = K_FIRST; k <= K_LAST; k++) {
    c->k[k].pinned = false;
    if (c->k[k].key == KEY_TEMPORARY) c->k[k].key = KEY_FREE;
  }
}

/* What was found out about addresses in the row is past. */
static void row_changed(struct compiler *c, unsigned row) {
  for (unsigned s = 0; s < c->n_slots; s++)
    if (c->slots[s].row == (int)row) c->slots[s].row = -1;
}

void commit_row(struct compiler *c, unsigned row, unsigned z) {
  row_changed(c, row);
  if (c->masked) {
    unsigned old = zmm_row(c, row);
    zmm_rr(&c->x, MOVDQA_LOAD, old, 0, z, (struct masking){K_EXEC, false});
    c->z[old].dirty = true;
    return;
  }
  for (unsigned other = 0; other < ZMM_COUNT; other++)
    if (c->z[other].key == (int)row) {
      c->z[other].key = c->z[other].pinned ? KEY_TEMPORARY : KEY_FREE;
      c->z[other].dirty = false;
    }
  if (c->z[z].key != KEY_TEMPORARY) {   /* it stays what it is: a copy */
    unsigned copy = zmm_temporary(c);
    zmm_rr(&c->x, MOVDQA_LOAD, copy, 0, z, UNMASKED);
    z = copy;
  }
  c->z[z].key = (int)row;
  c->z[z].dirty = true;
}

/* --- groups ------------------------------------------------------------------------------------------- */

void native_group_begin(struct compiler *c) {
  gpr_rm(&c->x, OP_MOV, true, RBX, WAVE(v));
  gpr_lea(&c->x, R12, SCALAR(0));
  gpr_lea(&c->x, R14, mem(RBX, c->row_bytes));
  for (unsigned z = 0; z < ZMM_COUNT; z++) c->z[z] = (struct held){.key = KEY_FREE};
  for (unsigned k = 0; k < 8; k++) c->k[k] = (struct held){.key = KEY_FREE};
  c->n_slots = 0;
  gpr_constant(&c->x, RAX, 0xaaaa);   /* here: a handler that was called meanwhile may have used the register */
  k_gpr(&c->x, K_ODD, RAX);
  c->loop = c->x.at;
  if (c->masked) k_load(&c->x, K_EXEC, LANE_MASK(S_EXEC));
}

void native_group_end(struct compiler *c) {
  for (unsigned z = 0; z < ZMM_COUNT; z++) write_back(c, z);
  gpr_immediate(&c->x, 0, true, RBX, 64);
  gpr_immediate(&c->x, 0, true, R12, 2);
  gpr_rr(&c->x, OP_CMP, true, RBX, R14);
  jump again = jump_if(&c->x, CC_NE);
  land_at(&c->x, again, c->loop);
}

/* --- sequences ---------------------------------------------------------------------------------------- */

/* The scalar file's constants. */
static uint32_t constants[S_COUNT];
static void make_constants(void) { write_constants(constants); }

bool native_constant(const struct inst *i, unsigned k, unsigned dword, uint32_t *value) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, make_constants);
  if (i->src_kind[k] == OPERAND_LITERAL) return *value = i->literal[dword], true;
  if (i->src_kind[k] != OPERAND_SCALAR || i->src[k] < S_ZERO) return false;
  return *value = constants[i->src[k] + dword], true;
}

static bool wide_type(unsigned type) {
  return type == TYPE_u64 || type == TYPE_i64 || type == TYPE_b64 || type == TYPE_f64;
}

/* Whether the sequence of the instruction's row, if it has one, is all that it does. */
bool native_sequence_known(const struct inst *i) {
  const struct op_info *op = i->op;
  const struct native_row *row = &native_rows[op->id];
  if (!row->count || i->ext || i->omod || i->clamp || i->op_sel) return false;
  for (unsigned k = 0; k < op->n_src; k++) {
    if (i->src_kind[k] == OPERAND_SPECIAL || i->src_kind[k] == OPERAND_NONE) return false;
    if (op->src_type[k] == TYPE_mask && i->src_kind[k] != OPERAND_SCALAR) return false;
    if (((i->neg | i->abs) >> k & 1) && op->src_type[k] != TYPE_f32) return false;
  }
  return true;
}

/* A value while a sequence is emitted. */
struct value { bool known, constant; uint8_t reg; uint32_t bits; };
struct sequence { const struct inst *i; struct value v[VALUE_COUNT]; };

static bool is_mask_source(const struct sequence *s, unsigned id) {
  return id <= VALUE_CH && s->i->op->src_type[(id - VALUE_A) / 2] == TYPE_mask;
}

static unsigned materialise(struct compiler *c, struct value *v) {
  if (v->constant) *v = (struct value){.known = true, .reg = (uint8_t)zmm_const(c, v->bits), .bits = v->bits};
  return v->reg;
}

static struct value source(struct compiler *c, const struct inst *i, unsigned k, unsigned dword) {
  uint32_t bits;
  bool negate = !dword && (i->neg >> k & 1), absolute = !dword && (i->abs >> k & 1);
  if (native_constant(i, k, dword, &bits)) {
    if (absolute) bits &= INT32_MAX;
    if (negate) bits ^= 0x80000000;
    return (struct value){.known = true, .constant = true, .bits = bits};
  }
  unsigned z = i->src_kind[k] == OPERAND_VGPR ? zmm_row(c, i->src[k] + dword) : zmm_scalar(c, i->src[k] + dword);
  static const struct evex and = {1, 1, 0, 0xdb}, xor = {1, 1, 0, 0xef}, or = {1, 1, 0, 0xeb};
  if (absolute || negate) {
    unsigned to = zmm_temporary(c), sign = zmm_const(c, absolute && !negate ? INT32_MAX : 0x80000000);
    zmm_rr(&c->x, absolute ? negate ? or : and : xor, to, z, sign, UNMASKED);
    z = to;
  }
  return (struct value){.known = true, .reg = (uint8_t)z};
}

static struct value *get(struct compiler *c, struct sequence *s, unsigned id) {
  struct value *v = &s->v[id];
  if (v->known) return v;
  const struct inst *i = s->i;
  unsigned dword = 0;
  switch (id) {
  case VALUE_AH: case VALUE_BH: case VALUE_CH: dword = 1; __attribute__((fallthrough));
  case VALUE_A: case VALUE_B: case VALUE_C: {
    unsigned k = (id - VALUE_A) / 2;
    if (i->op->src_type[k] == TYPE_mask) *v = (struct value){.known = true, .reg = (uint8_t)k_mask(c, i->src[k])};
    else *v = source(c, i, k, dword);
    break;
  }
  case VALUE_O: case VALUE_OH:
    *v = (struct value){.known = true, .reg = (uint8_t)zmm_row(c, i->dst + (id == VALUE_OH))};
    break;
  case VALUE_ODD: *v = (struct value){.known = true, .reg = K_ODD}; break;
  default: c->x.full = true;   /* a temporary that nothing wrote: the generator's fault */
  }
  return v;
}

/* The steps that results hang on. want: bit per value. */
static uint32_t useful(const struct native_step *steps, unsigned count, uint32_t want) {
  uint32_t keep = 0;
  for (unsigned n = count; n-- > 0;) {
    const struct native_step *s = &steps[n];
    if (!(want >> s->dst & 1)) continue;
    keep |= 1u << n;
    unsigned shape = x86_table[s->op].shape;
    if (s->mask == VALUE_NONE && shape != SHAPE_CHANGE && shape != SHAPE_CHANGE_IMM) want &= ~(1u << s->dst);
    want |= 1u << s->a | 1u << s->b | 1u << s->mask;
  }
  return keep;
}
_Static_assert(VALUE_COUNT <= 32, "sets of values are 32 bits");

/* An operation on constants, or one that does nothing. */
static bool fold(struct value *to, unsigned op, const struct value *a, const struct value *b) {
  if (a->constant && b->constant) {
    uint32_t x = a->bits, y = b->bits, r;
    switch (op) {
    case X86_vpaddd: r = x + y; break;
    case X86_vpsubd: r = x - y; break;
    case X86_vpandd: r = x & y; break;
    case X86_vpord: r = x | y; break;
    case X86_vpxord: r = x ^ y; break;
    case X86_vpmulld: r = x * y; break;
    case X86_vpsllvd: r = y < 32 ? x << y : 0; break;
    case X86_vpsrlvd: r = y < 32 ? x >> y : 0; break;
    case X86_vpsravd: r = (uint32_t)((int32_t)x >> (y < 32 ? y : 31)); break;
    default: return false;
    }
    return *to = (struct value){.known = true, .constant = true, .bits = r}, true;
  }
  bool shift = op == X86_vpsllvd || op == X86_vpsrlvd;
  if (b->constant && shift && b->bits > 31) return *to = (struct value){.known = true, .constant = true}, true;
  bool additive = op == X86_vpaddd || op == X86_vpord || op == X86_vpxord;
  if (b->constant && !b->bits && (additive || shift || op == X86_vpsubd || op == X86_vpsravd)) return *to = *a, true;
  if (a->constant && !a->bits && additive) return *to = *b, true;
  if (b->constant && b->bits == UINT32_MAX && op == X86_vpandd) return *to = *a, true;
  return false;
}

/* A register of its own for a value that is going to be changed. */
static unsigned own(struct compiler *c, struct sequence *s, struct value *v) {
  bool shared = v->constant || c->z[v->reg].key != KEY_TEMPORARY;
  for (unsigned id = VALUE_A; id < VALUE_E && !shared; id++)
    shared = &s->v[id] != v && s->v[id].known && !s->v[id].constant && s->v[id].reg == v->reg && !is_mask_source(s, id);
  if (!shared) return v->reg;
  unsigned z = zmm_temporary(c);
  if (v->constant) zmm_constant(&c->x, z, v->bits);
  else zmm_rr(&c->x, MOVDQA_LOAD, z, 0, v->reg, UNMASKED);
  *v = (struct value){.known = true, .reg = (uint8_t)z};
  return z;
}

static void shift_by(struct compiler *c, struct value *to, const struct native_step *step, unsigned a, uint32_t count) {
  unsigned z = zmm_temporary(c), extension = step->op == X86_vpsllvd ? 6 : step->op == X86_vpsrlvd ? 2 : 4;
  zmm_shift_d(&c->x, z, a, extension, count > 31 ? 31 : count, UNMASKED);
  *to = (struct value){.known = true, .reg = (uint8_t)z};
}

static void emit_step(struct compiler *c, struct sequence *s, const struct native_step *step) {
  const struct x86_info *info = &x86_table[step->op];
  struct evex e = {info->map, info->prefix, info->wide, info->opcode};
  struct value constant = {.known = true, .constant = true, .bits = step->constant}, *to = &s->v[step->dst];
  struct value *a = step->a == VALUE_CONST ? &constant : get(c, s, step->a);
  struct value *b = step->b == VALUE_CONST ? &constant : step->b == VALUE_NONE ? NULL : get(c, s, step->b);
  struct masking mask = UNMASKED;
  if (step->mask != VALUE_NONE) mask.k = get(c, s, step->mask)->reg;
  switch (info->shape) {
  case SHAPE_MASKS: {
    unsigned k = k_temporary(c);
    k_op(&c->x, info->opcode, k, a->reg, b->reg);
    *to = (struct value){.known = true, .reg = (uint8_t)k};
    return;
  }
  case SHAPE_COMPARE: {
    unsigned x = materialise(c, a), y = materialise(c, b), k = k_temporary(c);
    zmm_compare(&c->x, e, k, x, y, step->imm, mask.k);
    *to = (struct value){.known = true, .reg = (uint8_t)k};
    return;
  }
  case SHAPE_TO_MASK: {
    unsigned x = materialise(c, a), k = k_temporary(c);
    zmm_rr(&c->x, e, k, 0, x, UNMASKED);
    *to = (struct value){.known = true, .reg = (uint8_t)k};
    return;
  }
  case SHAPE_CHANGE: case SHAPE_CHANGE_IMM: {
    unsigned x = materialise(c, a), y = materialise(c, b), z = own(c, s, to);
    zmm_rr(&c->x, e, z, x, y, mask);
    if (info->shape == SHAPE_CHANGE_IMM) put8(&c->x, step->imm);
    return;
  }
  default: break;
  }
  if (!mask.k) {
    if (step->op == X86_mov) {
      *to = *a;
      return;
    }
    if (b && fold(to, step->op, a, b)) return;
    if (b && b->constant && (step->op == X86_vpsllvd || step->op == X86_vpsrlvd || step->op == X86_vpsravd)) {
      shift_by(c, to, step, materialise(c, a), b->bits);
      return;
    }
  }
  unsigned x = materialise(c, a), y = b ? materialise(c, b) : 0;
  unsigned z = mask.k ? own(c, s, to) : zmm_temporary(c);
  switch (info->shape) {
  case SHAPE_UNARY: case SHAPE_UNARY_IMM: zmm_rr(&c->x, e, z, 0, x, mask); break;
  case SHAPE_SHIFT2: zmm_shift_q(&c->x, z, x, 2, step->imm, mask); break;
  case SHAPE_SHIFT6: zmm_shift_q(&c->x, z, x, 6, step->imm, mask); break;
  default: zmm_rr(&c->x, e, z, x, y, mask); break;
  }
  if (info->shape == SHAPE_UNARY_IMM || info->shape == SHAPE_BINARY_IMM) put8(&c->x, step->imm);
  *to = (struct value){.known = true, .reg = (uint8_t)z};
}

/* Lane mask result: masked by EXEC, to the scalar file, and kept for readers in the group. */
static void commit_mask(struct compiler *c, unsigned index, unsigned k) {
  unsigned own = k;
  if (c->k[k].key != KEY_TEMPORARY || c->masked) {
    own = k_temporary(c);
    if (c->masked) k_op(&c->x, K_AND, own, k, K_EXEC);
    else k_op(&c->x, K_OR, own, k, k);
  }
  k_store(&c->x, own, LANE_MASK(index));
  for (unsigned n = K_FIRST; n <= K_LAST; n++)
    if (c->k[n].key >= 0 && c->k[n].key + 1 >= (int)index && c->k[n].key <= (int)index + 1)
      c->k[n].key = c->k[n].pinned ? KEY_TEMPORARY : KEY_FREE;
  c->k[own].key = (int)index;
}

/* Whether the instruction's second result is wanted. */
static bool mask_wanted(const struct inst *i) { return i->op->dst2_type != TYPE_none && i->dst2 != S_SINK; }

static void compute(struct compiler *c, struct sequence *s, const struct inst *i) {
  const struct native_row *row = &native_rows[i->op->id];
  const struct native_step *steps = native_steps + row->first;
  bool mask_result = i->op->dst_type == TYPE_mask;
  uint32_t want = mask_result ? 1u << VALUE_E : 1u << VALUE_D | (wide_type(i->op->dst_type) ? 1u << VALUE_DH : 0);
  if (mask_wanted(i)) want |= 1u << VALUE_E;
  uint32_t keep = useful(steps, row->count, want);
  *s = (struct sequence){.i = i};
  for (unsigned n = 0; n < row->count; n++)
    if (keep >> n & 1) emit_step(c, s, &steps[n]);
}

static void commit(struct compiler *c, struct sequence *s) {
  const struct inst *i = s->i;
  if (i->op->dst_type == TYPE_mask) {
    bool to_exec = native_rows[i->op->id].flags & NATIVE_WRITES_EXEC;   /* v_cmpx since GFX10 */
    commit_mask(c, to_exec ? S_EXEC : i->dst, s->v[VALUE_E].reg);
    return;
  }
  if (wide_type(i->op->dst_type)) {
    unsigned low = materialise(c, &s->v[VALUE_D]), high = materialise(c, &s->v[VALUE_DH]);
    if (c->masked) high = own(c, s, &s->v[VALUE_DH]);   /* writing the low row may change the register it is in */
    commit_row(c, i->dst, low);
    commit_row(c, i->dst + 1u, high);
  } else {
    commit_row(c, i->dst, materialise(c, &s->v[VALUE_D]));
  }
  if (mask_wanted(i)) commit_mask(c, i->dst2, s->v[VALUE_E].reg);
}

void native_sequence_emit(struct compiler *c, const struct inst *i) {
  struct sequence s;
  compute(c, &s, i);
  commit(c, &s);
}

void native_pair_emit(struct compiler *c, const struct inst *i) {
  struct sequence x, y;
  compute(c, &x, i->ext->x);
  compute(c, &y, i->ext->y);
  if (c->masked && y.i->op->dst_type != TYPE_mask) own(c, &y, &y.v[VALUE_D]);
  commit(c, &x);
  commit(c, &y);
}
