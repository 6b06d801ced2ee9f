"""Arrays."""

from ptx2amd.api.hip.row import Function

ROWS = [
    Function("hipArrayCreate", 402, "hipArray_t *array, const HIP_ARRAY_DESCRIPTOR *descriptor"),
    Function("hipArray3DCreate", 402, "hipArray_t *array, const HIP_ARRAY3D_DESCRIPTOR *descriptor"),
    Function("hipArrayGetDescriptor", 506, "HIP_ARRAY_DESCRIPTOR *descriptor, hipArray_t array"),
    Function("hipArray3DGetDescriptor", 506, "HIP_ARRAY3D_DESCRIPTOR *descriptor, hipArray_t array"),
    Function("hipArrayGetInfo", 506,
        "hipChannelFormatDesc *desc, hipExtent *extent, unsigned *flags, hipArray_t array"),
    Function("hipArrayDestroy", 403, "hipArray_t array"),
    Function("hipFreeArray", 402, "hipArray_t array"),
    Function("hipMallocArray", 402,
        "hipArray_t *array, const hipChannelFormatDesc *desc, size_t width, size_t height, unsigned flags"),
    Function("hipMalloc3DArray", 402,
        "hipArray_t *array, const hipChannelFormatDesc *desc, hipExtent extent, unsigned flags"),
    Function("hipCreateChannelDesc", 402,
        "int x, int y, int z, int w, hipChannelFormatKind f", returns="hipChannelFormatDesc"),
    Function("hipFreeMipmappedArray", 402, "hipMipmappedArray_t mipmappedArray", ours=False),
    Function("hipGetChannelDesc", 402, "hipChannelFormatDesc *desc, hipArray_const_t array"),
    Function("hipGetMipmappedArrayLevel", 402,
        "hipArray_t *levelArray, hipMipmappedArray_const_t mipmappedArray, unsigned level", ours=False),
    Function("hipMallocMipmappedArray", 402,
        "hipMipmappedArray_t *mipmappedArray, const hipChannelFormatDesc *desc, hipExtent extent, unsigned "
        "numLevels, unsigned flags", ours=False),
    Function("hipMipmappedArrayCreate", 402,
        "hipMipmappedArray_t *pHandle, HIP_ARRAY3D_DESCRIPTOR *pMipmappedArrayDesc, unsigned numMipmapLevels",
        ours=False),
    Function("hipMipmappedArrayDestroy", 402, "hipMipmappedArray_t hMipmappedArray", ours=False),
    Function("hipMipmappedArrayGetLevel", 402,
        "hipArray_t *pLevelArray, hipMipmappedArray_t hMipMappedArray, unsigned level", ours=False),
]
