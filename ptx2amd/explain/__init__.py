"""What became of one kernel: its CUDA lines, PTX, LLVM IR and machine code side by side, and the facts about it.

The line tables that debuggers use say which PTX line an instruction comes from; `.loc` directives say which CUDA line
that is."""

from ptx2amd.explain.listing import Explanation, Row, explain

__all__ = ["Explanation", "Row", "explain"]
