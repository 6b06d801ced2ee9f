/* Values of sequences, and their steps in machine code. */
#include "native_value.h"

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

bool value_is_mask(const struct sequence *s, unsigned id) {
  if (id >= VALUE_A && id <= VALUE_CH) return s->i->op->src_type[(id - VALUE_A) / 2] == TYPE_mask;
  return id >= VALUE_E;
}

unsigned value_register(struct compiler *c, const struct sequence *s, struct value *v) {
  if (!v->constant) return v->reg;
  unsigned z = s->half == ALL_LANES ? vec_const(c, (uint32_t)v->bits) : vec_const64(c, v->bits);
  if (!c->machine->vex) *v = (struct value){.known = true, .reg = (uint8_t)z, .bits = v->bits};
  return z;
}

static struct value known_bits(uint64_t bits) { return (struct value){.known = true, .constant = true, .bits = bits}; }

static unsigned change_sign(struct compiler *c, unsigned z, bool absolute, bool negate, bool wide) {
  static const struct evex and = {1, 1, 0, 0xdb}, xor = {1, 1, 0, 0xef}, or = {1, 1, 0, 0xeb};
  if (!absolute && !negate) return z;
  uint64_t bit = wide ? UINT64_C(1) << 63 : 0x80000000, bits = absolute && !negate ? bit - 1 : bit;
  unsigned to = vec_temporary(c), sign = wide ? vec_const64(c, bits) : vec_const(c, (uint32_t)bits);
  vec_rr(&c->x, absolute ? negate ? or : and : xor, to, z, sign, UNMASKED);
  return to;
}

static unsigned permuted(struct compiler *c, const struct sequence *s, unsigned z) {
  unsigned to = vec_temporary(c);
  vec_rr(&c->x, PERMD, to, s->index, z, (struct masking){s->read, s->read != 0});
  return to;
}

/* The byte or word selected by SDWA. */
static unsigned selected(struct compiler *c, unsigned z, unsigned which, bool sign) {
  unsigned bits = which < 4 ? 8 : 16, shift = which < 4 ? which * 8 : (which - 4) * 16, left = 32 - bits - shift;
  unsigned to = vec_temporary(c);
  if (left) vec_shift_d(&c->x, to, z, 6, left, UNMASKED);
  vec_shift_d(&c->x, to, left ? to : z, sign ? 4 : 2, 32 - bits, UNMASKED);
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
  unsigned z = i->src_kind[k] == OPERAND_VGPR ? vec_row(c, i->src[k] + dword) : vec_scalar(c, i->src[k] + dword);
  if (s->dpp && k == 0) z = permuted(c, s, z);
  if (half) return in_register(selected(c, z, 4 + (i->op_sel >> k & 1), sign));
  if (part) z = selected(c, z, i->ext->sdwa_sel[k], i->ext->sdwa_sext[k]);
  return in_register(change_sign(c, z, absolute, negate, false));
}

/* A source of a sequence for one half of the lanes. */
static struct value wide_source(struct compiler *c, const struct sequence *s, unsigned k, unsigned half) {
  const struct inst *i = s->i;
  bool negate = i->neg >> k & 1, absolute = i->abs >> k & 1;
  uint32_t low, high;
  if (!wide_type(i->op->src_type[k])) {
    struct value v = source(c, s, k, 0);
    if (v.constant) return known_bits((uint64_t)v.bits << 32 | v.bits);
    return in_register(c->machine->split(c, v.reg, half));
  }
  if (native_constant(i, k, 0, &low) && native_constant(i, k, 1, &high)) {
    uint64_t bits = (uint64_t)high << 32 | low;
    if (absolute) bits &= INT64_MAX;
    if (negate) bits ^= UINT64_C(1) << 63;
    return known_bits(bits);
  }
  unsigned z = i->src_kind[k] == OPERAND_VGPR ? vec_wide(c, i->src[k], half) : vec_scalar64(c, i->src[k]);
  return in_register(change_sign(c, z, absolute, negate, true));
}

