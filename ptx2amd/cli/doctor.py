"""`ptx2amd doctor`: checks the installation, a program or an environment; lists what is missing and how to get it."""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import socket
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path

import click

from ptx2amd import native, settings
from ptx2amd.cli import doctor_program
from ptx2amd.cli.finding import Finding
from ptx2amd.cli.output import OutputFile
from ptx2amd.errors import Ptx2amdError
from ptx2amd.selftest.machine import HIP_LIBRARIES
from ptx2amd.service.build_id import current_build_id

FIRST_HIP = 50300000  # HIP 5.2 does not know our code objects


def _native() -> Iterator[Finding]:
    for name in ("libcuda.so.1", "libptx2amd_vgpu.so", "hip/libamdhip64.so.7"):
        path = native.DIRECTORY / name
        if path.exists():
            yield Finding(name, "ok", str(path))
        else:
            yield Finding(name, "missing", "not built", "run `python -m ptx2amd.native` (needs gcc)")


def _hip() -> Iterator[Finding]:
    for name in HIP_LIBRARIES:
        try:
            library = ctypes.CDLL(name)
        except OSError:
            continue
        version, count = ctypes.c_int(), ctypes.c_int()
        library.hipRuntimeGetVersion(ctypes.byref(version))
        status = library.hipGetDeviceCount(ctypes.byref(count))
        devices = count.value if status == 0 else 0
        text = f"{name}, version {version.value}, {devices} device{'' if devices == 1 else 's'}"
        if hasattr(library, "ptx2amd_vgpu_archs"):
            yield Finding("HIP library", "ok", f"{text}: ours, the software GPU (LD_LIBRARY_PATH names its folder)")
            return
        if version.value < FIRST_HIP:
            remedy = "install ROCm 5.7 or newer; the software GPU works"
            yield Finding("HIP library", "missing", f"{text}: loads no code objects of version 5", remedy)
        elif devices:
            yield Finding("HIP library", "ok", text)
        else:
            yield Finding(
                "HIP library", "note", f"{text} (status {status})", "check `rocminfo`; the software GPU works"
            )
        return
    yield Finding(
        "HIP library", "note", "no libamdhip64 found", "install ROCm to use an AMD GPU; the software GPU works"
    )


def _device() -> Iterator[Finding]:
    yield Finding("device", "ok", settings.DEVICE.text() or "automatic: hip if a HIP device answers, else vgpu:gfx942")


def _translator() -> Iterator[Finding]:
    from ptx2amd.codegen import library

    if chosen := settings.LLVM.text():
        try:
            yield Finding("LLVM", "ok", ".".join(map(str, library.version())) + f", {chosen}")
        except Ptx2amdError as error:
            yield Finding("LLVM", "missing", str(error), "unset PTX2AMD_LLVM: llvmlite has an LLVM")
    else:
        yield Finding("LLVM", "ok", ".".join(map(str, library.version())))
    if chosen := settings.LD.text():
        if found := shutil.which(chosen):
            yield Finding("linker", "ok", found)
        else:
            remedy = "unset PTX2AMD_LD: ptx2amd has a linker of its own"
            yield Finding("linker", "missing", f"PTX2AMD_LD: no program {chosen}", remedy)
    else:
        yield Finding("linker", "ok", "ours")


def _cache() -> Iterator[Finding]:
    from ptx2amd.service import cache
    from ptx2amd.service.folder import FolderError, open_folder

    if not settings.CACHE.number():
        yield Finding("cache", "note", "switched off (PTX2AMD_CACHE=0)")
        return
    remedy = "set PTX2AMD_CACHE_DIR to a folder that you own"
    try:
        root, folder = open_folder(cache.directory(), make="all")
        os.close(folder)
        with tempfile.TemporaryFile(dir=root):
            pass
    except FolderError as error:
        yield Finding("cache", "missing", str(error), remedy)
        return
    except OSError as error:
        yield Finding("cache", "missing", f"{root} can't be written: {error.strerror}", remedy)
        return
    entries = list(cache.stored(root))
    yield Finding("cache", "ok", f"{root}: {len(entries)} entries, {sum(e.size for e in entries):,} bytes")


def _service() -> Iterator[Finding]:
    from ptx2amd.service import place
    from ptx2amd.service.folder import FolderError

    try:
        path = place.socket_path(current_build_id())
    except FolderError as error:
        yield Finding(
            "service", "missing", str(error), "set PTX2AMD_RUNTIME_DIR to a folder that you own with mode 700"
        )
        return
    with socket.socket(socket.AF_UNIX) as probe:
        try:
            with place.socket_address(path) as address:
                probe.connect(address)
            yield Finding("service", "ok", f"running, {path}")
        except OSError:
            yield Finding("service", "ok", f"not running (starts on demand), {path}")


