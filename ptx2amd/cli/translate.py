"""`ptx2amd translate`: PTX files, fatbins, executables -> AMDGPU code objects."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ptx2amd import fatbin
from ptx2amd.errors import Ptx2amdError
from ptx2amd.fatbin import ContainerError, Image
from ptx2amd.modules import linked_images, module_of
from ptx2amd.records import dataclass, replace
from ptx2amd.service.build_id import current_build_id
from ptx2amd.target import MAPPINGS
from ptx2amd.translate import EMIT, Result, translate

if TYPE_CHECKING:
    from ptx2amd.cli.passes import PassReport

SUFFIX = {"hsaco": ".hsaco", "obj": ".o", "asm": ".s", "ll": ".ll"}


@dataclass(frozen=True, slots=True)
class Job:
    """One module for one arch. stem: the output's name without suffix."""

    image: Image
    stem: str
    arch: str
    emit: str
    kernels: tuple[str, ...] | None
    mapping: str
    processes: int = 1  # that LLVM may have


@click.command(short_help="Translate PTX to AMDGPU code objects.")
@click.argument("inputs", nargs=-1, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--arch", "archs", default="gfx942", show_default=True, help="Comma-separated AMDGPU archs.")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    help="File (for one result, a name with a suffix) or folder (default: the current one).",
)
@click.option("--emit", type=click.Choice(EMIT), default="hsaco", show_default=True)
@click.option("--bundle", is_flag=True, help="One offload bundle with all archs instead of a file each.")
@click.option("--kernel", "kernels", multiple=True, help="Translate only this kernel (may be repeated).")
@click.option("--mapping", type=click.Choice(MAPPINGS), help="Warp mapping of all kernels (default: chosen for each).")
@click.option("--keep-going", is_flag=True, help="Write what could be translated when some kernels could not.")
@click.option("--print-after", "after", metavar="PASS", help="Print functions as they are after a pass, and no code.")
@click.option("--print-passes", "passes", is_flag=True, help="List the passes; with inputs, with their CPU times.")
def command(
    inputs: tuple[Path, ...],
    archs: str,
    output: Path | None,
    emit: str,
    bundle: bool,
    kernels: tuple[str, ...],
    mapping: str | None,
    keep_going: bool,
    after: str | None,
    passes: bool,
) -> None:
    """Translate PTX files, fatbins, executables and shared objects. Exit status 0 only if all was translated."""
    if not inputs and not passes:
        raise click.UsageError("no inputs")
    names = [name.strip() for name in archs.split(",") if name.strip()]
    _check_archs(names, mapping or "")
    report = None
    if after or passes:
        from ptx2amd.cli.passes import PassReport

        report = PassReport(after, passes)
    jobs: list[Job] = []
    failures: list[tuple[str, str, str]] = []  # module, kernel, reason
    for path in inputs:
        try:
            modules = list(ptx_modules(path))
        except (ContainerError, OSError) as error:
            failures.append((str(path), "", str(error)))
            continue
        if not modules:
            failures.append((str(path), "", "holds no PTX" + _only_machine_code(path)))
        for stem, image in modules:
            jobs += [Job(image, stem, arch, emit, kernels or None, mapping or "") for arch in names]
    if report is not None:
        for job in jobs:
            failures += _passed(report, job)
        report.finish()
        _report(failures)
        sys.exit(1 if failures else 0)
    results = _run(jobs, failures)
    written = _write(results, output, emit, bundle, keep_going)
    for path in written:
        click.echo(path)
    _remarks(results)
    _report(failures)
    sys.exit(1 if failures else 0)


def _check_archs(names: list[str], mapping: str) -> None:
    from ptx2amd.target import target

    if not names:
        raise click.UsageError("--arch names no arch")
    for name in names:
        target(name, mapping)


def ptx_modules(path: Path) -> Iterator[tuple[str, Image]]:
    """(output stem, image) of the PTX in a file. A file with several has them numbered.

    Of several PTX images of one fatbin only the newest target is taken, as a driver would. What was compiled
    separately (nvcc -rdc=true) is linked.
    """
    newest: dict[str, Image] = {}
    for image in linked_images(fatbin.images(path)):
        if image.kind == "ptx" and (image.fatbin not in newest or image.sm > newest[image.fatbin].sm):
            newest[image.fatbin] = image
    for number, image in enumerate(newest.values()):
        stem = path.stem if len(newest) == 1 else f"{path.stem}-{number}"
        yield stem, image


def _only_machine_code(path: Path) -> str:
    targets = sorted({image.target for image in fatbin.images(path)})
    return f": only machine code for {', '.join(targets)}" if targets else " or CUDA code"


