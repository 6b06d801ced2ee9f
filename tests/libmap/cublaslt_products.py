"""A product of cublasLt as arrays of numpy: descriptors, algorithms, buffers, and the expected result."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tests.libmap.client import Array, Client, Device

R_32F, R_64F, R_16F, R_8I, R_32I, R_16BF, E4M3, E5M2 = 0, 1, 2, 3, 10, 14, 28, 29
COMPUTE_16F, COMPUTE_32F, FAST_16F, FAST_16BF, COMPUTE_64F, COMPUTE_32I, TF32 = 64, 68, 74, 75, 70, 72, 77
N, T, C = 0, 1, 2
COL, ROW = 0, 1
DEFAULT, RELU, BIAS, GELU, DGELU, BGRAD, AUX, BGRADA, BGRADB = 1, 2, 4, 32, 64, 16, 128, 256, 512
HOST, DEVICE, VECTORS, VECTOR_AND_ZERO, VECTOR_AND_HOST = 0, 1, 2, 3, 4
#: Of a description: number of the attribute, and its type.
LAYOUT = {"type": (0, "u4"), "order": (1, "i4"), "rows": (2, "u8"), "cols": (3, "u8"), "ld": (4, "i8"),
          "batch": (5, "i4"), "stride": (6, "i8"), "plane": (7, "i8"), "batch_mode": (8, "u4")}  # fmt: skip
DESC = {
    "compute": (0, "i4"), "scale": (1, "i4"), "pointer_mode": (2, "i4"), "trans_a": (3, "i4"), "trans_b": (4, "i4"),
    "trans_c": (5, "i4"), "fill": (6, "i4"), "epilogue": (7, "u4"), "bias": (8, "u8"), "bias_stride": (10, "i8"),
    "aux": (11, "u8"), "aux_ld": (12, "i8"), "aux_stride": (13, "i8"), "alpha_stride": (14, "i8"), "units": (15, "i4"),
    "scale_a": (17, "u8"), "scale_b": (18, "u8"), "scale_c": (19, "u8"), "scale_d": (20, "u8"), "amax_d": (21, "u8"),
    "aux_type": (22, "i4"), "scale_aux": (23, "u8"), "amax_aux": (24, "u8"), "fast": (25, "i1"),
    "bias_type": (26, "i4"), "mode_a": (31, "i4"), "mode_b": (32, "i4"), "mode_c": (33, "i4"), "mode_d": (34, "i4"),
    "mode_aux": (35, "i4"), "scale_out": (36, "u8"), "mode_out": (37, "i4"),
}  # fmt: skip


def to_bf16(values: Array) -> Array:
    """Bits, rounded to nearest even."""
    bits = np.ascontiguousarray(values, np.float32).view(np.uint32).astype(np.uint64)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16)


def _fp8(bits: int, bias: int, nan: bool) -> Array:
    """All 256 numbers of a type with so many bits of mantissa; `nan`: it has infinities too."""
    codes = np.arange(256)
    exponent, mantissa = codes >> bits & ((1 << 7 - bits) - 1), codes & ((1 << bits) - 1)
    values = np.where(
        exponent > 0, (1 + mantissa / 2**bits) * 2.0 ** (exponent - bias), mantissa / 2**bits * 2.0 ** (1 - bias)
    )
    values = np.where(codes >> 7, -values, values)
    values[np.isin(codes & 0x7F, range(0x7C, 0x80) if nan else [0x7F])] = np.nan
    return values


_NUMBERS = {E4M3: _fp8(3, 7, False), E5M2: _fp8(2, 15, True)}


def stored(values: Array, kind: int) -> Array:
    """As the type has them in memory."""
    if kind in _NUMBERS:
        return np.abs(values[..., None] - np.nan_to_num(_NUMBERS[kind], nan=1e30)).argmin(-1).astype(np.uint8)
    plain = {R_32F: np.float32, R_64F: np.float64, R_16F: np.float16, R_8I: np.int8, R_32I: np.int32}
    return to_bf16(values) if kind == R_16BF else values.astype(plain[kind])


def exact(values: Array, kind: int) -> Array:
    """The numbers in memory, as f64."""
    if kind in _NUMBERS:
        return _NUMBERS[kind][values]
    if kind == R_16BF:
        return (values.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    return values.astype(np.float64)


ROUNDING = {R_32F: 2e-5, R_64F: 1e-12, R_16F: 2e-3, R_16BF: 1.6e-2, R_8I: 1, R_32I: 0, E4M3: 7e-2, E5M2: 0.14}


def gelu(x: Array) -> Array:
    return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))


def dgelu(x: Array) -> Array:
    step = 1e-5
    return (gelu(x + step) - gelu(x - step)) / (2 * step)


@dataclass
class Product:
    """D = epilogue(alpha op(A) op(B) + beta C): its sizes, types and options, by CUDA's numbers."""

    m: int = 64
    n: int = 48
    k: int = 80
    trans_a: int = N
    trans_b: int = N
    types: tuple[int, int, int] = (R_16F, R_16F, R_16F)  # of A, B, C and D
    compute: int = COMPUTE_32F
    scale: int = R_32F
    epilogue: int = DEFAULT
    orders: tuple[int, int, int] = (COL, COL, COL)
    batch: int = 1
    pad: int = 0  # elements by which leading dimensions are longer
    alpha: float = 1.5
    beta: float = 0.5
    extra: dict[str, Any] = field(default_factory=dict)  # attributes of the descriptor


