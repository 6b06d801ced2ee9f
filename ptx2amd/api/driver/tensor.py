"""Tensor maps (TMA descriptors)."""

from ptx2amd.api.driver.row import Function

ROWS = [
    Function("cuTensorMapEncodeTiled", 12000,
        "out CUtensorMap *tensorMap, CUtensorMapDataType tensorDataType, cuuint32_t tensorRank, void "
        "*globalAddress, const cuuint64_t *globalDim, const cuuint64_t *globalStrides, const cuuint32_t *boxDim, "
        "const cuuint32_t *elementStrides, CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle, "
        "CUtensorMapL2promotion l2Promotion, CUtensorMapFloatOOBfill oobFill", ours=True),
    Function("cuTensorMapEncodeIm2col", 12000,
        "out CUtensorMap *tensorMap, CUtensorMapDataType tensorDataType, cuuint32_t tensorRank, void "
        "*globalAddress, const cuuint64_t *globalDim, const cuuint64_t *globalStrides, const int "
        "*pixelBoxLowerCorner, const int *pixelBoxUpperCorner, cuuint32_t channelsPerPixel, cuuint32_t "
        "pixelsPerColumn, const cuuint32_t *elementStrides, CUtensorMapInterleave interleave, CUtensorMapSwizzle "
        "swizzle, CUtensorMapL2promotion l2Promotion, CUtensorMapFloatOOBfill oobFill", ours=True),
    Function("cuTensorMapReplaceAddress", 12000, "out CUtensorMap *tensorMap, void *globalAddress", ours=True),
    Function("cuTensorMapSetAllocationClass", 13050,
        "out CUtensorMap *tensorMap, CUtensorMapAllocClass allocClass, CUtensorMapAllocClass *outAllocClass",
        ours=True),
    Function("cuTensorMapEncodeIm2colWide", 12080,
        "out CUtensorMap *tensorMap, CUtensorMapDataType tensorDataType, cuuint32_t tensorRank, void "
        "*globalAddress, const cuuint64_t *globalDim, const cuuint64_t *globalStrides, int "
        "pixelBoxLowerCornerWidth, int pixelBoxUpperCornerWidth, cuuint32_t channelsPerPixel, cuuint32_t "
        "pixelsPerColumn, const cuuint32_t *elementStrides, CUtensorMapInterleave interleave, "
        "CUtensorMapIm2ColWideMode mode, CUtensorMapSwizzle swizzle, CUtensorMapL2promotion l2Promotion, "
        "CUtensorMapFloatOOBfill oobFill", ours=True),
]
