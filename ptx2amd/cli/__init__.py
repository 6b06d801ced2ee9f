"""The command line."""

from __future__ import annotations

import gc
import os
import sys
from typing import NoReturn

from ptx2amd import collector
from ptx2amd.errors import Ptx2amdError


def main() -> None:
    """Entry point of the console script: user errors are one line and exit status 1, as are files and folders that
    cannot be read or written."""
    collector.run_rarely()
    from ptx2amd.cli.commands import group

    try:
        group.main(prog_name="ptx2amd", standalone_mode=True)
    except Ptx2amdError as error:
        _fail(str(error))
    except OSError as error:
        if error.filename is None:
            raise
        _fail(f"{os.fsdecode(error.filename)}: {error.strerror}")
    finally:
        gc.freeze()  # the interpreter collects when it ends; nothing would come of it


def _fail(message: str) -> NoReturn:
    print(f"ptx2amd: {message}", file=sys.stderr)
    sys.exit(1)
