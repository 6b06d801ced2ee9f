/* Types and numbers of MIOpen, as far as libcudnn uses them. */
#ifndef MIOPEN_TYPES_H
#define MIOPEN_TYPES_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hip_types.h"
#include "rocblas_numbers.h"

typedef struct miopenHandle *miopenHandle_t;
typedef struct miopenTensorDescriptor *miopenTensorDescriptor_t;
typedef struct miopenSeqTensorDescriptor *miopenSeqTensorDescriptor_t;
typedef struct miopenConvolutionDescriptor *miopenConvolutionDescriptor_t;
typedef struct miopenActivationDescriptor *miopenActivationDescriptor_t;
typedef struct miopenPoolingDescriptor *miopenPoolingDescriptor_t;
typedef struct miopenLRNDescriptor *miopenLRNDescriptor_t;
typedef struct miopenDropoutDescriptor *miopenDropoutDescriptor_t;
typedef struct miopenReduceTensorDescriptor *miopenReduceTensorDescriptor_t;
typedef struct miopenRNNDescriptor *miopenRNNDescriptor_t;
typedef struct miopenCTCLossDescriptor *miopenCTCLossDescriptor_t;
typedef hipStream_t miopenAcceleratorQueue_t;

typedef enum miopenStatus_t {
  miopenStatusSuccess, miopenStatusNotInitialized, miopenStatusInvalidValue, miopenStatusBadParm,
  miopenStatusAllocFailed, miopenStatusInternalError, miopenStatusNotImplemented, miopenStatusUnknownError,
  miopenStatusUnsupportedOp,
} miopenStatus_t;
typedef enum miopenDataType_t {
  miopenHalf, miopenFloat, miopenInt32, miopenInt8, miopenBFloat16 = 5, miopenDouble, miopenInt64 = 9,
} miopenDataType_t;
typedef enum miopenConvolutionMode_t { miopenConvolution } miopenConvolutionMode_t;
typedef enum miopenConvolutionAttrib_t { MIOPEN_CONVOLUTION_ATTRIB_DETERMINISTIC = 1 } miopenConvolutionAttrib_t;
typedef enum miopenConvAlgorithm_t {
  miopenConvolutionAlgoGEMM, miopenConvolutionAlgoDirect, miopenConvolutionAlgoFFT, miopenConvolutionAlgoWinograd,
  miopenConvolutionAlgoImplicitGEMM = 5,
} miopenConvAlgorithm_t;
typedef struct miopenConvSolution_t {
  float time; /* milliseconds */
  size_t workspace_size;
  uint64_t solution_id;
  miopenConvAlgorithm_t algorithm;
} miopenConvSolution_t;
typedef enum miopenTensorOp_t {
  miopenTensorOpAdd, miopenTensorOpMul, miopenTensorOpMin, miopenTensorOpMax,
} miopenTensorOp_t;
typedef enum miopenActivationMode_t {
  miopenActivationPASTHRU, miopenActivationLOGISTIC, miopenActivationTANH, miopenActivationRELU,
  miopenActivationPOWER = 6, miopenActivationCLIPPEDRELU, miopenActivationELU = 9,
} miopenActivationMode_t;
typedef enum miopenPoolingMode_t {
  miopenPoolingMax, miopenPoolingAverage, miopenPoolingAverageInclusive,
} miopenPoolingMode_t;
typedef enum miopenIndexType_t { miopenIndexUint8, miopenIndexUint16, miopenIndexUint32 } miopenIndexType_t;
typedef enum miopenPoolingWorkspaceIndexMode_t {
  miopenPoolingWorkspaceIndexMask, miopenPoolingWorkspaceIndexImage,
} miopenPoolingWorkspaceIndexMode_t;
typedef enum miopenLRNMode_t { miopenLRNWithinChannel, miopenLRNCrossChannel } miopenLRNMode_t;
typedef enum miopenBatchNormMode_t { miopenBNPerActivation, miopenBNSpatial } miopenBatchNormMode_t;
typedef enum miopenSoftmaxAlgorithm_t {
  MIOPEN_SOFTMAX_FAST, MIOPEN_SOFTMAX_ACCURATE, MIOPEN_SOFTMAX_LOG,
} miopenSoftmaxAlgorithm_t;
typedef enum miopenSoftmaxMode_t { MIOPEN_SOFTMAX_MODE_INSTANCE, MIOPEN_SOFTMAX_MODE_CHANNEL } miopenSoftmaxMode_t;
typedef enum miopenReduceTensorOp_t {
  MIOPEN_REDUCE_TENSOR_ADD, MIOPEN_REDUCE_TENSOR_MUL, MIOPEN_REDUCE_TENSOR_MIN, MIOPEN_REDUCE_TENSOR_MAX,
  MIOPEN_REDUCE_TENSOR_AMAX, MIOPEN_REDUCE_TENSOR_AVG, MIOPEN_REDUCE_TENSOR_NORM1, MIOPEN_REDUCE_TENSOR_NORM2,
} miopenReduceTensorOp_t;
typedef enum miopenNanPropagation_t { MIOPEN_NOT_PROPAGATE_NAN, MIOPEN_PROPAGATE_NAN } miopenNanPropagation_t;
typedef enum miopenReduceTensorIndices_t {
  MIOPEN_REDUCE_TENSOR_NO_INDICES, MIOPEN_REDUCE_TENSOR_FLATTENED_INDICES,
} miopenReduceTensorIndices_t;
typedef enum miopenIndicesType_t {
  MIOPEN_32BIT_INDICES, MIOPEN_64BIT_INDICES, MIOPEN_16BIT_INDICES, MIOPEN_8BIT_INDICES,
} miopenIndicesType_t;
typedef enum miopenCTCLossAlgo_t { MIOPEN_CTC_LOSS_ALGO_DETERMINISTIC } miopenCTCLossAlgo_t;
typedef enum miopenRNNMode_t { miopenRNNRELU, miopenRNNTANH, miopenLSTM, miopenGRU } miopenRNNMode_t;
typedef enum miopenRNNInputMode_t { miopenRNNlinear, miopenRNNskip } miopenRNNInputMode_t;
typedef enum miopenRNNAlgo_t { miopenRNNdefault } miopenRNNAlgo_t;
typedef enum miopenRNNDirectionMode_t { miopenRNNunidirection, miopenRNNbidirection } miopenRNNDirectionMode_t;
typedef enum miopenRNNBiasMode_t { miopenRNNNoBias, miopenRNNwithBias } miopenRNNBiasMode_t;
typedef enum miopenRNNPaddingMode_t { miopenRNNIONotPadded, miopenRNNIOWithPadding } miopenRNNPaddingMode_t;
typedef enum miopenRNNFWDMode_t { miopenRNNTraining, miopenRNNInference } miopenRNNFWDMode_t;
typedef enum miopenRNNBaseLayout_t {
  miopenRNNDataSeqMajorNotPadded = 1, miopenRNNDataSeqMajorPadded, miopenRNNDataBatchMajorPadded,
} miopenRNNBaseLayout_t;
typedef enum miopenRNGType_t { MIOPEN_RNG_PSEUDO_XORWOW } miopenRNGType_t;
#endif
