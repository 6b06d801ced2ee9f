"""Graphics resources."""

from ptx2amd.api.driver.row import Function

ROWS = [
    Function("cuGraphicsUnregisterResource", 3000,
        "CUgraphicsResource resource",
        call="hipGraphicsUnregisterResource(resource)"),
    Function("cuGraphicsSubResourceGetMappedArray", 3000,
        "out CUarray *pArray, CUgraphicsResource resource, unsigned int arrayIndex, unsigned int mipLevel",
        call="hipGraphicsSubResourceGetMappedArray(pArray, resource, arrayIndex, mipLevel)"),
    Function("cuGraphicsResourceGetMappedMipmappedArray", 5000,
        "out CUmipmappedArray *pMipmappedArray, CUgraphicsResource resource"),
    Function("cuGraphicsResourceGetMappedPointer", 3000,
        "out CUdeviceptr_v1 *pDevPtr, unsigned int *pSize, CUgraphicsResource resource"),
    Function("cuGraphicsResourceGetMappedPointer_v2", 3020,
        "out CUdeviceptr *pDevPtr, size_t *pSize, CUgraphicsResource resource",
        call="hipGraphicsResourceGetMappedPointer(pDevPtr, pSize, resource)"),
    Function("cuGraphicsResourceSetMapFlags", 3000, "CUgraphicsResource resource, unsigned int flags",
        c="cuGraphicsResourceSetMapFlags_v2(resource, flags)"),
    Function("cuGraphicsResourceSetMapFlags_v2", 6050, "CUgraphicsResource resource, unsigned int flags", ours=True),
    Function("cuGraphicsMapResources", 3000,
        "unsigned int count, CUgraphicsResource *resources, CUstream hStream", ptsz=7000,
        call="hipGraphicsMapResources(count, resources, hStream)", context="hStream"),
    Function("cuGraphicsUnmapResources", 3000,
        "unsigned int count, CUgraphicsResource *resources, CUstream hStream", ptsz=7000,
        call="hipGraphicsUnmapResources(count, resources, hStream)", context="hStream"),
]
