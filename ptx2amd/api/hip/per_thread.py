"""Functions whose default stream is the calling thread's: the suffix _spt, and otherwise the same."""

from dataclasses import replace

from ptx2amd.api.hip import capture, copy, device, event, fill, graph_exec, launch, program, stream
from ptx2amd.api.hip.row import Function

_NAMES = {  # since, version node: functions
    (502, "5.2"): """
        hipLaunchCooperativeKernel hipLaunchKernel hipMemcpy hipMemcpy2D hipMemcpy2DFromArray hipMemcpy2DToArray
        hipMemcpy3D hipMemcpyAsync hipMemcpyFromSymbol hipMemcpyToSymbol hipMemset hipMemset2D hipMemset3D
        hipStreamGetFlags hipStreamGetPriority hipStreamQuery hipStreamSynchronize hipStreamWaitEvent""",
    (503, "5.2"): "hipEventRecord",
    (503, "5.3"): """
        hipGraphLaunch hipLaunchHostFunc hipMemcpy2DAsync hipMemcpy2DFromArrayAsync hipMemcpy2DToArrayAsync
        hipMemcpy3DAsync hipMemcpyFromArray hipMemcpyFromSymbolAsync hipMemcpyToSymbolAsync hipMemset2DAsync
        hipMemset3DAsync hipMemsetAsync hipStreamAddCallback hipStreamBeginCapture hipStreamEndCapture
        hipStreamGetCaptureInfo hipStreamGetCaptureInfo_v2 hipStreamIsCapturing""",
    (701, "7.1"): "hipGetDriverEntryPoint",
}

_PLAIN: dict[str, Function] = {
    row.symbol: row
    for area in (capture, copy, device, event, fill, graph_exec, launch, program, stream)
    for row in area.ROWS
}

ROWS = [
    replace(
        _PLAIN[name], symbol=f"{name}_spt", since=since, node=node, until=0, taken=0, before="", ours=False, shim=False
    )
    for (since, node), names in _NAMES.items()
    for name in names.split()
]
