/* Kernels of ours in PTX, which our libcuda translates: parts of their texts, and those that were loaded. */
#ifndef PTX_H
#define PTX_H

/* Functions in f32: Exp, Log, Sigmoid, Sin, Cos, Tanh, Erf. */
extern const char *const ptx_helpers;
/* The function Exp in f64. */
extern const char *const ptx_exp_f64;

/* f0 = tanh(sqrt(2 / pi) (NUMBER + 0.044715 NUMBER^3)), f1 = NUMBER^2 */
#define PTX_GELU_TANH(number)                                                                                   \
  "mul.f32 f1, " number ", " number "; fma.rn.f32 f0, f1, 0f3D372713, 0f3F800000; mul.f32 f0, f0, " number "; " \
  "mul.f32 f0, f0, 0f3F4C422A; call (f0), Tanh, (f0); "

/* Types in memory: register and suffix of a load, and what makes one of the registers qf (f32), qd (f64), qi (s32) and
 * ql (s64) of what was loaded, and the reverse; `at` is the address, qh another register of 16 bits. */
enum ptx_type { PTX_F32, PTX_F64, PTX_F16, PTX_BF16, PTX_S8, PTX_U8, PTX_BOOL, PTX_S32, PTX_S64 };
struct ptx_memory {
  char held; /* f, d, i, l */
  const char *load, *unpack, *pack, *store;
};
extern const struct ptx_memory ptx_memory[];

/* The kernel of a text, which is kept for the process; NULL: the driver rejects it. Takes the text. */
void *ptx_kernel(char *ptx, const char *name);
#endif
