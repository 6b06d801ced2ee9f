/* Matrices of blocks in ELL format, which rocSPARSE stores in another order: kernels of ours for the functions that take
 * them. A matrix has `width` blocks in each row of blocks, and its numbers are row after row, as of a dense matrix with
 * these blocks side by side; a negative column of a block stands for none. */
#define _GNU_SOURCE
#include <stdio.h>

#include "cusparse_handle.h"
#include "ptx.h"

enum { THREADS = 128 };

struct arguments {
  uint64_t columns, values, other, result;          /* other: a dense matrix */
  double alpha, beta;
  uint64_t alpha_at, beta_at;                       /* factors in device memory, or 0 */
  int64_t block, width, base, rows, count;          /* count: of threads */
  int64_t other_row, other_column, result_row, result_column;
};

struct ell {
  int64_t rows, columns, block, ell_columns;
  const void *column, *values;
  hipsparseIndexType_t index;
  hipsparseIndexBase_t base;
  hipDataType type;
};
struct dense { int64_t rows, columns, leading; const void *values; hipDataType type; hipsparseOrder_t order; };

bool cusparse_is_ell(cusparseConstSpMatDescr_t matrix) {
  hipsparseFormat_t format;
  return matrix && !hipsparse.SpMatGetFormat(matrix, &format) && format == HIPSPARSE_FORMAT_BLOCKED_ELL;
}

static bool get_ell(cusparseConstSpMatDescr_t matrix, struct ell *out) {
  return !hipsparse.ConstBlockedEllGet(matrix, &out->rows, &out->columns, &out->block, &out->ell_columns, &out->column,
                                       &out->values, &out->index, &out->base, &out->type) &&
         out->block > 0 && out->rows % out->block == 0 && out->ell_columns % out->block == 0;
}

static bool get_dense(cusparseConstDnMatDescr_t matrix, struct dense *out) {
  return matrix && !hipsparse.ConstDnMatGet(matrix, &out->rows, &out->columns, &out->leading, &out->values, &out->type,
                                            &out->order);
}

/* How far the numbers of a dense matrix are apart, down a column and along a row. */
static void strides(const struct dense *of, int turned, int64_t *row, int64_t *column) {
  bool by_row = (of->order == HIPSPARSE_ORDER_ROW) != (turned != 0);
  *row = by_row ? of->leading : 1, *column = by_row ? 1 : of->leading;
}

/* ---- texts ---- */

#define AT(field) offsetof(struct arguments, field)

