/* Shared by the functions of libcufft (cufft.c). */
#ifndef CUFFT_PLAN_H
#define CUFFT_PLAN_H
#include "cufft_api.h"
#include "hipfft_table.h"

/* hipFFT's plan; false: no plan has that number. */
bool cufft_found(cufftHandle plan, hipfftHandle *found);
/* Whether these sizes are valid for a transform. */
bool cufft_sizes(int rank, const int *sizes);
bool cufft_sizes_64(int rank, const long long *sizes);
#endif
