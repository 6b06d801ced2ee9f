"""VDPAU interoperability."""

from ptx2amd.api.driver.row import Function

ROWS = [
    Function("cuVDPAUGetDevice", 3010,
        "out CUdevice *pDevice, VdpDevice vdpDevice, VdpGetProcAddress *vdpGetProcAddress"),
    Function("cuVDPAUCtxCreate", 3010,
        "out CUcontext *pCtx, unsigned int flags, CUdevice device, VdpDevice vdpDevice, VdpGetProcAddress "
        "*vdpGetProcAddress"),
    Function("cuVDPAUCtxCreate_v2", 3020,
        "out CUcontext *pCtx, unsigned int flags, CUdevice device, VdpDevice vdpDevice, VdpGetProcAddress "
        "*vdpGetProcAddress"),
    Function("cuGraphicsVDPAURegisterVideoSurface", 3010,
        "out CUgraphicsResource *pCudaResource, VdpVideoSurface vdpSurface, unsigned int flags"),
    Function("cuGraphicsVDPAURegisterOutputSurface", 3010,
        "out CUgraphicsResource *pCudaResource, VdpOutputSurface vdpSurface, unsigned int flags"),
]
