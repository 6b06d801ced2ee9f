"""Peer access."""

from shim.api.row import Row

ROWS = [
    Row("cuDeviceCanAccessPeer", 4000, "int *canAccessPeer, CUdevice dev, CUdevice peerDev", ours=True, context="none"),
    Row("cuCtxEnablePeerAccess", 4000, "CUcontext peerContext, unsigned int Flags", ours=True),
    Row("cuCtxDisablePeerAccess", 4000, "CUcontext peerContext", ours=True),
    Row("cuDeviceGetP2PAttribute", 8000,
        "int *value, CUdevice_P2PAttribute attrib, CUdevice srcDevice, CUdevice dstDevice",
        ours=True, context="none"),
    Row("cuDeviceGetP2PAtomicCapabilities", 13000,
        "unsigned int *capabilities, const CUatomicOperation *operations, unsigned int count, CUdevice "
        "srcDevice, CUdevice dstDevice",
        ours=True, context="none"),
]
