"""`ptx2amd inspect`: what CUDA code a file holds, and whether it will run."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import click

from ptx2amd import fatbin
from ptx2amd.codegen.link import sidecar_of
from ptx2amd.errors import Ptx2amdError
from ptx2amd.fatbin import Image
from ptx2amd.target import target
from ptx2amd.translate import KernelResult, parse, translate


@dataclass(slots=True)
class KernelReport:
    """One kernel: parameters as (offset, size, align) in bytes, shared memory in bytes, and its verdict."""

    name: str
    params: list[tuple[int, int, int]]
    static_shared: int
    mapping: str
    fidelity: str
    runs: bool
    reason: str = ""
    hazards: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    slot: int | None = None  # bytes of static shared memory in the arena; None: all in LDS
    dynamic: bool = False  # whether it uses dynamic shared memory
    apart: list[tuple[int, int]] = field(default_factory=list)  # parameters, by offset
    rows: bool = False  # whether it is padded for blocks whose size in x does not divide a warp's


@dataclass(slots=True)
class ImageReport:
    kind: str
    target: str
    ptx_version: str
    compression: str
    stored_bytes: int
    bytes: int
    origin: str
    kernels: list[KernelReport] = field(default_factory=list)
    error: str = ""


@click.command(short_help="Show what CUDA code a file holds and whether it will run.")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--arch", default="gfx942", show_default=True, help="The arch to judge for.")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def command(file: Path, arch: str, as_json: bool) -> None:
    """Show the images, kernels and verdicts of a PTX file, fatbin, executable, or a code object of ours."""
    blob = file.read_bytes()
    if blob[:4] == b"\x7fELF" and (note := sidecar_of(blob)) is not None:
        _show_code_object(note, as_json)
        return
    reports = [_report(image, arch) for image in fatbin.images_of(blob, str(file))]
    if as_json:
        click.echo(json.dumps([asdict(report) for report in reports], indent=2))
        return
    if not reports:
        click.echo(f"{file}: no CUDA code")
    for report in reports:
        _show(report, arch)
    if reports and not any(report.kind == "ptx" for report in reports):
        click.echo(
            "This file holds machine code only: without PTX it can't be translated. Build it with PTX, for "
            "example nvcc -gencode arch=compute_80,code=compute_80."
        )


def _report(image: Image, arch: str) -> ImageReport:
    version = ".".join(map(str, image.version)) if image.kind == "ptx" else ""
    report = ImageReport(image.kind, image.target, version, image.encoding, len(image.stored), image.size, image.origin)
    if image.kind == "ptx":
        try:
            module = parse(image.text(), image.origin)
            [result] = translate(module, image.origin, [arch], emit="ll")
            report.kernels = [_kernel(kernel) for kernel in result.kernels.values()]
        except Ptx2amdError as error:
            report.error = str(error)
    return report


def _kernel(result: KernelResult) -> KernelReport:
    return KernelReport(
        result.name,
        result.params,
        result.static_shared,
        result.mapping,
        result.fidelity,
        result.ok,
        result.reason,
        result.hazards,
        result.warnings,
        result.slot,
        result.dynamic,
        result.apart,
        result.rows,
    )


def _show(report: ImageReport, arch: str) -> None:
    version = f" PTX {report.ptx_version}" if report.ptx_version else ""
    packed = f", {report.compression} {report.stored_bytes:,}" if report.compression != "none" else ""
    click.echo(f"{report.kind}{version} {report.target}: {report.bytes:,} bytes{packed}  ({report.origin})")
    if report.error:
        click.echo(f"  not readable: {report.error}")
    for kernel in report.kernels:
        size = max((offset + size for offset, size, _ in kernel.params), default=0)
        facts = (
            f"{len(kernel.params)} parameters in {size} bytes, {kernel.static_shared:,} bytes of static shared memory"
        )
        click.echo(f"  {kernel.name}\n    {facts}")
        if kernel.runs:
            click.echo(f"    runs on {arch}: {kernel.mapping}, {kernel.fidelity}")
            _show_hazards(kernel.mapping, kernel.hazards, kernel.warnings, kernel.apart, kernel.rows)
            _show_shared(kernel, arch)
        else:
            click.echo(f"    does not run on {arch}: {kernel.reason}")


def _show_hazards(
    mapping: str, hazards: list[str], warnings: list[str], apart: list[tuple[int, int]], rows: bool
) -> None:
    if mapping == "padded":
        click.echo("    blocks of at most 512 threads, launched with twice the size in x")
    if rows:
        click.echo("    padded for blocks whose size in x is none of 1, 2, 4, 8, 16, 32")
    for first, second in apart:
        click.echo(f"    padded when the pointers at +{first} and +{second} of its parameters lead into one allocation")
    for text in hazards:
        click.echo(f"    warps of a block wait for each other: {text}")
    for text in warnings:
        click.echo(f"    warning: {text}")


def _show_shared(kernel: KernelReport, arch: str) -> None:
    """What of the shared memory does not fit the chip's."""
    cost = "accesses cost what global ones do, and a processor runs at most 4 blocks"
    if kernel.slot:
        click.echo(f"    {kernel.slot:,} bytes of static shared memory in global memory, as LDS is too small: {cost}")
    elif kernel.dynamic:
        room = target(arch).arch.lds - kernel.static_shared
        click.echo(f"    with more than {room:,} bytes of dynamic shared memory: in global memory; {cost}")


def _show_code_object(note: dict[str, Any], as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps(note, indent=2))
        return
    click.echo(f"code object for {note['arch']}, from PTX {'.'.join(map(str, note['ptx']))} for {note['target']}")
    for name, kernel in note["kernels"].items():
        click.echo(
            f"  {name}\n    {kernel['mapping']}, {kernel['vgprs']} VGPRs, {kernel['sgprs']} SGPRs, "
            f"{kernel['static_shared']:,} bytes of LDS, {kernel['local']:,} of scratch; {kernel['fidelity']}"
        )
        for need in kernel.get("needs", []):
            click.echo(f"    {need}")
        _show_hazards("", *(kernel.get(key, []) for key in ("hazards", "warnings", "apart", "rows")))
