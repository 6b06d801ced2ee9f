"""Modules, libraries and functions."""

from ptx2amd.api.hip.row import Function

ROWS = [
    Function("hipModuleLoad", 402, "hipModule_t *module, const char *path"),
    Function("hipModuleLoadData", 402, "hipModule_t *module, const void *image", shim=True),
    Function("hipModuleLoadDataEx", 402,
        "hipModule_t *module, const void *image, unsigned count, hipJitOption *options, void **values"),
    Function("hipModuleLoadFatBinary", 701, "hipModule_t *module, const void *image"),
    Function("hipModuleUnload", 402, "hipModule_t module", shim=True),
    Function("hipModuleGetFunction", 402, "hipFunction_t *function, hipModule_t module, const char *name", shim=True),
    Function("hipModuleGetFunctionCount", 701, "unsigned *count, hipModule_t module"),
    Function("hipModuleGetGlobal", 402,
        "hipDeviceptr_t *ptr, size_t *size, hipModule_t module, const char *name", shim=True),
    Function("hipLibraryLoadData", 702,
        "hipLibrary_t *library, const void *code, hipJitOption *options, void **values, unsigned count, "
        "hipLibraryOption *libraryOptions, void **libraryValues, unsigned libraryCount"),
    Function("hipLibraryUnload", 702, "hipLibrary_t library"),
    Function("hipLibraryGetKernel", 702, "hipKernel_t *kernel, hipLibrary_t library, const char *name"),
    Function("hipLibraryGetKernelCount", 702, "unsigned *count, hipLibrary_t library"),
    Function("hipFuncGetAttribute", 402, "int *value, hipFunction_attribute attribute, hipFunction_t function"),
    Function("hipFuncGetAttributes", 402, "hipFuncAttributes *attributes, const void *function"),
    Function("hipFuncSetAttribute", 402, "const void *function, hipFuncAttribute attribute, int value"),
    Function("hipFuncSetCacheConfig", 402, "const void *function, hipFuncCache_t config"),
    Function("hipFuncSetSharedMemConfig", 402, "const void *function, hipSharedMemConfig config"),
    Function("hipKernelNameRef", 402, "const hipFunction_t function", returns="const char *"),
    Function("hipKernelGetLibrary", 702, "hipLibrary_t *library, hipKernel_t kernel"),
    Function("hipKernelGetName", 702, "const char **name, hipKernel_t kernel"),
    Function("hipLibraryEnumerateKernels", 702,
        "hipKernel_t *kernels, unsigned numKernels, hipLibrary_t library"),
    Function("hipLibraryLoadFromFile", 702,
        "hipLibrary_t *library, const char *fileName, hipJitOption *jitOptions, void **jitOptionsValues, unsigned "
        "numJitOptions, hipLibraryOption *libraryOptions, void **libraryOptionValues, unsigned numLibraryOptions"),
    Function("hipLinkAddData", 604,
        "hipLinkState_t state, hipJitInputType type, void *data, size_t size, const char *name, unsigned "
        "numOptions, hipJitOption *options, void **optionValues", ours=False),
    Function("hipLinkAddFile", 604,
        "hipLinkState_t state, hipJitInputType type, const char *path, unsigned numOptions, hipJitOption *options, "
        "void **optionValues", ours=False),
    Function("hipLinkComplete", 604, "hipLinkState_t state, void **hipBinOut, size_t *sizeOut", ours=False),
    Function("hipLinkCreate", 604,
        "unsigned numOptions, hipJitOption *options, void **optionValues, hipLinkState_t *stateOut", ours=False),
    Function("hipLinkDestroy", 604, "hipLinkState_t state", ours=False),
]
