/* Products of a transposed dense matrix with a sparse vector, which rocSPARSE lacks: a thread for each result. */
#define _GNU_SOURCE
#include <stdio.h>

#include "cusparse_handle.h"
#include "ptx.h"

enum { THREADS = 128 };

struct arguments {
  uint64_t a, x, index, y, alpha_at, beta_at; /* factors in device memory, or 0 */
  double alpha[2], beta[2];
  int64_t lead, count, base, results;
};

#define AT(field) offsetof(struct arguments, field)

/* The numbers of a type: f32 or f64, and whether there are two, the second conjugated (of the matrix) or not. */
struct numbers { const char *type; size_t size; bool pair, conjugated; };

/* NAME0 (and NAME1) = the number at `at` */
static void load(FILE *out, const struct numbers *as, const char *name) {
  fprintf(out, "ld.global.%s %s0, [at];\n", as->type, name);
  if (as->pair) fprintf(out, "ld.global.%s %s1, [at+%zu];\n", as->type, name, as->size);
}

/* s += a x */
static void add(FILE *out, const struct numbers *as, const char *a, const char *x) {
  const char *t = as->type;
  fprintf(out, "fma.rn.%s s0, %s0, %s0, s0;\n", t, a, x);
  if (!as->pair) return;
  fprintf(out, "fma.rn.%s s1, %s0, %s1, s1; fma.rn.%s s1, %s1, %s0, s1; neg.%s n, %s1; fma.rn.%s s0, n, %s1, s0;\n", t, a, x,
          t, a, x, t, a, t, x);
}

static void factor(FILE *out, const struct numbers *as, const char *name, size_t place, size_t value) {
  fprintf(out, "ld.param.s64 at, [a+%zu]; setp.eq.s64 q, at, 0;\n", place);
  for (int i = 0; i <= as->pair; i++) {
    fprintf(out, "ld.param.f64 d, [a+%zu]; cvt.%s%s.f64 %s%d, d; @!q ld.global.%s %s%d, [at+%zu];\n", value + 8 * (size_t)i,
            as->size == 4 ? "rn." : "", as->type, name, i, as->type, name, i, (size_t)i * as->size);
  }
}

