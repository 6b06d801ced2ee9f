/* What needs dense matrices on the host: least squares of a matrix whose columns may depend on each other, eigenvalues. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sparse_solve.h"

/* ---- least squares ---- */

/* A matrix in rows, of which those from `first` on are reflected so that column k is 0 below the first. Returns the norm
 * that this column had; with none above `least`, nothing is done. */
static double reflect(double complex *a, int rows, int columns, int first, int k, double least) {
  double norm = 0;
  for (int i = first; i < rows; i++) norm = hypot(norm, cabs(a[(size_t)i * (size_t)columns + (size_t)k]));
  if (!(norm > least)) return norm;
  double complex *top = &a[(size_t)first * (size_t)columns + (size_t)k], head = *top;
  double complex turned = cabs(head) > 0 ? head / cabs(head) : 1;
  *top += turned * norm; /* column k is the vector v of I - 2 v v^H / |v|^2 now */
  double half = norm * (norm + cabs(head));
  for (int j = 0; j < columns; j++) {
    double complex sum = 0;
    if (j == k) continue;
    for (int i = first; i < rows; i++) {
      const double complex *row = a + (size_t)i * (size_t)columns;
      sum += conj(row[k]) * row[j];
    }
    for (int i = first; i < rows && sum != 0; i++) {
      double complex *row = a + (size_t)i * (size_t)columns;
      row[j] -= sum / half * row[k];
    }
  }
  *top = -turned * norm;
  for (int i = first + 1; i < rows; i++) a[(size_t)i * (size_t)columns + (size_t)k] = 0;
  return norm;
}

static void exchange(double complex *a, int rows, int columns, int j, int k) {
  for (int i = 0; i < rows; i++) {
    double complex *row = a + (size_t)i * (size_t)columns, moved = row[j];
    row[j] = row[k], row[k] = moved;
  }
}

/* R y = c in the first `rank` rows, with the shortest y; r: n rows of n + 1 numbers, of which the last is c's. */
static bool shortest(const double complex *r, int n, int rank, double complex *y) {
  size_t wide = (size_t)rank + (size_t)n;
  double complex *a = calloc((size_t)n * wide, sizeof *a), *z = malloc(((size_t)rank + 1) * sizeof *z);
  bool good = a && z;
  for (int i = 0; i < n && good; i++) { /* R^H, and beside it what becomes Q^H of its factor */
    for (int j = 0; j < rank; j++) a[(size_t)i * wide + (size_t)j] = conj(r[(size_t)j * ((size_t)n + 1) + (size_t)i]);
    a[(size_t)i * wide + (size_t)rank + (size_t)i] = 1;
  }
  for (int k = 0; k < rank && good; k++) reflect(a, n, (int)wide, k, k, 0);
  for (int k = 0; k < rank && good; k++) {
    z[k] = r[(size_t)k * ((size_t)n + 1) + (size_t)n];
    for (int j = 0; j < k; j++) z[k] -= conj(a[(size_t)j * wide + (size_t)k]) * z[j];
    z[k] /= conj(a[(size_t)k * wide + (size_t)k]);
  }
  for (int i = 0; i < n && good; i++) {
    y[i] = 0;
    for (int k = 0; k < rank; k++) y[i] += conj(a[(size_t)k * wide + (size_t)rank + (size_t)i]) * z[k];
  }
  free(a), free(z);
  return good;
}

/* A column that depends on those before it changes places with the last. */
static bool with_dependent(const struct line *factor, int n, double tolerance, double complex *x, int *p, int *rank,
                           double *rest) {
  size_t wide = (size_t)n + 1;
  double complex *r = calloc((size_t)n * wide, sizeof *r), *y = malloc((size_t)n * sizeof *y);
  bool good = r && y;
  for (int i = 0; i < n && good; i++) {
    for (int e = 0; e < factor[i].count; e++) r[(size_t)i * wide + (size_t)factor[i].at[e]] = factor[i].value[e];
    r[(size_t)i * wide + (size_t)n] = x[i];
  }
  *rank = n;
  for (int k = 0; k < *rank && good;) {
    if (reflect(r, n, (int)wide, k, k, tolerance) > tolerance) {
      k++;
      continue;
    }
    int last = --*rank, moved = p[k];
    exchange(r, n, (int)wide, k, last);
    p[k] = p[last], p[last] = moved;
  }
  for (int i = *rank; i < n && good; i++) *rest = hypot(*rest, cabs(r[(size_t)i * wide + (size_t)n]));
  good = good && shortest(r, n, *rank, y);
  for (int i = 0; i < n && good; i++) x[p[i]] = y[i];
  free(r), free(y);
  return good;
}

