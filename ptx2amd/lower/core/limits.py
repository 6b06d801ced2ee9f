"""CUDA's limits on memory, which ptxas checks after everything else in a module is valid."""

from __future__ import annotations

from collections.abc import Iterator

from ptx2amd.errors import PtxError
from ptx2amd.interface.arena import BLOCK_SHARED_LIMIT
from ptx2amd.middle.calls import CallGraph
from ptx2amd.plan.shared_memory import bytes_of, static_shared
from ptx2amd.ptx.ast import Function, Module
from ptx2amd.ptx.declare import shared_in

CONSTANT_BYTES = 64 << 10  # of a module
STATIC_SHARED_BYTES = 48 << 10  # of a kernel, but with the targets that name one chip, such as sm_90a


def oversized(module: Module) -> Iterator[PtxError]:
    """Errors for constants and shared memory beyond CUDA's limits. The module's bodies must be valid."""
    constants = [var for var in module.variables.values() if var.space == "const" and var.linkage != "extern"]
    if (size := bytes_of(constants)) > CONSTANT_BYTES:
        text = f"{size:,} bytes of .const variables, {CONSTANT_BYTES:,} at most"
        yield PtxError(text, module.source, max(var.line for var in constants), 1)
    most = BLOCK_SHARED_LIMIT if module.target.endswith(("a", "f")) else STATIC_SHARED_BYTES
    calls = CallGraph(module)
    for kernel in _suspects(module, most):
        if (size := static_shared(calls, kernel)) > most:
            text = f"kernel '{kernel.proto.name}' has {size:,} bytes of static shared memory, {most:,} at most"
            yield PtxError(text, module.source, kernel.line, 1)


def _suspects(module: Module, most: int) -> Iterator[Function]:
    """The kernels that may have too much shared memory, found without parsing the bodies again."""
    shared = [var for var in module.variables.values() if var.space == "shared"]
    own = {name: shared_in(function, module.source) for name, function in module.functions.items()}
    if bytes_of([*shared, *(var for variables in own.values() for var in variables)]) <= most:
        return
    called = [f for f in module.functions.values() if f.kind == "func"]
    for name, kernel in module.functions.items():
        if kernel.kind == "entry":
            reached = [kernel, *called]
            used = [var for var in shared if any(var.name in f.text for f in reached)]
            used += own[name] + [var for f in called for var in own[f.proto.name]]
            if bytes_of(used) > most:
                yield kernel
