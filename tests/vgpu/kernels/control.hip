// Control flow: calls, recursion, function pointers, divergence, jump tables, generic pointers, device variables.
DEVICE __attribute__((noinline)) u32 fibonacci(u32 n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
GLOBAL void recursion(u32 *out) { out[TX] = fibonacci(TX % 12); }
typedef u32 (*function)(u32, u32);
DEVICE __attribute__((noinline)) u32 f0(u32 a, u32 b) { return a + b; }
DEVICE __attribute__((noinline)) u32 f1(u32 a, u32 b) { return a * b; }
DEVICE __attribute__((noinline)) u32 f2(u32 a, u32 b) { return a ^ b; }
GLOBAL void pointers(u32 *out) {
  function table[3] = {f0, f1, f2};
  out[TX] = table[TX % 3](TX, 1000 + TX);
}
DEVICE function operations[3] = {f2, f0, f1};   /* addresses of code in data: relocations */
DEVICE u32 numbers[4] = {3, 1, 4, 1};
DEVICE u32 *where = &numbers[2];
DEVICE u32 calls = 0;
GLOBAL void device_variables(u32 *out) {
  out[TX] = operations[TX % 3](TX, *where) + numbers[TX & 3];
  __atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED);
}
GLOBAL void read_calls(u32 *out) { out[0] = calls; }
GLOBAL void collatz(const u32 *in, u32 *out) {   /* divergent loop, 64-bit arithmetic */
  u64 x = in[BX * NX + TX];
  u32 steps = 0;
  while (x > 1) { x = x & 1 ? 3 * x + 1 : x / 2; steps++; }
  out[BX * NX + TX] = steps;
}
GLOBAL void select(const u32 *in, u32 *out) {   /* a jump table or a tree of branches, uniform */
  u32 x = in[BX];
  switch (x) {
  case 0: x = TX; break;
  case 1: x = TX * TX; break;
  case 2: x = ~TX; break;
  case 3: x = TX << 3; break;
  case 4: x = TX / 3; break;
  default: x = 77;
  }
  out[BX * NX + TX] = x;
}
GLOBAL void interpreter(const u8 *program, const int *in, int *out) {   /* a divergent switch in a loop, a stack */
  int stack[8], top = 0;
  for (u32 at = TX % 3 * 8;; at++) {
    switch (program[at]) {
    case 0: stack[top++] = in[TX]; break;
    case 1: stack[top++] = (int)at; break;
    case 2: top--; stack[top - 1] += stack[top]; break;
    case 3: top--; stack[top - 1] *= stack[top]; break;
    case 4: top--; stack[top - 1] -= stack[top]; break;
    default: out[TX] = stack[0]; return;
    }
  }
}
DEVICE __attribute__((noinline)) void bump(u32 *p, u32 by) { *p += by; }
GLOBAL void generic(u32 *out) {   /* one pointer to three address spaces */
  SHARED u32 shared[64];
  u32 mine = 5;
  shared[TX] = 7;
  out[TX] = 9;
  u32 *p = TX % 3 == 0 ? &mine : TX % 3 == 1 ? &shared[TX] : &out[TX];
  bump(p, TX);
  u32 s = shared[TX];
  out[TX] = TX % 3 == 2 ? out[TX] : mine + s;
}
GLOBAL void rounds(u32 *counter, u32 *out, int blocks) {   /* workgroups that wait for one another */
  for (int round = 0; round < 3; round++) {
    if (TX == 0) {
      __atomic_fetch_add(counter, 1, __ATOMIC_SEQ_CST);
      while (__atomic_load_n(counter, __ATOMIC_SEQ_CST) < (u32)(blocks * (round + 1))) {}
    }
    barrier();
  }
  out[BX * NX + TX] = *counter;
}
GLOBAL void early_exit(u32 *out) {   /* waves that end before the others' barrier */
  SHARED u32 sum;
  if (TX == 0) sum = 0;
  barrier();
  if (TX >= 128) return;
  __atomic_fetch_add(&sum, TX, __ATOMIC_RELAXED);
  barrier();
  out[TX] = sum;
}
GLOBAL void trap(u32 *out) { if (out[0]) __builtin_trap(); out[1] = 1; }
GLOBAL void quicksort(int *data, int n) {   /* each thread its row, a stack of its own */
  int *a = data + TX * n, stack[32], top = 0;
  stack[top++] = 0;
  stack[top++] = n - 1;
  while (top) {
    int hi = stack[--top], lo = stack[--top];
    if (lo >= hi) continue;
    int pivot = a[(lo + hi) / 2], i = lo, j = hi;
    while (i <= j) {
      while (a[i] < pivot) i++;
      while (a[j] > pivot) j--;
      if (i <= j) { int t = a[i]; a[i++] = a[j]; a[j--] = t; }
    }
    if (j - lo > hi - i) { stack[top++] = lo; stack[top++] = j; stack[top++] = i; stack[top++] = hi; }
    else { stack[top++] = i; stack[top++] = hi; stack[top++] = lo; stack[top++] = j; }
  }
}
GLOBAL void edit_distance(const u8 *a, const u8 *b, u32 *out, int n) {   /* rows in private memory */
  u8 row[33];
  const u8 *s = a + TX * n, *t = b + TX * n;
  for (int k = 0; k <= n; k++) row[k] = (u8)k;
  for (int i = 0; i < n; i++) {
    u32 corner = row[0];
    row[0] = (u8)(i + 1);
    for (int k = 0; k < n; k++) {
      u32 above = row[k + 1], best = corner + (s[i] != t[k]);
      if (above + 1 < best) best = above + 1;
      if (row[k] + 1u < best) best = row[k] + 1;
      corner = above;
      row[k + 1] = (u8)best;
    }
  }
  out[TX] = row[n];
}
GLOBAL void wave_numbers(u32 *out) {   /* GFX12 has the wave's number in TTMP8 */
#if defined(__GFX12__)
  u32 word;
  asm volatile("s_mov_b32 %0, ttmp8" : "=s"(word));
  out[TX] = word >> 25 & 31;
#else
  out[TX] = TX / WAVE;
#endif
}
GLOBAL void clocks(u32 *out, int rounds) {
  u64 steady = __builtin_readsteadycounter(), cycles = __builtin_readcyclecounter();
  u32 x = TX;
  for (int k = 0; k < rounds; k++) x = x * 1664525u + out[TX];
  out[TX] = x;
  barrier();
  u64 later = __builtin_readsteadycounter();
  out[TX] = (later > steady) + 2 * (later - steady < 100000000000ull) + 4 * (__builtin_readcyclecounter() != cycles);
}
