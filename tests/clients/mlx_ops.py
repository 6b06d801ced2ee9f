"""Run by suites.py under `ptx2amd run`: operations of MLX on its CUDA back end against numpy, or MLX on the CPU."""

from collections.abc import Callable

import cases
import mlx.core as mx
import mlx.nn as nn
import mlx.optimizers as optimizers
import numpy as np

RANDOM = np.random.default_rng(0)
A, B, C = (RANDOM.standard_normal(shape).astype(np.float32) for shape in ((20, 33), (20, 33), (33, 16)))
IMAGES = RANDOM.standard_normal((2, 9, 9, 3)).astype(np.float32)
FILTERS = RANDOM.standard_normal((4, 3, 3, 3)).astype(np.float32)
HEADS = RANDOM.standard_normal((3, 1, 4, 12, 32)).astype(np.float32)
WIDE = RANDOM.standard_normal((64, 128)).astype(np.float32)
NUMBERS = RANDOM.integers(0, 20, 40).astype(np.int32)

# What numpy and MLX call alike.
SAME: dict[str, Callable] = {
    "add": lambda m: m.array(A) + m.array(B),
    "divide": lambda m: m.array(A) / m.array(B),
    "exp": lambda m: m.exp(m.array(A)),
    "sine": lambda m: m.sin(m.array(A)),
    "where": lambda m: m.where(m.array(A) > 0, m.array(A), m.array(B)),
    "sum": lambda m: m.sum(m.array(A), axis=1),
    "mean": lambda m: m.mean(m.array(A), axis=0),
    "largest": lambda m: m.max(m.array(A), axis=0),
    "place of the smallest": lambda m: m.argmin(m.array(A), axis=1),
    "sort": lambda m: m.sort(m.array(A), axis=1),
    "order": lambda m: m.argsort(m.array(A[0])),
    "running sum": lambda m: m.cumsum(m.array(A), axis=1),
    "transpose": lambda m: m.transpose(m.array(HEADS[0]), (0, 2, 1, 3)),
    "concatenate": lambda m: m.concatenate([m.array(A), m.array(B)], axis=1),
    "take": lambda m: m.take(m.array(A), m.array(NUMBERS % 20), axis=0),
    "slices": lambda m: m.array(A)[2:15:3, ::-1],
    "integers": lambda m: (m.array(NUMBERS) * 7 - 3) // 5,
    "remainder": lambda m: m.array(NUMBERS) % 7,
    "matrix product": lambda m: m.matmul(m.array(A), m.array(C)),
    "sum of products": lambda m: m.einsum("ij,kj->ik", m.array(A), m.array(B)),
    "Fourier transform": lambda m: m.abs(m.fft.fft(m.array(A[:, :32]))),
}


def layers() -> list:
    mx.random.seed(1)
    model = nn.Sequential(nn.Linear(33, 24), nn.GELU(), nn.LayerNorm(24), nn.RMSNorm(24), nn.Linear(24, 5))
    return [model(mx.array(A))]


def training() -> list:
    """Ten steps of Adam."""
    mx.random.seed(2)
    model, steps = nn.Sequential(nn.Linear(33, 16), nn.ReLU(), nn.Linear(16, 1)), optimizers.Adam(1e-2)
    loss = nn.value_and_grad(model, lambda m, x, y: nn.losses.mse_loss(m(x)[:, 0], y))
    losses = []
    for _ in range(10):
        value, gradients = loss(model, mx.array(A), mx.array(B[:, 0]))
        steps.update(model, gradients)
        mx.eval(model.parameters(), steps.state)
        losses.append(value)
    return losses


def quantised() -> list:
    packed = mx.quantize(mx.array(WIDE), group_size=64, bits=4)
    return [mx.quantized_matmul(mx.array(WIDE[:4]), *packed, transpose=True, group_size=64, bits=4)]


@mx.compile
def fused(a: mx.array, b: mx.array) -> mx.array:
    return mx.tanh(a) * mx.sigmoid(b) + mx.exp(-mx.abs(a))


# What MLX on the CPU is the measure of.
OWN: dict[str, Callable[[], list]] = {
    "softmax": lambda: [mx.softmax(mx.array(A), axis=1)],
    "logarithm of a sum": lambda: [mx.logsumexp(mx.array(A), axis=1)],
    "convolution": lambda: [mx.conv2d(mx.array(IMAGES), mx.array(FILTERS), padding=1)],
    "attention": lambda: [mx.fast.scaled_dot_product_attention(*map(mx.array, HEADS), scale=0.2)],
    "rotary positions": lambda: [mx.fast.rope(mx.array(HEADS[0]), 32, traditional=False, base=1e4, scale=1, offset=3)],
    "half precision": lambda: [mx.array(A).astype(mx.float16) * mx.array(B).astype(mx.float16)],
    "bfloat16": lambda: [(mx.array(A).astype(mx.bfloat16) + mx.array(B).astype(mx.bfloat16)).astype(mx.float32)],
    "random numbers": lambda: [mx.random.normal((50,), key=mx.random.key(7))],
    "compiled": lambda: [fused(mx.array(A), mx.array(B))],
    "gradient": lambda: [mx.grad(lambda a: mx.sum(mx.tanh(a @ mx.array(C)) ** 2))(mx.array(A))],
    "layers": layers,
    "training": training,
    "quantised product": quantised,
}


def on(device: mx.Device, compute: Callable[[], list]) -> list[np.ndarray]:
    with mx.stream(device):
        found = compute()
        mx.eval(*found)
    return [np.array(value) for value in found]


def close(name: str, compute: Callable[[], list]) -> None:
    found = on(mx.gpu, compute)
    want = [SAME[name](np)] if name in SAME else on(mx.cpu, compute)
    for one, other in zip(found, want, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-2, atol=1e-2)


assert mx.default_device() == mx.gpu, mx.default_device()
computed = {name: (lambda f=f: [f(mx)]) for name, f in SAME.items()} | OWN
cases.run({name: (lambda name=name, f=f: close(name, f)) for name, f in computed.items()})