def _translate(job: Job) -> tuple[Result | None, str]:
    """The result, or why the whole module failed."""
    try:
        module = module_of(job.image)
        wanted = None
        if job.kernels:
            wanted = [name for name in job.kernels if name in module.functions]
            if not wanted:
                return None, ""
        [result] = translate(
            module,
            module.source,
            [job.arch],
            wanted,
            mode="module",
            emit=job.emit,
            mapping=job.mapping,
            build_id=current_build_id(),
            isolate="all",
            jobs=job.processes,
        )
    except Ptx2amdError as error:
        return None, str(error)
    return result, ""


def _passed(report: PassReport, job: Job) -> list[tuple[str, str, str]]:
    """Take a module through the passes; what is refused."""
    place = f"{job.image.origin} for {job.arch}"
    try:
        found = report.add(module_of(job.image), job.arch, job.kernels, job.mapping)
    except Ptx2amdError as error:
        return [(place, "", str(error))]
    return [(place, name, reason) for name, reason in found]


def _run(jobs: list[Job], failures: list[tuple[str, str, str]]) -> list[tuple[Job, Result]]:
    """Translate the jobs, in parallel and with a progress bar when there are many."""
    done: list[tuple[Job, Result]] = []
    found: set[str] = set()
    with click.progressbar(length=len(jobs), label="translating", hidden=len(jobs) < 4, file=sys.stderr) as bar:
        for job, (result, problem) in zip(jobs, _outcomes(jobs), strict=True):
            bar.update(1)
            if problem:
                failures.append((f"{job.image.origin} for {job.arch}", "", problem))
            if result is None:
                continue
            found.update(result.kernels)
            for kernel in result.kernels.values():
                if not kernel.ok:
                    failures.append((f"{job.image.origin} for {job.arch}", kernel.name, kernel.reason))
            done.append((job, result))
    wanted = set(jobs[0].kernels or ()) if jobs else set()
    failures += [("all inputs", name, "no such kernel") for name in sorted(wanted - found)]
    return done


def _outcomes(jobs: list[Job]) -> Iterator[tuple[Result | None, str]]:
    if len(jobs) < 4:
        yield from (_translate(replace(job, processes=os.cpu_count() or 1)) for job in jobs)
    else:
        from concurrent.futures import ProcessPoolExecutor  # 13 ms that few jobs need not pay

        with ProcessPoolExecutor() as pool:
            yield from pool.map(_translate, jobs)


def _write(
    results: list[tuple[Job, Result]], output: Path | None, emit: str, bundle: bool, keep_going: bool
) -> list[Path]:
    """Write the outputs; modules with failed kernels only with --keep-going."""
    good = [(job, result) for job, result in results if result.code and (result.ok or keep_going)]
    if bundle:
        from ptx2amd.codegen.bundle import bundle as pack

        stems: dict[str, dict[str, bytes]] = {}
        for job, result in good:
            stems.setdefault(job.stem, {})[job.arch] = result.code
        files = {f"{stem}.hipfb": pack(codes) for stem, codes in stems.items()}
    else:
        several = len({job.arch for job, _ in results}) > 1
        files = {f"{job.stem}{'.' + job.arch if several else ''}{SUFFIX[emit]}": result.code for job, result in good}
    if output is not None and len(files) == 1 and (output.suffix or output.exists()) and not output.is_dir():
        output.parent.mkdir(parents=True, exist_ok=True)
        output.write_bytes(next(iter(files.values())))
        return [output]
    folder = output or Path()
    if files and folder.exists() and not folder.is_dir():
        raise click.ClickException(f"{folder} is a file; {len(files)} results need a folder")
    if files:
        folder.mkdir(parents=True, exist_ok=True)
    for name, code in files.items():
        (folder / name).write_bytes(code)
    return [folder / name for name in files]


def _remarks(results: list[tuple[Job, Result]]) -> None:
    """Warnings, and what a program has to know that launches the kernels itself, on stderr."""
    for job, result in results:
        for kernel in result.kernels.values():
            for text in kernel.warnings:
                click.echo(f"warning: {kernel.name} for {job.arch}: {text}", err=True)
    lines = [
        f"  {kernel.name} for {job.arch}: {need}"
        for job, result in results
        for kernel in result.kernels.values()
        if kernel.ok
        for need in kernel.needs
    ]
    if lines:
        click.echo("Programs that launch these kernels themselves (docs/offline.md):", err=True)
        click.echo("\n".join(lines), err=True)


def _report(failures: list[tuple[str, str, str]]) -> None:
    """A table of what failed and why, on stderr."""
    if not failures:
        return
    click.echo(f"{len(failures)} not translated:", err=True)
    for module, kernel, reason in failures:
        click.echo(f"  {kernel or '(module)':32} {module}\n      {reason}", err=True)
