"""Why functions need a current context, or use the context of their object (`Row.context`).

cuda.h documents it: most functions that need a current context list CUDA_ERROR_INVALID_CONTEXT among their return
values. Functions whose list lacks it need none here. Where a row differs from the list, a group below gives the reason;
tests/shim/test_context_table.py compares. NVIDIA's driver was asked (tests/shim/answers): it agrees with the rows. In
doubt a row requires less: a program that works with NVIDIA's driver must work, and returning a result where NVIDIA's
driver returns an error does no harm.
"""

from __future__ import annotations

from typing import Final

#: Reason: functions that work without a current context although their lists have the error. A star matches any ending.
WORK_ALONE: Final[dict[str, tuple[str, ...]]] = {
    "The error is about a context in the arguments, or about a device.": (
        "cuCtxCreate", "cuCtxDestroy", "cuCtxFromGreenCtx", "cuCtxGetApiVersion", "cuCtxGetDevResource", "cuCtxGetId",
        "cuCtxPushCurrent", "cuCtxSetCurrent", "cuCtxSynchronize_v2", "cuCtxGetDevice_v2", "cuCtxRecordEvent",
        "cuCtxWaitEvent", "cuGreenCtx*", "cuDevice*", "cuCoredumpSetAttribute"),
    "It is for the current context itself, and its body asks for it.": (
        "cuCtxDetach", "cuCtxGetDevice", "cuCtxPopCurrent"),
    "The error is for the default streams: a stream that was created has its context (documented for cuStreamGetCtx, "
    "and for cuLaunchKernel of a CUkernel). NVIDIA's CCCL calls these with an empty stack of contexts on purpose: "
    "cuStreamSynchronize, cuStreamQuery, cuStreamWaitEvent, cuEventRecord, and copies and fills in a stream.": (
        "cuStream*", "cuEventRecord*", "cuLaunch*", "cuMem*Async", "cuGraphics*Resources"),
    "Events work from any thread, as the programming guide says of cudaEventQuery and cudaEventSynchronize.": (
        "cuEventDestroy", "cuEventSynchronize", "cuEventElapsedTime"),
    "Memory is found by its address in one address space: NVIDIA's cuda.core frees with any context or none current.": (
        "cuMemFree", "cuMemFreeHost", "cuMemHostUnregister", "cuPointerGetAttribute*", "cuPointerSetAttribute",
        "cuIpcCloseMemHandle"),
    "The object has a context, and the call neither makes anything nor depends on another one. Blender unloads modules "
    "without a current one. Of a library's kernel, which has none, a current one is wanted.": (
        "cuModuleGet*", "cuModuleUnload", "cuModuleEnumerateFunctions", "cuFunc*", "cuArrayDestroy", "cuArrayGet*",
        "cuArray3DGet*", "cuMipmappedArrayDestroy", "cuMipmappedArrayGetLevel", "cuTexRef*", "cuSurfRef*"),
    "Graphs have no context; the error is about one in a node's parameters.": ("cuGraph*",),
}  # fmt: skip

#: Reason: functions that need a current context although their lists do not have the error.
WANT_ONE: Final[dict[str, tuple[str, ...]]] = {
    "It is about the current context.": (
        "cuCtxGetLimit", "cuCtxGetStreamPriorityRange", "cuCtxResetPersistingL2Cache"),
    "UCX has to make the memory's context current for it.": ("cuMemGetHandleForAddressRange",),
    "NVIDIA's driver 580 refuses them without one.": (
        "cuGraphInstantiate*", "cuImportExternal*", "cuIpcGetEventHandle", "cuMemAdvise*", "cuMemRangeGetAttribute"),
}  # fmt: skip
