"""Run by suites.py under `ptx2amd run`: TensorFlow on the GPU (kernels of the wheel, XLA), each operation against the
CPU's result."""

import os
from collections.abc import Callable

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import cases
import numpy as np
import tensorflow as tf

tf.config.experimental.enable_tensor_float_32_execution(False)
rng = np.random.default_rng(0)
x = rng.standard_normal((64, 48)).astype(np.float32)
y = rng.standard_normal((48, 32)).astype(np.float32)
k = np.arange(1000)
images = rng.standard_normal((2, 16, 16, 3)).astype(np.float32)
spd = x.T @ x + 10 * np.eye(48, dtype=np.float32)
GPU, CPU = "/GPU:0", "/CPU:0"


def same(operation: Callable[..., tf.Tensor], *inputs: np.ndarray, close: float = 1e-4) -> Callable[[], None]:
    """A case: the operation gives on the GPU what it gives on the CPU."""

    def check() -> None:
        results = []
        for device in (GPU, CPU):
            with tf.device(device):
                results.append(operation(*map(tf.constant, inputs)))
        assert "GPU" in results[0].device, results[0].device
        np.testing.assert_allclose(results[0].numpy(), results[1].numpy(), rtol=close, atol=close)

    return check


def compiled(operation: Callable[..., tf.Tensor], *inputs: np.ndarray, close: float = 1e-4) -> Callable[[], None]:
    """A case: so does XLA's kernel of it."""
    return same(tf.function(operation, jit_compile=True), *inputs, close=close)


def training() -> None:
    """A step of gradient descent by the tape, a few times, ends as on the CPU."""
    wanted = (x[:, 0] > 0).astype(np.int32) + (x[:, 1] > 0)
    start = [0.3 * rng.standard_normal(s).astype(np.float32) for s in ((48, 16), (16,), (16, 3))]
    ends = []
    for device in (GPU, CPU):
        with tf.device(device):
            weights, losses = [tf.Variable(value) for value in start], []
            for _ in range(4):
                with tf.GradientTape() as tape:
                    logits = tf.tanh(tf.constant(x) @ weights[0] + weights[1]) @ weights[2]
                    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(wanted, logits))
                for weight, gradient in zip(weights, tape.gradient(loss, weights), strict=True):
                    weight.assign_sub(0.5 * gradient)
                losses.append(float(loss))
            ends.append(losses)
    assert ends[0][-1] < ends[0][0]
    np.testing.assert_allclose(ends[0], ends[1], rtol=1e-3)


def keras(build: Callable[[], list], inputs: np.ndarray) -> Callable[[], None]:
    """A case: `fit` of a model for two epochs has the CPU's losses."""

    def check() -> None:
        wanted, ends = (inputs.reshape(len(inputs), -1)[:, 0] > 0).astype(np.int32), []
        for device in (GPU, CPU):
            with tf.device(device):
                tf.keras.utils.set_random_seed(1)
                model = tf.keras.Sequential(build())
                model.compile(tf.keras.optimizers.Adam(0.01), tf.keras.losses.SparseCategoricalCrossentropy(True),
                              jit_compile=False)  # fmt: skip
                ends.append(
                    model.fit(inputs, wanted, batch_size=16, epochs=2, shuffle=False, verbose=0).history["loss"]
                )
        assert ends[0][1] < ends[0][0]
        np.testing.assert_allclose(ends[0], ends[1], rtol=2e-3)

    return check


def dense() -> list:
    return [tf.keras.layers.Dense(16, "relu"), tf.keras.layers.LayerNormalization(), tf.keras.layers.Dense(2)]


def convolutional() -> list:
    layers = tf.keras.layers
    return [layers.Conv2D(4, 3, activation="relu"), layers.MaxPooling2D(), layers.Flatten(), layers.Dense(2)]


def randoms() -> None:
    with tf.device(GPU):
        drawn = tf.random.stateless_normal((20000,), (1, 2))
    with tf.device(CPU):
        want = tf.random.stateless_normal((20000,), (1, 2))
    np.testing.assert_allclose(drawn.numpy(), want.numpy(), rtol=1e-3, atol=1e-4)


