/* Orders of sparse matrices, on the host: finding one, applying one. */
#include <stdlib.h>
#include <string.h>

#include "sparse_system.h"

/* ---- finding ---- */

/* What all functions check. */
static cusolverStatus_t ready(cusolverSpHandle_t handle, const struct pattern *of) {
  if (!sparse_is_handle(handle)) return CUSOLVER_STATUS_NOT_INITIALIZED;
  bool good = of->m >= 1 && of->n >= 1 && of->entries >= 0 && of->base >= 0 && of->row && of->column;
  return good && sparse_is_matrix(of) ? CUSOLVER_STATUS_SUCCESS : CUSOLVER_STATUS_INVALID_VALUE;
}

static cusolverStatus_t find(cusolverSpHandle_t handle, const struct pattern *of,
                             bool (*order)(const struct sparse *, int *), int *p) {
  cusolverStatus_t status = ready(handle, of);
  if (status) return status;
  if (!p) return CUSOLVER_STATUS_INVALID_VALUE;
  size_t entries = (size_t)of->entries + 1;
  int *row = malloc(((size_t)of->n + 1) * sizeof *row), *column = malloc(entries * sizeof *column);
  bool good = row && column;
  for (int i = 0; i <= of->n && good; i++) row[i] = of->row[i] - of->base;
  for (int k = 0; k < of->entries && good; k++) column[k] = of->column[k] - of->base;
  const struct sparse a = {of->n, of->n, row, column, NULL};
  if (!good || !order(&a, p)) status = CUSOLVER_STATUS_ALLOC_FAILED;
  free(row), free(column);
  return status;
}

#define ORDER(name, order)                                                                                             \
  cusolverStatus_t cusolverSpXcsr##name##Host(cusolverSpHandle_t handle, int n, int nnzA, cusparseMatDescr_t descrA,   \
                                              const int *csrRowPtrA, const int *csrColIndA, int *p) {                  \
    const struct pattern of = {n, n, nnzA, sparse_base(descrA), csrRowPtrA, csrColIndA};                               \
    return find(handle, &of, order, p);                                                                                \
  }

ORDER(symrcm, sparse_order)
ORDER(symmdq, sparse_degree_order)
ORDER(symamd, sparse_degree_order)

/* Options are METIS's, which is not used. */
cusolverStatus_t cusolverSpXcsrmetisndHost(cusolverSpHandle_t handle, int n, int nnzA, cusparseMatDescr_t descrA,
                                           const int *csrRowPtrA, const int *csrColIndA, const int64_t *options, int *p) {
  (void)options;
  return cusolverSpXcsrsymamdHost(handle, n, nnzA, descrA, csrRowPtrA, csrColIndA, p);
}

/* ---- a diagonal without zeros ---- */

/* Rows for columns: row_of[j] is the row that comes to place j, column_of[i] where row i comes; -1: none yet. */
struct matching {
  const struct pattern *of; /* the transpose of the matrix, counted from 0, without zeros */
  int *row_of, *column_of, *seen, *path, *next;
};

/* Finds a row for column `first` along a path of exchanges: depth first, rows upwards. */
static bool augment(struct matching *m, int first) {
  const int *begin = m->of->row, *rows = m->of->column;
  int depth = 0;
  m->path[0] = first, m->next[first] = begin[first];
  while (depth >= 0) {
    int column = m->path[depth], at = m->next[column]++;
    if (at >= begin[column + 1]) {
      depth--;
      continue;
    }
    int row = rows[at];
    if (m->seen[row] == first) continue;
    m->seen[row] = first;
    if (m->column_of[row] >= 0) { /* the column that has it looks for another */
      int other = m->path[++depth] = m->column_of[row];
      m->next[other] = begin[other];
      continue;
    }
    for (; depth >= 0; depth--) {
      column = m->path[depth], row = rows[m->next[column] - 1];
      m->row_of[column] = row, m->column_of[row] = column;
    }
    return true;
  }
  return false;
}

