"""Green contexts and device resources."""

from shim.api.row import Row

ROWS = [
    Row("cuGreenCtxCreate", 12040,
        "CUgreenCtx *phCtx, CUdevResourceDesc desc, CUdevice dev, unsigned int flags",
        ours=True, context="none"),
    Row("cuGreenCtxDestroy", 12040, "CUgreenCtx hCtx",
        ours=True, context="none"),
    Row("cuDeviceGetDevResource", 12040, "CUdevice dev, CUdevResource *result, CUdevResourceType type",
        ours=True, context="none"),
    Row("cuCtxGetDevResource", 12040, "CUcontext hCtx, CUdevResource *result, CUdevResourceType type",
        ours=True, context="none"),
    Row("cuGreenCtxGetDevResource", 12040, "CUgreenCtx hCtx, CUdevResource *result, CUdevResourceType type",
        ours=True, context="none"),
    Row("cuStreamGetDevResource", 13010,
        "CUstream hStream, CUdevResource *result, CUdevResourceType type", ptsz=13010,
        ours=True, context="hStream"),
    Row("cuGreenCtxRecordEvent", 12040, "CUgreenCtx hCtx, CUevent hEvent",
        ours=True, context="hCtx"),
    Row("cuGreenCtxWaitEvent", 12040, "CUgreenCtx hCtx, CUevent hEvent",
        ours=True, context="hCtx"),
    Row("cuDevResourceGenerateDesc", 12040,
        "CUdevResourceDesc *phDesc, CUdevResource *resources, unsigned int nbResources",
        ours=True, context="none"),
    Row("cuDevSmResourceSplitByCount", 12040,
        "CUdevResource *result, unsigned int *nbGroups, const CUdevResource *input, CUdevResource "
        "*remaining, unsigned int useFlags, unsigned int minCount",
        ours=True, context="none"),
    Row("cuDevSmResourceSplit", 13010,
        "CUdevResource *result, unsigned int nbGroups, const CUdevResource *input, CUdevResource "
        "*remainder, unsigned int flags, CU_DEV_SM_RESOURCE_GROUP_PARAMS *groupParams", ours=True, context="none"),
    Row("cuStreamGetGreenCtx", 12040, "CUstream hStream, CUgreenCtx *phCtx", ours=True, context="hStream"),
    Row("cuCtxFromGreenCtx", 12040, "CUcontext *pContext, CUgreenCtx hCtx",
        ours=True, context="none"),
    Row("cuGreenCtxGetId", 12090, "CUgreenCtx greenCtx, unsigned long long *greenCtxId",
        ours=True, context="none"),
    Row("cuCtxRecordEvent", 12050, "CUcontext hCtx, CUevent hEvent", ours=True, context="hCtx"),
    Row("cuCtxWaitEvent", 12050, "CUcontext hCtx, CUevent hEvent", ours=True, context="hCtx"),
    Row("cuGreenCtxStreamCreate", 12050,
        "CUstream *phStream, CUgreenCtx greenCtx, unsigned int flags, int priority",
        ours=True, context="none"),
]
