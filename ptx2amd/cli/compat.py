"""`ptx2amd compat`: builds and runs third-party CUDA projects unmodified, and reports the results."""

from __future__ import annotations

import sys
from fnmatch import fnmatchcase
from pathlib import Path

import click

from ptx2amd.compat import manifest, report, runner

WORK = click.option(
    "--work",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("ptx2amd-compat"),
    show_default=True,
    help="Folder for sources, programs and results.",
)


@click.group(short_help="Test open-source CUDA projects, with a report.")
def command() -> None:
    """Build and run CUDA projects unmodified, and report which give the right results.

    A project is a manifest: one that comes with ptx2amd (`compat list`), or a .toml file of yours (docs/compat.md).
    """


@command.command(name="list")
def list_projects() -> None:
    """List the included projects."""
    for project in manifest.ours():
        click.echo(f"{project.name:20} {project.title}\n{'':20} {project.origin}")


@command.command()
@click.argument("projects", nargs=-1)
@click.option(
    "--device",
    "devices",
    default="vgpu:gfx942,vgpu:gfx1100",
    show_default=True,
    help="As PTX2AMD_DEVICE, comma-separated.",
)
@click.option("--only", metavar="PATTERN", default="*", help="Only programs whose names match.")
@click.option(
    "--sources",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Folder with sources (PROJECT/, or git repositories OWNER/NAME.git), for machines without network.",
)
@click.option(
    "--build-limit",
    type=float,
    default=runner.BUILD_LIMIT,
    show_default=True,
    help="Seconds that each command which builds may take.",
)
@WORK
def run(
    projects: tuple[str, ...], devices: str, only: str, sources: Path | None, build_limit: float, work: Path
) -> None:
    """Build and run projects (default: all). Programs that are already built are not built again.

    Exit status 1 if a program is not right and its manifest gives no reason for it.
    """
    unexpected = 0
    for chosen in manifest.named(projects):
        project = runner.Project(chosen, work, sources, build_limit)
        for program in project.programs:
            if not fnmatchcase(program.name, only):
                continue
            for device in devices.split(","):
                outcome = project.run(program, device)
                runner.keep(work, [outcome])
                texts = [outcome.why, f"(known: {outcome.known})" if outcome.known else ""]
                why = "".join(f"  {text}" for text in texts if text)
                name, verdict = f"{chosen.name:16} {program.name:32}", f"{outcome.verdict:12} {outcome.seconds:7.1f} s"
                click.echo(f"{name} {device:14} {verdict}{why}")
                unexpected += outcome.unexpected
    sys.exit(1 if unexpected else 0)


FILE = click.Path(dir_okay=False, path_type=Path)


@command.command(name="report")
@click.option("--html", "site", type=FILE, help="Write the report as an HTML file with a picture.")
@click.option("--save", type=FILE, help="Write the results to a file that --against reads.")
@click.option("--against", type=FILE, help="Results that were saved earlier: show what has changed.")
@WORK
def show(site: Path | None, save: Path | None, against: Path | None, work: Path) -> None:
    """Print the results of all runs in the work folder, as Markdown."""
    found = list(runner.outcomes(work))
    before = runner.loaded(against) if against else None
    if site:
        site.write_text(report.site(found, before))
    if save:
        runner.save(save, found)
    click.echo(report.page(found, before), nl=False)
