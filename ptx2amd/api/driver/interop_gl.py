"""OpenGL interoperability."""

from ptx2amd.api.driver.row import Function

ROWS = [
    Function("cuGraphicsGLRegisterBuffer", 3000,
        "out CUgraphicsResource *pCudaResource, GLuint buffer, unsigned int Flags",
        call="hipGraphicsGLRegisterBuffer(pCudaResource, buffer, Flags)"),
    Function("cuGraphicsGLRegisterImage", 3000,
        "out CUgraphicsResource *pCudaResource, GLuint image, GLenum target, unsigned int Flags",
        call="hipGraphicsGLRegisterImage(pCudaResource, image, target, Flags)"),
    Function("cuWGLGetDevice", 2020, "out CUdevice *pDevice, HGPUNV hGpu", absent="WGL", context="none"),
    Function("cuGLGetDevices", 4010,
        "out unsigned int *pCudaDeviceCount, CUdevice *pCudaDevices, unsigned int cudaDeviceCount, CUGLDeviceList "
        "deviceList",
        c="cuGLGetDevices_v2(pCudaDeviceCount, pCudaDevices, cudaDeviceCount, deviceList)"),
    Function("cuGLGetDevices_v2", 6050,
        "out unsigned int *pCudaDeviceCount, CUdevice *pCudaDevices, unsigned int cudaDeviceCount, CUGLDeviceList "
        "deviceList", ours=True),
    Function("cuGLCtxCreate", 2000, "out CUcontext *pCtx, unsigned int Flags, CUdevice device",
        c="cuCtxCreate_v2(pCtx, Flags, device)", context="none"),
    Function("cuGLCtxCreate_v2", 3020, "out CUcontext *pCtx, unsigned int Flags, CUdevice device",
        c="cuCtxCreate_v2(pCtx, Flags, device)", context="none"),
    Function("cuGLInit", 2000, "void", ours=True),
    Function("cuGLRegisterBufferObject", 2000, "GLuint buffer", ours=True),
    Function("cuGLMapBufferObject", 2000, "out CUdeviceptr_v1 *dptr, unsigned int *size, GLuint buffer"),
    Function("cuGLMapBufferObject_v2", 3020,
        "out CUdeviceptr *dptr, size_t *size, GLuint buffer", ptds=7000, ours=True),
    Function("cuGLUnmapBufferObject", 2000, "GLuint buffer", ours=True),
    Function("cuGLUnregisterBufferObject", 2000, "GLuint buffer", ours=True),
    Function("cuGLSetBufferObjectMapFlags", 2030, "GLuint buffer, unsigned int Flags", ours=True),
    Function("cuGLMapBufferObjectAsync", 2030,
        "out CUdeviceptr_v1 *dptr, unsigned int *size, GLuint buffer, CUstream hStream"),
    Function("cuGLMapBufferObjectAsync_v2", 3020,
        "out CUdeviceptr *dptr, size_t *size, GLuint buffer, CUstream hStream", ptsz=7000, ours=True,
        context="hStream"),
    Function("cuGLUnmapBufferObjectAsync", 2030, "GLuint buffer, CUstream hStream", ours=True, context="hStream"),
]
