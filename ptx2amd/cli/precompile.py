"""`ptx2amd precompile`: fill the cache ahead of a program's first run."""

from __future__ import annotations

import os
import shutil
import sys
import time
from pathlib import Path

import click

from ptx2amd.precompile.images import files_of, images_of
from ptx2amd.precompile.run import Progress, fill
from ptx2amd.service import cache
from ptx2amd.service.folder import open_folder
from ptx2amd.target import MAPPINGS, target

REDRAW = 0.5  # seconds between drawings on a terminal
LOG = 30.0  # seconds between lines of a log
INTERRUPTED = 130  # exit status


@click.command(short_help="Translate a program's kernels ahead of its first run.")
@click.argument("files", nargs=-1, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--env", "folder", type=click.Path(exists=True, file_okay=False, path_type=Path),
              help="A folder, such as an environment of Python: all its files with PTX.")  # fmt: skip
@click.option("--arch", "archs", default="gfx942", show_default=True, help="Comma-separated AMDGPU archs.")
@click.option("--mapping", type=click.Choice(MAPPINGS), help="Warp mapping of all kernels (default: chosen for each).")
@click.option("--executor", default="", metavar="dask:ADDRESS", help="Translate on a dask cluster.")
def command(files: tuple[Path, ...], folder: Path | None, archs: str, mapping: str | None, executor: str) -> None:
    """Translate every kernel of the files into the cache, as far as it does not have them: a run that was stopped goes
    on where it was. Exit status 1 when a kernel could not be translated."""
    if not files and not folder:
        raise click.UsageError("give files, or a folder with --env")
    names = [arch.strip() for arch in archs.split(",")]
    for arch in names:
        target(arch, mapping or "")
    os.close(open_folder(cache.directory(), make="all")[1])  # at once, if it cannot be used
    problems: list[str] = []
    images = images_of([*files, *(files_of(folder) if folder else ())], problems)
    if not images and not problems:
        click.echo("no PTX was found; `ptx2amd inspect FILE` shows what a file holds", err=True)
    options = f"mapping={mapping}" if mapping else ""  # as the shim asks for with PTX2AMD_MAPPING
    line = Line()
    try:
        progress = fill(images, names, options, executor, line.show)
    except KeyboardInterrupt:
        line.clear()
        click.echo(
            f"stopped: {line.last.done} of {line.last.kernels} kernels are done; the same command goes on", err=True
        )
        sys.exit(INTERRUPTED)
    line.clear()
    problems += progress.problems
    for problem in problems:
        click.echo(problem, err=True)
    count = progress.ready + progress.done
    click.echo(f"{count} kernels of {len(images)} modules in {cache.directory()}; {len(problems)} failed")
    sys.exit(bool(problems))


class Line:
    """How far, how fast, how long: a line on the terminal that is drawn again; elsewhere, lines of a log."""

    def __init__(self) -> None:
        self.start = self.drawn = time.monotonic()
        self.last = Progress(0)

    def show(self, progress: Progress) -> None:
        self.last = progress
        terminal = sys.stderr.isatty()
        if time.monotonic() - self.drawn < (REDRAW if terminal else LOG):
            return
        self.drawn = time.monotonic()
        line = text(progress, self.drawn - self.start)
        if terminal:
            columns = shutil.get_terminal_size().columns - 1
            click.echo("\r\033[K" + line[:columns], nl=False, err=True)
        else:
            click.echo(line, err=True)

    def clear(self) -> None:
        if sys.stderr.isatty():
            click.echo("\r\033[K", nl=False, err=True)


def text(progress: Progress, seconds: float) -> str:
    """Progress in words, after so many seconds. The time left goes by the work that is left."""
    found = f"{progress.done} of {progress.kernels} kernels"
    if progress.modules < progress.all_modules:
        found += f" of {progress.modules} modules ({progress.all_modules} in all)"
    rate = f", {progress.done / seconds:.1f}/s" if seconds and progress.done else ""
    left = ""
    if progress.work_done and progress.modules == progress.all_modules:
        left = f", {_time(seconds * (progress.work - progress.work_done) / progress.work_done)} left"
    return f"{found}{rate}{left}: {progress.now}"


def _time(seconds: float) -> str:
    minutes = int(seconds) // 60
    return (
        f"{minutes // 60} h {minutes % 60} min"
        if minutes >= 60
        else f"{minutes} min"
        if minutes
        else f"{seconds:.0f} s"
    )
