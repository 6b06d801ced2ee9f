/* Sequences of isa/native.py in machine code. */
#include "native_emit.h"
#include "valu_tables.h"

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

/* Modifiers of a result: f32 and f64 only. */
static bool modifies_result(const struct inst *i) { return i->omod || i->clamp; }

static bool has_32_bits(unsigned type) {
  return type == TYPE_b32 || type == TYPE_u32 || type == TYPE_i32 || type == TYPE_f32;
}

static bool has_16_bits(unsigned type) {
  return type == TYPE_b16 || type == TYPE_u16 || type == TYPE_i16 || type == TYPE_f16;
}

/* op_sel names halves of 16-bit operands; the older rows of GFX9 clear the rest of the register. */
static bool halves_known(const struct inst *i) {
  const struct op_info *op = i->op;
  if (has_16_bits(op->dst_type)) return op->generation > 0;
  if (!i->op_sel) return true;
  for (unsigned k = 0; k < op->n_src; k++)
    if ((i->op_sel >> k & 1) && !has_16_bits(op->src_type[k])) return false;
  return op->dst_type == TYPE_mask || op->dst_type == TYPE_f32;
}

/* DPP that stays within 16 lanes and does the same in all of them. */
static bool permutes_chunks(const struct inst *i) {
  const struct inst_ext *x = i->ext;
  if (x->kind == EXT_DPP8) return true;
  const uint8_t *from = dpp_from[i->op->generation != 0][x->dpp_ctrl];
  uint64_t readable = dpp_readable[i->op->generation != 0][x->dpp_ctrl];
  for (unsigned l = 0; l < 64; l++)
    if ((readable >> l & 1) != (readable >> l % 16 & 1) || ((readable >> l & 1) && from[l] != (l & ~15u) + from[l % 16]))
      return false;
  return x->dpp_row_mask == 15 && readable;
}

static bool extension_known(const struct inst *i) {
  const struct op_info *op = i->op;
  const struct inst_ext *x = i->ext;
  bool dpp = x->kind == EXT_DPP16 || x->kind == EXT_DPP8, sdwa = x->kind == EXT_SDWA;
  if ((!dpp && !sdwa) || (native_rows[op->id].flags & NATIVE_WIDE) || native_rows[op->id].slow) return false;
  if (op->dst2_type != TYPE_none || (op->dst_type != TYPE_mask && !has_32_bits(op->dst_type))) return false;
  for (unsigned k = 0; k < op->n_src; k++)
    if (op->src_type[k] != TYPE_mask && !has_32_bits(op->src_type[k])) return false;
  if (dpp) return i->src_kind[0] == OPERAND_VGPR && permutes_chunks(i);
  return op->dst_type == TYPE_mask || x->sdwa_dst_sel >= 6 || x->sdwa_dst_unused != 1;
}

/* Whether the sequence of the instruction's row, if it has one, is all that it does. */
bool native_sequence_known(const struct inst *i) {
  const struct op_info *op = i->op;
  const struct native_row *row = &native_rows[op->id];
  if (!row->count || !halves_known(i) || (i->ext && !extension_known(i))) return false;
  if (modifies_result(i) && op->dst_type != TYPE_f32 && op->dst_type != TYPE_f64) return false;
  for (unsigned k = 0; k < op->n_src; k++) {
    if (i->src_kind[k] == OPERAND_SPECIAL || i->src_kind[k] == OPERAND_NONE) return false;
    if (op->src_type[k] == TYPE_mask && i->src_kind[k] != OPERAND_SCALAR) return false;
    bool sign = (i->neg | i->abs) >> k & 1, wide = op->src_type[k] == TYPE_f64 && row->flags & NATIVE_WIDE;
    if (sign && !wide && op->src_type[k] != TYPE_f32 && op->src_type[k] != TYPE_b32) return false;
  }
  return true;
}

/* A value while a sequence is emitted. outer: of all 16 lanes, while the sequence is at one half of them. */
struct value { bool known, constant, outer; uint8_t reg; uint64_t bits; };
enum { ALL_LANES = 2 };
/* dpp: the first source is permuted, by the numbers in `index`; read, kept: mask registers of the lanes with a source
 * and with a result (0: all). */
struct sequence { const struct inst *i; unsigned half; bool dpp; uint8_t read, kept, index; struct value v[VALUE_COUNT]; };

static bool is_mask(const struct sequence *s, unsigned id) {
  if (id >= VALUE_A && id <= VALUE_CH) return s->i->op->src_type[(id - VALUE_A) / 2] == TYPE_mask;
  return id >= VALUE_E;
}

