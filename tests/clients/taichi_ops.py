"""Run by suites.py under `ptx2amd run`: Taichi's CUDA backend (PTX by its own LLVM), checked against numpy.
Fields, atomics, reductions, matrices, sparse data structures, random numbers, automatic differentiation."""

import cases
import numpy as np
import taichi as ti

ti.init(arch=ti.cuda, offline_cache=False, log_level=ti.ERROR, device_memory_GB=0.5)
n = 1 << 14
k = np.arange(n)


def on_the_gpu() -> None:
    assert ti.lang.impl.current_cfg().arch == ti.cuda


def elementwise() -> np.ndarray:
    x = ti.field(ti.f32, n)

    @ti.kernel
    def fill():
        for i in x:
            x[i] = ti.sin(i * 1e-3) * ti.exp(-i * 1e-4) + ti.sqrt(ti.cast(i, ti.f32)) + ti.atan2(1.0 * i, 3.0)

    fill()
    return x.to_numpy()


def double() -> np.ndarray:
    a = ti.field(ti.f64, (64, 64))

    @ti.kernel
    def fill():
        for i, j in a:
            a[i, j] = ti.cast(i * j, ti.f64) / 7 + ti.log(1.0 + ti.cast(i, ti.f64))

    fill()
    return a.to_numpy()


def histogram() -> np.ndarray:
    h = ti.field(ti.i32, 16)

    @ti.kernel
    def fill():
        for i in range(n):
            ti.atomic_add(h[i % 16], i)

    fill()
    return h.to_numpy()


def extremes() -> np.ndarray:
    low, high = ti.field(ti.f32, ()), ti.field(ti.i64, ())

    @ti.kernel
    def fill():
        for i in range(n):
            ti.atomic_min(low[None], ti.cos(i * 0.37))
            ti.atomic_max(high[None], ti.cast(i, ti.i64) * 7919 % 10007)

    fill()
    return np.array([low[None], high[None]])


def total() -> float:
    x = ti.field(ti.f32, n)
    x.from_numpy(np.sin(k * 1e-3).astype(np.float32))

    @ti.kernel
    def add() -> ti.f32:
        s = 0.0
        for i in x:
            s += x[i]
        return s

    return add()


def matrices() -> np.ndarray:
    m = ti.Matrix.field(3, 3, ti.f32, 256)

    @ti.kernel
    def fill():
        for i in m:
            t = i * 0.01
            r = ti.Matrix([[ti.cos(t), -ti.sin(t), 0.0], [ti.sin(t), ti.cos(t), 0.0], [0.0, 0.0, 1.0 + t]])
            m[i] = r @ r.inverse() + r.transpose() * r.determinant()

    fill()
    return m.to_numpy()


def matrices_wanted() -> np.ndarray:
    t = np.arange(256) * 0.01
    zero = np.zeros(256)
    r = np.array([[np.cos(t), -np.sin(t), zero], [np.sin(t), np.cos(t), zero], [zero, zero, 1 + t]]).transpose(2, 0, 1)
    return np.eye(3) + r.transpose(0, 2, 1) * (1 + t)[:, None, None]


def ndarray() -> np.ndarray:
    """A numpy array as a kernel argument: copied there and back."""

    @ti.kernel
    def twice(a: ti.types.ndarray(dtype=ti.f32, ndim=2)):
        for i, j in a:
            a[i, j] = a[i, j] * 2 + i - j

    a = np.linspace(0, 1, 40 * 30, dtype=np.float32).reshape(40, 30)
    twice(a)
    return a


def loop() -> np.ndarray:
    """Collatz steps: the trip count differs from lane to lane."""
    c = ti.field(ti.i32, 1000)

    @ti.kernel
    def steps():
        for i in c:
            value, count = i + 1, 0
            while value > 1:
                if value % 2 == 0:
                    value //= 2
                else:
                    value = value * 3 + 1
                count += 1
            c[i] = count

    steps()
    return c.to_numpy()


def sparse() -> np.ndarray:
    """A pointer structure: blocks are allocated on the device when first written; only active cells are visited."""
    x, visited = ti.field(ti.i32), ti.field(ti.i32, ())
    ti.root.pointer(ti.i, 64).dense(ti.i, 16).place(x)

    @ti.kernel
    def fill():
        for i in range(20):
            x[i * i] = i

    @ti.kernel
    def visit():
        for _ in x:
            visited[None] += 1

    fill()
    visit()
    return np.array([visited[None], x.to_numpy().sum()])


def dynamic() -> np.ndarray:
    """Lists that kernels append to."""
    values, length = ti.field(ti.i32), ti.field(ti.i32, 8)
    rows = ti.root.dense(ti.i, 8)
    cell = rows.dynamic(ti.j, 64, chunk_size=16)
    cell.place(values)

    @ti.kernel
    def fill():
        for i in range(8):
            for value in range(i * 5):
                ti.append(values.parent(), i, value)
            length[i] = ti.length(values.parent(), i)

    fill()
    return length.to_numpy()


