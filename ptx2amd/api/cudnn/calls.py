"""What functions of cuDNN that compute call of MIOpen. In `_miopen`, `handle` and the names of descriptors stand for
MIOpen's objects, and ONE and ZERO for its scaling factors; elsewhere they are ours (libmap/cudnn/compute.h)."""

from __future__ import annotations

import re


def _miopen(call: str) -> str:
    call = re.sub(r"\b(handle|\w*[dD]esc)\b", r"\1->miopen", call)
    return "miopen" + re.sub(r"\b(ONE|ZERO)\b", r"&CUDNN_\1", call)


def _blend(name: str, call: str, factors: str = "alpha, beta", desc: str = "", buffer: int = 0) -> str:
    """A call whose result `name` is blended with what is there."""
    return f"CUDNN_BLEND({buffer}, handle, {factors}, {desc or name + 'Desc'}, {name}, {call})"


#: Directions of convolutions: name, C's, number of algorithms, what is read and written in the order of MIOpen.
_DIRECTIONS = (
    ("Forward", "CUDNN_FORWARD", 8, ("w", "x", "y"), ("filter", "src", "dest")),
    ("BackwardData", "CUDNN_BACKWARD_DATA", 6, ("dy", "w", "dx"), ("diff", "filter", "grad")),
    ("BackwardFilter", "CUDNN_BACKWARD_FILTER", 7, ("dy", "x", "dw"), ("diff", "src", "grad")),
)


def _problem(direction: str, names: tuple[str, ...]) -> str:
    return f"CUDNN_PROBLEM({direction}, {', '.join(f'{name}Desc' for name in names)}, convDesc)"


def _convolutions() -> dict[str, str]:
    calls, listed = {}, "requestedAlgoCount, returnedAlgoCount, (struct cudnn_performance *)perfResults"
    space = "workSpace, workSpaceSizeInBytes"
    for name, direction, _, names, others in _DIRECTIONS:
        first, second, result = names
        problem = _problem(direction, names)
        data = f"{first}, {second}"
        calls[f"Convolution{name}"] = f"cudnn_convolve(handle, {problem}, algo, alpha, {data}, {space}, beta, {result})"
        calls[f"FindConvolution{name}Algorithm"] = f"cudnn_convolution_try(handle, {problem}, {listed})"
        if name == "BackwardFilter":  # dy has another name
            data = "y, x"
        calls[f"FindConvolution{name}AlgorithmEx"] = (
            f"cudnn_convolution_find(handle, {problem}, {data}, {result}, {listed}, {space})"
        )
        problem = _problem(direction, ("dy", "x", "grad") if name == "BackwardFilter" else names)
        calls[f"GetConvolution{name}WorkspaceSize"] = f"cudnn_convolution_space(handle, {problem}, algo, sizeInBytes)"
        problem = _problem(direction, others)
        calls[f"GetConvolution{name}Algorithm_v7"] = f"cudnn_convolution_list(handle, {problem}, {listed})"
    return calls


_TRAINED = (
    "BatchNormalizationForwardTraining(handle, mode, (void *)ONE, (void *)ZERO, xDesc, x, yDesc, y, "
    "bnScaleBiasMeanVarDesc, (void *)bnScale, (void *)bnBias, exponentialAverageFactor, resultRunningMean, "
    "resultRunningVariance, epsilon, resultSaveMean, resultSaveInvVariance)"
)
_INFERRED = (
    "BatchNormalizationForwardInference(handle, mode, (void *)ONE, (void *)ZERO, xDesc, x, yDesc, y, "
    "bnScaleBiasMeanVarDesc, (void *)bnScale, (void *)bnBias, (void *)estimatedMean, (void *)estimatedVariance, "
    "epsilon)"
)
_NORM_BACK = (
    "BatchNormalizationBackward(handle, mode, ONE, ZERO, ONE, ZERO, xDesc, x, dyDesc, dy, dxDesc, dx, "
    "dBnScaleBiasDesc, bnScale, dBnScaleResult, dBnBiasResult, epsilon, savedMean, savedInvVariance)"
)


def _norm_back() -> str:
    """Three results, of which those for parameters have factors of their own."""
    call, parameters = _miopen(_NORM_BACK), "alphaParamDiff, betaParamDiff"
    for buffer, name in ((2, "dBnBiasResult"), (1, "dBnScaleResult")):
        call = _blend(name, call, parameters, "dBnScaleBiasDesc", buffer)
    return _blend("dx", call, "alphaDataDiff, betaDataDiff")


