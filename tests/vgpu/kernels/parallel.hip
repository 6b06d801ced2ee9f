// Threads together: LDS, barriers, cross-lane operations, atomics.
GLOBAL void reduce(const int *in, int *out, int n) {
  SHARED int part[256];
  int sum = 0;
  for (int i = BX * NX + TX; i < n; i += GX * NX) sum += in[i];
  part[TX] = sum;
  barrier();
  for (u32 half = NX / 2; half; half /= 2) {
    if (TX < half) part[TX] += part[TX + half];
    barrier();
  }
  if (TX == 0) out[BX] = part[0];
}
GLOBAL void reduce_last_block(const u32 *in, u32 *parts, u32 *done, u32 *out, int n) {   /* the last block adds up */
  SHARED u32 sum, last;
  if (TX == 0) sum = 0;
  barrier();
  u32 own = 0;
  for (int i = BX * NX + TX; i < n; i += GX * NX) own += in[i];
  __atomic_fetch_add(&sum, own, __ATOMIC_RELAXED);
  barrier();
  if (TX == 0) {
    parts[BX] = sum;
    last = __atomic_fetch_add(done, 1, __ATOMIC_ACQ_REL) == GX - 1;
  }
  barrier();
  if (last && TX == 0) {
    u32 all = 0;
    for (u32 k = 0; k < GX; k++) all += __atomic_load_n(&parts[k], __ATOMIC_RELAXED);
    *out = all;
  }
}
DEVICE int from_lane(int value, u32 lane) { return __builtin_amdgcn_ds_bpermute((int)(lane * 4), value); }
DEVICE u32 lane_id() { return __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0)); }
GLOBAL void wave_sums(const int *in, int *out) {   /* a butterfly in groups of 32 */
  int x = in[BX * NX + TX];
  for (u32 step = 1; step < 32; step *= 2) x += from_lane(x, lane_id() ^ step);
  out[BX * NX + TX] = x;
}
GLOBAL void swizzles(const int *in, int *out) {
  int x = in[TX];
  out[TX] = __builtin_amdgcn_ds_swizzle(x, 0x041f);                                   /* lane ^ 1 */
  out[TX + NX] = __builtin_amdgcn_mov_dpp(x, 0x1b, 0xf, 0xf, true);                   /* quads backwards */
  out[TX + 2 * NX] = __builtin_amdgcn_update_dpp(-1, x, 0x111, 0xf, 0xf, false);      /* rows to the right by 1 */
  out[TX + 3 * NX] = __builtin_amdgcn_mov_dpp(x, 0x140, 0xf, 0xf, true);              /* rows backwards */
}
GLOBAL void compact(const u32 *in, u32 *out, u32 *count) {   /* places by ballot and mbcnt */
  u32 i = BX * NX + TX;
  bool keep = in[i] % 3 == 0;
  u64 votes = BALLOT(keep);
  u32 before = __builtin_amdgcn_mbcnt_hi((u32)(votes >> 32), __builtin_amdgcn_mbcnt_lo((u32)votes, 0));
  u32 base = 0;
  if (lane_id() == 0) base = __atomic_fetch_add(count, (u32)__builtin_popcountll(votes), __ATOMIC_RELAXED);
  base = (u32)__builtin_amdgcn_readfirstlane((int)base);
  if (keep) out[base + before] = in[i];
}
GLOBAL void scan(const u32 *in, u32 *out, int n) {   /* inclusive, one block */
  SHARED u32 t[2][512];
  u32 from = 0;
  t[0][TX] = TX < n ? in[TX] : 0;
  barrier();
  for (u32 step = 1; step < NX; step *= 2) {
    t[!from][TX] = t[from][TX] + (TX >= step ? t[from][TX - step] : 0);
    from = !from;
    barrier();
  }
  if (TX < n) out[TX] = t[from][TX];
}
GLOBAL void histogram(const u32 *data, u32 *bins, int n) {
  SHARED u32 local[64];
  for (u32 k = TX; k < 64; k += NX) local[k] = 0;
  barrier();
  for (int i = BX * NX + TX; i < n; i += 8 * NX) __atomic_fetch_add(&local[data[i] & 63], 1, __ATOMIC_RELAXED);
  barrier();
  for (u32 k = TX; k < 64; k += NX) __atomic_fetch_add(&bins[k], local[k], __ATOMIC_RELAXED);
}
GLOBAL void bitonic_sort(u32 *data) {
  SHARED u32 t[256];
  t[TX] = data[BX * NX + TX];
  for (u32 size = 2; size <= NX; size *= 2)
    for (u32 step = size / 2; step; step /= 2) {
      barrier();
      u32 other = TX ^ step, a = t[TX], b = t[other];
      bool up = (TX & size) == 0, lower = TX < other;
      barrier();
      t[TX] = (lower == up) == (a < b) ? a : b;
    }
  barrier();
  data[BX * NX + TX] = t[TX];
}
GLOBAL void radix_sort(u32 *data, int n) {   /* one block, a bit at a time, dynamic LDS */
  extern __attribute__((shared)) u32 t[];
  u32 *flags = t + n, *moved = flags + n;
  t[TX] = data[TX];
  for (u32 bit = 0; bit < 32; bit++) {
    u32 x = t[TX], one = x >> bit & 1;
    flags[TX] = !one;
    barrier();
    for (u32 step = 1; step < n; step *= 2) {
      u32 add = TX >= step ? flags[TX - step] : 0;
      barrier();
      flags[TX] += add;
      barrier();
    }
    u32 zeros = flags[n - 1];
    moved[one ? zeros + TX - flags[TX] : flags[TX] - 1] = x;
    barrier();
    t[TX] = moved[TX];
    barrier();
  }
  data[TX] = t[TX];
}
GLOBAL void transpose(const float *in, float *out, int w, int h) {
  SHARED float tile[16][17];
  int x = BX * 16 + TX, y = BY * 16 + TY;
  if (x < w && y < h) tile[TY][TX] = in[y * w + x];
  barrier();
  x = BY * 16 + TX;
  y = BX * 16 + TY;
  if (x < h && y < w) out[y * h + x] = tile[TX][TY];
}
GLOBAL void dynamic_lds(const u16 *in, u16 *out, int n) {
  extern __attribute__((shared)) u16 words[];
  for (int i = TX; i < n; i += NX) words[i] = in[i];
  barrier();
  for (int i = TX; i < n; i += NX) out[i] = words[n - 1 - i];
}
#define RELAXED(op, p, v) __hip_atomic_fetch_##op(p, v, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT)
GLOBAL void atomics(u32 *w, u64 *q, float *f, double *d, int *s, u64 *olds) {
  u32 i = BX * NX + TX;
  RELAXED(add, &w[0], i); RELAXED(or, &w[1], 1u << (i & 31)); RELAXED(and, &w[2], ~(1u << (i % 20)));
  RELAXED(xor, &w[3], i * 2654435761u); RELAXED(min, &w[4], i ^ 0x155u); RELAXED(max, &w[5], i ^ 0x155u);
  RELAXED(min, &s[0], (int)i - 300); RELAXED(max, &s[1], (int)i - 300); RELAXED(add, &s[2], -(int)i);
  RELAXED(add, &q[0], (u64)i << 30); RELAXED(or, &q[1], 1ull << (i & 63)); RELAXED(xor, &q[2], i * 0x9E3779B97F4A7C15ull);
  RELAXED(min, &q[3], (u64)i << 33 ^ 0x15500000000ull); RELAXED(max, &q[4], (u64)i << 33 ^ 0x15500000000ull);
  RELAXED(add, &f[0], (float)(i & 15)); RELAXED(add, &d[0], i * 0.5); RELAXED(min, &d[1], 5.0 - i); RELAXED(max, &f[1], i * 0.25f);
  u32 old = __hip_atomic_load(&w[6], __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);   /* compare and swap */
  while (!__hip_atomic_compare_exchange_weak(&w[6], &old, old + i % 7, __ATOMIC_RELAXED, __ATOMIC_RELAXED,
                                             __HIP_MEMORY_SCOPE_AGENT)) {}
  u64 expected = 0;
  __hip_atomic_compare_exchange_strong(&q[5], &expected, 12345ull, __ATOMIC_RELAXED, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
  olds[i] = RELAXED(add, &q[6], 1ull);   /* each old value once */
}
GLOBAL void lds_atomics(u32 *out, float *fout) {
  SHARED u32 w[6];
  SHARED u64 q[2];
  SHARED float f[1];
  if (TX == 0) { w[0] = w[1] = w[3] = w[4] = w[5] = 0; w[2] = ~0u; q[0] = q[1] = 0; f[0] = 0; }
  barrier();
#define LOCAL(op, p, v) __hip_atomic_fetch_##op(p, v, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP)
  LOCAL(add, &w[0], TX); LOCAL(max, &w[1], TX ^ 0x55); LOCAL(min, &w[2], TX ^ 0x55); LOCAL(xor, &w[3], TX * 2654435761u);
  LOCAL(or, &w[4], 1u << (TX & 31)); LOCAL(add, &q[0], (u64)TX << 32); LOCAL(max, &q[1], (u64)TX << 40); LOCAL(add, &f[0], 1.5f);
  __hip_atomic_exchange(&w[5], 77u, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP);
  barrier();
  if (TX < 6) out[TX] = w[TX];
  if (TX < 2) { out[6 + 2 * TX] = (u32)q[TX]; out[7 + 2 * TX] = (u32)(q[TX] >> 32); }
  if (TX == 0) *fout = f[0];
}
GLOBAL void lock(u32 *word, u32 *value) {   /* one lane of each wave takes a lock */
  if (lane_id() == 0) {
    while (__atomic_exchange_n(word, 1, __ATOMIC_ACQUIRE)) __builtin_amdgcn_s_sleep(1);
    *value = *value * 3 % 1000003 + 1;
    __atomic_store_n(word, 0, __ATOMIC_RELEASE);
  }
}
GLOBAL void levels(const u32 *rows, const u32 *columns, u32 *level, u32 *changed, u32 now, int n) {   /* one step of a search */
  u32 i = BX * NX + TX;
  if (i >= n || level[i] != now) return;
  for (u32 k = rows[i]; k < rows[i + 1]; k++) {
    u32 unseen = ~0u;
    if (__atomic_compare_exchange_n(&level[columns[k]], &unseen, now + 1, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
      __atomic_fetch_add(changed, 1, __ATOMIC_RELAXED);
  }
}
