"""Calls of libcublasLt on a chip that hipBLASLt has no code for: products are rocBLAS's, epilogues ours."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np

from tests.libmap.client import Array, Client
from tests.libmap.cublaslt_products import (
    AUX,
    BGRADB,
    BIAS,
    COMPUTE_16F,
    COMPUTE_64F,
    DEFAULT,
    DEVICE,
    E4M3,
    GELU,
    LAYOUT,
    R_8I,
    R_16BF,
    R_16F,
    R_32F,
    R_32I,
    R_64F,
    RELU,
    ROW,
    TF32,
    N,
    Product,
    Run,
    T,
    exact,
    gelu,
    stored,
)

INVALID_VALUE, NOT_SUPPORTED = 7, 15
OWN = -1  # a bias of the result's type
ACTIVATIONS: dict[int, Callable[[Array], Array]] = {0: lambda x: x, RELU: lambda x: np.maximum(x, 0), GELU: gelu}
TYPES = {"f32": (R_32F,) * 3, "f16": (R_16F,) * 3, "bf16": (R_16BF,) * 3, "f16, f32": (R_16F, R_16F, R_32F),
         "bf16, f32": (R_16BF, R_16BF, R_32F)}  # fmt: skip
#: Sizes, operations, batches and gaps.
SHAPES = {
    "odd": Product(m=33, n=17, k=29),
    "transposed": Product(m=300, n=5, k=16, trans_a=T, trans_b=T),
    "batch": Product(m=20, n=9, k=31, batch=3, trans_b=T),
    "gaps": Product(m=65, n=30, k=8, batch=2, pad=5, trans_a=T),
    "beta is 0": Product(m=40, n=40, k=40, beta=0),
    "A in rows": Product(m=24, n=40, k=56, orders=(ROW, 0, 0)),
    "column": Product(m=1, n=300, k=3),
}


def check_all(client: Client, handle: Any) -> None:
    epilogues(client, handle)
    algorithms(client, handle)
    grid(client, handle)
    refused(client, handle)
    captured(client, handle)


def biased(client: Client, shape: Product, bias_type: int) -> tuple[dict[str, Any], Array]:
    """The attributes of a bias, and its numbers as a column."""
    numbers = client.draw.uniform(-2, 2, shape.m)
    bits = stored(numbers, bias_type)
    own = {} if bias_type == shape.types[2] else {"bias_type": bias_type}
    return {"bias": client.on_device(bits), **own}, exact(bits, bias_type)[None, :, None]


def epilogues(client: Client, handle: Any) -> None:
    """Each epilogue, of all types of matrices, with a bias of the result's type or of f32."""
    for (shape_name, shape), (name, types), bias, active in product(
        SHAPES.items(), TYPES.items(), (None, OWN, R_32F), ACTIVATIONS
    ):
        one = replace(shape, types=types, epilogue=(active | (BIAS if bias is not None else 0)) or DEFAULT)
        column: Any = 0
        if bias is not None:
            extra, column = biased(client, one, types[2] if bias == OWN else bias)
            one = replace(one, extra=extra)
        run = Run(client, handle, one)
        if one.beta == 0:  # then C is not read
            nan = np.full(run.devices[2].values.shape, stored(np.array([np.nan]), types[2])[0])
            run.devices[2] = client.on_device(nan)
        status = run.multiply(workspace=1 << 20)
        good = status == 0 and run.right(ACTIVATIONS[active](run.sums() + column))
        client.check(f"{shape_name}, {name}, bias {bias}, activation {active}: {status}", good)


def algorithms(client: Client, handle: Any) -> None:
    """One algorithm, which needs no workspace, is that of its problem, and is found again if it is another's."""
    run, other = Run(client, handle, Product()), Run(client, handle, Product(types=(R_32F,) * 3))
    status, found = run.algorithms(8, 0)
    client.check(f"one algorithm: {status}", status == 0 and len(found) == 1 and found[0].workspaceSize == 0)
    for name, one in (("its own", run), ("another's", other)):
        status = one.multiply(found[0].algo)
        client.check(f"{name} problem: {status}", status == 0 and one.right(one.sums()))
    own = client.ffi.new("cublasLtHandle_t *")
    assert not client.library.cublasLtCreate(own)
    fresh = Run(client, own[0], Product())
    status = fresh.multiply(found[0].algo)
    client.check(f"the algorithm of another handle: {status}", status == 0 and fresh.right(fresh.sums()))
    client.check("end of the other", client.library.cublasLtDestroy(own[0]) == 0)
    result = client.ffi.new("cublasLtMatmulHeuristicResult_t *")
    for name, one, expected in (("its own", run, 0), ("another's", other, NOT_SUPPORTED)):
        algo = client.ffi.new("cublasLtMatmulAlgo_t *", found[0].algo)
        a, b, c = one.layouts
        status = client.library.cublasLtMatmulAlgoCheck(handle, one.desc, a, b, c, c, algo, result)
        client.check(f"check of {name} problem: {status}", status == expected)
    for scale, compute, types in ((R_16F, COMPUTE_16F, TYPES["f16"]), (R_32F, TF32, TYPES["f32"])):
        for mode in (0, DEVICE):
            extra, column = biased(client, Product(types=types), types[2])
            one = Run(client, handle, Product(types=types, compute=compute, scale=scale, epilogue=BIAS,
                                              extra={**extra, "pointer_mode": mode}))  # fmt: skip
            kind = np.float16 if scale == R_16F else np.float32
            two = [client.on_device(np.array([v], kind)) for v in (1.5, 0.5)] if mode else [None, None]
            status = one.multiply(alpha=two[0], beta=two[1])
            client.check(f"alpha {scale} {mode}: {status}", status == 0 and one.right(one.sums() + column))
    inplace = Run(client, handle, Product(epilogue=RELU))
    expected = np.maximum(inplace.sums(), 0)
    inplace.result = inplace.devices[2]
    status = inplace.multiply()
    client.check(f"C is D: {status}", status == 0 and inplace.right(expected))


