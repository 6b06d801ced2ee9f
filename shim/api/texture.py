"""Texture and surface objects."""

from shim.api.row import Row

ROWS = [
    Row("cuTexObjectCreate", 5000,
        "CUtexObject *pTexObject, const CUDA_RESOURCE_DESC *pResDesc, const CUDA_TEXTURE_DESC *pTexDesc, "
        "const CUDA_RESOURCE_VIEW_DESC *pResViewDesc",
        hip="hipTexObjectCreate((void **)pTexObject, pResDesc, pTexDesc, pResViewDesc)"),
    Row("cuTexObjectDestroy", 5000, "CUtexObject texObject", hip="hipTexObjectDestroy((void *)texObject)"),
    Row("cuTexObjectGetResourceDesc", 5000,
        "CUDA_RESOURCE_DESC *pResDesc, CUtexObject texObject",
        hip="hipTexObjectGetResourceDesc(pResDesc, (void *)texObject)"),
    Row("cuTexObjectGetTextureDesc", 5000,
        "CUDA_TEXTURE_DESC *pTexDesc, CUtexObject texObject",
        hip="hipTexObjectGetTextureDesc(pTexDesc, (void *)texObject)"),
    Row("cuTexObjectGetResourceViewDesc", 5000,
        "CUDA_RESOURCE_VIEW_DESC *pResViewDesc, CUtexObject texObject",
        hip="hipTexObjectGetResourceViewDesc(pResViewDesc, (void *)texObject)"),
    Row("cuSurfObjectCreate", 5000, "CUsurfObject *pSurfObject, const CUDA_RESOURCE_DESC *pResDesc"),
    Row("cuSurfObjectDestroy", 5000, "CUsurfObject surfObject"),
    Row("cuSurfObjectGetResourceDesc", 5000, "CUDA_RESOURCE_DESC *pResDesc, CUsurfObject surfObject"),
]
