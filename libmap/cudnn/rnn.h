/* The objects of recurrent networks (rnn_descriptors.c). */
#ifndef CUDNN_RNN_H
#define CUDNN_RNN_H
#include "compute.h"

enum { CUDNN_WGRAD_ADD };
enum { CUDNN_LSTM = 2, CUDNN_GRU };
enum { CUDNN_RNN_SINGLE_INP_BIAS = 1, CUDNN_RNN_DOUBLE_BIAS, CUDNN_RNN_SINGLE_REC_BIAS };
enum { CUDNN_SEQ_MAJOR_UNPACKED, CUDNN_SEQ_MAJOR_PACKED, CUDNN_BATCH_MAJOR_UNPACKED };

/* Sequences of a batch, with their lengths (NULL: nothing was set). */
struct cudnnRNNDataDescriptor_t_st {
  enum cudnn_mark mark;
  miopenSeqTensorDescriptor_t miopen;
  miopenTensorDescriptor_t all; /* its memory, with padding */
  cudnnDataType_t type;
  cudnnRNNDataLayout_t layout;
  int longest, batch, vector;
  int *lengths;
};

/* What a program sets of a network, in the order of cudnnSetRNNDescriptor_v8. */
struct cudnn_network {
  cudnnRNNAlgo_t algo;
  cudnnRNNMode_t cell;
  cudnnRNNBiasMode_t bias;
  cudnnDirectionMode_t direction;
  cudnnRNNInputMode_t input;
  cudnnDataType_t type, compute;
  cudnnMathType_t math;
  int32_t in, hidden, projected, layers; /* layers: 0: nothing was set */
  cudnnDropoutDescriptor_t dropout;
  uint32_t flags;
};
struct cudnnRNNDescriptor_t_st {
  enum cudnn_mark mark;
  miopenRNNDescriptor_t miopen;
  miopenTensorDescriptor_t input; /* a vector of the input */
  struct cudnn_tensor weights;    /* all of them */
  struct cudnn_network set;
  struct cudnn_network first; /* by the interface of cuDNN 7, which has no input (rnn_first.c) */
};

/* Whether there is an object on which something was set; MIOpen's type, of those that are accepted. */
bool cudnn_is_sequence(cudnnRNNDataDescriptor_t given);
bool cudnn_is_network(cudnnRNNDescriptor_t given);
miopenDataType_t cudnn_rnn_type(cudnnDataType_t type);
#endif
