/* Descriptors of the graph API (backend.c), and what is made of a graph of operations (program.c). */
#ifndef CUDNN_BACKEND_H
#define CUDNN_BACKEND_H
#include "compute.h"

enum { /* kinds of descriptors */
  BACKEND_POINTWISE, BACKEND_CONVOLUTION, BACKEND_ENGINE, BACKEND_ENGINECFG, BACKEND_ENGINEHEUR, BACKEND_PLAN,
  BACKEND_KNOB_CHOICE = 7, BACKEND_OPERATION_FORWARD = 10, BACKEND_OPERATION_FILTER, BACKEND_OPERATION_DATA,
  BACKEND_OPERATION_POINTWISE, BACKEND_OPERATIONGRAPH = 15, BACKEND_VARIANT_PACK, BACKEND_TENSOR, BACKEND_KINDS = 51,
};
enum { /* their attributes */
  POINTWISE_MODE = 0, POINTWISE_RELU_LOWER_CLIP = 3, POINTWISE_RELU_UPPER_CLIP, POINTWISE_RELU_LOWER_CLIP_SLOPE,
  POINTWISE_ELU_ALPHA,
  CONVOLUTION_CONV_MODE = 101, CONVOLUTION_DILATIONS, CONVOLUTION_FILTER_STRIDES, CONVOLUTION_POST_PADDINGS,
  CONVOLUTION_PRE_PADDINGS,
  ENGINEHEUR_OPERATION_GRAPH = 201, ENGINEHEUR_RESULTS,
  ENGINECFG_ENGINE = 300, ENGINECFG_INTERMEDIATE_INFO, ENGINECFG_KNOB_CHOICES, ENGINECFG_WORKSPACE_SIZE,
  PLAN_ENGINE_CONFIG = 401, PLAN_WORKSPACE_SIZE, PLAN_COMPUTED_INTERMEDIATE_UIDS, PLAN_RUN_ONLY_INTERMEDIATE_UIDS,
  OPERATION_FORWARD_ALPHA = 700, OPERATION_DATA_ALPHA = 706, OPERATION_FILTER_ALPHA = 712,
  OPERATION_PW_DESCRIPTOR = 750, OPERATION_PW_X, OPERATION_PW_B, OPERATION_PW_Y, OPERATION_PW_ALPHA1,
  OPERATION_PW_ALPHA2,
  OPERATIONGRAPH_HANDLE = 800, OPERATIONGRAPH_OPS, OPERATIONGRAPH_ENGINE_GLOBAL_COUNT,
  TENSOR_DATA_TYPE = 901, TENSOR_DIMENSIONS, TENSOR_STRIDES, TENSOR_UNIQUE_ID = 906, TENSOR_IS_VIRTUAL,
  TENSOR_IS_BY_VALUE,
  VARIANT_PACK_UNIQUE_IDS = 1000, VARIANT_PACK_DATA_POINTERS, VARIANT_PACK_WORKSPACE = 1003,
  ENGINE_OPERATION_GRAPH = 1300, ENGINE_GLOBAL_INDEX, ENGINE_KNOB_INFO, ENGINE_NUMERICAL_NOTE, ENGINE_LAYOUT_INFO,
  ENGINE_BEHAVIOR_NOTE,
};
enum { /* types of attributes */
  TYPE_BOOLEAN = 2, TYPE_INT64, TYPE_FLOAT, TYPE_DOUBLE, TYPE_BACKEND_DESCRIPTOR = 15,
};

struct cudnn_attribute {
  struct cudnn_attribute *next;
  cudnnBackendAttributeName_t name;
  cudnnBackendAttributeType_t type;
  int64_t count;
  void *values;
};

/* A descriptor lives as long as the program or another descriptor has it. */
struct cudnn_backend {
  enum cudnn_mark mark;
  int holders;
  cudnnBackendDescriptorType_t kind;
  bool final;
  struct cudnn_attribute *attributes;
  bool tried;                    /* of a graph: whether a program was made of it, */
  struct cudnn_program *program; /* which is NULL where it cannot be run */
};

/* An attribute; NULL: it is not set. Its first element as a descriptor (NULL), an integer, a number, or what is said. */
const struct cudnn_attribute *cudnn_attribute(const struct cudnn_backend *of, int name);
struct cudnn_backend *cudnn_part(const struct cudnn_backend *of, int name);
int64_t cudnn_whole(const struct cudnn_backend *of, int name, int64_t otherwise);
double cudnn_number(const struct cudnn_backend *of, int name, double otherwise);

/* The program of a graph; NULL: it cannot be run, which was said. */
struct cudnn_program *cudnn_program(struct cudnn_backend *graph);
void cudnn_program_free(struct cudnn_program *program);
size_t cudnn_program_space(const struct cudnn_program *program);
miopenStatus_t cudnn_program_run(const struct cudnn_program *program, cudnnHandle_t handle,
                                 const struct cudnn_backend *pack);
#endif
