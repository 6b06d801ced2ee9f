"""Calls of libcusparse, compared with numpy (client.py)."""

from __future__ import annotations

from ptx2amd.api import cusparse
from tests.libmap.client import Client
from tests.libmap.cusparse_conversions import Conversions
from tests.libmap.cusparse_ell import BlockedEll
from tests.libmap.cusparse_generic import Generic
from tests.libmap.cusparse_products import Products
from tests.libmap.cusparse_solvers import Solvers
from tests.libmap.cusparse_state import State
from tests.libmap.cusparse_updates import Updates


def main() -> None:
    client = Client(cusparse.MAPPED)
    handle = client.ffi.new("cusparseHandle_t *")
    client.check("create", client.call("cusparseCreate", handle) == 0)
    for part in (State, Generic, Products, Solvers, Conversions, BlockedEll, Updates):
        part(client, handle[0]).check_all()
    client.check("end", client.library.cusparseDestroy(handle[0]) == 0)
    client.report()


if __name__ == "__main__":
    main()
