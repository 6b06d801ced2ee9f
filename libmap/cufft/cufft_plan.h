/* What the functions of libcufft share (cufft.c). */
#ifndef CUFFT_PLAN_H
#define CUFFT_PLAN_H
#include "cufft_api.h"
#include "hipfft_table.h"

/* hipFFT's plan; false: there is none of that number. */
bool cufft_found(cufftHandle plan, hipfftHandle *found);
/* Whether a transform can have these sizes. */
bool cufft_sizes(int rank, const int *sizes);
bool cufft_sizes_64(int rank, const long long *sizes);
#endif