struct value *value_get(struct compiler *c, struct sequence *s, unsigned id) {
  struct value *v = &s->v[id];
  const struct inst *i = s->i;
  bool half = s->half != ALL_LANES;
  if (v->known) {
    if (!v->outer) return v;
    v->outer = false;   /* a copy made by the sequence: this half's part */
    if (v->constant) v->bits |= v->bits << 32;
    else if (value_is_mask(s, id)) v->reg = (uint8_t)c->machine->mask_half(c, v->reg, s->half);
    else v->reg = (uint8_t)c->machine->split(c, v->reg, s->half);
    return v;
  }
  unsigned dword = 0;
  switch (id) {
  case VALUE_AH: case VALUE_BH: case VALUE_CH: dword = 1; __attribute__((fallthrough));
  case VALUE_A: case VALUE_B: case VALUE_C: {
    unsigned k = (id - VALUE_A) / 2;
    if (i->op->src_type[k] == TYPE_mask) *v = in_register(mask_scalar(c, i->src[k]));
    else *v = half ? wide_source(c, s, k, s->half) : source(c, s, k, dword);
    break;
  }
  case VALUE_O: case VALUE_OH:
    *v = in_register(half ? vec_wide(c, i->dst, s->half) : vec_row(c, i->dst + (id == VALUE_OH)));
    break;
  case VALUE_VCC:
    *v = in_register(mask_scalar(c, S_VCC));
    if (half) v->reg = (uint8_t)c->machine->mask_half(c, v->reg, s->half);
    break;
  case VALUE_ODD: *v = in_register(K_ODD); break;
  default: c->x.full = true;   /* a temporary that was never written: an error in the generator */
  }
  return v;
}

uint64_t steps_useful(const struct native_step *steps, unsigned count, uint32_t want) {
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

/* An operation on constants, or one without effect. */
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
static bool shared(const struct compiler *c, const struct sequence *s, const struct value *v) {
  bool mask = value_is_mask(s, (unsigned)(v - s->v));
  for (unsigned id = VALUE_A; id < VALUE_COUNT; id++) {
    const struct value *other = &s->v[id];
    if (other != v && other->known && !other->constant && other->reg == v->reg && (c->machine->vex || value_is_mask(s, id) == mask)) return true;
  }
  return false;
}

unsigned value_own(struct compiler *c, struct sequence *s, struct value *v) {
  if (!v->constant && !v->outer && c->z[v->reg].key == KEY_TEMPORARY && !shared(c, s, v)) return v->reg;
  unsigned z = vec_temporary(c);
  if (v->constant && s->half != ALL_LANES) vec_rr(&c->x, MOVDQA_LOAD, z, 0, vec_const64(c, v->bits), UNMASKED);
  else if (v->constant) vec_constant(&c->x, z, (uint32_t)v->bits);
  else vec_rr(&c->x, MOVDQA_LOAD, z, 0, v->reg, UNMASKED);
  *v = in_register(z);
  return z;
}

void value_set(struct compiler *c, struct sequence *s, struct value *v, struct value now) {
  if (v->known && !v->constant && !v->outer && !shared(c, s, v)) {
    struct held *h = value_is_mask(s, (unsigned)(v - s->v)) ? mask_held(c, v->reg) : &c->z[v->reg];
    if (h->key == KEY_TEMPORARY && (now.constant || now.reg != v->reg)) *h = (struct held){.key = KEY_FREE};
  }
  *v = now;
}

static unsigned shift_by(struct compiler *c, const struct native_step *step, unsigned a, uint32_t count) {
  unsigned z = vec_temporary(c), extension = step->op == X86_vpsllvd ? 6 : step->op == X86_vpsrlvd ? 2 : 4;
  vec_shift_d(&c->x, z, a, extension, count > 31 ? 31 : count, UNMASKED);
  return z;
}

void step_emit(struct compiler *c, struct sequence *s, const struct native_step *step) {
  struct value constant = known_bits(step->constant), *to = &s->v[step->dst];
  if (to->outer) value_get(c, s, step->dst);
  struct value *a = step->a == VALUE_CONST ? &constant : value_get(c, s, step->a);
  struct value *b = step->b == VALUE_CONST ? &constant : step->b == VALUE_NONE ? NULL : value_get(c, s, step->b);
  unsigned mask = step->mask == VALUE_NONE ? 0 : value_get(c, s, step->mask)->reg;
  if (!mask) {
    if (step->op == X86_mov || step->op == X86_movq) {
      value_set(c, s, to, *a);
      return;
    }
    struct value folded;
    if (b && s->half == ALL_LANES && fold(&folded, step->op, a, b)) {
      value_set(c, s, to, folded);
      return;
    }
    if (b && b->constant && (step->op == X86_vpsllvd || step->op == X86_vpsrlvd || step->op == X86_vpsravd)) {
      value_set(c, s, to, in_register(shift_by(c, step, value_register(c, s, a), (uint32_t)b->bits)));
      return;
    }
  }
  c->machine->step(c, s, step, to, a, b, mask);
}
