"""What a function of BLAS does not read may be NaN: the other triangle, a unit diagonal, the gaps of vectors and the
rest of matrices' arrays, and for beta = 0 the result's old values. A NaN that it reads makes all that depends on it
NaN."""

from __future__ import annotations

import os
import re
from typing import Any

import numpy as np

from ptx2amd.api import cublas
from ptx2amd.api.cublas import products
from ptx2amd.api.spec import Function
from tests.libmap.blas import FUNCTIONS, Case
from tests.libmap.client import Array, Client
from tests.libmap.cublas_blas import CHOICES, NUMBER, SIDE, SIZES, array, options, strengthen

#: Functions that find a place in a vector; of several NaN, the documentation does not say which.
PLACES = {"amax", "amin"}


def check_all(client: Client, handle: Any) -> None:
    draw = np.random.default_rng(6)
    for row in products.ROWS:
        name = re.sub(r"_64$", "", row.call).removeprefix("rocblas_")
        routine = next((name[cut:] for cut in (1, 2) if name[cut:] in FUNCTIONS), "")
        kinds = sorted({p.target.removeprefix("const ") for p in row.takes if p.is_pointer} & NUMBER.keys())
        if routine and set(kinds) <= {"float", "cuComplex"} and kinds and not row.symbol.endswith("_64"):
            every = list(options(row, routine, kinds))
            for chosen in every:
                check_unread(client, handle, row, routine, given(row, routine, chosen, draw))
            if routine not in PLACES:
                check_read(client, handle, row, routine, given(row, routine, every[0], draw))


def given(row: Function, routine: str, chosen: dict[str, int], draw: np.random.Generator) -> dict[str, Any]:
    """Arguments by name."""
    values: dict[str, Any] = {}
    for p in row.takes[1:]:
        if p.is_pointer:
            values[p.name] = np.zeros(1, np.int32) if p.target in ("int", "int64_t") else array(p, draw)
        else:
            values[p.name] = chosen.get(p.name, SIZES.get(p.name, SIDE))
    if routine.startswith(("tb", "tp")):
        strengthen(values, routine, chosen)
    return values


def computed(routine: str, row: Function, values: dict[str, Any]) -> dict[str, Array]:
    pointers = {p.name: p for p in row.takes if p.is_pointer}
    numbers = {
        name: value[0] if name in pointers and name != "param" and pointers[name].role == "scalar" else value
        for name, value in values.items()
    }
    return {name: np.asarray(one) for name, one in FUNCTIONS[routine](Case(numbers)).items()}


def unread(routine: str, row: Function, values: dict[str, Any], name: str) -> Array:
    """Of an array, the elements on which no other element of a result depends."""
    base, out = computed(routine, row, values), np.zeros(values[name].shape, bool)
    for at in np.ndindex(out.shape):
        changed = values[name].copy()
        changed[at] += 1
        now = computed(routine, row, {**values, name: changed})
        if name in base:
            now[name][at] = base[name][at]
        out[at] = all(np.array_equal(now[one], base[one]) for one in base)
    return out


def called(client: Client, handle: Any, row: Function, values: dict[str, Any], what: str) -> dict[str, Array]:
    """The arrays after the call."""
    on = {p.name: client.on_device(values[p.name]) for p in row.takes[1:] if p.is_pointer and p.role != "scalar"}
    status = client.call(row.symbol, handle, *(on.get(p.name, values[p.name]) for p in row.takes[1:]))
    client.check(f"{row.symbol}, {what}: status {status}", status == 0)
    return {name: one.now() for name, one in on.items()} | {
        p.name: values[p.name] for p in row.takes[1:] if p.is_pointer and p.role == "scalar"
    }


def check_unread(client: Client, handle: Any, row: Function, routine: str, values: dict[str, Any]) -> None:
    arrays = [p.name for p in row.takes[1:] if p.is_pointer and p.role != "scalar"]
    outputs = [p.name for p in row.takes[1:] if p.name in arrays and not p.type.startswith("const")]
    if "beta" in values and routine != "geam":
        values["beta"] = np.zeros_like(values["beta"])
    wanted, poisoned = computed(routine, row, values), dict(values)
    for name in arrays:
        hidden = unread(routine, row, values, name)
        if name in outputs:  # an element that is only copied, or replaced, but not one that a result adds to
            old = wanted.get(name, values[name])
            moved = values[name] + 1
            shifted = computed(routine, row, {**values, name: moved}).get(name, moved)
            hidden &= (shifted == old) | (shifted == old + 1) & (old == values[name])
        poisoned[name] = np.where(hidden, np.nan, values[name]).astype(values[name].dtype, order="F")
    what = f"{[values[name] for name in CHOICES if name in values]}, NaN where it does not read"
    found = called(client, handle, row, poisoned, what)
    for name in outputs:
        expected = wanted.get(name, values[name])
        kept = np.isnan(poisoned[name]) & (expected == values[name])  # outside of the result
        good = (
            np.allclose(found[name][~kept], expected[~kept], rtol=2e-4, atol=1e-5) and np.isnan(found[name][kept]).all()
        )
        client.check(f"{row.symbol} {what}: {name}", good)


def check_read(client: Client, handle: Any, row: Function, routine: str, values: dict[str, Any]) -> None:
    """A NaN in each array that is read."""
    base = computed(routine, row, values)
    for name in (p.name for p in row.takes[1:] if p.is_pointer and p.role != "scalar"):
        read = np.argwhere(~unread(routine, row, values, name))
        if name == "result" or not len(read):
            continue
        place = tuple(read[0])
        changed = {**values, name: values[name].copy(order="F")}
        changed[name][place] += 1
        depends = {one: now != base[one] for one, now in computed(routine, row, changed).items()}
        changed[name][place] = np.nan
        found = called(client, handle, row, changed, f"NaN in {name}")
        for one, where in depends.items():
            client.check(
                f"{row.symbol}, NaN in {name}: {one}", np.isnan(found[one][where.reshape(found[one].shape)]).all()
            )


def main() -> None:
    os.environ["ROCBLAS_DEFAULT_ATOMICS_MODE"] = "1"  # as before ROCm 7.0
    client, mode = Client(cublas.MAPPED), np.full(1, 7, np.int32)
    handle = client.ffi.new("cublasHandle_t *")
    assert not client.call("cublasCreate_v2", handle)
    status = client.call("cublasGetAtomicsMode", handle[0], mode)
    client.check("sums are in a fixed order, unless a program asks for speed", status == 0 and mode[0] == 0)
    check_all(client, handle[0])
    client.report()


if __name__ == "__main__":
    main()
