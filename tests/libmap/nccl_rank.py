"""One rank of several processes: `nccl_rank.py LIBCUDA LIBRARY RANK COUNT FILE`; RANK: `mpi`: what mpirun says. Rank 0
writes the unique id to FILE. Each prints whether its sums, and what it received of the rank before, are right."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import numpy as np

from ptx2amd.api import nccl
from tests.libmap.client import Client
from tests.libmap.ranks import SUM, Ranks

DOUBLE = 8


def main() -> None:
    rank = int(os.environ["OMPI_COMM_WORLD_RANK"] if sys.argv[3] == "mpi" else sys.argv[3])
    count, file = int(sys.argv[4]), Path(sys.argv[5])
    client = Client(nccl.MAPPED)
    ranks, ffi = Ranks(client), client.ffi
    unique, made = ffi.new("ncclUniqueId *"), ffi.new("ncclComm_t *")
    if rank == 0:
        ranks.call("GetUniqueId", unique)
        part = file.with_suffix(".part")
        part.write_bytes(ffi.buffer(unique)[:])
        part.rename(file)
    while not file.exists():
        time.sleep(0.1)
    ffi.buffer(unique)[:] = file.read_bytes()
    ranks.use(rank)
    ranks.call("CommInitRank", made, count, unique[0], rank)
    stream = ranks.streams[rank]
    for size in (1, 5000, 1 << 18):
        mine = np.arange(size) * (rank + 1.0)
        held, got = ranks.on(rank, mine), ranks.on(rank, np.zeros(size))
        with ranks.group():
            ranks.call("Send", held, size, DOUBLE, (rank + 1) % count, made[0], stream)
            ranks.call("Recv", got, size, DOUBLE, (rank - 1) % count, made[0], stream)
        ranks.call("AllReduce", held, held, size, DOUBLE, SUM, made[0], stream)
        assert not client.cuda.cuStreamSynchronize(stream)
        ranks.same(f"sums {size}", held.now(), np.arange(size) * (count * (count + 1) / 2))
        ranks.same(f"received {size}", got.now(), np.arange(size) * ((rank - 1) % count + 1.0))
    ranks.call("CommDestroy", made[0])
    client.report()


if __name__ == "__main__":
    main()
