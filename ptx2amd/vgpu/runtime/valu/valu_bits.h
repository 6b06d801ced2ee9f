/* Part of valu_math.h: bits, saturating integers, dot products and differences of bytes. */

/* ---- bits ---- */
static inline uint32_t bit_reverse(uint32_t v) {
  v = (v >> 1 & 0x55555555) | (v & 0x55555555) << 1;
  v = (v >> 2 & 0x33333333) | (v & 0x33333333) << 2;
  v = (v >> 4 & 0x0f0f0f0f) | (v & 0x0f0f0f0f) << 4;
  return __builtin_bswap32(v);
}
static inline uint32_t popcount(uint32_t v) {
  v = v - (v >> 1 & 0x55555555);
  v = (v & 0x33333333) + (v >> 2 & 0x33333333);
  v = (v + (v >> 4)) & 0x0f0f0f0f;
  v += v >> 8; /* not the usual multiplication: GCC would recognise a popcount, which it does not vectorise */
  return (v + (v >> 16)) & 63;
}
static inline uint32_t ffbl(uint32_t v) { return popcount((v & -v) - 1) | -(uint32_t)(v == 0); }
static inline uint32_t ffbh(uint32_t v) {
  uint32_t m = v;
  m |= m >> 1, m |= m >> 2, m |= m >> 4, m |= m >> 8, m |= m >> 16;
  return (32 - popcount(m)) | -(uint32_t)(v == 0);
}
/* Bits from the top that equal the sign bit; -1 if all do. */
static inline uint32_t ffbh_signed(uint32_t v) { return ffbh(v ^ (uint32_t)((int32_t)v >> 31)); }
static inline uint32_t bfe_u32(uint32_t a, uint32_t offset, uint32_t width) {
  return a >> (offset & 31) & ((1u << (width & 31)) - 1);
}
static inline uint32_t bfe_i32(uint32_t a, uint32_t offset, uint32_t width) {
  uint32_t n = width & 31, v = bfe_u32(a, offset, width), sign = (n ? 1u << (n - 1) : 0);
  return (v ^ sign) - sign;
}
static inline uint32_t perm_byte(uint64_t data, uint32_t s) {
  uint32_t byte = (uint32_t)(data >> ((s & 7) * 8)) & 255;
  uint32_t sign = (0u - (uint32_t)(data >> (((s - 8) & 3) * 16 + 15) & 1)) & 255;
  byte = s >= 8 ? sign : byte;
  byte = s >= 12 ? 0 : byte;
  return s >= 13 ? 255 : byte;
}
static inline uint32_t perm_b32(uint32_t a, uint32_t b, uint32_t sel) {
  uint64_t data = join(b, a);
  return perm_byte(data, sel & 255) | perm_byte(data, sel >> 8 & 255) << 8 | perm_byte(data, sel >> 16 & 255) << 16 |
         perm_byte(data, sel >> 24) << 24;
}
static inline uint32_t absdiff(uint32_t a, uint32_t b) { return a > b ? a - b : b - a; }
static inline uint32_t sad_u8(uint32_t a, uint32_t b) {
  return absdiff(a & 255, b & 255) + absdiff(a >> 8 & 255, b >> 8 & 255) + absdiff(a >> 16 & 255, b >> 16 & 255) +
         absdiff(a >> 24, b >> 24);
}
/* Bytes that are 0 in the reference b are not counted. */
static inline uint32_t msad_u8(uint32_t a, uint32_t b) {
  uint32_t r = 0;
  for (int k = 0; k < 32; k += 8) r += (b >> k & 255) ? absdiff(a >> k & 255, b >> k & 255) : 0;
  return r;
}
static inline uint32_t lerp_u8(uint32_t a, uint32_t b, uint32_t c) {
  uint32_t r = 0;
  for (int k = 0; k < 32; k += 8) r |= ((a >> k & 255) + (b >> k & 255) + (c >> k & 1)) >> 1 << k;
  return r;
}

/* ---- saturating integers (clamp) ---- */
static inline uint32_t addsat_u32(uint32_t a, uint32_t b) { return a + b < a ? UINT32_MAX : a + b; }
static inline uint32_t subsat_u32(uint32_t a, uint32_t b) { return a < b ? 0 : a - b; }
static inline int32_t sat_i32(int64_t v) { return (int32_t)(v > INT32_MAX ? INT32_MAX : v < INT32_MIN ? INT32_MIN : v); }
static inline uint32_t sat_u32(uint64_t v) { return v > UINT32_MAX ? UINT32_MAX : (uint32_t)v; }
static inline int32_t sat_i16(int32_t v) { return clamp_i32(v, -32768, 32767); }
static inline int32_t sat_u16(int32_t v) { return clamp_i32(v, 0, 65535); }
static inline int32_t addsat_i32(int32_t a, int32_t b) { return sat_i32((int64_t)a + b); }
static inline int32_t subsat_i32(int32_t a, int32_t b) { return sat_i32((int64_t)a - b); }

static inline uint32_t sat_u8(int32_t v) { return (uint32_t)clamp_i32(v, 0, 255); }

/* ---- dot products of bytes and nibbles ---- */
static inline int64_t dot4_i8(uint32_t a, uint32_t b) {
  int32_t r = 0;
  for (int k = 0; k < 32; k += 8) r += (int8_t)(a >> k) * (int8_t)(b >> k);
  return r;
}
static inline uint64_t dot4_u8(uint32_t a, uint32_t b) {
  uint32_t r = 0;
  for (int k = 0; k < 32; k += 8) r += (a >> k & 255) * (b >> k & 255);
  return r;
}
static inline int64_t dot8_i4(uint32_t a, uint32_t b) {
  int32_t r = 0;
  for (int k = 0; k < 32; k += 4) r += ((int32_t)(a >> k << 28) >> 28) * ((int32_t)(b >> k << 28) >> 28);
  return r;
}
static inline uint64_t dot8_u4(uint32_t a, uint32_t b) {
  uint32_t r = 0;
  for (int k = 0; k < 32; k += 4) r += (a >> k & 15) * (b >> k & 15);
  return r;
}
/* Sums of absolute differences at four byte offsets, added to 16-bit accumulators. */
static inline uint64_t qsad_pk(uint64_t a, uint32_t b, uint64_t c) {
  uint64_t r = 0;
  for (int k = 0; k < 4; k++) r |= ((sad_u8((uint32_t)(a >> 8 * k), b) + (c >> 16 * k)) & 65535) << 16 * k;
  return r;
}
static inline uint64_t mqsad_pk(uint64_t a, uint32_t b, uint64_t c) {
  uint64_t r = 0;
  for (int k = 0; k < 4; k++) r |= ((msad_u8((uint32_t)(a >> 8 * k), b) + (c >> 16 * k)) & 65535) << 16 * k;
  return r;
}
