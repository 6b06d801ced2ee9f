"""`ptx2amd run`: start a program with our libcuda in front; its exit status is the program's own."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import click

from ptx2amd import launch
from ptx2amd.errors import Ptx2amdError
from ptx2amd.target import MAPPINGS


@click.command(
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
    short_help="Run a CUDA program on an AMD GPU, or on the software one.",
)
@click.option(
    "--device", metavar="hip|vgpu[:ARCH]", help="Device to use (default: hip if one answers, else vgpu:gfx942)."
)
@click.option(
    "--trace", type=click.Path(dir_okay=False, path_type=Path), help="Write events as JSON lines to this file."
)
@click.option("--mapping", type=click.Choice(MAPPINGS), help="Warp mapping of all kernels (default: chosen for each).")
@click.option("--print-env", is_flag=True, help="Print the environment instead of starting the program.")
@click.argument("command", nargs=-1, type=click.UNPROCESSED)
def command(
    device: str | None, trace: Path | None, mapping: str | None, print_env: bool, command: tuple[str, ...]
) -> None:
    """Run a CUDA program: ptx2amd run [OPTIONS] -- CMD ARGS..."""
    changes = launch.environment(device, trace, mapping)
    if print_env:
        for name, value in changes.items():
            click.echo(f"export {name}={launch.quote(value)}")
        return
    if not command:
        raise click.UsageError("no program given: ptx2amd run [OPTIONS] -- CMD ARGS...")
    program = shutil.which(command[0])
    if program is None:
        reason = "is not executable" if os.path.exists(command[0]) else "not found"
        click.echo(f"ptx2amd: {command[0]}: {reason}", err=True)
        sys.exit(126 if os.path.exists(command[0]) else 127)
    try:
        os.execve(program, list(command), {**os.environ, **changes})
    except OSError as error:
        raise Ptx2amdError(f"{command[0]}: {error.strerror}") from None
