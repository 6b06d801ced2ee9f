/* Sparse systems on the host, in complex numbers of double precision for all types: solutions (sparse_solve.c), factors
 * (sparse_lu.c), least squares and eigenvalues (sparse_dense.c), orders (sparse_order.c). */
#ifndef CUSOLVER_SPARSE_SOLVE_H
#define CUSOLVER_SPARSE_SOLVE_H
#include <complex.h>
#include <stdbool.h>

/* A matrix of m rows and n columns; indices count from 0, in each row upwards. */
struct sparse {
  int m, n;
  const int *row, *column; /* n + 1 of the first */
  const double complex *value;
};
enum { SPARSE_SOLVED = -1, SPARSE_NO_MEMORY = -2 };

/* Numbers at places, upwards: a row or a column of a factor. */
struct line {
  int count, room;
  int *at;
  double complex *value;
};
bool sparse_append(struct line *line, int at, double complex value);
void sparse_free(struct line *lines, int count);

/* Q R = A by Givens rotations, of at least as many rows as columns: x holds b, then the first n numbers of Q^H b, of whose
 * others `rest` becomes the norm. Rows of R begin at the diagonal or are empty. NULL: no memory. */
struct line *sparse_triangle(const struct sparse *a, double complex *x, double *rest);

/* x holds b, then the solution. Returns SPARSE_SOLVED, SPARSE_NO_MEMORY, or the first diagonal number of the factor that
 * is not above the tolerance. Rotations minimise |b - A x|. By Cholesky's method only the lower triangle is read, and
 * `diagonal` is the factor's. */
int sparse_by_rotations(const struct sparse *a, double tolerance, double complex *x);
int sparse_by_cholesky(const struct sparse *a, double tolerance, double complex *x, double *diagonal);
int sparse_by_lu(const struct sparse *a, double tolerance, double complex *x);

/* P A = L U: row k of P A is row p[k] of A. Columns of L without the diagonal of ones, at rows of A; columns of U, with the
 * diagonal as the last number. */
struct factors {
  int n, *p;
  struct line *lower, *upper;
};
/* The row of the diagonal is the pivot if it is at least `threshold` times the largest number. False: no memory. */
bool sparse_factor(const struct sparse *a, double threshold, struct factors *out);
void sparse_free_factors(struct factors *factors);
/* The first diagonal number of U that is not above the tolerance; SPARSE_SOLVED: none. */
int sparse_pivot(const struct factors *factors, double tolerance);
/* b, which is overwritten, to x. */
void sparse_substitute(const struct factors *factors, double complex *b, double complex *x);

/* x holds b (m numbers), then the shortest of the vectors that minimise |b - A x|, which becomes `norm`. Columns p[0] ...
 * p[rank - 1] are independent. False: no memory. */
bool sparse_least_squares(const struct sparse *a, double tolerance, double complex *x, int *p, int *rank, double *norm);
/* All eigenvalues of a dense matrix in rows, which is overwritten. False: they were not found. */
bool dense_eigenvalues(int n, double complex *a, double complex *values);
/* The reverse order of Cuthill and McKee for the matrix and its transpose: order[i] is the row that comes i-th. False:
 * no memory. */
bool sparse_order(const struct sparse *a, int *order);
/* In the same way, the row with the fewest neighbours first, whenever one is eliminated. */
bool sparse_degree_order(const struct sparse *a, int *order);
#endif
