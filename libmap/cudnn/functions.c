/* What graphs compute number by number, and sums, as PTX. */
#include "program.h"
#include "ptx.h"

enum { F = 1 << CUDNN_F32, D = 1 << CUDNN_F64, I = 1 << CUDNN_S64, FD = F | D, ALL = F | D | I };
enum { LOWER_CLIP = 3, UPPER_CLIP, LOWER_SLOPE, ELU_ALPHA, SOFTPLUS_BETA, SWISH_BETA }; /* attributes */

#define COMPARES(mode, operation) {mode, 2, ALL, "setp." operation ".$ p, x, b; selp.$ y, one, zero, p;", {{0}}}
#define RELU_SETTINGS {{LOWER_CLIP, 0}, {UPPER_CLIP, __builtin_inf()}, {LOWER_SLOPE, 0}}

static const struct cudnn_function functions[] = {
  {0, 2, ALL, "add.$ y, x, b;", {{0}}},
  {1, 2, FD, "mul.$ y, x, b;", {{0}}},
  {1, 2, I, "mul.lo.$ y, x, b;", {{0}}},
  {2, 2, ALL, "min.$ y, x, b;", {{0}}},
  {3, 2, ALL, "max.$ y, x, b;", {{0}}},
  {4, 1, FD, "sqrt.rn.$ y, x;", {{0}}},
  {5, 2, FD, "fma.rn.$ y, b, b, x;", {{0}}},
  {6, 2, FD, "div.rn.$ y, x, b;", {{0}}},
  {9, 2, ALL, "sub.$ y, x, b;", {{0}}},
  {10, 1, ALL, "abs.$ y, x;", {{0}}},
  {11, 1, FD, "cvt.rpi.$.$ y, x;", {{0}}},
  {12, 1, F, "call (y), Cos, (x);", {{0}}},
  {13, 1, F, "call (y), Exp, (x);", {{0}}},
  {14, 1, FD, "cvt.rmi.$.$ y, x;", {{0}}},
  {15, 1, F, "call (y), Log, (x);", {{0}}},
  {16, 1, ALL, "neg.$ y, x;", {{0}}},
  {17, 1, FD, "sqrt.rn.$ y, x; rcp.rn.$ y, y;", {{0}}},
  {18, 1, F, "call (y), Sin, (x);", {{0}}},
  {19, 1, F, "call (y), Sin, (x); call (f0), Cos, (x); div.rn.f32 y, y, f0;", {{0}}},
  {20, 1, F, "call (y), Erf, (x);", {{0}}},
  {21, 1, ALL, "mov.$ y, x;", {{0}}},
  {22, 1, FD, "rcp.rn.$ y, x;", {{0}}},
  /* activations; those of infinite numbers are not multiplied by a slope of 0 */
  {100, 1, FD,
   "sub.$ f0, x, u; setp.eq.$ p, w, zero; selp.$ f0, zero, f0, p; fma.rn.$ f0, f0, w, u; setp.lt.$ p, x, u; "
   "selp.$ y, f0, x, p; setp.gt.$ p, y, v; selp.$ y, v, y, p;", RELU_SETTINGS},
  {101, 1, F, "call (y), Tanh, (x);", {{0}}},
  {102, 1, F, "call (y), Sigmoid, (x);", {{0}}},
  {103, 1, F, "call (f0), Exp, (x); sub.f32 f0, f0, one; mul.f32 f0, f0, u; setp.gt.f32 p, x, zero; "
              "selp.f32 y, x, f0, p;", {{ELU_ALPHA, 1}}},
  {104, 1, F, "mul.f32 f0, x, 0f3F3504F3; call (f0), Erf, (f0); add.f32 f0, f0, one; mul.f32 y, x, 0f3F000000; "
              "mul.f32 y, y, f0;", {{0}}},
  {105, 1, F, "mul.f32 f0, x, u; abs.f32 f1, f0; neg.f32 f1, f1; call (f1), Exp, (f1); add.f32 f1, f1, one; "
              "call (f1), Log, (f1); max.f32 f0, f0, zero; add.f32 f0, f0, f1; div.rn.f32 y, f0, u;",
   {{SOFTPLUS_BETA, 1}}},
  {106, 1, F, "mul.f32 f0, x, u; call (f0), Sigmoid, (f0); mul.f32 y, x, f0;", {{SWISH_BETA, 1}}},
  {107, 1, F, PTX_GELU_TANH("x") "add.f32 f0, f0, one; mul.f32 y, x, 0f3F000000; mul.f32 y, y, f0;", {{0}}},
  /* their derivatives at b, times x */
  {200, 2, FD, "mul.$ f0, x, w; setp.gt.$ p, b, u; selp.$ y, x, f0, p; setp.gt.$ p, b, v; selp.$ y, zero, y, p;",
   RELU_SETTINGS},
  {201, 2, F, "call (f0), Tanh, (b); neg.f32 f1, f0; fma.rn.f32 f0, f0, f1, one; mul.f32 y, x, f0;", {{0}}},
  {202, 2, F, "call (f0), Sigmoid, (b); sub.f32 f1, one, f0; mul.f32 f0, f0, f1; mul.f32 y, x, f0;", {{0}}},
  {203, 2, F, "call (f0), Exp, (b); mul.f32 f0, f0, u; mul.f32 f0, f0, x; setp.gt.f32 p, b, zero; "
              "selp.f32 y, x, f0, p;", {{ELU_ALPHA, 1}}},
  {204, 2, F, "mul.f32 f0, b, 0f3F3504F3; call (f1), Erf, (f0); add.f32 f1, f1, one; mul.f32 f1, f1, 0f3F000000; "
              "mul.f32 f0, f0, f0; neg.f32 f0, f0; call (f0), Exp, (f0); mul.f32 f0, f0, b; "
              "fma.rn.f32 f0, f0, 0f3ECC422A, f1; mul.f32 y, x, f0;", {{0}}},
  {205, 2, F, "mul.f32 f0, b, u; call (f0), Sigmoid, (f0); mul.f32 y, x, f0;", {{SOFTPLUS_BETA, 1}}},
  {206, 2, F, "mul.f32 f1, b, u; call (f0), Sigmoid, (f1); sub.f32 f2, one, f0; mul.f32 f1, f1, f2; "
              "fma.rn.f32 f0, f1, f0, f0; mul.f32 y, x, f0;", {{SWISH_BETA, 1}}},
  {207, 2, F, PTX_GELU_TANH("b") "neg.f32 f2, f0; fma.rn.f32 f2, f2, f0, one; fma.rn.f32 f1, f1, 0f3E095D4F, one; "
              "mul.f32 f1, f1, 0f3F4C422A; mul.f32 f1, f1, b; mul.f32 f1, f1, f2; add.f32 f0, f0, one; "
              "add.f32 f0, f0, f1; mul.f32 f0, f0, 0f3F000000; mul.f32 y, x, f0;", {{0}}},
  COMPARES(300, "eq"),
  {301, 2, FD, "setp.neu.$ p, x, b; selp.$ y, one, zero, p;", {{0}}},
  {301, 2, I, "setp.ne.$ p, x, b; selp.$ y, one, zero, p;", {{0}}},
  COMPARES(302, "gt"),
  COMPARES(303, "ge"),
  COMPARES(304, "lt"),
  COMPARES(305, "le"),
  {400, 2, ALL, "setp.eq.$ p, x, zero; selp.$ y, zero, b, p; setp.eq.$ p, y, zero; selp.$ y, zero, one, p;", {{0}}},
  {401, 2, ALL, "setp.eq.$ p, x, zero; selp.$ y, b, one, p; setp.eq.$ p, y, zero; selp.$ y, zero, one, p;", {{0}}},
  {402, 1, ALL, "setp.eq.$ p, x, zero; selp.$ y, one, zero, p;", {{0}}},
  {501, 1, ALL, "mov.$ y, x;", {{0}}},
  {601, 3, ALL, "setp.eq.$ p, t, zero; selp.$ y, b, x, p;", {{0}}},
  {PW_BELOW, 3, ALL, "setp.lt.$ p, b, t; selp.$ y, x, zero, p;", {{0}}},
  {PW_SUB_FINITE, 2, F, "setp.eq.f32 p, b, 0fFF800000; selp.f32 f0, zero, b, p; sub.f32 y, x, f0;", {{0}}},
  {PW_SHARE, 2, F, "div.rn.f32 y, x, b; setp.eq.f32 p, b, zero; selp.f32 y, zero, y, p;", {{0}}},
  {PW_SCALE_SUB, 3, FD, "sub.$ y, x, b; mul.$ y, y, t;", {{0}}},
};

