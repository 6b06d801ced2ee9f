"""Libraries and kernels."""

from shim.api.row import Row

ROWS = [
    Row("cuLibraryLoadData", 12000,
        "CUlibrary *library, const void *code, CUjit_option *jitOptions, void **jitOptionsValues, unsigned "
        "int numJitOptions, CUlibraryOption *libraryOptions, void **libraryOptionValues, unsigned int "
        "numLibraryOptions",
        ours=True, context="none"),
    Row("cuLibraryLoadFromFile", 12000,
        "CUlibrary *library, const char *fileName, CUjit_option *jitOptions, void **jitOptionsValues, "
        "unsigned int numJitOptions, CUlibraryOption *libraryOptions, void **libraryOptionValues, unsigned "
        "int numLibraryOptions",
        ours=True, context="none"),
    Row("cuLibraryUnload", 12000, "CUlibrary library", ours=True, context="none"),
    Row("cuLibraryGetKernel", 12000, "CUkernel *pKernel, CUlibrary library, const char *name", ours=True,
        context="none"),
    Row("cuLibraryGetModule", 12000, "CUmodule *pMod, CUlibrary library", ours=True),
    Row("cuLibraryGetKernelCount", 12040, "unsigned int *count, CUlibrary lib", ours=True, context="none"),
    Row("cuLibraryEnumerateKernels", 12040,
        "CUkernel *kernels, unsigned int numKernels, CUlibrary lib",
        ours=True, context="none"),
    Row("cuKernelGetFunction", 12000, "CUfunction *pFunc, CUkernel kernel", ours=True),
    Row("cuKernelGetLibrary", 12050, "CUlibrary *pLib, CUkernel kernel", ours=True, context="none"),
    Row("cuLibraryGetGlobal", 12000,
        "CUdeviceptr *dptr, size_t *bytes, CUlibrary library, const char *name",
        ours=True),
    Row("cuLibraryGetManaged", 12000,
        "CUdeviceptr *dptr, size_t *bytes, CUlibrary library, const char *name",
        ours=True, context="any"),
    Row("cuKernelGetAttribute", 12000,
        "int *pi, CUfunction_attribute attrib, CUkernel kernel, CUdevice dev",
        ours=True, context="none"),
    Row("cuKernelSetAttribute", 12000,
        "CUfunction_attribute attrib, int val, CUkernel kernel, CUdevice dev",
        ours=True, context="none"),
    Row("cuKernelSetCacheConfig", 12000, "CUkernel kernel, CUfunc_cache config, CUdevice dev", ours=True,
        context="none"),
    Row("cuKernelGetName", 12030, "const char **name, CUkernel hfunc", ours=True, context="none"),
    Row("cuKernelGetParamInfo", 12040,
        "CUkernel kernel, size_t paramIndex, size_t *paramOffset, size_t *paramSize",
        ours=True, context="none"),
    Row("cuKernelGetParamCount", 13020, "CUkernel kernel, size_t *paramCount", ours=True, context="none"),
    Row("cuLibraryGetUnifiedFunction", 12000,
        "void **fptr, CUlibrary library, const char *symbol",
        ours=True, context="none"),
]
