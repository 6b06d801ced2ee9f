"""The functions of cuDNN's graphs, by their numbers, in numpy."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from tests.libmap.client import Array

erf = np.vectorize(math.erf)


def sigmoid(x: Array) -> Array:
    return np.asarray(1 / (1 + np.exp(-x)))


def _gelu_tanh(x: Array) -> Array:
    return np.asarray(np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def _slope(function: Callable[[Array], Array]) -> Callable[[Array, Array], Array]:
    """The derivative at x, times dy: by differences."""
    return lambda dy, x: dy * (function(x + 1e-5) - function(x - 1e-5)) / 2e-5


ONE: dict[int, Callable[[Array], Array]] = {
    4: lambda x: np.sqrt(abs(x)),
    10: np.abs,
    11: np.ceil,
    12: np.cos,
    13: np.exp,
    14: np.floor,
    15: lambda x: np.log(abs(x)),
    16: np.negative,
    17: lambda x: 1 / np.sqrt(abs(x)),
    18: np.sin,
    19: np.tan,
    20: erf,
    21: lambda x: x,
    22: lambda x: 1 / x,
    100: lambda x: np.maximum(x, 0),
    101: np.tanh,
    102: sigmoid,
    103: lambda x: np.where(x > 0, x, np.exp(x) - 1),
    104: lambda x: x / 2 * (1 + erf(x / math.sqrt(2))),
    105: lambda x: np.log1p(np.exp(x)),
    106: lambda x: x * sigmoid(x),
    107: lambda x: x / 2 * (1 + _gelu_tanh(x)),
}
POSITIVE, TAN = (4, 15, 17), 19
TWO: dict[int, Callable[[Array, Array], Array]] = {
    0: np.add,
    1: np.multiply,
    2: np.minimum,
    3: np.maximum,
    5: lambda x, b: x + b * b,
    6: np.divide,
    9: np.subtract,
    **{mode + 100: _slope(ONE[mode]) for mode in range(100, 108)},
    300: np.equal,
    301: np.not_equal,
    302: np.greater,
    303: np.greater_equal,
    304: np.less,
    305: np.less_equal,
    400: lambda x, b: (x != 0) & (b != 0),
    401: lambda x, b: (x != 0) | (b != 0),
}
SUMS: dict[int, Callable[..., Array]] = {
    0: np.sum,
    1: np.prod,
    2: np.min,
    3: np.max,
    4: lambda x, **how: abs(x).max(**how),
    5: np.mean,
    6: lambda x, **how: abs(x).sum(**how),
    7: lambda x, **how: np.sqrt((x * x).sum(**how)),
    8: lambda x, **how: np.where(x == 0, 1, x).prod(**how),
}
