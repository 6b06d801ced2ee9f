"""Sharing between processes."""

from shim.api.row import Row

ROWS = [
    Row("cuIpcGetEventHandle", 4010,
        "CUipcEventHandle *pHandle, CUevent event", ours=True, context="any"),
    Row("cuIpcOpenEventHandle", 4010, "CUevent *phEvent, CUipcEventHandle handle", ours=True),
    Row("cuIpcGetMemHandle", 4010,
        "CUipcMemHandle *pHandle, CUdeviceptr dptr",
        hip="hipIpcGetMemHandle(pHandle, (void *)dptr)", context="any"),
    Row("cuIpcOpenMemHandle", 4010,
        "CUdeviceptr *pdptr, CUipcMemHandle handle, unsigned int Flags",
        c="cuIpcOpenMemHandle_v2(pdptr, handle, Flags)"),
    Row("cuIpcOpenMemHandle_v2", 11000,
        "CUdeviceptr *pdptr, CUipcMemHandle handle, unsigned int Flags",
        hip="hipIpcOpenMemHandle((void **)pdptr, handle, Flags)"),
    Row("cuIpcCloseMemHandle", 4010, "CUdeviceptr dptr", hip="hipIpcCloseMemHandle((void *)dptr)", context="any"),
]
