"""Functions with the suffix _spt, whose default stream is the calling thread's; otherwise they equal the function
without the suffix. `source` generates them."""



from ptx2amd.api.hip import capture, copy, device, event, fill, graph_exec, launch, program, stream
from ptx2amd.api.hip.row import Function
from ptx2amd.api.spec import NOTE
from ptx2amd.records import replace

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
        _PLAIN[name], symbol=f"{name}_spt", since=since, node=node, until=0, taken=0, before="", ours=True, shim=False
    )
    for (since, node), names in _NAMES.items()
    for name in names.split()
]


def source() -> str:
    """C of the functions: each calls the function without the suffix, or its asynchronous form, in the thread's
    stream."""
    return (
        f'{NOTE}#include "hip_state.h"\n'
        "#define OWN ((hipStream_t)2)   /* hipStreamPerThread */\n"
        "static hipError_t waited(hipError_t error) {\n"
        "  return error == hipSuccess ? hipStreamSynchronize(OWN) : error;\n"
        "}\n" + "".join(map(_definition, ROWS))
    )


def _definition(row: Function) -> str:
    name = row.symbol.removesuffix("_spt")
    if "stream" in row.named:
        arguments = row.arguments.replace("stream", "stream ? stream : OWN")
        result = f"{name}({arguments})"
    elif f"{name}Async" in _PLAIN:
        result = f"waited({name}Async({row.arguments}, OWN))"
    else:  # it does not depend on a stream
        result = f"{name}({row.arguments})"
    return f"hipError_t {row.symbol}({row.args}) {{\n  return {result};\n}}\n"
