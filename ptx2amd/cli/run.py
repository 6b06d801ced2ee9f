"""`ptx2amd run`: start a program with our libcuda in front; its exit status is the program's own."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import click

from ptx2amd import launch, settings
from ptx2amd.cli.output import OutputFile
from ptx2amd.errors import Ptx2amdError
from ptx2amd.target import MAPPINGS


@click.command(
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
    short_help="Run a CUDA program on an AMD GPU or the software GPU, or a HIP program on the software GPU.",
)
@click.option("--hip", is_flag=True, help="The program is a HIP program: run it on the software GPU.")
@click.option(
    "--device",
    metavar="hip|vgpu[:ARCH]|kfd[:ARCH]",
    help="Device to use (default: hip if one answers, else vgpu:gfx942). kfd: the software GPU below AMD's ROCm.",
)
@click.option("--trace", type=OutputFile(), help="Write events as JSON lines to this file.")
@click.option("--mapping", type=click.Choice(MAPPINGS), help="Warp mapping of all kernels (default: chosen for each).")
@click.option(
    "--libraries",
    type=click.Choice(settings.LIBRARIES.choices),
    help="Source of cuBLAS and other libraries; auto: ROCm's if they have code for the chip, else NVIDIA's (default).",
)
@click.option("--debug", is_flag=True, help="Fault reports name PTX lines even if the PTX has no CUDA lines.")
@click.option("--memcheck", is_flag=True, help="Software GPU: find invalid accesses, uninitialised reads, and leaks.")
@click.option("--racecheck", is_flag=True, help="Software GPU: find races in shared and global memory.")
@click.option(
    "--weak",
    metavar="SEED",
    type=click.IntRange(min=0, max=2**32),
    is_flag=False,
    flag_value=0,
    help="Software GPU: order memory as weakly as AMD's documents allow, to find missing waits.",
)
@click.option(
    "--profile",
    type=OutputFile(),
    is_flag=False,
    flag_value=Path("profile.json"),
    help="Software GPU: count instructions and memory accesses; print a table, write JSON and an HTML page.",
)
@click.option("--print-env", is_flag=True, help="Print the environment instead of starting the program.")
@click.argument("command", nargs=-1, type=click.UNPROCESSED)
def command(
    hip: bool,
    device: str | None,
    trace: Path | None,
    mapping: str | None,
    libraries: str | None,
    debug: bool,
    memcheck: bool,
    racecheck: bool,
    weak: int | None,
    profile: Path | None,
    print_env: bool,
    command: tuple[str, ...],
) -> None:
    """Run a CUDA program: ptx2amd run [OPTIONS] -- CMD ARGS..."""
    program = shutil.which(command[0]) if command else None
    if hip:
        if mapping or libraries:
            raise click.UsageError("--mapping and --libraries are for CUDA programs")
        changes = launch.hip_environment(device, trace)
    else:
        changes = launch.environment(device, trace, mapping, program, libraries)
    if (memcheck or racecheck or profile or weak is not None) and device is None and not settings.DEVICE.text():
        changes["PTX2AMD_DEVICE"] = "vgpu"  # the tools are the software GPU's
    changes |= launch.tools(debug, memcheck, racecheck, weak=weak)
    if weak == 0:
        click.echo(f"ptx2amd: --weak={changes['PTX2AMD_WEAK']} repeats this run", err=True)
    if print_env:
        for name, value in changes.items():
            click.echo(f"export {name}={launch.quote(value)}")
        return
    if not command:
        raise click.UsageError("no program given: ptx2amd run [OPTIONS] -- CMD ARGS...")
    if program is None:
        reason = "is not executable" if os.path.exists(command[0]) else "not found"
        click.echo(f"ptx2amd: {command[0]}: {reason}", err=True)
        sys.exit(126 if os.path.exists(command[0]) else 127)
    if said := launch.remark(program, hip, changes.get("PTX2AMD_DEVICE", settings.DEVICE.text()), trace is not None):
        click.echo(f"ptx2amd: {said}", err=True)
    if profile is not None:
        sys.exit(_profiled(program, command, {**os.environ, **changes}, profile.absolute()))
    try:
        os.execve(program, list(command), {**os.environ, **changes})
    except OSError as error:
        raise Ptx2amdError(f"{command[0]}: {error.strerror}") from None


def _profiled(program: str, command: tuple[str, ...], environment: dict[str, str], target: Path) -> int:
    """Run the program as a child, then show what was counted; returns its status as a shell would."""
    from ptx2amd.report import counters, profile

    with tempfile.TemporaryDirectory(prefix="ptx2amd-") as directory:
        prefix = Path(directory) / "counters"
        child = subprocess.Popen(list(command), executable=program, env={**environment, **launch.tools(profile=prefix)})
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the terminal sends it to the child too
        status = child.wait()
        kernels = counters.collect(prefix)
    if kernels:
        click.echo(counters.table(kernels), err=True, nl=False)
        click.echo(f"ptx2amd: {target} and {profile.write(kernels, target)}", err=True)
    else:
        click.echo("ptx2amd: no kernel ran on the software GPU", err=True)
    return status if status >= 0 else 128 - status
