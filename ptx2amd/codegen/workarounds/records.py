"""LLVM IR text as records: functions, their blocks, the lines of these. Parsed once for all rewrites."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from ptx2amd.codegen.error import CodegenError
from ptx2amd.records import dataclass, field
from ptx2amd.regex import regex

_LABEL = regex(r"([\w.$-]+|\"[^\"\n]+\"):")


@dataclass(slots=True)
class Block:
    """label: "" where LLVM numbers the entry; head: the label's line, or nothing; lines: an instruction each, the last
    one the terminator (a switch with all its cases is one)."""

    label: str
    head: str
    lines: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Function:
    """head: the line of `define`."""

    head: str
    blocks: list[Block] = field(default_factory=list)

    @property
    def kernel(self) -> bool:
        return " amdgpu_kernel " in self.head

    def lines(self) -> Iterator[str]:
        """All instructions."""
        return (line for block in self.blocks for line in block.lines)


@dataclass(slots=True)
class Module:
    """parts: functions, and the text between them, in order. declarations: what rewrites need more of."""

    parts: list[Function | str]
    declarations: dict[str, str] = field(default_factory=dict)

    def functions(self) -> Iterator[Function]:
        return (part for part in self.parts if isinstance(part, Function))

    def replace(self, change: Callable[[str], Iterable[str]]) -> None:
        """Replace each instruction by what `change` makes of it."""
        for function in self.functions():
            for block in function.blocks:
                block.lines = [new for line in block.lines for new in change(line)]

    def declare(self, function: str, text: str) -> None:
        """Declare a function, "declare " left out, unless the module does already."""
        declared = any(f"@{function}(" in part for part in self.parts if isinstance(part, str))
        if not declared:
            self.declarations[function] = text

    def text(self) -> str:
        """The module as LLVM reads it."""
        lines: list[str] = []
        for part in self.parts:
            if isinstance(part, str):
                lines += [part.rstrip("\n")] if part else []
                continue
            lines.append(part.head)
            for block in part.blocks:
                if block.head:
                    lines.append(block.head)
                lines += block.lines
            lines.append("}")
        lines += [f"declare {text}" for text in self.declarations.values()]
        return "\n".join(lines) + "\n"


def parse(ir: str) -> Module:
    """The records of IR text, as LLVM prints it or as the lowering writes it. Raises CodegenError for other lines."""
    parts: list[Function | str] = []
    between: list[str] = []
    function: Function | None = None
    for line in ir.split("\n"):
        if function is None:
            if line.startswith("define "):
                parts.append("\n".join(between))
                between = []
                function = Function(line, [Block("", "")])
                parts.append(function)
            else:
                between.append(line)
        elif line == "}":
            function = None
        elif not line or line.startswith(";"):
            continue
        elif line.startswith(("    ", "  ]")) and function.blocks[-1].lines:  # a switch's case, its end
            function.blocks[-1].lines[-1] += f"\n{line}"
        elif line.startswith("  ") and line[2:3] not in " ]":
            function.blocks[-1].lines.append(line)
        else:
            label = _LABEL.match(line)
            if label is None:
                raise CodegenError(f"IR with a line that is no instruction, label or comment: {line!r}")
            if function.blocks[-1].lines:
                function.blocks.append(Block(label[1], line))
            else:
                function.blocks[-1] = Block(label[1], line)
    if function is not None:
        raise CodegenError(f"IR with a function that does not end: {function.head}")
    parts.append("\n".join(between))
    return Module(parts)
