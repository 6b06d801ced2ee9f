"""What AMD's headers of older HIP versions have otherwise than the table and include/hip_types.h, by version.

The comments say who minds it in libcuda. Besides, HIP 5 has other properties of devices (hipDeviceProp_t, which is
hipDeviceProp_tR0600 from HIP 6 on): device.c.
"""

from __future__ import annotations

#: Structures and numbers.
CHANGED: dict[int, set[str]] = {
    507: {
        "hipMemoryTypeHost", "hipMemoryTypeDevice", "hipMemoryTypeArray", "hipMemoryTypeManaged",
        "hipMemoryTypeUnified",                                     # copy.c, pointer.c
        "HIP_MEMCPY3D",                                             # for functions that HIP 5 does not have
        "hipExternalMemoryBufferDesc", "hipExternalMemoryHandleDesc",
        "hipExternalSemaphoreHandleDesc", "hipMemPoolProps",        # shorter: without what is reserved
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

#: Those whose parameters differ by const, or by the sign of an integer, up to 6.4.
_ALIKE = {"hipMemcpyHtoD", "hipMemcpyHtoDAsync", "hipCtxGetApiVersion"}
#: Functions whose parameters have other types.
SIGNATURES: dict[int, set[str]] = {
    502: _ALIKE,
    # hipKernelNodeAttrValue; not called
    507: _ALIKE | {"hipGraphKernelNodeGetAttribute", "hipGraphKernelNodeSetAttribute"},
    # another structure; not called
    604: _ALIKE | {"hipDrvGraphAddMemsetNode", "hipDrvGraphExecMemsetNodeSetParams"},
}
