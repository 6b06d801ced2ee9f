/* The operations of AVX2. */
#include "avx2.h"
#include "native_value.h"

static void begin(struct compiler *c) { (void)c; }

/* Within 128 bits: lanes 0, 1, 4, 5 or 2, 3, 6, 7. */
static void permute_wide(struct compiler *c, unsigned to, unsigned half, unsigned low, unsigned high) {
  vec_rr(&c->x, half ? UNPACK_HIGH_D : UNPACK_LOW_D, to, low, high, UNMASKED);
}

static void permute_narrow(struct compiler *c, unsigned to, unsigned high, unsigned first, unsigned second) {
  vec_rr(&c->x, SHUFFLE_PS, to, first, second, UNMASKED), put8(&c->x, high ? 0xdd : 0x88);
}

static unsigned split(struct compiler *c, unsigned from, unsigned half) {
  unsigned to = vec_temporary(c);
  vec_rr(&c->x, PERMUTE_Q, to, 0, from, UNMASKED), put8(&c->x, half ? 0x0d : 0x08);
  return to;
}

static void join(struct compiler *c, unsigned to, unsigned first, unsigned second) {
  vec_rr(&c->x, INSERT_QUAD, to, first, second, UNMASKED), put8(&c->x, 1);
  vec_rr(&c->x, PERMUTE_Q, to, 0, to, UNMASKED), put8(&c->x, 0xd8);
}

void blend(struct compiler *c, unsigned to, unsigned b, unsigned a, unsigned mask) {
  static const struct evex blendv = {3, 1, 0, 0x4a};
  vec_rr(&c->x, blendv, to, b, a, UNMASKED), put8(&c->x, mask << 4);
}

static void merge(struct compiler *c, unsigned to, unsigned from, unsigned mask, bool wide) {
  (void)wide;
  blend(c, to, to, from, mask);
}

/* A byte of bits in the lanes that they are for: of qwords, the first four. */
static void mask_load(struct compiler *c, unsigned to, struct memory at, bool wide) {
  static const struct evex broadcast_byte = {2, 1, 0, 0x78};
  vec_rm(&c->x, broadcast_byte, to, 0, at, UNMASKED);
  gpr_constant(&c->x, RDX, (uint64_t)(uintptr_t)table_at(TABLE_BITS));
  vec_rm(&c->x, AND_D, to, to, mem(RDX, 0), UNMASKED);
  vec_rm(&c->x, CMPEQ_D, to, to, mem(RDX, 0), UNMASKED);
  if (wide) vec_rr(&c->x, MOVSX_DQ, to, 0, to, UNMASKED);
}

static void mask_bits(struct compiler *c, enum gpr to, unsigned from, bool wide) {
  static const struct evex move[2] = {{1, 0, 0, 0x50}, {1, 1, 0, 0x50}};   /* vmovmskps, vmovmskpd */
  vec_rr(&c->x, move[wide], to, 0, from, UNMASKED);
}

static void mask_store(struct compiler *c, struct memory at, unsigned from) {
  mask_bits(c, RAX, from, false);
  rex(&c->x, false, RAX, at.base), put8(&c->x, 0x88), put_memory(&c->x, RAX, at);   /* mov [at], al */
}

static void mask_op(struct compiler *c, unsigned op, unsigned to, unsigned a, unsigned b) {
  vec_rr(&c->x, op == K_AND ? AND_D : OR_D, to, a, b, UNMASKED);
}

void test_bits(struct compiler *c, unsigned a, unsigned b) {
  static const struct evex test = {2, 1, 0, 0x17};
  vec_rr(&c->x, test, a, 0, b, UNMASKED);
}

static void mask_any(struct compiler *c, unsigned mask, bool wide) {
  (void)wide;
  test_bits(c, mask, mask);
}

static unsigned mask_half(struct compiler *c, unsigned mask, unsigned half) {
  unsigned to = vec_temporary(c);
  permute_wide(c, to, half, mask, mask);
  return to;
}

static void mask_join(struct compiler *c, unsigned to, unsigned first, unsigned second) {
  permute_narrow(c, to, 0, first, second);
}

