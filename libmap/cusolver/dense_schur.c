/* Schur forms: reflections to a matrix with one subdiagonal, then QR steps with Wilkinson's shift, or for real matrices
 * Francis's with two shifts, so that eigenvalues come in pairs. */
#include "dense_schur.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

enum { MOST_STEPS = 60, UNUSUAL = 10 }; /* for an eigenvalue; after so many, another shift is tried */

#define AT(a, i, j) ((a)[(size_t)(j) * n + (size_t)(i)])

/* ---- one subdiagonal ---- */

static void reflect(size_t n, size_t k, const double complex *v, double twice, double complex *a, double complex *u) {
  for (size_t j = k; j < n; j++) {
    double complex sum = 0;
    for (size_t i = k + 1; i < n; i++) sum += conj(v[i]) * AT(a, i, j);
    for (size_t i = k + 1; i < n; i++) AT(a, i, j) -= twice * sum * v[i];
  }
  for (int second = 0; second < 2; second++) {
    double complex *of = second ? u : a;
    for (size_t i = 0; i < n; i++) {
      double complex sum = 0;
      for (size_t j = k + 1; j < n; j++) sum += AT(of, i, j) * v[j];
      for (size_t j = k + 1; j < n; j++) AT(of, i, j) -= twice * sum * conj(v[j]);
    }
  }
}

static void hessenberg(size_t n, double complex *a, double complex *u, double complex *v) {
  for (size_t i = 0; i < n; i++) {
    for (size_t j = 0; j < n; j++) AT(u, i, j) = i == j;
  }
  for (size_t k = 0; k + 2 < n; k++) {
    double norm = 0;
    for (size_t i = k + 2; i < n; i++) norm = hypot(norm, cabs(AT(a, i, k)));
    if (norm == 0) continue;
    double complex head = AT(a, k + 1, k), turned = head == 0 ? 1 : head / cabs(head);
    norm = hypot(norm, cabs(head));
    double length = 2 * norm * (norm + cabs(head)); /* of v, squared */
    if (!(length > 0)) continue;
    v[k + 1] = head + turned * norm;
    for (size_t i = k + 2; i < n; i++) v[i] = AT(a, i, k);
    reflect(n, k, v, 2 / length, a, u);
    AT(a, k + 1, k) = -turned * norm;
    for (size_t i = k + 2; i < n; i++) AT(a, i, k) = 0;
  }
}

/* ---- complex numbers ---- */

struct rotation { double c; double complex s; };

/* Turns (x, y) to (r, 0). */
static struct rotation turn(double complex x, double complex y) {
  double r = hypot(cabs(x), cabs(y));
  if (!(r > 0)) return (struct rotation){1, 0};
  if (x == 0) return (struct rotation){0, conj(y) / r};
  return (struct rotation){cabs(x) / r, x / cabs(x) * conj(y) / r};
}

/* Rows and columns k and k + 1 of a, in columns from `left` and rows to `low`, and columns of u. */
static void rotate(size_t n, size_t k, size_t left, size_t low, struct rotation g, double complex *a, double complex *u) {
  for (size_t j = left; j < n; j++) {
    double complex x = AT(a, k, j), y = AT(a, k + 1, j);
    AT(a, k, j) = g.c * x + g.s * y, AT(a, k + 1, j) = g.c * y - conj(g.s) * x;
  }
  for (int second = 0; second < 2; second++) {
    double complex *of = second ? u : a;
    for (size_t i = 0; i < (second ? n : low + 1); i++) {
      double complex x = AT(of, i, k), y = AT(of, i, k + 1);
      AT(of, i, k) = g.c * x + conj(g.s) * y, AT(of, i, k + 1) = g.c * y - g.s * x;
    }
  }
}

static bool is_small(double part, double before, double at, double all) {
  double sum = before + at;
  return part <= DBL_EPSILON * (sum > 0 ? sum : all);
}

static double size_of(size_t n, const double complex *a) {
  double all = 0;
  for (size_t i = 0; i < n * n; i++) all = fmax(all, cabs(a[i]));
  return all;
}