/* Columns without a row get those that are left. Returns how many have one. */
static int match(struct matching *m) {
  int n = m->of->n, found = 0;
  for (int i = 0; i < n; i++) m->row_of[i] = m->column_of[i] = m->seen[i] = -1;
  for (int j = 0; j < n; j++) found += augment(m, j);
  for (int j = 0, row = 0; j < n; j++) {
    if (m->row_of[j] >= 0) continue;
    while (m->column_of[row] >= 0) row++;
    m->row_of[j] = row, m->column_of[row] = j;
  }
  return found;
}

static cusolverStatus_t zero_free(cusolverSpHandle_t handle, enum kind kind, const struct pattern *of, const void *value,
                                  int *p, int *count) {
  enum { ARRAYS = 4 };
  cusolverStatus_t status = ready(handle, of);
  if (status) return status;
  if (!value || !p || !count) return CUSOLVER_STATUS_INVALID_VALUE;
  size_t n = (size_t)of->n, entries = (size_t)of->entries + 1;
  int *rows = calloc(n + 2, sizeof *rows), *columns = malloc(entries * sizeof *columns);
  int *room = malloc(ARRAYS * n * sizeof *room);
  if (rows && columns && room) {
    for (int pass = 0; pass < 2; pass++) { /* counts, then places */
      for (int i = 0; i < of->n; i++) {
        for (int k = of->row[i] - of->base; k < of->row[i + 1] - of->base; k++) {
          int j = of->column[k] - of->base;
          if (sparse_number(kind, value, k) == 0) continue;
          if (pass) columns[rows[j + 1]++] = i;
          else rows[j + 2]++;
        }
      }
      for (size_t j = 1; j < n && !pass; j++) rows[j + 1] += rows[j];
    }
    const struct pattern turned = {of->n, of->n, rows[n], 0, rows, columns};
    struct matching matching = {&turned, p, room, room + n, room + 2 * n, room + 3 * n};
    *count = match(&matching);
  } else {
    status = CUSOLVER_STATUS_ALLOC_FAILED;
  }
  free(rows), free(columns), free(room);
  return status;
}

#define ZERO_FREE(letter, T, kind)                                                                                     \
  cusolverStatus_t cusolverSp##letter##csrzfdHost(cusolverSpHandle_t handle, int n, int nnz,                           \
                                                  cusparseMatDescr_t descrA, const T *csrValA, const int *csrRowPtrA,  \
                                                  const int *csrColIndA, int *P, int *numnz) {                         \
    const struct pattern of = {n, n, nnz, sparse_base(descrA), csrRowPtrA, csrColIndA};                                \
    return zero_free(handle, kind, &of, csrValA, P, numnz);                                                            \
  }

ZERO_FREE(S, float, SINGLE)
ZERO_FREE(D, double, TWICE)
ZERO_FREE(C, cuComplex, COMPLEX)
ZERO_FREE(Z, cuDoubleComplex, BOTH)

/* ---- applying ---- */

/* Whether each number below n is in a list once; place[list[i]] becomes i. */
static bool invert(const int *list, int n, int *place) {
  for (int i = 0; i < n; i++) place[i] = -1;
  for (int i = 0; i < n; i++) {
    if (list[i] < 0 || list[i] >= n || place[list[i]] >= 0) return false;
    place[list[i]] = i;
  }
  return true;
}

cusolverStatus_t cusolverSpXcsrperm_bufferSizeHost(cusolverSpHandle_t handle, int m, int n, int nnzA,
                                                   cusparseMatDescr_t descrA, const int *csrRowPtrA,
                                                   const int *csrColIndA, const int *p, const int *q,
                                                   size_t *bufferSizeInBytes) {
  size_t internal;
  const struct pattern of = {m, n, nnzA, sparse_base(descrA), csrRowPtrA, csrColIndA};
  cusolverStatus_t status = ready(handle, &of);
  if (!status && (!p || !q || !bufferSizeInBytes)) status = CUSOLVER_STATUS_INVALID_VALUE;
  return status ? status : sparse_buffers(&internal, bufferSizeInBytes);
}

