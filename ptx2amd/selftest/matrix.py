"""Matrix products of a warp, on the chip's matrix units and in software. With small integers all sums are exact."""

from __future__ import annotations

from collections.abc import Iterator

from ptx2amd.selftest.case import Comparison, case, compare
from ptx2amd.selftest.conversions import bf16
from ptx2amd.selftest.gpu import Gpu

#: Kernel -> type of A and B, type of C and D, rows, columns, inner dimension.
SHAPES = {
    "f16": ("e", "f", 16, 8, 16),
    "bf16": ("H", "f", 16, 8, 16),
    "s8": ("b", "i", 16, 8, 32),
    "f64": ("d", "d", 8, 8, 4),
}


def product(gpu: Gpu) -> Iterator[Comparison]:
    module = gpu.load("matrix")
    for name, (narrow, wide, rows, columns, length) in SHAPES.items():
        a = [[(7 * i + 3 * k) % 15 - 7 for k in range(length)] for i in range(rows)]
        b = [[(5 * k + 11 * j) % 13 - 6 for k in range(length)] for j in range(columns)]  # by columns
        c = [[i * 10 - j for j in range(columns)] for i in range(rows)]
        bits = (
            [[bf16(float(value)) for value in line] for line in a],
            [[bf16(float(value)) for value in line] for line in b],
        )
        one, two = bits if name == "bf16" else (a, b)
        out = gpu.room(rows * columns * (8 if wide == "d" else 4))
        inputs = (
            gpu.buffer(code, [value for line in m for value in line])
            for code, m in ((narrow, one), (narrow, two), (wide, c))
        )
        gpu.run(gpu.kernel(module, name), 1, 32, *inputs, out)
        expected = [
            c[i][j] + sum(x * y for x, y in zip(a[i], b[j], strict=True)) for i in range(rows) for j in range(columns)
        ]
        yield compare(f"{name} {rows} x {columns} x {length}", wide, gpu.read(out, wide), expected)


case("matrix", "the chip's units")(product)
case("matrix", "software", {"PTX2AMD_MATRIX": "software"})(product)
