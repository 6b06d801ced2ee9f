"""Contexts."""

from ptx2amd.api.hip.row import Function

ROWS = [
    Function("hipCtxCreate", 402, "hipCtx_t *ctx, unsigned flags, hipDevice_t device"),
    Function("hipCtxDestroy", 402, "hipCtx_t ctx"),
    Function("hipCtxPushCurrent", 402, "hipCtx_t ctx"),
    Function("hipCtxPopCurrent", 402, "hipCtx_t *ctx"),
    Function("hipCtxSetCurrent", 402, "hipCtx_t ctx"),
    Function("hipCtxGetCurrent", 402, "hipCtx_t *ctx", shim=True),
    Function("hipCtxGetDevice", 402, "hipDevice_t *device"),
    Function("hipCtxGetApiVersion", 402, "hipCtx_t ctx, unsigned *version"),
    Function("hipCtxGetCacheConfig", 402, "hipFuncCache_t *config"),
    Function("hipCtxSetCacheConfig", 402, "hipFuncCache_t config"),
    Function("hipCtxGetSharedMemConfig", 402, "hipSharedMemConfig *config"),
    Function("hipCtxSetSharedMemConfig", 402, "hipSharedMemConfig config"),
    Function("hipCtxSynchronize", 402, "void"),
    Function("hipCtxGetFlags", 402, "unsigned *flags"),
    Function("hipCtxEnablePeerAccess", 402, "hipCtx_t peer, unsigned flags"),
    Function("hipCtxDisablePeerAccess", 402, "hipCtx_t peer"),
    Function("hipDevicePrimaryCtxGetState", 402, "hipDevice_t device, unsigned *flags, int *active"),
    Function("hipDevicePrimaryCtxRetain", 402, "hipCtx_t *ctx, hipDevice_t device"),
    Function("hipDevicePrimaryCtxRelease", 402, "hipDevice_t device"),
    Function("hipDevicePrimaryCtxReset", 402, "hipDevice_t device"),
    Function("hipDevicePrimaryCtxSetFlags", 402, "hipDevice_t device, unsigned flags"),
]
