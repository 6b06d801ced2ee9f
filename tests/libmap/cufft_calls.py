"""Calls of libcufft, compared with numpy (client.py)."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

from ptx2amd.api import cufft
from ptx2amd.libraries import CUFFT
from tests.libmap.client import Array, Client

FORWARD, INVERSE = -1, 1
INVALID_PLAN, INVALID_TYPE, INVALID_VALUE, INVALID_SIZE, NOT_IMPLEMENTED = 1, 3, 4, 8, 14
KINDS = {"C2C": 0x29, "R2C": 0x2A, "C2R": 0x2C, "Z2Z": 0x69, "D2Z": 0x6A, "Z2D": 0x6C}
ERROR = {"single": 2e-6, "double": 1e-14}

client = Client(cufft.MAPPED)
ffi, library, check, call, Device = client.ffi, client.library, client.check, client.call, client.on_device


def precision(letters: str) -> str:
    return "double" if set(letters) & set("DZ") else "single"


def numbers(letters: str, *shape: int) -> Array:
    """What a transform takes: real or complex."""
    single = precision(letters) == "single"
    real = client.draw.standard_normal(shape).astype(np.float32 if single else np.float64)
    if letters[0] in "RD":
        return real
    return (real + 1j * client.draw.standard_normal(shape)).astype(np.complex64 if single else np.complex128)


def near(what: str, letters: str, found: Array, expected: Array) -> None:
    error = abs(found - expected).max() / max(abs(expected).max(), 1e-30)
    check(f"{what}: error {error}", found.shape == expected.shape and error < ERROR[precision(letters)])


def exact(letters: str, values: Array, shape: tuple[int, ...], direction: int) -> Array:
    """The transform over the last dimensions, in double precision, without a factor, as cuFFT has it."""
    axes, count = tuple(range(-len(shape), 0)), int(np.prod(shape))
    wide = values.astype(np.complex128 if np.iscomplexobj(values) else np.float64)
    if letters[0] in "RD":
        return np.fft.rfftn(wide, axes=axes)
    if letters[-1] in "RD":
        return np.fft.irfftn(wide, shape, axes=axes) * count
    return np.fft.fftn(wide, axes=axes) if direction == FORWARD else np.fft.ifftn(wide, axes=axes) * count


def halved(shape: tuple[int, ...]) -> tuple[int, ...]:
    return (*shape[:-1], shape[-1] // 2 + 1)


def made(name: str, *arguments: Any) -> Any:
    plan = ffi.new("cufftHandle *")
    status = call(f"cufftPlan{name}", plan, *arguments)
    check(f"Plan{name}: {status}", status == 0)
    return plan[0]


def out_type(letters: str) -> type:
    if letters[-1] in "RD":
        return np.float32 if letters[-1] == "R" else np.float64
    return np.complex64 if precision(letters) == "single" else np.complex128


def execute(letters: str, plan: Any, source: Any, target: Any, direction: int) -> int:
    way = (direction,) if letters in ("C2C", "Z2Z") else ()
    return call(f"cufftExec{letters}", plan, source, target, *way)


def transforms() -> None:
    """Every kind in one dimension, some in two and three, with batches, both directions, apart and in place. Each plan
    is some seconds of compilation."""
    for letters, kind in KINDS.items():
        more = {"C2C": ((12, 20), 1), "D2Z": ((6, 10, 8), 1), "Z2D": ((12, 20), 1), "R2C": ((6, 10, 8), 1)}
        for shape, batch in (((60,), 3), *([more[letters]] if letters in more else [])):
            plan = made(f"{len(shape)}d", *shape, kind, *((batch,) if len(shape) == 1 else ()))
            for direction in (FORWARD, INVERSE) if letters in ("C2C", "Z2Z") else (FORWARD,):
                stored = halved(shape) if letters[0] in "CZ" and letters[-1] in "RD" else shape
                values = numbers(letters, batch, *stored)
                if letters[-1] in "RD":  # of real numbers: else the result is not defined
                    values = exact("D2Z", numbers("D2Z", batch, *shape), shape, FORWARD).astype(values.dtype)
                expected = exact(letters, values, shape, direction)
                target = Device(np.zeros(expected.size, out_type(letters)))
                source = Device(values.ravel())
                status = execute(letters, plan, source, target, direction)
                what = f"{letters} {shape} x {batch}, {direction}"
                check(f"{what}: {status}", status == 0)
                near(what, letters, target.now().reshape(expected.shape), expected)
                if values.dtype == expected.astype(out_type(letters)).dtype:
                    status = execute(letters, plan, source, source, direction)
                    near(f"{what} in place: {status}", letters, source.now().reshape(expected.shape), expected)
            check("end", library.cufftDestroy(plan) == 0)


def padded() -> None:
    """Real numbers in place: rows have room for the result."""
    n, m = 10, 12
    values, room = numbers("D2Z", n, m), np.zeros((n, 2 * (m // 2 + 1)))
    room[:, :m] = values
    plan, on = made("2d", n, m, KINDS["D2Z"]), Device(room.ravel())
    check("D2Z in place", execute("D2Z", plan, on, on, FORWARD) == 0)
    near("D2Z in place", "D2Z", on.now().view(np.complex128).reshape(n, m // 2 + 1), np.fft.rfft2(values))
    check("end", library.cufftDestroy(plan) == 0)


def layouts() -> None:
    """Strides, distances, rows that are longer than what is transformed; plans of 32 and 64 bits, and of any types."""
    n, m, batch, stride, rows = 6, 10, 3, 2, 13
    for name in ("cufftMakePlanMany", "cufftMakePlanMany64", "cufftXtMakePlanMany"):
        integer = "int[]" if name.endswith("Many") and "Xt" not in name else "long long[]"
        sizes, embed = ffi.new(integer, [n, m]), ffi.new(integer, [n, rows])
        distance = n * rows * stride
        for letters in ("C2C", "Z2Z"):
            values = numbers(letters, batch, n, m)
            room = np.zeros((batch, n, rows, stride), values.dtype)
            room[:, :, :m, 0] = values
            source, target = Device(room.ravel()), Device(np.zeros(batch * n * m, values.dtype))
            plan, work = ffi.new("cufftHandle *"), ffi.new("size_t *")
            check("create", library.cufftCreate(plan) == 0)
            into = (embed, stride, distance)
            out = (ffi.new(integer, [n, m]), 1, n * m)
            number = {"C2C": 4, "Z2Z": 5}[letters]
            if "Xt" in name:
                status = call(name, plan[0], 2, sizes, *into, number, *out, number, batch, work, number)
                sized = call("cufftXtGetSizeMany", plan[0], 2, sizes, *into, number, *out, number, batch, work, number)
            else:
                status = call(name, plan[0], 2, sizes, *into, *out, KINDS[letters], batch, work)
                size = name.replace("MakePlan", "GetSize")
                sized = call(size, plan[0], 2, sizes, *into, *out, KINDS[letters], batch, work)
            check(f"{name} {letters}: {status}", status == 0)
            check(f"{name}'s size: {sized}", sized == 0)
            status = call("cufftXtExec", plan[0], source, target, FORWARD)
            check(f"XtExec: {status}", status == 0)
            near(f"{name} {letters}", letters, target.now().reshape(batch, n, m), np.fft.fft2(values))
            check("end", library.cufftDestroy(plan[0]) == 0)
    columns, source = ffi.new("int[]", [n]), Device(numbers("C2C", n, m).ravel())
    values, target = source.now().reshape(n, m), Device(np.zeros(n * m, np.complex64))
    plan = made("Many", 1, columns, columns, m, 1, columns, m, 1, KINDS["C2C"], m)
    check("columns", execute("C2C", plan, source, target, FORWARD) == 0)
    near("columns", "C2C", target.now().reshape(n, m), np.fft.fft(values, axis=0))
    check("end", library.cufftDestroy(plan) == 0)
    plan = made("Many", 1, columns, ffi.NULL, 1, 0, ffi.NULL, 1, 0, KINDS["C2C"], m)
    values = target.now().reshape(m, n)
    check("packed", execute("C2C", plan, target, source, INVERSE) == 0)
    near("packed", "C2C", source.now().reshape(m, n), np.fft.ifft(values) * n)
    check("end", library.cufftDestroy(plan) == 0)


def work_areas() -> None:
    """Sizes of work areas, one of the program's own, streams."""
    n, work, size, plan = 1 << 13, ffi.new("size_t *"), ffi.new("size_t *"), ffi.new("cufftHandle *")
    check("create", library.cufftCreate(plan) == 0)
    check("no work area by itself", library.cufftSetAutoAllocation(plan[0], 0) == 0)
    check("make", library.cufftMakePlan1d(plan[0], n, KINDS["Z2Z"], 2, work) == 0)
    check("its size", library.cufftGetSize(plan[0], size) == 0 and size[0] == work[0])
    area = Device(np.zeros(max(work[0], 1), np.uint8))
    check("a work area", call("cufftSetWorkArea", plan[0], area) == 0)
    stream = ffi.new("cudaStream_t *")
    assert not client.cuda.cuStreamCreate(stream, 1)
    check("stream", library.cufftSetStream(plan[0], stream[0]) == 0)
    check("no stream", library.cufftSetStream(plan[0], ffi.cast("cudaStream_t", 4096)) == INVALID_VALUE)
    values = numbers("Z2Z", 2, n)
    source, target = Device(values.ravel()), Device(np.zeros(2 * n, np.complex128))
    check("in a stream", execute("Z2Z", plan[0], source, target, FORWARD) == 0)
    check("which ends", client.cuda.cuStreamSynchronize(stream[0]) == 0)
    near("in a stream", "Z2Z", target.now().reshape(2, n), np.fft.fft(values))
    check("end", library.cufftDestroy(plan[0]) == 0)
    check("create", library.cufftCreate(plan) == 0)
    for shape in ((64,), (16, 24), (8, 12, 10)):
        name, last = f"{len(shape)}d", (1,) if len(shape) == 1 else ()
        check(f"Estimate{name}", call(f"cufftEstimate{name}", *shape, KINDS["C2C"], *last, work) == 0)
        check(f"GetSize{name}", call(f"cufftGetSize{name}", plan[0], *shape, KINDS["C2C"], *last, work) == 0)
        another = ffi.new("cufftHandle *")
        check("create", library.cufftCreate(another) == 0)
        status = call(f"cufftMakePlan{name}", another[0], *shape, KINDS["C2C"], *last, work)
        check(f"MakePlan{name}: {status}", status == 0 and library.cufftDestroy(another[0]) == 0)
    sizes = ffi.new("int[]", [16, 16])
    layout = (2, sizes, ffi.NULL, 1, 0, ffi.NULL, 1, 0, KINDS["C2C"], 1, work)
    check("EstimateMany", call("cufftEstimateMany", *layout) == 0)
    check("GetSizeMany", call("cufftGetSizeMany", plan[0], *layout) == 0)
    check("end", library.cufftDestroy(plan[0]) == 0)


