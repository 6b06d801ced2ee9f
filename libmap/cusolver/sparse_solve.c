#include "sparse_solve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool reserve(struct line *line, int count) {
  if (count <= line->room) return true;
  int room = count > 2 * line->room ? count : 2 * line->room;
  int *at = realloc(line->at, (size_t)room * sizeof *at);
  if (at) line->at = at;
  double complex *value = realloc(line->value, (size_t)room * sizeof *value);
  if (value) line->value = value;
  if (at && value) line->room = room;
  return at && value;
}

bool sparse_append(struct line *line, int at, double complex value) {
  if (!reserve(line, line->count + 1)) return false;
  line->at[line->count] = at, line->value[line->count++] = value;
  return true;
}

void sparse_free(struct line *lines, int count) {
  for (int i = 0; i < count && lines; i++) free(lines[i].at), free(lines[i].value);
  free(lines);
}

/* Rotates a row of the factor and a row that begins at the same column, whose first number becomes 0 and is left out.
 * `spare` has room for the sum of their lengths, and takes the place of the first. */
static bool rotate(struct line *factor, struct line *row, struct line *spare, double complex *x, double complex *of_row) {
  double complex a = factor->value[0], b = row->value[0];
  double length = cabs(cabs(a) + I * cabs(b));
  double complex keep = conj(a) / length, take = conj(b) / length;
  struct line rest = {0};
  if (!reserve(spare, factor->count + row->count) || !reserve(&rest, factor->count + row->count)) {
    free(rest.at), free(rest.value);
    return false;
  }
  spare->count = 0;
  for (int i = 0, j = 0; i < factor->count || j < row->count;) {
    int left = i < factor->count ? factor->at[i] : row->at[j], right = j < row->count ? row->at[j] : left;
    int at = left < right ? left : right;
    double complex u = i < factor->count && factor->at[i] == at ? factor->value[i++] : 0;
    double complex v = j < row->count && row->at[j] == at ? row->value[j++] : 0;
    spare->at[spare->count] = at, spare->value[spare->count++] = keep * u + take * v;
    if (spare->count > 1) rest.at[rest.count] = at, rest.value[rest.count++] = (a * v - b * u) / length;
  }
  double complex above = *x, below = *of_row;
  *x = keep * above + take * below;
  *of_row = (a * below - b * above) / length;
  struct line old = *factor;
  *factor = *spare, *spare = old;
  free(row->at), free(row->value);
  *row = rest;
  return true;
}

/* Goes on with a row until a row of the factor is free for it, or nothing is left: then `rest` grows by what is left of
 * the right side. */
static bool insert(struct line *factor, struct line *row, struct line *spare, double complex *x, double complex of_row,
                   double *rest) {
  while (row->count) {
    int first = row->at[0];
    if (row->value[0] == 0) {
      row->count--;
      memmove(row->at, row->at + 1, (size_t)row->count * sizeof *row->at);
      memmove(row->value, row->value + 1, (size_t)row->count * sizeof *row->value);
    } else if (!factor[first].count) {
      factor[first] = *row, x[first] = of_row;
      *row = (struct line){0};
      return true;
    } else if (!rotate(&factor[first], row, spare, &x[first], &of_row)) {
      return false;
    }
  }
  *rest = hypot(*rest, cabs(of_row));
  return true;
}

struct line *sparse_triangle(const struct sparse *a, double complex *x, double *rest) {
  struct line *factor = calloc((size_t)a->n, sizeof *factor), spare = {0}, row = {0};
  double complex *b = malloc((size_t)a->m * sizeof *b);
  bool good = factor && b;
  *rest = 0;
  if (good) {
    memcpy(b, x, (size_t)a->m * sizeof *b);
    memset(x, 0, (size_t)a->m * sizeof *x);
  }
  for (int i = 0; i < a->m && good; i++) {
    row.count = 0;
    for (int k = a->row[i]; k < a->row[i + 1] && good; k++) good = sparse_append(&row, a->column[k], a->value[k]);
    good = good && insert(factor, &row, &spare, x, b[i], rest);
  }
  free(row.at), free(row.value), free(spare.at), free(spare.value), free(b);
  if (good) return factor;
  sparse_free(factor, a->n);
  return NULL;
}

int sparse_by_rotations(const struct sparse *a, double tolerance, double complex *x) {
  double rest;
  struct line *factor = sparse_triangle(a, x, &rest);
  int outcome = factor ? SPARSE_SOLVED : SPARSE_NO_MEMORY;
  for (int i = 0; i < a->n && outcome == SPARSE_SOLVED; i++) {
    if (!factor[i].count || !(cabs(factor[i].value[0]) > tolerance)) outcome = i;
  }
  for (int i = a->n - 1; i >= 0 && outcome == SPARSE_SOLVED; i--) {
    for (int k = 1; k < factor[i].count; k++) x[i] -= factor[i].value[k] * x[factor[i].at[k]];
    x[i] /= factor[i].value[0];
  }
  sparse_free(factor, a->n);
  return outcome;
}

/* The next row of the factor, whose columns are in `factor`, from its numbers in `row`. Returns the diagonal's square. */
static double eliminate(struct line *factor, const double *diagonal, int i, double complex *row, bool *good) {
  double square = creal(row[i]);
  row[i] = 0;
  for (int k = 0; k < i && *good; k++) {
    if (row[k] == 0) continue;
    double complex number = row[k] / diagonal[k];
    row[k] = 0;
    for (int e = 0; e < factor[k].count; e++) row[factor[k].at[e]] -= number * conj(factor[k].value[e]);
    square -= creal(number * conj(number));
    *good = sparse_append(&factor[k], i, number);
  }
  return square;
}

int sparse_by_cholesky(const struct sparse *a, double tolerance, double complex *x, double *diagonal) {
  struct line *factor = calloc((size_t)a->n, sizeof *factor);
  double complex *row = calloc((size_t)a->n, sizeof *row);
  int outcome = factor && row ? SPARSE_SOLVED : SPARSE_NO_MEMORY;
  for (int i = 0; i < a->n && outcome == SPARSE_SOLVED; i++) {
    bool good = true;
    for (int k = a->row[i]; k < a->row[i + 1]; k++) {
      if (a->column[k] <= i) row[a->column[k]] = a->value[k];
    }
    double square = eliminate(factor, diagonal, i, row, &good);
    diagonal[i] = square > 0 ? sqrt(square) : 0;
    if (!good) outcome = SPARSE_NO_MEMORY;
    else if (!(diagonal[i] > tolerance)) outcome = i;
  }
  for (int k = 0; k < a->n && outcome == SPARSE_SOLVED; k++) {
    x[k] /= diagonal[k];
    for (int e = 0; e < factor[k].count; e++) x[factor[k].at[e]] -= factor[k].value[e] * x[k];
  }
  for (int k = a->n - 1; k >= 0 && outcome == SPARSE_SOLVED; k--) {
    for (int e = 0; e < factor[k].count; e++) x[k] -= conj(factor[k].value[e]) * x[factor[k].at[e]];
    x[k] /= diagonal[k];
  }
  free(row);
  sparse_free(factor, a->n);
  return outcome;
}
