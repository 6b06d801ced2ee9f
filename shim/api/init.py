"""Initialisation, versions, errors, entry points, profiler."""

from shim.api.row import Row

ROWS = [
    Row("cuGetErrorString", 6000, "CUresult error, const char **pStr", early=True, ours=True, context="none"),
    Row("cuGetErrorName", 6000, "CUresult error, const char **pStr", early=True, ours=True, context="none"),
    Row("cuInit", 2000, "unsigned int Flags", early=True, ours=True, context="none"),
    Row("cuDriverGetVersion", 2020, "int *driverVersion", early=True, ours=True, context="none"),
    Row("cuGetExportTable", 3000, "const void **ppExportTable, const CUuuid *pExportTableId", early=True, ours=True,
        context="none"),
    Row("cuGetProcAddress", 11030,
        "const char *symbol, void **pfn, int driverVersion, cuuint64_t flags",
        early=True, ours=True, context="none"),
    Row("cuGetProcAddress_v2", 12000,
        "const char *symbol, void **pfn, int driverVersion, cuuint64_t flags, "
        "CUdriverProcAddressQueryResult *symbolFound",
        early=True, ours=True, context="none"),
    Row("cuProfilerInitialize", 4000,
        "const char *configFile, const char *outputFile, CUoutput_mode outputMode",
        c="context_required()"),
    Row("cuProfilerStart", 4000, "void", c="context_required()"),
    Row("cuProfilerStop", 4000, "void", c="context_required()"),
]
