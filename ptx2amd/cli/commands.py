"""The command: one file for each of its commands, loaded when it is called."""

from __future__ import annotations

import importlib

import click

from ptx2amd import __version__

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