static unsigned materialise(struct compiler *c, const struct sequence *s, struct value *v) {
  if (!v->constant) return v->reg;
  unsigned z = s->half == ALL_LANES ? zmm_const(c, (uint32_t)v->bits) : zmm_const64(c, v->bits);
  *v = (struct value){.known = true, .reg = (uint8_t)z, .bits = v->bits};
  return z;
}

static struct value in_register(unsigned reg) { return (struct value){.known = true, .reg = (uint8_t)reg}; }
static struct value known_bits(uint64_t bits) { return (struct value){.known = true, .constant = true, .bits = bits}; }

static unsigned change_sign(struct compiler *c, unsigned z, bool absolute, bool negate, bool wide) {
  static const struct evex and = {1, 1, 0, 0xdb}, xor = {1, 1, 0, 0xef}, or = {1, 1, 0, 0xeb};
  if (!absolute && !negate) return z;
  uint64_t bit = wide ? UINT64_C(1) << 63 : 0x80000000, bits = absolute && !negate ? bit - 1 : bit;
  unsigned to = zmm_temporary(c), sign = wide ? zmm_const64(c, bits) : zmm_const(c, (uint32_t)bits);
  zmm_rr(&c->x, absolute ? negate ? or : and : xor, to, z, sign, UNMASKED);
  return to;
}

static unsigned permuted(struct compiler *c, const struct sequence *s, unsigned z) {
  unsigned to = zmm_temporary(c);
  zmm_rr(&c->x, PERMD, to, s->index, z, (struct masking){s->read, s->read != 0});
  return to;
}

/* The byte or word that SDWA names. */
static unsigned selected(struct compiler *c, unsigned z, unsigned which, bool sign) {
  unsigned bits = which < 4 ? 8 : 16, shift = which < 4 ? which * 8 : (which - 4) * 16, left = 32 - bits - shift;
  unsigned to = zmm_temporary(c);
  if (left) zmm_shift_d(&c->x, to, z, 6, left, UNMASKED);
  zmm_shift_d(&c->x, to, left ? to : z, sign ? 4 : 2, 32 - bits, UNMASKED);
  return to;
}

static struct value source(struct compiler *c, const struct sequence *s, unsigned k, unsigned dword) {
  const struct inst *i = s->i;
  uint32_t bits;
  bool negate = !dword && (i->neg >> k & 1), absolute = !dword && (i->abs >> k & 1);
  bool part = i->ext && i->ext->kind == EXT_SDWA && k < 2 && i->ext->sdwa_sel[k] < 6;
  bool half = has_16_bits(i->op->src_type[k]), sign = i->op->src_type[k] == TYPE_i16;
  if (half && native_constant(i, k, dword, &bits)) {
    bits = bits >> (i->op_sel >> k & 1) * 16 & 0xffff;
    return known_bits(sign ? (uint32_t)(int16_t)bits : bits);
  }
  if (!part && native_constant(i, k, dword, &bits)) {
    if (absolute) bits &= INT32_MAX;
    if (negate) bits ^= 0x80000000;
    return known_bits(bits);
  }
  unsigned z = i->src_kind[k] == OPERAND_VGPR ? zmm_row(c, i->src[k] + dword) : zmm_scalar(c, i->src[k] + dword);
  if (s->dpp && k == 0) z = permuted(c, s, z);
  if (half) return in_register(selected(c, z, 4 + (i->op_sel >> k & 1), sign));
  if (part) z = selected(c, z, i->ext->sdwa_sel[k], i->ext->sdwa_sext[k]);
  return in_register(change_sign(c, z, absolute, negate, false));
}

/* The dwords of a half of the lanes, as the instructions that widen take them. */
static unsigned half_of(struct compiler *c, unsigned z, unsigned half) {
  if (!half) return z;
  unsigned to = zmm_temporary(c);
  zmm_rr(&c->x, EXTRACT_HALF, z, 0, to, UNMASKED), put8(&c->x, 1);
  return to;
}

