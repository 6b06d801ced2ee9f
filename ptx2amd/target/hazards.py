"""Hazards: places where warps of one block wait for each other."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ptx2amd.ptx.ast import Function, Module


@dataclass(frozen=True, slots=True)
class Hazard:
    """A place where a warp may wait for another warp of its block. line: of the PTX text, 1-based."""

    line: int
    what: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.what}"


def hazards(module: Module, functions: Iterable[Function]) -> list[Hazard]:
    return []
