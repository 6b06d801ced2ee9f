"""Calls of libcurand (client.py): moments of distributions, sequences that are defined, errors."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

from ptx2amd.api import curand
from ptx2amd.libraries import CURAND
from tests.libmap import curand_sequences
from tests.libmap.client import Client

TYPE_ERROR, OUT_OF_RANGE, LENGTH, INTERNAL, NOT_INITIALIZED = 103, 104, 105, 999, 101
PSEUDO = {"xorwow": 101, "mrg32k3a": 121, "mtgp32": 141, "philox": 161}
SOBOL = {32: (201, 202), 64: (203, 204)}
N = 20000

client = Client(curand.MAPPED)
ffi, library, check, call, Device = client.ffi, client.library, client.check, client.call, client.on_device


def generator(kind: int, host: bool = False) -> Any:
    handle = ffi.new("curandGenerator_t *")
    create = library.curandCreateGeneratorHost if host else library.curandCreateGenerator
    assert create(handle, kind) == 0, kind
    return handle[0]


def made(handle: Any, name: str, number: type, n: int, *rest: float, host: bool = False) -> np.ndarray[Any, Any]:
    """n numbers of a distribution, from the current place of the sequence."""
    out = np.zeros(n, number)
    target = out if host else Device(out)
    assert call(f"curandGenerate{name}", handle, target, n, *rest) == 0, name
    return out if host else target.now()


def restart(handle: Any, seed: int = 1234, offset: int | None = 0) -> None:
    check("seed", library.curandSetPseudoRandomGeneratorSeed(handle, seed) == 0)
    if offset is not None:
        check("offset", library.curandSetGeneratorOffset(handle, offset) == 0)


def near(what: str, found: float, expected: float, error: float) -> None:
    check(f"{what}: {found}, not {expected}", abs(found - expected) <= error)


def distributions(name: str, handle: Any, host: bool = False) -> None:
    """First and second moments, within 5 standard errors, and ranges."""
    fifth = 5 / np.sqrt(N)
    for ending, number in (("", np.float32), ("Double", np.float64)):
        u = made(handle, "Uniform" + ending, number, N, host=host)
        check(f"{name} Uniform{ending} in (0, 1]", u.min() > 0 and u.max() <= 1)
        near(f"{name} Uniform{ending} mean", u.mean(), 0.5, fifth * 0.29)
        near(f"{name} Uniform{ending} variance", u.var(), 1 / 12, fifth * 0.075)
        z = made(handle, "Normal" + ending, number, N, 3.0, 2.0, host=host)
        near(f"{name} Normal{ending} mean", z.mean(), 3, fifth * 2)
        near(f"{name} Normal{ending} deviation", z.std(), 2, fifth * 2)
        log = np.log(made(handle, "LogNormal" + ending, number, N, 0.5, 0.25, host=host))
        near(f"{name} LogNormal{ending} mean", log.mean(), 0.5, fifth * 0.25)
        near(f"{name} LogNormal{ending} deviation", log.std(), 0.25, fifth * 0.25)
    for rate in (3.5, 200.0):
        p = made(handle, "Poisson", np.uint32, N, rate, host=host)
        near(f"{name} Poisson mean", p.mean(), rate, fifth * rate**0.5)
        near(f"{name} Poisson variance", p.var(), rate, fifth * rate * 1.7)
    bits = made(handle, "", np.uint32, N, host=host)
    ones = np.unpackbits(bits.view(np.uint8)).reshape(N, 32).mean(axis=0)
    check(f"{name}: every bit is one half of the time", (abs(ones - 0.5) < fifth * 0.6).all())
    check(f"{name}: numbers differ", len(np.unique(bits)) > N * 0.99)


def sequences(name: str, kind: int) -> None:
    """The same seed gives the same numbers; offsets, other seeds and the host's generators."""
    handle = generator(kind)
    begin = None if kind == PSEUDO["mtgp32"] else 0  # which has no offset
    restart(handle, offset=begin)
    first = made(handle, "", np.uint32, N)
    following = made(handle, "", np.uint32, N)
    restart(handle, offset=begin)
    check(f"{name}: seeds anew", library.curandGenerateSeeds(handle) == 0)
    check(f"{name} again", np.array_equal(made(handle, "", np.uint32, N), first))
    check(f"{name} goes on", not np.array_equal(first, following))
    restart(handle, seed=99, offset=begin)
    check(f"{name}, another seed", not np.array_equal(made(handle, "", np.uint32, N), first))
    if begin is not None:
        restart(handle, offset=N)
        shifted = made(handle, "", np.uint32, N)
        check(f"{name} from an offset", np.array_equal(shifted, following))
    restart(handle, offset=begin)
    distributions(name, handle)
    check(f"{name} end", library.curandDestroyGenerator(handle) == 0)
    host = generator(kind, host=True)
    restart(host, offset=begin)
    check(f"{name} on the host", np.array_equal(made(host, "", np.uint32, N, host=True), first))
    check(f"{name} host end", library.curandDestroyGenerator(host) == 0)


