// Regions that GCC offloads (gcc_openmp_ops.py). Each prints "ok   name" or "FAIL name".
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

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

// simd: the lanes of a warp, in which they go their own ways.
static void lanes(void) {
  int steps[SMALL], last = -1;
  long sum = 0;
#pragma omp target map(from : steps) map(tofrom : sum, last)
#pragma omp simd reduction(+ : sum) lastprivate(last)
  for (int i = 0; i < SMALL; i++) {
    int n = i + 1, count = 0;
    while (n > 1) n = n % 2 ? 3 * n + 1 : n / 2, count++;
    steps[i] = count;
    sum += count;
    last = count * 2;
  }
  long want = 0;
  int wrong = 0, count = 0;
  for (int i = 0; i < SMALL; i++) {
    int n = i + 1;
    for (count = 0; n > 1; count++) n = n % 2 ? 3 * n + 1 : n / 2;
    wrong += steps[i] != count;
    want += count;
  }
  result("simd", !wrong && sum == want && last == count * 2);
}

static void combined(void) {
  double sum = 0, want = 0;
  int most = 0;
#pragma omp target teams distribute parallel for simd collapse(3) reduction(+ : sum) reduction(max : most) \
    num_teams(3) thread_limit(128)
  for (int i = 0; i < 13; i++)
    for (int j = 0; j < 7; j++)
      for (int k = 0; k < 11; k++) {
        sum += sqrt(i * 77 + j * 11 + k);
        most = (i ^ j ^ k) > most ? (i ^ j ^ k) : most;
      }
  for (int i = 0; i < 1001; i++) want += sqrt(i);
  result("collapse-and-simd", fabs(sum - want) < 1e-6 && most == 15);
}

static void atomics(void) {
  int bins[16] = {0}, order[1000], next = 0;
  float sum = 0;
#pragma omp target teams distribute parallel for map(tofrom : bins, next, sum) map(from : order)
  for (int i = 0; i < 1000; i++) {
    int mine;
#pragma omp atomic
    bins[i * 7 % 16]++;
#pragma omp atomic capture
    mine = next++;
#pragma omp atomic
    sum += 0.25f;
    order[mine] = i;
  }
  int wrong = next != 1000 || sum != 250;
  char seen[1000] = {0};
  for (int i = 0; i < 1000; i++) wrong += order[i] < 0 || order[i] >= 1000 || seen[order[i]]++;
  for (int i = 0; i < 16; i++) wrong += bins[i] != 62 + (i * 7 % 16 < 8);
  result("atomic-capture", !wrong);
}

struct body { double mass, at[3]; };

static void data(void) {
  struct body bodies[10];
  for (int i = 0; i < 10; i++) bodies[i] = (struct body){i, {i, 2 * i, 3 * i}};
  int factor = 3;
#pragma omp target enter data map(to : bodies[2 : 6])
#pragma omp target teams distribute parallel for firstprivate(factor)
  for (int i = 2; i < 8; i++) bodies[i].at[1] += factor * bodies[i].mass;
  int untouched = bodies[5].at[1] == 10;
#pragma omp target update from(bodies[5])
  int updated = bodies[5].at[1] == 25;
#pragma omp target exit data map(from : bodies[2 : 6])
  int wrong = 0;
  for (int i = 0; i < 10; i++) wrong += bodies[i].at[1] != (i >= 2 && i < 8 ? 5 * i : 2 * i);
  result("enter-update-exit", untouched && updated && !wrong);
}

static void pointers(void) {
  int device = omp_get_default_device(), host = omp_get_initial_device(), back[SMALL], wrong = 0;
  int *there = omp_target_alloc(sizeof back, device);
#pragma omp target teams distribute parallel for is_device_ptr(there)
  for (int i = 0; i < SMALL; i++) there[i] = i * i;
  wrong += omp_target_memcpy(back, there, sizeof back, 0, 0, host, device);
  omp_target_free(there, device);
  for (int i = 0; i < SMALL; i++) wrong += back[i] != i * i;
  result("device-memory", there && !wrong);
}

static void schedules(void) {
  int sums[3] = {0};
#pragma omp target map(tofrom : sums)
#pragma omp parallel
  {
#pragma omp for schedule(dynamic, 3) reduction(+ : sums[0])
    for (int i = 0; i < 100; i++) sums[0] += i;
#pragma omp for schedule(guided) reduction(+ : sums[1])
    for (int i = 0; i < 200; i++) sums[1] += i;
#pragma omp for ordered schedule(static, 1)
    for (int i = 0; i < 20; i++) {
#pragma omp ordered
      sums[2] = sums[2] * 3 % 1009 + i;
    }
  }
  int want = 0;
  for (int i = 0; i < 20; i++) want = want * 3 % 1009 + i;
  result("schedules-and-ordered", sums[0] == 4950 && sums[1] == 19900 && sums[2] == want);
}

static void tasks(void) {
  long fibonacci = 0, total = 0;
#pragma omp target map(tofrom : fibonacci, total)
#pragma omp parallel num_threads(4)
#pragma omp single
  {
    long a = 0, b = 1;
    for (int i = 0; i < 20; i++) {
#pragma omp task depend(inout : a, b) shared(a, b)
      {
        long c = a + b;
        a = b;
        b = c;
      }
    }
    for (int i = 0; i < 10; i++) {
#pragma omp task shared(total) firstprivate(i)
#pragma omp atomic
      total += i;
    }
#pragma omp taskwait
    fibonacci = a;
  }
  result("tasks", fibonacci == 6765 && total == 45);
}

static void asynchronous(void) {
  int first[SMALL], second[SMALL], wrong = 0;
#pragma omp target teams distribute parallel for map(from : first) depend(out : first) nowait
  for (int i = 0; i < SMALL; i++) first[i] = i + 1;
#pragma omp target teams distribute parallel for map(to : first) map(from : second) depend(in : first) nowait
  for (int i = 0; i < SMALL; i++) second[i] = first[i] * first[i];
#pragma omp taskwait
  for (int i = 0; i < SMALL; i++) wrong += second[i] != (i + 1) * (i + 1);
  result("nowait-and-depend", !wrong);
}

static void memory(void) {
  int sum = 0;
#pragma omp target map(tofrom : sum)
  {
    int *list = malloc(100 * sizeof *list);
    for (int i = 0; i < 100; i++) list[i] = i;
    for (int i = 0; i < 100; i++) sum += list[i];
    free(list);
    printf("sum %d in a %s\n", sum, "region");
  }
  result("malloc-and-printf", sum == 4950);
}

static void teams(void) {
  int where[8] = {0}, teams = 0;
#pragma omp target teams num_teams(8) map(tofrom : where, teams)
  {
    where[omp_get_team_num()] = omp_get_team_num() + 1;
    if (!omp_get_team_num()) teams = omp_get_num_teams();
  }
  int wrong = teams != 8;
  for (int i = 0; i < 8; i++) wrong += where[i] != i + 1;
  result("teams", !wrong);
}

int main(void) {
  on_the_device();
  loop();
  reductions();
  stencil();
  parallel();
  functions();
  lanes();
  combined();
  atomics();
  data();
  pointers();
  schedules();
  tasks();
  asynchronous();
  memory();
  teams();
  return failures;
}
