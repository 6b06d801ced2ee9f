"""OpenGL interoperability."""

from shim.api.row import Row

ROWS = [
    Row("cuGraphicsGLRegisterBuffer", 3000,
        "CUgraphicsResource *pCudaResource, GLuint buffer, unsigned int Flags",
        hip="hipGraphicsGLRegisterBuffer((void **)pCudaResource, buffer, Flags)"),
    Row("cuGraphicsGLRegisterImage", 3000,
        "CUgraphicsResource *pCudaResource, GLuint image, GLenum target, unsigned int Flags",
        hip="hipGraphicsGLRegisterImage((void **)pCudaResource, image, target, Flags)"),
    Row("cuWGLGetDevice", 2020, "CUdevice *pDevice, HGPUNV hGpu", absent="WGL", context="none"),
    Row("cuGLGetDevices", 4010,
        "unsigned int *pCudaDeviceCount, CUdevice *pCudaDevices, unsigned int cudaDeviceCount, "
        "CUGLDeviceList deviceList",
        c="cuGLGetDevices_v2(pCudaDeviceCount, pCudaDevices, cudaDeviceCount, deviceList)"),
    Row("cuGLGetDevices_v2", 6050,
        "unsigned int *pCudaDeviceCount, CUdevice *pCudaDevices, unsigned int cudaDeviceCount, "
        "CUGLDeviceList deviceList", ours=True),
    Row("cuGLCtxCreate", 2000, "CUcontext *pCtx, unsigned int Flags, CUdevice device",
        c="cuCtxCreate_v2(pCtx, Flags, device)", context="none"),
    Row("cuGLCtxCreate_v2", 3020, "CUcontext *pCtx, unsigned int Flags, CUdevice device",
        c="cuCtxCreate_v2(pCtx, Flags, device)", context="none"),
    Row("cuGLInit", 2000, "void", ours=True),
    Row("cuGLRegisterBufferObject", 2000, "GLuint buffer", ours=True),
    Row("cuGLMapBufferObject", 2000, "CUdeviceptr_v1 *dptr, unsigned int *size, GLuint buffer"),
    Row("cuGLMapBufferObject_v2", 3020, "CUdeviceptr *dptr, size_t *size, GLuint buffer", ptds=7000, ours=True),
    Row("cuGLUnmapBufferObject", 2000, "GLuint buffer", ours=True),
    Row("cuGLUnregisterBufferObject", 2000, "GLuint buffer", ours=True),
    Row("cuGLSetBufferObjectMapFlags", 2030, "GLuint buffer, unsigned int Flags", ours=True),
    Row("cuGLMapBufferObjectAsync", 2030,
        "CUdeviceptr_v1 *dptr, unsigned int *size, GLuint buffer, CUstream hStream"),
    Row("cuGLMapBufferObjectAsync_v2", 3020,
        "CUdeviceptr *dptr, size_t *size, GLuint buffer, CUstream hStream", ptsz=7000, ours=True, context="hStream"),
    Row("cuGLUnmapBufferObjectAsync", 2030, "GLuint buffer, CUstream hStream", ours=True, context="hStream"),
]
