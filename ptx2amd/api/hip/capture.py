"""Stream capture."""

from ptx2amd.api.hip.row import Function

ROWS = [
    Function("hipStreamBeginCapture", 403, "hipStream_t stream, hipStreamCaptureMode mode", shim=True),
    Function("hipStreamBeginCaptureToGraph", 602,
        "hipStream_t stream, hipGraph_t graph, const hipGraphNode_t *dependencies, const hipGraphEdgeData *edges, "
        "size_t count, hipStreamCaptureMode mode", node="6.1", before="what is captured becomes a child graph",
        shim=True),
    Function("hipStreamEndCapture", 403, "hipStream_t stream, hipGraph_t *graph", shim=True),
    Function("hipStreamIsCapturing", 403, "hipStream_t stream, hipStreamCaptureStatus *status", shim=True),
    Function("hipStreamGetCaptureInfo", 405,
        "hipStream_t stream, hipStreamCaptureStatus *status, unsigned long long *id"),
    Function("hipStreamGetCaptureInfo_v2", 405,
        "hipStream_t stream, hipStreamCaptureStatus *status, unsigned long long *id, hipGraph_t *graph, const "
        "hipGraphNode_t **dependencies, size_t *count", shim=True),
    Function("hipStreamUpdateCaptureDependencies", 405,
        "hipStream_t stream, hipGraphNode_t *dependencies, size_t count, unsigned flags", shim=True),
    Function("hipThreadExchangeStreamCaptureMode", 500, "hipStreamCaptureMode *mode", shim=True),
]
