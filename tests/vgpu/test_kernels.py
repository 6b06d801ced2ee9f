"""Kernels from clang-19's HIP, a producer that is not ours, on both wave widths against numpy.

Protects: the initial register state, control flow, LDS, barriers, scratch, calls, atomics, flat apertures.
"""

from __future__ import annotations

import numpy as np
import pytest
from engine import CodeObject, EngineFault, compile_hip, have_clang19

pytestmark = pytest.mark.skipif(not have_clang19(), reason="clang-19 is not installed")

#: clang 19 does not know gfx950.
ARCHS = ["gfx942", "gfx1100", "gfx90a", "gfx906", "gfx900", "gfx908", "gfx1030", "gfx1151", "gfx1200", "gfx1201"]

HEAD = """
#define GLOBAL extern "C" __attribute__((global))
#define DEVICE __attribute__((device))
#define SHARED static __attribute__((shared))
typedef unsigned u32; typedef unsigned long long u64; typedef long long i64;
#define TX __builtin_amdgcn_workitem_id_x()
#define TY __builtin_amdgcn_workitem_id_y()
#define TZ __builtin_amdgcn_workitem_id_z()
#define BX __builtin_amdgcn_workgroup_id_x()
#define BY __builtin_amdgcn_workgroup_id_y()
#define BZ __builtin_amdgcn_workgroup_id_z()
#define NX __builtin_amdgcn_workgroup_size_x()
#define NY __builtin_amdgcn_workgroup_size_y()
#define NZ __builtin_amdgcn_workgroup_size_z()
DEVICE inline void barrier() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
"""

SOURCE = (
    HEAD
    + r"""
GLOBAL void vector_add(const float *a, const float *b, float *c, int n) {
  int i = BX * NX + TX;
  if (i < n) c[i] = a[i] + b[i];
}
GLOBAL void ids(u32 *out) {
  u32 block = (BZ * 2 + BY) * 3 + BX, item = (TZ * NY + TY) * NX + TX;
  out[block * NX * NY * NZ + item] = TX | TY << 8 | TZ << 16 | block << 24;
}
GLOBAL void matmul(const float *a, const float *b, float *c, int n) {
  SHARED float A[16][16], B[16][16];
  int x = BX * 16 + TX, y = BY * 16 + TY;
  float sum = 0;
  for (int k = 0; k < n; k += 16) {
    A[TY][TX] = a[y * n + k + TX];
    B[TY][TX] = b[(k + TY) * n + x];
    barrier();
    for (int j = 0; j < 16; j++) sum += A[TY][j] * B[j][TX];
    barrier();
  }
  c[y * n + x] = sum;
}
GLOBAL void reverse(u32 *data, int n) {   /* private array with run-time indices */
  u32 t[40];
  for (int k = 0; k < 40; k++) t[(k * 7 + TX) % 40] = data[TX * 40 + k];
  for (int k = 0; k < 40; k++) data[TX * 40 + k] = t[(n - 1 - k) % 40];
}
GLOBAL void private_bytes(unsigned char *out, int n) {   /* sub-dword and unaligned scratch */
  unsigned char t[64];
  for (int k = 0; k < 64; k++) t[(k * 5 + n) & 63] = (unsigned char)(k * 3 + TX);
  u64 word;
  __builtin_memcpy(&word, t + (TX % 7) + n, 8);
  __builtin_memcpy(out + TX * 8, &word, 8);
}
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
GLOBAL void histogram(const u32 *data, u32 *bins, int n) {
  SHARED u32 local[64];
  for (u32 k = TX; k < 64; k += NX) local[k] = 0;
  barrier();
  for (int i = BX * NX + TX; i < n; i += 8 * NX) __atomic_fetch_add(&local[data[i] & 63], 1, __ATOMIC_RELAXED);
  barrier();
  for (u32 k = TX; k < 64; k += NX) __atomic_fetch_add(&bins[k], local[k], __ATOMIC_RELAXED);
}
GLOBAL void collatz(const u32 *in, u32 *out) {   /* divergent loop, 64-bit arithmetic */
  u64 x = in[BX * NX + TX];
  u32 steps = 0;
  while (x > 1) { x = x & 1 ? 3 * x + 1 : x / 2; steps++; }
  out[BX * NX + TX] = steps;
}
GLOBAL void division(const i64 *a, const i64 *b, i64 *q, i64 *r) {
  int i = TX;
  q[i] = a[i] / b[i];
  r[i] = a[i] % b[i];
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
GLOBAL void f64_atomics(double *sum, u64 *low, int n) {
  __hip_atomic_fetch_add(sum, (double)TX, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
  __hip_atomic_fetch_min(low, (u64)(1000 - TX + BX), __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}
GLOBAL void trap(u32 *out) { if (out[0]) __builtin_trap(); out[1] = 1; }
GLOBAL void shuffle(const u32 *in, u32 *out) {
  out[TX] = __builtin_amdgcn_ds_bpermute(((TX * 5 + 3) & 31) * 4, in[TX]);
}
struct Big { int a[20]; float f; };
GLOBAL void by_value(float *out, struct Big s) { out[TX] = s.a[TX % 20] * s.f; }
"""
)


