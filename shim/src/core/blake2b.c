#include "blake2b.h"

#include <string.h>

static const uint64_t iv[8] = {0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1,
                               0x510e527fade682d1, 0x9b05688c2b3e6c1f, 0x1f83d9abfb41bd6b, 0x5be0cd19137e2179};

static const unsigned char sigma[10][16] = {
    {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
    {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4}, {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
    {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13}, {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
    {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11}, {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
    {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5}, {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0},
};

static inline uint64_t rotate(uint64_t x, int n) { return x >> n | x << (64 - n); }

#define MIX(a, b, c, d, x, y) do { \
    v[a] += v[b] + (x); v[d] = rotate(v[d] ^ v[a], 32); v[c] += v[d]; v[b] = rotate(v[b] ^ v[c], 24); \
    v[a] += v[b] + (y); v[d] = rotate(v[d] ^ v[a], 16); v[c] += v[d]; v[b] = rotate(v[b] ^ v[c], 63); \
  } while (0)

static void compress(struct blake2b *b, const unsigned char *block, uint64_t last) {
  uint64_t v[16], m[16];
  memcpy(m, block, sizeof m);
  for (int i = 0; i < 8; i++) v[i] = b->h[i], v[i + 8] = iv[i];
  v[12] ^= b->count;
  v[14] ^= last;
  for (int round = 0; round < 12; round++) {
    const unsigned char *s = sigma[round % 10];
    MIX(0, 4, 8, 12, m[s[0]], m[s[1]]);
    MIX(1, 5, 9, 13, m[s[2]], m[s[3]]);
    MIX(2, 6, 10, 14, m[s[4]], m[s[5]]);
    MIX(3, 7, 11, 15, m[s[6]], m[s[7]]);
    MIX(0, 5, 10, 15, m[s[8]], m[s[9]]);
    MIX(1, 6, 11, 12, m[s[10]], m[s[11]]);
    MIX(2, 7, 8, 13, m[s[12]], m[s[13]]);
    MIX(3, 4, 9, 14, m[s[14]], m[s[15]]);
  }
  for (int i = 0; i < 8; i++) b->h[i] ^= v[i] ^ v[i + 8];
}

void blake2b_start(struct blake2b *b) {
  memset(b, 0, sizeof *b);
  memcpy(b->h, iv, sizeof iv);
  b->h[0] ^= 0x01010000 ^ 32; /* digest of 32 bytes, no key, one leaf */
}

void blake2b_add(struct blake2b *b, const void *data, size_t size) {
  const unsigned char *p = data;
  while (size) {
    if (b->used == sizeof b->block) { /* a full block is kept back: the last one is compressed differently */
      b->count += sizeof b->block;
      compress(b, b->block, 0);
      b->used = 0;
    }
    if (!b->used)
      for (; size > sizeof b->block; p += sizeof b->block, size -= sizeof b->block) {
        b->count += sizeof b->block;
        compress(b, p, 0);
      }
    size_t n = sizeof b->block - b->used < size ? sizeof b->block - b->used : size;
    memcpy(b->block + b->used, p, n);
    b->used += n, p += n, size -= n;
  }
}

void blake2b_end(struct blake2b *b, unsigned char digest[32]) {
  b->count += b->used;
  memset(b->block + b->used, 0, sizeof b->block - b->used);
  compress(b, b->block, ~0ull);
  memcpy(digest, b->h, 32);
}

void hex32(const unsigned char digest[32], char text[65]) {
  for (int i = 0; i < 32; i++) {
    text[2 * i] = "0123456789abcdef"[digest[i] >> 4];
    text[2 * i + 1] = "0123456789abcdef"[digest[i] & 15];
  }
  text[64] = 0;
}