cusolverStatus_t cusolverSpXcsrpermHost(cusolverSpHandle_t handle, int m, int n, int nnzA, cusparseMatDescr_t descrA,
                                        int *csrRowPtrA, int *csrColIndA, const int *p, const int *q, int *map,
                                        void *pBuffer) {
  (void)pBuffer;
  const struct pattern of = {m, n, nnzA, sparse_base(descrA), csrRowPtrA, csrColIndA};
  cusolverStatus_t status = ready(handle, &of);
  if (status) return status;
  if (!p || !q || !map) return CUSOLVER_STATUS_INVALID_VALUE;
  size_t entries = (size_t)nnzA + 1;
  int *rows = malloc(((size_t)m + 1) * sizeof *rows), *columns = malloc(entries * sizeof *columns);
  int *from = malloc(entries * sizeof *from), *place = malloc((size_t)(m > n ? m : n) * sizeof *place);
  if (!rows || !columns || !from || !place) status = CUSOLVER_STATUS_ALLOC_FAILED;
  else if (!invert(p, m, place) || !invert(q, n, place)) status = CUSOLVER_STATUS_INVALID_VALUE;
  if (!status) {
    sparse_arrange(&of, p, place, rows, columns, from);
    for (int i = 0; i <= m; i++) csrRowPtrA[i] = rows[i] + of.base;
    for (int k = 0; k < nnzA; k++) csrColIndA[k] = columns[k] + of.base, from[k] = map[from[k]];
    memcpy(map, from, (size_t)nnzA * sizeof *map);
  }
  free(rows), free(columns), free(from), free(place);
  return status;
}

/* ---- symmetry ---- */

/* The transpose of a matrix's pattern, counted from 0, columns of a row upwards; `rows` has n + 2 zeros at first. */
static void transpose(int n, int base, const int *begin, const int *end, const int *column, int *rows, int *columns) {
  for (int i = 0; i < n; i++) {
    for (int k = begin[i] - base; k < end[i] - base; k++) rows[column[k] - base + 2]++;
  }
  for (int i = 0; i < n; i++) rows[i + 2] += rows[i + 1];
  for (int i = 0; i < n; i++) {
    for (int k = begin[i] - base; k < end[i] - base; k++) columns[rows[column[k] - base + 1]++] = i;
  }
}

/* Rows of which each has an end of its own. Returns how many numbers they have; -1: they are no matrix's. */
static int64_t count(const struct pattern *of, const int *end) {
  int64_t entries = 0;
  for (int i = 0; i < of->n; i++) {
    int begin = of->row[i] - of->base, stop = end[i] - of->base;
    if (begin < 0 || stop < begin || stop > of->entries) return -1;
    for (int k = begin; k < stop; k++) {
      if (of->column[k] < of->base || of->column[k] - of->base >= of->n) return -1;
    }
    entries += stop - begin;
  }
  return entries <= of->entries ? entries : -1;
}

cusolverStatus_t cusolverSpXcsrissymHost(cusolverSpHandle_t handle, int m, int nnzA, cusparseMatDescr_t descrA,
                                         const int *csrRowPtrA, const int *csrEndPtrA, const int *csrColIndA,
                                         int *issym) {
  const struct pattern of = {m, m, nnzA, sparse_base(descrA), csrRowPtrA, csrColIndA};
  if (!sparse_is_handle(handle)) return CUSOLVER_STATUS_NOT_INITIALIZED;
  bool good = m >= 1 && nnzA >= 0 && of.base >= 0 && csrRowPtrA && csrEndPtrA && csrColIndA && issym;
  int64_t entries = good ? count(&of, csrEndPtrA) : -1;
  if (entries < 0) return CUSOLVER_STATUS_INVALID_VALUE;
  size_t n = (size_t)m, size = (size_t)entries * sizeof(int);
  int *rows = calloc(2 * (n + 2), sizeof *rows), *columns = malloc(2 * size + 1);
  if (rows && columns) {
    int *back = rows + n + 2, *back_columns = columns + entries;
    transpose(m, of.base, csrRowPtrA, csrEndPtrA, csrColIndA, rows, columns);
    transpose(m, 0, rows, rows + 1, columns, back, back_columns);
    *issym = !memcmp(rows, back, (n + 1) * sizeof *rows) && !memcmp(columns, back_columns, size);
  }
  good = rows && columns;
  free(rows), free(columns);
  return good ? CUSOLVER_STATUS_SUCCESS : CUSOLVER_STATUS_ALLOC_FAILED;
}
