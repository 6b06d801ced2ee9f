"""Texture and surface objects."""

from ptx2amd.api.hip.row import Function

ROWS = [
    Function("hipCreateTextureObject", 402,
        "hipTextureObject_t *texture, const hipResourceDesc *resource, const hipTextureDesc *descriptor, const "
        "hipResourceViewDesc *view"),
    Function("hipDestroyTextureObject", 402, "hipTextureObject_t texture"),
    Function("hipGetTextureObjectResourceDesc", 402, "hipResourceDesc *resource, hipTextureObject_t texture"),
    Function("hipGetTextureObjectTextureDesc", 402, "hipTextureDesc *descriptor, hipTextureObject_t texture"),
    Function("hipCreateSurfaceObject", 503,
        "hipSurfaceObject_t *surface, const hipResourceDesc *resource", node="4.2"),
    Function("hipDestroySurfaceObject", 503, "hipSurfaceObject_t surface", node="4.2"),
    Function("hipGetTextureObjectResourceViewDesc", 402,
        "hipResourceViewDesc *pResViewDesc, hipTextureObject_t textureObject", ours=False),
    Function("hipTexObjectCreate", 402,
        "hipTextureObject_t *pTexObject, const HIP_RESOURCE_DESC *pResDesc, const HIP_TEXTURE_DESC *pTexDesc, "
        "const HIP_RESOURCE_VIEW_DESC *pResViewDesc", ours=False),
    Function("hipTexObjectDestroy", 402, "hipTextureObject_t texObject", ours=False),
    Function("hipTexObjectGetResourceDesc", 402,
        "HIP_RESOURCE_DESC *pResDesc, hipTextureObject_t texObject", ours=False),
    Function("hipTexObjectGetResourceViewDesc", 402,
        "HIP_RESOURCE_VIEW_DESC *pResViewDesc, hipTextureObject_t texObject", ours=False),
    Function("hipTexObjectGetTextureDesc", 402,
        "HIP_TEXTURE_DESC *pTexDesc, hipTextureObject_t texObject", ours=False),
]
