"""Texels and sampling in numpy: the reference of test_image_sampling.py."""

from __future__ import annotations

import numpy as np


def fields(fmt: str) -> tuple[list[int], str]:
    """Component widths, lowest bits first, and the kind of numbers."""
    *widths, kind = fmt.split("_")
    return [int(n) for n in reversed(widths)], kind


def integer(fmt: str) -> bool:
    return fmt.endswith("int")


def small_float(code: int, bits: int) -> float:
    """5 bits of exponent; unsigned where there are fewer than 16 bits."""
    mantissa = 10 if bits == 16 else bits - 5
    sign = code >> 15 if bits == 16 else 0
    e, m = code >> mantissa & 31, code & (1 << mantissa) - 1
    if e == 31:
        value = np.inf if m == 0 else np.nan
    else:
        value = (m / 2**mantissa + (e > 0)) * 2.0 ** (max(e, 1) - 15)
    return -value if sign else value


def decoded(code: int, bits: int, kind: str, component: int) -> float | int:
    signed = code - (1 << bits) if code >> (bits - 1) else code
    if kind == "uint":
        return code
    if kind == "sint":
        return signed
    if kind == "uscaled":
        return float(code)
    if kind == "sscaled":
        return float(signed)
    if kind == "snorm":
        return max(signed / (2 ** (bits - 1) - 1), -1.0)
    if kind == "float":
        return float(np.uint32(code).view(np.float32)) if bits == 32 else small_float(code, bits)
    value = code / (2**bits - 1)
    if kind == "srgb" and component < 3:
        value = value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4
    return value


def components(raw: bytes, fmt: str) -> list[float | int]:
    """Four components of a texel; those that the format lacks are 0, 0, 0, 1."""
    widths, kind = fields(fmt)
    word, result = int.from_bytes(raw, "little"), [0, 0, 0, 1]
    for k, bits in enumerate(widths):
        result[k] = decoded(word & (1 << bits) - 1, bits, kind, k)
        word >>= bits
    return result


def texels(raw: np.ndarray, fmt: str) -> np.ndarray:
    """(..., bytes) to (..., 4): float64, or int64 for integers."""
    flat = raw.reshape(-1, raw.shape[-1])
    found = [components(texel.tobytes(), fmt) for texel in flat]
    return np.array(found, np.int64 if integer(fmt) else np.float64).reshape(*raw.shape[:-1], 4)


def wrapped(k: int, n: int, clamp: int) -> int | None:
    """Texel number of a coordinate; None: the border."""
    if clamp == 0:
        return k % n
    if clamp == 1:
        k %= 2 * n
        return k if k < n else 2 * n - 1 - k
    if clamp == 2:
        return min(max(k, 0), n - 1)
    return k if 0 <= k < n else None


def sample(
    data: np.ndarray, at: list[float], clamp: int, linear: bool, normalized: bool, border: np.ndarray
) -> np.ndarray:
    """data: (z, y, x, 4), at: x, y, z (as many as are filtered). Weights are multiples of 1/256."""
    low, weights = [], []
    for k, c in enumerate(at):
        n = data.shape[2 - k]
        x = float(np.float32(c)) * (n if normalized else 1)
        if linear:
            fixed = int(np.rint(x * 256)) - 128
            low.append(fixed // 256)
            weights.append(fixed % 256 / 256)
        else:
            low.append(int(np.floor(x)))
            weights.append(0.0)
    total = np.zeros(4)
    for corner in range(1 << len(at)):
        place, weight = [0, 0, 0], 1.0
        outside = False
        for k in range(len(at)):
            up = corner >> k & 1
            weight *= weights[k] if up else 1 - weights[k]
            index = wrapped(low[k] + up, data.shape[2 - k], clamp)
            outside |= index is None
            place[k] = index or 0
        if weight:
            total += weight * (border if outside else data[place[2], place[1], place[0]])
    return total
