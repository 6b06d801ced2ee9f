/* Eigenvalues and vectors of a dense matrix on the host, in double precision (dense_schur.c). */
#ifndef CUSOLVER_DENSE_SCHUR_H
#define CUSOLVER_DENSE_SCHUR_H
#include <complex.h>
#include <stdbool.h>
#include <stddef.h>

/* A = U T U^H with a triangular T; all have n columns of n numbers. Eigenvalues of a real matrix come in exact pairs, the
 * one with the positive imaginary part first. Returns 0; or how many first eigenvalues were not found, as where the
 * matrix has numbers that are not finite; or -1: no memory. */
int dense_schur(size_t n, bool real, double complex *a, double complex *u);
/* The k-th eigenvector: of length 1, its largest number real. For a real matrix, one of a real eigenvalue is real. `y` has
 * room for n numbers. */
void dense_vector(size_t n, bool real, const double complex *t, const double complex *u, size_t k, double complex *y,
                  double complex *x);
#endif
