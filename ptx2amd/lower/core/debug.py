"""Debug locations: which PTX line each LLVM instruction stands for, as a line table in the code object, and which
CUDA line that is where the PTX says so (.loc)."""

from __future__ import annotations

import struct
from itertools import pairwise
from pathlib import PurePath

from ptx2amd import settings
from ptx2amd.lower.core.function import FunctionLowering
from ptx2amd.ptx.ast import Function, Module

STRONG, APART = 0xFFFFFFFF, 0xFFFFFFFE
FIRST = 10  # metadata numbers below are the module's own


def always() -> bool:
    """Whether all code objects get a line table."""
    return settings.DEBUG.text() != "0"


def accesses_apart() -> bool:
    """Whether LLVM has to leave each load and store of PTX alone. Else it merges neighbours, of bytes for example, into
    wider ones that chips may do at any address: memcheck could not say what PTX would call misaligned."""
    return settings.DEBUG.text() == "accesses"


def wanted(module: Module) -> bool:
    """Whether the code objects of a module get a line table: the PTX has CUDA lines, or all get one."""
    return bool(module.files) or always()


class DebugInfo:
    """Collects LLVM metadata nodes for one LLVM module.

    origins: (PTX line, file number, CUDA line) where a .loc directive takes effect."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self.nodes: list[str] = []
        self.known: dict[tuple[int, int], int] = {}
        self.origins: set[tuple[int, int, int]] = set()
        self.strong: set[int] = set()  # PTX lines whose accesses order threads: volatile, relaxed, atomic ...
        self.apart: set[int] = set()  # PTX lines whose accesses stand alone: aligned to their size, or an error
        path = PurePath(module.source)
        name, folder = _quoted(path.name or "ptx"), _quoted(str(path.parent))
        self.file = self._node(f'!DIFile(filename: "{name}", directory: "{folder}")')
        self.unit = self._node(
            f"distinct !DICompileUnit(language: DW_LANG_C11, file: !{self.file}, "
            'producer: "ptx2amd", isOptimized: true, runtimeVersion: 0, emissionKind: LineTablesOnly)'
        )
        self.type = self._node("!DISubroutineType(types: !0)")

    def _node(self, text: str) -> int:
        self.nodes.append(text)
        return FIRST + len(self.nodes) - 1

    def subprogram(self, name: str, line: int) -> int:
        """The metadata number of a function."""
        return self._node(
            f'distinct !DISubprogram(name: "{_quoted(name)}", scope: !{self.file}, file: !{self.file}, line: {line}, '
            f"type: !{self.type}, scopeLine: {line}, spFlags: DISPFlagDefinition, unit: !{self.unit})"
        )

    def location(self, scope: int, line: int) -> int:
        """The metadata number of a line in a function."""
        found = self.known.get((scope, line))
        if found is None:
            found = self.known[scope, line] = self._node(f"!DILocation(line: {line}, scope: !{scope})")
        return found

    def annotate(self, fn: FunctionLowering, function: Function) -> int:
        """Give every instruction of `fn.lines` its location; returns the function's metadata number."""
        scope = self.subprogram(function.proto.name, function.line)
        marks = [*fn.marks, (len(fn.lines), 0)]
        lines = fn.lines
        suffix = f", !dbg !{self.location(scope, function.line)}"
        _append(lines, 0, marks[0][0], suffix)
        for (at, line), (end, _) in pairwise(marks):
            if end > at:
                _append(lines, at, end, f", !dbg !{self.location(scope, line)}")
        self.origins.update(fn.origins)
        self.strong.update(fn.strong)
        self.apart.update(fn.apart)
        return scope

    def text(self) -> list[str]:
        """The lines of LLVM IR that define everything, the module flags' nodes apart."""
        flags = ['!2 = !{i32 2, !"Debug Info Version", i32 3}', '!3 = !{i32 7, !"Dwarf Version", i32 4}']
        nodes = [f"!{FIRST + k} = {node}" for k, node in enumerate(self.nodes)]
        return [f"!llvm.dbg.cu = !{{!{self.unit}}}", *flags, *nodes]

    def absorb(self, other: DebugInfo) -> None:
        """Take the CUDA positions of another part of the same module."""
        self.origins |= other.origins
        self.strong |= other.strong
        self.apart |= other.apart

    def origin_table(self) -> bytes:
        """The CUDA positions for the code object's note: u32 count; per entry u32 PTX line, u32 offset of the
        file's name after the entries, u32 CUDA line, in the order of PTX lines; then names, NUL-ended. Entries
        with offset 0xffffffff mark lines in `strong`, 0xfffffffe those in `apart`. b"" when there are none."""
        names = bytearray()
        at: dict[int, int] = {}
        rows = []
        for line, file, source in sorted(self.origins):
            if file not in at:
                at[file] = len(names)
                names += self.module.files.get(file, "?").encode() + b"\0"
            rows.append((line, at[file], source))
        rows += [(line, STRONG, 0) for line in self.strong] + [(line, APART, 0) for line in self.apart]
        rows.sort()
        table = b"".join(struct.pack("<III", *row) for row in rows)
        return struct.pack("<I", len(rows)) + table + bytes(names) if rows else b""


def _append(lines: list[str], begin: int, end: int, suffix: str) -> None:
    for k in range(begin, end):
        line = lines[k]
        if line[-1] != ":":  # not a label
            lines[k] = line + suffix


def _quoted(text: str) -> str:
    """A string inside quotes of LLVM IR."""
    return "".join(c if " " <= c <= "~" and c not in '"\\' else "".join(f"\\{b:02X}" for b in c.encode()) for c in text)
