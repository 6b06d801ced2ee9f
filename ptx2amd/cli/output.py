"""Options that name a file which is written after long work: whether it can be is checked before."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click

from ptx2amd.errors import Ptx2amdError


class OutputFile(click.Path):
    """A file that exists and can be written, or that can be made. Raises Ptx2amdError."""

    def __init__(self) -> None:
        super().__init__(dir_okay=False, writable=True, path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        path = Path(os.fsdecode(super().convert(value, param, ctx)))
        if not path.parent.is_dir():
            raise Ptx2amdError(f"{path}: cannot be written: there is no folder {path.parent}")
        if not path.exists() and not os.access(path.parent, os.W_OK):
            raise Ptx2amdError(f"{path}: cannot be written: folder {path.parent} is not writable")
        return path
