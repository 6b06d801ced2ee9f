/* Shapes of the conversions in valu_scaled.c, as in the rows' SCALED(...). */
#ifndef PTX2AMD_VGPU_VALU_SCALED_H
#define PTX2AMD_VGPU_VALU_SCALED_H

#include "small_float.h"

enum wide_type { WIDE_f32, WIDE_f16, WIDE_bf16 };
struct scaled_shape {
  enum small_type small;
  enum wide_type wide;
  uint8_t count;      /* of values */
  uint8_t sources;    /* operands that hold them */
  bool stochastic;    /* the next operand is the seed */
};
const struct inst *VG(valu_narrow)(struct wave *w, const struct inst *i, const struct scaled_shape *shape);
const struct inst *VG(valu_widen)(struct wave *w, const struct inst *i, const struct scaled_shape *shape);
#endif
