// Regions that GCC offloads (gcc_openmp_ops.py). Each prints "ok   name" or "FAIL name".
#include <math.h>
#include <omp.h>
#include <stdio.h>

enum { N = 20000, SMALL = 64 };
static float a[N];
static double grid[SMALL][SMALL], next[SMALL][SMALL];
#pragma omp declare target
static int table[4] = {2, 3, 5, 7};
static int power(int base, int n) { return n ? base * power(base, n - 1) : 1; }
#pragma omp end declare target

static int failures;
static void result(const char *name, int right) {
  printf("%s %s\n", right ? "ok  " : "FAIL", name);
  fflush(stdout);
  failures += !right;
}

static void on_the_device(void) {
  int initial = 1;
#pragma omp target map(from : initial)
  initial = omp_is_initial_device();
  result("on-the-device", !initial);
}

static void loop(void) {
#pragma omp target teams distribute parallel for map(from : a)
  for (int i = 0; i < N; i++) a[i] = i * 0.5f;
  int wrong = 0;
  for (int i = 0; i < N; i++) wrong += a[i] != i * 0.5f;
  result("loop", !wrong);
}

static void reductions(void) {
  long sum = 0;
  double largest = 0;
#pragma omp target teams distribute parallel for reduction(+ : sum) reduction(max : largest)
  for (int i = 0; i < N; i++) {
    sum += i;
    largest = fmax(largest, sin(i * 0.01));
  }
  double want = 0;
  for (int i = 0; i < N; i++) want = fmax(want, sin(i * 0.01));
  result("reductions", sum == (long)N * (N - 1) / 2 && fabs(largest - want) < 1e-12);
}

static void stencil(void) {
  for (int i = 0; i < SMALL; i++) grid[0][i] = i;
#pragma omp target data map(tofrom : grid) map(alloc : next)
  for (int step = 0; step < 3; step++) {
#pragma omp target teams distribute parallel for collapse(2)
    for (int y = 1; y < SMALL - 1; y++)
      for (int x = 1; x < SMALL - 1; x++)
        next[y][x] = (grid[y - 1][x] + grid[y + 1][x] + grid[y][x - 1] + grid[y][x + 1]) / 4;
#pragma omp target teams distribute parallel for collapse(2)
    for (int y = 1; y < SMALL - 1; y++)
      for (int x = 1; x < SMALL - 1; x++) grid[y][x] = next[y][x];
  }
  static double want[SMALL][SMALL], other[SMALL][SMALL];
  for (int i = 0; i < SMALL; i++) want[0][i] = i;
  int wrong = 0;
  for (int step = 0; step < 3; step++) {
    for (int y = 1; y < SMALL - 1; y++)
      for (int x = 1; x < SMALL - 1; x++)
        other[y][x] = (want[y - 1][x] + want[y + 1][x] + want[y][x - 1] + want[y][x + 1]) / 4;
    for (int y = 1; y < SMALL - 1; y++)
      for (int x = 1; x < SMALL - 1; x++) want[y][x] = other[y][x];
  }
  for (int y = 0; y < SMALL; y++)
    for (int x = 0; x < SMALL; x++) wrong += fabs(want[y][x] - grid[y][x]) > 1e-12;
  result("target-data", !wrong);
}

static void parallel(void) {
  int count = 0, threads = 0, made = 0;
#pragma omp target map(tofrom : count, threads, made)
  {
#pragma omp parallel num_threads(8)
    {
#pragma omp atomic
      count += omp_get_thread_num() + 1;
#pragma omp critical
      threads++;
#pragma omp barrier
#pragma omp single
      made = count;
    }
  }
  result("parallel-atomic-critical", threads > 1 && count == threads * (threads + 1) / 2 && made == count);
}

static void functions(void) {
  int got[4];
#pragma omp target map(from : got)
  for (int i = 0; i < 4; i++) got[i] = power(table[i], i + 1);
  result("functions-and-variables", got[0] == 2 && got[1] == 9 && got[2] == 125 && got[3] == 2401);
}

int main(void) {
  on_the_device();
  loop();
  reductions();
  stencil();
  parallel();
  functions();
  return failures;
}
