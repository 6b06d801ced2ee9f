"""Libraries and kernels."""

from ptx2amd.api.driver.row import Function

ROWS = [
    Function("cuLibraryLoadData", 12000,
        "out CUlibrary *library, const void *code, CUjit_option *jitOptions, void **jitOptionsValues, unsigned "
        "int numJitOptions, CUlibraryOption *libraryOptions, void **libraryOptionValues, unsigned int "
        "numLibraryOptions",
        ours=True, context="none"),
    Function("cuLibraryLoadFromFile", 12000,
        "out CUlibrary *library, const char *fileName, CUjit_option *jitOptions, void **jitOptionsValues, "
        "unsigned int numJitOptions, CUlibraryOption *libraryOptions, void **libraryOptionValues, unsigned int "
        "numLibraryOptions",
        ours=True, context="none"),
    Function("cuLibraryUnload", 12000, "CUlibrary library", ours=True, context="none"),
    Function("cuLibraryGetKernel", 12000, "out CUkernel *pKernel, CUlibrary library, const char *name", ours=True,
        context="none"),
    Function("cuLibraryGetModule", 12000, "out CUmodule *pMod, CUlibrary library", ours=True),
    Function("cuLibraryGetKernelCount", 12040, "out unsigned int *count, CUlibrary lib", ours=True, context="none"),
    Function("cuLibraryEnumerateKernels", 12040,
        "out(numKernels) CUkernel *kernels, unsigned int numKernels, CUlibrary lib",
        ours=True, context="none"),
    Function("cuKernelGetFunction", 12000, "out CUfunction *pFunc, CUkernel kernel", ours=True),
    Function("cuKernelGetLibrary", 12050, "out CUlibrary *pLib, CUkernel kernel", ours=True, context="none"),
    Function("cuLibraryGetGlobal", 12000,
        "optional out CUdeviceptr *dptr, size_t *bytes, CUlibrary library, const char *name",
        ours=True),
    Function("cuLibraryGetManaged", 12000,
        "optional out CUdeviceptr *dptr, size_t *bytes, CUlibrary library, const char *name",
        ours=True, context="any"),
    Function("cuKernelGetAttribute", 12000,
        "out int *pi, CUfunction_attribute attrib, CUkernel kernel, CUdevice dev",
        ours=True, context="none"),
    Function("cuKernelSetAttribute", 12000,
        "CUfunction_attribute attrib, int val, CUkernel kernel, CUdevice dev",
        ours=True, context="none"),
    Function("cuKernelSetCacheConfig", 12000, "CUkernel kernel, CUfunc_cache config, CUdevice dev", ours=True,
        context="none"),
    Function("cuKernelGetName", 12030, "const char **name, CUkernel hfunc", ours=True, context="none"),
    Function("cuKernelGetParamInfo", 12040,
        "CUkernel kernel, size_t paramIndex, size_t *paramOffset, size_t *paramSize",
        ours=True, context="none"),
    Function("cuKernelGetParamCount", 13020, "CUkernel kernel, size_t *paramCount", ours=True, context="none"),
    Function("cuLibraryGetUnifiedFunction", 12000,
        "void **fptr, CUlibrary library, const char *symbol",
        ours=True, context="none"),
]
