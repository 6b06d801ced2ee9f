"""The types of cuDNN, and what MIOpen has for them."""

from __future__ import annotations

from typing import Final

from ptx2amd.api.spec import Enum, Types

_BAD: Final = "CUDNN_STATUS_BAD_PARAM"
_NOT_SUPPORTED: Final = "CUDNN_STATUS_NOT_SUPPORTED"

ENUMS = {
    "cudnnDataType_t": Enum("miopenDataType_t", {
        0: "miopenFloat", 1: "miopenDouble", 2: "miopenHalf", 3: "miopenInt8", 4: "miopenInt32", 9: "miopenBFloat16",
        10: "miopenInt64",
    }, _NOT_SUPPORTED),
    "cudnnActivationMode_t": Enum("miopenActivationMode_t", {
        0: "miopenActivationLOGISTIC", 1: "miopenActivationRELU", 2: "miopenActivationTANH",
        3: "miopenActivationCLIPPEDRELU", 4: "miopenActivationELU", 5: "miopenActivationPASTHRU",
    }, _BAD),
    "cudnnPoolingMode_t": Enum("miopenPoolingMode_t", {
        0: "miopenPoolingMax", 1: "miopenPoolingAverageInclusive", 2: "miopenPoolingAverage", 3: "miopenPoolingMax",
    }, _BAD),
    "cudnnSoftmaxAlgorithm_t": Enum("miopenSoftmaxAlgorithm_t", {
        0: "MIOPEN_SOFTMAX_FAST", 1: "MIOPEN_SOFTMAX_ACCURATE", 2: "MIOPEN_SOFTMAX_LOG",
    }, _BAD),
    "cudnnSoftmaxMode_t": Enum("miopenSoftmaxMode_t", {
        0: "MIOPEN_SOFTMAX_MODE_INSTANCE", 1: "MIOPEN_SOFTMAX_MODE_CHANNEL",
    }, _BAD),
    "cudnnBatchNormMode_t": Enum("miopenBatchNormMode_t", {
        0: "miopenBNPerActivation", 1: "miopenBNSpatial", 2: "miopenBNSpatial",
    }, _BAD),
    "cudnnReduceTensorOp_t": Enum("miopenReduceTensorOp_t", {
        number: f"MIOPEN_REDUCE_TENSOR_{name}"
        for number, name in enumerate(["ADD", "MUL", "MIN", "MAX", "AMAX", "AVG", "NORM1", "NORM2"])
    }, _NOT_SUPPORTED),
}  # fmt: skip

#: Descriptors and what finds them, in C: cuDNN's name without cudnn and Descriptor_t, function, type.
DESCRIPTORS = {
    "Tensor": ("cudnn_tensor", "const struct cudnn_tensor *"),
    "Filter": ("cudnn_filter", "const struct cudnn_tensor *"),
    "Convolution": ("cudnn_convolution", "cudnnConvolutionDescriptor_t "),
    "Activation": ("cudnn_activation", "cudnnActivationDescriptor_t "),
    "Pooling": ("cudnn_pooling", "cudnnPoolingDescriptor_t "),
    "LRN": ("cudnn_lrn", "cudnnLRNDescriptor_t "),
    "OpTensor": ("cudnn_op", "cudnnOpTensorDescriptor_t "),
    "ReduceTensor": ("cudnn_reduction", "cudnnReduceTensorDescriptor_t "),
    "CTCLoss": ("cudnn_ctc", "cudnnCTCLossDescriptor_t "),
    "Dropout": ("cudnn_dropout", "cudnnDropoutDescriptor_t "),
}

#: What a list of a convolution's algorithms has for each.
_PERFORMANCE = (
    "typedef struct cudnnConvolution{0}AlgoPerf_t {{ cudnnConvolution{0}Algo_t algo; cudnnStatus_t status; float time; "
    "size_t memory; cudnnDeterminism_t determinism; cudnnMathType_t mathType; int reserved[3]; }} "
    "cudnnConvolution{0}AlgoPerf_t;\n"
)

TYPES = Types(
    handles=(
        "cudnnHandle_t",
        "cudaStream_t",
        "cudnnRNNDescriptor_t",
        "cudnnRNNDataDescriptor_t",
        "cudnnSpatialTransformerDescriptor_t",
        "cudnnSeqDataDescriptor_t",
        "cudnnAttnDescriptor_t",
        "cudnnPersistentRNNPlan_t",
        *(f"cudnn{name}Descriptor_t" for name in DESCRIPTORS),
    ),
    enums=(
        "cudnnStatus_t",
        *ENUMS,
        "cudnnTensorFormat_t",
        "cudnnConvolutionMode_t",
        "cudnnConvolutionFwdAlgo_t",
        "cudnnConvolutionBwdDataAlgo_t",
        "cudnnConvolutionBwdFilterAlgo_t",
        "cudnnDeterminism_t",
        "cudnnMathType_t",
        "cudnnReorderType_t",
        "cudnnNanPropagation_t",
        "cudnnLRNMode_t",
        "cudnnOpTensorOp_t",
        "cudnnReduceTensorIndices_t",
        "cudnnIndicesType_t",
        "cudnnBatchNormOps_t",
        "cudnnErrQueryMode_t",
        "cudnnBackendDescriptorType_t",
        "cudnnBackendAttributeName_t",
        "cudnnBackendAttributeType_t",
        "libraryPropertyType",
        "cudnnRNNAlgo_t",
        "cudnnRNNMode_t",
        "cudnnRNNBiasMode_t",
        "cudnnDirectionMode_t",
        "cudnnRNNInputMode_t",
        "cudnnRNNClipMode_t",
        "cudnnRNNDataLayout_t",
        "cudnnForwardMode_t",
        "cudnnWgradMode_t",
        "cudnnLossNormalizationMode_t",
        "cudnnCTCLossAlgo_t",
        "cudnnCTCGradMode_t",
        "cudnnSamplerType_t",
        "cudnnSeqDataAxis_t",
        "cudnnMultiHeadAttnWeightKind_t",
    ),
    scalars={"void *": "cudnnBackendDescriptor_t"},
    opaque=("cudnnRuntimeTag_t",),
    structs="".join(map(_PERFORMANCE.format, ("Fwd", "BwdData", "BwdFilter"))),
    same={"cudaStream_t": "CUstream"},
)

#: MIOpen's status to cuDNN's; any other is a failed execution.
STATUSES = {
    "miopenStatusSuccess": "CUDNN_STATUS_SUCCESS",
    "miopenStatusNotInitialized": "CUDNN_STATUS_NOT_INITIALIZED",
    "miopenStatusInvalidValue": _BAD,
    "miopenStatusBadParm": _BAD,
    "miopenStatusAllocFailed": "CUDNN_STATUS_ALLOC_FAILED",
    "miopenStatusInternalError": "CUDNN_STATUS_INTERNAL_ERROR",
    "miopenStatusNotImplemented": _NOT_SUPPORTED,
    "miopenStatusUnsupportedOp": _NOT_SUPPORTED,
}
