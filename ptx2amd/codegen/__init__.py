"""Code generation: LLVM IR text -> object -> hsaco."""

from ptx2amd.codegen.isolate import emit_isolated
from ptx2amd.codegen.link import LinkError, check_symbols, link, linker, sidecar_of
from ptx2amd.codegen.llvm import CodegenError, emit
from ptx2amd.codegen.stack import TOO_LARGE

__all__ = [
    "TOO_LARGE",
    "CodegenError",
    "LinkError",
    "check_symbols",
    "emit",
    "emit_isolated",
    "link",
    "linker",
    "sidecar_of",
]