/* A source of a sequence for half of the lanes. */
static struct value wide_source(struct compiler *c, const struct sequence *s, unsigned k, unsigned half) {
  const struct inst *i = s->i;
  bool negate = i->neg >> k & 1, absolute = i->abs >> k & 1;
  uint32_t low, high;
  if (!wide_type(i->op->src_type[k])) {
    struct value v = source(c, s, k, 0);
    if (v.constant) return known_bits((uint64_t)v.bits << 32 | v.bits);
    return in_register(half_of(c, v.reg, half));
  }
  if (native_constant(i, k, 0, &low) && native_constant(i, k, 1, &high)) {
    uint64_t bits = (uint64_t)high << 32 | low;
    if (absolute) bits &= INT64_MAX;
    if (negate) bits ^= UINT64_C(1) << 63;
    return known_bits(bits);
  }
  unsigned z = i->src_kind[k] == OPERAND_VGPR ? zmm_wide(c, i->src[k], half) : zmm_scalar64(c, i->src[k]);
  return in_register(change_sign(c, z, absolute, negate, true));
}

static struct value *get(struct compiler *c, struct sequence *s, unsigned id) {
  struct value *v = &s->v[id];
  const struct inst *i = s->i;
  bool half = s->half != ALL_LANES;
  if (v->known) {
    if (!v->outer) return v;
    v->outer = false;   /* a copy of the sequence's: this half's part */
    if (v->constant) v->bits |= v->bits << 32;
    else if (is_mask(s, id)) v->reg = (uint8_t)k_half(c, v->reg, s->half);
    else v->reg = (uint8_t)half_of(c, v->reg, s->half);
    return v;
  }
  unsigned dword = 0;
  switch (id) {
  case VALUE_AH: case VALUE_BH: case VALUE_CH: dword = 1; __attribute__((fallthrough));
  case VALUE_A: case VALUE_B: case VALUE_C: {
    unsigned k = (id - VALUE_A) / 2;
    if (i->op->src_type[k] == TYPE_mask) *v = in_register(k_mask(c, i->src[k]));
    else *v = half ? wide_source(c, s, k, s->half) : source(c, s, k, dword);
    break;
  }
  case VALUE_O: case VALUE_OH:
    *v = in_register(half ? zmm_wide(c, i->dst, s->half) : zmm_row(c, i->dst + (id == VALUE_OH)));
    break;
  case VALUE_VCC:
    *v = in_register(k_mask(c, S_VCC));
    if (half) v->reg = (uint8_t)k_half(c, v->reg, s->half);
    break;
  case VALUE_ODD: *v = in_register(K_ODD); break;
  default: c->x.full = true;   /* a temporary that nothing wrote: the generator's fault */
  }
  return v;
}

/* The steps that results hang on. want: bit per value. */
static uint64_t useful(const struct native_step *steps, unsigned count, uint32_t want) {
  uint64_t keep = 0;
  for (unsigned n = count; n-- > 0;) {
    const struct native_step *s = &steps[n];
    unsigned shape = x86_table[s->op].shape;
    bool frame = shape == SHAPE_HALVES || shape == SHAPE_JOIN;
    if (!frame && !(want >> s->dst & 1)) continue;
    keep |= UINT64_C(1) << n;
    if (frame) continue;
    if (s->mask == VALUE_NONE && shape != SHAPE_CHANGE && shape != SHAPE_CHANGE_IMM) want &= ~(1u << s->dst);
    want |= 1u << s->a | 1u << s->b | 1u << s->mask;
  }
  return keep;
}
_Static_assert(VALUE_COUNT <= 32, "sets of values are 32 bits");

/* An operation on constants, or one that does nothing. */
static bool fold(struct value *to, unsigned op, const struct value *a, const struct value *b) {
  if (a->constant && b->constant) {
    uint32_t x = (uint32_t)a->bits, y = (uint32_t)b->bits, r;
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
    return *to = known_bits(r), true;
  }
  bool shift = op == X86_vpsllvd || op == X86_vpsrlvd;
  if (b->constant && shift && b->bits > 31) return *to = known_bits(0), true;
  bool additive = op == X86_vpaddd || op == X86_vpord || op == X86_vpxord;
  if (b->constant && !b->bits && (additive || shift || op == X86_vpsubd || op == X86_vpsravd)) return *to = *a, true;
  if (a->constant && !a->bits && additive) return *to = *b, true;
  if (b->constant && b->bits == UINT32_MAX && op == X86_vpandd) return *to = *a, true;
  return false;
}

/* Whether another value of the sequence is in the same register. */
static bool shared(const struct sequence *s, const struct value *v) {
  bool mask = is_mask(s, (unsigned)(v - s->v));
  for (unsigned id = VALUE_A; id < VALUE_COUNT; id++) {
    const struct value *other = &s->v[id];
    if (other != v && other->known && !other->constant && other->reg == v->reg && is_mask(s, id) == mask) return true;
  }
  return false;
}

