"""The errors that users see. Every one names the place and, where there is one, the way out."""

from __future__ import annotations


class Ptx2amdError(Exception):
    """Base of all errors with a message for the user."""


class PtxError(Ptx2amdError):
    """PTX text that is not legal, at a place: 'file:line:col: error: message'."""

    def __init__(self, message: str, source: str = "<ptx>", line: int = 0, column: int = 0) -> None:
        self.message, self.source, self.line, self.column = message, source, line, column
        super().__init__(f"{source}:{line}:{column}: error: {message}")


class Unsupported(Ptx2amdError):
    """Legal PTX that we refuse, with kernel, line, instruction and reason."""

    def __init__(self, reason: str, kernel: str = "", line: int = 0, opcode: str = "") -> None:
        self.reason, self.kernel, self.line, self.opcode = reason, kernel, line, opcode
        where = f"kernel {kernel}{f', line {line}' if line else ''}: " if kernel else ""
        super().__init__(f"{where}{opcode + ': ' if opcode else ''}{reason}")