def on_the_gpu() -> None:
    assert tf.config.list_physical_devices("GPU") and "GPU" in (tf.constant(x) + 1).device


CASES = {
    "on-the-gpu": on_the_gpu,
    "elementwise": same(lambda a: tf.exp(a) * tf.sin(a) + tf.sqrt(tf.abs(a)), x),
    "special-functions": same(lambda a: tf.math.erf(a) + tf.math.lgamma(tf.abs(a) + 0.5), x),
    "broadcast": same(lambda a, b: a[:, None, :] * tf.transpose(b)[None], x, y),
    "half": same(lambda a: tf.cast(tf.cast(a, tf.float16) * 2 + 1, tf.float32), x, close=1e-3),
    "integers": same(lambda a: tf.bitwise.bitwise_xor(a * 7 % 13, tf.bitwise.right_shift(a, 2 * tf.ones_like(a))), k),
    "where": same(lambda a: tf.where(a > 0, a, -2 * a), x),
    "sum": same(tf.reduce_sum, x, close=1e-3),
    "reduce-axis": same(lambda a: tf.reduce_mean(a, 0) + tf.reduce_max(a, 0), x),
    "argmax": same(lambda a: tf.argmax(a, 1), x),
    "cumsum": same(lambda a: tf.cumsum(a), k),
    "sort": same(lambda a: tf.sort(a, 1), x),
    "top-k": same(lambda a: tf.math.top_k(a, 5).values, x),
    "gather": same(lambda a, i: tf.gather(a, i % 64), x, k),
    "scatter": same(lambda a, i: tf.math.unsorted_segment_sum(a, i % 16, 16), np.float32(k), k),
    "boolean-mask": same(lambda a: tf.boolean_mask(a, a > 0.5), x),
    "concat-tile": same(lambda a: tf.tile(tf.concat([a, a * 2], 1), (2, 1)), x),
    "transpose": same(lambda a: tf.transpose(tf.reshape(a, (4, 16, 48)), (2, 0, 1)), x),
    "matmul": same(tf.matmul, x, y),
    "matmul-half": same(lambda a, b: tf.cast(tf.cast(a, tf.float16) @ tf.cast(b, tf.float16), tf.float32), x, y,
                        close=3e-2),
    "batched-matmul": same(lambda a: tf.matmul(tf.reshape(a, (4, 16, 48)), tf.reshape(a, (4, 48, 16))), x),
    "einsum": same(lambda a: tf.einsum("ij,kj->ik", a, a), x),
    "cholesky": same(tf.linalg.cholesky, spd, close=1e-3),
    "solve": same(tf.linalg.solve, spd, y, close=1e-3),
    "fft": same(lambda a: tf.abs(tf.signal.fft(tf.cast(a, tf.complex64))), x, close=1e-3),
    "softmax": same(tf.nn.softmax, x),
    "convolution": same(lambda a: tf.nn.conv2d(a, a[0, :3, :3, :, None], 1, "SAME"), images, close=1e-3),
    "pooling": same(lambda a: tf.nn.max_pool2d(a, 2, 2, "VALID"), images),
    "resize": same(lambda a: tf.image.resize(a, (23, 9)), images),
    "random": randoms,
    "xla-elementwise": compiled(lambda a: tf.exp(a) * tf.sin(a) + tf.sqrt(tf.abs(a)), x),
    "xla-softmax": compiled(tf.nn.softmax, x),
    "xla-reduce": compiled(lambda a: tf.reduce_sum(a * a, 0), x),
    "xla-sort": compiled(lambda a: tf.sort(a, 1), x),
    "training": training,
    "keras-dense": keras(dense, x),
    "keras-convolution": keras(convolutional, rng.standard_normal((32, 16, 16, 3)).astype(np.float32)),
}  # fmt: skip

cases.run(CASES)