/* A register of its own for a value that is going to be changed. */
static unsigned own(struct compiler *c, struct sequence *s, struct value *v) {
  if (!v->constant && !v->outer && c->z[v->reg].key == KEY_TEMPORARY && !shared(s, v)) return v->reg;
  unsigned z = zmm_temporary(c);
  if (v->constant && s->half != ALL_LANES) zmm_rr(&c->x, MOVDQA_LOAD, z, 0, zmm_const64(c, v->bits), UNMASKED);
  else if (v->constant) zmm_constant(&c->x, z, (uint32_t)v->bits);
  else zmm_rr(&c->x, MOVDQA_LOAD, z, 0, v->reg, UNMASKED);
  *v = in_register(z);
  return z;
}

/* The value is `now`; a temporary that it was in is free. */
static void set(struct compiler *c, struct sequence *s, struct value *v, struct value now) {
  if (v->known && !v->constant && !v->outer && !shared(s, v)) {
    struct held *h = is_mask(s, (unsigned)(v - s->v)) ? &c->k[v->reg] : &c->z[v->reg];
    if (h->key == KEY_TEMPORARY && (now.constant || now.reg != v->reg)) *h = (struct held){.key = KEY_FREE};
  }
  *v = now;
}

static unsigned shift_by(struct compiler *c, const struct native_step *step, unsigned a, uint32_t count) {
  unsigned z = zmm_temporary(c), extension = step->op == X86_vpsllvd ? 6 : step->op == X86_vpsrlvd ? 2 : 4;
  zmm_shift_d(&c->x, z, a, extension, count > 31 ? 31 : count, UNMASKED);
  return z;
}

static void emit_step(struct compiler *c, struct sequence *s, const struct native_step *step) {
  const struct x86_info *info = &x86_table[step->op];
  struct evex e = {info->map, info->prefix, info->wide, info->opcode};
  struct value constant = known_bits(step->constant), *to = &s->v[step->dst];
  if (to->outer) get(c, s, step->dst);
  struct value *a = step->a == VALUE_CONST ? &constant : get(c, s, step->a);
  struct value *b = step->b == VALUE_CONST ? &constant : step->b == VALUE_NONE ? NULL : get(c, s, step->b);
  struct masking mask = UNMASKED;
  if (step->mask != VALUE_NONE) mask.k = get(c, s, step->mask)->reg;
  switch (info->shape) {
  case SHAPE_MASKS: {
    unsigned k = k_temporary(c);
    k_op(&c->x, info->opcode, k, a->reg, b->reg);
    set(c, s, to, in_register(k));
    return;
  }
  case SHAPE_COMPARE: case SHAPE_TEST: {
    unsigned x = materialise(c, s, a), y = materialise(c, s, b), k = k_temporary(c);
    zmm_rr(&c->x, e, k, x, y, (struct masking){mask.k, false});
    if (info->shape == SHAPE_COMPARE) put8(&c->x, step->imm);
    set(c, s, to, in_register(k));
    return;
  }
  case SHAPE_TO_MASK: {
    unsigned x = materialise(c, s, a), k = k_temporary(c);
    zmm_rr(&c->x, e, k, 0, x, UNMASKED);
    set(c, s, to, in_register(k));
    return;
  }
  case SHAPE_CHANGE: case SHAPE_CHANGE_IMM: {
    unsigned x = materialise(c, s, a), y = materialise(c, s, b), z = own(c, s, to);
    zmm_rr(&c->x, e, z, x, y, mask);
    if (info->shape == SHAPE_CHANGE_IMM) put8(&c->x, step->imm);
    return;
  }
  default: break;
  }
  if (!mask.k) {
    if (step->op == X86_mov || step->op == X86_movq) {
      set(c, s, to, *a);
      return;
    }
    struct value folded;
    if (b && s->half == ALL_LANES && fold(&folded, step->op, a, b)) {
      set(c, s, to, folded);
      return;
    }
    if (b && b->constant && (step->op == X86_vpsllvd || step->op == X86_vpsrlvd || step->op == X86_vpsravd)) {
      set(c, s, to, in_register(shift_by(c, step, materialise(c, s, a), (uint32_t)b->bits)));
      return;
    }
  }
  unsigned x = materialise(c, s, a), y = b ? materialise(c, s, b) : 0;
  unsigned z = mask.k ? own(c, s, to) : zmm_temporary(c);
  switch (info->shape) {
  case SHAPE_UNARY: case SHAPE_UNARY_IMM: zmm_rr(&c->x, e, z, 0, x, mask); break;
  case SHAPE_NARROW: case SHAPE_NARROW_IMM: zmm_rr(&c->x, e, x, 0, z, mask); break;
  case SHAPE_SHIFT2: zmm_shift_q(&c->x, z, x, 2, step->imm, mask); break;
  case SHAPE_SHIFT6: zmm_shift_q(&c->x, z, x, 6, step->imm, mask); break;
  default: zmm_rr(&c->x, e, z, x, y, mask); break;
  }
  if (info->shape == SHAPE_UNARY_IMM || info->shape == SHAPE_BINARY_IMM || info->shape == SHAPE_NARROW_IMM) put8(&c->x, step->imm);
  if (!mask.k) set(c, s, to, in_register(z));
}

