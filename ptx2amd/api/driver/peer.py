"""Peer access."""

from ptx2amd.api.driver.row import Function

ROWS = [
    Function("cuDeviceCanAccessPeer", 4000,
        "out int *canAccessPeer, CUdevice dev, CUdevice peerDev", ours=True, context="none"),
    Function("cuCtxEnablePeerAccess", 4000, "CUcontext peerContext, unsigned int Flags", ours=True),
    Function("cuCtxDisablePeerAccess", 4000, "CUcontext peerContext", ours=True),
    Function("cuDeviceGetP2PAttribute", 8000,
        "out int *value, CUdevice_P2PAttribute attrib, CUdevice srcDevice, CUdevice dstDevice",
        ours=True, context="none"),
    Function("cuDeviceGetP2PAtomicCapabilities", 13000,
        "out unsigned int *capabilities, const CUatomicOperation *operations, unsigned int count, CUdevice "
        "srcDevice, CUdevice dstDevice",
        ours=True, context="none"),
]
