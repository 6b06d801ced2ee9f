/* An assembler for the x86-64 instructions that native.c emits. Vector instructions have two encodings: EVEX, 512 bits
 * wide, and VEX, 256 bits wide. Where both exist, they differ in nothing else that a caller gives. */
#ifndef PTX2AMD_VGPU_X86_H
#define PTX2AMD_VGPU_X86_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum gpr { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8, R9, R10, R11, R12, R13, R14, R15 };
enum condition { CC_B = 2, CC_AE = 3, CC_E = 4, CC_NE = 5, CC_A = 7 };

/* Machine code: written at `at`, executed at `at + shift`. */
/* vex: for AVX2. */
struct x86 { uint8_t *at, *end; bool full, vex; };

/* index: a vector register of gathers, a general one, or NO_INDEX; it is shifted by `scale`. */
struct memory { uint8_t base, index; int32_t offset; uint8_t scale; };
enum { NO_INDEX = 255 };
static inline struct memory mem(enum gpr base, int32_t offset) { return (struct memory){base, NO_INDEX, offset, 0}; }
static inline struct memory mem_vec(enum gpr base, unsigned index, int32_t offset) {
  return (struct memory){base, (uint8_t)index, offset, 0};
}

static inline void put8(struct x86 *c, unsigned byte) {
  if (c->at < c->end) *c->at++ = (uint8_t)byte;
  else c->full = true;
}
static inline void put32(struct x86 *c, uint32_t value) { for (int k = 0; k < 4; k++) put8(c, value >> 8 * k); }
static inline void put64(struct x86 *c, uint64_t value) { for (int k = 0; k < 8; k++) put8(c, (unsigned)(value >> 8 * k)); }

/* ModRM (and SIB) for [base + disp32] or [base + vector + disp32]. */
static inline void put_memory(struct x86 *c, unsigned reg, struct memory m) {
  if (m.index != NO_INDEX) {
    put8(c, 0x80 | (reg & 7) << 3 | 4);
    put8(c, (unsigned)m.scale << 6 | (unsigned)(m.index & 7) << 3 | (m.base & 7));
  } else {
    put8(c, 0x80 | (reg & 7) << 3 | (m.base & 7));
    if ((m.base & 7) == RSP) put8(c, 0x24);
  }
  put32(c, (uint32_t)m.offset);
}

/* ---- vectors ---- */

struct evex { uint8_t map, prefix, wide, opcode; };
struct masking { uint8_t k; bool zero; };
#define UNMASKED (struct masking){0, false}

static inline void put_evex(struct x86 *c, struct evex e, unsigned reg, unsigned v, bool x, bool b, bool v_high,
                            struct masking m, unsigned length) {
  put8(c, 0x62);
  put8(c, (unsigned)!(reg & 8) << 7 | (unsigned)!x << 6 | (unsigned)!b << 5 | (unsigned)!(reg & 16) << 4 | e.map);
  put8(c, (unsigned)e.wide << 7 | (~v & 15) << 3 | 4 | e.prefix);
  put8(c, (unsigned)m.zero << 7 | length << 5 | (unsigned)!v_high << 3 | m.k);
  put8(c, e.opcode);
}
enum { LENGTH_128, LENGTH_256, LENGTH_512 };

/* VEX has a W bit of its own only in some instructions: permutations of qwords, masked moves, gathers, FMA, shifts by
 * lane. */
static inline bool vex_wide(struct evex e) {
  return e.wide && (e.map == 3 ? e.opcode < 2 : e.map == 2 && ((e.opcode >= 0x8c && e.opcode < 0xc0) || (e.opcode >= 0x45 && e.opcode <= 0x47)));
}
static inline void put_vex(struct x86 *c, struct evex e, unsigned reg, unsigned v, bool x, bool b, struct masking m,
                           unsigned length) {
  if (m.k || length > LENGTH_256) c->full = true;   /* cannot be expressed */
  put8(c, 0xc4);
  put8(c, (unsigned)!(reg & 8) << 7 | (unsigned)!x << 6 | (unsigned)!b << 5 | e.map);
  put8(c, (unsigned)vex_wide(e) << 7 | (~v & 15) << 3 | length << 2 | e.prefix);
  put8(c, e.opcode);
}