/* Lane mask result: of the lanes in mask register `kept` (0: all), to the scalar file, and there for readers in the
 * group. */
static void commit_mask(struct compiler *c, unsigned index, unsigned k, unsigned kept) {
  unsigned own = k;
  if (c->k[k].key != KEY_TEMPORARY || kept) {
    own = k_temporary(c);
    k_op(&c->x, kept ? K_AND : K_OR, own, k, kept ? kept : k);
  }
  native_store_mask(c, index, own);
  for (unsigned n = K_FIRST; n <= K_LAST; n++)
    if (c->k[n].key >= 0 && c->k[n].key + 1 >= row_key(c, index) && c->k[n].key <= row_key(c, index) + 1)
      c->k[n].key = c->k[n].pinned ? KEY_TEMPORARY : KEY_FREE;
  c->k[own].key = row_key(c, index);
}

/* Whether the instruction's second result is wanted. */
static bool mask_wanted(const struct inst *i) { return i->op->dst2_type != TYPE_none && i->dst2 != S_SINK; }

/* omod and clamp; NaN gives 0, as DX10_CLAMP is on. */
static void modify(struct compiler *c, struct sequence *s) {
  static const struct evex multiply[2] = {{1, 0, 0, 0x59}, {1, 1, 1, 0x59}}, max[2] = {{1, 0, 0, 0x5f}, {1, 1, 1, 0x5f}},
                           min[2] = {{1, 0, 0, 0x5d}, {1, 1, 1, 0x5d}};
  static const uint32_t scale[4] = {0x3f800000, 0x40000000, 0x40800000, 0x3f000000};
  static const uint64_t scale64[4] = {UINT64_C(0x3ff) << 52, UINT64_C(0x400) << 52, UINT64_C(0x401) << 52, UINT64_C(0x3fe) << 52};
  const struct inst *i = s->i;
  struct value *d = &s->v[VALUE_D];
  bool wide = s->half != ALL_LANES;
  if (i->omod) {
    unsigned x = materialise(c, s, d), z = zmm_temporary(c);
    unsigned by = wide ? zmm_const64(c, scale64[i->omod & 3]) : zmm_const(c, scale[i->omod & 3]);
    zmm_rr(&c->x, multiply[wide], z, x, by, UNMASKED);
    set(c, s, d, in_register(z));
  }
  if (i->clamp) {
    unsigned x = materialise(c, s, d), z = zmm_temporary(c);
    unsigned one = wide ? zmm_const64(c, scale64[0]) : zmm_const(c, scale[0]), zero = zmm_const(c, 0);
    zmm_rr(&c->x, max[wide], z, x, zero, UNMASKED);   /* of NaN or two zeros the second */
    zmm_rr(&c->x, min[wide], z, z, one, UNMASKED);
    set(c, s, d, in_register(z));
  }
}

/* --- DPP and SDWA ------------------------------------------------------------------------------------------ */

static unsigned k_constant(struct compiler *c, unsigned bits) {
  unsigned k = k_temporary(c);
  gpr_constant(&c->x, RAX, bits);
  k_gpr(&c->x, k, RAX);
  return k;
}

