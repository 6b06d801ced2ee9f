/* Helpers for the generated scalar handlers (gen_scalar.py). */
#ifndef PTX2AMD_VGPU_SCALAR_H
#define PTX2AMD_VGPU_SCALAR_H

#include <string.h>

#include "access.h"
#include "decode.h"
#include "valu_newer.h"
#include "valu_tables.h"
#include "wave.h"
#include "wave_events.h"

#define BRANCH(condition) return (condition) ? NEXT(i) + i->imm : NEXT(i)
#define JUMP(address) return wave_jump(w, i, address)
#define PC_NEXT (code_address(w, i) + 4 * i->len)
/* The message of S_SENDMSG_RTN is the operand's code, not its value; the decoder resolved it as a register. */
#define MESSAGE message_code(i)

static inline unsigned message_code(const struct inst *i) {
  return i->src[0] >= S_INT && i->src[0] < S_FLOAT32 ? (unsigned)(i->src[0] - S_INT) / 2 + 128 : i->src[0];
}

static inline uint32_t read32(const struct wave *w, unsigned index) { return w->s[index]; }
static inline uint64_t read64(const struct wave *w, unsigned index) {
  return (uint64_t)w->s[index + 1] << 32 | w->s[index];
}
static inline void write64(struct wave *w, unsigned index, uint64_t value) {
  w->s[index] = (uint32_t)value;
  w->s[index + 1] = (uint32_t)(value >> 32);
}

static inline int count_ones(uint64_t x) { return __builtin_popcountll(x); }
/* Position of the lowest set bit, number of leading zeros, length of the run of sign bits; -1: none. */
static inline int find_low32(uint32_t x) { return x ? __builtin_ctz(x) : -1; }
static inline int find_low64(uint64_t x) { return x ? __builtin_ctzll(x) : -1; }
static inline int find_high32(uint32_t x) { return x ? __builtin_clz(x) : -1; }
static inline int find_high64(uint64_t x) { return x ? __builtin_clzll(x) : -1; }
static inline int sign_run32(int32_t x) { return find_high32((uint32_t)(x ^ x >> 31)); }
static inline int sign_run64(int64_t x) { return find_high64((uint64_t)(x ^ x >> 63)); }

static inline uint64_t reverse_bits64(uint64_t x) {
  x = (x >> 1 & 0x5555555555555555u) | (x & 0x5555555555555555u) << 1;
  x = (x >> 2 & 0x3333333333333333u) | (x & 0x3333333333333333u) << 2;
  x = (x >> 4 & 0x0f0f0f0f0f0f0f0fu) | (x & 0x0f0f0f0f0f0f0f0fu) << 4;
  return __builtin_bswap64(x);
}
static inline uint32_t reverse_bits32(uint32_t x) { return (uint32_t)(reverse_bits64(x) >> 32); }

/* One bit per group of four bits: set if any of them is set. */
static inline uint64_t quad_mask(uint64_t x) {
  uint64_t out = 0;
  for (int k = 0; k < 16; k++) out |= (uint64_t)((x >> 4 * k & 15) != 0) << k;
  return out;
}
static inline uint64_t whole_quads(uint64_t x) {
  x |= x >> 1;
  x = (x | x >> 2) & 0x1111111111111111u;
  return x * 15;
}
static inline uint64_t replicate_bits(uint32_t x) {
  uint64_t out = 0;
  for (int k = 0; k < 32; k++) out |= (uint64_t)(x >> k & 1) * 3 << 2 * k;
  return out;
}
static inline uint64_t bit_field(uint64_t x, unsigned offset, unsigned width) {
  x >>= offset;
  return width >= 64 ? x : x & ((UINT64_C(1) << width) - 1);
}
static inline int64_t signed_bit_field(int64_t x, unsigned offset, unsigned width, unsigned bits) {
  if (width == 0) return 0;
  x >>= offset;
  if (width >= bits) return x;
  return (int64_t)((uint64_t)x << (64 - width)) >> (64 - width);
}

/* M0-relative SGPR access; out of range reads 0 and writes nothing. */
static inline uint32_t relative_read32(const struct wave *w, uint32_t index) { return index < 106 ? w->s[index] : 0; }
static inline uint64_t relative_read64(const struct wave *w, uint32_t index) {
  return index < 105 ? read64(w, index) : 0;
}
static inline void relative_write32(struct wave *w, uint32_t index, uint32_t value) {
  if (index < 106) w->s[index] = value;
}
static inline void relative_write64(struct wave *w, uint32_t index, uint64_t value) {
  if (index < 105) write64(w, index, value);
}

/* --- floating point ---------------------------------------------------------------------------------- */

