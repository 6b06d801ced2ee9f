#include "ptx.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "libmap.h"

/* Exp: 2 to the power of n and of a rest, for which the product with log2(e) is exact enough; n in two halves, as 2 to
 * its power may be out of range. Sin, Cos: of the rest of a division by 2 pi. Tanh, Erf: a series about 0; beyond, the
 * first by Exp, the second by Abramowitz and Stegun's formula 7.1.26. */
const char *const ptx_helpers =
    ".func (.reg .f32 r) Exp(.reg .f32 a) {\n"
    ".reg .f32 n, g; .reg .pred p;\n"
    "mul.f32 n, a, 0f3FB8AA3B; cvt.rni.f32.f32 n, n;\n"
    "fma.rn.f32 g, n, 0fBF317200, a; fma.rn.f32 g, n, 0fB5BFBE8E, g;\n"
    "mul.f32 g, g, 0f3FB8AA3B; ex2.approx.f32 g, g;\n"
    "mul.f32 n, n, 0f3F000000; ex2.approx.f32 n, n; mul.f32 r, g, n; mul.f32 r, r, n;\n"
    "setp.lt.f32 p, a, 0fC2D00000; selp.f32 r, 0f00000000, r, p;\n"
    "setp.gt.f32 p, a, 0f42B20000; selp.f32 r, 0f7F800000, r, p;\n}\n"
    ".func (.reg .f32 r) Log(.reg .f32 a) { lg2.approx.f32 r, a; mul.f32 r, r, 0f3F317218; }\n"
    ".func (.reg .f32 r) Sigmoid(.reg .f32 a) {\n"
    "neg.f32 r, a; call (r), Exp, (r); add.f32 r, r, 0f3F800000; rcp.rn.f32 r, r;\n}\n"
    ".func (.reg .f32 r) Turn(.reg .f32 a) {\n"
    ".reg .f32 n;\n"
    "mul.f32 n, a, 0f3E22F983; cvt.rni.f32.f32 n, n; fma.rn.f32 r, n, 0fC0C90000, a;\n"
    "fma.rn.f32 r, n, 0fBAFDA800, r; fma.rn.f32 r, n, 0fB38885A3, r;\n}\n"
    ".func (.reg .f32 r) Sin(.reg .f32 a) { call (r), Turn, (a); sin.approx.f32 r, r; }\n"
    ".func (.reg .f32 r) Cos(.reg .f32 a) { call (r), Turn, (a); cos.approx.f32 r, r; }\n"
    ".func (.reg .f32 r) Tanh(.reg .f32 a) {\n"
    ".reg .f32 s, e, d; .reg .pred p;\n"
    "abs.f32 s, a; mul.f32 e, s, 0fC0000000; call (e), Exp, (e);\n"
    "add.f32 d, e, 0f3F800000; sub.f32 e, 0f3F800000, e; div.rn.f32 e, e, d; copysign.f32 e, a, e;\n"
    "mul.f32 d, a, a; fma.rn.f32 r, d, 0f3CB327A4, 0fBD5D0DD1; fma.rn.f32 r, r, d, 0f3E088889;\n"
    "fma.rn.f32 r, r, d, 0fBEAAAAAB; mul.f32 r, r, d; fma.rn.f32 r, r, a, a;\n"
    "setp.lt.f32 p, s, 0f3E800000; selp.f32 r, r, e, p;\n}\n"
    ".func (.reg .f32 r) Erf(.reg .f32 a) {\n"
    ".reg .f32 s, t, e, d; .reg .pred p;\n"
    "abs.f32 s, a; fma.rn.f32 t, s, 0f3EA7BA05, 0f3F800000; rcp.rn.f32 t, t;\n"
    "fma.rn.f32 e, t, 0f3F87DC22, 0fBFBA00E3; fma.rn.f32 e, e, t, 0f3FB5F0E3; fma.rn.f32 e, e, t, 0fBE91A98E;\n"
    "fma.rn.f32 e, e, t, 0f3E827906; mul.f32 e, e, t; mul.f32 d, s, s; neg.f32 t, d; call (t), Exp, (t);\n"
    "mul.f32 e, e, t; sub.f32 e, 0f3F800000, e; copysign.f32 e, a, e;\n"
    "fma.rn.f32 r, d, 0fBA46980C, 0f3B97B426; fma.rn.f32 r, r, d, 0fBCC30C31; fma.rn.f32 r, r, d, 0f3DCCCCCD;\n"
    "fma.rn.f32 r, r, d, 0fBEAAAAAB; mul.f32 r, r, d; fma.rn.f32 r, r, a, a; mul.f32 r, r, 0f3F906EBB;\n"
    "setp.lt.f32 p, s, 0f3F000000; selp.f32 r, r, e, p;\n}\n";

