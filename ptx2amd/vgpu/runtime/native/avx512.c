/* The operations of AVX-512. */
#include "avx512.h"
#include "native_value.h"

static void begin(struct compiler *c) {
  gpr_constant(&c->x, RAX, 0xaaaa);   /* here: a handler called meanwhile may have used the register */
  k_gpr(&c->x, K_ODD, RAX);
}

static void permute_wide(struct compiler *c, unsigned to, unsigned half, unsigned low, unsigned high) {
  native_permute(c, to, half ? TABLE_HIGH : TABLE_LOW, low, high);
}

static void permute_narrow(struct compiler *c, unsigned to, unsigned high, unsigned first, unsigned second) {
  native_permute(c, to, high ? TABLE_ODD : TABLE_EVEN, first, second);
}

static unsigned split(struct compiler *c, unsigned from, unsigned half) {
  if (!half) return from;
  unsigned to = vec_temporary(c);
  vec_rr(&c->x, EXTRACT_HALF, from, 0, to, UNMASKED), put8(&c->x, 1);
  return to;
}

static void join(struct compiler *c, unsigned to, unsigned first, unsigned second) {
  vec_rr(&c->x, INSERT_HALF, to, first, second, UNMASKED), put8(&c->x, 1);
}

static void merge(struct compiler *c, unsigned to, unsigned from, unsigned mask, bool wide) {
  static const struct evex move[2] = {{1, 1, 0, 0x6f}, {1, 1, 1, 0x6f}};
  vec_rr(&c->x, move[wide], to, 0, from, (struct masking){(uint8_t)mask, false});
}

static void mask_load(struct compiler *c, unsigned to, struct memory at, bool wide) {
  (void)wide;   /* a half's lanes are the lower bits */
  k_load(&c->x, to, at);
}

static void mask_store(struct compiler *c, struct memory at, unsigned from) { k_store(&c->x, from, at); }

static void mask_bits(struct compiler *c, enum gpr to, unsigned from, bool wide) {
  (void)wide;
  gpr_k(&c->x, to, from);
}

static void mask_op(struct compiler *c, unsigned op, unsigned to, unsigned a, unsigned b) { k_op(&c->x, op, to, a, b); }

static void mask_any(struct compiler *c, unsigned mask, bool wide) {
  if (wide) k_test8(&c->x, mask);
  else k_test(&c->x, mask);
}

static unsigned mask_half(struct compiler *c, unsigned mask, unsigned half) {
  if (!half) return mask;   /* instructions on 8 lanes ignore the others */
  unsigned to = mask_temporary(c);
  k_shift_right(&c->x, to, mask, 8);
  return to;
}

static void mask_join(struct compiler *c, unsigned to, unsigned first, unsigned second) {
  k_unpack(&c->x, to, second, first);
}

/* A step that writes a mask register. */
static void mask_step(struct compiler *c, struct sequence *s, const struct native_step *step, struct value *to,
                      struct value *a, struct value *b, unsigned mask) {
  const struct x86_info *info = &x86_table[step->op];
  struct evex e = {info->map, info->prefix, info->wide, info->opcode};
  unsigned k;
  if (info->shape == SHAPE_MASKS) {
    k = mask_temporary(c);
    k_op(&c->x, info->opcode, k, a->reg, b->reg);
  } else if (info->shape == SHAPE_TO_MASK) {
    unsigned x = value_register(c, s, a);
    k = mask_temporary(c);
    vec_rr(&c->x, e, k, 0, x, UNMASKED);
  } else {
    unsigned x = value_register(c, s, a), y = value_register(c, s, b);
    k = mask_temporary(c);
    vec_rr(&c->x, e, k, x, y, (struct masking){(uint8_t)mask, false});
    if (info->shape == SHAPE_COMPARE) put8(&c->x, step->imm);
  }
  value_set(c, s, to, in_register(k));
}

static void step(struct compiler *c, struct sequence *s, const struct native_step *step, struct value *to, struct value *a,
                 struct value *b, unsigned mask) {
  const struct x86_info *info = &x86_table[step->op];
  struct evex e = {info->map, info->prefix, info->wide, info->opcode};
  struct masking m = {(uint8_t)mask, false};
  unsigned shape = info->shape;
  if (shape == SHAPE_MASKS || shape == SHAPE_TO_MASK || shape == SHAPE_COMPARE || shape == SHAPE_TEST) {
    mask_step(c, s, step, to, a, b, mask);
    return;
  }
  unsigned x = value_register(c, s, a), y = b ? value_register(c, s, b) : 0;
  bool changes = shape == SHAPE_CHANGE || shape == SHAPE_CHANGE_IMM;
  unsigned z = mask || changes ? value_own(c, s, to) : vec_temporary(c);
  switch (shape) {
  case SHAPE_UNARY: case SHAPE_UNARY_IMM: vec_rr(&c->x, e, z, 0, x, m); break;
  case SHAPE_NARROW: case SHAPE_NARROW_IMM: vec_rr(&c->x, e, x, 0, z, m); break;
  case SHAPE_SHIFT2: vec_shift_q(&c->x, z, x, 2, step->imm, m); break;
  case SHAPE_SHIFT6: vec_shift_q(&c->x, z, x, 6, step->imm, m); break;
  default: vec_rr(&c->x, e, z, x, y, m); break;
  }
  if (shape == SHAPE_UNARY_IMM || shape == SHAPE_BINARY_IMM || shape == SHAPE_NARROW_IMM || shape == SHAPE_CHANGE_IMM)
    put8(&c->x, step->imm);
  if (!mask && !changes) value_set(c, s, to, in_register(z));
}

static void save(struct x86 *x, int32_t frame, bool restore) {
  for (unsigned k = 0; k < VECTORS; k++) {
    struct memory at = mem(RSP, frame + (int32_t)(offsetof(struct frame, zmm) + 64 * k));
    vec_rm(x, restore ? MOVDQA_LOAD : MOVDQA_STORE, k, 0, at, UNMASKED);
  }
  for (unsigned k = 1; k < 8; k++)
    (restore ? k_load : k_store)(x, k, mem(RSP, frame + (int32_t)(offsetof(struct frame, k) + 2 * k)));
}

const struct vector_machine avx512_machine = {
  .lanes = 16, .first = 0, .end = 31, .spare = 31, .exec = K_EXEC, .room = 24, .sequences = 0, .vex = false,
  .begin = begin, .permute_wide = permute_wide, .permute_narrow = permute_narrow, .split = split, .join = join,
  .merge = merge, .mask_load = mask_load, .mask_store = mask_store, .mask_bits = mask_bits, .mask_op = mask_op,
  .mask_any = mask_any, .mask_half = mask_half, .mask_join = mask_join, .step = step, .global = avx512_global,
  .lds = avx512_lds, .scratch = avx512_scratch, .save = save,
};
