#include "texel.h"

#include <math.h>
#include <string.h>

#include "bits.h"

/* Widths of a data format's components, lowest bits first, by GFX9's number; later chips have one number for data and
 * number format. */
enum { DATA_5_9_9_9 = 23, DATA_COUNT };
static const uint8_t widths[DATA_COUNT][4] = {
  [1] = {8}, [2] = {16}, [3] = {8, 8}, [4] = {32}, [5] = {16, 16}, [6] = {11, 11, 10}, [7] = {10, 11, 11},
  [8] = {2, 10, 10, 10}, [9] = {10, 10, 10, 2}, [10] = {8, 8, 8, 8}, [11] = {32, 32}, [12] = {16, 16, 16, 16},
  [13] = {32, 32, 32}, [14] = {32, 32, 32, 32}, [16] = {5, 6, 5}, [17] = {5, 5, 5, 1}, [18] = {1, 5, 5, 5},
  [19] = {4, 4, 4, 4}, [20] = {24, 8}, [21] = {8, 24}, [22] = {32, 8}, [DATA_5_9_9_9] = {9, 9, 9},
};

/* Combined numbers of data format and number format: the run for a data format begins at `first`. */
struct run { uint8_t first, data; const char *numbers; };
static const struct run gfx10_runs[] = {
  {1, 1, "012345"}, {7, 2, "0123457"}, {14, 3, "012345"}, {20, 4, "457"}, {23, 5, "0123457"}, {30, 6, "0123457"},
  {37, 7, "0123457"}, {44, 8, "012345"}, {50, 9, "012345"}, {56, 10, "012345"}, {62, 11, "457"}, {65, 12, "0123457"},
  {72, 13, "457"}, {75, 14, "457"}, {128, 1, "9"}, {129, 3, "9"}, {130, 10, "9"}, {132, DATA_5_9_9_9, "7"}, {133, 16, "0"},
  {134, 17, "0"}, {135, 18, "0"}, {136, 19, "0"}, {141, 20, "04"}, {143, 21, "04"}, {0, 0, ""},
};
static const struct run gfx11_runs[] = {
  {1, 1, "012345"}, {7, 2, "0123457"}, {14, 3, "012345"}, {20, 4, "457"}, {23, 5, "0123457"}, {30, 6, "7"}, {31, 7, "7"},
  {32, 8, "0145"}, {36, 9, "012345"}, {42, 10, "012345"}, {48, 11, "457"}, {51, 12, "0123457"}, {58, 13, "457"},
  {61, 14, "457"}, {64, 1, "9"}, {65, 3, "9"}, {66, 10, "9"}, {67, DATA_5_9_9_9, "7"}, {68, 16, "0"}, {69, 17, "0"},
  {70, 18, "0"}, {71, 19, "0"}, {76, 20, "04"}, {78, 21, "04"}, {80, 22, "47"}, {0, 0, ""},
};

static bool described(unsigned data, unsigned number, struct texel_format *f) {
  if (data >= DATA_COUNT || !widths[data][0]) return false;
  bool known = number <= NUMBER_SINT || number == NUMBER_FLOAT || number == NUMBER_SRGB;
  unsigned bits = 0, largest = 0;
  memset(f, 0, sizeof *f);
  for (; f->components < 4 && widths[data][f->components]; f->components++) {
    unsigned n = f->width[f->components] = widths[data][f->components];
    f->at[f->components] = (uint8_t)bits;
    bits += n;
    largest = n > largest ? n : largest;
  }
  f->number = (uint8_t)number;
  f->shared_exponent = data == DATA_5_9_9_9;
  f->bytes = (uint8_t)(f->shared_exponent ? 4 : data == 22 ? 8 : (bits + 7) / 8);
  return known && (number != NUMBER_FLOAT || largest >= 9) && (largest < 32 || number >= NUMBER_UINT);
}

