"""Cases of sparse.cu."""

from __future__ import annotations

import numpy as np

from bench.quality.case import Case

I32, F32 = np.int32, np.float32


def cases() -> list[Case]:
    rng = np.random.default_rng(4)
    n = 2048
    lengths = rng.integers(0, 24, n)
    starts = np.concatenate([[0], lengths.cumsum()]).astype(I32)
    count = int(starts[-1])
    cols, values, x = rng.integers(0, n, count, dtype=I32), rng.random(count, dtype=F32), rng.random(n, dtype=F32)
    rows = np.repeat(np.arange(n, dtype=I32), lengths)
    y = np.bincount(rows, values.astype(float) * x[cols], n)
    width = int(lengths.max())
    ell_cols, ell_values = np.full((width, n), -1, I32), np.zeros((width, n), F32)
    place = np.arange(count) - starts[rows]
    ell_cols[place, rows], ell_values[place, rows] = cols, values
    depth = np.full(n, -1, I32)
    depth[: n // 8] = 3
    after = depth.copy()
    reached = cols[np.isin(rows, np.arange(n // 8))]
    after[reached[depth[reached] < 0]] = 4
    keys = np.sort(rng.integers(0, 300, 4096, dtype=I32))
    numbers = rng.random(4096, dtype=F32)
    csr, zeros = [starts, cols, values, x, np.zeros(n, F32), n], np.zeros(n, F32)
    return [
        Case("spmv", n // 256, 256, csr, 4, y, 1e-5),
        Case("spmv_warp", n // 8, 256, csr, 4, y, 1e-5),
        Case("ell", n // 256, 256, [ell_cols, ell_values, x, zeros, n, width], 3, y, 1e-5),
        Case("coo", -(-count // 256), 256, [rows, cols, values, x, zeros, count], 4, y, 1e-5),
        Case("bfs", n // 256, 256, [starts, cols, depth, 3, np.zeros(1, I32), n], 2, after),
        Case("segments", 16, 256, [keys, numbers, np.zeros(300, F32), 4096], 2, np.bincount(keys, numbers, 300), 1e-5),
    ]  # fmt: skip
