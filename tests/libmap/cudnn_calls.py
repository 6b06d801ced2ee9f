"""Calls of libcudnn, compared with numpy (client.py); further arguments: which parts of them."""

from __future__ import annotations

import sys

from ptx2amd.api import cudnn
from tests.libmap.client import Client
from tests.libmap.cudnn_attention import Attention
from tests.libmap.cudnn_convolutions import Convolutions
from tests.libmap.cudnn_ctc import Ctc
from tests.libmap.cudnn_graphs import Graphs
from tests.libmap.cudnn_layers import Elementwise, Regions
from tests.libmap.cudnn_multihead import Multihead
from tests.libmap.cudnn_norms import Norms
from tests.libmap.cudnn_ragged import Ragged
from tests.libmap.cudnn_recurrent import Recurrent
from tests.libmap.cudnn_recurrent_first import First, FirstEx
from tests.libmap.cudnn_spatial import Spatial
from tests.libmap.cudnn_state import State

PARTS = (
    State,
    Elementwise,
    Regions,
    Norms,
    Convolutions,
    Graphs,
    Attention,
    Ragged,
    Ctc,
    Recurrent,
    First,
    FirstEx,
    Spatial,
    Multihead,
)


def main() -> None:
    client = Client(cudnn.MAPPED)
    handle = client.ffi.new("cudnnHandle_t *")
    client.check("create", client.call("cudnnCreate", handle) == 0)

    for part in [p for p in PARTS if not sys.argv[3:] or p.__name__ in sys.argv[3:]]:
        part(client, handle[0]).check_all()
    client.check("end", client.library.cudnnDestroy(handle[0]) == 0)
    client.report()


if __name__ == "__main__":
    main()
