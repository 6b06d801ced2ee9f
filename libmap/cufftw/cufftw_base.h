/* Prerequisites of libcufftw's declarations: what it uses of libcufft. */
#ifndef CUFFTW_BASE_H
#define CUFFTW_BASE_H
#include <stdio.h>

#include "cufft_types.h"
#include "libmap.h"
#endif
