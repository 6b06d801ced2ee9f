"""Exports of AMD's libamdhip64 that HIP's headers do not declare: names, version nodes, and the HIP versions that have
them."""

from ptx2amd.api.hip.row import Function

_ALL = "_Z24hipExtModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_j"
_HCC = "_Z24hipHccModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_"

_NAMES = {  # since, version node, until: functions
    (402, "4.2", 0): f"{_ALL} {_HCC} __gnu_f2h_ieee __gnu_h2f_ieee hipGetCmdName",
    (405, "4.5", 0): "amd_dbgapi_get_build_id amd_dbgapi_get_build_name amd_dbgapi_get_git_hash",
    (503, "5.3", 0): "hipRegisterTracerCallback",
    (600, "4.2", 0): "hipHccModuleLaunchKernel hipChooseDeviceR0000 hipGetDevicePropertiesR0000",
    # run-time compilation, later a separate library
    (402, "4.2", 700): """
        hiprtcAddNameExpression hiprtcCompileProgram hiprtcCreateProgram hiprtcDestroyProgram hiprtcGetCode
        hiprtcGetCodeSize hiprtcGetErrorString hiprtcGetLoweredName hiprtcGetProgramLog hiprtcGetProgramLogSize
        hiprtcVersion""",
    (503, "4.2", 700): "hiprtcLinkAddData hiprtcLinkAddFile hiprtcLinkComplete hiprtcLinkCreate hiprtcLinkDestroy",
    (503, "5.3", 700): "hiprtcGetBitcode hiprtcGetBitcodeSize",
}

#: What does not return a status.
_RETURNS = {
    "__gnu_f2h_ieee": "unsigned short", "__gnu_h2f_ieee": "float", "amd_dbgapi_get_build_id": "size_t",
    **dict.fromkeys(("hipGetCmdName", "amd_dbgapi_get_build_name", "amd_dbgapi_get_git_hash", "hiprtcGetErrorString"),
                    "const char *"),
}  # fmt: skip

ROWS = [
    Function(
        name, since, "void", ours=False, node=node, until=until, public=False, returns=_RETURNS.get(name, "")
    )
    for (since, node, until), names in _NAMES.items()
    for name in names.split()
]