const struct cudnn_function *cudnn_function(int64_t mode, enum cudnn_computed type) {
  for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
    if (functions[i].mode == mode && functions[i].types >> type & 1) return &functions[i];
  }
  return NULL;
}

const char *cudnn_missing(int64_t mode) {
  static const struct { int mode; const char *name; } names[] = {
    {7, "CUDNN_POINTWISE_MOD"}, {8, "CUDNN_POINTWISE_POW"}, {23, "CUDNN_POINTWISE_ATAN2"},
    {24, "CUDNN_POINTWISE_FLOOR_MOD"},
  };
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    if (names[i].mode == mode) return names[i].name;
  }
  return "functions of a graph in f64 or of integers that are only there in f32";
}

static const struct cudnn_sum sums[] = {
  {0, {"0f00000000", "0d0000000000000000"}, "", "add.$ y, y, x;", ""},
  {1, {"0f3F800000", "0d3FF0000000000000"}, "", "mul.$ y, y, x;", ""},
  {2, {"0f7F800000", "0d7FF0000000000000"}, "", "min.$ y, y, x;", ""},
  {3, {"0fFF800000", "0dFFF0000000000000"}, "", "max.$ y, y, x;", ""},
  {4, {"0f00000000", "0d0000000000000000"}, "abs.$ x, x;", "max.$ y, y, x;", ""},
  {5, {"0f00000000", "0d0000000000000000"}, "", "add.$ y, y, x;", "div.rn.$ y, y, n;"},
  {6, {"0f00000000", "0d0000000000000000"}, "abs.$ x, x;", "add.$ y, y, x;", ""},
  {7, {"0f00000000", "0d0000000000000000"}, "mul.$ x, x, x;", "add.$ y, y, x;", "sqrt.rn.$ y, y;"},
  {8, {"0f3F800000", "0d3FF0000000000000"}, "setp.eq.$ p, x, zero; selp.$ x, one, x, p;", "mul.$ y, y, x;", ""},
  {SUM_MEAN_SQUARE, {"0f00000000", "0d0000000000000000"}, "mul.$ x, x, x;", "add.$ y, y, x;", "div.rn.$ y, y, n;"},
};

const struct cudnn_sum *cudnn_sum(int operation) {
  for (size_t i = 0; i < sizeof sums / sizeof *sums; i++) {
    if (sums[i].operation == operation) return &sums[i];
  }
  return NULL;
}
