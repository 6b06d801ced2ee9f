"""Nodes of graphs."""

from ptx2amd.api.hip.row import REFUSED, Function

ROWS = [
    Function("hipGraphAddKernelNode", 403,
        "hipGraphNode_t *node, hipGraph_t graph, const hipGraphNode_t *dependencies, size_t count, const "
        "hipKernelNodeParams *params", shim=True),
    Function("hipGraphAddMemcpyNode", 403,
        "hipGraphNode_t *node, hipGraph_t graph, const hipGraphNode_t *dependencies, size_t count, const "
        "hipMemcpy3DParms *params", shim=True),
    Function("hipGraphAddMemcpyNode1D", 403,
        "hipGraphNode_t *node, hipGraph_t graph, const hipGraphNode_t *dependencies, size_t count, void *dst, "
        "const void *src, size_t size, hipMemcpyKind kind"),
    Function("hipDrvGraphAddMemcpyNode", 600,
        "hipGraphNode_t *node, hipGraph_t graph, const hipGraphNode_t *dependencies, size_t count, const "
        "HIP_MEMCPY3D *params, hipCtx_t ctx", node="5.6", before="hipGraphAddMemcpyNode", shim=True),
    Function("hipGraphAddMemsetNode", 403,
        "hipGraphNode_t *node, hipGraph_t graph, const hipGraphNode_t *dependencies, size_t count, const "
        "hipMemsetParams *params", shim=True),
    Function("hipDrvGraphAddMemsetNode", 600,
        "hipGraphNode_t *node, hipGraph_t graph, const hipGraphNode_t *dependencies, size_t count, const "
        "hipMemsetParams *params, hipCtx_t ctx", node="5.6"),
    Function("hipGraphAddHostNode", 405,
        "hipGraphNode_t *node, hipGraph_t graph, const hipGraphNode_t *dependencies, size_t count, const "
        "hipHostNodeParams *params", shim=True),
    Function("hipGraphAddEmptyNode", 404,
        "hipGraphNode_t *node, hipGraph_t graph, const hipGraphNode_t *dependencies, size_t count", shim=True),
    Function("hipGraphAddChildGraphNode", 405,
        "hipGraphNode_t *node, hipGraph_t graph, const hipGraphNode_t *dependencies, size_t count, hipGraph_t "
        "child", shim=True),
    Function("hipGraphAddEventRecordNode", 405,
        "hipGraphNode_t *node, hipGraph_t graph, const hipGraphNode_t *dependencies, size_t count, hipEvent_t "
        "event", shim=True),
    Function("hipGraphAddEventWaitNode", 405,
        "hipGraphNode_t *node, hipGraph_t graph, const hipGraphNode_t *dependencies, size_t count, hipEvent_t "
        "event", shim=True),
    Function("hipGraphEventRecordNodeGetEvent", 405, "hipGraphNode_t node, hipEvent_t *event", shim=True),
    Function("hipGraphEventRecordNodeSetEvent", 405, "hipGraphNode_t node, hipEvent_t event", shim=True),
    Function("hipGraphEventWaitNodeGetEvent", 405, "hipGraphNode_t node, hipEvent_t *event", shim=True),
    Function("hipGraphEventWaitNodeSetEvent", 405, "hipGraphNode_t node, hipEvent_t event", shim=True),
    Function("hipGraphAddMemAllocNode", 505,
        "hipGraphNode_t *node, hipGraph_t graph, const hipGraphNode_t *dependencies, size_t count, "
        "hipMemAllocNodeParams *params", before=REFUSED, shim=True),
    Function("hipGraphMemAllocNodeGetParams", 505,
        "hipGraphNode_t node, hipMemAllocNodeParams *params", before=REFUSED, shim=True),
    Function("hipGraphAddMemFreeNode", 505,
        "hipGraphNode_t *node, hipGraph_t graph, const hipGraphNode_t *dependencies, size_t count, void *ptr",
        before=REFUSED, shim=True),
    Function("hipGraphMemFreeNodeGetParams", 505, "hipGraphNode_t node, void *ptr", before=REFUSED, shim=True),
    Function("hipGraphAddBatchMemOpNode", 604,
        "hipGraphNode_t *node, hipGraph_t graph, const hipGraphNode_t *dependencies, size_t count, const "
        "hipBatchMemOpNodeParams *params", before=REFUSED, shim=True),
    Function("hipGraphBatchMemOpNodeGetParams", 604,
        "hipGraphNode_t node, hipBatchMemOpNodeParams *params", before=REFUSED, shim=True),
    Function("hipGraphBatchMemOpNodeSetParams", 604,
        "hipGraphNode_t node, hipBatchMemOpNodeParams *params", before=REFUSED, shim=True),
    Function("hipGraphAddExternalSemaphoresSignalNode", 700,
        "hipGraphNode_t *node, hipGraph_t graph, const hipGraphNode_t *dependencies, size_t count, const "
        "hipExternalSemaphoreSignalNodeParams *params", node="5.3", before=REFUSED, shim=True),
    Function("hipGraphExternalSemaphoresSignalNodeGetParams", 700,
        "hipGraphNode_t node, hipExternalSemaphoreSignalNodeParams *params", node="5.3", before=REFUSED, shim=True),
    Function("hipGraphExternalSemaphoresSignalNodeSetParams", 700,
        "hipGraphNode_t node, const hipExternalSemaphoreSignalNodeParams *params",
        node="5.3", before=REFUSED, shim=True),
    Function("hipGraphAddExternalSemaphoresWaitNode", 700,
        "hipGraphNode_t *node, hipGraph_t graph, const hipGraphNode_t *dependencies, size_t count, const "
        "hipExternalSemaphoreWaitNodeParams *params", node="5.3", before=REFUSED, shim=True),
    Function("hipGraphExternalSemaphoresWaitNodeGetParams", 700,
        "hipGraphNode_t node, hipExternalSemaphoreWaitNodeParams *params", node="5.3", before=REFUSED, shim=True),
    Function("hipGraphExternalSemaphoresWaitNodeSetParams", 700,
        "hipGraphNode_t node, const hipExternalSemaphoreWaitNodeParams *params",
        node="5.3", before=REFUSED, shim=True),
    Function("hipGraphKernelNodeGetParams", 404, "hipGraphNode_t node, hipKernelNodeParams *params", shim=True),
    Function("hipGraphKernelNodeSetParams", 404, "hipGraphNode_t node, const hipKernelNodeParams *params", shim=True),
    Function("hipGraphMemsetNodeGetParams", 404, "hipGraphNode_t node, hipMemsetParams *params", shim=True),
    Function("hipGraphMemsetNodeSetParams", 404, "hipGraphNode_t node, const hipMemsetParams *params", shim=True),
    Function("hipGraphHostNodeGetParams", 405, "hipGraphNode_t node, hipHostNodeParams *params", shim=True),
    Function("hipGraphHostNodeSetParams", 405, "hipGraphNode_t node, const hipHostNodeParams *params", shim=True),
    Function("hipDrvGraphMemcpyNodeGetParams", 604,
        "hipGraphNode_t node, HIP_MEMCPY3D *params", node="6.0", before=REFUSED, shim=True),
    Function("hipDrvGraphMemcpyNodeSetParams", 604,
        "hipGraphNode_t node, const HIP_MEMCPY3D *params",
        node="6.0", before="hipGraphMemcpyNodeSetParams", shim=True),
    Function("hipGraphChildGraphNodeGetGraph", 405, "hipGraphNode_t node, hipGraph_t *graph", shim=True),
    Function("hipDrvGraphAddMemFreeNode", 602,
        "hipGraphNode_t *phGraphNode, hipGraph_t hGraph, const hipGraphNode_t *dependencies, size_t "
        "numDependencies, hipDeviceptr_t dptr", ours=False),
    Function("hipGraphAddMemcpyNodeFromSymbol", 405,
        "hipGraphNode_t *pGraphNode, hipGraph_t graph, const hipGraphNode_t *pDependencies, size_t "
        "numDependencies, void *dst, const void *symbol, size_t count, size_t offset, hipMemcpyKind kind",
        ours=False),
    Function("hipGraphAddMemcpyNodeToSymbol", 405,
        "hipGraphNode_t *pGraphNode, hipGraph_t graph, const hipGraphNode_t *pDependencies, size_t "
        "numDependencies, const void *symbol, const void *src, size_t count, size_t offset, hipMemcpyKind kind",
        ours=False),
    Function("hipGraphAddNode", 600,
        "hipGraphNode_t *pGraphNode, hipGraph_t graph, const hipGraphNode_t *pDependencies, size_t "
        "numDependencies, hipGraphNodeParams *nodeParams", node="5.5", ours=False),
    Function("hipGraphKernelNodeCopyAttributes", 503, "hipGraphNode_t hSrc, hipGraphNode_t hDst", ours=False),
    Function("hipGraphKernelNodeGetAttribute", 503,
        "hipGraphNode_t hNode, hipLaunchAttributeID attr, hipLaunchAttributeValue *value", node="5.0", ours=False),
    Function("hipGraphKernelNodeSetAttribute", 503,
        "hipGraphNode_t hNode, hipLaunchAttributeID attr, const hipLaunchAttributeValue *value",
        node="5.0", ours=False),
    Function("hipGraphMemcpyNodeGetParams", 404, "hipGraphNode_t node, hipMemcpy3DParms *pNodeParams", ours=False),
    Function("hipGraphMemcpyNodeSetParams", 404,
        "hipGraphNode_t node, const hipMemcpy3DParms *pNodeParams", shim=True, ours=False),
    Function("hipGraphMemcpyNodeSetParams1D", 405,
        "hipGraphNode_t node, void *dst, const void *src, size_t count, hipMemcpyKind kind", ours=False),
    Function("hipGraphMemcpyNodeSetParamsFromSymbol", 405,
        "hipGraphNode_t node, void *dst, const void *symbol, size_t count, size_t offset, hipMemcpyKind kind",
        ours=False),
    Function("hipGraphMemcpyNodeSetParamsToSymbol", 405,
        "hipGraphNode_t node, const void *symbol, const void *src, size_t count, size_t offset, hipMemcpyKind kind",
        ours=False),
]
