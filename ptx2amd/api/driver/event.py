"""Events."""

from ptx2amd.api.driver.row import Function

ROWS = [
    Function("cuEventCreate", 2000, "out CUevent *phEvent, unsigned int Flags", ours=True),
    Function("cuEventRecord", 2000,
        "CUevent hEvent, CUstream hStream", ptsz=7000, ours=True, context="hStream"),
    Function("cuEventRecordWithFlags", 11010,
        "CUevent hEvent, CUstream hStream, unsigned int flags", ptsz=11010, ours=True, context="hStream"),
    Function("cuEventQuery", 2000, "CUevent hEvent", call="hipEventQuery(hEvent)", context="none"),
    Function("cuEventSynchronize", 2000, "CUevent hEvent", ours=True, context="none"),
    Function("cuEventDestroy", 2000, "CUevent hEvent", c="cuEventDestroy_v2(hEvent)", context="none"),
    Function("cuEventDestroy_v2", 4000, "CUevent hEvent", ours=True, context="none"),
    Function("cuEventElapsedTime", 2000,
        "optional out float *pMilliseconds, CUevent hStart, CUevent hEnd",
        c="cuEventElapsedTime_v2(pMilliseconds, hStart, hEnd)", context="none"),
    Function("cuEventElapsedTime_v2", 12080,
        "optional out float *pMilliseconds, CUevent hStart, CUevent hEnd",
        call="hipEventElapsedTime(pMilliseconds, hStart, hEnd)", context="none",
        unless="!pMilliseconds: CUDA_ERROR_INVALID_HANDLE"),
]
