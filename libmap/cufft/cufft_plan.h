/* Shared by the functions of libcufft (cufft.c). */
#ifndef CUFFT_PLAN_H
#define CUFFT_PLAN_H
#include "cufft_api.h"
#include "hipfft_table.h"

/* hipFFT's plan; false: no plan has that number. */
bool cufft_found(cufftHandle plan, hipfftHandle *found);
/* What is wrong with a layout. */
cufftResult cufft_layout(int rank, const int *sizes, const int *inembed, int istride, const int *onembed, int ostride,
                         int batch);
cufftResult cufft_layout_64(int rank, const long long *sizes, const long long *inembed, long long istride,
                            const long long *onembed, long long ostride, long long batch);
#endif