/* reg, v, rm: registers 0-31 (VEX: 0-15). */
static inline void vec_rr_length(struct x86 *c, struct evex e, unsigned reg, unsigned v, unsigned rm, struct masking m,
                                 unsigned length) {
  if (c->vex) put_vex(c, e, reg, v, false, rm & 8, m, length);
  else put_evex(c, e, reg, v, rm & 16, rm & 8, v & 16, m, length);
  put8(c, 0xc0 | (reg & 7) << 3 | (rm & 7));
}
static inline unsigned full_length(const struct x86 *c) { return c->vex ? LENGTH_256 : LENGTH_512; }
static inline void vec_rr(struct x86 *c, struct evex e, unsigned reg, unsigned v, unsigned rm, struct masking m) {
  vec_rr_length(c, e, reg, v, rm, m, full_length(c));
}
static inline void vec_rm_length(struct x86 *c, struct evex e, unsigned reg, unsigned v, struct memory at, struct masking m,
                                 unsigned length) {
  bool index = at.index != NO_INDEX;
  if (c->vex) put_vex(c, e, reg, v, index && at.index & 8, at.base & 8, m, length);
  else put_evex(c, e, reg, v, index && at.index & 8, at.base & 8, index ? at.index & 16 : v & 16, m, length);
  put_memory(c, reg, at);
}
static inline void vec_rm(struct x86 *c, struct evex e, unsigned reg, unsigned v, struct memory at, struct masking m) {
  vec_rm_length(c, e, reg, v, at, m, full_length(c));
}

static const struct evex MOVDQA_LOAD = {1, 1, 0, 0x6f}, MOVDQA_STORE = {1, 1, 0, 0x7f}, MOVDQU_LOAD = {1, 2, 0, 0x6f},
  MOVDQU_STORE = {1, 2, 0, 0x7f}, BROADCAST_D = {2, 1, 0, 0x58}, BROADCAST_GPR = {2, 1, 0, 0x7c},
  BROADCAST_Q = {2, 1, 1, 0x59}, BROADCAST_GPRQ = {2, 1, 1, 0x7c}, PXORD = {1, 1, 0, 0xef}, PSUBD = {1, 1, 0, 0xfa}, PADDD = {1, 1, 0, 0xfe},
  PADDQ = {1, 1, 1, 0xd4}, PORQ = {1, 1, 1, 0xeb}, PCMPD = {3, 1, 0, 0x1f}, PCMPUD = {3, 1, 0, 0x1e}, PCMPUQ = {3, 1, 1, 0x1e},
  PCOMPRESSD = {2, 1, 0, 0x8b}, PERMI2D = {2, 1, 0, 0x76}, PERMD = {2, 1, 0, 0x36}, GATHER_DD = {2, 1, 0, 0x90}, GATHER_QD = {2, 1, 0, 0x91},
  GATHER_QQ = {2, 1, 1, 0x91}, SCATTER_DD = {2, 1, 0, 0xa0}, SCATTER_DQ = {2, 1, 1, 0xa0}, SCATTER_QD = {2, 1, 0, 0xa1}, SCATTER_QQ = {2, 1, 1, 0xa1},
  BROADCAST_QUAD = {2, 1, 0, 0x5a}, INSERT_QUAD = {3, 1, 0, 0x38}, PSHUFD = {1, 1, 0, 0x70}, PBLENDMQ = {2, 1, 1, 0x64},
  UNPACK_LOW_D = {1, 1, 0, 0x62}, UNPACK_HIGH_D = {1, 1, 0, 0x6a}, UNPACK_LOW_Q = {1, 1, 1, 0x6c}, UNPACK_HIGH_Q = {1, 1, 1, 0x6d},
  MOVZX_DQ = {2, 1, 0, 0x35}, EXTRACT_HALF = {3, 1, 1, 0x3b}, INSERT_HALF = {3, 1, 1, 0x3a}, SHIFT_Q = {1, 1, 1, 0x73},
  MOV_GPR = {1, 1, 0, 0x7e}, MOVZX_B = {2, 1, 0, 0x31}, MOVZX_W = {2, 1, 0, 0x33}, MOVSX_B = {2, 1, 0, 0x21},
  MOVSX_W = {2, 1, 0, 0x23}, TRUNCATE_B = {2, 2, 0, 0x31}, TRUNCATE_W = {2, 2, 0, 0x33};

