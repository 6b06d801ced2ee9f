"""Cases of nn.cu."""

from __future__ import annotations

import numpy as np

from bench.quality.case import Case

F32 = np.float32


def soft(m: np.ndarray) -> np.ndarray:
    e = np.exp(m.astype(float) - m.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def quantised(m: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows in blocks of 32: bytes and scales."""
    blocks = m.reshape(*m.shape[:-1], -1, 32)
    scales = (np.abs(blocks).max(-1) / F32(127)).astype(F32)
    return np.rint(blocks / scales[..., None]).astype(np.int8), scales


def cases() -> list[Case]:
    rng = np.random.default_rng(3)

    def normal(*shape: int) -> np.ndarray:
        return rng.standard_normal(shape, dtype=F32)

    def like(a: np.ndarray) -> np.ndarray:
        return np.zeros_like(a)

    rows, wide, gamma, beta = 4 * normal(16, 1024), normal(8, 4096), normal(4096), normal(4096)
    deep = wide.astype(float)
    normed = (deep - deep.mean(1, keepdims=True)) / np.sqrt(deep.var(1, keepdims=True) + 1e-5) * gamma + beta
    halves = normal(16, 1024).astype(np.float16)
    exact = halves.astype(float)
    rms = exact / np.sqrt((exact**2).mean(1, keepdims=True) + 1e-6) * gamma[:1024]
    x = normal(1 << 14)
    gelu = 0.5 * x * (1 + np.tanh(0.79788456 * (x + 0.044715 * x.astype(float) ** 3)))
    gates = normal(16, 2, 512)
    swiglu = gates[:, 0] / (1 + np.exp(-gates[:, 0].astype(float))) * gates[:, 1]
    turned = normal(64, 64, 2)
    angle = np.arange(64)[:, None] * np.exp2(-13.0 * np.arange(64) / 64)
    rope = (turned[..., 0] + 1j * turned[..., 1]) * np.exp(1j * angle)
    q, k, v, grad = (normal(128, 32) for _ in range(4))
    scores = q.astype(float) @ k.T * 0.25
    p = soft(scores)
    attention = p @ v
    log_sum = np.log(np.exp(scores).sum(1))
    delta = (grad * attention).sum(1)
    back = (p * (grad @ v.T - delta[:, None]) * 0.25) @ k
    routing = normal(256, 32)
    best = np.argsort(-routing, 1, kind="stable")[:, :2]
    tokens, table = rng.integers(0, 100, 64, dtype=np.int32), normal(100, 512)
    w, g, m1, m2 = normal(8192), normal(8192), normal(8192), np.abs(normal(8192))
    b1, b2 = 0.9, 0.999
    adam = w - 0.01 * (b1 * m1 + (1 - b1) * g) / (np.sqrt(b2 * m2 + (1 - b2) * g.astype(float) ** 2) + 1e-8)
    labels = rng.integers(0, 1000, 64, dtype=np.int32)
    logits = 3 * normal(64, 1000)
    loss = -np.log(soft(logits)[np.arange(64), labels])
    maps = normal(8, 32, 32)
    padded = np.pad(maps, ((0, 0), (1, 0), (1, 0)), constant_values=-3.4e38)
    pooled = np.max([padded[:, j : j + 32 : 2, i : i + 32 : 2] for i in range(3) for j in range(3)], 0)
    matrix, vector = normal(64, 1024), normal(1024)
    (a8, a_scales), (x8, x_scales) = quantised(matrix), quantised(vector)
    q8 = np.einsum("rbi,bi,rb,b->r", a8.astype(float), x8.astype(float), a_scales, x_scales)
    nibbles = rng.integers(0, 16, (64, 32, 32))
    a4 = (nibbles[..., :16] | nibbles[..., 16:] << 4).astype(np.uint8)
    q4 = np.einsum("rbi,bi,rb,b->r", nibbles - 8.0, x8.astype(float), a_scales, x_scales)
    log_sum_delta = np.stack([log_sum, delta], 1).astype(F32)
    return [
        Case("softmax", 16, 256, [rows, like(rows), 1024], 1, soft(rows), 2e-5),
        Case("layernorm", 8, 256, [wide, gamma, beta, like(wide), 1024], 3, normed, 1e-3),
        Case("rmsnorm", 16, 256, [halves, gamma[:1024], like(halves), 1024], 2, rms, 1e-3),
        Case("gelu", 8, 256, [x, like(x), x.size // 4], 1, gelu, 1e-5),
        Case("swiglu", (2, 16), 256, [gates, np.zeros((16, 512), F32), 512], 1, swiglu, 1e-5),
        Case("rope", (1, 64), 64, [turned, like(turned), 64, F32(13)], 1, np.stack([rope.real, rope.imag], -1), 1e-4),
        Case("flash", 2, 64, [q, k, v, like(q), 128, F32(0.25)], 3, attention, 1e-4),
        Case("flash_back", 2, 64, [q, k, v, grad, log_sum_delta, like(q), 128, F32(0.25)], 5, back, 1e-4),
        Case("moe_route", 32, 256, [routing, np.zeros((256, 2), np.int32), np.zeros((256, 2), F32)], 1, best),
        Case("embedding", 64, 128, [tokens, table, np.zeros((64, 512), F32), 128], 2, table[tokens]),
        Case("adam", 32, 256, [w, g, m1, m2, *map(F32, (0.01, b1, b2, 1e-8)), 8192], 0, adam, 1e-4),
        Case("cross_entropy", 8, 256, [logits, labels, np.zeros(64, F32), 1000], 2, loss, 1e-5),
        Case("maxpool", (1, 2, 8), (16, 8), [maps, np.zeros((8, 16, 16), F32), 32, 32], 1, pooled),
        Case("quantise8", 64, 256, [x, np.zeros(1 << 14, np.int8), np.zeros(512, F32)], 1, quantised(x)[0], 0.01),
        Case("q8_matvec", 8, 256, [a8, a_scales, x8, x_scales, np.zeros(64, F32), 32], 4, q8, 1e-4),
        Case("q4_matvec", 8, 256, [a4, a_scales, x8, x_scales, np.zeros(64, F32), 32], 4, q4, 1e-4),
    ]  # fmt: skip