def refusals() -> None:
    null, work, plan = ffi.NULL, ffi.new("size_t *"), ffi.new("cufftHandle *")
    for row in cufft.ROWS:
        if row.takes and row.takes[0].type == "cufftHandle":
            zeros = [null if parameter.is_pointer or parameter.type == "cudaStream_t" else 0 for parameter in row.takes]
            zeros[0] = 4711
            expected = INVALID_PLAN if row.works else NOT_IMPLEMENTED
            status = getattr(library, row.symbol)(*zeros)
            check(f"{row.symbol} without a plan: {status}", status == expected)
    for refused in ("cufftXtFree",):
        check(refused, getattr(library, refused)(null) == NOT_IMPLEMENTED)
    check("no place", library.cufftCreate(null) == INVALID_VALUE)
    check("no place for a plan", library.cufftPlan1d(null, 8, KINDS["C2C"], 1) == INVALID_VALUE)
    check("no such kind", library.cufftPlan1d(plan, 8, 0x99, 1) == INVALID_TYPE)
    check("no size", library.cufftPlan1d(plan, 0, KINDS["C2C"], 1) == INVALID_SIZE)
    check("no size", library.cufftPlan2d(plan, 8, -1, KINDS["C2C"]) == INVALID_SIZE)
    check("create", library.cufftCreate(plan) == 0)
    check("no place for the size", library.cufftMakePlan1d(plan[0], 8, KINDS["C2C"], 1, null) == INVALID_VALUE)
    check("no such kind", library.cufftMakePlan1d(plan[0], 8, 0, 1, work) == INVALID_TYPE)
    check("end", library.cufftDestroy(plan[0]) == 0)
    check("ended", library.cufftDestroy(plan[0]) == INVALID_PLAN)
    value = ffi.new("int *")
    expected = CUFFT.sonames[Path(sys.argv[2]).name]
    check("version", library.cufftGetVersion(value) == 0 and value[0] == expected)
    check("major", library.cufftGetProperty(0, value) == 0 and value[0] == expected // 1000)
    check("no property", library.cufftGetProperty(7, value) == INVALID_TYPE)


def main() -> None:
    refusals()
    transforms()
    padded()
    layouts()
    work_areas()
    client.report()


if __name__ == "__main__":
    main()
