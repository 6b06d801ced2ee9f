"""Functions: attributes and parameters."""

from shim.api.row import Row

ROWS = [
    Row("cuFuncGetAttribute", 2020, "int *pi, CUfunction_attribute attrib, CUfunction hfunc", ours=True,
        context="hfunc"),
    Row("cuFuncSetAttribute", 9000, "CUfunction hfunc, CUfunction_attribute attrib, int value", ours=True,
        context="hfunc"),
    Row("cuFuncSetCacheConfig", 3000, "CUfunction hfunc, CUfunc_cache config", ours=True, context="hfunc"),
    Row("cuFuncSetSharedMemConfig", 4020, "CUfunction hfunc, CUsharedconfig config", ours=True, context="hfunc"),
    Row("cuFuncGetName", 12030, "const char **name, CUfunction hfunc", ours=True, context="none"),
    Row("cuFuncGetParamInfo", 12040,
        "CUfunction func, size_t paramIndex, size_t *paramOffset, size_t *paramSize",
        ours=True, context="none"),
    Row("cuFuncGetParamCount", 13020, "CUfunction func, size_t *paramCount", ours=True, context="none"),
    Row("cuFuncIsLoaded", 12040, "CUfunctionLoadingState *state, CUfunction hfunc", ours=True, context="hfunc"),
    Row("cuFuncLoad", 12040, "CUfunction hfunc", c="function_load(hfunc)", context="hfunc"),
    Row("cuFuncSetBlockShape", 2000, "CUfunction hfunc, int x, int y, int z", ours=True, context="hfunc"),
    Row("cuFuncSetSharedSize", 2000, "CUfunction hfunc, unsigned int bytes", ours=True, context="hfunc"),
    Row("cuParamSetSize", 2000, "CUfunction hfunc, unsigned int numbytes", ours=True),
    Row("cuParamSeti", 2000, "CUfunction hfunc, int offset, unsigned int value", ours=True),
    Row("cuParamSetf", 2000, "CUfunction hfunc, int offset, float value", ours=True),
    Row("cuParamSetv", 2000, "CUfunction hfunc, int offset, void *ptr, unsigned int numbytes", ours=True),
    Row("cuParamSetTexRef", 2000, "CUfunction hfunc, int texunit, CUtexref hTexRef", ours=True),
    Row("cuFuncGetModule", 11000, "CUmodule *hmod, CUfunction hfunc", ours=True, context="none"),
]