CALLS = {
    "ActivationForward": _blend("y", _miopen(
        "ActivationForward(handle, activationDesc, ONE, xDesc, x, ZERO, yDesc, y)")),
    "ActivationBackward": _blend("dx", _miopen(
        "ActivationBackward(handle, activationDesc, ONE, yDesc, y, dyDesc, dy, xDesc, x, ZERO, dxDesc, dx)")),
    "SoftmaxForward": _blend("y", _miopen("SoftmaxForward_V2(handle, ONE, xDesc, x, ZERO, yDesc, y, algo, mode)")),
    "SoftmaxBackward": _blend("dx", _miopen(
        "SoftmaxBackward_V2(handle, ONE, yDesc, y, dyDesc, dy, ZERO, dxDesc, dx, algo, mode)")),
    "AddTensor": "cudnn_add_tensor(handle, alpha, aDesc, A, beta, cDesc, C)",
    "OpTensor": "cudnn_operate(handle, opTensorDesc, alpha1, aDesc, A, alpha2, bDesc, B, beta, cDesc, C)",
    "ScaleTensor": "cudnn_scale(handle, yDesc, y, alpha)",
    "SetTensor": "cudnn_set(handle, yDesc, y, valuePtr)",
    "TransformTensor": _blend("y", "cudnn_transform(handle, xDesc, x, yDesc, y)"),
    "GetReductionIndicesSize": _miopen("GetReductionIndicesSize(handle, reduceTensorDesc, aDesc, cDesc, sizeInBytes)"),
    "GetReductionWorkspaceSize": _miopen(
        "GetReductionWorkspaceSize(handle, reduceTensorDesc, aDesc, cDesc, sizeInBytes)"),
    "ReduceTensor": _miopen(
        "ReduceTensor(handle, reduceTensorDesc, indices, indicesSizeInBytes, workspace, workspaceSizeInBytes, alpha, "
        "aDesc, A, beta, cDesc, C)"),
    "PoolingForward": _blend("y", "cudnn_pool(handle, poolingDesc, xDesc, x, yDesc, y)"),
    "PoolingBackward": _blend("dx", "cudnn_pool_back(handle, poolingDesc, yDesc, dyDesc, dy, xDesc, x, dxDesc, dx)"),
    "LRNCrossChannelForward": _blend("y", _miopen(
        "LRNForward(handle, normDesc, ONE, xDesc, x, ZERO, yDesc, y, false, NULL)")),
    "LRNCrossChannelBackward": _blend(
        "dx", "cudnn_lrn_back(handle, normDesc, yDesc, y, dyDesc, dy, xDesc, x, dxDesc, dx)"),
    "DropoutGetStatesSize": _miopen("DropoutGetStatesSize(handle, sizeInBytes)"),
    "DropoutGetReserveSpaceSize": _miopen("DropoutGetReserveSpaceSize(xdesc, sizeInBytes)"),
    "DropoutForward": "cudnn_drop(handle, dropoutDesc, xdesc, x, ydesc, y, reserveSpace, reserveSpaceSizeInBytes)",
    "DropoutBackward": _miopen(
        "DropoutBackward(handle, dropoutDesc, dydesc, dydesc, dy, dxdesc, dx, reserveSpace, reserveSpaceSizeInBytes)"),
    **_convolutions(),
    "ConvolutionBackwardBias": _blend("db", _miopen(
        "ConvolutionBackwardBias(handle, ONE, dyDesc, dy, ZERO, dbDesc, db)")),
    "ConvolutionBiasActivationForward":
        "cudnn_convolve_biased(handle, alpha1, CUDNN_PROBLEM(CUDNN_FORWARD, wDesc, xDesc, yDesc, convDesc), x, w, "
        "algo, workSpace, workSpaceSizeInBytes, alpha2, zDesc, z, biasDesc, bias, activationDesc, y)",
    "BatchNormalizationForwardInference": _blend("y", _miopen(_INFERRED)),
    "BatchNormalizationForwardTraining": _blend("y", _miopen(_TRAINED)),
    "BatchNormalizationBackward": _norm_back(),
}  # fmt: skip

_NO_SWISH = "activationDesc->mode == CUDNN_ACTIVATION_SWISH"
#: Tensors that have to be of a type for which MIOpen has kernels: with others, some of its functions compute nonsense.
_TYPED = {
    "Activation(Forward|Backward)": "xDesc",
    "Softmax(Forward|Backward)": "yDesc",
    "Pooling(Forward|Backward)": "xDesc",
    "LRNCrossChannel(Forward|Backward)": "xDesc",
    "DropoutForward": "xdesc",
    "DropoutBackward": "dydesc",
    "BatchNormalization.*": "xDesc",
}
#: Other conditions under which a call is not made.
_WRONG = {
    "LRNCross.*": "lrnMode != 0",
    "Dropout(Forward|Backward)": "!dropoutDesc->states",
    "BatchNormalizationForwardInference": "!estimatedMean || !estimatedVariance",
}


def unless(name: str) -> str:
    """Where the call of a function is not made, and what is answered then."""
    typed = next((desc for names, desc in _TYPED.items() if re.fullmatch(names, name)), "")
    wrong = next((condition for names, condition in _WRONG.items() if re.fullmatch(names, name)), "")
    if not typed:
        return ""
    refused = [f"!cudnn_computes({typed})", *([_NO_SWISH] if name.startswith("Activation") else [])]
    conditions = " || ".join([wrong, *refused] if wrong else refused)
    return f'{conditions}: cudnn_reject({wrong or "false"}, "cudnn{name} of this type")'


#: How many algorithms there are.
COUNTS = {f"GetConvolution{name}AlgorithmMaxCount": count for name, _, count, _, _ in _DIRECTIONS}
