"""Functions: attributes and parameters."""

from ptx2amd.api.driver.row import Function

ROWS = [
    Function("cuFuncGetAttribute", 2020, "out int *pi, CUfunction_attribute attrib, CUfunction hfunc", ours=True,
        context="hfunc"),
    Function("cuFuncSetAttribute", 9000, "CUfunction hfunc, CUfunction_attribute attrib, int value", ours=True,
        context="hfunc"),
    Function("cuFuncSetCacheConfig", 3000, "CUfunction hfunc, CUfunc_cache config", ours=True, context="hfunc"),
    Function("cuFuncSetSharedMemConfig", 4020, "CUfunction hfunc, CUsharedconfig config", ours=True, context="hfunc"),
    Function("cuFuncGetName", 12030, "const char **name, CUfunction hfunc", ours=True, context="none"),
    Function("cuFuncGetParamInfo", 12040,
        "CUfunction func, size_t paramIndex, size_t *paramOffset, size_t *paramSize",
        ours=True, context="none"),
    Function("cuFuncGetParamCount", 13020, "CUfunction func, size_t *paramCount", ours=True, context="none"),
    Function("cuFuncIsLoaded", 12040,
        "out CUfunctionLoadingState *state, CUfunction hfunc", ours=True, context="hfunc"),
    Function("cuFuncLoad", 12040, "CUfunction hfunc", c="function_load(hfunc)", context="hfunc"),
    Function("cuFuncSetBlockShape", 2000, "CUfunction hfunc, int x, int y, int z", ours=True),
    Function("cuFuncSetSharedSize", 2000, "CUfunction hfunc, unsigned int bytes", ours=True),
    Function("cuParamSetSize", 2000, "CUfunction hfunc, unsigned int numbytes", ours=True),
    Function("cuParamSeti", 2000, "CUfunction hfunc, int offset, unsigned int value", ours=True),
    Function("cuParamSetf", 2000, "CUfunction hfunc, int offset, float value", ours=True),
    Function("cuParamSetv", 2000, "CUfunction hfunc, int offset, void *ptr, unsigned int numbytes", ours=True),
    Function("cuParamSetTexRef", 2000, "CUfunction hfunc, int texunit, CUtexref hTexRef", ours=True),
    Function("cuFuncGetModule", 11000, "out CUmodule *hmod, CUfunction hfunc", ours=True, context="none"),
]
