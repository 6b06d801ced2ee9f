"""Facts about kernels that kernels may launch. They lie in the data segment, and their address stands for the kernel's
(lower/runtime/launches.py says how launches use it)."""

from __future__ import annotations

from ptx2amd.interface.launches import FACTS
from ptx2amd.ptx.ast import Function, Module
from ptx2amd.ptx.handles import taken
from ptx2amd.ptx.heads import max_threads, param_layout, required_block
from ptx2amd.regex import regex

_USERS = regex(r"(?:__cudaCDP2|cuda)(?:GetParameterBuffer|LaunchDevice|FuncGetAttributes|OccupancyMax)\w*")


def facts(module: Module) -> dict[str, bytes]:
    """The facts about the kernels whose address is taken in a module that launches kernels, or asks about them."""
    if not any(_USERS.fullmatch(name) for name in module.functions):
        return {}
    kernels = {name: f for name, f in module.functions.items() if f.kind == "entry" and f.text}
    names = taken(module, set(kernels))
    return {name: _facts(function) for name, function in kernels.items() if name in names}


def _facts(function: Function) -> bytes:
    parameters = max((offset + size for offset, size, _ in param_layout(function)), default=0)
    return FACTS.pack(bytes=parameters, most=max_threads(function), block=required_block(function) or (0, 0, 0))
