"""Calls of libnccl (client.py), on all GPUs that there are: one process has all ranks."""

from __future__ import annotations

import sys

from ptx2amd.api import nccl
from tests.libmap import nccl_collectives, nccl_state
from tests.libmap.client import Client
from tests.libmap.ranks import Ranks


def main() -> None:
    client = Client(nccl.MAPPED)
    ranks = Ranks(client)
    alone = client.ffi.new("ncclComm_t *")
    ranks.call("CommInitAll", alone, 1, client.ffi.NULL)
    ranks.call("CommDestroy", alone[0])
    ranks.call("CommInitAll", ranks.comms, ranks.count, client.ffi.NULL)
    if client.wrong:
        sys.exit(f"no communicators: {client.wrong}")
    nccl_state.run(ranks)
    nccl_collectives.run(ranks)
    nccl_state.destroy(ranks, ranks.comms)
    client.report()


if __name__ == "__main__":
    main()