/* Where lanes read, which of them may, and which results count: as dpp_lanes does it in valu_modify.c. */
static void prepare_dpp(struct compiler *c, struct sequence *s) {
  static const struct evex to_mask = {2, 2, 0, 0x39}, from_mask = {2, 2, 0, 0x38};
  const struct inst_ext *x = s->i->ext;
  bool newer = s->i->op->generation != 0, eights = x->kind == EXT_DPP8, bound = eights || x->dpp_bound;
  unsigned readable = eights ? 0xffff : (unsigned)dpp_readable[newer][x->dpp_ctrl] & 0xffff, banks = 0xffff;
  s->dpp = true;
  s->index = (uint8_t)zmm_temporary(c);
  if (eights) {
    uint64_t low = 0;
    for (unsigned l = 0; l < 8; l++) low |= (uint64_t)x->dpp8[l] << 8 * l;
    for (unsigned half = 0; half < 2; half++) {
      gpr_constant(&c->x, RAX, low + half * UINT64_C(0x0808080808080808));
      gpr_store(&c->x, true, mem(RSP, (int32_t)(offsetof(struct frame, data) + 8 * half)), RAX);
    }
    zmm_rm(&c->x, MOVZX_B, s->index, 0, FRAME(data), UNMASKED);
  } else {
    gpr_constant(&c->x, RAX, (uint64_t)(uintptr_t)dpp_from[newer][x->dpp_ctrl]);
    zmm_rm(&c->x, MOVZX_B, s->index, 0, mem(RAX, 0), UNMASKED);
    banks = 0;
    for (unsigned bank = 0; bank < 4; bank++) banks |= (x->dpp_bank_mask >> bank & 1u) * (0xfu << 4 * bank);
  }
  if (readable != 0xffff) s->read = (uint8_t)k_constant(c, readable);
  if (c->masked && !x->dpp_fi) {   /* only from active lanes */
    unsigned z = zmm_temporary(c), k = k_temporary(c);
    zmm_rr(&c->x, from_mask, z, 0, K_EXEC, UNMASKED);
    zmm_rr(&c->x, PERMD, z, s->index, z, UNMASKED);
    zmm_rr(&c->x, to_mask, k, 0, z, UNMASKED);
    if (s->read) k_op(&c->x, K_AND, s->read, s->read, k);
    else s->read = (uint8_t)k;
  }
  bool all = banks == 0xffff && (bound || !s->read);
  if (all) return;
  unsigned k = k_constant(c, banks);
  if (!bound && s->read) k_op(&c->x, K_AND, k, k, s->read);
  if (c->masked) k_op(&c->x, K_AND, k, k, K_EXEC);
  s->kept = (uint8_t)k;
}

/* Puts the result into a byte (which: 0 to 3) or word (4, 5) of the destination, or of 0. */
static void place(struct compiler *c, struct sequence *s, unsigned which, bool keep) {
  static const struct evex and = {1, 1, 0, 0xdb}, or = {1, 1, 0, 0xeb};
  unsigned bits = which < 4 ? 8 : 16, shift = which < 4 ? which * 8 : (which - 4) * 16;
  uint32_t mask = ((1u << bits) - 1) << shift;
  unsigned from = materialise(c, s, &s->v[VALUE_D]), z = zmm_temporary(c);
  if (shift) zmm_shift_d(&c->x, z, from, 6, shift, UNMASKED);
  zmm_rr(&c->x, and, z, shift ? z : from, zmm_const(c, mask), UNMASKED);
  if (keep) {
    unsigned old = zmm_row(c, s->i->dst), rest = zmm_temporary(c);
    zmm_rr(&c->x, and, rest, old, zmm_const(c, ~mask), UNMASKED);
    zmm_rr(&c->x, or, z, z, rest, UNMASKED);
  }
  set(c, s, &s->v[VALUE_D], in_register(z));
}

static uint32_t wanted(const struct inst *i) {
  const struct native_row *row = &native_rows[i->op->id];
  bool pair = wide_type(i->op->dst_type) && !(row->flags & NATIVE_WIDE);
  uint32_t want = i->op->dst_type == TYPE_mask ? 1u << VALUE_E : 1u << VALUE_D | (pair ? 1u << VALUE_DH : 0);
  if (mask_wanted(i)) want |= 1u << VALUE_E;
  if (row->slow) want |= 1u << VALUE_SLOW;
  return want;
}

/* --- what a sequence leaves to C ------------------------------------------------------------------------ */

/* Stores the sources, calls the function, loads the results. z: result, sources; k: flag result. */
static void slow_lanes(struct compiler *c, const struct detour *d) {
  struct x86 *x = &c->x;
  gpr_k(x, RAX, d->k);
  gpr_store(x, true, FRAME(lanes), RAX);
  for (unsigned n = 0; n < d->n_data; n++)
    zmm_rm(x, MOVDQA_STORE, d->z[1 + n], 0, mem(RSP, (int32_t)(offsetof(struct frame, data) + 64 * n)), UNMASKED);
  zmm_rm(x, MOVDQA_STORE, d->z[0], 0, mem(RSP, (int32_t)(offsetof(struct frame, data) + 64 * 3)), UNMASKED);
  gpr_constant(x, RSI, (uint64_t)(uintptr_t)d->i);
  gpr_constant(x, RAX, (uint64_t)(uintptr_t)native_rows[d->i->op->id].slow);
  native_access_call(c);
  zmm_rm(x, MOVDQA_LOAD, d->z[0], 0, mem(RSP, (int32_t)(offsetof(struct frame, data) + 64 * 3)), UNMASKED);
  if (d->pattern_slot) {   /* the flags of those lanes */
    k_load(x, d->k, FRAME(lanes));
    k_op(x, K_OR, d->pattern_slot, d->pattern_slot, d->k);
  }
  land_at(x, jump_always(x), d->back);
}

