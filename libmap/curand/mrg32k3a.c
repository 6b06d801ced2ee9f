/* States of MRG32k3a's threads: two vectors of three numbers, each modulo a prime of its own. A step is a matrix, and
 * threads are 2^76 steps apart. */
#include <string.h>

#include "sequence.h"

enum { ORDER = 3, APART = 76 };
typedef uint64_t vector[ORDER];
typedef vector matrix[ORDER];
static const uint64_t prime[2] = {4294967087u, 4294944443u};

static void apply(const vector *a, uint64_t modulus, vector v) {
  vector out = {0};
  for (int i = 0; i < ORDER; i++)
    for (int k = 0; k < ORDER; k++) out[i] = (out[i] + a[i][k] * v[k]) % modulus;
  memcpy(v, out, sizeof out);
}

static void square(matrix a, uint64_t modulus) {
  matrix columns;
  for (int i = 0; i < ORDER; i++) {
    for (int k = 0; k < ORDER; k++) columns[i][k] = a[k][i];
    apply((const vector *)a, modulus, columns[i]);
  }
  for (int i = 0; i < ORDER; i++)
    for (int k = 0; k < ORDER; k++) a[k][i] = columns[i][k];
}

void mrg32k3a_states(uint64_t seed, uint64_t offset, uint32_t threads, uint32_t *states) {
  enum { FACTOR = 12345 };
  uint64_t low = (uint32_t)seed ^ 0x55555555u, high = (uint32_t)(seed >> 32) ^ 0xaaaaaaaau;
  uint64_t turns = offset / threads, more = offset % threads;
  for (int part = 0; part < 2; part++) {
    uint64_t m = prime[part], outer = part ? high : low, inner = part ? low : high;
    matrix step = {{0, 1, 0}, {0, 0, 1}, {m - 810728, 1403580, 0}}, power;
    if (part) step[2][0] = m - 1370589, step[2][1] = 0, step[2][2] = 527612;
    vector v = {outer * FACTOR % m, inner * FACTOR % m, outer * FACTOR % m};
    for (int i = 0; i < ORDER && !seed; i++) v[i] = FACTOR;
    memcpy(power, step, sizeof power);
    for (int k = 0; k < APART; k++) {
      if (k < 64 && turns >> k & 1) apply((const vector *)power, m, v);
      square(power, m);
    }
    for (uint32_t t = 0; t < threads; t++) {
      vector own;
      memcpy(own, v, sizeof own);
      if (t < more) apply((const vector *)step, m, own);
      for (int w = 0; w < ORDER; w++) states[(size_t)(part * ORDER + w) * threads + t] = (uint32_t)own[w];
      apply((const vector *)power, m, v);
    }
  }
}
