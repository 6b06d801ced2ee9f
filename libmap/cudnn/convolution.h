/* Lists of a convolution's algorithms (convolution.c). */
#ifndef CUDNN_CONVOLUTION_H
#define CUDNN_CONVOLUTION_H
#include "compute.h"

/* What cudnnConvolutionFwdAlgoPerf_t and its like have, whose algorithms are of different types only. */
struct cudnn_performance {
  int algo;
  cudnnStatus_t status;
  float time;
  size_t memory;
  cudnnDeterminism_t determinism;
  cudnnMathType_t mathType;
  int reserved[3];
};

/* As MIOpen expects them; as they are measured, with the program's memory or with other. */
miopenStatus_t cudnn_convolution_list(cudnnHandle_t handle, const struct cudnn_problem *problem, int wanted,
                                     int *returned, struct cudnn_performance *out);
miopenStatus_t cudnn_convolution_find(cudnnHandle_t handle, const struct cudnn_problem *problem, const void *first,
                                     const void *second, void *result, int wanted, int *returned,
                                     struct cudnn_performance *out, void *space, size_t size);
miopenStatus_t cudnn_convolution_try(cudnnHandle_t handle, const struct cudnn_problem *problem, int wanted,
                                    int *returned, struct cudnn_performance *out);
#endif
