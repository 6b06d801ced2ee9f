/* Vector memory access: one function per address space and direction; the operation is an argument, because address
 * computation dominates. Compiled per width and level. */
#ifndef PTX2AMD_VGPU_VMEM_H
#define PTX2AMD_VGPU_VMEM_H

#include <string.h>
#ifdef __AVX512F__
#include <immintrin.h>
#endif

#include "access.h"
#include "wave.h"
#include "wave_events.h"

/* Loads: D16 kinds write one half of the register; the other is kept, or cleared on chips with SRAM ECC. */
enum load_kind {
  LOAD_U8, LOAD_I8, LOAD_U16, LOAD_I16, LOAD_D16_U8, LOAD_D16_I8, LOAD_D16, LOAD_D16_HI_U8, LOAD_D16_HI_I8,
  LOAD_D16_HI, LOAD_B32, LOAD_B64, LOAD_B96, LOAD_B128,
};
enum store_kind { STORE_B8, STORE_B16, STORE_D16_HI_B8, STORE_D16_HI_B16, STORE_B32, STORE_B64, STORE_B96, STORE_B128 };
enum atomic_op {
  ATOMIC_SWAP, ATOMIC_CMPSWAP, ATOMIC_ADD, ATOMIC_SUB, ATOMIC_RSUB, ATOMIC_CSUB, ATOMIC_MIN_I, ATOMIC_MIN_U,
  ATOMIC_MAX_I, ATOMIC_MAX_U, ATOMIC_AND, ATOMIC_OR, ATOMIC_XOR, ATOMIC_INC, ATOMIC_DEC, ATOMIC_MSKOR, ATOMIC_WRAP,
  ATOMIC_CMPSWAP_F, ATOMIC_ADD_F, ATOMIC_MIN_F, ATOMIC_MAX_F, ATOMIC_PK_ADD_F16, ATOMIC_PK_ADD_BF16,
  ATOMIC_COND_SUB,
};

static const uint8_t load_bytes[] = {1, 1, 2, 2, 1, 1, 2, 1, 1, 2, 4, 8, 12, 16};
static const uint8_t store_bytes[] = {1, 2, 1, 2, 4, 8, 12, 16};

/* The relation between the addresses of 16 neighbouring lanes. */
enum group_pattern {
  PATTERN_ANY,
  PATTERN_ROW,     /* consecutive elements */
  PATTERN_SAME,    /* the same element for all */
};
enum { GROUPS = W / 16 };

/* The lanes' host addresses. Dword k of lane l is at p[l] + k * stride; lanes not in `lanes` have a readable
 * address too. pattern holds for accesses of all lanes only. */
struct lane_addresses {
  _Alignas(64) uint64_t p[W];
  uint64_t lanes;
  uint32_t stride;
  uint8_t pattern[GROUPS];
};

typedef const struct inst *next_inst;

void VG(load_lanes)(struct wave *w, const struct inst *i, const struct lane_addresses *a, enum load_kind kind);
/* Zeros for lanes whose addresses are out of range. */
void VG(load_zeros)(struct wave *w, const struct inst *i, uint64_t lanes, enum load_kind kind);
void VG(store_lanes)(struct wave *w, const struct inst *i, const struct lane_addresses *a, enum store_kind kind);
/* Data operands: compare-and-swap in the flat formats takes the new value and the comparand from consecutive rows of
 * DATA; in DS `data` and `data2` give the rows. shared: other threads may access the memory. */
void VG(atomic_lanes)(struct wave *w, const struct inst *i, const struct lane_addresses *a, enum atomic_op op,
                      unsigned bits, bool returns, bool shared, unsigned data, unsigned data2);

/* In the weak-memory mode (weak_lanes.c): whether the access is deferred. */
bool VG(weak_load)(struct wave *w, const struct inst *i, const struct lane_addresses *a, enum load_kind kind);
bool VG(weak_store)(struct wave *w, const struct inst *i, const struct lane_addresses *a, enum store_kind kind);
bool VG(weak_update)(struct wave *w, const struct inst *i, const struct lane_addresses *a, enum atomic_op op, unsigned bits,
                     bool returns, unsigned data, unsigned data2);

