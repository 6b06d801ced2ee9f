"""Events."""

from ptx2amd.api.hip.row import Function

ROWS = [
    Function("hipEventCreate", 402, "hipEvent_t *event"),
    Function("hipEventCreateWithFlags", 402, "hipEvent_t *event, unsigned flags", shim=True),
    Function("hipEventRecord", 402, "hipEvent_t event, hipStream_t stream", shim=True),
    Function("hipEventRecordWithFlags", 604, "hipEvent_t event, hipStream_t stream, unsigned flags"),
    Function("hipEventQuery", 402, "hipEvent_t event", shim=True),
    Function("hipEventSynchronize", 402, "hipEvent_t event", shim=True),
    Function("hipEventElapsedTime", 402, "float *ms, hipEvent_t start, hipEvent_t stop", shim=True),
    Function("hipEventDestroy", 402, "hipEvent_t event", shim=True),
]
