/* Atomic operations, lane by lane. Memory that is visible to other threads is changed by compare-and-swap. */
#include <math.h>
#include <xmmintrin.h>

#include "bits.h"
#include "vmem.h"

static uint16_t half_add(uint16_t a, uint16_t b) {
  _Float16 x, y;
  memcpy(&x, &a, 2);
  memcpy(&y, &b, 2);
  x = (_Float16)((float)x + (float)y);   /* exact in f32, so rounded only once */
  memcpy(&a, &x, 2);
  return a;
}
static uint16_t bfloat_add(uint16_t a, uint16_t b) {
  float sum = as_f32((uint32_t)a << 16) + as_f32((uint32_t)b << 16);
  uint32_t x = f32_bits(sum);
  if (isnan(sum)) return (uint16_t)(x >> 16) | 0x40;
  return (uint16_t)((x + 0x7fff + (x >> 16 & 1)) >> 16);
}

/* min and max ignore a NaN when the other value is a number. */
static float min_f32(float a, float b) { return isnan(a) ? b : isnan(b) ? a : b < a ? b : a; }
static float max_f32(float a, float b) { return isnan(a) ? b : isnan(b) ? a : b > a ? b : a; }
static double min_f64(double a, double b) { return isnan(a) ? b : isnan(b) ? a : b < a ? b : a; }
static double max_f64(double a, double b) { return isnan(a) ? b : isnan(b) ? a : b > a ? b : a; }

#define INLINE inline __attribute__((always_inline))   /* so that an operation's loop over lanes does not contain the
                                                        * others' code */

