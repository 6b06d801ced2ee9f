"""Code generation: LLVM IR text -> object -> hsaco."""

from ptx2amd.codegen.error import CodegenError
from ptx2amd.codegen.isolate import Isolated, emit_isolated
from ptx2amd.codegen.link import check_symbols, link, sidecar_of
from ptx2amd.codegen.llvm import emit
from ptx2amd.codegen.stack import TOO_LARGE, may_be_too_large

__all__ = [
    "TOO_LARGE",
    "CodegenError",
    "Isolated",
    "check_symbols",
    "emit",
    "emit_isolated",
    "link",
    "may_be_too_large",
    "sidecar_of",
]
