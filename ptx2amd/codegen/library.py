"""Which LLVM translates: llvmlite's, or that of the system which PTX2AMD_LLVM names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptx2amd import settings

if TYPE_CHECKING or not settings.LLVM.text():
    from ptx2amd.codegen.binding import Machine, Module, set_option, version
else:
    from ptx2amd.codegen.llvm_c import Machine, Module, set_option, version

__all__ = ["Machine", "Module", "set_option", "version"]