def _toolkit() -> Iterator[Finding]:
    from ptx2amd.compat import toolkit

    try:
        yield Finding("nvcc", "ok", toolkit.find().nvcc)
    except Ptx2amdError:
        yield Finding("nvcc", "note", "not found", "only needed to build CUDA programs: pip install ptx2amd[nvcc]")


def _libraries() -> Iterator[Finding]:
    from ptx2amd.libraries import choice

    for one in choice.choose(settings.LIBRARIES.text(), settings.DEVICE.text()):
        yield Finding(one.library.title, "note" if one.installed else "ok", one.text)


def _settings() -> Iterator[Finding]:
    wrong = dict(settings.problems())
    for name, value in settings.given():
        if name in wrong:
            yield Finding("setting", "missing" if name in settings.BY_VARIABLE else "note", wrong[name],
                          f"unset {name}, or see docs/settings.md")  # fmt: skip
        else:
            yield Finding("setting", "ok", f"{name}={value}")
    settings.forget_wrong()  # the other checks go by the defaults


CHECKS: tuple[Callable[[], Iterator[Finding]], ...] = (
    _settings, _native, _hip, _device, _libraries, _translator, _cache, _service, _toolkit)  # fmt: skip


def selftest(device: str | None, target: Path, only: str, limit: float) -> bool:
    """Run the self-test, show each case as it ends, write the report; whether all is right."""
    from datetime import UTC, datetime

    from ptx2amd.selftest import report, runner
    from ptx2amd.selftest.machine import machine

    chosen = [case for case in runner.cases() if only in case.title]
    if not chosen:
        raise click.UsageError(f"no case has {only!r} in its title")
    begin, asked = time.monotonic(), device or settings.DEVICE.text() or "automatic"
    click.echo(f"{len(chosen)} cases on --device {asked}, each in a process of its own")
    about, outcomes = runner.run(chosen, device, lambda outcome: click.echo(report.line(outcome)), limit)
    date = datetime.now(UTC).isoformat(timespec="seconds")
    made = report.Report(machine(), {"asked": asked, **about}, date, time.monotonic() - begin, outcomes)
    paths = report.write(made, target)
    click.echo(f"\n{about.get('name', 'no device answers: see `ptx2amd doctor`')}\n{report.summary(made)}")
    click.echo(f"report: {paths[0]} and {paths[1]}")
    if not made.passed:
        click.echo(
            "The report has the first wrong values of each case and what was said; attach both files to an issue."
        )
    return made.passed


@click.command(short_help="Check the installation, a program or an environment; test a device.")
@click.argument("program", required=False, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--env",
    "folder",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Check the packages of a Python environment, or the files of another folder.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
@click.option("--selftest", "test", is_flag=True, help="Run small programs on the device instead, and write a report.")
@click.option(
    "--device", metavar="hip|vgpu[:ARCH]|kfd[:ARCH]", help="Device of the self-test (default: as `run` has it)."
)
@click.option(
    "--report",
    "target",
    type=OutputFile(),
    default=Path("ptx2amd-selftest"),
    help="Where the self-test writes NAME.txt and NAME.json.",
    show_default=True,
)
@click.option("--only", default="", metavar="TEXT", help="Self-test: the cases with TEXT in their titles.")
@click.option("--limit", default=30.0, help="Self-test: seconds that a case may take.", show_default=True)
def command(
    program: Path | None,
    folder: Path | None,
    as_json: bool,
    test: bool,
    device: str | None,
    target: Path,
    only: str,
    limit: float,
) -> None:
    """Show what is installed, what is missing and how to get it.

    With PROGRAM or --env: whether its CUDA code can be translated, which libraries serve it, and what will be slow.

    Exit status 1 if something needed is missing, or if a case of the self-test is not right."""
    if (program is not None) + (folder is not None) + test > 1:
        raise click.UsageError("PROGRAM, --env and --selftest exclude each other")
    if test:
        sys.exit(not selftest(device, target, only, limit))
    if program:
        findings = list(doctor_program.of_program(program))
    elif folder:
        findings = list(doctor_program.of_environment(folder))
    else:
        findings = [finding for check in CHECKS for finding in check()]
    if as_json:
        click.echo(json.dumps([asdict(finding) for finding in findings], indent=2))
    else:
        for finding in findings:
            click.echo(f"{finding.level:8} {finding.what:18} {finding.text}")
            if finding.remedy:
                click.echo(f"{'':27} -> {finding.remedy}")
    sys.exit(any(finding.level == "missing" for finding in findings))
