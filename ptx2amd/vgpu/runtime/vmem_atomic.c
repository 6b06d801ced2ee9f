/* Atomic operations, lane after lane. Memory that other threads see is changed by compare-and-swap. */
#include <math.h>
#include <xmmintrin.h>

#include "vmem.h"

static float as_float(uint32_t x) {
  float f;
  memcpy(&f, &x, 4);
  return f;
}
static uint32_t from_float(float f) {
  uint32_t x;
  memcpy(&x, &f, 4);
  return x;
}
static double as_double(uint64_t x) {
  double f;
  memcpy(&f, &x, 8);
  return f;
}
static uint64_t from_double(double f) {
  uint64_t x;
  memcpy(&x, &f, 8);
  return x;
}
static uint16_t half_add(uint16_t a, uint16_t b) {
  _Float16 x, y;
  memcpy(&x, &a, 2);
  memcpy(&y, &b, 2);
  x = (_Float16)((float)x + (float)y);   /* exact in f32, so rounded once */
  memcpy(&a, &x, 2);
  return a;
}
static uint16_t bfloat_add(uint16_t a, uint16_t b) {
  float sum = as_float((uint32_t)a << 16) + as_float((uint32_t)b << 16);
  uint32_t x = from_float(sum);
  if (isnan(sum)) return (uint16_t)(x >> 16) | 0x40;
  return (uint16_t)((x + 0x7fff + (x >> 16 & 1)) >> 16);
}

/* min and max ignore a NaN when the other value is a number. */
static float min_f32(float a, float b) { return isnan(a) ? b : isnan(b) ? a : b < a ? b : a; }
static float max_f32(float a, float b) { return isnan(a) ? b : isnan(b) ? a : b > a ? b : a; }
static double min_f64(double a, double b) { return isnan(a) ? b : isnan(b) ? a : b < a ? b : a; }
static double max_f64(double a, double b) { return isnan(a) ? b : isnan(b) ? a : b > a ? b : a; }

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

static uint32_t result32(enum atomic_op op, uint32_t old, uint32_t s, uint32_t t) {
  switch (op) {
  INTEGER_RESULTS(32)
  case ATOMIC_CSUB: return old < s ? 0 : old - s;
  case ATOMIC_COND_SUB: return old >= s ? old - s : old;
  case ATOMIC_WRAP: return old >= s ? old - s : old + t;
  case ATOMIC_CMPSWAP_F: return as_float(old) == as_float(t) ? s : old;
  case ATOMIC_ADD_F: return from_float(as_float(old) + as_float(s));
  case ATOMIC_MIN_F: return from_float(min_f32(as_float(old), as_float(s)));
  case ATOMIC_MAX_F: return from_float(max_f32(as_float(old), as_float(s)));
  case ATOMIC_PK_ADD_F16:
    return half_add((uint16_t)old, (uint16_t)s) | (uint32_t)half_add((uint16_t)(old >> 16), (uint16_t)(s >> 16)) << 16;
  case ATOMIC_PK_ADD_BF16:
    return bfloat_add((uint16_t)old, (uint16_t)s) |
           (uint32_t)bfloat_add((uint16_t)(old >> 16), (uint16_t)(s >> 16)) << 16;
  }
  return old;
}

static uint64_t result64(enum atomic_op op, uint64_t old, uint64_t s, uint64_t t) {
  switch (op) {
  INTEGER_RESULTS(64)
  case ATOMIC_CMPSWAP_F: return as_double(old) == as_double(t) ? s : old;
  case ATOMIC_ADD_F: return from_double(as_double(old) + as_double(s));
  case ATOMIC_MIN_F: return from_double(min_f64(as_double(old), as_double(s)));
  case ATOMIC_MAX_F: return from_double(max_f64(as_double(old), as_double(s)));
  default: return old;
  }
}

/* update32 and update64: change memory and return the old value; *changed is set where the new one differs. */
#define UPDATE(bits)                                                                                              \
  static uint##bits##_t update##bits(uint64_t address, enum atomic_op op, uint##bits##_t s, uint##bits##_t t,      \
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

void VG(atomic_lanes)(struct wave *w, const struct inst *i, const struct lane_addresses *a, enum atomic_op op,
                      unsigned bits, bool returns, bool shared, unsigned data, unsigned data2) {
  uint32_t *d = vgpr(w, i->dst);
  const uint32_t *s = vgpr(w, data), *t = vgpr(w, data2);
  enum { MXCSR_DEFAULT = 0x1f80 };   /* memory rounds to nearest and keeps denormals whatever MODE says */
  bool floating = op >= ATOMIC_CMPSWAP_F, changed = false;
  if (floating) _mm_setcsr(MXCSR_DEFAULT);
  if (bits == 32) {
    EACH_LANE(l, a->lanes) {
      uint32_t old = update32(a->p[l], op, s[l], t[l], shared, &changed);
      if (returns) d[l] = old;
    }
  } else {
    EACH_LANE(l, a->lanes) {
      uint64_t old = update64(a->p[l], op, (uint64_t)s[W + l] << 32 | s[l], (uint64_t)t[W + l] << 32 | t[l], shared,
                              &changed);
      if (returns) {
        d[l] = (uint32_t)old;
        d[W + l] = (uint32_t)(old >> 32);
      }
    }
  }
  if (floating) _mm_setcsr(w->mxcsr);
  w->changes += changed;
}
