"""Modules."""

from ptx2amd.api.driver.row import Function

ROWS = [
    Function("cuModuleLoad", 2000, "out CUmodule *module, const char *fname", ours=True),
    Function("cuModuleLoadData", 2000, "out CUmodule *module, const void *image", ours=True),
    Function("cuModuleLoadDataEx", 2010,
        "out CUmodule *module, const void *image, unsigned int numOptions, CUjit_option *options, void "
        "**optionValues",
        ours=True),
    Function("cuModuleLoadFatBinary", 2000, "out CUmodule *module, const void *fatCubin", ours=True),
    Function("cuModuleUnload", 2000, "CUmodule hmod", ours=True, context="hmod"),
    Function("cuModuleGetFunction", 2000,
        "out CUfunction *hfunc, CUmodule hmod, const char *name", ours=True, context="hmod"),
    Function("cuModuleGetGlobal", 2000,
        "optional out CUdeviceptr_v1 *dptr, unsigned int *bytes, CUmodule hmod, const char *name"),
    Function("cuModuleGetGlobal_v2", 3020,
        "optional out CUdeviceptr *dptr, size_t *bytes, CUmodule hmod, const char *name",
        ours=True, context="hmod"),
    Function("cuModuleGetTexRef", 2000,
        "out CUtexref *pTexRef, CUmodule hmod, const char *name", ours=True, context="hmod"),
    Function("cuModuleGetSurfRef", 3000,
        "out CUsurfref *pSurfRef, CUmodule hmod, const char *name", ours=True, context="hmod"),
    Function("cuModuleGetFunctionCount", 12040, "out unsigned int *count, CUmodule hmod", ours=True, context="none"),
    Function("cuModuleEnumerateFunctions", 12040,
        "out(numFunctions) CUfunction *functions, unsigned int numFunctions, CUmodule mod",
        ours=True, context="none"),
    Function("cuModuleGetLoadingMode", 11070, "out CUmoduleLoadingMode *mode", ours=True, context="none"),
]