/* By a series, of the rest of a multiple of log 2; 2 to the power of the multiple in two halves, as it may be out of range. */
const char *const ptx_exp_f64 =
    ".func (.reg .f64 r) Exp(.reg .f64 a) {\n"
    ".reg .f64 n, x; .reg .s32 k, half; .reg .b32 none; .reg .pred p;\n"
    "max.f64 a, a, 0dC090000000000000; min.f64 a, a, 0d4090000000000000;\n"
    "mul.f64 n, a, 0d3FF71547652B82FE; cvt.rni.s32.f64 k, n; cvt.rn.f64.s32 n, k;\n"
    "fma.rn.f64 x, n, 0dBFE62E42FEFA39EF, a; fma.rn.f64 x, n, 0dBC7ABC9E3B39803F, x;\n"
    "mov.f64 r, 0d3DE6124613A86D09; fma.rn.f64 r, r, x, 0d3E21EED8EFF8D898;\n"
    "fma.rn.f64 r, r, x, 0d3E5AE64567F544E4; fma.rn.f64 r, r, x, 0d3E927E4FB7789F5C;\n"
    "fma.rn.f64 r, r, x, 0d3EC71DE3A556C734; fma.rn.f64 r, r, x, 0d3EFA01A01A01A01A;\n"
    "fma.rn.f64 r, r, x, 0d3F2A01A01A01A01A; fma.rn.f64 r, r, x, 0d3F56C16C16C16C17;\n"
    "fma.rn.f64 r, r, x, 0d3F81111111111111; fma.rn.f64 r, r, x, 0d3FA5555555555555;\n"
    "fma.rn.f64 r, r, x, 0d3FC5555555555555; fma.rn.f64 r, r, x, 0d3FE0000000000000;\n"
    "fma.rn.f64 r, r, x, 0d3FF0000000000000; fma.rn.f64 r, r, x, 0d3FF0000000000000;\n"
    "mov.b32 none, 0; shr.s32 half, k, 1; sub.s32 k, k, half;\n"
    "add.s32 half, half, 1023; shl.b32 half, half, 20; mov.b64 n, {none, half}; mul.f64 r, r, n;\n"
    "add.s32 k, k, 1023; shl.b32 k, k, 20; mov.b64 n, {none, k}; mul.f64 r, r, n;\n}\n";

const struct ptx_memory ptx_memory[] = {
  [PTX_F32] = {'f', "ld.global.f32 qf, [at];", "", "", "st.global.f32 [at], qf;"},
  [PTX_F64] = {'d', "ld.global.f64 qd, [at];", "", "", "st.global.f64 [at], qd;"},
  [PTX_F16] = {'f', "ld.global.b16 qh, [at];", "cvt.f32.f16 qf, qh;", "cvt.rn.f16.f32 qh, qf;",
               "st.global.b16 [at], qh;"},
  [PTX_BF16] = {'f', "ld.global.u16 qi, [at];", "shl.b32 qi, qi, 16; mov.b32 qf, qi;", "cvt.rn.bf16.f32 qh, qf;",
                "st.global.b16 [at], qh;"},
  [PTX_S8] = {'i', "ld.global.s8 qi, [at];", "", "min.s32 qi, qi, 127; max.s32 qi, qi, -128;",
              "st.global.u8 [at], qi;"},
  [PTX_U8] = {'i', "ld.global.u8 qi, [at];", "", "min.s32 qi, qi, 255; max.s32 qi, qi, 0;", "st.global.u8 [at], qi;"},
  [PTX_BOOL] = {'i', "ld.global.u8 qi, [at];", "", "", "st.global.u8 [at], qi;"},
  [PTX_S32] = {'i', "ld.global.s32 qi, [at];", "", "", "st.global.s32 [at], qi;"},
  [PTX_S64] = {'l', "ld.global.s64 ql, [at];", "", "", "st.global.s64 [at], ql;"},
};

static struct module {
  struct module *next;
  char *ptx;
  void *kernel;
} *modules;

void *ptx_kernel(char *ptx, const char *name) {
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&lock);
  struct module *at = modules;
  while (at && strcmp(at->ptx, ptx)) at = at->next;
  if (at) {
    free(ptx);
  } else if ((at = calloc(1, sizeof *at))) {
    void *library;
    *at = (struct module){modules, ptx, NULL};
    modules = at;
    if (libmap_driver.load(&library, ptx, NULL, NULL, 0, NULL, NULL, 0) ||
        libmap_driver.kernel(&at->kernel, library, name)) {
      at->kernel = NULL;
    }
  }
  pthread_mutex_unlock(&lock);
  return at ? at->kernel : NULL;
}
