/* Incomplete Cholesky factors of Hermitian matrices. rocSPARSE's functions for complex numbers conjugate the wrong
 * element, so its functions for real numbers factorise the matrix in which each number a + bi is the square
 *   a -b
 *   b  a
 * whose factor is the complex one's in the same form. The program's buffer holds that matrix, and rocSPARSE's buffer. */
#include <stdio.h>
#include <stdlib.h>

#include "cusparse_handle.h"
#include "ptx.h"

enum { BLOCK = 256, ALIGNMENT = 256, LARGEST = 32768 };

/* A number of blocks with `side` x `side` complex numbers each, column by column or row by row. */
struct blocks {
  int count, side, by_column;
  size_t number; /* size of a complex number */
};

/* For side and type: one thread copies a number, from (`back`) or to its square in a block of twice the side. */
static const char text[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry move(.param .u64 p_complex, .param .u64 p_real, .param .u64 p_count, .param .u64 p_side,\n"
    ".param .u32 p_by_column, .param .u32 p_back) {\n"
    ".reg .u64 i, complex, at, below, count, side, area, p, q; .reg .u32 n, by_column, back; .reg .f%1$d a, b, c;\n"
    ".reg .pred done, turned, fetched;\n"
    "ld.param.u64 complex, [p_complex]; ld.param.u64 at, [p_real]; ld.param.u64 count, [p_count];\n"
    "ld.param.u64 side, [p_side]; ld.param.u32 by_column, [p_by_column]; ld.param.u32 back, [p_back];\n"
    "mov.u32 n, %%tid.x; cvt.u64.u32 i, n; mov.u32 n, %%ctaid.x; mad.wide.u32 i, n, %2$d, i;\n"
    "setp.ge.u64 done, i, count; @done ret;\n"
    "setp.ne.u32 turned, by_column, 0; setp.ne.u32 fetched, back, 0;\n"
    "mul.lo.u64 area, side, side; div.u64 q, i, area; mul.lo.u64 p, q, area; sub.u64 p, i, p;\n"
    "mad.lo.u64 i, i, %3$d, complex; mul.lo.u64 area, area, 4; mul.lo.u64 area, area, q;\n" /* the block's first */
    "div.u64 q, p, side; mad.lo.u64 p, q, side, p; add.u64 p, p, p; add.u64 area, area, p;\n" /* of twice its row */
    "add.u64 q, side, side; mad.lo.u64 at, area, %4$d, at; mad.lo.u64 below, q, %4$d, at;\n"
    "@fetched bra Back;\n"
    "ld.global.f%1$d a, [i]; ld.global.f%1$d b, [i + %4$d]; neg.f%1$d c, b;\n"
    "st.global.f%1$d [at], a; st.global.f%1$d [below + %4$d], a;\n"
    "selp.f%1$d a, b, c, turned; st.global.f%1$d [at + %4$d], a;\n"
    "selp.f%1$d a, c, b, turned; st.global.f%1$d [below], a; ret;\n"
    "Back:\n"
    "@turned add.u64 below, at, %4$d;\n"
    "ld.global.f%1$d a, [at]; ld.global.f%1$d b, [below]; st.global.f%1$d [i], a; st.global.f%1$d [i + %4$d], b; ret;\n}\n";

static size_t numbers(const struct blocks *blocks) {
  return (size_t)blocks->count * (size_t)blocks->side * (size_t)blocks->side;
}

/* What the matrix takes in the buffer: two complex numbers for each. */
static size_t room(const struct blocks *blocks) {
  return (numbers(blocks) * 2 * blocks->number + ALIGNMENT - 1) & -(size_t)ALIGNMENT;
}

static cusparseStatus_t move(cusparseHandle_t handle, const struct blocks *blocks, void *complex, void *buffer,
                             uint32_t back) {
  uint64_t count = numbers(blocks), side = (uint64_t)blocks->side;
  uint32_t by_column = (uint32_t)blocks->by_column;
  char *ptx = malloc(sizeof text + 64);
  if (!ptx) return CUSPARSE_STATUS_ALLOC_FAILED;
  int half = (int)blocks->number / 2;
  snprintf(ptx, sizeof text + 64, text, half * 8, BLOCK, half * 2, half);
  void *kernel = ptx_kernel(ptx, "move");
  void *parameters[] = {&complex, &buffer, &count, &side, &by_column, &back};
  if (!kernel || (count + BLOCK - 1) / BLOCK > INT32_MAX) return CUSPARSE_STATUS_EXECUTION_FAILED;
  if (count && libmap_driver.launch(kernel, (unsigned)((count + BLOCK - 1) / BLOCK), 1, 1, BLOCK, 1, 1, 0,
                                    handle->stream, parameters, NULL)) {
    return CUSPARSE_STATUS_EXECUTION_FAILED;
  }
  return CUSPARSE_STATUS_SUCCESS;
}

/* Of two infos only the names differ in hipSPARSE; Xcsric02_zeroPivot asks for both kinds of factors. */
hipsparseStatus_t cusparse_pivot(hipsparseHandle_t handle, csric02Info_t info, int *position) {
  hipsparseStatus_t status = hipsparse.Xcsric02_zeroPivot(handle, info, position);
  return status ? status : hipsparse.Xbsric02_zeroPivot(handle, (bsric02Info_t)info, position);
}

static cusparseStatus_t checked(cusparseHandle_t handle, int count, int side, cusparseDirection_t direction,
                                size_t number, hipsparseHandle_t *found, struct blocks *out) {
  if (!cusparse_found(handle, found)) return CUSPARSE_STATUS_NOT_INITIALIZED;
  if (count < 0 || side < 1 || side > LARGEST || direction < 0 || direction > 1) return CUSPARSE_STATUS_INVALID_VALUE;
  *out = (struct blocks){count, side, direction, number};
  return CUSPARSE_STATUS_SUCCESS;
}

#define MATRIX(number, blocked)                                                                                    \
  cusparseHandle_t handle, blocked(cusparseDirection_t dirA COMMA) int m, int nnz, const cusparseMatDescr_t descrA, \
      number *values, const int *rows, const int *columns, blocked(int blockDim COMMA)
#define COMMA ,
#define YES(...) __VA_ARGS__
#define NO(...)
#define BLOCKED_GIVEN handle, dirA, m, nnz, descrA, values, rows, columns, blockDim, info
#define PLAIN_GIVEN handle, 0, m, nnz, descrA, values, rows, columns, 1, (bsric02Info_t)info

#define FACTORS(letter, of_real, number, real)                                                                         \
  static cusparseStatus_t letter##_sized(MATRIX(number, YES) bsric02Info_t info, size_t *out) {                        \
    hipsparseHandle_t found;                                                                                           \
    struct blocks blocks;                                                                                              \
    int size = 0;                                                                                                      \
    cusparseStatus_t status = checked(handle, nnz, blockDim, dirA, sizeof(number), &found, &blocks);                   \
    if (status) return status;                                                                                         \
    if (!out) return CUSPARSE_STATUS_INVALID_VALUE;                                                                    \
    status = cusparse_status(hipsparse.of_real##bsric02_bufferSize(found, (hipsparseDirection_t)dirA, m, nnz, descrA,  \
                                                                   (real *)values, rows, columns, 2 * blockDim, info,  \
                                                                   &size));                                            \
    if (!status) *out = room(&blocks) + (size_t)size;                                                                  \
    return status;                                                                                                     \
  }                                                                                                                    \
  static cusparseStatus_t letter##_analysed(MATRIX(const number, YES) bsric02Info_t info,                              \
                                            cusparseSolvePolicy_t policy, void *buffer) {                              \
    hipsparseHandle_t found;                                                                                           \
    struct blocks blocks;                                                                                              \
    hipsparseSolvePolicy_t beneath;                                                                                    \
    cusparseStatus_t status = checked(handle, nnz, blockDim, dirA, sizeof(number), &found, &blocks);                   \
    if (status) return status;                                                                                         \
    if (!buffer || !beneath_cusparseSolvePolicy_t(policy, &beneath)) return CUSPARSE_STATUS_INVALID_VALUE;             \
    return cusparse_status(hipsparse.of_real##bsric02_analysis(                                                        \
        found, (hipsparseDirection_t)dirA, m, nnz, descrA, (const real *)values, rows, columns, 2 * blockDim, info,    \
        beneath, (char *)buffer + room(&blocks)));                                                                     \
  }                                                                                                                    \
  static cusparseStatus_t letter##_factorised(MATRIX(number, YES) bsric02Info_t info, cusparseSolvePolicy_t policy,    \
                                              void *buffer) {                                                          \
    hipsparseHandle_t found;                                                                                           \
    struct blocks blocks;                                                                                              \
    hipsparseSolvePolicy_t beneath;                                                                                    \
    cusparseStatus_t status = checked(handle, nnz, blockDim, dirA, sizeof(number), &found, &blocks);                   \
    if (status) return status;                                                                                         \
    if (!buffer || (nnz && !values) || !beneath_cusparseSolvePolicy_t(policy, &beneath))                               \
      return CUSPARSE_STATUS_INVALID_VALUE;                                                                            \
    status = move(handle, &blocks, values, buffer, false);                                                             \
    if (!status)                                                                                                       \
      status = cusparse_status(hipsparse.of_real##bsric02(found, (hipsparseDirection_t)dirA, m, nnz, descrA, buffer,   \
                                                          rows, columns, 2 * blockDim, info, beneath,                  \
                                                          (char *)buffer + room(&blocks)));                            \
    return status ? status : move(handle, &blocks, values, buffer, true);                                              \
  }                                                                                                                    \
  FUNCTIONS(letter, number, csric02, NO, PLAIN_GIVEN)                                                                  \
  FUNCTIONS(letter, number, bsric02, YES, BLOCKED_GIVEN)