next_inst VG(global_load)(struct wave *w, const struct inst *i, enum load_kind kind);
next_inst VG(global_store)(struct wave *w, const struct inst *i, enum store_kind kind);
next_inst VG(global_atomic)(struct wave *w, const struct inst *i, enum atomic_op op, unsigned bits);
next_inst VG(global_load_lds)(struct wave *w, const struct inst *i, enum load_kind kind);
/* Stores a load's results for the lanes to LDS: M0 + offset + lane * size. */
next_inst VG(load_lds)(struct wave *w, const struct inst *i, const struct lane_addresses *a, enum load_kind kind);
/* Lane l's dword at the scalar address + offset + 4 l. */
next_inst VG(global_addtid)(struct wave *w, const struct inst *i, bool store);
next_inst VG(global_load_transposed)(struct wave *w, const struct inst *i, enum load_kind kind);
next_inst VG(global_block)(struct wave *w, const struct inst *i, bool write);
next_inst VG(scratch_block)(struct wave *w, const struct inst *i, bool write);
next_inst VG(flat_load)(struct wave *w, const struct inst *i, enum load_kind kind);
next_inst VG(flat_store)(struct wave *w, const struct inst *i, enum store_kind kind);
next_inst VG(flat_atomic)(struct wave *w, const struct inst *i, enum atomic_op op, unsigned bits);
next_inst VG(scratch_load)(struct wave *w, const struct inst *i, enum load_kind kind);
next_inst VG(scratch_store)(struct wave *w, const struct inst *i, enum store_kind kind);
next_inst VG(buffer_load)(struct wave *w, const struct inst *i, enum load_kind kind);
next_inst VG(buffer_store)(struct wave *w, const struct inst *i, enum store_kind kind);
next_inst VG(buffer_atomic)(struct wave *w, const struct inst *i, enum atomic_op op, unsigned bits);

/* Elements in a format (texel.h) of n components. halves: FORMAT_... below; typed: the instruction names the format. */
enum format_halves { FORMAT_DWORDS, FORMAT_HALVES, FORMAT_HIGH_HALF };
next_inst VG(buffer_load_format)(struct wave *w, const struct inst *i, unsigned n, enum format_halves halves, bool typed);
next_inst VG(buffer_store_format)(struct wave *w, const struct inst *i, unsigned n, enum format_halves halves, bool typed);

next_inst VG(image_load)(struct wave *w, const struct inst *i);
next_inst VG(image_store)(struct wave *w, const struct inst *i);
next_inst VG(image_atomic)(struct wave *w, const struct inst *i, enum atomic_op op);
next_inst VG(image_sample)(struct wave *w, const struct inst *i);
next_inst VG(image_lod)(struct wave *w, const struct inst *i);
next_inst VG(image_resinfo)(struct wave *w, const struct inst *i);

next_inst VG(ds_load)(struct wave *w, const struct inst *i, enum load_kind kind);
next_inst VG(ds_store)(struct wave *w, const struct inst *i, enum store_kind kind);
/* Two addresses: offsets count elements of bits / 8 bytes, times 64 with stride64. */
next_inst VG(ds_load_transposed)(struct wave *w, const struct inst *i, enum load_kind kind, unsigned bits);
next_inst VG(ds_load2)(struct wave *w, const struct inst *i, unsigned bits, bool stride64);
next_inst VG(ds_store2)(struct wave *w, const struct inst *i, unsigned bits, bool stride64);
next_inst VG(ds_exchange2)(struct wave *w, const struct inst *i, unsigned bits, bool stride64);
next_inst VG(ds_atomic)(struct wave *w, const struct inst *i, enum atomic_op op, unsigned bits, bool returns);
next_inst VG(ds_condxchg32)(struct wave *w, const struct inst *i);
next_inst VG(ds_addtid)(struct wave *w, const struct inst *i, bool store);
next_inst VG(ds_gws_init)(struct wave *w, const struct inst *i);
next_inst VG(ds_gws_barrier)(struct wave *w, const struct inst *i);
next_inst VG(ds_append)(struct wave *w, const struct inst *i, int sign);
next_inst VG(ds_permute)(struct wave *w, const struct inst *i);
next_inst VG(ds_bpermute)(struct wave *w, const struct inst *i);
next_inst VG(ds_bpermute_fi)(struct wave *w, const struct inst *i);
next_inst VG(ds_swizzle)(struct wave *w, const struct inst *i);

/* Addresses of each lane's scratch from byte offsets (already in a->p); sets stride and pattern. False: an offset is
 * out of range (the fault is raised and *out set). */
