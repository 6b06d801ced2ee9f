"""`ptx2amd explain`: one kernel at each stage of its translation."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import click

from ptx2amd.cli.output import OutputFile
from ptx2amd.cli.translate import ptx_modules
from ptx2amd.errors import Ptx2amdError
from ptx2amd.explain import explain
from ptx2amd.explain.page import page
from ptx2amd.explain.sources import fill
from ptx2amd.explain.terminal import lines
from ptx2amd.modules import module_of
from ptx2amd.ptx.ast import Module
from ptx2amd.target import MAPPINGS, target

SHOWN = 12  # names in a message
WIDTH = 120  # where there is no terminal


@click.command(short_help="Show a kernel's CUDA lines, PTX, IR and machine code side by side.")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--kernel", required=True, metavar="NAME", help="The kernel: its name, or a part that no other has.")
@click.option("--arch", default="gfx942", show_default=True, help="The chip to translate for.")
@click.option("--mapping", type=click.Choice(MAPPINGS), help="Warp mapping (default: chosen as for `run`).")
@click.option("--block", type=click.IntRange(1, 1024), help="Threads of a block, for the occupancy (default: 256).")
@click.option("--html", "output", type=OutputFile(), help="Write a page instead.")
def command(file: Path, kernel: str, arch: str, mapping: str | None, block: int | None, output: Path | None) -> None:
    """Show what a kernel of a PTX file, fatbin or executable is translated to, line by line: its PTX, the LLVM IR and
    the machine code, below the CUDA lines if it was compiled with nvcc -lineinfo; registers, memory, occupancy,
    instructions, fidelity, and how warps lie in waves, with the reason."""
    target(arch, mapping or "")
    module, name = _find(file, kernel)
    found = explain(module, name, arch, mapping or "", block or 0)
    fill(found, file)
    if output:
        output.write_text(page(found))
        click.echo(output)
        return
    width = shutil.get_terminal_size((WIDTH, 0)).columns if sys.stdout.isatty() else WIDTH
    click.echo("\n".join(lines(found, width)))


def _find(file: Path, wanted: str) -> tuple[Module, str]:
    """The module with the kernel, and the kernel's name. Raises Ptx2amdError."""
    found: list[tuple[Module, str]] = []
    for _, image in ptx_modules(file):
        module = module_of(image)
        names = [name for name, function in module.functions.items() if function.kind == "entry" and function.text]
        if wanted in names:
            return module, wanted
        found += [(module, name) for name in names]
    if not found:
        raise Ptx2amdError(f"{file}: no kernels in PTX; `ptx2amd inspect {file}` shows what it holds")
    matches = [(module, name) for module, name in found if wanted in name]
    if len({name for _, name in matches}) == 1:
        return matches[0]
    names = sorted({name for _, name in (matches or found)})
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    what = "several kernels have this in their names" if matches else "no such kernel; it has"
    raise Ptx2amdError(f"{file}: {wanted}: {what}: {', '.join(names[:SHOWN])}{more}")
