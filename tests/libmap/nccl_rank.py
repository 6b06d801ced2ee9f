"""One rank of several processes: `nccl_rank.py LIBCUDA LIBRARY`. RANK, LOCAL_RANK, WORLD_SIZE, MASTER_ADDR and
MASTER_PORT are as torchrun sets them; mpirun has variables of its own for the first three. Rank 0 hands the unique id
to the others over TCP. Each prints whether the results of collectives, sends and receives are right."""

from __future__ import annotations

import os
import socket
import time

import numpy as np

from ptx2amd.api import nccl
from tests.libmap.client import Array, Client
from tests.libmap.ranks import SUM, Ranks

DOUBLE = 8
PATIENCE = 120  # seconds until rank 0 listens


def number(own: str, of_mpirun: str) -> int:
    return int(os.environ.get(own) or os.environ[f"OMPI_COMM_WORLD_{of_mpirun}"])


def exchanged(rank: int, count: int, mine: bytes) -> bytes:
    """The bytes of rank 0, on all ranks."""
    place = (os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"]))
    if rank == 0:
        with socket.create_server(place) as server:
            for _ in range(count - 1):
                with server.accept()[0] as other:
                    other.sendall(mine)
        return mine
    end = time.monotonic() + PATIENCE
    while True:
        try:
            with socket.create_connection(place) as to, to.makefile("rb") as stream:
                return stream.read(len(mine))
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.1)


def main() -> None:
    rank, count = number("RANK", "RANK"), number("WORLD_SIZE", "SIZE")
    gpu = number("LOCAL_RANK", "LOCAL_RANK")
    client = Client(nccl.MAPPED)
    ranks, ffi = Ranks(client), client.ffi
    unique, made = ffi.new("ncclUniqueId *"), ffi.new("ncclComm_t *")
    if rank == 0:
        ranks.call("GetUniqueId", unique)
    ffi.buffer(unique)[:] = exchanged(rank, count, bytes(ffi.buffer(unique)))
    ranks.use(gpu)
    ranks.call("CommInitRank", made, count, unique[0], rank)
    where = (made[0], ranks.streams[gpu])
    for size in (1, 5000, 1 << 16):
        every = [np.arange(size * count) * (other + 1.0) for other in range(count)]
        sums = sum(every[1:], every[0])

        def check(name: str, sent: Array, given: tuple[object, ...], expected: Array, size: int = size) -> None:
            held, got = ranks.on(gpu, sent), ranks.on(gpu, np.zeros_like(expected))
            ranks.call(name, held, got, size, DOUBLE, *given, *where)
            assert not client.cuda.cuStreamSynchronize(where[1])
            ranks.same(f"{name} {size}", got.now(), expected)

        mine = every[rank][:size]
        check("AllReduce", mine, (SUM,), sums[:size])
        check("AllGather", mine, (), np.concatenate([one[:size] for one in every]))
        check("Broadcast", mine, (count - 1,), every[-1][:size])
        check("ReduceScatter", every[rank], (SUM,), sums[rank * size : (rank + 1) * size])
        held, got = ranks.on(gpu, mine), ranks.on(gpu, np.zeros(size))
        with ranks.group():
            ranks.call("Send", held, size, DOUBLE, (rank + 1) % count, *where)
            ranks.call("Recv", got, size, DOUBLE, (rank - 1) % count, *where)
        assert not client.cuda.cuStreamSynchronize(where[1])
        ranks.same(f"received {size}", got.now(), every[rank - 1][:size])
    ranks.call("CommDestroy", made[0])
    client.report()


if __name__ == "__main__":
    main()
