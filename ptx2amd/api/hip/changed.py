"""Differences between AMD's headers of older HIP versions and the table with include/hip_types.h, by version.

The comments name the affected code in libcuda. HIP 5 also has different device properties (hipDeviceProp_t, called
hipDeviceProp_tR0600 since HIP 6): device.c.
"""

from __future__ import annotations

#: Structures and numbers.
CHANGED: dict[int, set[str]] = {
    507: {
        "hipMemoryTypeHost", "hipMemoryTypeDevice", "hipMemoryTypeArray", "hipMemoryTypeManaged",
        "hipMemoryTypeUnified",                                     # copy.c, pointer.c
        "HIP_MEMCPY3D",                                             # for functions that HIP 5 does not have
        "hipExternalMemoryBufferDesc", "hipExternalMemoryHandleDesc",
        "hipExternalSemaphoreHandleDesc", "hipMemPoolProps",        # shorter: without the reserved part
        "hipExternalSemaphoreSignalParams",
        "hipExternalSemaphoreWaitParams",                           # shorter: semaphore.c
    },
    604: {"hipLaunchAttributeValue"},                               # for a function that is not called
}  # fmt: skip
CHANGED[502] = CHANGED[507] - {"hipMemoryTypeManaged"} | {
    "hipGraphNodeTypeKernel", "hipGraphNodeTypeMemcpy", "hipGraphNodeTypeMemset", "hipGraphNodeTypeHost",
    "hipGraphNodeTypeGraph", "hipGraphNodeTypeEmpty", "hipGraphNodeTypeWaitEvent",
    "hipGraphNodeTypeEventRecord",                                  # graph.c
    "hipMemAllocationProp",                                         # functions taken from 5.3 (row.py, LAID_OUT)
}  # fmt: skip

#: Functions whose parameters differ in const or signedness, up to 6.4.
_ALIKE = {"hipMemcpyHtoD", "hipMemcpyHtoDAsync", "hipCtxGetApiVersion"}
#: Functions whose parameters have different types.
SIGNATURES: dict[int, set[str]] = {
    502: _ALIKE,
    # hipKernelNodeAttrValue; not called
    507: _ALIKE | {"hipGraphKernelNodeGetAttribute", "hipGraphKernelNodeSetAttribute"},
    # a different structure; not called
    604: _ALIKE | {"hipDrvGraphAddMemsetNode", "hipDrvGraphExecMemsetNodeSetParams"},
}
