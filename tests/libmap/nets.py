"""cuDNN's handle, descriptors and tensors, and numbers in them, for its calls (client.py)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tests.libmap.client import Array, Device
from tests.libmap.cublaslt_products import to_bf16
from tests.libmap.handle import Handle

FLOAT, DOUBLE, HALF, INT8, INT32, INT8X4, BFLOAT16 = 0, 1, 2, 3, 4, 5, 9
NCHW, NHWC, NCHW_VECT_C = range(3)
CONVOLUTION, CROSS_CORRELATION = range(2)
NUMPY = {FLOAT: np.float32, DOUBLE: np.float64, HALF: np.float16, INT8: np.int8, INT32: np.int32, BFLOAT16: np.uint16}
ERROR = {FLOAT: 2e-5, DOUBLE: 1e-12, HALF: 4e-3, BFLOAT16: 3e-2}
MARGIN = -77.0  # what is between a tensor's numbers where they do not lie side by side


def stored(values: Array, kind: int) -> Array:
    """As the type has them in memory."""
    return to_bf16(values) if kind == BFLOAT16 else values.astype(NUMPY[kind])


class Tensor:
    """Numbers on the device, with a descriptor."""

    def __init__(self, nets: Nets, desc: Any, numbers: Array, kind: int, strides: Sequence[int]) -> None:
        values = stored(numbers, kind)
        self.nets, self.desc, self.kind, self.shape = nets, desc, kind, values.shape
        self.strides = [stride * values.itemsize for stride in strides]
        size = 1 + sum((n - 1) * stride for n, stride in zip(self.shape, strides, strict=True))
        memory = stored(np.full(size, MARGIN), kind)
        self._view(memory)[...] = values
        self.at: Device = nets.on(memory)

    def _view(self, memory: Array) -> Array:
        return np.lib.stride_tricks.as_strided(memory, self.shape, self.strides)

    def now(self) -> Array:
        values = self._view(self.at.now()).copy()
        return (values.astype(np.uint32) << 16).view(np.float32) if self.kind == BFLOAT16 else values

    def exact(self) -> Array:
        return self.now().astype(np.float64)


class Nets(Handle):
    prefix = "cudnn"

    def __init__(self, client: Any, handle: Any) -> None:
        super().__init__(client, handle)
        eight = client.library.cudnnGetVersion() < 90000
        self.bad_param, self.not_supported = (3, 9) if eight else (2000, 3000)
        self.kept: list[Any] = []

    def values(self, *shape: int, kind: int = FLOAT) -> Array:
        if kind in (INT8, INT32):
            return self.client.draw.integers(-5, 6, shape).astype(NUMPY[kind])
        return self.client.draw.uniform(-1, 1, shape).astype(NUMPY[kind])

    def tensor(
        self, values: Array, kind: int = FLOAT, order: str = "NCHW", strides: Sequence[int] | None = None
    ) -> Tensor:
        """On the device, with C innermost where `order` says so, or with strides."""
        shape = values.shape
        if strides is None:
            dims = [0, *range(2, len(shape)), 1] if order == "NHWC" else list(range(len(shape)))
            sizes, strides = [shape[d] for d in dims], [0] * len(shape)
            for place, d in enumerate(dims):
                strides[d] = int(np.prod(sizes[place + 1 :], dtype=int))
        desc = self.new("cudnnTensorDescriptor_t", "CreateTensorDescriptor")
        ints = [self.ffi.new("int[]", list(part)) for part in (shape, strides)]
        self.ok("SetTensorNdDescriptor", desc, kind, len(shape), *ints)
        return Tensor(self, desc, values, kind, strides)

    def room_for(self, *shape: int, kind: int = FLOAT, order: str = "NCHW") -> Tensor:
        return self.tensor(np.full(shape, 3).astype(NUMPY[kind]), kind, order)

    def factors(self, kind: int, *values: float) -> list[Any]:
        return [self.ffi.new("double *" if kind == DOUBLE else "float *", value) for value in values]

    def close(self, what: str, kind: int, found: Array, expected: Array, length: int = 1) -> None:
        """Within the rounding of sums of so many numbers."""
        good = found.shape == expected.shape
        error = abs(found.astype(np.float64) - expected).max() if good else np.inf
        limit = ERROR.get(kind, 0.0) * (1 + length**0.5) * max(1.0, abs(expected).max())
        self.client.check(f"{what}: error {error}, limit {limit}", good and error <= limit)

    def destroy(self, kind: str, desc: Any) -> None:
        self.ok(f"Destroy{kind}Descriptor", desc)
