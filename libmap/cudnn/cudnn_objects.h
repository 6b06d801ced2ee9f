/* The objects of libcudnn: what a program set, as it gets it back, and MIOpen's object of the same contents. */
#ifndef CUDNN_OBJECTS_H
#define CUDNN_OBJECTS_H
#include "cudnn_api.h"
#include "miopen_table.h"

enum { CUDNN_DIMENSIONS = 8 };
enum { CUDNN_SCRATCH = 4 }; /* buffers of a handle that one call may need */

/* What an object begins with says of which kind it is, and that it is still there. */
enum cudnn_mark {
  CUDNN_NO_OBJECT, CUDNN_A_HANDLE = 0x63756431, CUDNN_A_TENSOR, CUDNN_A_FILTER, CUDNN_A_CONVOLUTION, CUDNN_AN_ACTIVATION,
  CUDNN_A_POOLING, CUDNN_AN_LRN, CUDNN_AN_OP, CUDNN_A_REDUCTION, CUDNN_A_DROPOUT, CUDNN_A_BACKEND,
  CUDNN_AN_RNN, CUDNN_A_SEQUENCE, CUDNN_A_CTC, CUDNN_A_TRANSFORMER,
  CUDNN_A_SERIES, CUDNN_AN_ATTENTION, CUDNN_A_PLAN,
};

struct cudnn_buffer { uint64_t at; size_t size; };

struct cudnnHandle_t_st {
  enum cudnn_mark mark;
  miopenHandle_t miopen;
  cudaStream_t stream; /* as the program knows it */
  rocblas_handle rocblas; /* NULL before the first product of matrices in a graph */
  struct cudnn_buffer scratch[CUDNN_SCRATCH];
  struct cudnn_chosen *chosen; /* algorithms of convolutions (convolution.c), or NULL */
};

/* A tensor, or (with a format) a filter. */
struct cudnn_tensor {
  enum cudnn_mark mark;
  miopenTensorDescriptor_t miopen;
  cudnnDataType_t type;
  cudnnTensorFormat_t format;
  int count; /* of dimensions; 0: nothing was set */
  int size[CUDNN_DIMENSIONS], stride[CUDNN_DIMENSIONS];
};
struct cudnnTensorDescriptor_t_st { struct cudnn_tensor tensor; };
struct cudnnFilterDescriptor_t_st { struct cudnn_tensor tensor; };

struct cudnnConvolutionDescriptor_t_st {
  enum cudnn_mark mark;
  miopenConvolutionDescriptor_t miopen[2]; /* the second: with results that are the same in each run */
  cudnnConvolutionMode_t mode;
  cudnnDataType_t compute;
  cudnnMathType_t math;
  cudnnReorderType_t reorder;
  int groups, count;
  int pad[CUDNN_DIMENSIONS], stride[CUDNN_DIMENSIONS], dilation[CUDNN_DIMENSIONS];
};

struct cudnnActivationDescriptor_t_st {
  enum cudnn_mark mark;
  miopenActivationDescriptor_t miopen; /* NULL where MIOpen has no such function */
  cudnnActivationMode_t mode;
  cudnnNanPropagation_t nan;
  double coefficient, swish_beta;
};

struct cudnnPoolingDescriptor_t_st {
  enum cudnn_mark mark;
  miopenPoolingDescriptor_t miopen;
  cudnnPoolingMode_t mode;
  cudnnNanPropagation_t nan;
  int count;
  int window[CUDNN_DIMENSIONS], pad[CUDNN_DIMENSIONS], stride[CUDNN_DIMENSIONS];
};

struct cudnnLRNDescriptor_t_st {
  enum cudnn_mark mark;
  miopenLRNDescriptor_t miopen;
  unsigned n;
  double alpha, beta, k;
};

struct cudnnOpTensorDescriptor_t_st {
  enum cudnn_mark mark;
  cudnnOpTensorOp_t op;
  cudnnDataType_t compute;
  cudnnNanPropagation_t nan;
};

