"""The errors that users see. Each one names the place and, if possible, what to do."""

from __future__ import annotations


class Ptx2amdError(Exception):
    """Base of all errors with a message for the user."""


class PtxError(Ptx2amdError):
    """PTX text that is not legal, at a place: 'file:line:col: error: message'."""

    def __init__(self, message: str, source: str = "<ptx>", line: int = 0, column: int = 0) -> None:
        super().__init__(message, source, line, column)  # all of them, so that pickle makes the same error again
        self.message, self.source, self.line, self.column = message, source, line, column

    def __str__(self) -> str:
        return f"{self.source}:{self.line}:{self.column}: error: {self.message}"


class PtxErrors(PtxError):
    """All that is wrong with a text, a line each; what the first is, where one is asked for."""

    def __init__(self, errors: list[PtxError]) -> None:
        super().__init__(errors[0].message, errors[0].source, errors[0].line, errors[0].column)
        self.errors = errors

    def __reduce__(self) -> tuple[object, ...]:
        return PtxErrors, (self.errors,)

    def __str__(self) -> str:
        return "\n".join(map(str, self.errors))


class LinkError(Ptx2amdError):
    """Modules or objects that do not go together: symbols that none of them defines, or two do, or an object that the
    linker does not know."""


class Unsupported(Ptx2amdError):
    """Legal PTX that we refuse, with kernel, line, instruction and reason."""

    def __init__(self, reason: str, kernel: str = "", line: int = 0, opcode: str = "") -> None:
        super().__init__(reason, kernel, line, opcode)
        self.reason, self.kernel, self.line, self.opcode = reason, kernel, line, opcode

    def __str__(self) -> str:
        where = f"kernel {self.kernel}{f', line {self.line}' if self.line else ''}: " if self.kernel else ""
        return f"{where}{self.opcode + ': ' if self.opcode else ''}{self.reason}"
