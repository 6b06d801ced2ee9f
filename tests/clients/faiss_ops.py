"""Run by suites.py under `ptx2amd run`: searches of faiss's GPU indices against numpy, or its CPU indices."""

from __future__ import annotations

from functools import partial

import cases
import faiss
import numpy as np

rng = np.random.default_rng(3)
resources = faiss.StandardGpuResources()
resources.setTempMemory(16 << 20)
NEAREST = 5


def vectors(count: int, dimensions: int) -> np.ndarray:
    return rng.standard_normal((count, dimensions)).astype(np.float32)


def distances(metric: int, queries: np.ndarray, base: np.ndarray) -> np.ndarray:
    difference = queries[:, None].astype(np.float64) - base[None]
    match metric:
        case faiss.METRIC_L2:
            return (difference**2).sum(-1)
        case faiss.METRIC_INNER_PRODUCT:
            return -(queries.astype(np.float64) @ base.T)
        case faiss.METRIC_L1:
            return abs(difference).sum(-1)
    return abs(difference).max(-1)  # METRIC_Linf


def flat(metric: int, dimensions: int, count: int) -> None:
    base, queries = vectors(count, dimensions), vectors(11, dimensions)
    index = faiss.GpuIndexFlat(resources, dimensions, metric)
    index.add(base)
    found, which = index.search(queries, NEAREST)
    everything = distances(metric, queries, base)
    order = np.argsort(everything, 1)[:, :NEAREST]
    wanted = np.take_along_axis(everything, order, 1)
    sign = -1 if metric == faiss.METRIC_INNER_PRODUCT else 1
    assert (which == order).all(), which
    assert np.allclose(found, sign * wanted, rtol=1e-4), abs(found - sign * wanted).max()


def like_cpu(description: str, dimensions: int = 32) -> None:
    """An index that was trained on the CPU finds the same on the GPU."""
    base, queries = vectors(1500, dimensions), vectors(9, dimensions)
    cpu = faiss.index_factory(dimensions, description)
    cpu.train(base)
    gpu = faiss.index_cpu_to_gpu(resources, 0, cpu)
    cpu.add(base)
    gpu.add(base)
    faiss.extract_index_ivf(cpu).nprobe = gpu.nprobe = 4
    found, which = gpu.search(queries, NEAREST)
    wanted, order = cpu.search(queries, NEAREST)
    assert np.allclose(found, wanted, rtol=1e-3), abs(found - wanted).max()
    assert (which == order).mean() > 0.95  # those that are equally far may come in another order


def binary() -> None:
    base = rng.integers(0, 256, (700, 16), dtype=np.uint8)
    index = faiss.GpuIndexBinaryFlat(resources, 128)
    index.add(base)
    found, _ = index.search(base[:9] ^ 1, NEAREST)
    bits = np.unpackbits((base[:9] ^ 1)[:, None] ^ base[None], axis=-1).sum(-1)
    assert (found == np.sort(bits, 1)[:, :NEAREST]).all(), found


L2, INNER = faiss.METRIC_L2, faiss.METRIC_INNER_PRODUCT
cases.run(
    {
        "flat L2, 64 dimensions": partial(flat, L2, 64, 2000),
        "flat L2, 37 dimensions": partial(flat, L2, 37, 1999),
        "flat L2, 128 dimensions": partial(flat, L2, 128, 513),
        "flat inner product": partial(flat, INNER, 48, 1000),
        "flat L1": partial(flat, faiss.METRIC_L1, 40, 700),
        "flat Linf": partial(flat, faiss.METRIC_Linf, 40, 700),
        "inverted lists": partial(like_cpu, "IVF16,Flat"),
        "inverted lists, 8 bits": partial(like_cpu, "IVF16,SQ8"),
        "inverted lists, product codes": partial(like_cpu, "IVF8,PQ8"),
        "binary": binary,
    }
)
