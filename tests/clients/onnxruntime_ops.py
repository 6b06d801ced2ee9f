"""Run by suites.py under `ptx2amd run`: ONNX operators on ONNX Runtime's CUDA provider, or the one that is named,
against its CPU provider. A node that this provider does not take is an error, not the CPU's."""

import sys
from functools import partial

import cases
import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper

RANDOM = np.random.default_rng(0)
OPSET, NEWER = 17, {"Gelu": 20}  # the CUDA provider does not take the newest version of every operator
PROVIDERS = ("CPUExecutionProvider", sys.argv[1] if sys.argv[1:] else "CUDAExecutionProvider")


def floats(*shape: int, of: type = np.float32) -> np.ndarray:
    return RANDOM.standard_normal(shape).astype(of)


def numbers(end: int, *shape: int) -> np.ndarray:
    return RANDOM.integers(0, end, shape)


def scalar(value: float, of: type = np.float32) -> np.ndarray:
    return np.array(value, of)


IMAGE, NONE = floats(1, 3, 16, 16), np.array([], np.float32)
BOXES = RANDOM.random((1, 20, 4)).astype(np.float32)
BYTES = numbers(99, 8, 16).astype(np.int8)
LSTM = [floats(3, 2, 4), floats(1, 32, 4), floats(1, 32, 8)]
SEQUENCE = floats(2, 24, 64)
DOUBLED = np.array([1, 1, 2, 2], np.float32)
# name: operator, inputs, attributes
OPERATORS: dict[str, tuple[str, list[np.ndarray], dict]] = {
    "add": ("Add", [floats(3, 40), floats(40)], {}),
    "multiply": ("Mul", [floats(3, 40), floats(3, 1)], {}),
    "power": ("Pow", [np.abs(floats(20)), floats(20)], {}),
    "remainder": ("Mod", [numbers(100, 20), numbers(9, 20) + 1], {}),
    "double": ("Add", [floats(9, of=np.float64), floats(9, of=np.float64)], {}),
    "equal": ("Equal", [numbers(3, 20), numbers(3, 20)], {}),
    "where": ("Where", [floats(4, 5) > 0, floats(4, 5), floats(4, 5)], {}),
    "sine": ("Sin", [floats(50)], {}),
    "error function": ("Erf", [floats(50)], {}),
    "relu": ("Relu", [floats(5, 33)], {}),
    "gelu": ("Gelu", [floats(5, 33)], {}),
    "clip": ("Clip", [floats(20), scalar(-0.5), scalar(0.5)], {}),
    "cast": ("Cast", [floats(50) * 10], {"to": TensorProto.INT32}),
    "quantise": ("QuantizeLinear", [floats(50), scalar(0.1), scalar(3, np.uint8)], {}),
    "softmax": ("Softmax", [floats(4, 100)], {}),
    "log softmax": ("LogSoftmax", [floats(4, 100)], {}),
    "softmax f16": ("Softmax", [floats(4, 64, of=np.float16)], {}),
    "matrix product": ("MatMul", [floats(20, 30), floats(30, 10)], {}),
    "matrix product f16": ("MatMul", [floats(16, 32, of=np.float16), floats(32, 16, of=np.float16)], {}),
    "matrix product of bytes": ("MatMulInteger", [BYTES, BYTES.T], {}),
    "matrix product and sum": ("Gemm", [floats(20, 30), floats(30, 10), floats(10)], {}),
    "sum of products": ("Einsum", [floats(4, 5), floats(5, 6)], {"equation": "ij,jk->ik"}),
    "convolution": ("Conv", [IMAGE, floats(4, 3, 3, 3)], {"pads": [1, 1, 1, 1]}),
    "strided convolution": ("Conv", [IMAGE, floats(8, 3, 5, 5)], {"strides": [2, 2]}),
    "transposed convolution": ("ConvTranspose", [floats(1, 3, 8, 8), floats(3, 2, 3, 3)], {}),
    "largest of windows": ("MaxPool", [IMAGE], {"kernel_shape": [2, 2], "strides": [2, 2]}),
    "mean of windows": ("AveragePool", [IMAGE], {"kernel_shape": [2, 2]}),
    "resize, linear": ("Resize", [IMAGE, NONE, DOUBLED], {"mode": "linear"}),
    "resize, nearest": ("Resize", [IMAGE, NONE, DOUBLED], {"mode": "nearest"}),
    "sum": ("ReduceSum", [floats(5, 70), np.array([1])], {}),
    "mean": ("ReduceMean", [floats(5, 70)], {"axes": [0]}),
    "largest": ("ReduceMax", [floats(5, 70)], {"axes": [1]}),
    "running sum": ("CumSum", [floats(4, 50), np.array(1)], {}),
    "place of the largest": ("ArgMax", [floats(5, 70)], {"axis": 1}),
    "the four largest": ("TopK", [floats(5, 70), np.array([4])], {}),
    "places of what is not 0": ("NonZero", [floats(4, 5)], {}),
    "suppression": ("NonMaxSuppression", [BOXES, BOXES[:, None, :, 0], np.array([5]), scalar(0.5)[None]], {}),
    "layer norm": ("LayerNormalization", [floats(4, 64), floats(64), floats(64)], {}),
    "batch norm": ("BatchNormalization", [floats(2, 3, 8, 8), *(floats(3) for _ in "abc"), np.abs(floats(3))], {}),
    "instance norm": ("InstanceNormalization", [floats(2, 3, 8, 8), floats(3), floats(3)], {}),
    "transpose": ("Transpose", [floats(5, 7, 3)], {"perm": [2, 0, 1]}),
    "gather": ("Gather", [floats(10, 4), numbers(10, 6)], {}),
    "scatter": ("ScatterND", [floats(8, 4), RANDOM.permutation(8)[:3, None], floats(3, 4)], {}),
    "concatenate": ("Concat", [floats(3, 4), floats(3, 5)], {"axis": 1}),
    "pad": ("Pad", [floats(4, 5), np.array([1, 1, 1, 1])], {}),
    "expand": ("Expand", [floats(3, 1), np.array([3, 6])], {}),
    "tile": ("Tile", [floats(3, 2), np.array([2, 2])], {}),
    "one hot": ("OneHot", [numbers(5, 7), np.array(5), np.array([0, 1], np.float32)], {}),
    "upper triangle": ("Trilu", [floats(5, 5)], {}),
    "LSTM": ("LSTM", LSTM, {"hidden_size": 8}),
    "attention": ("MultiHeadAttention", [SEQUENCE, floats(2, 24, 64), floats(2, 24, 64)], {"num_heads": 4}),
    "layer norm of a sum": ("SkipLayerNormalization", [SEQUENCE, floats(2, 24, 64), floats(64), floats(64)], {}),
    "gelu with a bias": ("BiasGelu", [SEQUENCE, floats(64)], {}),
}  # fmt: skip
OURS = ("MultiHeadAttention", "SkipLayerNormalization", "BiasGelu")  # not of ONNX, but of its runtime
RESULTS = {"TopK": 2}  # operators with more than one result