/* The new value: old is the memory's, s the operand, t the second operand (comparand). Operations of both widths: */
#define INTEGER_RESULTS(bits)                                                                                     \
  case ATOMIC_SWAP: return s;                                                                                      \
  case ATOMIC_CMPSWAP: return old == t ? s : old;                                                                  \
  case ATOMIC_ADD: return old + s;                                                                                 \
  case ATOMIC_SUB: return old - s;                                                                                 \
  case ATOMIC_RSUB: return s - old;                                                                                \
  case ATOMIC_MIN_I: return (int##bits##_t)s < (int##bits##_t)old ? s : old;                                       \
  case ATOMIC_MIN_U: return s < old ? s : old;                                                                     \
  case ATOMIC_MAX_I: return (int##bits##_t)s > (int##bits##_t)old ? s : old;                                       \
  case ATOMIC_MAX_U: return s > old ? s : old;                                                                     \
  case ATOMIC_AND: return old & s;                                                                                 \
  case ATOMIC_OR: return old | s;                                                                                  \
  case ATOMIC_XOR: return old ^ s;                                                                                 \
  case ATOMIC_INC: return old >= s ? 0 : old + 1;                                                                  \
  case ATOMIC_DEC: return old == 0 || old > s ? s : old - 1;                                                       \
  case ATOMIC_MSKOR: return (old & ~s) | t;

static INLINE uint32_t result32(enum atomic_op op, uint32_t old, uint32_t s, uint32_t t) {
  switch (op) {
  INTEGER_RESULTS(32)
  case ATOMIC_CSUB: return old < s ? 0 : old - s;
  case ATOMIC_COND_SUB: return old >= s ? old - s : old;
  case ATOMIC_WRAP: return old >= s ? old - s : old + t;
  case ATOMIC_CMPSWAP_F: return as_f32(old) == as_f32(t) ? s : old;
  case ATOMIC_ADD_F: return f32_bits(as_f32(old) + as_f32(s));
  case ATOMIC_MIN_F: return f32_bits(min_f32(as_f32(old), as_f32(s)));
  case ATOMIC_MAX_F: return f32_bits(max_f32(as_f32(old), as_f32(s)));
  case ATOMIC_PK_ADD_F16:
    return half_add((uint16_t)old, (uint16_t)s) | (uint32_t)half_add((uint16_t)(old >> 16), (uint16_t)(s >> 16)) << 16;
  case ATOMIC_PK_ADD_BF16:
    return bfloat_add((uint16_t)old, (uint16_t)s) |
           (uint32_t)bfloat_add((uint16_t)(old >> 16), (uint16_t)(s >> 16)) << 16;
  }
  return old;
}

static INLINE uint64_t result64(enum atomic_op op, uint64_t old, uint64_t s, uint64_t t) {
  switch (op) {
  INTEGER_RESULTS(64)
  case ATOMIC_CMPSWAP_F: return as_f64(old) == as_f64(t) ? s : old;
  case ATOMIC_ADD_F: return f64_bits(as_f64(old) + as_f64(s));
  case ATOMIC_MIN_F: return f64_bits(min_f64(as_f64(old), as_f64(s)));
  case ATOMIC_MAX_F: return f64_bits(max_f64(as_f64(old), as_f64(s)));
  default: return old;
  }
}

/* update32 and update64: change memory and return the old value; *changed is set where the new one differs. */
#define UPDATE(bits)                                                                                              \
  static INLINE uint##bits##_t update##bits(uint64_t address, enum atomic_op op, uint##bits##_t s, uint##bits##_t t,      \
                                     bool shared, bool *changed) {                                                 \
    uint##bits##_t *p = (uint##bits##_t *)(uintptr_t)address, old, value;                                          \
    if (!shared) {                                                                                                 \
      old = *p;                                                                                                    \
      *p = value = result##bits(op, old, s, t);                                                                    \
    } else if (op == ATOMIC_ADD) {                                                                                 \
      old = __atomic_fetch_add(p, s, __ATOMIC_SEQ_CST);                                                            \
      value = old + s;                                                                                             \
    } else {                                                                                                       \
      old = __atomic_load_n(p, __ATOMIC_RELAXED);                                                                  \
      do value = result##bits(op, old, s, t);                                                                      \
      while (!__atomic_compare_exchange_n(p, &old, value, true, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));              \
    }                                                                                                              \
    *changed |= value != old;                                                                                      \
    return old;                                                                                                    \
  }
UPDATE(32)
UPDATE(64)
#undef UPDATE

struct operands {
  uint32_t *d;            /* old values, or NULL */
  const uint32_t *s, *t;
  bool shared;
};

static INLINE bool update_lanes(const struct lane_addresses *a, enum atomic_op op, unsigned bits, struct operands o) {
  bool changed = false;
  EACH_LANE(l, a->lanes) {
    if (bits == 32) {
      uint32_t old = update32(a->p[l], op, o.s[l], o.t[l], o.shared, &changed);
      if (o.d) o.d[l] = old;
    } else {
      uint64_t s = (uint64_t)o.s[W + l] << 32 | o.s[l], t = (uint64_t)o.t[W + l] << 32 | o.t[l];
      uint64_t old = update64(a->p[l], op, s, t, o.shared, &changed);
      if (o.d) o.d[l] = (uint32_t)old, o.d[W + l] = (uint32_t)(old >> 32);
    }
  }
  return changed;
}

/* A loop for each operation and width. */
static bool update_all(const struct lane_addresses *a, enum atomic_op op, unsigned bits, struct operands o) {
#define LOOP(op) case op: return bits == 32 ? update_lanes(a, op, 32, o) : update_lanes(a, op, 64, o);
  switch (op) {
  LOOP(ATOMIC_SWAP) LOOP(ATOMIC_CMPSWAP) LOOP(ATOMIC_ADD) LOOP(ATOMIC_SUB) LOOP(ATOMIC_RSUB) LOOP(ATOMIC_CSUB)
  LOOP(ATOMIC_MIN_I) LOOP(ATOMIC_MIN_U) LOOP(ATOMIC_MAX_I) LOOP(ATOMIC_MAX_U) LOOP(ATOMIC_AND) LOOP(ATOMIC_OR)
  LOOP(ATOMIC_XOR) LOOP(ATOMIC_INC) LOOP(ATOMIC_DEC) LOOP(ATOMIC_MSKOR) LOOP(ATOMIC_WRAP) LOOP(ATOMIC_CMPSWAP_F)
  LOOP(ATOMIC_ADD_F) LOOP(ATOMIC_MIN_F) LOOP(ATOMIC_MAX_F) LOOP(ATOMIC_PK_ADD_F16) LOOP(ATOMIC_PK_ADD_BF16)
  LOOP(ATOMIC_COND_SUB)
  }
#undef LOOP
  return false;
}

void VG(atomic_lanes)(struct wave *w, const struct inst *i, const struct lane_addresses *a, enum atomic_op op,
                      unsigned bits, bool returns, bool shared, unsigned data, unsigned data2) {
  if (__builtin_expect(w->weak != NULL, 0) && VG(weak_update)(w, i, a, op, bits, returns, data, data2)) return;
  struct operands o = {returns ? vgpr(w, i->dst) : NULL, vgpr(w, data), vgpr(w, data2), shared};
  enum { MXCSR_DEFAULT = 0x1f80 };   /* memory rounds to nearest and keeps denormals whatever MODE says */
  bool floating = op >= ATOMIC_CMPSWAP_F;
  if (floating) _mm_setcsr(MXCSR_DEFAULT);
  w->changes += update_all(a, op, bits, o);
  if (floating) _mm_setcsr(w->mxcsr);
}