/* The eigenvalue of the last two rows that is nearer to the last number. */
static double complex shift_of(size_t n, const double complex *a, size_t last, int step) {
  if (step % UNUSUAL == 0) return AT(a, last, last) + cabs(AT(a, last, last - 1));
  double complex half = (AT(a, last - 1, last - 1) - AT(a, last, last)) / 2;
  double complex product = AT(a, last - 1, last) * AT(a, last, last - 1), root = csqrt(half * half + product);
  double complex sum = cabs(half + root) > cabs(half - root) ? half + root : half - root;
  return sum == 0 ? AT(a, last, last) : AT(a, last, last) - product / sum;
}

static int triangular(size_t n, double complex *a, double complex *u) {
  double all = size_of(n, a);
  size_t last = n - 1;
  for (int step = 0; last > 0;) {
    size_t first = last;
    while (first > 0 && !is_small(cabs(AT(a, first, first - 1)), cabs(AT(a, first - 1, first - 1)), cabs(AT(a, first, first)),
                                  all)) {
      first--;
    }
    if (first > 0) AT(a, first, first - 1) = 0;
    if (first == last) {
      last--, step = 0;
      continue;
    }
    if (++step > MOST_STEPS) return (int)last + 1;
    double complex x = AT(a, first, first) - shift_of(n, a, last, step), y = AT(a, first + 1, first);
    for (size_t k = first; k < last; k++) {
      rotate(n, k, k > first ? k - 1 : first, k + 2 < last ? k + 2 : last, turn(x, y), a, u);
      if (k > first) AT(a, k + 1, k - 1) = 0;
      if (k + 1 < last) x = AT(a, k + 1, k), y = AT(a, k + 2, k);
    }
  }
  return 0;
}

/* ---- real numbers ---- */

/* A reflection of `size` rows and columns from k on, by the vector v. */
static void reflect_real(size_t n, size_t k, size_t size, size_t left, size_t low, const double *v, double *a, double *u) {
  double length = 0;
  for (size_t i = 0; i < size; i++) length += v[i] * v[i];
  if (!(length > 0)) return;
  for (size_t j = left; j < n; j++) {
    double sum = 0;
    for (size_t i = 0; i < size; i++) sum += v[i] * AT(a, k + i, j);
    for (size_t i = 0; i < size; i++) AT(a, k + i, j) -= 2 / length * sum * v[i];
  }
  for (int second = 0; second < 2; second++) {
    double *of = second ? u : a;
    for (size_t i = 0; i < (second ? n : low + 1); i++) {
      double sum = 0;
      for (size_t j = 0; j < size; j++) sum += AT(of, i, k + j) * v[j];
      for (size_t j = 0; j < size; j++) AT(of, i, k + j) -= 2 / length * sum * v[j];
    }
  }
}

static void francis(size_t n, size_t first, size_t last, int step, double *a, double *u) {
  double trace = AT(a, last - 1, last - 1) + AT(a, last, last);
  double product = AT(a, last - 1, last - 1) * AT(a, last, last) - AT(a, last - 1, last) * AT(a, last, last - 1);
  if (step % UNUSUAL == 0) {
    double apart = fabs(AT(a, last, last - 1)) + fabs(AT(a, last - 1, last - 2));
    trace = 1.5 * apart, product = apart * apart;
  }
  double top = AT(a, first, first), below = AT(a, first + 1, first);
  double x[3] = {top * (top - trace) + AT(a, first, first + 1) * below + product,
                 below * (top + AT(a, first + 1, first + 1) - trace), below * AT(a, first + 2, first + 1)};
  for (size_t k = first; k < last; k++) {
    size_t size = k + 1 < last ? 3 : 2, low = k + 3 < last ? k + 3 : last;
    double largest = 0, norm = 0;
    for (size_t i = 0; i < size; i++) largest = fmax(largest, fabs(x[i]));
    for (size_t i = 0; i < size && largest > 0; i++) x[i] /= largest, norm = hypot(norm, x[i]);
    x[0] += copysign(norm, x[0]);
    reflect_real(n, k, size, k > first ? k - 1 : first, low, x, a, u);
    for (size_t i = 1; i < size && k > first; i++) AT(a, k + i, k - 1) = 0;
    for (size_t i = 0; i < 3 && k + 1 + i <= last; i++) x[i] = AT(a, k + 1 + i, k);
  }
}

