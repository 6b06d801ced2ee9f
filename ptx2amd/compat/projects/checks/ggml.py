"""Operations of ggml's CUDA backend, called through its C interface, against numpy. Argument: the libraries' folder."""

import ctypes
import sys
from collections.abc import Callable
from ctypes import c_bool, c_float, c_int, c_int64, c_size_t, c_void_p
from pathlib import Path
from typing import Any

import numpy as np

FOLDER = Path(sys.argv[1])
F32, F16, Q4_0, Q8_0 = 0, 1, 2, 8
base = ctypes.CDLL(str(FOLDER / "libggml-base.so"), ctypes.RTLD_GLOBAL)
cuda = ctypes.CDLL(str(FOLDER / "libggml-cuda.so"), ctypes.RTLD_GLOBAL)
rng = np.random.default_rng(1)


class Settings(ctypes.Structure):
    _fields_ = (("size", c_size_t), ("buffer", c_void_p), ("no_alloc", c_bool))


Operation = Callable[..., Any]


def function(name: str, result: object, *arguments: object) -> Any:
    found = getattr(base, name)
    found.restype, found.argtypes = result, arguments
    return found


init = function("ggml_init", c_void_p, Settings)
new_2d = function("ggml_new_tensor_2d", c_void_p, c_void_p, c_int, c_int64, c_int64)
mul_mat = function("ggml_mul_mat", c_void_p, c_void_p, c_void_p, c_void_p)
soft_max = function("ggml_soft_max", c_void_p, c_void_p, c_void_p)
rms_norm = function("ggml_rms_norm", c_void_p, c_void_p, c_void_p, c_float)
silu = function("ggml_silu", c_void_p, c_void_p, c_void_p)
new_graph = function("ggml_new_graph", c_void_p, c_void_p)
expand = function("ggml_build_forward_expand", None, c_void_p, c_void_p)
allocate = function("ggml_backend_alloc_ctx_tensors", c_void_p, c_void_p, c_void_p)
put = function("ggml_backend_tensor_set", None, c_void_p, c_void_p, c_size_t, c_size_t)
get = function("ggml_backend_tensor_get", None, c_void_p, c_void_p, c_size_t, c_size_t)
compute = function("ggml_backend_graph_compute", c_int, c_void_p, c_void_p)
quantize = function("ggml_quantize_chunk", c_size_t, c_int, c_void_p, c_void_p, c_int64, c_int64, c_int64, c_void_p)
start = cuda.ggml_backend_cuda_init
start.restype, start.argtypes = c_void_p, (c_int,)
backend = start(0)
assert backend


def stored(values: np.ndarray, kind: int) -> np.ndarray:
    """The bytes of a matrix in one of ggml's types."""
    if kind in (F32, F16):
        return values.astype(np.float32 if kind == F32 else np.float16)
    bytes_of_block = {Q4_0: 18, Q8_0: 34}[kind]
    found = np.zeros(values.size // 32 * bytes_of_block, np.uint8)
    quantize(kind, values.ctypes.data, found.ctypes.data, 0, *values.shape, None)
    return found


def meant(data: np.ndarray, kind: int, shape: tuple[int, ...]) -> np.ndarray:
    """What the bytes mean: blocks of a scale in f16 and 32 integers of 4 or 8 bits."""
    if kind in (F32, F16):
        return data.astype(np.float64)
    blocks = data.reshape(-1, {Q4_0: 18, Q8_0: 34}[kind])
    scale = blocks[:, :2].copy().view(np.float16).astype(np.float64)
    if kind == Q8_0:
        return (scale * blocks[:, 2:].view(np.int8)).reshape(shape)
    return (scale * (np.hstack([blocks[:, 2:] & 15, blocks[:, 2:] >> 4]).astype(np.float64) - 8)).reshape(shape)


def run(operation: Operation, shape: tuple[int, int], *operands: tuple[np.ndarray, int]) -> np.ndarray:
    """The result of a graph with one operation."""
    context = init(Settings(1 << 20, None, True))
    tensors = [new_2d(context, kind, *values.shape[::-1]) for values, kind in operands]
    result = operation(context, *tensors)
    graph = new_graph(context)
    expand(graph, result)
    assert allocate(context, backend)
    for tensor, (values, kind) in zip(tensors, operands, strict=True):
        data = np.ascontiguousarray(stored(values, kind))
        put(tensor, data.ctypes.data, 0, data.nbytes)
    assert compute(backend, graph) == 0
    found = np.zeros(shape, np.float32)
    get(result, found.ctypes.data, 0, found.nbytes)
    return found


def check(name: str, got: np.ndarray, wanted: np.ndarray, tolerance: float) -> None:
    error = abs(got - wanted).max() / abs(wanted).max()
    print(f"{name}: {error:.1e}", flush=True)
    assert error < tolerance, name


for kind, tolerance in ((F32, 1e-3), (F16, 2e-3), (Q4_0, 0.02), (Q8_0, 0.02)):
    for columns in (1, 5):
        a, b = (rng.standard_normal((rows, 256)).astype(np.float32) for rows in (64, columns))
        got = run(mul_mat, (columns, 64), (a, kind), (b, F32))
        check(
            f"type {kind}, {columns} columns",
            got,
            b.astype(np.float64) @ meant(stored(a, kind), kind, a.shape).T,
            tolerance,
        )
x = rng.standard_normal((7, 256)).astype(np.float32)
check("silu", run(silu, x.shape, (x, F32)), x / (1 + np.exp(-x)), 1e-5)
wanted = np.exp(x - x.max(1, keepdims=True))
check("softmax", run(soft_max, x.shape, (x, F32)), wanted / wanted.sum(1, keepdims=True), 1e-5)
normed = run(lambda context, tensor: rms_norm(context, tensor, 1e-5), x.shape, (x, F32))
check("RMS norm", normed, x / np.sqrt((x.astype(np.float64) ** 2).mean(1, keepdims=True) + 1e-5), 1e-5)
print("right")
