"""The generator's description of the driver API: types, codes, handles, contexts; and the generated files of
libcuda.so.1."""

from __future__ import annotations

from ptx2amd.api import bodies, entries, generate
from ptx2amd.api.driver import functions
from ptx2amd.api.driver.types import TYPES
from ptx2amd.api.spec import Api, Check, Found, Translated

_WRONG_VALUE, _WRONG_HANDLE = "CUDA_ERROR_INVALID_VALUE", "CUDA_ERROR_INVALID_HANDLE"

API = Api(
    name="cuda",
    status="CUresult",
    header="shim.h",
    null=_WRONG_VALUE,
    beneath=(r"\bhip([A-Z]\w+)\(", r"hip.\1("),
    result="with_children(from_hip({}))",
    types=TYPES,
    found={
        "CUstream": Found("stream_hip", "hipStream_t ", _WRONG_HANDLE),
        "CUevent": Found("event_hip", "hipEvent_t ", _WRONG_HANDLE),
    },
    casts={
        "CUarray *": "hipArray_t *",
        "CUdeviceptr": "hipDeviceptr_t",
        "CUdeviceptr *": "hipDeviceptr_t *",
        "CUhostFn": "hipHostFn_t",
        "CUmemGenericAllocationHandle": "hipMemGenericAllocationHandle_t",
        "CUmemGenericAllocationHandle *": "hipMemGenericAllocationHandle_t *",
        "CUmem_range_attribute *": "hipMemRangeAttribute *",
    },
    translated={  # graphs and nodes that were moved into others (graph_move.h)
        "CUgraph": Translated("handle_now", "graph_then"),
        "CUgraphNode": Translated("handle_now", "nodes_then", "nodes_now", "nodes_done"),
    },
    together={("CUgraphExec", "CUgraphNode"): Check("!graph_exec_part(&{}, &{})", _WRONG_VALUE)},
    range_fits="range_fits((uintptr_t){}, {}, {})",
    checks={
        "CUdevice": Check("!device_ok({})", "CUDA_ERROR_INVALID_DEVICE"),
        "CUstream": Check("!stream_hip({}, &(hipStream_t){{0}})", _WRONG_HANDLE),
    },
    stream="CUstream",
    own_stream={"_ptsz": "per_thread_stream({})"},
    refusal='refuse(&said, "{}")',
)

ENTRIES = entries.Entries(
    headers=("context.h", "entry.h", "graph_move.h", "live.h", "proc_table.h", "readers.h"),
    owners={
        "CUstream": "stream_owner",
        "CUfunction": "kernel_owner",
        "CUmodule": "module_owner",
        "CUcontext": "context_owner",
        "CUgreenCtx": "context_owner",
    },
    read=(
        "CUfunction", "CUkernel", "CUmodule", "CUlibrary", "CUgraphNode",
        "const CUDA_KERNEL_NODE_PARAMS *", "CUgraphNodeParams *", "CUDA_LAUNCH_PARAMS *",
    ),
    frees="Unload",
    addresses=("CUdeviceptr", "CUdeviceptr_v1"),
    known={
        "CUgraph": "graph_live", "CUgraphExec": "graph_exec_live", "CUmemoryPool": "pool_live",
        "CUmemGenericAllocationHandle": "allocation_live", "CUexternalMemory": "external_memory_live",
    },
    unknown=_WRONG_VALUE,
    results={
        "CUdeviceptr": "WORD",
        "size_t": "SIZE",
        "int": "INT",
        "unsigned int": "INT",
        "uint32_t": "INT",
        "unsigned long long": "SIZE",
        "cuuint64_t": "SIZE",
        "CUdevice": "INT",
        "float": "FLOAT",
    },
)  # fmt: skip


def texts() -> dict[str, str]:
    """The generated files: name -> text."""
    table = functions()
    # Inside the library, a function's name refers to its body; the exported symbol is its entry (entry.c).
    declared = generate.prototypes(API, table, "ptx2amd_{}")
    return {
        "cuda_types.h": generate.types_header("cuda_types.h", TYPES, '"hip_types.h"'),
        "cuda_api.h": generate.header("cuda_api.h", declared, ['"cuda_types.h"']),
        "entry.c": entries.source(API, ENTRIES, table, _procs()),
        "forward.c": bodies.forward(API, table),
        "variants.c": bodies.variants(API, table),
        "absent.c": bodies.absent(API, table),
        "refused.c": bodies.refused(API, table),
    }


def cdef() -> str:
    """cffi declarations of the whole API, for the tests."""
    return TYPES.declarations() + generate.prototypes(API, functions())


def _procs() -> str:
    """The functions that cuGetProcAddress finds: (name, since, per-thread stream, symbol), sorted."""
    found = []
    for row in functions():
        found += [(name, since, 0, row.symbol) for name, since in ((row.name, row.since), *row.also)]
        found += [(row.name, since, 1, row.symbol + suffix) for suffix, since in row.variants()]
    lines = [f'  {{"{name}", {since}, {own}, (void *){symbol}}},\n' for name, since, own, symbol in sorted(found)]
    return (
        f"const struct proc proc_table[] = {{\n{''.join(lines)}}};\n"
        "const int proc_count = sizeof proc_table / sizeof *proc_table;\n"
    )
