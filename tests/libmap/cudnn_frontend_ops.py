"""Run by clients.py under `ptx2amd run`: graphs of NVIDIA's cudnn-frontend, the package by which programs reach cuDNN's
graph API, compared with numpy."""

import ctypes
import math
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent / "clients"))

import cases
import cudnn
import numpy as np

HALF, FLOAT = cudnn.data_type.HALF, cudnn.data_type.FLOAT
INT32 = cudnn.data_type.INT32
DTYPES = {HALF: np.float16, FLOAT: np.float32, INT32: np.int32}
cuda = ctypes.CDLL("libcuda.so.1")
draw = np.random.default_rng(1)


def begin() -> None:
    context = ctypes.c_void_p()
    assert not cuda.cuInit(0) and not cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)
    assert not cuda.cuCtxSetCurrent(context)


def memory(size: int) -> int:
    found = ctypes.c_uint64()
    assert not cuda.cuMemAlloc_v2(ctypes.byref(found), ctypes.c_size_t(max(size, 8)))
    return found.value


class Graph:
    """A graph with tensors whose numbers are on the device."""

    def __init__(self, io: Any = HALF) -> None:
        self.handle = cudnn.create_handle()
        self.io = io
        self.graph = cudnn.pygraph(
            io_data_type=io, intermediate_data_type=FLOAT, compute_data_type=FLOAT, handle=self.handle
        )
        self.pointers: dict[Any, int] = {}
        self.kept: dict[Any, Any] = {}

    def tensor(self, values: Any, kind: Any = None, order: Sequence[int] = ()) -> Any:
        """order: of the dimensions in memory, the innermost last."""
        kind = kind or self.io
        stored = np.ascontiguousarray(values.astype(DTYPES[kind]).transpose(order or range(values.ndim)))
        strides = [0] * values.ndim
        for place, d in enumerate(order or range(values.ndim)):
            strides[d] = stored.strides[place] // stored.itemsize
        made = self.graph.tensor(name=f"t{len(self.pointers)}", dim=list(values.shape), stride=strides, data_type=kind)
        at = memory(stored.nbytes)
        assert not cuda.cuMemcpyHtoD_v2(
            ctypes.c_uint64(at), ctypes.c_void_p(stored.ctypes.data), ctypes.c_size_t(stored.nbytes)
        )
        self.pointers[made] = at
        return made

    def scalar(self, value: float) -> Any:
        """A number in the host's memory."""
        made = self.graph.tensor(
            name="s", dim=[1, 1, 1, 1], stride=[1, 1, 1, 1], data_type=FLOAT, is_pass_by_value=True
        )
        self.kept[made] = np.array([value], np.float32)
        self.pointers[made] = self.kept[made].ctypes.data
        return made

    def out(self, tensor: Any, shape: Sequence[int], kind: Any = None) -> Any:
        kind = kind or self.io
        strides = [int(np.prod(shape[d + 1 :])) for d in range(len(shape))]
        tensor.set_output(True).set_data_type(kind).set_dim(list(shape)).set_stride(strides)
        self.pointers[tensor] = memory(int(np.prod(shape)) * 4)
        self.kept[tensor] = np.empty(shape, DTYPES[kind])
        return tensor

    def run(self) -> None:
        self.graph.build([cudnn.heur_mode.A, cudnn.heur_mode.FALLBACK])
        space = memory(self.graph.get_workspace_size())
        self.graph.execute(self.pointers, space, handle=self.handle)
        assert not cuda.cuCtxSynchronize()

    def now(self, tensor: Any) -> Any:
        found = self.kept[tensor]
        size = ctypes.c_size_t(found.nbytes)
        assert not cuda.cuMemcpyDtoH_v2(
            ctypes.c_void_p(found.ctypes.data), ctypes.c_uint64(self.pointers[tensor]), size
        )
        return found.astype(np.float64)


def halves(*shape: int) -> Any:
    """Numbers that are f16."""
    return draw.uniform(-1, 1, shape).astype(np.float16).astype(np.float64)


def near(found: Any, exact: Any, error: float = 4e-3) -> None:
    np.testing.assert_allclose(found, exact, rtol=error, atol=error * max(1, abs(exact).max()))


def matmul_bias_gelu() -> None:
    g, a, b, bias = Graph(), halves(2, 16, 32), halves(2, 32, 24), halves(1, 1, 24)
    product = g.graph.matmul(A=g.tensor(a), B=g.tensor(b), name="mm")
    y = g.out(g.graph.gelu(input=g.graph.bias(input=product, bias=g.tensor(bias), name="b"), name="g"), (2, 16, 24))
    g.run()
    x = a @ b + bias
    near(g.now(y), x / 2 * (1 + np.vectorize(math.erf)(x / math.sqrt(2))))


def layer_norm() -> None:
    g, x = Graph(), halves(6, 40, 1, 1)
    scale, bias = (draw.uniform(0.5, 2, (1, 40, 1, 1)) for _ in range(2))
    y, mean, inverse = g.graph.layernorm(
        name="ln",
        norm_forward_phase=cudnn.norm_forward_phase.TRAINING,
        input=g.tensor(x),
        scale=g.tensor(scale, FLOAT),
        bias=g.tensor(bias, FLOAT),
        epsilon=g.scalar(1e-3),
    )
    y, mean, inverse = g.out(y, x.shape), g.out(mean, (6, 1, 1, 1), FLOAT), g.out(inverse, (6, 1, 1, 1), FLOAT)
    g.run()
    deviation = 1 / np.sqrt(x.var(1, keepdims=True) + 1e-3)
    near(g.now(mean), x.mean(1, keepdims=True))
    near(g.now(inverse), deviation)
    near(g.now(y), (x - x.mean(1, keepdims=True)) * deviation * scale + bias)