#define FUNCTIONS(letter, number, name, blocked, given)                                                             \
  cusparseStatus_t cusparse##letter##name##_bufferSize(MATRIX(number, blocked) name##Info_t info, int *out) {       \
    size_t size = 0;                                                                                                \
    cusparseStatus_t status = letter##_sized(given, out ? &size : NULL);                                            \
    return cusparse_narrowed(status, size, out);                                                                    \
  }                                                                                                                 \
  cusparseStatus_t cusparse##letter##name##_bufferSizeExt(MATRIX(number, blocked) name##Info_t info, size_t *out) { \
    return letter##_sized(given, out);                                                                              \
  }                                                                                                                 \
  cusparseStatus_t cusparse##letter##name##_analysis(MATRIX(const number, blocked) name##Info_t info,               \
                                                     cusparseSolvePolicy_t policy, void *buffer) {                  \
    return letter##_analysed(given, policy, buffer);                                                                \
  }                                                                                                                 \
  cusparseStatus_t cusparse##letter##name(MATRIX(number, blocked) name##Info_t info, cusparseSolvePolicy_t policy,  \
                                          void *buffer) {                                                           \
    return letter##_factorised(given, policy, buffer);                                                              \
  }

FACTORS(C, S, cuComplex, float)
FACTORS(Z, D, cuDoubleComplex, double)
