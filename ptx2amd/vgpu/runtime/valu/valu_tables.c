/* Data of the vector ALU that does not depend on wave width or x86 level. */
#include "valu_tables.h"

#include <stdbool.h>
#include <string.h>

const volatile float valu_one_f32 = 1.0f;
const volatile double valu_one_f64 = 1.0;

/* The first 1216 bits of the fraction of 2/pi, most significant first; the chip has 1201 of them. */
static const uint64_t two_over_pi[19] = {
  0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041, 0xfe5163abdebbc561,
  0xb7246e3a424dd2e0, 0x06492eea09d1921c, 0xfe1deb1cb129a73e, 0xe88235f52ebb4484,
  0xe99c7026b45f7e41, 0x3991d639835339f4, 0x9c845f8bbdf9283b, 0x1ff897ffde05980f,
  0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d, 0x7527bac7ebe5f17b,
  0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab,
};

static uint64_t fraction_bit(unsigned n) {
  return n <= 1200 ? two_over_pi[n / 64] >> (63 - n % 64) & 1 : 0;
}

/* Segment of 53 bits of 2/pi for the Payne-Hanek reduction of f, with its place value. */
double trig_preop_f64(double f, uint32_t segment) {
  uint64_t bits;
  memcpy(&bits, &f, 8);
  int exponent = (int)(bits >> 52 & 2047), shift = (int)segment * 53 + (exponent > 1077 ? exponent - 1077 : 0);
  uint64_t whole = 0;
  for (int k = 0; k < 53; k++) whole = whole << 1 | fraction_bit((unsigned)(shift + k));
  int scale = -53 - shift + (exponent >= 1968 ? 128 : 0);
  return __builtin_ldexp((double)whole, scale);
}

/* Source lane of `lane` under a DPP control; -1: none. Controls for whole waves exist on GFX9 only, with 64 lanes. */
static int dpp_source(unsigned ctrl, int lane, bool gfx9) {
  int row = lane & ~15, n = lane & 15, k = (int)(ctrl & 15);
  if (ctrl < 0x100) return (lane & ~3) | (int)(ctrl >> (lane & 3) * 2 & 3);
  switch (ctrl & 0x1f0) {
  case 0x100: return n + k < 16 ? lane + k : -1;                 /* row_shl */
  case 0x110: return n - k >= 0 ? lane - k : -1;                 /* row_shr */
  case 0x120: return row | ((n - k) & 15);                       /* row_ror */
  case 0x150: return row | k;                                    /* row_share, row_newbcast */
  case 0x160: return row | (n ^ k);                              /* row_xmask */
  }
  switch (ctrl) {
  case 0x130: return gfx9 && lane < 63 ? lane + 1 : -1;          /* wave_shl */
  case 0x134: return gfx9 ? (lane + 1) & 63 : -1;                /* wave_rol */
  case 0x138: return gfx9 && lane > 0 ? lane - 1 : -1;           /* wave_shr */
  case 0x13c: return gfx9 ? (lane + 63) & 63 : -1;               /* wave_ror */
  case 0x140: return row | (15 - n);                             /* row_mirror */
  case 0x141: return (lane & ~7) | (7 - (lane & 7));             /* row_half_mirror */
  case 0x142: return gfx9 && lane >= 16 ? row - 1 : -1;          /* row_bcast15: the last lane of the row below */
  case 0x143: return gfx9 && lane >= 32 ? 31 : -1;               /* row_bcast31 */
  }
  return -1;
}

uint8_t dpp_from[2][512][64];
uint64_t dpp_readable[2][512];

__attribute__((constructor)) static void fill_dpp(void) {
  for (int generation = 0; generation < 2; generation++)
    for (unsigned ctrl = 0; ctrl < 512; ctrl++)
      for (int lane = 0; lane < 64; lane++) {
        int from = dpp_source(ctrl, lane, generation == 0);
        if (from < 0) continue;
        dpp_from[generation][ctrl][lane] = (uint8_t)from;
        dpp_readable[generation][ctrl] |= UINT64_C(1) << lane;
      }
}
