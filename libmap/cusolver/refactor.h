/* Objects of refactorisations (refactor.c, refactor_batch.c). */
#ifndef CUSOLVER_REFACTOR_H
#define CUSOLVER_REFACTOR_H
#include "sparse_system.h"

enum { REFACTOR_HANDLE = 0x63737266, CSR = 0, STORED_L = 0, ASSUMED_L = 2, LAST_DIAGONAL = 3 };
struct cusolverRfHandle_t_st {
  int mark;
  hipsolverRfHandle_t hipsolver;
  cusolverRfUnitDiagonal_t diagonal;
  cusolverRfFactorization_t factor;
  cusolverRfTriangularSolve_t solve;
  cusolverRfResetValuesFastMode_t fast;
  int count, n; /* matrices of a batch, and their size */
  struct cusolverRfHandle_t_st **batch; /* one for each */
};

bool refactor_is_handle(cusolverRfHandle_t handle);
void refactor_free_batch(cusolverRfHandle_t handle);
#endif
