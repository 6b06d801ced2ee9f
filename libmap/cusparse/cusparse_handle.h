/* What the functions of libcusparse share (cusparse.c). */
#ifndef CUSPARSE_HANDLE_H
#define CUSPARSE_HANDLE_H
#include "cusparse_api.h"
#include "hipsparse_table.h"

struct cusparseHandle_t_st {
  uint64_t mark; /* of a handle that is there */
  hipsparseHandle_t hipsparse;
  cudaStream_t stream; /* as the program knows it */
};

/* A solution with many right-hand sides. */
struct cusparseSpSMDescr_t_st {
  hipsparseSpSMDescr_t hipsparse;
  void *buffer; /* of the analysis, which cuSPARSE uses for the solution too */
};

/* hipSPARSE's handle; false: it is none of ours. */
bool cusparse_found(cusparseHandle_t handle, hipsparseHandle_t *found);
/* The descriptor itself; false: there is none. */
bool cusparse_spsm_found(cusparseSpSMDescr_t descr, struct cusparseSpSMDescr_t_st **found);
#endif
