"""Arrays."""

from shim.api.row import Row

ROWS = [
    Row("cuArrayCreate", 2000, "CUarray *pHandle, const CUDA_ARRAY_DESCRIPTOR *pAllocateArray"),
    Row("cuArrayCreate_v2", 3020,
        "CUarray *pHandle, const CUDA_ARRAY_DESCRIPTOR *pAllocateArray", ours=True),
    Row("cuArrayGetDescriptor", 2000, "CUDA_ARRAY_DESCRIPTOR *pArrayDescriptor, CUarray hArray"),
    Row("cuArrayGetDescriptor_v2", 3020,
        "CUDA_ARRAY_DESCRIPTOR *pArrayDescriptor, CUarray hArray", ours=True),
    Row("cuArrayGetSparseProperties", 11010, "CUDA_ARRAY_SPARSE_PROPERTIES *sparseProperties, CUarray array"),
    Row("cuMipmappedArrayGetSparseProperties", 11010,
        "CUDA_ARRAY_SPARSE_PROPERTIES *sparseProperties, CUmipmappedArray mipmap"),
    Row("cuArrayGetMemoryRequirements", 11060,
        "CUDA_ARRAY_MEMORY_REQUIREMENTS *memoryRequirements, CUarray array, CUdevice device"),
    Row("cuMipmappedArrayGetMemoryRequirements", 11060,
        "CUDA_ARRAY_MEMORY_REQUIREMENTS *memoryRequirements, CUmipmappedArray mipmap, CUdevice device"),
    Row("cuArrayGetPlane", 11020, "CUarray *pPlaneArray, CUarray hArray, unsigned int planeIdx"),
    Row("cuArrayDestroy", 2000, "CUarray hArray", ours=True),
    Row("cuArray3DCreate", 2000, "CUarray *pHandle, const CUDA_ARRAY3D_DESCRIPTOR *pAllocateArray"),
    Row("cuArray3DCreate_v2", 3020,
        "CUarray *pHandle, const CUDA_ARRAY3D_DESCRIPTOR *pAllocateArray", ours=True),
    Row("cuArray3DGetDescriptor", 2000, "CUDA_ARRAY3D_DESCRIPTOR *pArrayDescriptor, CUarray hArray"),
    Row("cuArray3DGetDescriptor_v2", 3020,
        "CUDA_ARRAY3D_DESCRIPTOR *pArrayDescriptor, CUarray hArray", ours=True),
    Row("cuMipmappedArrayCreate", 5000,
        "CUmipmappedArray *pHandle, const CUDA_ARRAY3D_DESCRIPTOR *pMipmappedArrayDesc, unsigned int "
        "numMipmapLevels",
        hip="hipMipmappedArrayCreate(pHandle, pMipmappedArrayDesc, numMipmapLevels)"),
    Row("cuMipmappedArrayGetLevel", 5000,
        "CUarray *pLevelArray, CUmipmappedArray hMipmappedArray, unsigned int level",
        hip="hipMipmappedArrayGetLevel(pLevelArray, hMipmappedArray, level)"),
    Row("cuMipmappedArrayDestroy", 5000,
        "CUmipmappedArray hMipmappedArray",
        hip="hipMipmappedArrayDestroy(hMipmappedArray)"),
    Row("cuMemMapArrayAsync", 11010,
        "CUarrayMapInfo *mapInfoList, unsigned int count, CUstream hStream", ptsz=11010),
]
