"""Calls of libcublasLt, compared with numpy (client.py). What hipBLASLt has depends on the chip: a case names the chips
where it must succeed, and elsewhere it must be refused."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import cffi
import numpy as np

from ptx2amd.api import cublaslt
from ptx2amd.libraries import CUBLASLT
from tests.libmap import cublaslt_fallback, cublaslt_state
from tests.libmap.client import Array, Client
from tests.libmap.cublaslt_products import (
    AUX,
    BGRAD,
    BGRADA,
    BGRADB,
    BIAS,
    COMPUTE_16F,
    COMPUTE_32F,
    COMPUTE_32I,
    COMPUTE_64F,
    DEVICE,
    DGELU,
    E4M3,
    E5M2,
    FAST_16BF,
    FAST_16F,
    GELU,
    R_8I,
    R_16BF,
    R_16F,
    R_32F,
    R_32I,
    R_64F,
    RELU,
    ROW,
    TF32,
    VECTOR_AND_HOST,
    VECTOR_AND_ZERO,
    VECTORS,
    C,
    N,
    Product,
    Run,
    T,
    dgelu,
    gelu,
)

NOT_INITIALIZED, INVALID_VALUE, NOT_SUPPORTED = 1, 7, 15
CHIP = os.environ["PTX2AMD_DEVICE"].partition(":")[2]
HIPBLASLT = ("gfx90a", "gfx1100", "gfx1201")  # chips that it has code for
ALL = (*HIPBLASLT, "gfx942", "gfx1030")
WORKSPACE = 1 << 22

client = Client(cublaslt.MAPPED)
ffi, cuda, lt = client.ffi, client.cuda, client.library
check = client.check

HALF, SINGLE, BRAIN, WIDER = (R_16F,) * 3, (R_32F,) * 3, (R_16BF,) * 3, (R_16F, R_16F, R_32F)
#: What a product is like, and the chips that have it.
PRODUCTS: list[tuple[str, Product, tuple[str, ...]]] = [
    *(
        (f"f16 {'NTC'[a]}{'NTC'[b]}", Product(trans_a=a, trans_b=b), ALL)
        for a in (N, T, C) for b in (N, T, C)
    ),
    ("f32", Product(types=SINGLE), ALL),
    ("bf16", Product(types=BRAIN), ALL),
    ("f16 to f32", Product(types=WIDER), ALL),
    ("bf16 to f32", Product(types=(R_16BF, R_16BF, R_32F)), ALL),
    ("sums in f16", Product(compute=COMPUTE_16F, scale=R_16F), ALL),
    ("tf32", Product(types=SINGLE, compute=TF32), ALL),
    ("f32 by f16", Product(types=SINGLE, compute=FAST_16F), ALL),
    ("f32 by bf16", Product(types=SINGLE, compute=FAST_16BF), ALL),
    ("f64", Product(types=(R_64F,) * 3, compute=COMPUTE_64F, scale=R_64F), ALL),
    ("i8", Product(types=(R_8I, R_8I, R_32I), compute=COMPUTE_32I, scale=R_32I, alpha=2, beta=-1), ALL),
    ("i8, alpha in f32", Product(types=(R_8I, R_8I, R_32I), compute=COMPUTE_32I, alpha=2, beta=-1), ALL),
    ("i8, fractions", Product(types=(R_8I, R_8I, R_8I), compute=COMPUTE_32I, alpha=0.25, beta=0), ()),
    ("i8, sums in f32", Product(types=(R_8I, R_8I, R_8I), alpha=1, beta=0), ()),
    ("complex", Product(types=(4, 4, 4), compute=68, scale=4), ()),
    *((f"f8 {a}{b} to {d}", Product(types=(a, b, d), trans_a=T), ("gfx1201",))
      for a, b, d in ((E4M3, E4M3, R_16F), (E4M3, E4M3, R_32F), (E4M3, E5M2, R_16BF), (E5M2, E4M3, R_32F))),
    ("f8 to f8", Product(types=(E4M3, E4M3, E4M3), trans_a=T, alpha=0.25), ("gfx1201",)),
    *((f"orders {a}{b}{c}", Product(orders=(a, b, c), trans_a=t, m=40, n=24, k=56), ALL)
      for a in (0, 1) for b in (0, 1) for c in (0, 1) for t in (N, T)),
    ("batch", Product(batch=3), ALL),
    ("batch in rows", Product(batch=3, orders=(ROW, ROW, ROW), m=33, n=20, k=17), ALL),
    ("leading dimensions", Product(pad=8), ALL),
    ("odd sizes", Product(m=33, n=17, k=29), ALL),
    ("odd sizes, f32", Product(m=31, n=1, k=100, types=SINGLE), ALL),
]  # fmt: skip


def products() -> None:
    for number, (name, product, chips) in enumerate(PRODUCTS):
        if 4 in product.types:
            complex_numbers(product)
            continue
        run = Run(client, HANDLE, product, inline=number % 2 == 1)
        status, found = run.algorithms(8, WORKSPACE)
        good = CHIP in chips
        if name != "i8, fractions":  # which the heuristic cannot see
            check(f"{name}: heuristic {status}", status == (0 if good else NOT_SUPPORTED) and bool(found) == good)
        status = run.multiply(workspace=WORKSPACE)
        check(f"{name}: {status}", status == (0 if good else NOT_SUPPORTED))
        if good:
            check(f"{name}: without an algorithm", run.right(run.sums()))
            for which, one in enumerate(found):
                status = run.multiply(one.algo, workspace=one.workspaceSize)
                check(f"{name}: algorithm {which}: {status}", status == 0 and run.right(run.sums()))


def complex_numbers(product: Product) -> None:
    """hipBLASLt has none of complex numbers."""
    real = Run(client, HANDLE, Product(types=SINGLE))
    real.layouts = [real.layout(4, (16, 16), 16, 0, 256)] * 3
    real.desc = real.described("MatmulDesc", product.compute, product.scale)
    check("complex numbers", real.algorithms(4)[0] == NOT_SUPPORTED)


#: Of an epilogue: what it makes of sums x, given the bias as a column and the other matrix; the types of matrices and
#: vectors; the chips that have it.
Epilogue = Callable[[Array, Array, Array], Array]
KINDS: dict[str, tuple[int, Epilogue, dict[tuple[int, int, int], tuple[str, ...]]]] = {
    "relu": (RELU, lambda x, b, y: np.maximum(x, 0), dict.fromkeys((HALF, SINGLE, WIDER, BRAIN), ALL)),
    "bias": (BIAS, lambda x, b, y: x + b, dict.fromkeys((HALF, SINGLE, WIDER, BRAIN), ALL)),
    "relu, bias": (RELU | BIAS, lambda x, b, y: np.maximum(x + b, 0), dict.fromkeys((HALF, SINGLE, WIDER, BRAIN), ALL)),
    "gelu": (GELU, lambda x, b, y: gelu(x), dict.fromkeys((HALF, SINGLE, WIDER, BRAIN), ALL)),
    "gelu, bias": (GELU | BIAS, lambda x, b, y: gelu(x + b), dict.fromkeys((HALF, SINGLE, WIDER, BRAIN), ALL)),
    "gelu, kept": (GELU | AUX, lambda x, b, y: gelu(x), {HALF: HIPBLASLT, SINGLE: ()}),
    "gelu, bias, kept": (GELU | BIAS | AUX, lambda x, b, y: gelu(x + b), {HALF: ("gfx90a", "gfx1100"), SINGLE: ()}),
    "gelu's slope": (DGELU | AUX, lambda x, b, y: x * dgelu(y), {HALF: ("gfx90a",), SINGLE: ()}),
    "gelu's slope, sums": (DGELU | AUX | BGRAD, lambda x, b, y: x * dgelu(y), {HALF: ("gfx90a",), SINGLE: ()}),
    "sums of A": (BGRADA, lambda x, b, y: x, {HALF: ("gfx90a",), SINGLE: ()}),
    "sums of B": (BGRADB, lambda x, b, y: x, {HALF: ("gfx90a",), SINGLE: ()}),
    "relu, mask": (RELU | AUX, lambda x, b, y: x, {HALF: ()}),
    "relu's slope": (8 | AUX, lambda x, b, y: x, {HALF: ()}),
}  # fmt: skip


def epilogues() -> None:
    draw = client.draw
    for name, (epilogue, function, kinds) in KINDS.items():
        for types, chips in kinds.items():
            number = {R_16F: np.float16, R_32F: np.float32}.get(types[2], np.float32)
            bias = client.on_device(draw.uniform(-1, 1, 64).astype(number))
            kept = client.on_device(draw.uniform(-1, 1, 64 * 48).astype(number))
            extra: dict[str, Any] = {}
            if epilogue & (BIAS | BGRAD | BGRADA | BGRADB):
                extra = {"bias": bias} if types[2] != R_16BF else {"bias": bias, "bias_type": R_32F}
            if epilogue & AUX:
                extra |= {"aux": kept, "aux_ld": 64}
            run = Run(client, HANDLE, Product(types=types, epilogue=epilogue, extra=extra))
            status = run.multiply(workspace=WORKSPACE)
            check(f"{name} {types}: {status}", status == (0 if CHIP in chips else NOT_SUPPORTED))
            if status:
                continue
            column, other = bias.values.astype(float)[None, :, None], kept.values.astype(float).reshape(48, 64).T
            expected = function(run.sums(), column, other)
            check(f"{name} {types}: result", run.right(expected))
            second = {GELU | AUX: run.sums(), GELU | BIAS | AUX: run.sums() + column}.get(epilogue)
            if second is not None:
                check(f"{name}: kept", np.allclose(kept.now().reshape(48, 64).T, second[0], atol=2e-2))
            sums = {DGELU | AUX | BGRAD: expected[0].sum(1), BGRADA: run.values[0][0].sum(1),
                    BGRADB: run.values[1][0].sum(0)}.get(epilogue)  # fmt: skip
            if sums is not None:
                check(f"{name}: sums", np.allclose(bias.now()[: len(sums)], sums, rtol=2e-3, atol=3e-2))


def pointers() -> None:
    """alpha and beta on the device, or a vector of alphas; factors of 8-bit matrices."""
    for types, kind, scale, whole in (
        (HALF, np.float32, R_32F, False),
        (SINGLE, np.float32, R_32F, False),
        (HALF, np.float16, R_16F, False),
        ((R_8I, R_8I, R_32I), np.float32, R_32F, True),
    ):
        values, compute = (2, -1) if whole else (1.5, 0.5), COMPUTE_16F if kind is np.float16 else COMPUTE_32F
        product = Product(types=types, compute=COMPUTE_32I if whole else compute, scale=scale, alpha=values[0],
                          beta=values[1], extra={"pointer_mode": DEVICE})  # fmt: skip
        run = Run(client, HANDLE, product)
        two = [client.on_device(np.array([value], kind)) for value in values]
        status = run.multiply(alpha=two[0], beta=two[1], workspace=WORKSPACE)
        check(f"alpha on the device {types} {scale}: {status}", status == 0 and run.right(run.sums()))
    for types in (HALF, SINGLE):
        alphas = client.on_device(client.draw.uniform(-1, 1, 64).astype(np.float32))
        column = alphas.values.astype(float)[None, :, None]
        for mode, beta in ((VECTOR_AND_HOST, 0.5), (VECTOR_AND_ZERO, 0)):
            run = Run(client, HANDLE, Product(types=types, alpha=1, beta=0, extra={"pointer_mode": mode}))
            expected = column * run.sums() + beta * run.values[2]
            second = ffi.NULL if mode == VECTOR_AND_ZERO else np.array([beta], np.float32)
            status = run.multiply(alpha=alphas, beta=second, workspace=WORKSPACE)
            good = run.right(expected) if CHIP in HIPBLASLT else not run.result.now().any()
            check(
                f"a vector of alphas {types} {mode}: {status}",
                good and status == (0 if CHIP in HIPBLASLT else NOT_SUPPORTED),
            )
    run = Run(client, HANDLE, Product(extra={"pointer_mode": VECTORS}))
    check("vectors of both", run.multiply(workspace=WORKSPACE) == NOT_SUPPORTED)
    factors: dict[str, Any] = {
        f"scale_{n}": client.on_device(np.array([v], np.float32)) for n, v in (("a", 2), ("b", 3))
    }
    for types in ((E4M3, E4M3, R_32F), (E4M3, E4M3, R_16F)):
        for trans_b, order in ((N, 0), (T, ROW)):
            shape = {"trans_a": T, "trans_b": trans_b, "orders": (0, order, order)}
            run = Run(client, HANDLE, Product(types=types, alpha=0.25, beta=0, extra=factors, **shape))  # type: ignore[arg-type]
            status = run.multiply(workspace=WORKSPACE)
            good = CHIP == "gfx1201"
            check(f"factors {types} {order}: {status}", status == (0 if good else NOT_SUPPORTED))
            check(f"factors {types} {order}", not good or run.right(6 * run.sums()))


def sharing() -> None:
    """A handle of cuBLAS, and a stream."""
    other, path = cffi.FFI(), Path(sys.argv[2])
    other.cdef("int cublasCreate_v2(void **); int cublasDestroy_v2(void *);")
    blas = other.dlopen(str(path.with_name(path.name.replace("blasLt", "blas"))))
    handle, stream = other.new("void **"), ffi.new("cudaStream_t *")
    check("cuBLAS", blas.cublasCreate_v2(handle) == 0)
    run = Run(client, ffi.cast("cublasLtHandle_t", handle[0]), Product())
    check("a handle of cuBLAS", run.multiply(workspace=WORKSPACE) == 0 and run.right(run.sums()))
    check("its end is cuBLAS's", lt.cublasLtDestroy(ffi.cast("cublasLtHandle_t", handle[0])) == NOT_INITIALIZED)
    check("end", blas.cublasDestroy_v2(handle[0]) == 0)
    assert not cuda.cuStreamCreate(stream, 1)
    run = Run(client, HANDLE, Product(types=SINGLE))
    status = run.multiply(workspace=WORKSPACE, stream=stream[0])
    check("a stream", status == 0 and not cuda.cuStreamSynchronize(stream[0]) and run.right(run.sums()))
    check("no stream", run.multiply(stream=ffi.cast("cudaStream_t", 4096)) == INVALID_VALUE)


def captures() -> None:
    """A product in a captured graph; alpha on the device cannot be read while one is captured."""
    stream, graph, executable = ffi.new("cudaStream_t *"), ffi.new("void **"), ffi.new("void **")
    relaxed = 2
    assert not cuda.cuStreamCreate(stream, 1)
    run = Run(client, HANDLE, Product(types=SINGLE))
    device = Run(client, HANDLE, Product(types=SINGLE, extra={"pointer_mode": DEVICE}))
    one, area = client.on_device(np.ones(1, np.float32)), client.on_device(np.zeros(WORKSPACE, np.uint8))
    assert not cuda.cuStreamBeginCapture_v2(stream[0], relaxed)
    captured = run.multiply(workspace=WORKSPACE, stream=stream[0], area=area)
    assert not cuda.cuStreamEndCapture(stream[0], graph)
    check(f"captured: {captured}", captured == 0 and not run.result.now().any())
    assert not cuda.cuGraphInstantiateWithFlags(executable, graph[0], 0)
    assert not cuda.cuGraphLaunch(executable[0], stream[0]) and not cuda.cuStreamSynchronize(stream[0])
    check("the graph computes", run.right(run.sums()))
    assert not cuda.cuStreamBeginCapture_v2(stream[0], relaxed)
    status = device.multiply(alpha=one, beta=one, workspace=WORKSPACE, stream=stream[0], area=area)
    check(f"alpha on the device in a capture: {status}", status == NOT_SUPPORTED)
    cuda.cuStreamEndCapture(stream[0], graph)


def wrong() -> Iterator[tuple[str, int, int]]:
    """What was wrong with a call, its status, and the right one."""
    run = Run(client, HANDLE, Product())
    null = ffi.NULL
    for name, arguments in (
        ("cublasLtMatmul", [null] * 14 + [0, null]),
        ("cublasLtMatmulAlgoGetHeuristic", [null] * 7 + [1, null, null]),
        ("cublasLtMatmulAlgoCheck", [null] * 8),
        ("cublasLtMatmulAlgoGetIds", [null, 68, 0, 0, 0, 0, 0, 1, null, null]),
        ("cublasLtMatmulAlgoInit", [null, 68, 0, 0, 0, 0, 0, 0, null]),
        ("cublasLtMatrixTransform", [null] * 11),
    ):
        yield f"{name} without a handle", getattr(lt, name)(*arguments), NOT_INITIALIZED
    handle = [HANDLE]
    for name, arguments in (
        ("cublasLtMatmul", [null] * 13 + [0, null]),
        ("cublasLtMatmulAlgoGetHeuristic", [null] * 6 + [1, null, null]),
        ("cublasLtMatmulAlgoCheck", [null] * 7),
        ("cublasLtMatmulAlgoGetIds", [68, 0, 0, 0, 0, 0, 1, null, null]),
        ("cublasLtMatmulAlgoInit", [68, 0, 0, 0, 0, 0, 0, null]),
        ("cublasLtMatrixTransform", [null] * 10),
    ):
        yield f"{name} with null", getattr(lt, name)(*handle, *arguments), INVALID_VALUE
    yield "no handle to end", lt.cublasLtDestroy(null), INVALID_VALUE
    yield "no place for a handle", lt.cublasLtCreate(null), INVALID_VALUE
    yield "alpha is null", run.multiply(alpha=null), INVALID_VALUE
    yield "no algorithm of ours", run.multiply(ffi.new("cublasLtMatmulAlgo_t *")[0]), INVALID_VALUE
    for what, changes in (
        ("trans_a", {"trans_a": 3}), ("compute", {"compute": 99}), ("trans_b", {"trans_b": -1}),
    ):  # fmt: skip
        bad = Run(client, HANDLE, Product(extra=changes))
        yield f"{what} that is none", bad.multiply(), INVALID_VALUE
    for what, changes in (
        ("one triangle", {"fill": 0}), ("C transposed", {"trans_c": T}), ("biases", {"bias_stride": 64}),
        ("alphas", {"alpha_stride": 64}), ("blocks", {"mode_d": 1}), ("blocks of A", {"mode_a": 5}),
    ):  # fmt: skip
        bad = Run(client, HANDLE, Product(extra=changes))
        yield what, bad.multiply(workspace=WORKSPACE), NOT_SUPPORTED
        yield f"{what}, heuristic", bad.algorithms(1)[0], NOT_SUPPORTED
    for name, value, status in (
        ("order", 2, NOT_SUPPORTED), ("order", 9, INVALID_VALUE), ("rows", 63, INVALID_VALUE),
        ("ld", 63, INVALID_VALUE), ("ld", -64, INVALID_VALUE), ("batch", 2, INVALID_VALUE),
        ("batch", 0, INVALID_VALUE), ("plane", 64, NOT_SUPPORTED), ("batch_mode", 1, NOT_SUPPORTED),
        ("type", 77, NOT_SUPPORTED),
    ):  # fmt: skip
        bad = Run(client, HANDLE, Product())
        bad.set("MatrixLayout", bad.layouts[0], cublaslt_state.LAYOUT[name], value)
        yield f"A with {name} = {value}", bad.multiply(workspace=WORKSPACE), status


def main() -> None:
    for what, found, expected in wrong():
        check(f"{what}: {found}", found == expected)
    products()
    epilogues()
    pointers()
    sharing()
    captures()
    if CHIP not in HIPBLASLT:
        cublaslt_fallback.check_all(client, HANDLE)
    cublaslt_state.check_all(client, HANDLE, CHIP in HIPBLASLT, CUBLASLT.sonames[Path(sys.argv[2]).name])
    check("end", lt.cublasLtDestroy(HANDLE) == 0)
    client.report()


def begin() -> Any:
    place = ffi.new("cublasLtHandle_t *")
    assert not lt.cublasLtCreate(place)
    return place[0]


if __name__ == "__main__":
    HANDLE = begin()
    main()
