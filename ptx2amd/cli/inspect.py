"""`ptx2amd inspect`: the CUDA code in a file, and whether it will run."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from ptx2amd import fatbin, settings
from ptx2amd.cli.output import OutputFile
from ptx2amd.codegen.link import sidecar_of
from ptx2amd.errors import Ptx2amdError
from ptx2amd.inspection import ImageReport, KernelReport, reports
from ptx2amd.libraries import ptx_builds
from ptx2amd.libraries.asked import Asked, asked
from ptx2amd.modules import linked_images
from ptx2amd.report.fidelity import page
from ptx2amd.target import target


@click.command(short_help="Show what CUDA code a file holds and whether it will run.")
@click.argument("file", type=click.Path(exists=True, path_type=Path))
@click.option("--arch", default="gfx942", show_default=True, help="The chip for which to check whether kernels run.")
@click.option(
    "--list", "only_list", is_flag=True, help="List images and kernels without checking whether they will run."
)
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
@click.option("--report", "output", type=OutputFile(), help="Write a page of the verdicts.")
def command(file: Path, arch: str, only_list: bool, as_json: bool, output: Path | None) -> None:
    """Show the images, kernels and verdicts of a PTX file, fatbin, executable, or a code object of ours.

    Of a folder, such as an environment of Python: whose the CUDA libraries will be that its files ask for.

    Checking whether kernels run takes part of the time of a translation; --list only scans the file."""
    if output and (only_list or as_json or file.is_dir()):
        raise click.UsageError("--report is for the verdicts of one file: without --list and --json")
    if file.is_dir():
        target(arch)
        _show_folder(file, asked(file, settings.LIBRARIES.text(), f"vgpu:{arch}"), as_json)
        return
    blob = file.read_bytes()
    if blob[:4] == b"\x7fELF" and (note := sidecar_of(blob, str(file))) is not None:
        _show_code_object(note, as_json, file)
        return
    target(arch)
    served = asked(file, settings.LIBRARIES.text(), f"vgpu:{arch}")
    images = linked_images(fatbin.images_of(blob, str(file)))
    size = sum(image.size for image in images if image.kind == "ptx")
    hidden = size < 1_000_000 or not sys.stderr.isatty()
    doing = "listing" if only_list else "checking"
    done: list[ImageReport] = []
    with click.progressbar(length=len(images), label=doing, hidden=hidden, file=sys.stderr) as bar:
        for report, complete in reports(images, "" if only_list else arch):
            bar.label = f"{doing} ({sum(len(r.kernels) for r in done) + len(report.kernels)} kernels)"
            bar.update(int(complete))
            if complete:
                done.append(report)
                if not as_json and not output and hidden:
                    _show(report, arch)
    if as_json:
        _show_json([asdict(report) for report in done], served)
        return
    if output:
        _write(output, page(file, arch, done, served))
        _summary(file, done, arch)
        return
    for one in served:
        click.echo(f"{one.soname}: {one.choice.text}")
    if not hidden:
        for report in done:
            _show(report, arch)
    _summary(file, done, arch)


def _write(output: Path, text: str) -> None:
    output.write_text(text)
    click.echo(output)


def _show_json(images: list[dict[str, Any]], libraries: list[Asked]) -> None:
    click.echo(json.dumps({"images": images, "libraries": [one.as_json() for one in libraries]}, indent=2))


def _show_folder(folder: Path, libraries: list[Asked], as_json: bool) -> None:
    if as_json:
        _show_json([], libraries)
        return
    for one in libraries:
        files = one.files[0] if len(one.files) == 1 else f"{one.files[0]} and {len(one.files) - 1} more"
        click.echo(f"{one.soname}: {one.choice.text}\n  asked for by {files}")
    if not libraries:
        click.echo(f"{folder}: no file asks for a CUDA library that ROCm's can replace")


def _summary(file: Path, done: list[ImageReport], arch: str) -> None:
    kernels = [kernel for report in done for kernel in report.kernels]
    if not done:
        click.echo(f"{file}: no CUDA code")
    elif not any(report.kind == "ptx" for report in done):
        click.echo(f"This file holds machine code only and cannot be translated; {ptx_builds.remedy([file.name])}")
    elif len(kernels) > 1:
        judged = [kernel.runs for kernel in kernels if kernel.runs is not None]
        verdict = f": {judged.count(True)} run on {arch}, {judged.count(False)} do not" if judged else ""
        click.echo(f"{len(kernels)} kernels in {len(done)} images{verdict}")


def _show(report: ImageReport, arch: str) -> None:
    version = f" PTX {report.ptx_version}" if report.ptx_version else ""
    packed = f", {report.compression} {report.stored_bytes:,}" if report.compression != "none" else ""
    click.echo(f"{report.kind}{version} {report.target}: {report.bytes:,} bytes{packed}  ({report.origin})")
    if report.error:
        click.echo(f"  not readable: {report.error}")
    for kernel in report.kernels:
        size = max((offset + size for offset, size, _ in kernel.params), default=0)
        facts = f"{len(kernel.params)} parameters in {size} bytes"
        if kernel.runs is not None:
            facts += f", {kernel.static_shared:,} bytes of static shared memory"
        click.echo(f"  {kernel.name}\n    {facts}")
        if kernel.runs is None:
            continue
        if kernel.runs:
            click.echo(f"    runs on {arch}: {kernel.mapping}, {kernel.fidelity}")
            for line in _hazards(kernel.mapping, kernel.hazards, kernel.warnings, kernel.apart, kernel.rows):
                click.echo(line)
            _show_shared(kernel, arch)
        else:
            click.echo(f"    does not run on {arch}: {kernel.reason}")


def _hazards(
    mapping: str, hazards: list[str], warnings: list[str], apart: list[tuple[int, int]], rows: int
) -> Iterator[str]:
    if mapping == "padded":
        yield "    blocks of at most 512 threads, launched with twice the size in x"
    if rows:
        yield "    padded unless the block size in x is 1, 2, 4, 8, 16 or 32"
    for first, second in apart:
        yield f"    padded if the pointer parameters at +{first} and +{second} point into the same allocation"
    for text in hazards:
        yield f"    warps of a block wait for each other: {text}"
    for text in warnings:
        yield f"    warning: {text}"


def _show_shared(kernel: KernelReport, arch: str) -> None:
    """Print the shared memory beyond the chip's LDS."""
    cost = "accesses are as slow as to global memory, and a multiprocessor runs at most 4 blocks"
    if kernel.slot:
        click.echo(f"    {kernel.slot:,} bytes of static shared memory in global memory, as LDS is too small: {cost}")
    elif kernel.dynamic:
        room = target(arch).arch.lds - kernel.static_shared
        click.echo(f"    with more than {room:,} bytes of dynamic shared memory: in global memory; {cost}")


def _show_code_object(note: dict[str, Any], as_json: bool, file: Path) -> None:
    if as_json:
        click.echo(json.dumps(note, indent=2))
        return
    try:
        lines = list(_code_object(note))
    except (KeyError, TypeError, ValueError, AttributeError) as error:  # the note is JSON that somebody else wrote
        raise Ptx2amdError(f"{file}: the note of ptx2amd is damaged: {type(error).__name__}: {error}") from None
    click.echo("\n".join(lines))


def _code_object(note: dict[str, Any]) -> Iterator[str]:
    yield f"code object for {note['arch']}, from PTX {'.'.join(map(str, note['ptx']))} for {note['target']}"
    for name, kernel in note["kernels"].items():
        yield f"  {name}"
        yield (
            f"    {kernel['mapping']}, {kernel['vgprs']} VGPRs, {kernel['sgprs']} SGPRs, "
            f"{kernel['static_shared']:,} bytes of LDS, {kernel['local']:,} of scratch; {kernel['fidelity']}"
        )
        yield from (f"    {need}" for need in kernel["needs"])
        yield from _hazards("", *(kernel[key] for key in ("hazards", "warnings", "apart", "rows")))
