"""OpenGL."""

from ptx2amd.api.hip.row import Function

ROWS = [
    Function("hipGLGetDevices", 403,
        "unsigned *pHipDeviceCount, int *pHipDevices, unsigned hipDeviceCount, hipGLDeviceList deviceList",
        shim=True, ours=False),
    Function("hipGraphicsGLRegisterBuffer", 403,
        "hipGraphicsResource **resource, GLuint buffer, unsigned flags", shim=True, ours=False),
    Function("hipGraphicsGLRegisterImage", 405,
        "hipGraphicsResource **resource, GLuint image, GLenum target, unsigned flags", shim=True, ours=False),
    Function("hipGraphicsMapResources", 403,
        "int count, hipGraphicsResource_t *resources, hipStream_t stream", shim=True, ours=False),
    Function("hipGraphicsResourceGetMappedPointer", 403,
        "void **devPtr, size_t *size, hipGraphicsResource_t resource", shim=True, ours=False),
    Function("hipGraphicsSubResourceGetMappedArray", 405,
        "hipArray_t *array, hipGraphicsResource_t resource, unsigned arrayIndex, unsigned mipLevel",
        shim=True, ours=False),
    Function("hipGraphicsUnmapResources", 403,
        "int count, hipGraphicsResource_t *resources, hipStream_t stream", shim=True, ours=False),
    Function("hipGraphicsUnregisterResource", 403, "hipGraphicsResource_t resource", shim=True, ours=False),
]
