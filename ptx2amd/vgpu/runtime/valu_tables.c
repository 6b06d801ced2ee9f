/* Data of the vector ALU that does not depend on wave width or x86 level. */
#include <stdint.h>
#include <string.h>

double trig_preop_f64(double f, uint32_t segment);
extern const volatile float valu_one_f32;
extern const volatile double valu_one_f64;

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