/* All lanes = a dword or qword in a general register (rax ... rdi). */
static inline void vec_broadcast(struct x86 *c, unsigned to, enum gpr from, bool wide) {
  if (!c->vex) {
    vec_rr(c, wide ? BROADCAST_GPRQ : BROADCAST_GPR, to, 0, from, UNMASKED);
    return;
  }
  put8(c, 0xc4), put8(c, (unsigned)!(to & 8) << 7 | 0x61), put8(c, wide ? 0xf9 : 0x79);   /* vmovd, vmovq */
  put8(c, 0x6e), put8(c, 0xc0 | (to & 7) << 3 | from);
  vec_rr(c, wide ? BROADCAST_Q : BROADCAST_D, to, 0, to, UNMASKED);
}
/* All lanes = a constant dword, through eax. */
static inline void vec_constant(struct x86 *c, unsigned to, uint32_t value) {
  if (!value) {
    vec_rr(c, PXORD, to, to, to, UNMASKED);
    return;
  }
  put8(c, 0xb8), put32(c, value);
  vec_broadcast(c, to, RAX, false);
}
/* gpr (rax ... rdi) = the vector's first dword. */
static inline void gpr_vec(struct x86 *c, enum gpr to, unsigned from) {
  vec_rr_length(c, MOV_GPR, from, 0, to, UNMASKED, LENGTH_128);
}
/* Shift of dwords or qwords (opcodes 0x72, 0x73) by an immediate: the extension says how. */
static inline void vec_shift(struct x86 *c, struct evex e, unsigned to, unsigned from, unsigned extension, unsigned count,
                             struct masking m) {
  if (c->vex) put_vex(c, e, extension, to, false, from & 8, m, LENGTH_256);
  else put_evex(c, e, extension, to, from & 16, from & 8, to & 16, m, LENGTH_512);
  put8(c, 0xc0 | extension << 3 | (from & 7));
  put8(c, count);
}
/* Qwords: extension /2 right, /6 left. */
static inline void vec_shift_q(struct x86 *c, unsigned to, unsigned from, unsigned extension, unsigned count,
                               struct masking m) {
  vec_shift(c, SHIFT_Q, to, from, extension, count, m);
}
/* vpslld, vpsrld, vpsrad: extensions 6, 2, 4. */
static inline void vec_shift_d(struct x86 *c, unsigned to, unsigned from, unsigned extension, unsigned count,
                               struct masking m) {
  vec_shift(c, (struct evex){1, 1, 0, 0x72}, to, from, extension, count, m);
}
static inline void vec_compare(struct x86 *c, struct evex e, unsigned k, unsigned a, unsigned b, unsigned predicate,
                               unsigned mask) {
  vec_rr(c, e, k, a, b, (struct masking){(uint8_t)mask, false});
  put8(c, predicate);
}

/* ---- mask registers (VEX) ---- */

static inline void k_load(struct x86 *c, unsigned k, struct memory at) {   /* kmovw k, [at] */
  if (at.base & 8) put8(c, 0xc4), put8(c, 0xc1), put8(c, 0x78);
  else put8(c, 0xc5), put8(c, 0xf8);
  put8(c, 0x90), put_memory(c, k, at);
}
static inline void k_store(struct x86 *c, unsigned k, struct memory at) {
  if (at.base & 8) put8(c, 0xc4), put8(c, 0xc1), put8(c, 0x78);
  else put8(c, 0xc5), put8(c, 0xf8);
  put8(c, 0x91), put_memory(c, k, at);
}
static inline void k_gpr(struct x86 *c, unsigned k, enum gpr from) {       /* kmovw k, from (rax ... rdi) */
  put8(c, 0xc5), put8(c, 0xf8), put8(c, 0x92), put8(c, 0xc0 | k << 3 | from);
}
static inline void gpr_k(struct x86 *c, enum gpr to, unsigned k) {
  put8(c, 0xc5), put8(c, 0xf8), put8(c, 0x93), put8(c, 0xc0 | (unsigned)to << 3 | k);
}
static inline void k_test_both(struct x86 *c, unsigned k, unsigned k2) {   /* kortestw: ZF if all of both are zero */
  put8(c, 0xc5), put8(c, 0xf8), put8(c, 0x98), put8(c, 0xc0 | k << 3 | k2);
}
static inline void k_test(struct x86 *c, unsigned k) { k_test_both(c, k, k); }
static inline void k_test8(struct x86 *c, unsigned k) {                    /* kortestb */
  put8(c, 0xc5), put8(c, 0xf9), put8(c, 0x98), put8(c, 0xc0 | k << 3 | k);
}
static inline void k_unpack(struct x86 *c, unsigned to, unsigned high, unsigned low) {   /* kunpckbw */
  put8(c, 0xc5), put8(c, 0x85 | (~high & 15) << 3), put8(c, 0x4b), put8(c, 0xc0 | to << 3 | low);
}
enum { K_AND = 0x41, K_OR = 0x45, K_XNOR = 0x46 };
static inline void k_op(struct x86 *c, unsigned op, unsigned to, unsigned a, unsigned b) {
  put8(c, 0xc5), put8(c, 0x84 | (~a & 15) << 3), put8(c, op), put8(c, 0xc0 | to << 3 | b);
}
static inline void k_shift_right(struct x86 *c, unsigned to, unsigned from, unsigned count) {   /* kshiftrw */
  put8(c, 0xc4), put8(c, 0xe3), put8(c, 0xf9), put8(c, 0x30), put8(c, 0xc0 | to << 3 | from), put8(c, count);
}