static inline float half_value(const struct wave *w, uint32_t bits) {
  bits &= 0xffff;
  return half_to_f32((uint16_t)(w->float_state[FLOAT_FLUSH16] & 1 ? flush_half(bits) : bits));
}
static inline uint32_t half_bits(const struct wave *w, float f) {
  uint32_t bits = f32_to_half(f);
  return w->float_state[FLOAT_FLUSH16] & 2 ? flush_half(bits) : bits;
}
/* Modifiers of vector instructions with scalar results (V_S_RCP_F32 ...): on a source's bits, and on the result. */
static inline uint32_t modified_bits(const struct inst *i, int k, uint32_t bits, unsigned size) {
  uint32_t sign = 1u << (size - 1);
  if (i->abs >> k & 1) bits &= ~sign;
  return i->neg >> k & 1 ? bits ^ sign : bits;
}
static inline float finished(const struct inst *i, float f) {
  static const float scale[] = {1, 2, 4, 0.5f};
  if (i->omod) f *= scale[i->omod & 3];
  if (i->clamp) f = f > 0 ? f < 1 ? f : 1 : 0;
  return f;
}

static inline uint64_t clock_cycles(void) { return clock_nanoseconds(); }
static inline uint64_t clock_100mhz(void) { return clock_nanoseconds() / 10; }

static inline const struct inst *scalar_load(struct wave *w, const struct inst *i, unsigned dwords) {
  uint64_t address = scalar_address(w, i);
  if (!may_read(w, address, address + dwords * 4 - 1)) return wave_memory_fault(w, i, -1, address, dwords * 4, false);
  memcpy(w->s + i->dst, (const void *)(uintptr_t)address, dwords * 4);
  return NEXT(i);
}

static inline const struct inst *scalar_load_small(struct wave *w, const struct inst *i, unsigned bytes, bool is_signed) {
  uint64_t address = read64(w, i->src[0]) + scalar_offset(w, i);
  if (!may_read(w, address, address + bytes - 1)) return wave_memory_fault(w, i, -1, address, bytes, false);
  uint32_t value = 0;
  memcpy(&value, (const void *)(uintptr_t)address, bytes);
  if (is_signed) value = bytes == 1 ? (uint32_t)(int8_t)value : (uint32_t)(int16_t)value;
  w->s[i->dst] = value;
  return NEXT(i);
}

static inline const struct inst *scalar_store(struct wave *w, const struct inst *i, unsigned dwords) {
  uint64_t address = scalar_address(w, i);
  if (!may_write(w, address, address + dwords * 4 - 1)) return wave_memory_fault(w, i, -1, address, dwords * 4, true);
  w->changes++;
  memcpy((void *)(uintptr_t)address, w->s + i->dst, dwords * 4);
  return NEXT(i);
}

/* Buffer loads: bytes beyond the descriptor's range read as zero. */
struct buffer_range { uint64_t base, size; };
static inline struct buffer_range buffer_range(const uint32_t *descriptor) {
  uint64_t stride = descriptor[1] >> 16 & 0x3fff;
  return (struct buffer_range){descriptor[0] | (uint64_t)(descriptor[1] & 0xffff) << 32,
                               stride ? descriptor[2] * stride : descriptor[2]};
}

static inline const struct inst *scalar_buffer_load(struct wave *w, const struct inst *i, unsigned dwords) {
  struct buffer_range r = buffer_range(w->s + i->src[0]);
  uint64_t offset = scalar_offset(w, i) & 0xfffffffc;
  for (unsigned k = 0; k < dwords; k++, offset += 4) {
    uint32_t value = 0;
    if (offset + 4 <= r.size) {
      if (!may_read(w, r.base + offset, r.base + offset + 3)) return wave_memory_fault(w, i, -1, r.base + offset, 4, false);
      memcpy(&value, (const void *)(uintptr_t)(r.base + offset), 4);
    }
    w->s[i->dst + k] = value;
  }
  return NEXT(i);
}

static inline const struct inst *scalar_buffer_load_small(struct wave *w, const struct inst *i, unsigned bytes, bool is_signed) {
  struct buffer_range r = buffer_range(w->s + i->src[0]);
  uint64_t offset = scalar_offset(w, i) & 0xffffffff & ~(uint64_t)(bytes - 1), address = r.base + offset;
  uint32_t value = 0;
  if (offset + bytes <= r.size) {
    if (!may_read(w, address, address + bytes - 1)) return wave_memory_fault(w, i, -1, address, bytes, false);
    memcpy(&value, (const void *)(uintptr_t)address, bytes);
  }
  if (is_signed) value = bytes == 1 ? (uint32_t)(int8_t)value : (uint32_t)(int16_t)value;
  w->s[i->dst] = value;
  return NEXT(i);
}

#endif
