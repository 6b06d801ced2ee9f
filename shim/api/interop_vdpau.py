"""VDPAU interoperability."""

from shim.api.row import Row

ROWS = [
    Row("cuVDPAUGetDevice", 3010,
        "CUdevice *pDevice, VdpDevice vdpDevice, VdpGetProcAddress *vdpGetProcAddress"),
    Row("cuVDPAUCtxCreate", 3010,
        "CUcontext *pCtx, unsigned int flags, CUdevice device, VdpDevice vdpDevice, VdpGetProcAddress "
        "*vdpGetProcAddress"),
    Row("cuVDPAUCtxCreate_v2", 3020,
        "CUcontext *pCtx, unsigned int flags, CUdevice device, VdpDevice vdpDevice, VdpGetProcAddress "
        "*vdpGetProcAddress"),
    Row("cuGraphicsVDPAURegisterVideoSurface", 3010,
        "CUgraphicsResource *pCudaResource, VdpVideoSurface vdpSurface, unsigned int flags"),
    Row("cuGraphicsVDPAURegisterOutputSurface", 3010,
        "CUgraphicsResource *pCudaResource, VdpOutputSurface vdpSurface, unsigned int flags"),
]