bool texel_format(unsigned generation, unsigned code, struct texel_format *f) {
  if (generation == 0) return described(code & 63, code >> 6, f);
  for (const struct run *r = generation == 1 ? gfx10_runs : gfx11_runs; r->first; r++)
    if (code >= r->first && code < r->first + strlen(r->numbers))
      return described(r->data, (unsigned)(r->numbers[code - r->first] - '0'), f);
  return false;
}

unsigned texel_code(unsigned generation, unsigned data, unsigned number) {
  if (generation == 0) return data | number << 6;
  for (const struct run *r = generation == 1 ? gfx10_runs : gfx11_runs; r->first; r++) {
    const char *at = r->data == data ? strchr(r->numbers, (int)('0' + number)) : NULL;
    if (at) return r->first + (unsigned)(at - r->numbers);
  }
  return 0;
}

/* Floats with 5 exponent bits: half precision, and the unsigned formats with 11 and 10 bits. */
static float from_small_float(uint32_t code, unsigned mantissa) {
  uint32_t sign = code >> (mantissa + 5) & 1, e = code >> mantissa & 31, m = code & ((1u << mantissa) - 1);
  if (e == 31) return as_f32(sign << 31 | 0x7f800000 | m << (23 - mantissa));
  float f = ldexpf((float)(e ? m | 1u << mantissa : m), (int)(e ? e : 1) - 15 - (int)mantissa);
  return sign ? -f : f;
}

static uint32_t to_small_float(float f, unsigned mantissa, bool has_sign) {
  uint32_t sign = has_sign && signbit(f) ? 1u << (mantissa + 5) : 0, infinite = 31u << mantissa;
  if (isnan(f)) return sign | infinite | 1u << (mantissa - 1);
  if (signbit(f) && !has_sign) return 0;
  f = fabsf(f);
  if (f == 0) return sign;
  if (isinf(f)) return sign | infinite;
  int e;
  frexpf(f, &e);                        /* f = 0.1... * 2^e */
  if (e < -13) e = -13;                 /* denormal */
  double units = rint(ldexp(f, (int)mantissa + 1 - e));
  uint32_t code = (uint32_t)units + ((uint32_t)(e + 13) << mantissa);
  return sign | (code > infinite ? infinite : code);
}

uint32_t texel_half(uint32_t value) { return to_small_float(as_f32(value), 10, true); }
uint32_t texel_from_half(uint32_t half) { return f32_bits(from_small_float(half & 0xffff, 10)); }

static float linear_from_srgb(float c) { return c <= 0.04045f ? c / 12.92f : powf((c + 0.055f) / 1.055f, 2.4f); }
static float srgb_from_linear(float c) { return c <= 0.0031308f ? c * 12.92f : 1.055f * powf(c, 1 / 2.4f) - 0.055f; }

static uint32_t load_one(const struct texel_format *f, unsigned k, uint32_t code) {
  unsigned n = f->width[k];
  int64_t is = (int64_t)((uint64_t)code << (64 - n)) >> (64 - n);
  switch (f->number) {
  case NUMBER_UNORM: case NUMBER_SRGB: {
    float c = (float)(code / (double)((UINT64_C(1) << n) - 1));
    return f32_bits(f->number == NUMBER_SRGB && k < 3 ? linear_from_srgb(c) : c);
  }
  case NUMBER_SNORM: {
    double c = (double)is / (double)((INT64_C(1) << (n - 1)) - 1);
    return f32_bits((float)(c < -1 ? -1 : c));
  }
  case NUMBER_USCALED: return f32_bits((float)code);
  case NUMBER_SSCALED: return f32_bits((float)is);
  case NUMBER_SINT: return (uint32_t)is;
  case NUMBER_FLOAT: return n == 32 ? code : n >= 10 && n <= 16 ? f32_bits(from_small_float(code, n == 16 ? 10 : n - 5)) : code;
  default: return code;
  }
}

static double clamped(double v, double low, double high) { return !(v > low) ? low : v > high ? high : v; }

