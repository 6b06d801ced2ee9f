"""Run by suites.py under `ptx2amd run`: JAX on the GPU (PTX by XLA), checked against numpy and finite differences."""

import cases
import jax
import jax.numpy as jnp
import numpy as np

rng = np.random.default_rng(0)
x = rng.standard_normal((64, 48)).astype(np.float32)
y = rng.standard_normal((48, 32)).astype(np.float32)
k = np.arange(1000)


def on_the_gpu() -> None:
    assert jax.default_backend() == "gpu" and jnp.asarray(x).devices() == {jax.devices("gpu")[0]}


def collatz() -> np.ndarray:
    """A while loop of the host around a kernel."""

    def step(state: tuple) -> tuple:
        value, count = state
        going = value > 1
        value = jnp.where(going, jnp.where(value % 2 == 0, value // 2, value * 3 + 1), value)
        return value, count + going

    start = (jnp.arange(1, 101), jnp.zeros(100, jnp.int32))
    return jax.lax.while_loop(lambda state: (state[0] > 1).any(), step, start)[1]


def network(weights: list, inputs: jax.Array) -> jax.Array:
    hidden = jnp.tanh(inputs @ weights[0] + weights[1])
    return jax.nn.log_softmax(hidden @ weights[2])


def loss(weights: list, inputs: jax.Array, wanted: jax.Array) -> jax.Array:
    return -jnp.take_along_axis(network(weights, inputs), wanted[:, None], 1).mean()


def training() -> None:
    """Gradient descent with jit and grad: as on the CPU, and the loss falls."""
    wanted = (x[:, 0] > 0).astype(np.int32) + (x[:, 1] > 0)
    start = [0.3 * rng.standard_normal(s).astype(np.float32) for s in ((48, 16), (16,), (16, 3))]
    ends = []
    for device in (jax.devices("gpu")[0], jax.devices("cpu")[0]):
        weights, inputs, labels = jax.device_put((start, x, wanted), device)
        step = jax.jit(lambda w, i, t: jax.tree.map(lambda a, g: a - 0.5 * g, w, jax.grad(loss)(w, i, t)))
        first = float(loss(weights, inputs, labels))
        for _ in range(5):
            weights = step(weights, inputs, labels)
        ends.append(float(loss(weights, inputs, labels)))
        assert ends[-1] < first
    assert abs(ends[0] - ends[1]) < 1e-3 * ends[1], ends


def gradient() -> np.ndarray:
    return jax.jit(jax.grad(lambda a: (jnp.sin(a) * a**2).sum()))(x)


def solved() -> np.ndarray:
    a = x[:48] @ x[:48].T + 50 * np.eye(48, dtype=np.float32)
    return a @ np.asarray(jnp.linalg.solve(jnp.asarray(a), jnp.asarray(y)))


def randoms() -> np.ndarray:
    drawn = np.asarray(jax.random.normal(jax.random.key(1), (20000,)))
    on_cpu = jax.device_put(jax.random.key(1), jax.devices("cpu")[0])
    np.testing.assert_allclose(drawn, jax.random.normal(on_cpu, (20000,)), rtol=1e-3, atol=1e-5)
    return np.array([drawn.mean(), drawn.std()])


def softmax(a: np.ndarray) -> np.ndarray:
    e = np.exp(a - a.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def attention(q: jax.Array) -> jax.Array:
    return jax.nn.softmax(q @ q.T / 7.0) @ q


CASES = {
    "on-the-gpu": on_the_gpu,
    "elementwise": cases.agree(lambda: jax.jit(lambda a: jnp.exp(a) * jnp.sin(a) + jnp.sqrt(jnp.abs(a)))(x),
                               np.exp(x) * np.sin(x) + np.sqrt(np.abs(x))),
    "reductions": cases.agree(lambda: jnp.stack([jnp.sum(x), jnp.max(x), jnp.mean(x), jnp.std(x)]),
                              [x.sum(), x.max(), x.mean(), x.std()]),
    "reduce-axis": cases.agree(lambda: jnp.sum(jnp.asarray(x), 0), x.sum(0)),
    "argmax": cases.agree(lambda: jnp.argmax(jnp.asarray(x), 1), x.argmax(1)),
    "integers": cases.agree(lambda: (jnp.asarray(k) * 7 % 13) ^ (jnp.asarray(k) >> 2), (k * 7 % 13) ^ (k >> 2)),
    "half": cases.agree(lambda: (jnp.asarray(x, jnp.bfloat16) * 2 + 1).astype(jnp.float32), x * 2 + 1, 2e-2, 2e-2),
    "cumsum": cases.agree(lambda: jnp.cumsum(jnp.asarray(k)), k.cumsum()),
    "sort": cases.agree(lambda: jnp.sort(jnp.asarray(x), axis=1), np.sort(x, 1)),
    "argsort": cases.agree(lambda: jnp.argsort(jnp.asarray(x[:, 0])), x[:, 0].argsort()),
    "gather": cases.agree(lambda: jnp.asarray(x)[jnp.asarray(k % 64), jnp.asarray(k % 48)], x[k % 64, k % 48]),
    "scatter-add": cases.agree(lambda: jnp.zeros(16, jnp.int32).at[jnp.asarray(k % 16)].add(1), np.bincount(k % 16)),
    "transpose": cases.agree(lambda: jnp.transpose(jnp.asarray(x).reshape(4, 16, 48), (2, 0, 1)),
                             x.reshape(4, 16, 48).transpose(2, 0, 1)),
    "vmap": cases.agree(lambda: jax.vmap(lambda row, i: row[i] * row.sum())(jnp.asarray(x), jnp.arange(64) % 48),
                        x[np.arange(64), np.arange(64) % 48] * x.sum(1)),
    "convolution": cases.agree(lambda: jnp.convolve(jnp.asarray(x[0]), jnp.ones(3), "same"),  # cuDNN
                               np.convolve(x[0], np.ones(3), "same")),
    "scan": cases.agree(lambda: jax.lax.scan(lambda c, v: (c * 0.5 + v, c), 0.0, jnp.asarray(x[:, 0]))[0],
                        sum(v * 0.5 ** (63 - i) for i, v in enumerate(x[:, 0]))),
    "while-loop": cases.agree(collatz, [cases.collatz(i) for i in range(1, 101)]),
    "matmul": cases.agree(lambda: jnp.dot(x, y, precision="highest"), x @ y),
    "batched-matmul": cases.agree(lambda: jnp.einsum("bij,bjk->bik", x.reshape(4, 16, 48), x.reshape(4, 48, 16),
                                                     precision="highest"),
                                  x.reshape(4, 16, 48) @ x.reshape(4, 48, 16)),
    "softmax": cases.agree(lambda: jax.nn.softmax(jnp.asarray(x)), softmax(x)),
    "attention": cases.agree(lambda: jax.jit(attention)(x), softmax(x @ x.T / 7) @ x, 2e-2, 2e-2),
    "gradient": cases.agree(gradient, np.cos(x) * x**2 + 2 * x * np.sin(x)),
    "training": training,
    "random": cases.agree(randoms, [0, 1], 0.02, 0.02),
    "fft": cases.agree(lambda: jnp.abs(jnp.fft.fft(jnp.asarray(x))), np.abs(np.fft.fft(x)), 1e-3, 1e-3),  # cuFFT
    "solve": cases.agree(solved, y, 1e-3, 1e-3),
}  # fmt: skip

cases.run(CASES)
