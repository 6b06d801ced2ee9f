"""NCCL as data: libnccl over AMD's RCCL, which has NCCL's functions, numbers and structures."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ptx2amd.api.mapped import Mapped
from ptx2amd.api.spec import Api, Found, Function, Types
from ptx2amd.libraries import NCCL

TYPES = Types(
    handles=("cudaStream_t",),
    enums=("ncclResult_t", "ncclDataType_t", "ncclRedOp_t", "ncclScalarResidence_t"),
    opaque=("ncclConfig_t", "ncclSimInfo_t"),
    structs=(
        "typedef struct ncclComm *ncclComm_t;\n"
        "typedef struct ncclWindow *ncclWindow_t;\n"
        "typedef struct ncclUniqueId { char internal[128]; } ncclUniqueId;\n"
    ),
    same={"cudaStream_t": "CUstream", "ncclResult_t": "ncclResult_t", "ncclUniqueId": "ncclUniqueId"},
)

API = Api(
    name="nccl",
    status="ncclResult_t",
    header="nccl_stream.h",
    null="ncclInvalidArgument",
    beneath=(r"\bnccl(\w+)\(", r"nccl.\1("),
    result="!libmap_ready() ? ncclSystemError : nccl_status({})",
    success="ncclSuccess",
    types=TYPES,
    found={
        "cudaStream_t": Found("nccl_stream", "hipStream_t ", "ncclInvalidArgument"),
        "ncclComm_t": Found("nccl_comm", "ncclComm_t ", "ncclInvalidArgument"),
    },
    refusal='libmap_refuse(&said, "{}", ncclInvalidUsage)',
)

_COMM, _STREAM, _CONFIG = "ncclComm_t comm", "ncclComm_t comm, cudaStream_t stream", "ncclConfig_t *config"
_BOTH, _DATA, _OP = "const void *sendbuff, void *recvbuff", "size_t count, ncclDataType_t datatype", "ncclRedOp_t op"

_END = "struct ncclComm *comm"  # which may be null

#: Name without the prefix, parameters; RCCL's function is called with these. Where it has another name: `_RENAMED`.
_CALLS = {
    "CommInitRank": "out ncclComm_t *comm, int nranks, ncclUniqueId commId, int rank",
    "CommInitRankConfig": f"out ncclComm_t *comm, int nranks, ncclUniqueId commId, int rank, {_CONFIG}",
    "CommInitRankScalable":
        f"out ncclComm_t *newcomm, int nranks, int myrank, int nId, ncclUniqueId *commIds, {_CONFIG}",
    "CommInitAll": "out ncclComm_t *comm, int ndev, const int *devlist",
    "CommFinalize": _END,
    "CommDestroy": _END,
    "CommAbort": _END,
    "CommSplit": f"{_COMM}, int color, int key, out ncclComm_t *newcomm, {_CONFIG}",
    "CommShrink": f"{_COMM}, int *excludeRanksList, int excludeRanksCount, out ncclComm_t *newcomm, {_CONFIG}, "
        "int shrinkFlags",
    "CommGetAsyncError": f"{_COMM}, out ncclResult_t *asyncError",
    "CommCount": "const ncclComm_t comm, out int *count",
    "CommCuDevice": "const ncclComm_t comm, out int *device",
    "CommUserRank": "const ncclComm_t comm, out int *rank",
    "CommRegister": "const ncclComm_t comm, void *buff, size_t size, out void **handle",
    "CommDeregister": "const ncclComm_t comm, void *handle",
    "CommWindowRegister": f"{_COMM}, void *buff, size_t size, out ncclWindow_t *win, int winFlags",
    "CommWindowDeregister": f"{_COMM}, ncclWindow_t win",
    "GetUniqueId": "out ncclUniqueId *uniqueId",
    "GetVersion": "out int *version",
    "GroupStart": "void",
    "GroupEnd": "void",
    "GroupSimulateEnd": "ncclSimInfo_t *simInfo",
    "RedOpCreatePreMulSum":
        f"out ncclRedOp_t *op, void *scalar, ncclDataType_t datatype, ncclScalarResidence_t residence, {_COMM}",
    "RedOpDestroy": f"{_OP}, {_COMM}",
    "Reduce": f"{_BOTH}, {_DATA}, {_OP}, int root, {_STREAM}",
    "Bcast": f"void *buff, {_DATA}, int root, {_STREAM}",
    "Broadcast": f"{_BOTH}, {_DATA}, int root, {_STREAM}",
    "AllReduce": f"{_BOTH}, {_DATA}, {_OP}, {_STREAM}",
    "ReduceScatter": f"{_BOTH}, {_DATA}, {_OP}, {_STREAM}".replace("count", "recvcount"),
    "AllGather": f"{_BOTH}, {_DATA}, {_STREAM}".replace("count", "sendcount"),
    "AlltoAll": f"{_BOTH}, {_DATA}, {_STREAM}",
    "Gather": f"{_BOTH}, {_DATA}, int root, {_STREAM}",
    "Scatter": f"{_BOTH}, {_DATA}, int root, {_STREAM}",
    "Send": f"const void *sendbuff, {_DATA}, int peer, {_STREAM}",
    "Recv": f"void *recvbuff, {_DATA}, int peer, {_STREAM}",
}  # fmt: skip
_RENAMED = {"AlltoAll": "AllToAll"}
_COMPUTES = ("Reduce", "AllReduce", "ReduceScatter", "RedOpCreatePreMulSum")
#: Functions of C by hand: what they return if that is no status, and parameters.
_OURS = {
    "MemAlloc": ("", "void **ptr, size_t size"),
    "MemFree": ("", "void *ptr"),
    "GetErrorString": ("const char *", "ncclResult_t result"),
    "GetLastError": ("const char *", _COMM),
    "ResetDebugInit": ("void", "void"),
}


def _rows() -> Iterator[Function]:
    """Each function is there as pncclNAME, which does it, and as ncclNAME, which calls that: tools put functions of
    their own in the latter's place."""
    for name, text in _CALLS.items():
        unless = "!nccl_computes(datatype, comm): ncclInvalidUsage" if name in _COMPUTES else ""
        yield Function(f"pnccl{name}", 0, text, call=f"nccl{_RENAMED.get(name, name)}", unless=unless)
    for name, (returns, text) in _OURS.items():
        yield Function(f"pnccl{name}", 0, text, ours=True, returns=returns)
    for name, (returns, text) in ({name: ("", text) for name, text in _CALLS.items()} | _OURS).items():
        work = Function(f"pnccl{name}", 0, text)
        yield Function(f"nccl{name}", 0, text, c=f"{work.symbol}({work.arguments})", returns=returns)
    for name in Path(__file__).with_name("absent.txt").read_text().split():
        yield Function(f"nccl{name}", 0, "void")
        yield Function(f"pnccl{name}", 0, "void")


_RESULTS = (
    "ncclSuccess", "ncclUnhandledCudaError", "ncclSystemError", "ncclInternalError", "ncclInvalidArgument",
    "ncclInvalidUsage", "ncclRemoteError", "ncclInProgress",
)  # fmt: skip

MAPPED = Mapped(
    library=NCCL,
    api=API,
    rows=tuple(_rows()),
    prefix="nccl",
    status="ncclResult_t",
    statuses={name: name for name in _RESULTS},
    otherwise="ncclInternalError",
    missing="ncclInvalidUsage",
    names={"cudaStream_t": "hipStream_t"},
    same_names=True,
    called=(
        Function("ncclGetErrorString", 0, "ncclResult_t result", returns="const char *"),
        Function("ncclGetLastError", 0, _COMM, returns="const char *"),
        Function("ncclResetDebugInit", 0, "void", returns="void"),
    ),
)
