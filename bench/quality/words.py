"""Cases of words.cu."""

from __future__ import annotations

import hashlib
import zlib

import numpy as np

from bench.quality.case import Case

U32, U64, U8 = np.uint32, np.uint64, np.uint8
P61 = (1 << 61) - 1


def left(v: np.ndarray, n: int) -> np.ndarray:
    return v << U32(n) | v >> U32(32 - n)


def murmur(words: np.ndarray) -> np.ndarray:
    h = np.full(len(words), 0x9747B28C, U32)
    for w in words.T:
        h = left(h ^ left(w * U32(0xCC9E2D51), 15) * U32(0x1B873593), 13) * U32(5) + U32(0xE6546B64)
    h ^= U32(32)
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35)):
        h = (h ^ h >> U32(shift)) * U32(factor)
    return h ^ h >> U32(16)


def split_mix(h: np.ndarray, rounds: int) -> np.ndarray:
    for _ in range(rounds):
        h = h + U64(0x9E3779B97F4A7C15)
        h = (h ^ h >> U64(30)) * U64(0xBF58476D1CE4E5B9)
        h = (h ^ h >> U64(27)) * U64(0x94D049BB133111EB)
        h ^= h >> U64(31)
        h = h % U64(0xFFFFFFFB) + (h << U64(17) | h >> U64(47))
    return h


def sha256(messages: np.ndarray) -> np.ndarray:
    """Of 55 bytes each, which padding makes a block of."""
    return np.array([np.frombuffer(hashlib.sha256(m.tobytes()).digest(), ">u4") for m in messages]).astype(U32)


def padded(messages: np.ndarray) -> np.ndarray:
    blocks = np.zeros((len(messages), 64), U8)
    blocks[:, :55], blocks[:, 55] = messages, 0x80
    blocks[:, 62:] = 55 * 8 >> 8, 55 * 8 & 255
    return blocks.view(">u4").astype(U32)


def sha_constants() -> np.ndarray:
    """The fractions of the cube roots of the first 64 primes."""
    primes = [n for n in range(2, 312) if all(n % k for k in range(2, n))]

    def root(v: int) -> int:
        r = round(v ** (1 / 3))
        while r**3 > v:
            r -= 1
        while (r + 1) ** 3 <= v:
            r += 1
        return r

    return np.array([root(p << 96) & 0xFFFFFFFF for p in primes], U32)


def chacha(state: np.ndarray, count: int) -> np.ndarray:
    s = np.tile(state[:, None], count)
    s[12] += np.arange(count, dtype=U32)
    x = list(s.copy())
    for k in range(80):  # quarter rounds: four of columns, four of diagonals ...
        i, turn = k % 4, k // 4 % 2
        a, b, c, d = (4 * row + (i + turn * row) % 4 for row in range(4))
        for p, q, r, n in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
            x[p] = x[p] + x[q]
            x[r] = left(x[r] ^ x[p], n)
    return (np.array(x) + s).T


def distance(a: bytes, b: bytes) -> int:
    row = list(range(len(a) + 1))
    for j, letter in enumerate(b, 1):
        last, row[0] = row[0], j
        for i in range(1, len(a) + 1):
            last, row[i] = row[i], min(row[i] + 1, row[i - 1] + 1, last + (a[i - 1] != letter))
    return row[-1]


def cases() -> list[Case]:
    rng = np.random.default_rng(7)
    words, longs = rng.integers(0, 1 << 32, (4096, 8), dtype=U32), rng.integers(0, 1 << 63, 4096, dtype=U64)
    messages = rng.integers(0, 256, (512, 55), dtype=U8)
    state = rng.integers(0, 1 << 32, 16, dtype=U32)
    blocks = rng.integers(0, 256, (1024, 64), dtype=U8)
    table = np.arange(256, dtype=U32)
    for _ in range(8):
        table = np.where(table & U32(1), table >> U32(1) ^ U32(0xEDB88320), table >> U32(1))
    bases, exponent = longs[:1024] % U64(P61), 0x123456789ABCDEF
    a, b = rng.integers(0, 4, (2, 512, 32), dtype=U8)
    return [
        Case("murmur", 16, 256, [words, np.zeros(4096, U32), 4096], 1, murmur(words)),
        Case("hash64", 16, 256, [longs, np.zeros(4096, U64), 4096, 16], 1, split_mix(longs, 16)),
        Case("sha256", 4, 128, [padded(messages), sha_constants(), np.zeros((512, 8), U32), 512], 2, sha256(messages)),
        Case("chacha20", 4, 128, [state, np.zeros((512, 16), U32), 512], 1, chacha(state, 512)),
        Case("crc32", 4, 256, [blocks, table.astype(U32), np.zeros(1024, U32), 1024], 2,
             [zlib.crc32(block.tobytes()) for block in blocks]),
        Case("power", 4, 256, [bases, np.zeros(1024, U64), exponent, 1024], 1,
             np.array([pow(base, exponent, P61) for base in bases.tolist()], U64)),
        Case("edit_distance", 4, 128, [a, b, np.zeros(512, np.int32), 512], 2,
             [distance(p.tobytes(), q.tobytes()) for p, q in zip(a, b, strict=True)]),
    ]  # fmt: skip