/* At the end of a sequence: the lanes in SLOW get their results from C. */
static void native_slow_emit(struct compiler *c, struct sequence *s) {
  const struct inst *i = s->i;
  struct detour *d = detour_new(c, i);
  d->emit = slow_lanes;
  d->n_data = (uint8_t)i->op->n_src;
  d->z[0] = (uint8_t)own(c, s, &s->v[VALUE_D]);
  for (unsigned n = 0; n < i->op->n_src; n++) {
    struct value *v = get(c, s, VALUE_A + 2 * n);
    d->z[1 + n] = (uint8_t)materialise(c, s, v);
  }
  unsigned k = s->v[VALUE_SLOW].reg;
  if (c->k[k].key != KEY_TEMPORARY || c->masked) {
    unsigned exec = s->half == ALL_LANES ? K_EXEC : k_half(c, K_EXEC, s->half), to = k_temporary(c);
    k_op(&c->x, c->masked ? K_AND : K_OR, to, k, c->masked ? exec : k);
    k = to;
  }
  d->k = (uint8_t)k;
  d->pattern_slot = mask_wanted(i) ? s->v[VALUE_E].reg : 0;
  if (s->half == ALL_LANES) k_test(&c->x, k);
  else k_test8(&c->x, k);
  d->from[d->n_from++] = jump_if(&c->x, CC_NE);
  d->back = c->x.at;
}

/* Temporaries in use, for the end of a half. */
struct in_use { uint32_t z; uint8_t k; };
static struct in_use in_use(const struct compiler *c) {
  struct in_use u = {0};
  for (unsigned z = 0; z < ZMM_COUNT; z++) u.z |= (uint32_t)(c->z[z].key == KEY_TEMPORARY) << z;
  for (unsigned k = 0; k < 8; k++) u.k |= (uint8_t)((c->k[k].key == KEY_TEMPORARY) << k);
  return u;
}
static void free_others(struct compiler *c, struct in_use keep) {
  for (unsigned z = 0; z < ZMM_COUNT; z++)
    if (c->z[z].key == KEY_TEMPORARY && !(keep.z >> z & 1)) c->z[z] = (struct held){.key = KEY_FREE};
  for (unsigned k = 0; k < 8; k++)
    if (c->k[k].key == KEY_TEMPORARY && !(keep.k >> k & 1)) c->k[k] = (struct held){.key = KEY_FREE};
}

/* zmm = two halves of dwords. */
static unsigned join_halves(struct compiler *c, unsigned first, unsigned second) {
  unsigned z = zmm_temporary(c);
  zmm_rr(&c->x, INSERT_HALF, z, first, second, UNMASKED), put8(&c->x, 1);
  return z;
}

/* Steps from `first` on, which are for half of the lanes, up to the join of the value they make. Returns its number. */
static unsigned emit_halves(struct compiler *c, struct sequence *s, const struct native_step *steps, unsigned first,
                            uint64_t keep) {
  unsigned last = first, reg[2];
  while (x86_table[steps[last].op].shape != SHAPE_JOIN) last++;
  unsigned id = steps[last].dst;
  for (unsigned half = 0; half < 2; half++) {
    struct sequence part = *s;
    part.half = half;
    for (unsigned v = 0; v < VALUE_COUNT; v++) part.v[v].outer = part.v[v].known;
    struct in_use before = in_use(c);
    for (unsigned n = first; n < last; n++)
      if (keep >> n & 1) emit_step(c, &part, &steps[n]);
    reg[half] = materialise(c, &part, &part.v[id]);
    before.z |= 1u << reg[half];
    free_others(c, before);
  }
  set(c, s, &s->v[id], in_register(join_halves(c, reg[0], reg[1])));
  return last;
}

/* The results of a sequence: part[1] is there for wide ones. */
struct results { struct sequence part[2]; };

