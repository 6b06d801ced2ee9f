"""cublasXt: every product by tiles that are smaller than its matrices, compared with blas.py; settings and errors."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from ptx2amd.api.cublas import xt
from tests.libmap.client import Client
from tests.libmap.cublas_blas import NUMBER, check, options

NOT_INITIALIZED, INVALID_VALUE, INTERNAL_ERROR = 1, 7, 14
PRODUCT = re.compile(r"cublasXt[SDCZ]((?:gemm|sy|he|sp|tr)\w*)")


def check_all(client: Client) -> None:
    handle = client.ffi.new("cublasXtHandle_t *")
    client.check("XtCreate", client.call("cublasXtCreate", handle) == 0)
    settings(client, handle[0])
    for block in (2, 4, 64):
        client.check("XtSetBlockDim", client.call("cublasXtSetBlockDim", handle[0], block) == 0)
        products(client, handle[0], host=block != 4)
    wrong(client, handle[0])
    client.check("XtDestroy", client.call("cublasXtDestroy", handle[0]) == 0)


def products(client: Client, handle: Any, host: bool) -> None:
    draw = np.random.default_rng(6)
    for row in xt.ROWS:
        if found := PRODUCT.match(row.symbol):
            kinds = {p.target for p in row.takes if p.is_pointer}
            for chosen in options(row, found[1], sorted(kinds & NUMBER.keys())):
                check(client, handle, row, found[1], chosen, draw, host)


def settings(client: Client, handle: Any) -> None:
    ffi, place = client.ffi, client.ffi.new("int *")
    one = np.ones(1, np.float32)
    gemm = ("cublasXtSgemm", handle, 0, 0, 1, 1, 1, one, one, 1, one, 1, one, one.copy(), 1)
    status = client.call("cublasXtGetBlockDim", handle, place)
    client.check(f"XtGetBlockDim: {place[0]}", status == 0 and place[0] == 1024)
    client.check("Xt without a device", client.call(*gemm) == NOT_INITIALIZED)
    device = ffi.new("int[1]", [0])
    client.check("XtDeviceSelect", client.call("cublasXtDeviceSelect", handle, 1, device) == 0)
    client.check("XtDeviceSelect again", client.call("cublasXtDeviceSelect", handle, 1, device) == 0)
    client.check("Xt with a device", client.call(*gemm) == 0)
    status = client.call("cublasXtGetNumBoards", 1, device, place)
    client.check("XtGetNumBoards", status == 0 and place[0] == 1)
    client.check("XtMaxBoards", client.call("cublasXtMaxBoards", place) == 0 and place[0] >= 1)
    for name, value in (("BlockDim", 128), ("PinningMemMode", 1), ("PinningMemMode", 0)):
        client.check(f"XtSet{name}", client.call(f"cublasXtSet{name}", handle, value) == 0)
        status = client.call(f"cublasXtGet{name}", handle, place)
        client.check(f"XtGet{name}: {place[0]}", status == 0 and place[0] == value)
    client.check("XtSetCpuRoutine", client.call("cublasXtSetCpuRoutine", handle, 0, 0, ffi.NULL) == 0)
    client.check("XtSetCpuRatio", client.call("cublasXtSetCpuRatio", handle, 0, 0, 0.5) == 0)


def wrong(client: Client, handle: Any) -> None:
    none, one = client.ffi.NULL, np.ones(1, np.float32)

    def answers(what: str, expected: int, name: str, *arguments: Any) -> None:
        status = client.call(f"cublasXt{name}", *arguments)
        client.check(f"Xt{name}, {what}: status {status}, not {expected}", status == expected)

    rest = (one, one, 1, one, 1, one, one.copy(), 1)
    answers("no handle", NOT_INITIALIZED, "Sgemm", none, 0, 0, 1, 1, 1, *rest)
    answers("no operation", INVALID_VALUE, "Sgemm", handle, 7, 0, 1, 1, 1, *rest)
    answers("short columns", INVALID_VALUE, "Sgemm", handle, 0, 0, 2, 1, 1, *rest)
    answers("nothing", 0, "Sgemm", handle, 0, 0, 0, 1, 1, *rest)
    answers("no triangle", INVALID_VALUE, "Ssyrk", handle, 9, 0, 1, 1, one, one, 1, one, one.copy(), 1)
    answers("no side", INVALID_VALUE, "Ssymm", handle, 9, 0, 1, 1, *rest)
    answers("no diagonal", INVALID_VALUE, "Strsm", handle, 0, 0, 0, 9, 1, 1, one, one, 1, one.copy(), 1)
    answers("no tiles", INVALID_VALUE, "SetBlockDim", handle, 0)
    answers("no such device", INTERNAL_ERROR, "DeviceSelect", handle, 1, client.ffi.new("int[1]", [99]))
    answers("a device twice", INVALID_VALUE, "DeviceSelect", handle, 2, client.ffi.new("int[2]"))
    answers("no such routine", INVALID_VALUE, "SetCpuRoutine", handle, 12, 0, none)
    answers("no place", INVALID_VALUE, "Create", none)