@pytest.fixture(scope="module", params=ARCHS)
def code(request: pytest.FixtureRequest) -> CodeObject:
    return CodeObject(compile_hip(SOURCE, request.param), request.param)


def test_vector_add(code: CodeObject) -> None:
    n = 1003
    a, b = (np.random.default_rng(k).random(n, np.float32) for k in (1, 2))
    c = np.zeros(n + 50, np.float32)
    code.run("vector_add", [8], [128], [a, b, c, n])
    assert np.array_equal(c[:n], a + b) and not c[n:].any()


def test_ids_in_three_dimensions(code: CodeObject) -> None:
    out = np.zeros(3 * 2 * 2 * 5 * 7 * 3, np.uint32)
    code.run("ids", [3, 2, 2], [5, 7, 3], [out])
    b, z, y, x = np.meshgrid(*(np.arange(k) for k in (12, 3, 7, 5)), indexing="ij")
    assert np.array_equal(out, (x | y << 8 | z << 16 | b << 24).astype(np.uint32).ravel())


def test_matmul_with_lds_and_barriers(code: CodeObject) -> None:
    rng = np.random.default_rng(5)
    a, b = (rng.integers(-8, 8, (64, 64)).astype(np.float32) for _ in range(2))
    c = np.zeros((64, 64), np.float32)
    code.run("matmul", [4, 4], [16, 16], [a, b, c, 64])
    assert np.array_equal(c, a @ b)


def test_private_array(code: CodeObject) -> None:
    data = np.arange(100 * 40, dtype=np.uint32)
    expected = data.reshape(100, 40).copy()
    for t in range(100):
        array = np.zeros(40, np.uint32)
        for k in range(40):
            array[(k * 7 + t) % 40] = expected[t, k]
        expected[t] = array[(40 - 1 - np.arange(40)) % 40]
    code.run("reverse", [1], [100], [data, 40])
    assert np.array_equal(data.reshape(100, 40), expected)


def test_private_bytes(code: CodeObject) -> None:
    out = np.zeros(70 * 8, np.uint8)
    code.run("private_bytes", [1], [70], [out, 3])
    for t in range(70):
        array = np.zeros(64, np.uint8)
        for k in range(64):
            array[(k * 5 + 3) & 63] = (k * 3 + t) & 255
        start = t % 7 + 3
        assert np.array_equal(out[t * 8 : t * 8 + 8], array[start : start + 8]), t


def test_recursion(code: CodeObject) -> None:
    out = np.zeros(90, np.uint32)
    code.run("recursion", [1], [90], [out], private=4096)
    fib = [0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89]
    assert np.array_equal(out, [fib[t % 12] for t in range(90)])


def test_function_pointers(code: CodeObject) -> None:
    out = np.zeros(80, np.uint32)
    code.run("pointers", [1], [80], [out], private=4096)
    assert np.array_equal(out, [[t + 1000 + t, t * (1000 + t), t ^ (1000 + t)][t % 3] for t in range(80)])


