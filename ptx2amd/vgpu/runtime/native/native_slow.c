/* Lanes whose result a sequence leaves to C (SLOW in isa/native.py): the steps of divisions for operands that need
 * scaling, are zero, infinite or NaN. In: the frame's data[0] to [2] are the sources, data[3] the result to be
 * corrected, `lanes` the lanes. Out: `lanes` has the flags. */
#include "native_emit.h"
#include "valu.h"
#include "valu_math.h"

#define LANES_OF(f, l, all) for (uint64_t rest_ = (f)->lanes & (all), l; rest_ && (l = (uint64_t)__builtin_ctzll(rest_), true); rest_ &= rest_ - 1)
#define SLOW32(name, expression) \
  uint64_t native_##name(struct wave *w, const struct inst *i, struct frame *f, const uint32_t *v, struct native_site *s) { \
    (void)w, (void)i, (void)v, (void)s; \
    uint64_t flags = 0; \
    LANES_OF(f, l, 0xffff) { \
      float a = as_f32(f->data[0][l]), b = as_f32(f->data[1][l]), c = as_f32(f->data[2][l]); \
      uint32_t flag = 0; \
      f->data[3][l] = f32_bits(expression); \
      flags |= (uint64_t)flag << l; \
    } \
    f->lanes = flags; \
    return 1; \
  }
#define SLOW64(name, expression) \
  uint64_t native_##name(struct wave *w, const struct inst *i, struct frame *f, const uint32_t *v, struct native_site *s) { \
    (void)w, (void)i, (void)v, (void)s; \
    uint64_t flags = 0; \
    LANES_OF(f, l, 0xff) { \
      double a, b, c; \
      memcpy(&a, &f->data[0][2 * l], 8), memcpy(&b, &f->data[1][2 * l], 8), memcpy(&c, &f->data[2][2 * l], 8); \
      uint32_t flag = 0; \
      uint64_t r = f64_bits(expression); \
      memcpy(&f->data[3][2 * l], &r, 8); \
      flags |= (uint64_t)flag << l; \
    } \
    f->lanes = flags; \
    return 1; \
  }

static volatile const double one = 1.0;   /* opaque to the optimiser: quiets NaNs, flushes according to MODE */

SLOW32(v_div_scale_f32, div_scale_f32(a, b, c, &flag))
SLOW32(v_div_fmas_f32, (flag = 0, div_fmas_f32(a, b, c)))
SLOW32(v_div_fixup_f32, (flag = 0, div_fixup_f32(a, b, c) * (float)one))
SLOW64(v_div_scale_f64, div_scale_f64(a, b, c, &flag))
SLOW64(v_div_fmas_f64, (flag = 0, div_fmas_f64(a, b, c)))
SLOW64(v_div_fixup_f64, (flag = 0, div_fixup_f64(a, b, c) * one))