def grid(client: Client, handle: Any) -> None:
    """More columns than a grid has blocks, and more rows than a block has threads."""
    for m, n, batch in ((2, 70001, 1), (1000, 3, 1), (3, 7, 10001)):
        shape = Product(m=m, n=n, k=2, batch=batch, types=TYPES["f32"], epilogue=RELU | BIAS)
        extra, column = biased(client, shape, R_32F)
        run = Run(client, handle, replace(shape, extra=extra))
        status = run.multiply()
        client.check(f"{m} x {n} x {batch}: {status}", status == 0 and run.right(np.maximum(run.sums() + column, 0)))


def refused(client: Client, handle: Any) -> None:
    """What neither rocBLAS nor the epilogue's kernel can do."""
    factor = client.on_device(np.ones(1, np.float32))
    many = client.on_device(np.ones(64 * 48, np.float32))
    doubles = {"types": (R_64F,) * 3, "compute": COMPUTE_64F, "scale": R_64F}
    for name, one in (
        ("f64 with an epilogue", Product(epilogue=RELU, **doubles)),  # type: ignore[arg-type]
        ("i8 with an epilogue", Product(types=(R_8I, R_8I, R_32I), compute=72, scale=R_32I, epilogue=RELU)),
        ("f8", Product(types=(E4M3, E4M3, R_32F), trans_a=T)),
        ("a factor of A", Product(extra={"scale_a": factor})),
        ("a second result", Product(epilogue=GELU | AUX, extra={"aux": many, "aux_ld": 64})),
        ("sums of B", Product(epilogue=BGRADB, extra={"bias": many})),
        ("a bias of f64", Product(epilogue=BIAS, extra={"bias": many, "bias_type": R_64F})),
        ("two types", Product(types=(R_16F, R_16BF, R_32F))),
    ):
        run = Run(client, handle, one)
        for what, status in (("call", run.multiply(workspace=4096)), ("heuristic", run.algorithms(1)[0])):
            client.check(f"{name}, {what}: {status}", status == NOT_SUPPORTED)
    run = Run(client, handle, Product(epilogue=BIAS))
    client.check("no bias", run.multiply() == INVALID_VALUE)
    run = Run(client, handle, Product())
    for layout in run.layouts[1:]:
        run.set("MatrixLayout", layout, LAYOUT["ld"], 1 << 32)
    client.check("more than 32 bits", run.multiply() == NOT_SUPPORTED)


def captured(client: Client, handle: Any) -> None:
    """A product and its epilogue in a graph, as the first call of a handle in every mode of capture."""
    ffi, cuda = client.ffi, client.cuda
    for mode in (0, 1, 2):
        own, stream, graph, executable = (
            ffi.new(f"{kind} *") for kind in ("cublasLtHandle_t", "cudaStream_t", "void *", "void *")
        )
        assert not client.library.cublasLtCreate(own) and not cuda.cuStreamCreate(stream, 1)
        shape = Product(epilogue=GELU | BIAS, trans_a=T, trans_b=N)
        extra, column = biased(client, shape, R_16F)
        run = Run(client, own[0], replace(shape, extra=extra))
        area = client.on_device(np.zeros(4096, np.uint8))
        assert not cuda.cuStreamBeginCapture_v2(stream[0], mode)
        status = run.multiply(workspace=4096, stream=stream[0], area=area)
        ended = cuda.cuStreamEndCapture(stream[0], graph)
        client.check(f"captured, mode {mode}: {status}, {ended}", status == 0 and not ended)
        if status or ended:
            continue
        client.check(f"mode {mode}: not run yet", not run.result.now().any())
        assert not cuda.cuGraphInstantiateWithFlags(executable, graph[0], 0)
        assert not cuda.cuGraphLaunch(executable[0], stream[0]) and not cuda.cuStreamSynchronize(stream[0])
        client.check(f"mode {mode}: the graph computes", run.right(gelu(run.sums() + column)))
        client.check("end", client.library.cublasLtDestroy(own[0]) == 0)
