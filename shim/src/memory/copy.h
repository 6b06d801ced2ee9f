/* CUDA's descriptions of 2-D and 3-D copies, for HIP. */
#ifndef SHIM_COPY_H
#define SHIM_COPY_H
#include "shim.h"

CUresult copy_for_hip(const CUDA_MEMCPY3D *c, HIP_MEMCPY3D *out); /* or what is wrong with c, which may be null */
void copy_for_cuda(const HIP_MEMCPY3D *c, CUDA_MEMCPY3D *out);
int hip_memory_type(int cuda);                                      /* -1: none */
#endif