static uint32_t store_one(const struct texel_format *f, unsigned k, uint32_t value) {
  unsigned n = f->width[k];
  double top = (double)((UINT64_C(1) << n) - 1), high = (double)((INT64_C(1) << (n - 1)) - 1), v = as_f32(value);
  switch (f->number) {
  case NUMBER_SRGB:
    if (k < 3) v = srgb_from_linear((float)clamped(v, 0, 1));
    return (uint32_t)rint(clamped(v, 0, 1) * top);
  case NUMBER_UNORM: return (uint32_t)rint(clamped(v, 0, 1) * top);
  case NUMBER_SNORM: return (uint32_t)(int32_t)rint((isnan(v) ? 0 : clamped(v, -1, 1)) * high);
  case NUMBER_USCALED: return (uint32_t)clamped(v, 0, top);
  case NUMBER_SSCALED: return (uint32_t)(int32_t)(isnan(v) ? 0 : clamped(v, -high - 1, high));
  case NUMBER_UINT: return (uint32_t)clamped(value, 0, top);
  case NUMBER_SINT: return (uint32_t)(int32_t)clamped((int32_t)value, -high - 1, high);
  default: return n == 32 ? value : to_small_float((float)v, n == 16 ? 10 : n - 5, n == 16);
  }
}

static void load_shared_exponent(uint32_t code, uint32_t value[4]) {
  for (unsigned k = 0; k < 3; k++) value[k] = f32_bits(ldexpf((float)(code >> 9 * k & 511), (int)(code >> 27) - 24));
}
static uint32_t store_shared_exponent(const uint32_t value[4]) {
  float v[3], most = 0;
  for (unsigned k = 0; k < 3; k++) {
    v[k] = (float)clamped(as_f32(value[k]), 0, 65408);
    most = v[k] > most ? v[k] : most;
  }
  int e = -15;
  if (most > 0) frexpf(most, &e);
  if (e < -15) e = -15;
  if (rint(ldexp(most, 9 - e)) == 512) e++;
  uint32_t code = (uint32_t)(e + 15) << 27;
  for (unsigned k = 0; k < 3; k++) code |= (uint32_t)rint(ldexp(v[k], 9 - e)) << 9 * k;
  return code;
}

void texel_load(const struct texel_format *f, const void *from, uint32_t value[4]) {
  uint64_t word[2] = {0};
  memcpy(word, from, f->bytes);
  value[0] = value[1] = value[2] = 0;
  value[3] = texel_integer(f) ? 1 : f32_bits(1);
  if (f->shared_exponent) {
    load_shared_exponent((uint32_t)word[0], value);
    return;
  }
  for (unsigned k = 0; k < f->components; k++) {
    uint64_t code = word[f->at[k] / 64] >> f->at[k] % 64;
    value[k] = load_one(f, k, (uint32_t)(code & ((UINT64_C(1) << f->width[k]) - 1)));
  }
}

void texel_store(const struct texel_format *f, void *to, const uint32_t value[4]) {
  uint64_t word[2] = {0};
  if (f->shared_exponent) word[0] = store_shared_exponent(value);
  else
    for (unsigned k = 0; k < f->components; k++) {
      uint64_t code = store_one(f, k, value[k]) & ((UINT64_C(1) << f->width[k]) - 1);
      word[f->at[k] / 64] |= code << f->at[k] % 64;
    }
  memcpy(to, word, f->bytes);
}

void texel_select(const struct texel_format *f, const uint8_t select[4], uint32_t value[4]) {
  uint32_t all[8] = {0, texel_integer(f) ? 1 : f32_bits(1), 0, 0, value[0], value[1], value[2], value[3]};
  for (unsigned k = 0; k < 4; k++) value[k] = all[select[k] & 7];
}

void texel_unselect(const uint8_t select[4], uint32_t value[4]) {
  uint32_t all[4] = {0};
  for (unsigned k = 4; k-- > 0;)
    if (select[k] >= 4) all[select[k] - 4] = value[k];
  memcpy(value, all, sizeof all);
}
