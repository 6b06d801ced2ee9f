"""Cases of reduce.cu."""

from __future__ import annotations

import numpy as np

from bench.quality.case import Case

N = 1 << 14
I32, U32 = np.int32, np.uint32


def mixed(h: np.ndarray) -> np.ndarray:
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35)):
        h = (h ^ h >> U32(shift)) * U32(factor)
    return h ^ h >> U32(16)


def table_of(keys: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Keys and values of a hash table after keys were inserted in order."""
    table, values = np.zeros(size, U32), np.zeros(size, U32)
    for key, at in zip(keys.tolist(), mixed(keys).tolist(), strict=True):
        at %= size
        while table[at] not in (0, key):
            at = (at + 1) % size
        table[at] = key
        values[at] += U32(key >> 3)
    return table, values


def cases() -> list[Case]:
    rng = np.random.default_rng(2)
    floats = rng.random(N, dtype=np.float32)
    small = rng.integers(-100, 100, N, dtype=I32)
    words = rng.integers(1, 1 << 32, N, dtype=U32)
    blocks = small.reshape(-1, 256)
    kept = np.zeros_like(blocks)
    for row, block in zip(kept, blocks, strict=True):
        found = block[block > 10]
        row[: found.size] = found
    keys = words.reshape(-1, 256)
    by_digit = np.take_along_axis(keys, np.argsort(keys >> U32(8) & U32(15), 1, kind="stable"), 1)
    a, b = np.sort(small[:4096]), np.sort(small[4096:8192])
    some = rng.choice(words[:3000], 4096)
    # The place of a key depends on the order of insertion where two begin at the same: keys that share it are left out.
    homes, counts = np.unique(mixed(words) % U32(1 << 14), return_counts=True)
    single = words[np.isin(mixed(words) % U32(1 << 14), homes[counts == 1])][:4096]
    sums = table_of(single, 1 << 14)[1]
    table, values = table_of(words[:3000], 4096)
    known = dict(zip(table.tolist(), values.tolist(), strict=True)) | {0: 0}
    asked = np.where(np.arange(4096) % 3 == 0, words[8192:12288], some)
    answers = np.array([known.get(key, 0) for key in asked.tolist()], U32)
    rows = floats[: 16 * 1000].reshape(16, 1000)
    return [
        Case("reduce", 16, 256, [floats, np.zeros(16, np.float32), N], 1,
             floats.reshape(-1, 16, 256).astype(float).sum((0, 2)), 1e-5),
        Case("scan", N // 256, 256, [small, np.zeros_like(small), N], 1, blocks.cumsum(1, dtype=I32)),
        Case("compact", N // 256, 256, [small, np.zeros_like(small), np.zeros(N // 256, I32), 10], 1, kept),
        Case("histogram", 8, 256, [words, np.zeros(256, U32), N], 1, np.bincount(words.view(np.uint8), minlength=256)),
        Case("radix", N // 256, 256, [words, np.zeros_like(words), 8], 1, by_digit),
        Case("bitonic", 8, 256, [small[:4096], np.zeros(4096, I32)], 1, np.sort(small[:4096].reshape(8, 512), 1)),
        Case("merge", 4, 256, [a, b, np.zeros(8192, I32), 4096], 2, np.sort(np.concatenate([a, b]))),
        Case("hash_insert", 16, 256, [single, *np.zeros((2, 1 << 14), U32), (1 << 14) - 1, single.size], 2, sums),
        Case("hash_lookup", 16, 256, [asked, table, values, np.zeros(4096, U32), 4095, 4096], 3, answers),
        Case("argmax", 16, 256, [rows, np.zeros(16, I32), 1000], 1, rows.argmax(1)),
    ]  # fmt: skip