/* ---- general registers ---- */

static inline void rex(struct x86 *c, bool wide, unsigned reg, unsigned rm) {
  unsigned byte = 0x40 | (unsigned)wide << 3 | (reg >> 3 & 1) << 2 | (rm >> 3 & 1);
  if (byte != 0x40) put8(c, byte);
}
static inline void gpr_constant(struct x86 *c, enum gpr to, uint64_t value) {
  if (value <= UINT32_MAX) {
    rex(c, false, 0, to), put8(c, 0xb8 | (to & 7)), put32(c, (uint32_t)value);
  } else {
    rex(c, true, 0, to), put8(c, 0xb8 | (to & 7)), put64(c, value);
  }
}
enum { OP_ADD = 0x03, OP_OR = 0x0b, OP_SUB = 0x2b, OP_CMP = 0x3b, OP_MOV = 0x8b };
static inline void gpr_rr(struct x86 *c, unsigned op, bool wide, enum gpr to, enum gpr from) {
  rex(c, wide, to, from), put8(c, op), put8(c, 0xc0 | (unsigned)(to & 7) << 3 | (from & 7));
}
static inline void gpr_rm(struct x86 *c, unsigned op, bool wide, enum gpr to, struct memory at) {
  rex(c, wide, to, at.base), put8(c, op), put_memory(c, to, at);
}
static inline void gpr_store(struct x86 *c, bool wide, struct memory at, enum gpr from) {
  rex(c, wide, from, at.base), put8(c, 0x89), put_memory(c, from, at);
}
static inline void gpr_load8(struct x86 *c, enum gpr to, struct memory at) {    /* movzx to, byte [at] */
  rex(c, false, to, at.base), put8(c, 0x0f), put8(c, 0xb6), put_memory(c, to, at);
}
static inline void gpr_load16(struct x86 *c, enum gpr to, struct memory at) {   /* movzx to, word [at] */
  rex(c, false, to, at.base), put8(c, 0x0f), put8(c, 0xb7), put_memory(c, to, at);
}
static inline void gpr_lea(struct x86 *c, enum gpr to, struct memory at) {
  rex(c, true, to, at.base), put8(c, 0x8d), put_memory(c, to, at);
}
/* add/cmp gpr, imm32: extension 0 and 7. */
static inline void gpr_immediate(struct x86 *c, unsigned extension, bool wide, enum gpr to, int32_t value) {
  rex(c, wide, 0, to), put8(c, 0x81), put8(c, 0xc0 | extension << 3 | (to & 7)), put32(c, (uint32_t)value);
}
/* add/cmp [at], imm32. */
static inline void memory_immediate(struct x86 *c, unsigned extension, bool wide, struct memory at, int32_t value) {
  rex(c, wide, 0, at.base), put8(c, 0x81), put_memory(c, extension, at), put32(c, (uint32_t)value);
}
static inline void gpr_shift_left(struct x86 *c, enum gpr to, unsigned count) {
  rex(c, true, 0, to), put8(c, 0xc1), put8(c, 0xe0 | (to & 7)), put8(c, count);
}

/* ---- jumps ---- */

typedef uint8_t *jump;   /* jumps whose distance is filled in later */
static inline jump jump_if(struct x86 *c, enum condition cc) {
  put8(c, 0x0f), put8(c, 0x80 | (unsigned)cc), put32(c, 0);
  return c->at;
}
static inline jump jump_always(struct x86 *c) {
  put8(c, 0xe9), put32(c, 0);
  return c->at;
}
static inline void land_at(struct x86 *c, jump j, const uint8_t *target) {
  int32_t distance = (int32_t)(target - j);
  if (!c->full) memcpy(j - 4, &distance, 4);
}
static inline void land(struct x86 *c, jump j) { land_at(c, j, c->at); }
#endif
