/* Rows of 8 lanes in memory, with AVX2. */
#include "avx2.h"

/* Halves of 128 bits: the lower (which 0) or the upper ones of both. */
static void join_halves(struct compiler *c, unsigned to, unsigned which, unsigned first, unsigned second) {
  vec_rr(&c->x, PERMUTE_HALVES, to, first, second, UNMASKED), put8(&c->x, which ? 0x31 : 0x20);
}

void first_lane(struct compiler *c, enum gpr to, unsigned t, unsigned from) {
  struct x86 *x = &c->x;
  if (c->masked) {
    struct memory data = mem(RSI, (int32_t)offsetof(struct frame, data));
    vec_rm(x, MOVDQA_STORE, from, 0, FRAME(data), UNMASKED);
    gpr_rm(x, OP_MOV, false, to, data);
    vec_rm(x, BROADCAST_D, t, 0, data, UNMASKED);
  } else {
    gpr_vec(x, to, from);
    vec_rr(x, BROADCAST_D, t, 0, from, UNMASKED);
  }
}

jump find_active(struct compiler *c) {
  struct x86 *x = &c->x;
  c->machine->mask_bits(c, RDX, YMM_EXEC, false);
  put8(x, 0xf3), put8(x, 0x0f), put8(x, 0xbc), put8(x, 0xf2);   /* tzcnt esi, edx: carry if it is zero */
  jump none = jump_if(x, CC_B);
  gpr_shift_left(x, RSI, 2);
  gpr_rr(x, OP_ADD, true, RSI, RSP);
  return none;
}

void test_active(struct compiler *c, unsigned t) { test_bits(c, t, c->masked ? YMM_EXEC : t); }

static struct memory behind(struct memory at, unsigned bytes) {
  at.offset += (int32_t)bytes;
  return at;
}

void transpose(struct compiler *c, const uint8_t *z, const uint8_t *t) {
  struct x86 *x = &c->x;
  vec_rr(x, UNPACK_LOW_D, z[0], t[0], t[1], UNMASKED);
  vec_rr(x, UNPACK_HIGH_D, z[1], t[0], t[1], UNMASKED);
  vec_rr(x, UNPACK_LOW_D, z[2], t[2], t[3], UNMASKED);
  vec_rr(x, UNPACK_HIGH_D, z[3], t[2], t[3], UNMASKED);
  vec_rr(x, MOVDQA_LOAD, t[0], 0, z[0], UNMASKED);
  vec_rr(x, MOVDQA_LOAD, t[1], 0, z[1], UNMASKED);
  vec_rr(x, MOVDQA_LOAD, t[3], 0, z[3], UNMASKED);
  vec_rr(x, UNPACK_LOW_Q, z[0], t[0], z[2], UNMASKED);
  vec_rr(x, UNPACK_HIGH_Q, z[1], t[0], z[2], UNMASKED);
  vec_rr(x, UNPACK_LOW_Q, z[2], t[1], t[3], UNMASKED);
  vec_rr(x, UNPACK_HIGH_Q, z[3], t[1], t[3], UNMASKED);
}

bool row_known(const struct compiler *c, const struct native_memory *m) {
  if (m->kind == MEMORY_B96) return !m->store;
  return !c->masked || m->kind == MEMORY_B32 || m->kind == MEMORY_B64;
}

/* Elements of a dword or, wide, of a qword: each is one access. */
static void load_masked(struct compiler *c, unsigned to, struct memory at, unsigned mask, bool wide) {
  if (mask) vec_rm(&c->x, (struct evex){2, 1, wide, 0x8c}, to, mask, at, UNMASKED);
  else vec_rm(&c->x, MOVDQU_LOAD, to, 0, at, UNMASKED);
}

static void store_masked(struct compiler *c, unsigned from, struct memory at, unsigned mask, bool wide) {
  if (mask) vec_rm(&c->x, (struct evex){2, 1, wide, 0x8e}, from, mask, at, UNMASKED);
  else vec_rm(&c->x, MOVDQU_STORE, from, 0, at, UNMASKED);
}

void load_part(struct compiler *c, unsigned to, struct memory at) { load_masked(c, to, at, c->masked ? YMM_EXEC : 0, false); }
void store_part(struct compiler *c, unsigned from, struct memory at) { store_masked(c, from, at, c->masked ? YMM_EXEC : 0, false); }

void avx2_load_row(struct compiler *c, const struct native_memory *m, const uint8_t *z, const uint8_t *t, struct memory at) {
  static const struct evex *const small[] = {[MEMORY_U8] = &MOVZX_B, [MEMORY_I8] = &MOVSX_B, [MEMORY_U16] = &MOVZX_W,
                                             [MEMORY_I16] = &MOVSX_W};
  struct x86 *x = &c->x;
  unsigned mask = c->masked ? YMM_EXEC : 0;
  switch ((enum native_kind)m->kind) {
  case MEMORY_B32: load_part(c, z[0], at); break;
  case MEMORY_B96:   /* four bytes from one lane to the next */
    for (unsigned n = 0; n < 3; n++) load_part(c, z[n], behind(at, 4 * n));
    break;
  case MEMORY_B64:   /* lanes 0 to 3 and 4 to 7; then low and high dwords */
    for (unsigned half = 0; half < 2; half++) {
      if (mask) widen_mask(c, t[2], mask, half);
      load_masked(c, t[half], behind(at, 32 * half), mask ? t[2] : 0, true);
    }
    for (unsigned high = 0; high < 2; high++) {
      vec_rr(x, SHUFFLE_PS, z[high], t[0], t[1], UNMASKED), put8(x, high ? 0xdd : 0x88);
      vec_rr(x, PERMUTE_Q, z[high], 0, z[high], UNMASKED), put8(x, 0xd8);
    }
    break;
  case MEMORY_B128:
    for (unsigned n = 0; n < 4; n++) {
      vec_rm_length(x, MOVDQU_LOAD, t[n], 0, behind(at, 16 * n), UNMASKED, LENGTH_128);
      vec_rm(x, INSERT_QUAD, t[n], t[n], behind(at, 64 + 16 * n), UNMASKED), put8(x, 1);
    }
    transpose(c, z, t);
    break;
  default: vec_rm(x, *small[m->kind], z[0], 0, at, UNMASKED); break;
  }
}

