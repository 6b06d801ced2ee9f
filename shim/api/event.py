"""Events."""

from shim.api.row import Row

ROWS = [
    Row("cuEventCreate", 2000, "CUevent *phEvent, unsigned int Flags", ours=True),
    Row("cuEventRecord", 2000,
        "CUevent hEvent, CUstream hStream", ptsz=7000, ours=True),
    Row("cuEventRecordWithFlags", 11010,
        "CUevent hEvent, CUstream hStream, unsigned int flags", ptsz=11010, ours=True),
    Row("cuEventQuery", 2000, "CUevent hEvent", hip="hipEventQuery(hEvent)", context=False),
    Row("cuEventSynchronize", 2000, "CUevent hEvent", ours=True),
    Row("cuEventDestroy", 2000, "CUevent hEvent", c="cuEventDestroy_v2(hEvent)"),
    Row("cuEventDestroy_v2", 4000, "CUevent hEvent", ours=True),
    Row("cuEventElapsedTime", 2000,
        "float *pMilliseconds, CUevent hStart, CUevent hEnd",
        c="cuEventElapsedTime_v2(pMilliseconds, hStart, hEnd)"),
    Row("cuEventElapsedTime_v2", 12080,
        "float *pMilliseconds, CUevent hStart, CUevent hEnd",
        hip="hipEventElapsedTime(pMilliseconds, hStart, hEnd)", context=False),
]