def gradient() -> np.ndarray:
    x = ti.field(ti.f32, 64, needs_grad=True)
    loss = ti.field(ti.f32, (), needs_grad=True)
    x.from_numpy(np.linspace(0, 2, 64, dtype=np.float32))

    @ti.kernel
    def compute():
        for i in x:
            loss[None] += ti.sin(x[i]) * x[i] ** 2

    with ti.ad.Tape(loss):
        compute()
    return x.grad.to_numpy()


def random() -> np.ndarray:
    r = ti.field(ti.f32, n)

    @ti.kernel
    def fill():
        for i in r:
            r[i] = ti.random()

    fill()
    drawn = r.to_numpy()
    assert drawn.min() >= 0 and drawn.max() < 1 and len(np.unique(drawn)) > 0.95 * n
    return np.array([drawn.mean(), drawn.std()])


def shared_tiles() -> np.ndarray:
    """Blocks with a shared array and barriers."""
    x, y = ti.field(ti.f32, n), ti.field(ti.f32, n)
    x.from_numpy(k.astype(np.float32))

    @ti.kernel
    def reverse():
        ti.loop_config(block_dim=128)
        for i in range(n):
            tile = ti.simt.block.SharedArray((128,), ti.f32)
            tile[i % 128] = x[i]
            ti.simt.block.sync()
            y[i] = tile[127 - i % 128]

    reverse()
    return y.to_numpy()


def mass_springs() -> np.ndarray:
    """64 balls on springs, 100 explicit steps."""
    p, v = ti.Vector.field(2, ti.f64, 64), ti.Vector.field(2, ti.f64, 64)
    p.from_numpy(np.stack([np.arange(64) * 1.1, np.zeros(64)], 1))

    @ti.kernel
    def step():
        for i in p:
            force = ti.Vector([0.0, -0.5], dt=ti.f64)
            for o in ti.static((-1, 1)):
                j = i + o
                if 0 <= j < 64:
                    d = p[j] - p[i]
                    force += d.normalized() * (d.norm() - 1.0) * 10.0
            v[i] += force * 0.01
        for i in p:
            p[i] += v[i] * 0.01

    for _ in range(100):
        step()
    return p.to_numpy()


def mass_springs_wanted() -> np.ndarray:
    p, v = np.stack([np.arange(64) * 1.1, np.zeros(64)], 1), np.zeros((64, 2))
    for _ in range(100):
        force = np.tile([0.0, -0.5], (64, 1))
        d = p[1:] - p[:-1]
        length = np.linalg.norm(d, axis=1, keepdims=True)
        pull = d / length * (length - 1) * 10
        force[:-1] += pull
        force[1:] -= pull
        v += force * 0.01
        p = p + v * 0.01
    return p


x64 = np.linspace(0, 2, 64)
CASES = {
    "on-the-gpu": on_the_gpu,
    "elementwise": cases.agree(elementwise, np.sin(k * 1e-3) * np.exp(-k * 1e-4) + np.sqrt(k) + np.arctan2(k, 3)),
    "double": cases.agree(
        double, np.outer(range(64), range(64)) / 7 + np.log(1 + np.arange(64.0))[:, None], 1e-12, 1e-12
    ),
    "histogram": cases.agree(histogram, [k[k % 16 == b].sum() for b in range(16)]),
    "extremes": cases.agree(extremes, [np.cos(k * 0.37).min(), (k * 7919 % 10007).max()]),
    "total": cases.agree(total, np.sin(k * 1e-3).sum()),
    "matrices": cases.agree(matrices, matrices_wanted()),
    "ndarray": cases.agree(
        ndarray,
        np.linspace(0, 1, 1200).reshape(40, 30) * 2 + np.arange(40)[:, None] - np.arange(30),
    ),
    "loop": cases.agree(loop, [cases.collatz(i + 1) for i in range(1000)]),
    "sparse": cases.agree(sparse, [16 * len({i * i // 16 for i in range(20)}), 190]),
    "dynamic": cases.agree(dynamic, np.arange(8) * 5),
    "gradient": cases.agree(gradient, np.cos(x64) * x64**2 + 2 * x64 * np.sin(x64)),
    "random": cases.agree(random, [0.5, 12**-0.5], 0.02, 0.02),
    "shared-tiles": cases.agree(shared_tiles, k.reshape(-1, 128)[:, ::-1].ravel()),
    "mass-springs": cases.agree(mass_springs, mass_springs_wanted(), 1e-6, 1e-6),
}

cases.run(CASES)