/* t[0] = the lower bits of the lanes, as words in 128 bits. rax stays. */
static void pack_words(struct compiler *c, unsigned from, const uint8_t *t, unsigned bits) {
  static const struct evex pack = {2, 1, 0, 0x2b};
  vec_rr(&c->x, CMPEQ_D, t[0], t[0], t[0], UNMASKED);
  vec_shift_d(&c->x, t[0], t[0], 2, 32 - bits, UNMASKED);
  vec_rr(&c->x, AND_D, t[0], t[0], from, UNMASKED);
  vec_rr(&c->x, pack, t[0], t[0], t[0], UNMASKED);
  vec_rr(&c->x, PERMUTE_Q, t[0], 0, t[0], UNMASKED), put8(&c->x, 0x08);
}

void avx2_store_row(struct compiler *c, const struct native_memory *m, const uint8_t *z, const uint8_t *t, struct memory at) {
  static const struct evex pack_bytes = {1, 1, 0, 0x67}, store_8 = {1, 1, 0, 0xd6};
  struct x86 *x = &c->x;
  unsigned mask = c->masked ? YMM_EXEC : 0;
  switch ((enum native_kind)m->kind) {
  case MEMORY_B64:
    vec_rr(x, UNPACK_LOW_D, t[0], z[0], z[1], UNMASKED);
    vec_rr(x, UNPACK_HIGH_D, t[1], z[0], z[1], UNMASKED);
    for (unsigned half = 0; half < 2; half++) {
      join_halves(c, t[2], half, t[0], t[1]);
      if (mask) widen_mask(c, t[3], mask, half);
      store_masked(c, t[2], behind(at, 32 * half), mask ? t[3] : 0, true);
    }
    break;
  case MEMORY_B128:
    for (unsigned pair = 0; pair < 2; pair++) {   /* lanes 0, 1, 4, 5, then 2, 3, 6, 7 */
      vec_rr(x, pair ? UNPACK_HIGH_D : UNPACK_LOW_D, t[0], z[0], z[1], UNMASKED);
      vec_rr(x, pair ? UNPACK_HIGH_D : UNPACK_LOW_D, t[1], z[2], z[3], UNMASKED);
      for (unsigned odd = 0; odd < 2; odd++) {
        struct memory lane = behind(at, 32 * pair + 16 * odd);
        vec_rr(x, odd ? UNPACK_HIGH_Q : UNPACK_LOW_Q, t[2], t[0], t[1], UNMASKED);
        vec_rm_length(x, MOVDQU_STORE, t[2], 0, lane, UNMASKED, LENGTH_128);
        vec_rm(x, EXTRACT_QUAD, t[2], 0, behind(lane, 64), UNMASKED), put8(x, 1);
      }
    }
    break;
  case MEMORY_B16:
    pack_words(c, z[0], t, 16);
    vec_rm_length(x, MOVDQU_STORE, t[0], 0, at, UNMASKED, LENGTH_128);
    break;
  case MEMORY_B8:
    pack_words(c, z[0], t, 8);
    vec_rr(x, pack_bytes, t[0], t[0], t[0], UNMASKED);
    vec_rm_length(x, store_8, t[0], 0, at, UNMASKED, LENGTH_128);
    break;
  default: store_part(c, z[0], at); break;
  }
}

void store_lanes(struct compiler *c, const struct detour *d) {
  struct x86 *x = &c->x;
  unsigned dwords = dwords_of(d->memory), t1 = d->z[4], t2 = d->z[5];
  struct memory data = FRAME(data);
  if (dwords == 2) {
    vec_rr(x, UNPACK_LOW_D, t1, d->z[0], d->z[1], UNMASKED);
    vec_rr(x, UNPACK_HIGH_D, t2, d->z[0], d->z[1], UNMASKED);
    for (unsigned half = 0; half < 2; half++) {
      join_halves(c, YMM_SPARE, half, t1, t2);
      vec_rm(x, MOVDQA_STORE, YMM_SPARE, 0, behind(data, 32 * half), UNMASKED);
    }
  } else {
    vec_rm(x, MOVDQA_STORE, d->z[0], 0, data, UNMASKED);
  }
  if (c->masked) c->machine->mask_bits(c, RDX, YMM_EXEC, false);
  for (unsigned lane = 0; lane < 8; lane++) {
    jump inactive = NULL;
    if (c->masked) {
      put8(x, 0xf6), put8(x, 0xc2), put8(x, 1u << lane);   /* test dl, bit */
      inactive = jump_if(x, CC_E);
    }
    gpr_rm(x, OP_MOV, true, RAX, FRAME(address[lane]));
    gpr_rm(x, OP_MOV, dwords == 2, RCX, behind(data, 4 * dwords * lane));
    gpr_store(x, dwords == 2, mem(RAX, 0), RCX);
    if (inactive) land(x, inactive);
  }
}
