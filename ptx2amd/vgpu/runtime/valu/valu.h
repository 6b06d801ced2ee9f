/* Building blocks of the generated vector handlers: operand rows, result rows, lane masks.
 *
 * A row is one VGPR: W dwords. A handler reads source rows and writes its result row in one loop over W lanes, which
 * GCC vectorises. Uniform operands are first broadcast into a row on the stack. With all lanes active the result is
 * written directly to the register (source and result rows are either the same or disjoint, and every handler reads a
 * lane before it writes it); otherwise it is written to a row on the stack and blended in.
 *
 * Modifiers never reach these handlers: VG(valu_modified) applies them around the call (valu_modify.c). */
#ifndef PTX2AMD_VGPU_VALU_H
#define PTX2AMD_VGPU_VALU_H

#include <string.h>

#include <immintrin.h>

#include "bits.h"
#include "wave.h"

#define LIKELY(x) __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)
#define ROW _Alignas(64) /* alignment of rows on the stack */
#define LANES(l) _Pragma("GCC ivdep") for (int l = 0; l < W; l++)
#define LANES2(l) _Pragma("GCC ivdep") for (int l = 0; l < 2 * W; l++)

/* Values of wave->float_state. */
enum { FLOAT_CSR64, FLOAT_IEEE, FLOAT_DX10_CLAMP, FLOAT_FLUSH16, FLOAT_NEAREST16, FLOAT_ONE };

static inline uint64_t join(uint32_t lo, uint32_t hi) { return (uint64_t)hi << 32 | lo; }

static inline void set_mxcsr(uint32_t csr) { __asm__ volatile("ldmxcsr %0" : : "m"(csr) : "memory"); }

/* f64 and f16 instructions have their own rounding and denormal mode. */
static inline void float64_begin(const struct wave *w) {
  if (UNLIKELY(w->float_state[FLOAT_CSR64] != w->mxcsr)) set_mxcsr(w->float_state[FLOAT_CSR64]);
}
static inline void float64_end(const struct wave *w) {
  if (UNLIKELY(w->float_state[FLOAT_CSR64] != w->mxcsr)) set_mxcsr(w->mxcsr);
}

static inline void broadcast(uint32_t *row, uint32_t value) {
  row = __builtin_assume_aligned(row, 64);
  LANES(l) row[l] = value;
}

#define ALWAYS_INLINE static inline __attribute__((always_inline))
#define SELDOM static __attribute__((noinline, unused))

SELDOM const uint32_t *uniform_row32(struct wave *w, const struct inst *i, int k, uint32_t *temp) {
  broadcast(temp, source_u32(w, i, k));
  return temp;
}
ALWAYS_INLINE const uint32_t *row32(struct wave *w, const struct inst *i, int k, uint32_t *temp) {
  if (LIKELY(i->src_kind[k] == OPERAND_VGPR)) return vgpr(w, i->src[k]);
  return __builtin_assume_aligned(uniform_row32(w, i, k, temp), 64);
}

/* A 64-bit operand: returns the low row, *high receives the other. temp: 2 * W dwords. */
SELDOM const uint32_t *uniform_row64(struct wave *w, const struct inst *i, int k, uint32_t *temp) {
  uint64_t value = source_u64(w, i, k);
  broadcast(temp, (uint32_t)value);
  broadcast(temp + W, (uint32_t)(value >> 32));
  return temp;
}
ALWAYS_INLINE const uint32_t *row64(struct wave *w, const struct inst *i, int k, uint32_t *temp, const uint32_t **high) {
  const uint32_t *low =
      LIKELY(i->src_kind[k] == OPERAND_VGPR) ? vgpr(w, i->src[k]) : uniform_row64(w, i, k, temp);
  *high = __builtin_assume_aligned(low + W, 64);
  return __builtin_assume_aligned(low, 64);
}

/* ---- lane masks: bits to rows of 0 / ~0 and back ---- */