bool VG(scratch_addresses)(struct wave *w, const struct inst *i, struct lane_addresses *a, unsigned bytes, bool write,
                           next_inst *out);
/* The same for accesses that cross a dword: through a buffer of 16 bytes per lane. */
next_inst VG(scratch_access)(struct wave *w, const struct inst *i, struct lane_addresses *a, unsigned bytes, int load,
                             int store);
/* Copies between a lane's scratch and a plain buffer. */
void VG(scratch_copy)(struct wave *w, unsigned lane, uint64_t offset, uint8_t *buffer, unsigned bytes, bool write);
/* Registers DST + k, or DATA + k, for each bit k of M0, and the dwords at address + 4 k (GFX12). */
next_inst VG(block)(struct wave *w, const struct inst *i, const struct lane_addresses *first, bool scratch, bool write);
/* Checks the lanes' addresses against the allocations; false: fault raised. */
bool VG(check_addresses)(struct wave *w, const struct inst *i, struct lane_addresses *a, unsigned bytes, bool write,
                         next_inst *out);

static inline bool all_lanes(uint64_t lanes) { return lanes == LANES_ALL; }
/* Gives inactive lanes the address of an active one. */
static inline void fill_inactive(struct lane_addresses *a) {
  if (all_lanes(a->lanes)) return;
  uint64_t some = a->p[__builtin_ctzll(a->lanes)], lanes = a->lanes;
  for (int l = 0; l < W; l++) a->p[l] = lanes >> l & 1 ? a->p[l] : some;
}
static inline void no_pattern(struct lane_addresses *a) { memset(a->pattern, PATTERN_ANY, sizeof a->pattern); }

/* The pattern of 16 numbers for elements of `bytes`. */
#ifdef __AVX512F__
static inline enum group_pattern pattern32(const uint32_t *v, unsigned bytes) {
  const __m512i steps = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
  __m512i d = _mm512_sub_epi32(_mm512_loadu_si512(v), _mm512_set1_epi32((int)v[0]));
  if (_mm512_cmpneq_epi32_mask(d, _mm512_mullo_epi32(steps, _mm512_set1_epi32((int)bytes))) == 0) return PATTERN_ROW;
  return _mm512_test_epi32_mask(d, d) == 0 ? PATTERN_SAME : PATTERN_ANY;
}
static inline enum group_pattern pattern64(const uint64_t *p, unsigned bytes) {
  const __m512i steps = _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0);
  const __m512i first = _mm512_set1_epi64((long long)p[0]);
  __m512i row = _mm512_add_epi64(first, _mm512_mul_epu32(steps, _mm512_set1_epi64(bytes)));
  __m512i lo = _mm512_loadu_si512(p), hi = _mm512_loadu_si512(p + 8);
  if ((_mm512_cmpneq_epi64_mask(lo, row) |
       _mm512_cmpneq_epi64_mask(hi, _mm512_add_epi64(row, _mm512_set1_epi64(8 * bytes)))) == 0)
    return PATTERN_ROW;
  return (_mm512_cmpneq_epi64_mask(lo, first) | _mm512_cmpneq_epi64_mask(hi, first)) == 0 ? PATTERN_SAME : PATTERN_ANY;
}
#else
static inline enum group_pattern pattern32(const uint32_t *v, unsigned bytes) {
  uint32_t row = 0, same = 0;
  for (unsigned k = 0; k < 16; k++) {
    row |= (v[k] - v[0]) ^ k * bytes;
    same |= v[k] ^ v[0];
  }
  return !row ? PATTERN_ROW : !same ? PATTERN_SAME : PATTERN_ANY;
}
static inline enum group_pattern pattern64(const uint64_t *p, unsigned bytes) {
  uint64_t row = 0, same = 0;
  for (unsigned k = 0; k < 16; k++) {
    row |= (p[k] - p[0]) ^ (uint64_t)k * bytes;
    same |= p[k] ^ p[0];
  }
  return !row ? PATTERN_ROW : !same ? PATTERN_SAME : PATTERN_ANY;
}
#endif

#define EACH_LANE(l, lanes) \
  for (uint64_t rest_ = (lanes), l = 0; rest_ && ((l = (uint64_t)__builtin_ctzll(rest_)), true); rest_ &= rest_ - 1)
#endif
