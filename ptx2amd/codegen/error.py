"""Errors of code generation."""

from __future__ import annotations

from ptx2amd.errors import Ptx2amdError


class CodegenError(Ptx2amdError):
    """LLVM rejected our IR, or could not select instructions for it: a fault of ours, not of the input."""
