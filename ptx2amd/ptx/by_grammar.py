"""The way to the grammar and its builder, which are loaded when a fragment needs them: few do (ptx/plain.py)."""

from __future__ import annotations

from typing import Any


def build(text: str, start: str, source: str = "<ptx>", line: int = 1, column: int = 1) -> Any:
    """Parse a fragment from a start rule of the grammar and give its AST piece. Lines in it count from `line`."""
    from ptx2amd.ptx.build import built  # with Lark and its tables

    return built(text, start, source, line, column)