def rms_norm() -> None:
    g, x, scale = Graph(), halves(6, 40, 1, 1), draw.uniform(0.5, 2, (1, 40, 1, 1))
    y, _ = g.graph.rmsnorm(
        name="rms",
        norm_forward_phase=cudnn.norm_forward_phase.INFERENCE,
        input=g.tensor(x),
        scale=g.tensor(scale, FLOAT),
        epsilon=g.scalar(1e-3),
    )
    y = g.out(y, x.shape)
    g.run()
    near(g.now(y), x / np.sqrt((x * x).mean(1, keepdims=True) + 1e-3) * scale)


def convolution() -> None:
    g, x, w, bias = Graph(), halves(1, 8, 6, 6), halves(4, 8, 1, 1), halves(1, 4, 1, 1)
    nhwc = (0, 2, 3, 1)
    y = g.graph.conv_fprop(
        image=g.tensor(x, order=nhwc), weight=g.tensor(w, order=nhwc), padding=[0, 0], stride=[1, 1], dilation=[1, 1]
    )
    y = g.out(g.graph.relu(input=g.graph.bias(input=y, bias=g.tensor(bias))), (1, 4, 6, 6))
    g.run()
    near(g.now(y), np.maximum(np.einsum("nchw,kc->nkhw", x, w[:, :, 0, 0]) + bias, 0))


def softmax(x: Any) -> tuple[Any, Any]:
    powers = np.exp(x - x.max(-1, keepdims=True))
    total = powers.sum(-1, keepdims=True)
    return powers / total, x.max(-1, keepdims=True) + np.log(total)


def attention(heads: int = 4, causal: bool = False, lengths: bool = False, backward: bool = False) -> None:
    b, h, s, d, bshd = 2, 4, 128, 64, (0, 2, 1, 3)
    q, k, v = halves(b, h, s, d), halves(b, heads, s, d), halves(b, heads, s, d)
    g = Graph()
    nodes = [g.tensor(x, order=bshd) for x in (q, k, v)]
    options: dict[str, Any] = {"use_causal_mask": causal}
    lens = np.array([100, 128])[:, None, None, None]
    if lengths:
        options |= {"use_padding_mask": True, "seq_len_q": g.tensor(lens, INT32), "seq_len_kv": g.tensor(lens, INT32)}
    scale = 1 / math.sqrt(d)
    o, stats = g.graph.sdpa(
        name="sdpa", q=nodes[0], k=nodes[1], v=nodes[2], is_inference=False, attn_scale=scale, **options
    )
    o, stats = g.out(o, q.shape), g.out(stats, (b, h, s, 1), FLOAT)
    g.run()
    each = h // heads
    wide = [np.repeat(x, each, 1) for x in (k, v)]
    row, column = np.indices((s, s))
    inside = np.broadcast_to(row >= column if causal else row >= 0, (b, h, s, s))
    if lengths:
        inside = inside & (column < lens)
    shares, logarithm = softmax(np.where(inside, q @ wide[0].swapaxes(-1, -2) * scale, -np.inf))
    exact = shares @ wide[1]
    rows = np.broadcast_to(np.arange(s)[:, None] < lens if lengths else True, exact.shape)
    near(np.where(rows, g.now(o), 0), np.where(rows, exact, 0))
    near(np.where(rows[..., :1], g.now(stats), 0), np.where(rows[..., :1], logarithm, 0))
    if backward:
        derivatives(q, k, v, exact, logarithm, shares, scale, options)


def derivatives(q: Any, k: Any, v: Any, o: Any, stats: Any, shares: Any, scale: float, options: dict[str, Any]) -> None:
    bshd, g, do = (0, 2, 1, 3), Graph(), halves(*q.shape)
    dq, dk, dv = g.graph.sdpa_backward(
        name="back",
        q=g.tensor(q, order=bshd),
        k=g.tensor(k, order=bshd),
        v=g.tensor(v, order=bshd),
        o=g.tensor(o, order=bshd),
        dO=g.tensor(do, order=bshd),
        stats=g.tensor(stats, FLOAT),
        attn_scale=scale,
        **options,
    )
    results = [g.out(*pair) for pair in ((dq, q.shape), (dk, k.shape), (dv, v.shape))]
    g.run()
    o = o.astype(np.float16).astype(np.float64)
    slope = shares * (do @ v.swapaxes(-1, -2) - (do * o).sum(-1, keepdims=True)) * scale
    exact = (slope @ k, slope.swapaxes(-1, -2) @ q, shares.swapaxes(-1, -2) @ do)
    for result, one in zip(results, exact, strict=True):
        near(g.now(result), one, 1e-2)


begin()
CASES: dict[str, Callable[[], None]] = {
    "matmul, bias, GELU": matmul_bias_gelu,
    "layer norm": layer_norm,
    "RMS norm": rms_norm,
    "convolution, bias, ReLU": convolution,
    "attention": attention,
    "attention, causal": lambda: attention(causal=True),
    "attention, two heads of keys": lambda: attention(heads=2, causal=True),
    "attention with lengths": lambda: attention(lengths=True),
    "attention, backward": lambda: attention(backward=True),
    "attention, causal, backward": lambda: attention(causal=True, backward=True),
}
cases.run(CASES)
