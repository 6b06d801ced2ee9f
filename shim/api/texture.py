"""Texture and surface objects."""

from shim.api.row import Row

ROWS = [
    Row("cuTexObjectCreate", 5000,
        "CUtexObject *pTexObject, const CUDA_RESOURCE_DESC *pResDesc, const CUDA_TEXTURE_DESC *pTexDesc, "
        "const CUDA_RESOURCE_VIEW_DESC *pResViewDesc", ours=True),
    Row("cuTexObjectDestroy", 5000, "CUtexObject texObject", ours=True, context="any"),
    Row("cuTexObjectGetResourceDesc", 5000,
        "CUDA_RESOURCE_DESC *pResDesc, CUtexObject texObject", ours=True, context="any"),
    Row("cuTexObjectGetTextureDesc", 5000,
        "CUDA_TEXTURE_DESC *pTexDesc, CUtexObject texObject", ours=True, context="any"),
    Row("cuTexObjectGetResourceViewDesc", 5000,
        "CUDA_RESOURCE_VIEW_DESC *pResViewDesc, CUtexObject texObject", ours=True, context="any"),
    Row("cuSurfObjectCreate", 5000, "CUsurfObject *pSurfObject, const CUDA_RESOURCE_DESC *pResDesc", ours=True),
    Row("cuSurfObjectDestroy", 5000, "CUsurfObject surfObject", ours=True, context="any"),
    Row("cuSurfObjectGetResourceDesc", 5000, "CUDA_RESOURCE_DESC *pResDesc, CUsurfObject surfObject", ours=True,
        context="any"),
]
