"""Every function of the table of cuBLAS's products, called with small arrays and compared with blas.py."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from ptx2amd.api.cublas import products
from ptx2amd.api.spec import Function, Parameter
from tests.libmap.blas import FUNCTIONS, SIDE, Case
from tests.libmap.client import Array, Client

NUMBER = {"float": np.float32, "double": np.float64, "cuComplex": np.complex64, "cuDoubleComplex": np.complex128}
CHOICES = {"uplo": (0, 1), "trans": (0, 1, 2), "transa": (0, 1, 2), "transb": (0, 1, 2), "diag": (0, 1), "side": (0, 1),
           "mode": (0, 1)}  # fmt: skip
SIZES = {"m": 5, "n": 7, "k": 3, "kl": 2, "ku": 1, "incx": 2, "incy": 3}
#: Of a symmetric or Hermitian product in complex numbers, one way to transpose is no argument.
WITHOUT = {"syrk": 2, "syr2k": 2, "syrkx": 2, "herk": 1, "her2k": 1, "herkx": 1}


def check_all(client: Client, handle: Any) -> None:
    draw = np.random.default_rng(5)
    for row in products.ROWS:
        name = re.sub(r"_64$", "", row.call).removeprefix("rocblas_")
        routine = next((name[cut:] for cut in (1, 2) if name[cut:] in FUNCTIONS), "")
        kinds = {p.target.removeprefix("const ") for p in row.takes if p.is_pointer}
        if routine and "__half" not in kinds:
            for chosen in options(row, routine, sorted(kinds & NUMBER.keys())):
                check(client, handle, row, routine, chosen, draw)


def options(row: Function, routine: str, kinds: list[str]) -> Iterator[dict[str, int]]:
    names = [p.name for p in row.takes if p.name in CHOICES]
    complex_numbers = any("omplex" in kind for kind in kinds)
    for values in itertools.product(*(CHOICES[name] for name in names)):
        chosen = dict(zip(names, values, strict=True))
        if not (complex_numbers and chosen.get("trans") == WITHOUT.get(routine, -1)):
            yield chosen
            if row.symbol.endswith("_64"):
                return


def array(parameter: Parameter, draw: np.random.Generator) -> Array:
    number = NUMBER[parameter.target]
    shape: tuple[int, ...] = (SIDE, SIDE) if re.fullmatch("[ABC]", parameter.name) else (SIDE * SIDE,)
    if parameter.role == "scalar":
        shape = (5,) if parameter.name == "param" else (1,)
    values = draw.uniform(-1, 1, shape)
    if "omplex" in parameter.target:
        values = values + 1j * draw.uniform(-1, 1, shape)
    if parameter.name == "A" or parameter.name == "AP":  # that equations with its triangles are solved well
        values = values / 4
        if parameter.name == "A":
            values = values + 2 * np.eye(SIDE)
    if parameter.name == "param":
        values[0] = -1
    return np.asfortranarray(values.astype(number))


def check(
    client: Client, handle: Any, row: Function, routine: str, chosen: dict[str, int], draw: Any, host: bool = False
) -> None:
    """`host`: all arrays are in host memory."""
    wide = np.int64 if row.symbol.endswith("_64") else np.int32
    values: dict[str, Any] = {}
    for p in row.takes[1:]:
        if p.is_pointer:
            values[p.name] = np.zeros(1, wide) if p.target in ("int", "int64_t") else array(p, draw)
        else:
            values[p.name] = chosen.get(p.name, SIZES.get(p.name, SIDE))
    if routine.startswith(("tb", "tp")):  # diagonals of a band or a packed matrix
        strengthen(values, routine, chosen)
    pointers = {p.name: p for p in row.takes if p.is_pointer}
    numbers = {name: (value[0] if name != "param" and pointers[name].role == "scalar" else value)
               if name in pointers else value for name, value in values.items()}  # fmt: skip
    wanted = FUNCTIONS[routine](Case(numbers))
    given = [client.on_device(values[p.name]) if p.is_pointer and p.role != "scalar" and not host else values[p.name]
             for p in row.takes[1:]]  # fmt: skip
    status = client.call(row.symbol, handle, *given)
    client.check(f"{row.symbol} {chosen}: status {status}", status == 0)
    for p, one in zip(row.takes[1:], given, strict=True):
        if p.is_pointer and not p.type.startswith("const"):
            found = one if isinstance(one, np.ndarray) else one.now()
            expected = np.asarray(wanted.get(p.name, values[p.name]))
            single = found.dtype in (np.float32, np.complex64)
            good = np.allclose(
                found, expected.reshape(found.shape), rtol=2e-4 if single else 1e-12, atol=1e-5 if single else 1e-13
            )
            client.check(f"{row.symbol} {chosen}: {p.name}", good)


def strengthen(values: dict[str, Any], routine: str, chosen: dict[str, int]) -> None:
    n, lower = values["n"], chosen["uplo"] == 0
    if routine.startswith("tb"):
        values["A"][0 if lower else values["k"], :] = 2
        return
    at = 0
    for j in range(n):
        at += 0 if lower else j
        values["AP"][at] = 2
        at += n - j if lower else 1
