"""Code generation: LLVM IR text -> object -> hsaco."""

from ptx2amd.codegen.isolate import Isolated, emit_isolated
from ptx2amd.codegen.link import check_symbols, link, sidecar_of
from ptx2amd.codegen.linker import LinkError
from ptx2amd.codegen.llvm import CodegenError, emit
from ptx2amd.codegen.stack import TOO_LARGE, may_be_too_large

__all__ = [
    "TOO_LARGE",
    "CodegenError",
    "Isolated",
    "LinkError",
    "check_symbols",
    "emit",
    "emit_isolated",
    "link",
    "may_be_too_large",
    "sidecar_of",
]
