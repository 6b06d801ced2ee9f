"""Sharing between processes."""

from ptx2amd.api.driver.row import Function

ROWS = [
    Function("cuIpcGetEventHandle", 4010,
        "out CUipcEventHandle *pHandle, CUevent event", ours=True),
    Function("cuIpcOpenEventHandle", 4010, "out CUevent *phEvent, CUipcEventHandle handle", ours=True),
    Function("cuIpcGetMemHandle", 4010,
        "out CUipcMemHandle *pHandle, CUdeviceptr dptr",
        call="hipIpcGetMemHandle(pHandle, dptr)"),
    Function("cuIpcOpenMemHandle", 4010,
        "out CUdeviceptr *pdptr, CUipcMemHandle handle, unsigned int Flags",
        c="cuIpcOpenMemHandle_v2(pdptr, handle, Flags)"),
    Function("cuIpcOpenMemHandle_v2", 11000,
        "out CUdeviceptr *pdptr, CUipcMemHandle handle, unsigned int Flags",
        ours=True),
    Function("cuIpcCloseMemHandle", 4010, "CUdeviceptr dptr", call="hipIpcCloseMemHandle(dptr)", context="any"),
]
