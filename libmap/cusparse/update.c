/* New numbers for a matrix that was analysed for solves: they are kept in memory of the solve's descriptor. */
#define _GNU_SOURCE
#include <stdio.h>

#include "cusparse_handle.h"
#include "ptx.h"
#include "solve.h"

enum { THREADS = 128 };

struct arguments {
  uint64_t first, second, from, to;
  int64_t count, words, base; /* threads; words of 4 bytes in a number */
};

#define AT(field) offsetof(struct arguments, field)

static void load(FILE *out, const char *to, size_t array, const char *at, hipsparseIndexType_t type) {
  bool wide = type == HIPSPARSE_INDEX_64I;
  fprintf(out, "ld.param.s64 u, [a+%zu]; mad.lo.s64 u, %s, %d, u; ", array, at, wide ? 8 : 4);
  fprintf(out, wide ? "ld.global.s64 %1$s, [u];" : "ld.global.s32 w, [u]; cvt.s64.s32 %1$s, w;", to);
  fprintf(out, " sub.s64 %s, %s, base;\n", to, to);
}

/* A thread copies number i (all), or number k of row i where its column is i, or number i where its row is its column. */
static char *text(const struct cusparse_parts *parts, bool all) {
  char *made = NULL;
  size_t length;
  FILE *out = open_memstream(&made, &length);
  if (!out) return NULL;
  bool coo = parts->format == HIPSPARSE_FORMAT_COO;
  fprintf(out, ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry update(.param .align 8 .b8 a[%zu]) {\n",
          sizeof(struct arguments));
  fputs(".reg .s64 i, k, end, row, column, next, base, words, u, v; .reg .s32 w; .reg .u32 n, m; .reg .pred p;\n"
        "mov.u32 n, %tid.x; cvt.s64.u32 i, n; mov.u32 m, %ctaid.x;\n", out);
  fprintf(out, "mad.wide.u32 i, m, %d, i; ld.param.s64 u, [a+%zu]; setp.ge.s64 p, i, u; @p ret;\n", THREADS, AT(count));
  fprintf(out, "ld.param.s64 base, [a+%zu]; ld.param.s64 words, [a+%zu]; mov.s64 k, i; mov.s64 row, i; add.s64 end, i, 1;\n",
          AT(base), AT(words));
  if (!all && !coo) {
    load(out, "k", AT(first), "i", parts->first_type);
    fputs("add.s64 next, i, 1;\n", out);
    load(out, "end", AT(first), "next", parts->first_type);
  }
  if (!all && coo) load(out, "row", AT(first), "i", parts->first_type);
  fputs("Next: setp.ge.s64 p, k, end; @p ret;\n", out);
  if (!all) {
    load(out, "column", AT(second), "k", coo ? parts->first_type : parts->second_type);
    fputs("setp.ne.s64 p, column, row; @p bra Past;\n", out);
  }
  fprintf(out, "mul.lo.s64 u, words, 4; mul.lo.s64 v, k, u; mul.lo.s64 u, row, u; ld.param.s64 column, [a+%zu];\n", AT(from));
  fprintf(out, "add.s64 u, u, column; ld.param.s64 column, [a+%zu]; add.s64 v, v, column; mov.s64 column, words;\n", AT(to));
  fputs("Word: ld.global.s32 w, [u]; st.global.s32 [v], w; add.s64 u, u, 4; add.s64 v, v, 4; sub.s64 column, column, 1;\n"
        "setp.gt.s64 p, column, 0; @p bra Word;\nPast: add.s64 k, k, 1; bra Next;\n}\n", out);
  fclose(out);
  return made;
}

static size_t words_of(hipDataType type) { return type == HIP_R_32F ? 1 : type == HIP_C_64F ? 4 : 2; }

static cusparseStatus_t launch(cusparseHandle_t handle, const struct cusparse_parts *parts, const void *from, uint64_t to,
                               bool all) {
  struct arguments a = {(uintptr_t)parts->first, (uintptr_t)parts->second, (uintptr_t)from, to, parts->count,
                        (int64_t)words_of(parts->type), parts->base};
  if (!all && parts->format != HIPSPARSE_FORMAT_COO) a.count = parts->rows;
  char *ptx = text(parts, all);
  void *kernel = ptx ? ptx_kernel(ptx, "update") : NULL, *parameters[] = {&a};
  int64_t blocks = (a.count + THREADS - 1) / THREADS;
  if (!kernel || blocks > INT32_MAX) return CUSPARSE_STATUS_EXECUTION_FAILED;
  if (blocks && libmap_driver.launch(kernel, (unsigned)blocks, 1, 1, THREADS, 1, 1, 0, handle->stream, parameters, NULL)) {
    return CUSPARSE_STATUS_EXECUTION_FAILED;
  }
  return CUSPARSE_STATUS_SUCCESS;
}

void cusparse_forget(struct analysis *kept) {
  if (kept->values) libmap_driver.release(kept->values);
  kept->values = 0;
}

/* The diagonal is changed in a copy of the numbers at the analysis, or of those of the last update. */
static cusparseStatus_t update(cusparseHandle_t handle, struct analysis *kept, const void *values, int part) {
  hipsparseHandle_t found;
  enum { GENERAL, DIAGONAL };
  if (!cusparse_found(handle, &found)) return CUSPARSE_STATUS_NOT_INITIALIZED;
  if (!kept || !kept->matrix || !values || (part != GENERAL && part != DIAGONAL)) return CUSPARSE_STATUS_INVALID_VALUE;
  const struct cusparse_parts *parts = &kept->parts;
  if (!kept->values) {
    uint64_t made;
    if (libmap_driver.allocate(&made, (size_t)parts->count * 4 * words_of(parts->type) + 1)) {
      return CUSPARSE_STATUS_ALLOC_FAILED;
    }
    cusparseStatus_t status = part == DIAGONAL ? launch(handle, parts, parts->values, made, true) : CUSPARSE_STATUS_SUCCESS;
    if (status) {
      libmap_driver.release(made);
      return status;
    }
    kept->values = made;
  }
  return launch(handle, parts, values, kept->values, part == GENERAL);
}

cusparseStatus_t cusparseSpSV_updateMatrix(cusparseHandle_t handle, cusparseSpSVDescr_t spsvDescr, void *newValues,
                                           cusparseSpSVUpdate_t updatePart) {
  return update(handle, spsvDescr ? &spsvDescr->analysis : NULL, newValues, updatePart);
}

cusparseStatus_t cusparseSpSM_updateMatrix(cusparseHandle_t handle, cusparseSpSMDescr_t spsmDescr, void *newValues,
                                           cusparseSpSMUpdate_t updatePart) {
  return update(handle, spsmDescr ? &spsmDescr->analysis : NULL, newValues, updatePart);
}