static char *text(const struct numbers *as) {
  char *made = NULL;
  size_t length, all = as->size * (as->pair ? 2 : 1);
  FILE *out = open_memstream(&made, &length);
  if (!out) return NULL;
  const char *t = as->type, *zero = as->size == 8 ? "0d0000000000000000" : "0f00000000";
  fprintf(out, ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry turned(.param .align 8 .b8 a[%zu]) {\n",
          sizeof(struct arguments));
  fprintf(out, ".reg .%s a0, a1, x0, x1, s0, s1, f0, f1, n; .reg .f64 d; .reg .s64 i, j, k, at, u, column; .reg .s32 w;\n"
               ".reg .u32 b, c; .reg .pred p, q;\nmov.u32 b, %%ctaid.x; mov.u32 c, %%tid.x; cvt.s64.u32 j, c;\n", t);
  fprintf(out, "mad.wide.u32 j, b, %d, j; ld.param.s64 u, [a+%zu]; setp.ge.s64 p, j, u; @p ret;\n", THREADS, AT(results));
  fprintf(out, "ld.param.s64 column, [a+%zu]; mul.lo.s64 column, column, j; mov.s64 i, 0; mov.%s s0, %s; mov.%s s1, %s;\n",
          AT(lead), t, zero, t, zero);
  fprintf(out, "Next: ld.param.s64 u, [a+%zu]; setp.ge.s64 p, i, u; @p bra Done;\n", AT(count));
  fprintf(out, "ld.param.s64 u, [a+%zu]; mad.lo.s64 at, i, 4, u; ld.global.s32 w, [at]; cvt.s64.s32 k, w;\n", AT(index));
  fprintf(out, "ld.param.s64 u, [a+%zu]; sub.s64 k, k, u; add.s64 k, k, column; ld.param.s64 u, [a+%zu];\n", AT(base), AT(a));
  fprintf(out, "mad.lo.s64 at, k, %zu, u;\n", all);
  load(out, as, "a");
  if (as->conjugated) fprintf(out, "neg.%s a1, a1;\n", t);
  fprintf(out, "ld.param.s64 u, [a+%zu]; mad.lo.s64 at, i, %zu, u;\n", AT(x), all);
  load(out, as, "x");
  add(out, as, "a", "x");
  fputs("add.s64 i, i, 1; bra Next;\nDone:\n", out);
  factor(out, as, "f", AT(alpha_at), AT(alpha)); /* s = alpha s */
  fprintf(out, "mov.%s x0, s0; mov.%s x1, s1; mov.%s s0, %s; mov.%s s1, %s;\n", t, t, t, zero, t, zero);
  add(out, as, "f", "x");
  factor(out, as, "f", AT(beta_at), AT(beta));
  fprintf(out, "ld.param.s64 u, [a+%zu]; mad.lo.s64 at, j, %zu, u; setp.eq.%s p, f0, %s;\n", AT(y), all, t, zero);
  if (as->pair) fprintf(out, "setp.eq.and.%s p, f1, %s, p;\n", t, zero);
  fputs("@p bra Store;\n", out); /* y is not read where beta is 0 */
  load(out, as, "x");
  add(out, as, "f", "x");
  fprintf(out, "Store: st.global.%s [at], s0;\n", t);
  if (as->pair) fprintf(out, "st.global.%s [at+%zu], s1;\n", t, as->size);
  fputs("ret;\n}\n", out);
  fclose(out);
  return made;
}

static void take(const struct numbers *as, const void *from, double *to) {
  for (int i = 0; i <= as->pair; i++) to[i] = as->size == 8 ? ((const double *)from)[i] : ((const float *)from)[i];
}

cusparseStatus_t cusparse_turned(cusparseHandle_t handle, cusparseOperation_t op, int m, int n, const void *alpha,
                                 const void *a, int lda, int nnz, const void *x, const int *index, const void *beta,
                                 void *y, cusparseIndexBase_t base, char letter) {
  hipsparseHandle_t found;
  if (!cusparse_found(handle, &found)) return CUSPARSE_STATUS_NOT_INITIALIZED;
  if (op < 0 || op > 2 || m < 0 || n < 0 || lda < m || lda < 1 || nnz < 0 || nnz > m || !alpha || !beta || base < 0 ||
      base > 1 || (n && (!a || !y)) || (nnz && (!x || !index))) {
    return CUSPARSE_STATUS_INVALID_VALUE;
  }
  bool wide = letter == 'D' || letter == 'Z', pair = letter == 'C' || letter == 'Z';
  const struct numbers as = {wide ? "f64" : "f32", wide ? 8 : 4, pair, pair && op == 2};
  struct arguments given = {.a = (uintptr_t)a, .x = (uintptr_t)x, .index = (uintptr_t)index, .y = (uintptr_t)y, .lead = lda,
                            .count = nnz, .base = base, .results = n};
  if (handle->on_device) given.alpha_at = (uintptr_t)alpha, given.beta_at = (uintptr_t)beta;
  else take(&as, alpha, given.alpha), take(&as, beta, given.beta);
  char *ptx = text(&as);
  void *kernel = ptx ? ptx_kernel(ptx, "turned") : NULL, *parameters[] = {&given};
  unsigned blocks = ((unsigned)n + THREADS - 1) / THREADS;
  if (!kernel || (blocks && libmap_driver.launch(kernel, blocks, 1, 1, THREADS, 1, 1, 0, handle->stream, parameters, NULL))) {
    return CUSPARSE_STATUS_EXECUTION_FAILED;
  }
  return CUSPARSE_STATUS_SUCCESS;
}
