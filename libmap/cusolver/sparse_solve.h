/* Solutions of sparse systems on the host (sparse_solve.c), in complex numbers of double precision for all types, and
 * orders for them (sparse_order.c). */
#ifndef CUSOLVER_SPARSE_SOLVE_H
#define CUSOLVER_SPARSE_SOLVE_H
#include <complex.h>
#include <stdbool.h>

/* A square matrix in rows; indices count from 0, in each row upwards. */
struct sparse {
  int n;
  const int *row, *column; /* n + 1 of the first */
  const double complex *value;
};
enum { SPARSE_SOLVED = -1, SPARSE_NO_MEMORY = -2 };

/* x holds b, then the solution. Returns SPARSE_SOLVED, SPARSE_NO_MEMORY, or the first diagonal number of the factor that
 * is not above the tolerance. By Cholesky's method only the lower triangle is read, and `diagonal` is the factor's. */
int sparse_by_rotations(const struct sparse *a, double tolerance, double complex *x);
int sparse_by_cholesky(const struct sparse *a, double tolerance, double complex *x, double *diagonal);
/* The reverse order of Cuthill and McKee for the matrix and its transpose: order[i] is the row that comes i-th. False:
 * no memory. */
bool sparse_order(const struct sparse *a, int *order);
/* In the same way, the row with the fewest neighbours first, whenever one is eliminated. */
bool sparse_degree_order(const struct sparse *a, int *order);
#endif