/* Constants are loaded again when needed: there are few registers. */
static void unpin_constants(struct compiler *c) {
  for (unsigned z = c->machine->first; z < c->machine->end; z++)
    if (c->z[z].key == KEY_CONSTANT || c->z[z].key == KEY_CONSTANT64) c->z[z].pinned = false;
}

static void step(struct compiler *c, struct sequence *s, const struct native_step *step, struct value *to, struct value *a,
                 struct value *b, unsigned mask) {
  const struct x86_info *info = &x86_table[step->op];
  struct evex e = {info->map, info->prefix, info->wide, info->opcode};
  unsigned x = value_register(c, s, a), y = b ? value_register(c, s, b) : 0, z = x, shape = info->shape;
  if (step->op != X86_mov && step->op != X86_movq) {
    z = shape == SHAPE_CHANGE ? value_own(c, s, to) : vec_temporary(c);
    switch (shape) {
    case SHAPE_UNARY: case SHAPE_UNARY_IMM: vec_rr(&c->x, e, z, 0, x, UNMASKED); break;
    case SHAPE_NARROW_IMM: vec_rr(&c->x, e, x, 0, z, UNMASKED); break;
    case SHAPE_SHIFT2: vec_shift_q(&c->x, z, x, 2, step->imm, UNMASKED); break;
    case SHAPE_SHIFT6: vec_shift_q(&c->x, z, x, 6, step->imm, UNMASKED); break;
    default: vec_rr(&c->x, e, z, x, y, UNMASKED); break;
    }
    if (shape == SHAPE_UNARY_IMM || shape == SHAPE_BINARY_IMM || shape == SHAPE_NARROW_IMM || shape == SHAPE_COMPARE)
      put8(&c->x, step->imm);
  }
  if (mask) {
    unsigned chosen = vec_temporary(c);
    if (value_is_mask(s, step->dst)) mask_op(c, K_AND, chosen, z, mask);
    else blend(c, chosen, value_register(c, s, to), z, mask);
    if (z != x) c->z[z] = (struct held){.key = KEY_FREE};
    z = chosen;
  }
  if (shape != SHAPE_CHANGE) value_set(c, s, to, in_register(z));
  unpin_constants(c);
}

void active_lanes(struct compiler *c, unsigned to) {
  if (c->masked) vec_rr(&c->x, MOVDQA_LOAD, to, 0, YMM_EXEC, UNMASKED);
  else vec_rr(&c->x, CMPEQ_D, to, to, to, UNMASKED);
}

void widen_mask(struct compiler *c, unsigned to, unsigned from, unsigned half) {
  if (half) {
    vec_rr(&c->x, EXTRACT_QUAD, from, 0, to, UNMASKED), put8(&c->x, 1);
    from = to;
  }
  vec_rr(&c->x, MOVSX_DQ, to, 0, from, UNMASKED);
}

static void save(struct x86 *x, int32_t frame, bool restore) {
  for (unsigned k = 0; k < 16; k++) {
    struct memory at = mem(RSP, frame + (int32_t)(offsetof(struct frame, zmm) + 64 * k));
    vec_rm(x, restore ? MOVDQA_LOAD : MOVDQA_STORE, k, 0, at, UNMASKED);
  }
  if (!restore) put8(x, 0xc5), put8(x, 0xf8), put8(x, 0x77);   /* vzeroupper: C code may be SSE's */
}

const struct vector_machine avx2_machine = {
  .lanes = 8, .first = 1, .end = 15, .spare = YMM_SPARE, .exec = YMM_EXEC, .room = 0, .sequences = 1, .vex = true,
  .begin = begin, .permute_wide = permute_wide, .permute_narrow = permute_narrow, .split = split, .join = join,
  .merge = merge, .mask_load = mask_load, .mask_store = mask_store, .mask_bits = mask_bits, .mask_op = mask_op,
  .mask_any = mask_any, .mask_half = mask_half, .mask_join = mask_join, .step = step, .global = avx2_global,
  .lds = avx2_lds, .scratch = avx2_scratch, .save = save,
};