static void head(FILE *out, const char *type) {
  fprintf(out, ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry ell(.param .align 8 .b8 a[%zu]) {\n",
          sizeof(struct arguments));
  fprintf(out, ".reg .%s x, y, s; .reg .f32 qf; .reg .f64 qd; .reg .s32 qi; .reg .s64 ql; .reg .b16 qh; .reg .b32 qw;\n"
               ".reg .b64 qx; .reg .u32 k, n; .reg .pred p;\n", type);
  fputs(".reg .s64 at, i, j, t, u, row, column, block, width, base, rows, left, step;\n"
        "mov.u32 k, %ctaid.x; mov.u32 n, %tid.x; cvt.s64.u32 i, n;\n", out);
  fprintf(out, "mad.wide.u32 i, k, %d, i; ld.param.s64 t, [a+%zu]; setp.ge.s64 p, i, t; @p ret;\n", THREADS, AT(count));
  fprintf(out, "ld.param.s64 block, [a+%zu]; ld.param.s64 width, [a+%zu]; ld.param.s64 base, [a+%zu];\n", AT(block),
          AT(width), AT(base));
  fprintf(out, "ld.param.s64 rows, [a+%zu];\n", AT(rows));
}

/* column = that of block t in the row of blocks of `row`, from 0; negative: none. */
static void column_of(FILE *out, const struct ell *ell) {
  bool wide = ell->index == HIPSPARSE_INDEX_64I;
  fprintf(out, "div.s64 at, row, block; mad.lo.s64 at, at, width, t; ld.param.s64 u, [a+%zu]; mad.lo.s64 at, at, %d, u;\n",
          AT(columns), wide ? 8 : 4);
  fputs(wide ? "ld.global.s64 column, [at];\n" : "ld.global.s32 qi, [at]; cvt.s64.s32 column, qi;\n", out);
  fputs("sub.s64 column, column, base;\n", out);
}

/* Reads or writes raw numbers of a size at `at`. */
static const char *raw(size_t size, bool write) {
  switch (size) {
    case 1: return write ? "st.global.u8 [at], qw;\n" : "ld.global.u8 qw, [at];\n";
    case 2: return write ? "st.global.b16 [at], qh;\n" : "ld.global.b16 qh, [at];\n";
    case 4: return write ? "st.global.b32 [at], qw;\n" : "ld.global.b32 qw, [at];\n";
    default: return write ? "st.global.b64 [at], qx;\n" : "ld.global.b64 qx, [at];\n";
  }
}

/* at = address of number (row, column) of a dense matrix */
static void address(FILE *out, size_t values, size_t by_row, size_t by_column, const char *row, const char *column,
                    size_t size) {
  fprintf(out, "ld.param.s64 u, [a+%zu]; mul.lo.s64 at, u, %s; ld.param.s64 u, [a+%zu]; mad.lo.s64 at, u, %s, at;\n", by_row,
          row, by_column, column);
  fprintf(out, "ld.param.s64 u, [a+%zu]; mad.lo.s64 at, at, %zu, u;\n", values, size);
}

#define NOTHING "mov.b16 qh, 0; mov.b32 qw, 0; mov.b64 qx, 0;\n"

/* A thread copies a number of the matrix from the dense one. */
static void take(FILE *out, const struct ell *ell, size_t size) {
  head(out, "f32");
  fputs("mul.lo.s64 left, block, width; div.s64 row, i, left; rem.s64 j, i, left; div.s64 t, j, block; rem.s64 j, j, block;\n",
        out);
  column_of(out, ell);
  fputs(NOTHING "setp.lt.s64 p, column, 0; @p bra Put; mad.lo.s64 column, column, block, j;\n", out);
  address(out, AT(other), AT(other_row), AT(other_column), "row", "column", size);
  fprintf(out, "%sPut: ld.param.s64 u, [a+%zu]; mad.lo.s64 at, i, %zu, u; %s ret;\n}\n", raw(size, false), AT(values), size,
          raw(size, true));
}

/* A thread looks up a number of the dense matrix. */
static void spread(FILE *out, const struct ell *ell, size_t size) {
  head(out, "f32");
  fputs("rem.s64 row, i, rows; div.s64 j, i, rows; div.s64 left, j, block; rem.s64 step, j, block; mov.s64 t, 0;\n" NOTHING
        "Next: setp.ge.s64 p, t, width; @p bra Put;\n", out);
  column_of(out, ell);
  fputs("setp.eq.s64 p, column, left; @p bra Found; add.s64 t, t, 1; bra Next;\n"
        "Found: mad.lo.s64 at, row, width, t; mad.lo.s64 at, at, block, step;\n", out);
  fprintf(out, "ld.param.s64 u, [a+%zu]; mad.lo.s64 at, at, %zu, u; %sPut:\n", AT(values), size, raw(size, false));
  address(out, AT(result), AT(result_row), AT(result_column), "row", "j", size);
  fprintf(out, "%s ret;\n}\n", raw(size, true));
}

/* x = a factor */
static void factor(FILE *out, const char *type, size_t at, size_t value) {
  fprintf(out, "ld.param.s64 at, [a+%zu]; ld.param.f64 qd, [a+%zu]; %s\n", at, value,
          type[1] == '6' ? "mov.f64 x, qd;" : "cvt.rn.f32.f64 x, qd;");
  fprintf(out, "setp.eq.s64 p, at, 0; @!p ld.global.%s x, [at];\n", type);
}

/* A thread computes a number of the product. */
static void multiply(FILE *out, const struct ell *ell, enum ptx_type from, enum ptx_type to, size_t size, size_t result) {
  const char *type = from == PTX_F64 ? "f64" : "f32", *zero = from == PTX_F64 ? "0d0000000000000000" : "0f00000000";
  const struct ptx_memory *in = &ptx_memory[from], *written = &ptx_memory[to];
  head(out, type);
  fprintf(out, "rem.s64 row, i, rows; div.s64 j, i, rows; mov.s64 t, 0; mov.%s s, %s;\n", type, zero);
  fputs("Next: setp.ge.s64 p, t, width; @p bra Done;\n", out);
  column_of(out, ell);
  fputs("setp.lt.s64 p, column, 0; @p bra Past; mul.lo.s64 column, column, block; mov.s64 step, 0;\n"
        "Each: setp.ge.s64 p, step, block; @p bra Past; mad.lo.s64 at, row, width, t; mad.lo.s64 at, at, block, step;\n", out);
  fprintf(out, "ld.param.s64 u, [a+%zu]; mad.lo.s64 at, at, %zu, u; %s %s mov.%s x, q%c;\n", AT(values), size, in->load,
          in->unpack, type, in->held);
  fputs("add.s64 left, column, step;\n", out);
  address(out, AT(other), AT(other_row), AT(other_column), "left", "j", size);
  fprintf(out, "%s %s fma.rn.%s s, x, q%c, s; add.s64 step, step, 1; bra Each;\n", in->load, in->unpack, type, in->held);
  fputs("Past: add.s64 t, t, 1; bra Next;\nDone:\n", out);
  factor(out, type, AT(alpha_at), AT(alpha));
  fprintf(out, "mul.%s s, s, x;\n", type);
  factor(out, type, AT(beta_at), AT(beta));
  fprintf(out, "mov.%s y, x;\n", type);
  address(out, AT(result), AT(result_row), AT(result_column), "row", "j", result);
  fprintf(out, "setp.eq.%s p, y, %s; @p bra Put; %s %s fma.rn.%s s, y, q%c, s;\n", type, zero, written->load,
          written->unpack, type, written->held);
  fprintf(out, "Put: mov.%s q%c, s; %s %s ret;\n}\n", type, written->held, written->pack, written->store);
}

/* ---- the functions ---- */

static cusparseStatus_t launch(cusparseHandle_t handle, char *ptx, struct arguments *a) {
  void *kernel = ptx ? ptx_kernel(ptx, "ell") : NULL, *parameters[] = {a};
  int64_t blocks = (a->count + THREADS - 1) / THREADS;
  if (!kernel || blocks > INT32_MAX) return CUSPARSE_STATUS_EXECUTION_FAILED;
  if (blocks && libmap_driver.launch(kernel, (unsigned)blocks, 1, 1, THREADS, 1, 1, 0, handle->stream, parameters, NULL)) {
    return CUSPARSE_STATUS_EXECUTION_FAILED;
  }
  return CUSPARSE_STATUS_SUCCESS;
}

static struct arguments begin(const struct ell *ell) {
  return (struct arguments){.columns = (uintptr_t)ell->column, .values = (uintptr_t)ell->values, .block = ell->block,
                            .width = ell->ell_columns / ell->block, .base = ell->base, .rows = ell->rows};
}

static size_t size_of(hipDataType type) {
  switch (type) {
    case HIP_R_8I: case HIP_R_8U: return 1;
    case HIP_R_16F: case HIP_R_16BF: return 2;
    case HIP_R_32F: case HIP_R_32I: case HIP_R_32U: return 4;
    case HIP_R_64F: case HIP_C_32F: return 8;
    default: return 0;
  }
}

/* Copies between the matrix and a dense one. */
static cusparseStatus_t convert(cusparseHandle_t handle, cusparseConstSpMatDescr_t sparse, cusparseConstDnMatDescr_t other,
                                bool back, size_t *room, bool now) {
  hipsparseHandle_t found;
  struct ell ell;
  struct dense dense;
  if (!cusparse_found(handle, &found)) return CUSPARSE_STATUS_NOT_INITIALIZED;
  if (!get_ell(sparse, &ell) || !get_dense(other, &dense) || dense.rows != ell.rows || dense.columns != ell.columns) {
    return CUSPARSE_STATUS_INVALID_VALUE;
  }
  size_t size = size_of(ell.type);
  if (!size || dense.type != ell.type || cusparse_batch(NULL, other, NULL)) {
    return cusparse_no(true, "conversions of blocked ELL with these types or of a batch");
  }
  if (room) *room = 0;
  if (!now) return CUSPARSE_STATUS_SUCCESS;
  struct arguments a = begin(&ell);
  a.other = a.result = (uintptr_t)dense.values, a.count = back ? ell.rows * ell.columns : ell.rows * ell.ell_columns;
  strides(&dense, 0, &a.other_row, &a.other_column);
  a.result_row = a.other_row, a.result_column = a.other_column;
  char *ptx = NULL;
  size_t length;
  FILE *out = open_memstream(&ptx, &length);
  if (!out) return CUSPARSE_STATUS_ALLOC_FAILED;
  (back ? spread : take)(out, &ell, size);
  fclose(out);
  return launch(handle, ptx, &a);
}

cusparseStatus_t cusparse_ell_take(cusparseHandle_t handle, cusparseConstDnMatDescr_t dense,
                                   cusparseConstSpMatDescr_t matrix, size_t *room, bool now) {
  return convert(handle, matrix, dense, false, room, now);
}

cusparseStatus_t cusparse_ell_spread(cusparseHandle_t handle, cusparseConstSpMatDescr_t matrix,
                                     cusparseConstDnMatDescr_t dense, size_t *room, bool now) {
  return convert(handle, matrix, dense, true, room, now);
}

static bool known(hipDataType type, enum ptx_type *out) {
  switch (type) {
    case HIP_R_16F: *out = PTX_F16; return true;
    case HIP_R_16BF: *out = PTX_BF16; return true;
    case HIP_R_32F: *out = PTX_F32; return true;
    case HIP_R_64F: *out = PTX_F64; return true;
    default: return false;
  }
}

cusparseStatus_t cusparse_ell_multiply(cusparseHandle_t handle, cusparseOperation_t op_a, cusparseOperation_t op_b,
                                       const void *alpha, cusparseConstSpMatDescr_t matrix,
                                       cusparseConstDnMatDescr_t right, const void *beta,
                                       cusparseConstDnMatDescr_t result, cudaDataType type, size_t *room, bool now) {
  hipsparseHandle_t found;
  struct ell ell;
  struct dense b, c;
  enum ptx_type from, to;
  if (!cusparse_found(handle, &found)) return CUSPARSE_STATUS_NOT_INITIALIZED;
  if (!alpha || !beta || !get_ell(matrix, &ell) || !get_dense(right, &b) || !get_dense(result, &c) ||
      !cusparse_product_fits(op_a, op_b, matrix, right, result)) {
    return CUSPARSE_STATUS_INVALID_VALUE;
  }
  bool wide = type == (cudaDataType)HIP_R_64F;
  if (op_a || !known(ell.type, &from) || b.type != ell.type || !known(c.type, &to) || (from == PTX_F64) != wide ||
      (to == PTX_F64) != wide || (!wide && type != (cudaDataType)HIP_R_32F) || cusparse_batch(NULL, right, result)) {
    return cusparse_no(true, "cusparseSpMM of blocked ELL transposed, of a batch, or with these types");
  }
  if (room) *room = 0;
  if (!now) return CUSPARSE_STATUS_SUCCESS;
  struct arguments a = begin(&ell);
  a.other = (uintptr_t)b.values, a.result = (uintptr_t)c.values, a.count = c.rows * c.columns;
  strides(&b, op_b, &a.other_row, &a.other_column), strides(&c, 0, &a.result_row, &a.result_column);
  if (handle->on_device) a.alpha_at = (uintptr_t)alpha, a.beta_at = (uintptr_t)beta;
  else if (wide) a.alpha = *(const double *)alpha, a.beta = *(const double *)beta;
  else a.alpha = *(const float *)alpha, a.beta = *(const float *)beta;
  char *ptx = NULL;
  size_t length;
  FILE *out = open_memstream(&ptx, &length);
  if (!out) return CUSPARSE_STATUS_ALLOC_FAILED;
  multiply(out, &ell, from, to, size_of(ell.type), size_of(c.type));
  fclose(out);
  return launch(handle, ptx, &a);
}
