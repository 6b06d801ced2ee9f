"""Errors."""

from ptx2amd.api.hip.row import Function

ROWS = [
    Function("hipGetLastError", 402, "void", shim=True),
    Function("hipExtGetLastError", 600, "void"),
    Function("hipPeekAtLastError", 402, "void"),
    Function("hipGetErrorName", 402, "hipError_t error", returns="const char *"),
    Function("hipGetErrorString", 402, "hipError_t error", returns="const char *"),
    Function("hipDrvGetErrorName", 503, "hipError_t error, const char **text"),
    Function("hipDrvGetErrorString", 503, "hipError_t error, const char **text"),
]