def test_histogram(code: CodeObject) -> None:
    data = np.random.default_rng(3).integers(0, 1 << 20, 5000).astype(np.uint32)
    bins = np.zeros(64, np.uint32)
    code.run("histogram", [8], [96], [data, bins, 5000])
    assert np.array_equal(bins, np.bincount(data & 63, minlength=64))


def test_divergent_loop(code: CodeObject) -> None:
    values = np.random.default_rng(4).integers(1, 1 << 20, 256).astype(np.uint32)
    out = np.zeros(256, np.uint32)
    code.run("collatz", [2], [128], [values, out])

    def steps(x: int) -> int:
        n = 0
        while x > 1:
            x, n = (3 * x + 1 if x & 1 else x // 2), n + 1
        return n

    assert np.array_equal(out, [steps(int(x)) for x in values])


def test_64_bit_division(code: CodeObject) -> None:
    rng = np.random.default_rng(6)
    a = rng.integers(-(1 << 62), 1 << 62, 64)
    b = rng.integers(-(1 << 62), 1 << 62, 64) >> rng.integers(0, 61, 64)
    b[b == 0] = 3
    q, r = np.zeros(64, np.int64), np.zeros(64, np.int64)
    code.run("division", [1], [64], [a, b, q, r])
    expected = [(abs(int(x)) // abs(int(y))) * (1 if (x < 0) == (y < 0) else -1) for x, y in zip(a, b, strict=True)]
    assert np.array_equal(q, expected)
    assert np.array_equal(r, a - np.array(expected) * b)


def test_switch(code: CodeObject) -> None:
    x = np.array([0, 1, 2, 3, 4, 9], np.uint32)
    out = np.zeros(6 * 64, np.uint32)
    code.run("select", [6], [64], [x, out])
    t = np.arange(64, dtype=np.uint32)
    expected = [t, t * t, ~t, t << 3, t // 3, np.full(64, 77, np.uint32)]
    assert np.array_equal(out.reshape(6, 64), expected)


def test_generic_pointers(code: CodeObject) -> None:
    out = np.zeros(64, np.uint32)
    code.run("generic", [1], [64], [out])
    assert np.array_equal(out, [[12 + t, 12 + t, 9 + t][t % 3] for t in range(64)])


def test_workgroups_that_wait_for_one_another(code: CodeObject) -> None:
    """More workgroups than threads, each spinning until all have arrived."""
    counter = np.zeros(1, np.uint32)
    out = np.zeros(12 * 70, np.uint32)
    code.run("rounds", [12], [70], [counter, out, 12])
    assert (out == 36).all()


def test_f64_and_64_bit_atomics(code: CodeObject) -> None:
    total, low = np.zeros(1), np.full(1, 1 << 60, np.uint64)
    code.run("f64_atomics", [10], [128], [total, low, 0])
    assert total[0] == 10 * sum(range(128)) and low[0] == 1000 - 127


def test_trap_ends_the_launch(code: CodeObject) -> None:
    out = np.zeros(2, np.uint32)
    code.run("trap", [1], [64], [out])
    assert out[1] == 1
    out[0] = 1
    with pytest.raises(EngineFault) as e:
        code.run("trap", [1], [64], [out])
    assert e.value.kind == "trap"


def test_bpermute(code: CodeObject) -> None:
    values = np.random.default_rng(8).integers(0, 1 << 32, 32, dtype=np.uint32)
    out = np.zeros(32, np.uint32)
    code.run("shuffle", [1], [32], [values, out])
    assert np.array_equal(out, values[(np.arange(32) * 5 + 3) & 31])


def test_struct_by_value(code: CodeObject) -> None:
    out = np.zeros(32, np.float32)
    struct_bytes = np.arange(20, dtype=np.int32).tobytes() + np.float32(2.5).tobytes()
    code.run("by_value", [1], [32], [out, struct_bytes])
    assert np.array_equal(out, (np.arange(32) % 20) * np.float32(2.5))
