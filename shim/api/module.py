"""Modules."""

from shim.api.row import Row

ROWS = [
    Row("cuModuleLoad", 2000, "CUmodule *module, const char *fname", ours=True),
    Row("cuModuleLoadData", 2000, "CUmodule *module, const void *image", ours=True),
    Row("cuModuleLoadDataEx", 2010,
        "CUmodule *module, const void *image, unsigned int numOptions, CUjit_option *options, void "
        "**optionValues",
        ours=True),
    Row("cuModuleLoadFatBinary", 2000, "CUmodule *module, const void *fatCubin", ours=True),
    Row("cuModuleUnload", 2000, "CUmodule hmod", ours=True, context="hmod"),
    Row("cuModuleGetFunction", 2000, "CUfunction *hfunc, CUmodule hmod, const char *name", ours=True, context="hmod"),
    Row("cuModuleGetGlobal", 2000,
        "CUdeviceptr_v1 *dptr, unsigned int *bytes, CUmodule hmod, const char *name"),
    Row("cuModuleGetGlobal_v2", 3020,
        "CUdeviceptr *dptr, size_t *bytes, CUmodule hmod, const char *name",
        ours=True, context="hmod"),
    Row("cuModuleGetTexRef", 2000, "CUtexref *pTexRef, CUmodule hmod, const char *name", ours=True, context="hmod"),
    Row("cuModuleGetSurfRef", 3000, "CUsurfref *pSurfRef, CUmodule hmod, const char *name", ours=True, context="hmod"),
    Row("cuModuleGetFunctionCount", 12040, "unsigned int *count, CUmodule hmod", ours=True, context="none"),
    Row("cuModuleEnumerateFunctions", 12040,
        "CUfunction *functions, unsigned int numFunctions, CUmodule mod",
        ours=True, context="none"),
    Row("cuModuleGetLoadingMode", 11070, "CUmoduleLoadingMode *mode", ours=True, context="none"),
]