static void run_steps(struct compiler *c, struct sequence *s, uint64_t keep) {
  const struct native_row *row = &native_rows[s->i->op->id];
  const struct native_step *steps = native_steps + row->first;
  for (unsigned n = 0; n < row->count; n++)
    if (x86_table[steps[n].op].shape == SHAPE_HALVES) n = emit_halves(c, s, steps, n + 1, keep);
    else if (keep >> n & 1) emit_step(c, s, &steps[n]);
  if (modifies_result(s->i)) modify(c, s);
}

static void compute(struct compiler *c, struct results *r, const struct inst *i) {
  const struct native_row *row = &native_rows[i->op->id];
  uint32_t want = wanted(i);
  uint64_t keep = useful(native_steps + row->first, row->count, want);
  if (!(row->flags & NATIVE_WIDE)) {
    struct sequence *s = &r->part[0];
    *s = (struct sequence){.i = i, .half = ALL_LANES};
    bool sdwa = i->ext && i->ext->kind == EXT_SDWA;
    if (i->ext && !sdwa) prepare_dpp(c, s);
    run_steps(c, s, keep);
    if (sdwa && i->op->dst_type != TYPE_mask && i->ext->sdwa_dst_sel < 6)
      place(c, s, i->ext->sdwa_dst_sel, i->ext->sdwa_dst_unused == 2);
    if (has_16_bits(i->op->dst_type)) place(c, s, 4 + (i->op_sel >> 3 & 1), true);
    if (row->slow) native_slow_emit(c, &r->part[0]);
    return;
  }
  for (unsigned half = 0; half < 2; half++) {
    struct sequence *s = &r->part[half];
    struct in_use before = in_use(c);
    *s = (struct sequence){.i = i, .half = half};
    run_steps(c, s, keep);
    if (row->slow) native_slow_emit(c, s);
    if (want >> VALUE_D & 1) before.z |= 1u << materialise(c, s, &s->v[VALUE_D]);
    if (want >> VALUE_E & 1) before.k |= (uint8_t)(1u << s->v[VALUE_E].reg);
    free_others(c, before);
  }
}

static unsigned result_mask(struct compiler *c, const struct results *r) {
  unsigned first = r->part[0].v[VALUE_E].reg;
  if (r->part[0].half == ALL_LANES) return first;
  unsigned k = k_temporary(c);
  k_unpack(&c->x, k, r->part[1].v[VALUE_E].reg, first);
  return k;
}

static void commit(struct compiler *c, struct results *r) {
  struct sequence *s = &r->part[0];
  const struct inst *i = s->i;
  bool wide = s->half != ALL_LANES;
  unsigned kept = s->kept ? s->kept : c->masked ? K_EXEC : 0;
  if (i->op->dst_type == TYPE_mask) {
    bool to_exec = native_rows[i->op->id].flags & NATIVE_WRITES_EXEC;   /* v_cmpx since GFX10 */
    commit_mask(c, to_exec ? S_EXEC : i->dst, result_mask(c, r), kept);
    return;
  }
  if (wide && wide_type(i->op->dst_type)) {
    unsigned z[2] = {s[0].v[VALUE_D].reg, s[1].v[VALUE_D].reg};
    commit_wide(c, i->dst, z);
  } else if (wide) {
    commit_row(c, i->dst, join_halves(c, s[0].v[VALUE_D].reg, s[1].v[VALUE_D].reg));
  } else if (wide_type(i->op->dst_type)) {
    unsigned low = materialise(c, s, &s->v[VALUE_D]), high = materialise(c, s, &s->v[VALUE_DH]);
    if (c->masked) high = own(c, s, &s->v[VALUE_DH]);   /* writing the low row may change the register it is in */
    commit_row(c, i->dst, low);
    commit_row(c, i->dst + 1u, high);
  } else {
    commit_lanes(c, i->dst, materialise(c, s, &s->v[VALUE_D]), kept);
  }
  if (mask_wanted(i)) commit_mask(c, i->dst2, result_mask(c, r), kept);
}

void native_sequence_emit(struct compiler *c, const struct inst *i) {
  struct results r;
  compute(c, &r, i);
  commit(c, &r);
}

void native_pair_emit(struct compiler *c, const struct inst *i) {
  struct results x, y;
  compute(c, &x, i->ext->x);
  compute(c, &y, i->ext->y);
  if (c->masked && y.part[0].i->op->dst_type != TYPE_mask) own(c, &y.part[0], &y.part[0].v[VALUE_D]);
  commit(c, &x);
  commit(c, &y);
}
