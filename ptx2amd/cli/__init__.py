"""The command line: one file per command, loaded when it is called."""

from __future__ import annotations

import gc
import importlib
import os
import sys
from typing import NoReturn

import click

from ptx2amd import __version__
from ptx2amd.errors import Ptx2amdError

COMMANDS = {
    "run": "Run a CUDA program on an AMD GPU, or on the software one.",
    "translate": "Translate PTX to AMDGPU code objects.",
    "inspect": "Show what CUDA code a file holds and whether it will run.",
    "explain": "Show a kernel's CUDA lines, PTX, IR and machine code side by side.",
    "doctor": "Check the installation, a program or an environment; test a device.",
    "cache": "List, check and trim the cache of translated kernels.",
    "trace": "Read what `ptx2amd run --trace` wrote.",
    "compat": "Build and run CUDA projects unmodified, with a report.",
    "precompile": "Translate a program's kernels ahead of its first run.",
}

COLLECT_AFTER = 100_000  # new objects: Python's 700 are passed again and again by imports and lowering, which keep all


class LazyGroup(click.Group):
    """Imports a command's module on use: `ptx2amd run` must not pay for the translator."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        command: click.Command = importlib.import_module(f"ptx2amd.cli.{name}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="ptx2amd")
def group() -> None:
    """Run unmodified CUDA programs on AMD GPUs."""


def main() -> None:
    """Entry point of the console script: user errors are one line and exit status 1, as are files and folders that
    cannot be read or written."""
    gc.set_threshold(COLLECT_AFTER)
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
    click.echo(f"ptx2amd: {message}", err=True)
    sys.exit(1)