def sobol() -> None:
    """The sequences of Sobol by the direction vectors that the library hands out: in Gray code order, one
    dimension behind the other; scrambled ones are others by one constant for each dimension."""
    dimensions, n = 5, 1000
    for bits, number, suffix in ((32, np.uint32, ""), (64, np.uint64, "LongLong")):
        for scrambled, kind in enumerate(SOBOL[bits]):
            vectors = ffi.new(f"curandDirectionVectors{bits}_t **")
            which = {32: 101, 64: 103}[bits] + scrambled
            check("vectors", getattr(library, f"curandGetDirectionVectors{bits}")(vectors, which) == 0)
            size = bits * bits // 8 * dimensions
            v = np.frombuffer(ffi.buffer(vectors[0], size), number).reshape(dimensions, bits)
            start = np.zeros(dimensions, number)
            constants = ffi.new("unsigned int **" if bits == 32 else "unsigned long long **")
            check("constants", getattr(library, f"curandGetScrambleConstants{bits}")(constants) == 0)
            check("which are some", constants[0][0] and constants[0][0] != constants[0][1])
            expected = np.zeros((dimensions, n), number)
            for dimension in range(dimensions):
                value = start[dimension]
                for i in range(n):
                    expected[dimension, i] = value
                    value ^= v[dimension, (~i & (i + 1)).bit_length() - 1]
            handle = generator(kind)
            check("dimensions", library.curandSetQuasiRandomGeneratorDimensions(handle, dimensions) == 0)
            found = made(handle, suffix, number, n * dimensions).reshape(dimensions, n)
            # rocRAND scrambles by constants of its own, not by those that it hands out.
            check(f"Sobol of {bits} bits, scrambled {scrambled}", np.array_equal(found ^ found[:, :1], expected))
            check("from 0 on", scrambled or not found[:, 0].any())
            odd = Device(np.zeros(n, number))
            check("not so many", call(f"curandGenerate{suffix}", handle, odd, n * dimensions - 1) == LENGTH)
            check("a seed", library.curandSetPseudoRandomGeneratorSeed(handle, 1) == TYPE_ERROR)
            check("end", library.curandDestroyGenerator(handle) == 0)


def refusals() -> None:
    handle, null = ffi.new("curandGenerator_t *"), ffi.NULL
    check("no such kind", library.curandCreateGenerator(handle, 100000) == TYPE_ERROR)
    check("the kind for tests", library.curandCreateGenerator(handle, 0) == TYPE_ERROR)
    check("no place", library.curandCreateGenerator(null, 101) == NOT_INITIALIZED)
    for name in ("curandDestroyGenerator", "curandGenerateSeeds"):
        check(f"{name} without a generator", getattr(library, name)(null) == NOT_INITIALIZED)
    for row in curand.ROWS:
        if row.symbol.startswith("curandGenerate") and row.works and row.takes[1:]:
            zeros = [null if parameter.is_pointer else 0 for parameter in row.takes[1:]]
            check(f"{row.symbol} without a generator", getattr(library, row.symbol)(null, *zeros) == NOT_INITIALIZED)
    check("a distribution for kernels", call("curandCreatePoissonDistribution", 1.0, ffi.new("void **")) == INTERNAL)
    check("none to end", library.curandDestroyDistribution(null) == INTERNAL)
    one = generator(161)
    odd = Device(np.zeros(8, np.float32))
    check("no such method", call("curandGeneratePoissonMethod", one, odd, 8, 1.0, 5) == INTERNAL)
    for order in (100, 101, 102, 103, 104):
        status = library.curandSetGeneratorOrdering(one, order)
        check(f"ordering {order}: {status}", status in (0, OUT_OF_RANGE))
    check("no such ordering", library.curandSetGeneratorOrdering(one, 7) == OUT_OF_RANGE)
    check("dimensions of a pseudo one", library.curandSetQuasiRandomGeneratorDimensions(one, 2) == TYPE_ERROR)
    stream = ffi.new("cudaStream_t *")
    assert not client.cuda.cuStreamCreate(stream, 1)
    check("stream", library.curandSetStream(one, stream[0]) == 0)
    out = Device(np.zeros(N, np.float32))
    check("in a stream", call("curandGenerateUniform", one, out, N) == 0)
    check("which ends", client.cuda.cuStreamSynchronize(stream[0]) == 0 and out.now().min() > 0)
    check("no stream", library.curandSetStream(one, ffi.cast("cudaStream_t", 4096)) == NOT_INITIALIZED)
    check("end", library.curandDestroyGenerator(one) == 0)
    value = ffi.new("int *")
    expected = CURAND.sonames[Path(sys.argv[2]).name]
    check("version", library.curandGetVersion(value) == 0 and value[0] == expected)
    check("major", library.curandGetProperty(0, value) == 0 and value[0] == expected // 1000)
    check("no property", library.curandGetProperty(7, value) == OUT_OF_RANGE)


def main() -> None:
    refusals()
    sobol()
    for name, kind in PSEUDO.items():
        sequences(name, kind)
    curand_sequences.check_all(client)
    client.report()


if __name__ == "__main__":
    main()
