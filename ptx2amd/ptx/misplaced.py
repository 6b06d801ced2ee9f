"""Where an error lies in a function's body. The body's parser keeps no columns: they are found again for an error."""

from __future__ import annotations

import re
from typing import NoReturn

from ptx2amd.errors import PtxError
from ptx2amd.isa.match import MatchError
from ptx2amd.ptx.ast import Function
from ptx2amd.ptx.items import ITEMS, STATEMENT, split_operands
from ptx2amd.ptx.scan import place
from ptx2amd.ptx.scope import BadOperand


class Places:
    """The items of a function's body in the text of the module."""

    def __init__(self, function: Function, source: str) -> None:
        self.function, self.text, self.source = function, function.text, source
        self._items: list[tuple[int, int]] = []  # begin and end of all items, once there is an error

    def error(self, message: str, offset: int) -> PtxError:
        """An error at an offset in the body."""
        return PtxError(message, self.source, *self._place(offset))

    def placed(self, error: BadOperand | MatchError | PtxError, left: int) -> PtxError:
        """An error in the item behind which `left` items follow: at the wrong text, or where the grammar rejects the
        item."""
        if not self._items:
            self._items = [(item.end(1), item.end()) for item in ITEMS.finditer(self.text, 1)]
        begin, end = self._items[len(self._items) - 1 - left]
        try:
            self._check_grammar(begin, end)
        except PtxError as placed:
            return placed
        if isinstance(error, BadOperand):
            return self.error(error.message, self._operand(error, begin, end))
        if isinstance(error, MatchError):
            return self.error(error.message, self._mismatch(error, begin, end))
        return self.error(error.message, begin)  # from the grammar, which did not know the place

    def _place(self, offset: int) -> tuple[int, int]:
        return place(self.text, offset, self.function.body_line, self.function.body_column)

    def _operand(self, error: BadOperand, begin: int, end: int) -> int:
        found = None
        if error.text:
            found = re.compile(rf"(?<![\w$%]){re.escape(error.text)}(?![\w$])", re.A).search(self.text, begin, end)
        return found.start() if found else begin

    def _mismatch(self, error: MatchError, begin: int, end: int) -> int:
        statement = STATEMENT.match(self.text[begin:end])
        if statement is None:
            return begin
        if error.operand < 0:
            return begin + statement.start("opcode")
        at = begin + statement.start("operands")
        for part in split_operands(statement["operands"] or "")[: error.operand + 1]:
            start = self.text.index(part, at)
            at = start + len(part)
        return start

    def _check_grammar(self, begin: int, end: int) -> None:
        item = self.text[begin:end]
        if item not in ("{", "}"):
            from ptx2amd.ptx import grammar

            try:
                grammar.parse(item, "item", self.source, *self._place(begin))
            except PtxError as error:
                self._point(error, end)

    def _point(self, error: PtxError, end: int) -> NoReturn:
        """Raise the grammar's error; where it found the end of the item, at what follows in the body."""
        behind = self.text[end:].lstrip()
        if not error.message.startswith("found the end") or not behind:
            raise error
        raise self.error(error.message.replace("the end", f"'{behind[0]}'", 1), len(self.text) - len(behind)) from error


__all__ = ["Places"]
