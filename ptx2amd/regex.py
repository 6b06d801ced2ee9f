"""Regular expressions that are compiled when they are first used: most translations use few of the translator's."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from re import compile as regex
else:

    class regex:
        """As `re.compile`, for constants of a module."""

        def __init__(self, text: str | bytes, flags: int = 0) -> None:
            self._arguments = text, flags

        def __getattr__(self, name: str) -> Any:
            """A method or attribute that is used for the first time; later uses find it without this call."""
            found = getattr(re.compile(*self._arguments), name)
            setattr(self, name, found)
            return found


__all__ = ["regex"]
