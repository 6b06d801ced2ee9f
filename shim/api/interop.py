"""Graphics resources."""

from shim.api.row import Row

ROWS = [
    Row("cuGraphicsUnregisterResource", 3000,
        "CUgraphicsResource resource",
        hip="hipGraphicsUnregisterResource(resource)"),
    Row("cuGraphicsSubResourceGetMappedArray", 3000,
        "CUarray *pArray, CUgraphicsResource resource, unsigned int arrayIndex, unsigned int mipLevel",
        hip="hipGraphicsSubResourceGetMappedArray((void **)pArray, resource, arrayIndex, mipLevel)"),
    Row("cuGraphicsResourceGetMappedMipmappedArray", 5000,
        "CUmipmappedArray *pMipmappedArray, CUgraphicsResource resource"),
    Row("cuGraphicsResourceGetMappedPointer", 3000,
        "CUdeviceptr_v1 *pDevPtr, unsigned int *pSize, CUgraphicsResource resource"),
    Row("cuGraphicsResourceGetMappedPointer_v2", 3020,
        "CUdeviceptr *pDevPtr, size_t *pSize, CUgraphicsResource resource",
        hip="hipGraphicsResourceGetMappedPointer((void **)pDevPtr, pSize, resource)"),
    Row("cuGraphicsResourceSetMapFlags", 3000, "CUgraphicsResource resource, unsigned int flags",
        c="cuGraphicsResourceSetMapFlags_v2(resource, flags)"),
    Row("cuGraphicsResourceSetMapFlags_v2", 6050, "CUgraphicsResource resource, unsigned int flags", ours=True),
    Row("cuGraphicsMapResources", 3000,
        "unsigned int count, CUgraphicsResource *resources, CUstream hStream", ptsz=7000,
        hip="hipGraphicsMapResources((int)count, (void **)resources, hStream)", context="hStream"),
    Row("cuGraphicsUnmapResources", 3000,
        "unsigned int count, CUgraphicsResource *resources, CUstream hStream", ptsz=7000,
        hip="hipGraphicsUnmapResources((int)count, (void **)resources, hStream)", context="hStream"),
]
