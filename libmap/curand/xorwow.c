/* States of XORWOW's threads. Without its counter the generator is linear: a state is a vector of 160 bits, a step is a
 * matrix, and many steps are a power of it. Threads are 2^67 steps apart, which leaves the counter as it is. */
#include <string.h>

#include "sequence.h"

enum { WORDS = 5, BITS = 32 * WORDS, APART = 67 };
static const uint32_t INCREMENT = 362437;
typedef uint32_t vector[WORDS];

static void step(vector v) {
  uint32_t t = v[0] ^ (v[0] >> 2);
  memmove(v, v + 1, (WORDS - 1) * sizeof *v);
  v[WORDS - 1] = (v[WORDS - 2] ^ (v[WORDS - 2] << 4)) ^ (t ^ (t << 1));
}

/* `columns`: the images of single bits. */
static void apply(const vector *columns, vector v) {
  vector sum = {0};
  for (int i = 0; i < BITS; i++) {
    if (!(v[i / 32] >> i % 32 & 1)) continue;
    for (int w = 0; w < WORDS; w++) sum[w] ^= columns[i][w];
  }
  memcpy(v, sum, sizeof sum);
}

static void square(vector *columns) {
  vector old[BITS];
  memcpy(old, columns, sizeof old);
  for (int i = 0; i < BITS; i++) apply((const vector *)old, columns[i]);
}

void xorwow_states(uint64_t seed, uint64_t offset, uint32_t threads, uint32_t *states) {
  uint32_t low = (uint32_t)seed ^ 0xaad26b49u, high = (uint32_t)(seed >> 32) ^ 0xf7dcefddu;
  uint32_t t0 = 1099087573u * low, t1 = 2591861531u * high;
  uint64_t turns = offset / threads, more = offset % threads;
  vector v = {123456789u + t0, 362436069u ^ t0, 521288629u + t1, 88675123u ^ t1, 5783321u + t0}, power[BITS];
  uint32_t counter = 6615241u + t1 + t0 + (uint32_t)turns * INCREMENT;
  for (int i = 0; i < BITS; i++) {
    memset(power[i], 0, sizeof power[i]);
    power[i][i / 32] = 1u << i % 32;
    step(power[i]);
  }
  for (int k = 0; k < APART; k++) {
    if (k < 64 && turns >> k & 1) apply((const vector *)power, v);
    square(power);
  }
  for (uint32_t t = 0; t < threads; t++) {
    vector own;
    memcpy(own, v, sizeof own);
    if (t < more) step(own);
    for (int w = 0; w < WORDS; w++) states[(size_t)w * threads + t] = own[w];
    states[(size_t)WORDS * threads + t] = counter + (t < more ? INCREMENT : 0);
    apply((const vector *)power, v);
  }
}
