"""Events."""

from shim.api.row import Row

ROWS = [
    Row("cuEventCreate", 2000, "CUevent *phEvent, unsigned int Flags", ours=True),
    Row("cuEventRecord", 2000,
        "CUevent hEvent, CUstream hStream", ptsz=7000, ours=True, context="hStream"),
    Row("cuEventRecordWithFlags", 11010,
        "CUevent hEvent, CUstream hStream, unsigned int flags", ptsz=11010, ours=True, context="hStream"),
    Row("cuEventQuery", 2000, "CUevent hEvent", hip="hipEventQuery(hEvent)", context="none"),
    Row("cuEventSynchronize", 2000, "CUevent hEvent", ours=True, context="none"),
    Row("cuEventDestroy", 2000, "CUevent hEvent", c="cuEventDestroy_v2(hEvent)", context="none"),
    Row("cuEventDestroy_v2", 4000, "CUevent hEvent", ours=True, context="none"),
    Row("cuEventElapsedTime", 2000,
        "float *pMilliseconds, CUevent hStart, CUevent hEnd",
        c="cuEventElapsedTime_v2(pMilliseconds, hStart, hEnd)", context="none"),
    Row("cuEventElapsedTime_v2", 12080,
        "float *pMilliseconds, CUevent hStart, CUevent hEnd",
        hip="hipEventElapsedTime(pMilliseconds, hStart, hEnd)", context="none"),
]