/* Two rows with real eigenvalues are made triangular. */
static void split(size_t n, size_t k, double *a, double *u) {
  double half = (AT(a, k, k) - AT(a, k + 1, k + 1)) / 2, root = half * half + AT(a, k, k + 1) * AT(a, k + 1, k);
  if (root < 0) return;
  double x = half + copysign(sqrt(root), half), y = AT(a, k + 1, k), norm = hypot(x, y);
  if (!(norm > 0)) return;
  double v[2] = {x / norm + copysign(1, x), y / norm}; /* reflects the eigenvector (x, y) to the first row */
  reflect_real(n, k, 2, k, k + 1, v, a, u);
  AT(a, k + 1, k) = 0;
}

static int quasi_triangular(size_t n, double all, double *a, double *u) {
  size_t rest = n; /* rows that are not done */
  for (int step = 0; rest > 0;) {
    size_t last = rest - 1, first = last;
    while (first > 0 && !is_small(fabs(AT(a, first, first - 1)), fabs(AT(a, first - 1, first - 1)), fabs(AT(a, first, first)),
                                  all)) {
      first--;
    }
    if (first > 0) AT(a, first, first - 1) = 0;
    if (last - first < 2) {
      if (last > first) split(n, first, a, u);
      rest = first, step = 0;
      continue;
    }
    if (++step > MOST_STEPS) return (int)rest;
    francis(n, first, last, step, a, u);
  }
  return 0;
}

/* Rows with a pair of complex eigenvalues become triangular; these are made exact conjugates. */
static void finish_pairs(size_t n, double complex *a, double complex *u) {
  for (size_t k = 0; k + 1 < n; k++) {
    double below = creal(AT(a, k + 1, k)), half = (creal(AT(a, k, k)) - creal(AT(a, k + 1, k + 1))) / 2;
    if (below == 0) continue;
    double mean = creal(AT(a, k + 1, k + 1)) + half, part = sqrt(-(half * half + creal(AT(a, k, k + 1)) * below));
    double complex value = mean + I * part;
    rotate(n, k, k, k + 1, turn(value - AT(a, k + 1, k + 1), below), a, u);
    AT(a, k + 1, k) = 0, AT(a, k, k) = value, AT(a, k + 1, k + 1) = conj(value);
    k++;
  }
}

static int real_schur(size_t n, double complex *a, double complex *u) {
  double *own = malloc(2 * n * n * sizeof *own), *of_u = own + n * n;
  if (!own) return -1;
  for (size_t i = 0; i < n * n; i++) own[i] = creal(a[i]), of_u[i] = creal(u[i]);
  int wrong = quasi_triangular(n, size_of(n, a), own, of_u);
  for (size_t i = 0; i < n * n; i++) a[i] = own[i], u[i] = of_u[i];
  free(own);
  if (!wrong) finish_pairs(n, a, u);
  return wrong;
}

int dense_schur(size_t n, bool real, double complex *a, double complex *u) {
  double complex *v = malloc((n + 1) * sizeof *v);
  if (!v) return -1;
  hessenberg(n, a, u, v);
  free(v);
  if (!n) return 0;
  return real ? real_schur(n, a, u) : triangular(n, a, u);
}

/* ---- vectors ---- */

void dense_vector(size_t n, bool real, const double complex *t, const double complex *u, size_t k, double complex *y,
                  double complex *x) {
  double least = fmax(DBL_EPSILON * size_of(n, t), DBL_MIN);
  y[k] = 1; /* of T; those after it are 0 */
  for (size_t i = k; i-- > 0;) {
    double complex sum = 0, by = AT(t, i, i) - AT(t, k, k);
    for (size_t j = i + 1; j <= k; j++) sum += AT(t, i, j) * y[j];
    y[i] = -sum / (cabs(by) > least ? by : least);
    double size = cabs(y[i]);
    for (size_t j = i; j <= k && size > 1e100; j++) y[j] /= size;
  }
  size_t largest = 0;
  double norm = 0;
  for (size_t i = 0; i < n; i++) {
    x[i] = 0;
    for (size_t j = 0; j <= k; j++) x[i] += AT(u, i, j) * y[j];
    norm = hypot(norm, cabs(x[i]));
    if (cabs(x[i]) > cabs(x[largest])) largest = i;
  }
  double complex turned = x[largest] == 0 ? 1 : conj(x[largest]) / cabs(x[largest]);
  bool no_pair = real && cimag(AT(t, k, k)) == 0;
  for (size_t i = 0; i < n; i++) x[i] *= turned / norm;
  for (size_t i = 0; i < n && no_pair; i++) x[i] = creal(x[i]);
  x[largest] = creal(x[largest]);
}
