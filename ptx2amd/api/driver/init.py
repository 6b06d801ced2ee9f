"""Initialisation, versions, errors, entry points, profiler."""

from ptx2amd.api.driver.row import Function

ROWS = [
    Function("cuGetErrorString", 6000, "CUresult error, const char **pStr", early=True, ours=True, context="none"),
    Function("cuGetErrorName", 6000, "CUresult error, const char **pStr", early=True, ours=True, context="none"),
    Function("cuInit", 2000, "unsigned int Flags", early=True, ours=True, context="none"),
    Function("cuDriverGetVersion", 2020, "out int *driverVersion", early=True, ours=True, context="none"),
    Function("cuGetExportTable", 3000,
        "const void **ppExportTable, const CUuuid *pExportTableId", early=True, ours=True,
        context="none"),
    Function("cuGetProcAddress", 11030,
        "const char *symbol, void **pfn, int driverVersion, cuuint64_t flags",
        early=True, ours=True, context="none"),
    Function("cuGetProcAddress_v2", 12000,
        "const char *symbol, void **pfn, int driverVersion, cuuint64_t flags, "
        "CUdriverProcAddressQueryResult *symbolFound",
        early=True, ours=True, context="none"),
    Function("cuProfilerInitialize", 4000,
        "const char *configFile, const char *outputFile, CUoutput_mode outputMode",
        c="context_required()"),
    Function("cuProfilerStart", 4000, "void", c="context_required()"),
    Function("cuProfilerStop", 4000, "void", c="context_required()"),
]