bool sparse_least_squares(const struct sparse *a, double tolerance, double complex *x, int *p, int *rank, double *norm) {
  struct line *factor = sparse_triangle(a, x, norm);
  bool good = factor, whole = good;
  for (int i = 0; i < a->n; i++) p[i] = i;
  for (int i = 0; i < a->n && whole; i++) whole = factor[i].count && cabs(factor[i].value[0]) > tolerance;
  *rank = a->n;
  if (good && !whole) good = with_dependent(factor, a->n, tolerance, x, p, rank, norm);
  for (int i = a->n - 1; i >= 0 && whole; i--) {
    for (int k = 1; k < factor[i].count; k++) x[i] -= factor[i].value[k] * x[factor[i].at[k]];
    x[i] /= factor[i].value[0];
  }
  sparse_free(factor, a->n);
  return good;
}

/* ---- eigenvalues ---- */

/* A matrix with the same eigenvalues and nothing below the first subdiagonal, by elimination. */
static void hessenberg(int n, double complex *a) {
  size_t wide = (size_t)n;
  for (int k = 1; k < n - 1; k++) {
    int pivot = k;
    for (int i = k; i < n; i++) {
      if (cabs(a[(size_t)i * wide + (size_t)k - 1]) > cabs(a[(size_t)pivot * wide + (size_t)k - 1])) pivot = i;
    }
    double complex most = a[(size_t)pivot * wide + (size_t)k - 1];
    if (most == 0) continue;
    for (int j = 0; j < n && pivot != k; j++) {
      double complex moved = a[(size_t)k * wide + (size_t)j];
      a[(size_t)k * wide + (size_t)j] = a[(size_t)pivot * wide + (size_t)j], a[(size_t)pivot * wide + (size_t)j] = moved;
    }
    if (pivot != k) exchange(a, n, n, k, pivot);
    for (int i = k + 1; i < n; i++) {
      double complex factor = a[(size_t)i * wide + (size_t)k - 1] / most;
      if (factor == 0) continue;
      for (int j = k - 1; j < n; j++) a[(size_t)i * wide + (size_t)j] -= factor * a[(size_t)k * wide + (size_t)j];
      for (int j = 0; j < n; j++) a[(size_t)j * wide + (size_t)k] += factor * a[(size_t)j * wide + (size_t)i];
    }
  }
}

/* The eigenvalue of the last two rows and columns up to `last` that is nearer to the last number. */
static double complex nearer(const double complex *a, size_t wide, size_t last) {
  double complex p = a[(last - 1) * wide + last - 1], q = a[(last - 1) * wide + last];
  double complex r = a[last * wide + last - 1], s = a[last * wide + last];
  double complex half = (p - s) / 2, root = csqrt(half * half + q * r);
  double complex sum = cabs(half + root) > cabs(half - root) ? half + root : half - root;
  return sum == 0 ? s : s - q * r / sum;
}

/* One step: rotations make rows first ... last of A - shift I triangular, then they are applied from the right. */
static void step(double complex *a, size_t wide, size_t first, size_t last, double complex shift, double complex *turns) {
  for (size_t i = first; i <= last; i++) a[i * wide + i] -= shift;
  for (size_t k = first; k < last; k++) {
    double complex u = a[k * wide + k], v = a[(k + 1) * wide + k];
    double length = hypot(cabs(u), cabs(v));
    double complex keep = length > 0 ? conj(u) / length : 1, take = length > 0 ? conj(v) / length : 0;
    turns[2 * k] = keep, turns[2 * k + 1] = take;
    for (size_t j = k; j <= last; j++) {
      double complex above = a[k * wide + j], below = a[(k + 1) * wide + j];
      a[k * wide + j] = keep * above + take * below;
      a[(k + 1) * wide + j] = conj(keep) * below - conj(take) * above;
    }
  }
  for (size_t k = first; k < last; k++) {
    double complex keep = turns[2 * k], take = turns[2 * k + 1];
    for (size_t i = first; i <= k + 1; i++) {
      double complex left = a[i * wide + k], right = a[i * wide + k + 1];
      a[i * wide + k] = conj(keep) * left + conj(take) * right;
      a[i * wide + k + 1] = keep * right - take * left;
    }
  }
  for (size_t i = first; i <= last; i++) a[i * wide + i] += shift;
}

bool dense_eigenvalues(int n, double complex *a, double complex *values) {
  enum { PATIENCE = 300, UNUSUAL = 10 };
  size_t wide = (size_t)n, last = wide - 1;
  double complex *turns = malloc(2 * wide * sizeof *turns);
  if (!turns) return false;
  hessenberg(n, a);
  for (int tries = 0; last > 0 && tries < PATIENCE;) {
    size_t first = last;
    for (; first > 0; first--) {
      double complex *below = &a[first * wide + first - 1];
      double beside = cabs(a[first * wide + first]) + cabs(a[(first - 1) * wide + first - 1]);
      if (cabs(*below) > DBL_EPSILON * beside && cabs(*below) > DBL_MIN) continue;
      *below = 0;
      break;
    }
    if (first == last) {
      last--, tries = 0;
      continue;
    }
    double complex shift = ++tries % UNUSUAL ? nearer(a, wide, last) : a[last * wide + last] + cabs(a[last * wide + last - 1]);
    step(a, wide, first, last, shift, turns);
  }
  for (size_t i = 0; i < wide; i++) values[i] = a[i * wide + i];
  free(turns);
  return last == 0;
}
