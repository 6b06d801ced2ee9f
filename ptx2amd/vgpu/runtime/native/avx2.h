/* AVX2: 8 lanes in YMM registers, lane masks in these too. */
#pragma once
#include "memory_access.h"
#include "native_machine.h"

enum { YMM_SPARE = 0, YMM_EXEC = 15 };

static const struct evex AND_D = {1, 1, 0, 0xdb}, OR_D = {1, 1, 0, 0xeb}, CMPEQ_D = {1, 1, 0, 0x76}, CMPGT_Q = {2, 1, 0, 0x37},
  MAX_UD = {2, 1, 0, 0x3f}, SHUFFLE_PS = {1, 0, 0, 0xc6}, PERMUTE_Q = {3, 1, 1, 0x00}, PERMUTE_HALVES = {3, 1, 0, 0x46},
  EXTRACT_QUAD = {3, 1, 0, 0x39}, MOVSX_DQ = {2, 1, 0, 0x25};

/* to = a in the mask's lanes, else b: vblendvps. */
void blend(struct compiler *c, unsigned to, unsigned b, unsigned a, unsigned mask);
/* Flags of the bits of both (vptest): CC_NE if they have some in common, CC_B if `a` has all of b. */
void test_bits(struct compiler *c, unsigned a, unsigned b);
/* to = the mask of the active lanes. */
void active_lanes(struct compiler *c, unsigned to);
/* Masks of qwords from the lower (half 0) or upper four lanes of a mask of dwords. */
void widen_mask(struct compiler *c, unsigned to, unsigned from, unsigned half);

/* edx = the active lanes, rsi = rsp + 4 * the first one (masked versions). Returns the jump if there is none. */
jump find_active(struct compiler *c);
/* The dword of the first active lane to a general register, and to all lanes of t. Masked versions: after find_active. */
void first_lane(struct compiler *c, enum gpr to, unsigned t, unsigned from);
/* CC_NE: an active lane has a bit in t. */
void test_active(struct compiler *c, unsigned t);

/* A dword of each active lane. */
void load_part(struct compiler *c, unsigned to, struct memory at);
void store_part(struct compiler *c, unsigned from, struct memory at);
/* Consecutive elements of 8 lanes at [rax + offset]; z: the dwords' registers, t: four free ones. Masked versions have
 * no access to elements of less than a dword, nor of four. */
bool row_known(const struct compiler *c, const struct native_memory *m);
void avx2_load_row(struct compiler *c, const struct native_memory *m, const uint8_t *z, const uint8_t *t, struct memory at);
void avx2_store_row(struct compiler *c, const struct native_memory *m, const uint8_t *z, const uint8_t *t, struct memory at);
/* z = the dwords of four rows in t of lanes (n, n + 4). */
void transpose(struct compiler *c, const uint8_t *z, const uint8_t *t);
/* A detour's store, lane by lane: the addresses are in the frame. */
void store_lanes(struct compiler *c, const struct detour *d);

void avx2_global(struct compiler *c, const struct inst *i, const struct native_memory *m);
void avx2_lds(struct compiler *c, const struct inst *i, const struct native_memory *m);
void avx2_scratch(struct compiler *c, const struct inst *i, const struct native_memory *m);