struct cudnnReduceTensorDescriptor_t_st {
  enum cudnn_mark mark;
  miopenReduceTensorDescriptor_t miopen; /* NULL where MIOpen has no such function */
  cudnnReduceTensorOp_t op;
  cudnnDataType_t compute;
  cudnnNanPropagation_t nan;
  cudnnReduceTensorIndices_t indices;
  cudnnIndicesType_t indices_type;
};

struct cudnnCTCLossDescriptor_t_st {
  enum cudnn_mark mark;
  miopenCTCLossDescriptor_t miopen;
  cudnnDataType_t type;
  cudnnLossNormalizationMode_t normal;
  cudnnCTCGradMode_t gradient;
  int longest; /* of the labels */
};

struct cudnnDropoutDescriptor_t_st {
  enum cudnn_mark mark;
  miopenDropoutDescriptor_t miopen, next; /* the latter makes new random numbers */
  float dropout;
  void *states;
  size_t size;
  unsigned long long seed, turn;
};

/* Stores a value where the caller wants it. */
#define CUDNN_GIVE(place, value) ((place) ? (void)(*(place) = (value)) : (void)0)
/* The first so many numbers, where the caller wants them. */
void cudnn_give(int wanted, const int *from, int *to);
int cudnn_least(int one, int other);
/* Whether there are as many spatial dimensions as a window can have, with numbers that are at least so large. */
bool cudnn_sensible(int count, const int *numbers, int smallest);

/* Memory for an object; NULL: there is none. */
void *cudnn_new(enum cudnn_mark mark, size_t size);
/* Whether there is an object of the kind. */
bool cudnn_is(const void *object, enum cudnn_mark mark);
/* Marks an object as gone, and frees it. */
void cudnn_free(void *object);

/* For arguments of functions: the object, which has been set; false: it is none, or nothing was set. */
bool cudnn_handle(cudnnHandle_t handle, cudnnHandle_t *found);
bool cudnn_tensor(cudnnTensorDescriptor_t given, const struct cudnn_tensor **found);
/* Whether a tensor has a type for which MIOpen has kernels of functions other than sums and convolutions. */
bool cudnn_computes(cudnnTensorDescriptor_t given);
bool cudnn_filter(cudnnFilterDescriptor_t given, const struct cudnn_tensor **found);
bool cudnn_convolution(cudnnConvolutionDescriptor_t given, cudnnConvolutionDescriptor_t *found);
bool cudnn_activation(cudnnActivationDescriptor_t given, cudnnActivationDescriptor_t *found);
bool cudnn_pooling(cudnnPoolingDescriptor_t given, cudnnPoolingDescriptor_t *found);
bool cudnn_lrn(cudnnLRNDescriptor_t given, cudnnLRNDescriptor_t *found);
bool cudnn_op(cudnnOpTensorDescriptor_t given, cudnnOpTensorDescriptor_t *found);
bool cudnn_reduction(cudnnReduceTensorDescriptor_t given, cudnnReduceTensorDescriptor_t *found);
bool cudnn_ctc(cudnnCTCLossDescriptor_t given, cudnnCTCLossDescriptor_t *found);
bool cudnn_dropout(cudnnDropoutDescriptor_t given, cudnnDropoutDescriptor_t *found);

/* The bytes from a tensor's first number to its last; and its numbers' size. */
size_t cudnn_bytes(const struct cudnn_tensor *tensor);
size_t cudnn_type_size(cudnnDataType_t type);
/* What is answered to a type that MIOpen has not. */
cudnnStatus_t cudnn_other_type(cudnnDataType_t type);
bool cudnn_same_sizes(const struct cudnn_tensor *one, const struct cudnn_tensor *other);
/* Sets a tensor, MIOpen's too. strides: NULL: rows after rows. */
cudnnStatus_t cudnn_set_tensor(struct cudnn_tensor *tensor, cudnnDataType_t type, int count, const int *sizes,
                               const int *strides);
#endif
