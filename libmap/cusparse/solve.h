/* What a solve's descriptor keeps of its matrix (solve.c, update.c). */
#ifndef CUSPARSE_SOLVE_H
#define CUSPARSE_SOLVE_H
#include "cusparse_handle.h"

struct analysis {
  rocsparse_spmat_descr matrix; /* analysed copy; NULL: not yet */
  void *buffer;                 /* the workspace, which the program keeps for the solve */
  struct cusparse_parts parts;
  uint64_t values;              /* the numbers, once the program has updated them; 0: they are the matrix's own */
};
struct cusparseSpSVDescr_t_st { struct analysis analysis; };
struct cusparseSpSMDescr_t_st { struct analysis analysis; };

/* The numbers are the matrix's own again. */
void cusparse_forget(struct analysis *kept);
#endif