#if defined(__AVX512F__)
static inline void mask_to_row(uint32_t *row, uint64_t bits) {
  for (int l = 0; l < W; l += 16)
    _mm512_store_si512(row + l, _mm512_maskz_set1_epi32((__mmask16)(bits >> l), -1));
}
static inline uint64_t row_to_mask(const uint32_t *row) {
  uint64_t bits = 0;
  for (int l = 0; l < W; l += 16) {
    __m512i v = _mm512_load_si512(row + l);
    bits |= (uint64_t)_mm512_test_epi32_mask(v, v) << l;
  }
  return bits;
}
static inline void blend(uint32_t *to, const uint32_t *from, uint64_t bits) {
  for (int l = 0; l < W; l += 16)
    _mm512_mask_store_epi32(to + l, (__mmask16)(bits >> l), _mm512_load_si512(from + l));
}
#elif defined(__AVX2__)
static inline __m256i mask_to_lanes(unsigned bits) {
  const __m256i bit = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
  return _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_set1_epi32((int)bits), bit), bit);
}
static inline void mask_to_row(uint32_t *row, uint64_t bits) {
  for (int l = 0; l < W; l += 8) _mm256_store_si256((__m256i *)(row + l), mask_to_lanes((unsigned)(bits >> l)));
}
static inline uint64_t row_to_mask(const uint32_t *row) {
  uint64_t bits = 0;
  for (int l = 0; l < W; l += 8) {
    __m256i zero = _mm256_cmpeq_epi32(_mm256_load_si256((const __m256i *)(row + l)), _mm256_setzero_si256());
    bits |= (uint64_t)(~(unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(zero)) & 0xff) << l;
  }
  return bits;
}
static inline void blend(uint32_t *to, const uint32_t *from, uint64_t bits) {
  for (int l = 0; l < W; l += 8) {
    __m256i mask = mask_to_lanes((unsigned)(bits >> l));
    __m256i old = _mm256_load_si256((const __m256i *)(to + l));
    __m256i new = _mm256_load_si256((const __m256i *)(from + l));
    _mm256_store_si256((__m256i *)(to + l), _mm256_blendv_epi8(old, new, mask));
  }
}
#else
static inline void mask_to_row(uint32_t *row, uint64_t bits) {
  for (int l = 0; l < W; l++) row[l] = -(uint32_t)(bits >> l & 1);
}
static inline uint64_t row_to_mask(const uint32_t *row) {
  uint64_t bits = 0;
  for (int l = 0; l < W; l += 4) {
    __m128i zero = _mm_cmpeq_epi32(_mm_load_si128((const __m128i *)(row + l)), _mm_setzero_si128());
    bits |= (uint64_t)(~(unsigned)_mm_movemask_ps(_mm_castsi128_ps(zero)) & 0xf) << l;
  }
  return bits;
}
static inline void blend(uint32_t *to, const uint32_t *from, uint64_t bits) {
  for (int l = 0; l < W; l++) {
    uint32_t mask = -(uint32_t)(bits >> l & 1);
    to[l] = (from[l] & mask) | (to[l] & ~mask);
  }
}
#endif

/* ---- result rows ---- */

/* Rows for a result of `dwords` registers: the registers themselves, or temp. */
ALWAYS_INLINE uint32_t *result_rows(struct wave *w, const struct inst *i, uint32_t *temp) {
  return LIKELY(wave_exec(w) == LANES_ALL) ? vgpr(w, i->dst) : (uint32_t *)__builtin_assume_aligned(temp, 64);
}
SELDOM void blend_rows(struct wave *w, const struct inst *i, const uint32_t *temp, int dwords) {
  uint64_t exec = wave_exec(w);
  for (int k = 0; k < dwords; k++) blend(vgpr(w, i->dst + (unsigned)k), temp + k * W, exec);
}
ALWAYS_INLINE void result_done(struct wave *w, const struct inst *i, const uint32_t *rows, const uint32_t *temp,
                               int dwords) {
  if (UNLIKELY(rows == temp)) blend_rows(w, i, temp, dwords);
}

/* Writes a row of 16-bit results (low halves, high halves zero) to the destination register's low half. The high half
 * is kept, or cleared by GFX9's older 16-bit instructions. */
static inline void store16(struct wave *w, const struct inst *i, uint32_t *row, bool keep) {
  uint32_t *d = vgpr(w, i->dst);
  row = __builtin_assume_aligned(row, 64);
  if (keep || i->op->generation != 0) {
    LANES(l) row[l] = row[l] | (d[l] & 0xffff0000);
  }
  blend(d, row, wave_exec(w));
}

/* A lane mask result (VCC, an SGPR or pair) from a row: bits of inactive lanes are 0. */
static inline uint64_t store_mask(struct wave *w, unsigned index, const uint32_t *row) {
  uint64_t bits = row_to_mask(row) & wave_exec(w);
  mask_write(w, index, bits);
  return bits;
}

static inline uint64_t mask_source(const struct wave *w, const struct inst *i, int k) {
#if W == 64
  return source_u64(w, i, k);
#else
  return source_u32(w, i, k);
#endif
}

/* Operand types as far as modifiers care. */
enum valu_type {
  VALU_NONE, VALU_B16, VALU_F16, VALU_BF16, VALU_B32, VALU_F32, VALU_B64, VALU_F64,
  VALU_PK16, VALU_PKF16, VALU_PK32, VALU_B128, VALU_MASK
};

/* Facts about an instruction for VG(valu_modified). */
struct valu_shape {
  handler_fn plain;
  handler_fn saturated;    /* integer results with clamp; NULL: clamp has no effect or is a float's */
  uint8_t src[3], dst;     /* enum valu_type */
  uint8_t reads_dst, writes_exec, vop3p;
};

/* Runs an instruction with modifiers around its plain handler. */
const struct inst *VG(valu_modified)(struct wave *w, const struct inst *i, const struct valu_shape *shape);
#endif
