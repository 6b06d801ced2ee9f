/* LU factors of sparse matrices, column by column, with pivots from the rows. */
#include <stdlib.h>
#include <string.h>

#include "sparse_solve.h"

/* The columns of a matrix: numbers of column j from start[j] on. */
struct columns {
  int *start, *row;
  double complex *value;
};

static bool by_columns(const struct sparse *a, struct columns *out) {
  size_t n = (size_t)a->n, entries = (size_t)a->row[a->m] + 1;
  *out = (struct columns){calloc(n + 2, sizeof(int)), malloc(entries * sizeof(int)), malloc(entries * sizeof *out->value)};
  if (!out->start || !out->row || !out->value) return false;
  int *next = out->start + 1; /* where the next number of a column comes: start itself, in the end */
  for (int k = 0; k < a->row[a->m]; k++) next[a->column[k] + 1]++;
  for (size_t j = 1; j <= n; j++) next[j] += next[j - 1];
  for (int i = 0; i < a->m; i++) {
    for (int k = a->row[i]; k < a->row[i + 1]; k++) {
      int at = next[a->column[k]]++;
      out->row[at] = i, out->value[at] = a->value[k];
    }
  }
  return true;
}

/* The row of the next pivot among those that are `free`, for column k. */
static int choose(int n, int k, double threshold, const bool *free_row, const double complex *x) {
  int best = -1;
  double largest = 0;
  for (int i = 0; i < n; i++) {
    if (free_row[i] && (best < 0 || cabs(x[i]) > largest)) best = i, largest = cabs(x[i]);
  }
  return free_row[k] && cabs(x[k]) >= threshold * largest ? k : best;
}

/* Column k of both factors; x: the column of the matrix, becomes 0. */
static bool add(struct factors *f, int k, double threshold, bool *free_row, double complex *x) {
  bool good = true;
  for (int j = 0; j < k && good; j++) {
    double complex number = x[f->p[j]];
    x[f->p[j]] = 0;
    if (number == 0) continue;
    good = sparse_append(&f->upper[k], j, number);
    for (int e = 0; e < f->lower[j].count; e++) x[f->lower[j].at[e]] -= f->lower[j].value[e] * number;
  }
  int pivot = f->p[k] = choose(f->n, k, threshold, free_row, x);
  double complex diagonal = x[pivot];
  free_row[pivot] = false, x[pivot] = 0;
  good = good && sparse_append(&f->upper[k], k, diagonal);
  for (int i = 0; i < f->n && good; i++) {
    if (x[i] == 0) continue;
    if (diagonal != 0) good = sparse_append(&f->lower[k], i, x[i] / diagonal);
    x[i] = 0;
  }
  return good;
}

bool sparse_factor(const struct sparse *a, double threshold, struct factors *out) {
  size_t n = (size_t)a->n;
  struct columns columns;
  bool *free_row = malloc(n * sizeof *free_row), good = by_columns(a, &columns) && free_row;
  double complex *x = calloc(n, sizeof *x);
  *out = (struct factors){a->n, malloc(n * sizeof *out->p), calloc(n, sizeof *out->lower), calloc(n, sizeof *out->upper)};
  good = good && x && out->p && out->lower && out->upper;
  if (good) memset(free_row, true, n * sizeof *free_row);
  for (int k = 0; k < a->n && good; k++) {
    for (int e = columns.start[k]; e < columns.start[k + 1]; e++) x[columns.row[e]] += columns.value[e];
    good = add(out, k, threshold, free_row, x);
  }
  free(columns.start), free(columns.row), free(columns.value), free(free_row), free(x);
  if (!good) sparse_free_factors(out);
  return good;
}

void sparse_free_factors(struct factors *factors) {
  sparse_free(factors->lower, factors->n), sparse_free(factors->upper, factors->n), free(factors->p);
  *factors = (struct factors){0};
}

static double complex diagonal_number(const struct factors *f, int k) { return f->upper[k].value[f->upper[k].count - 1]; }

int sparse_pivot(const struct factors *factors, double tolerance) {
  for (int k = 0; k < factors->n; k++) {
    if (!(cabs(diagonal_number(factors, k)) > tolerance)) return k;
  }
  return SPARSE_SOLVED;
}

void sparse_substitute(const struct factors *factors, double complex *b, double complex *x) {
  for (int k = 0; k < factors->n; k++) {
    const struct line *lower = &factors->lower[k];
    x[k] = b[factors->p[k]];
    for (int e = 0; e < lower->count; e++) b[lower->at[e]] -= lower->value[e] * x[k];
  }
  for (int k = factors->n - 1; k >= 0; k--) {
    const struct line *upper = &factors->upper[k];
    x[k] /= diagonal_number(factors, k);
    for (int e = 0; e < upper->count - 1; e++) x[upper->at[e]] -= upper->value[e] * x[k];
  }
}

int sparse_by_lu(const struct sparse *a, double tolerance, double complex *x) {
  struct factors factors;
  double complex *b = malloc((size_t)a->n * sizeof *b);
  if (!b || !sparse_factor(a, 1, &factors)) {
    free(b);
    return SPARSE_NO_MEMORY;
  }
  int outcome = sparse_pivot(&factors, tolerance);
  memcpy(b, x, (size_t)a->n * sizeof *b);
  if (outcome == SPARSE_SOLVED) sparse_substitute(&factors, b, x);
  sparse_free_factors(&factors);
  free(b);
  return outcome;
}
