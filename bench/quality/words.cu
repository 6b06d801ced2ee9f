// Integers: hashes, ciphers, checksums, modular arithmetic.
#include "both.h"

INLINE u32 left(u32 v, int n) { return v << n | v >> (32 - n); }
INLINE u32 right(u32 v, int n) { return v >> n | v << (32 - n); }

// MurmurHash3 of eight words.
KERNEL murmur(const u32 *in, u32 *out, int n) {
  int i = index_x();
  if (i >= n) return;
  u32 h = 0x9747b28c;
#pragma unroll
  for (int j = 0; j < 8; j++) {
    h ^= left(in[i * 8 + j] * 0xcc9e2d51u, 15) * 0x1b873593u;
    h = left(h, 13) * 5 + 0xe6546b64u;
  }
  h ^= 32, h ^= h >> 16, h *= 0x85ebca6bu, h ^= h >> 13, h *= 0xc2b2ae35u;
  out[i] = h ^ h >> 16;
}

// SplitMix64 with a remainder in each round.
KERNEL hash64(const u64 *in, u64 *out, int n, int rounds) {
  int i = index_x();
  if (i >= n) return;
  u64 h = in[i];
  for (int j = 0; j < rounds; j++) {
    h += 0x9e3779b97f4a7c15ull;
    h = (h ^ h >> 30) * 0xbf58476d1ce4e5b9ull;
    h = (h ^ h >> 27) * 0x94d049bb133111ebull;
    h ^= h >> 31;
    h = h % 0xfffffffbu + (h << 17 | h >> 47);
  }
  out[i] = h;
}

// SHA-256 of a message of one block; k: the round constants.
KERNEL sha256(const u32 *in, const u32 *k, u32 *out, int n) {
  int i = index_x();
  if (i >= n) return;
  u32 w[16], s[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  u32 a = s[0], b = s[1], c = s[2], d = s[3], e = s[4], f = s[5], g = s[6], h = s[7];
#pragma unroll
  for (int t = 0; t < 16; t++) w[t] = in[i * 16 + t];
#pragma unroll 16
  for (int t = 0; t < 64; t++) {
    u32 x = h + (right(e, 6) ^ right(e, 11) ^ right(e, 25)) + ((e & f) ^ (~e & g)) + k[t] + w[t & 15];
    u32 y = (right(a, 2) ^ right(a, 13) ^ right(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
    u32 p = w[(t + 1) & 15], q = w[(t + 14) & 15];
    w[t & 15] += (right(p, 7) ^ right(p, 18) ^ p >> 3) + w[(t + 9) & 15] + (right(q, 17) ^ right(q, 19) ^ q >> 10);
    h = g, g = f, f = e, e = d + x, d = c, c = b, b = a, a = x + y;
  }
  u32 r[8] = {a, b, c, d, e, f, g, h};
#pragma unroll
  for (int t = 0; t < 8; t++) out[i * 8 + t] = s[t] + r[t];
}

// ChaCha20's key stream, a block of 16 words a thread.
#define QUARTER(a, b, c, d) \
  a += b, d = left(d ^ a, 16), c += d, b = left(b ^ c, 12), a += b, d = left(d ^ a, 8), c += d, b = left(b ^ c, 7)
KERNEL chacha20(const u32 *state, u32 *out, int n) {
  int i = index_x();
  if (i >= n) return;
  u32 s[16], x[16];
#pragma unroll
  for (int k = 0; k < 16; k++) s[k] = state[k];
  s[12] += i;
#pragma unroll
  for (int k = 0; k < 16; k++) x[k] = s[k];
  for (int round = 0; round < 10; round++) {
    QUARTER(x[0], x[4], x[8], x[12]);
    QUARTER(x[1], x[5], x[9], x[13]);
    QUARTER(x[2], x[6], x[10], x[14]);
    QUARTER(x[3], x[7], x[11], x[15]);
    QUARTER(x[0], x[5], x[10], x[15]);
    QUARTER(x[1], x[6], x[11], x[12]);
    QUARTER(x[2], x[7], x[8], x[13]);
    QUARTER(x[3], x[4], x[9], x[14]);
  }
#pragma unroll
  for (int k = 0; k < 16; k++) out[i * 16 + k] = x[k] + s[k];
}

// CRC-32 of 64 bytes with the table in shared memory.
KERNEL __launch_bounds__(256) crc32(const u32 *in, const u32 *table, u32 *out, int n) {
  __shared__ u32 t[256];
  t[threadIdx.x] = table[threadIdx.x];
  __syncthreads();
  int i = index_x();
  if (i >= n) return;
  u32 crc = ~0u;
  for (int j = 0; j < 16; j++) {
    crc ^= in[i * 16 + j];
#pragma unroll
    for (int k = 0; k < 4; k++) crc = t[crc & 255] ^ crc >> 8;
  }
  out[i] = ~crc;
}

// Powers modulo a 61-bit prime: 128-bit products.
INLINE u64 product(u64 a, u64 b) {
  const u64 p = (1ull << 61) - 1;
  u64 low = a * b, high = __umul64hi(a, b), r = (low & p) + (low >> 61 | high << 3);
  return r >= p ? r - p : r;
}
KERNEL power(const u64 *base, u64 *out, u64 exponent, int n) {
  int i = index_x();
  if (i >= n) return;
  u64 b = base[i], r = 1;
  for (u64 e = exponent; e; e >>= 1) {
    if (e & 1) r = product(r, b);
    b = product(b, b);
  }
  out[i] = r;
}

// Edit distance of two strings of 32 letters, the row in registers as bits (Myers).
KERNEL edit_distance(const u8 *a, const u8 *b, int *out, int n) {
  int i = index_x();
  if (i >= n) return;
  u32 pv = ~0u, mv = 0;
  int score = 32;
  for (int j = 0; j < 32; j++) {
    u32 eq = 0;
    for (int k = 0; k < 32; k++) eq |= (u32)(a[i * 32 + k] == b[i * 32 + j]) << k;
    u32 xv = eq | mv, xh = (((eq & pv) + pv) ^ pv) | eq, ph = mv | ~(xh | pv), mh = pv & xh;
    score += ph >> 31, score -= mh >> 31;
    ph = ph << 1 | 1, mh <<= 1;
    pv = mh | ~(xv | ph), mv = ph & xv;
  }
  out[i] = score;
}
