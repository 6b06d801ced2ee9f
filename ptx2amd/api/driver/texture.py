"""Texture and surface objects."""

from ptx2amd.api.driver.row import Function

ROWS = [
    Function("cuTexObjectCreate", 5000,
        "out CUtexObject *pTexObject, const CUDA_RESOURCE_DESC *pResDesc, const CUDA_TEXTURE_DESC *pTexDesc, "
        "const CUDA_RESOURCE_VIEW_DESC *pResViewDesc", ours=True),
    Function("cuTexObjectDestroy", 5000, "CUtexObject texObject", ours=True),
    Function("cuTexObjectGetResourceDesc", 5000,
        "out CUDA_RESOURCE_DESC *pResDesc, CUtexObject texObject", ours=True),
    Function("cuTexObjectGetTextureDesc", 5000,
        "out CUDA_TEXTURE_DESC *pTexDesc, CUtexObject texObject", ours=True),
    Function("cuTexObjectGetResourceViewDesc", 5000,
        "out CUDA_RESOURCE_VIEW_DESC *pResViewDesc, CUtexObject texObject", ours=True),
    Function("cuSurfObjectCreate", 5000,
        "out CUsurfObject *pSurfObject, const CUDA_RESOURCE_DESC *pResDesc", ours=True),
    Function("cuSurfObjectDestroy", 5000, "CUsurfObject surfObject", ours=True),
    Function("cuSurfObjectGetResourceDesc", 5000,
        "out CUDA_RESOURCE_DESC *pResDesc, CUsurfObject surfObject", ours=True),
]