def compare(operator: str, inputs: list[np.ndarray], attributes: dict) -> None:
    names = [f"in{number}" for number in range(len(inputs))]
    results = [f"out{number}" for number in range(RESULTS.get(operator, 1))]
    domain = "com.microsoft" if operator in OURS else ""
    node = helper.make_node(operator, names, results, domain=domain, **attributes)
    given = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape)
        for name, value in zip(names, inputs, strict=True)
    ]
    graph = helper.make_graph([node], operator, given, list(map(helper.make_empty_tensor_value_info, results)))
    opsets = [helper.make_opsetid("", NEWER.get(operator, OPSET)), helper.make_opsetid("com.microsoft", 1)]
    model = onnx.shape_inference.infer_shapes(helper.make_model(graph, opset_imports=opsets, ir_version=9))
    found = []
    for provider in PROVIDERS:
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 4
        options.add_session_config_entry("session.disable_cpu_ep_fallback", str(int(provider == PROVIDERS[1])))
        session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=[provider])
        assert session.get_providers()[0] == provider, session.get_providers()
        found.append(session.run(None, dict(zip(names, inputs, strict=True))))
    for cpu, gpu in zip(*found, strict=True):
        np.testing.assert_allclose(gpu, cpu, rtol=2e-3, atol=2e-3)


if PROVIDERS[1].startswith("CUDA"):
    onnxruntime.preload_dlls()
cases.run({name: partial(compare, *case) for name, case in OPERATORS.items()})
