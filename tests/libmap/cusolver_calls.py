"""Calls of libcusolver, compared with numpy (client.py); further arguments: which parts of them."""

from __future__ import annotations

import sys

from ptx2amd.api import cusolver
from tests.libmap.client import Client
from tests.libmap.cusolver_dense_host import DenseHost
from tests.libmap.cusolver_eigen import Eigen
from tests.libmap.cusolver_factors import Factors
from tests.libmap.cusolver_generic import Generic
from tests.libmap.cusolver_lu import Factored
from tests.libmap.cusolver_orthogonal import Orthogonal
from tests.libmap.cusolver_refactor import Refactor
from tests.libmap.cusolver_reorder import Reorder
from tests.libmap.cusolver_singular import Singular
from tests.libmap.cusolver_sparse import Sparse
from tests.libmap.cusolver_sparse_eigen import Spectrum
from tests.libmap.cusolver_state import State
from tests.libmap.cusolver_steps import Steps

PARTS = (
    State,
    Generic,
    Factors,
    Orthogonal,
    Eigen,
    Singular,
    Sparse,
    Steps,
    Factored,
    Spectrum,
    Reorder,
    Refactor,
    DenseHost,
)


def main() -> None:
    client = Client(cusolver.MAPPED)
    handle = client.ffi.new("cusolverDnHandle_t *")
    client.check("create", client.call("cusolverDnCreate", handle) == 0)
    for part in [p for p in PARTS if not sys.argv[3:] or p.__name__ in sys.argv[3:]]:
        part(client, handle[0]).check_all()
    client.check("end", client.library.cusolverDnDestroy(handle[0]) == 0)
    client.report()


if __name__ == "__main__":
    main()
