"""Green contexts and device resources."""

from ptx2amd.api.driver.row import Function

ROWS = [
    Function("cuGreenCtxCreate", 12040,
        "out CUgreenCtx *phCtx, CUdevResourceDesc desc, CUdevice dev, unsigned int flags",
        ours=True, context="none"),
    Function("cuGreenCtxDestroy", 12040, "CUgreenCtx hCtx",
        ours=True, context="none"),
    Function("cuDeviceGetDevResource", 12040, "CUdevice dev, CUdevResource *result, CUdevResourceType type",
        ours=True, context="none"),
    Function("cuCtxGetDevResource", 12040, "CUcontext hCtx, CUdevResource *result, CUdevResourceType type",
        ours=True, context="none"),
    Function("cuGreenCtxGetDevResource", 12040, "CUgreenCtx hCtx, CUdevResource *result, CUdevResourceType type",
        ours=True, context="none"),
    Function("cuStreamGetDevResource", 13010,
        "CUstream hStream, CUdevResource *result, CUdevResourceType type", ptsz=13010,
        ours=True, context="hStream"),
    Function("cuGreenCtxRecordEvent", 12040, "CUgreenCtx hCtx, CUevent hEvent",
        ours=True, context="hCtx"),
    Function("cuGreenCtxWaitEvent", 12040, "CUgreenCtx hCtx, CUevent hEvent",
        ours=True, context="hCtx"),
    Function("cuDevResourceGenerateDesc", 12040,
        "out CUdevResourceDesc *phDesc, CUdevResource *resources, unsigned int nbResources",
        ours=True, context="none"),
    Function("cuDevSmResourceSplitByCount", 12040,
        "optional out CUdevResource *result, unsigned int *nbGroups, const CUdevResource *input, CUdevResource "
        "*remaining, "
        "unsigned int useFlags, unsigned int minCount",
        ours=True, context="none"),
    Function("cuDevSmResourceSplit", 13010,
        "optional out CUdevResource *result, unsigned int nbGroups, const CUdevResource *input, CUdevResource "
        "*remainder, "
        "unsigned int flags, CU_DEV_SM_RESOURCE_GROUP_PARAMS *groupParams", ours=True, context="none"),
    Function("cuStreamGetGreenCtx", 12040, "CUstream hStream, CUgreenCtx *phCtx", ours=True, context="hStream"),
    Function("cuCtxFromGreenCtx", 12040, "out CUcontext *pContext, CUgreenCtx hCtx",
        ours=True, context="none"),
    Function("cuGreenCtxGetId", 12090, "CUgreenCtx greenCtx, unsigned long long *greenCtxId",
        ours=True, context="none"),
    Function("cuCtxRecordEvent", 12050, "CUcontext hCtx, CUevent hEvent", ours=True, context="hCtx"),
    Function("cuCtxWaitEvent", 12050, "CUcontext hCtx, CUevent hEvent", ours=True, context="hCtx"),
    Function("cuGreenCtxStreamCreate", 12050,
        "out CUstream *phStream, CUgreenCtx greenCtx, unsigned int flags, int priority",
        ours=True, context="none"),
]
