"""Run by rocm_clients.py: RCCL's collectives in one process, `rccl_ops.py GPUS`. Numbers are whole: sums are exact."""

from __future__ import annotations

import ctypes as c
import sys
from collections.abc import Callable
from functools import partial

import cases
import numpy as np

HIP, RCCL = c.CDLL("libamdhip64.so.7"), c.CDLL("librccl.so.1")
GPUS, N = int(sys.argv[1]), 1000
COUNT, FLOAT, SUM, MAX, TO_DEVICE, TO_HOST = c.c_size_t(N), 7, 0, 2, 1, 2
VALUES = np.random.default_rng(0).integers(0, 1000, (GPUS, N)).astype(np.float32)


def call(library: c.CDLL, name: str, *arguments: object) -> None:
    if error := getattr(library, name)(*arguments):
        raise RuntimeError(f"{name}: error {error}")


def device(gpu: int, values: np.ndarray) -> c.c_void_p:
    pointer, size = c.c_void_p(), c.c_size_t(values.nbytes)
    call(HIP, "hipSetDevice", gpu)
    call(HIP, "hipMalloc", c.byref(pointer), size)
    call(HIP, "hipMemcpy", pointer, values.ctypes.data_as(c.c_void_p), size, TO_DEVICE)
    return pointer


def host(gpu: int, pointer: c.c_void_p, count: int) -> np.ndarray:
    values = np.empty(count, np.float32)
    call(HIP, "hipSetDevice", gpu)
    call(HIP, "hipStreamSynchronize", streams[gpu])
    call(HIP, "hipMemcpy", values.ctypes.data_as(c.c_void_p), pointer, c.c_size_t(values.nbytes), TO_HOST)
    return values


def check(start: Callable[..., None], wanted: Callable[[int], np.ndarray]) -> None:
    """start(gpu, from, to, communicator, stream) on all GPUs, as one group."""
    count = len(wanted(0))
    sources = [device(gpu, VALUES[gpu]) for gpu in range(GPUS)]
    targets = [device(gpu, np.full(count, -1, np.float32)) for gpu in range(GPUS)]
    call(RCCL, "ncclGroupStart")
    for gpu in range(GPUS):
        call(HIP, "hipSetDevice", gpu)
        start(gpu, sources[gpu], targets[gpu], c.c_void_p(communicators[gpu]), streams[gpu])
    call(RCCL, "ncclGroupEnd")
    for gpu in range(GPUS):
        np.testing.assert_array_equal(host(gpu, targets[gpu], count), wanted(gpu))


def to_neighbour(gpu: int, source: c.c_void_p, target: c.c_void_p, *where: object) -> None:
    call(RCCL, "ncclSend", source, COUNT, FLOAT, (gpu + 1) % GPUS, *where)
    call(RCCL, "ncclRecv", target, COUNT, FLOAT, (gpu - 1) % GPUS, *where)


def collective(name: str, *middle: object) -> Callable[..., None]:
    return lambda gpu, source, target, *where: call(RCCL, name, source, target, *middle, *where)


communicators, streams = (c.c_void_p * GPUS)(), [c.c_void_p() for _ in range(GPUS)]
call(RCCL, "ncclCommInitAll", communicators, GPUS, None)
for number, stream in enumerate(streams):
    call(HIP, "hipSetDevice", number)
    call(HIP, "hipStreamCreate", c.byref(stream))
PART = N // GPUS
CASES = {
    "all_reduce": (collective("ncclAllReduce", COUNT, FLOAT, SUM), lambda gpu: VALUES.sum(0)),
    "all_reduce, largest": (collective("ncclAllReduce", COUNT, FLOAT, MAX), lambda gpu: VALUES.max(0)),
    "broadcast": (collective("ncclBroadcast", COUNT, FLOAT, GPUS - 1), lambda gpu: VALUES[GPUS - 1]),
    "all_gather": (collective("ncclAllGather", COUNT, FLOAT), lambda gpu: VALUES.ravel()),
    "reduce_scatter": (
        collective("ncclReduceScatter", c.c_size_t(PART), FLOAT, SUM),
        lambda gpu: VALUES.sum(0)[gpu * PART : (gpu + 1) * PART],
    ),
    "send and receive": (to_neighbour, lambda gpu: VALUES[(gpu - 1) % GPUS]),
}
cases.run({name: partial(check, *case) for name, case in CASES.items()})