class Run:
    """The product's descriptions and buffers. `inline`: descriptions are structures of the program."""

    def __init__(self, client: Client, handle: Any, product: Product, inline: bool = False) -> None:
        self.client, self.ffi, self.handle, self.product, self.inline = client, client.ffi, handle, product, inline
        p, draw = product, client.draw
        whole = R_8I in p.types
        shapes = [(p.m, p.k) if p.trans_a == N else (p.k, p.m), (p.k, p.n) if p.trans_b == N else (p.n, p.k),
                  (p.m, p.n)]  # fmt: skip
        self.kept: list[Any] = []
        self.values, self.devices, self.layouts = [], [], []
        for shape, kind, order in zip(shapes, p.types, p.orders, strict=True):
            numbers = draw.integers(-9, 10, (p.batch, *shape)) if whole else draw.uniform(-1, 1, (p.batch, *shape))
            bits = stored(numbers.astype(float), kind)
            self.values.append(exact(bits, kind))
            lines = bits if order == ROW else bits.transpose(0, 2, 1)
            room = np.zeros((*lines.shape[:2], lines.shape[2] + p.pad), lines.dtype)
            room[..., : lines.shape[2]] = lines
            self.devices.append(client.on_device(room.reshape(-1)))
            self.layouts.append(self.layout(kind, shape, lines.shape[2] + p.pad, order, room[0].size))
        self.result = client.on_device(np.zeros_like(self.devices[2].values))
        self.room = room.shape
        self.desc = self.described("MatmulDesc", p.compute, p.scale)
        for name, value in {"trans_a": p.trans_a, "trans_b": p.trans_b, "epilogue": p.epilogue, **p.extra}.items():
            self.set("MatmulDesc", self.desc, DESC[name], value)

    def described(self, name: str, *made_of: Any) -> Any:
        """A new description."""
        kind = f"cublasLt{name}"
        if self.inline:
            made = self.ffi.new(f"{kind}Opaque_t *")
            self.kept.append(made)
            status = getattr(self.client.library, f"{kind}Init_internal")(made, self.ffi.sizeof(made[0]), *made_of)
        else:
            place = self.ffi.new(f"{kind}_t *")
            status = getattr(self.client.library, f"{kind}Create")(place, *made_of)
            made = place[0]
        assert status == 0, (name, status)
        return made

    def set(self, name: str, made: Any, attribute: tuple[int, str], value: Any) -> int:
        number, kind = attribute
        if isinstance(value, Device):
            self.kept.append(value)
            value = value.at[0]
        bits = np.array([value], kind)
        function = getattr(self.client.library, f"cublasLt{name}SetAttribute")
        return int(function(made, number, self.client.address(bits), bits.nbytes))

    def layout(self, kind: int, shape: tuple[int, int], ld: int, order: int, stride: int) -> Any:
        made = self.described("MatrixLayout", kind, *shape, ld)
        self.set("MatrixLayout", made, LAYOUT["order"], order)
        if self.product.batch > 1:
            self.set("MatrixLayout", made, LAYOUT["batch"], self.product.batch)
            self.set("MatrixLayout", made, LAYOUT["stride"], stride)
        return made

    def algorithms(self, wanted: int, workspace: int = 1 << 22) -> tuple[int, Any]:
        """The status, and the results of the heuristic."""
        preference = self.described("MatmulPreference")
        self.set("MatmulPreference", preference, (1, "u8"), workspace)
        results, count = self.ffi.new("cublasLtMatmulHeuristicResult_t[]", wanted), self.ffi.new("int *")
        a, b, c = self.layouts
        status = self.client.library.cublasLtMatmulAlgoGetHeuristic(
            self.handle, self.desc, a, b, c, c, preference, wanted, results, count
        )
        return status, [results[i] for i in range(count[0])]

    def multiply(
        self, algo: Any = None, alpha: Any = None, beta: Any = None, workspace: int = 0, stream: Any = None,
        area: Device | None = None,
    ) -> int:  # fmt: skip
        """The status of cublasLtMatmul."""
        p, (a, b, c) = self.product, self.layouts
        kind = {R_16F: np.float16, R_64F: np.float64, R_32I: np.int32}.get(p.scale, np.float32)
        if workspace and area is None:
            area = self.client.on_device(np.zeros(workspace, np.uint8))
        one = np.array([p.alpha], kind) if alpha is None else alpha
        two = np.array([p.beta], kind) if beta is None else beta
        return self.client.call(
            "cublasLtMatmul", self.handle, self.desc, one, self.devices[0], a, self.devices[1], b, two,
            self.devices[2], c, self.result, c, self.ffi.NULL if algo is None else self.ffi.addressof(algo),
            self.ffi.NULL if area is None else area, workspace, self.ffi.NULL if stream is None else stream,
        )  # fmt: skip

    def found(self) -> Array:
        """D as numbers, (batch, m, n)."""
        p = self.product
        lines = self.result.now().reshape(self.room)[..., : self.room[2] - p.pad]
        return exact(lines if p.orders[2] == ROW else lines.transpose(0, 2, 1), p.types[2])

    def sums(self) -> Array:
        """alpha op(A) op(B) + beta C."""
        p, (a, b, c) = self.product, self.values
        left = a if p.trans_a == N else a.transpose(0, 2, 1)
        right = b if p.trans_b == N else b.transpose(0, 2, 1)
        return np.asarray(p.alpha * (left @ right) + p.beta * c)

    def right(self, expected: Array) -> bool:
        error = ROUNDING[self.product.types[2]]
        return bool(np.allclose(self.found(), expected, rtol=error, atol=error * (1 + abs(expected).max() / 8)))
