"""`ptx2amd doctor PROGRAM` and `--env FOLDER`: what will run, which libraries serve it, and what will be slow."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ptx2amd import fatbin, inspection, settings
from ptx2amd.cli.finding import Finding
from ptx2amd.libraries import absent, asked, choice, contents, ptx_builds, rocm
from ptx2amd.modules import linked_images

SLOW_PTX = 10_000_000  # bytes of text from which the first run takes minutes rather than seconds
CHECKED_PTX = 100_000  # bytes of text up to which the kernels are checked: that takes seconds


def _code(name: str, code: contents.Code) -> Iterator[Finding]:
    """Whether the CUDA code of a program or package can be translated, and what that costs."""
    for text in code.damaged:
        yield Finding(name, "note", f"not readable: {text}")
    if not code.modules:
        return
    size = f"{_size(code.ptx_bytes)} of PTX"
    bare = [path.name for path in code.bare]
    files = ", ".join(bare[:3]) + (f" and {len(bare) - 3} more" if len(bare) > 3 else "")
    remedy = ptx_builds.remedy([*bare, *(path.name for path in code.files)])
    if not code.with_ptx:
        targets = " ".join(sorted(code.targets))
        yield Finding(name, "missing", f"machine code only ({targets}), no PTX: {files}", remedy)
    elif code.without:
        text = f"{code.without} of {code.modules} modules are machine code only; their kernels fail when they are used"
        yield Finding(name, "note", f"{text}{f': {files}' if files else ''} ({size})", remedy if bare else "")
    elif code.ptx_bytes > SLOW_PTX:
        files = " ".join(str(path) for path in code.files[:3]) + (" ..." if len(code.files) > 3 else "")
        yield Finding(name, "note", f"{size} in {code.modules} modules: the first use of each kernel is slow",
                      f"`ptx2amd precompile {files}` translates them ahead of time")  # fmt: skip
    else:
        yield Finding(name, "ok", f"PTX in all {code.modules} modules ({size})" if code.modules > 1 else size)


def _kernels(path: Path, code: contents.Code) -> Iterator[Finding]:
    """Which kernels of a small program can be translated, for each chip of the device; or that nobody has looked."""
    if not code.with_ptx:
        return
    if code.ptx_bytes > CHECKED_PTX:
        yield _unchecked(str(path))
        return
    images = [image for image in linked_images(fatbin.mapped_images(path)) if image.kind == "ptx"]
    for chip in choice.chips(settings.DEVICE.text()):
        done = [report for report, complete in inspection.reports(images, chip) if complete]
        kernels = [kernel for report in done for kernel in report.kernels]
        refused = [kernel for kernel in kernels if not kernel.runs]
        for report in done:
            if report.error:
                yield Finding(path.name, "missing", f"PTX that cannot be read: {report.error}")
        for kernel in refused:
            level = "missing" if len(refused) == len(kernels) else "note"
            yield Finding(kernel.name, level, f"does not run on {chip}: {kernel.reason}")
        if kernels and not refused:
            counted = f"{len(kernels)} kernels, all run" if len(kernels) > 1 else "1 kernel, runs"
            yield Finding("kernels", "ok", f"{counted} on {chip}")


def _unchecked(file: str) -> Finding:
    return Finding("kernels", "note", "not checked", f"`ptx2amd inspect {file}` says of each kernel whether it runs")


def _size(count: int) -> str:
    return f"{count / 1e6:.1f} MB" if count >= 100_000 else f"{count / 1e3:.1f} KB"


def _served(path: Path) -> tuple[list[Finding], frozenset[str]]:
    """The choice for each CUDA library that a program or environment needs, and the sonames that our wrappers serve."""
    every = asked.asked(path, settings.LIBRARIES.text(), settings.DEVICE.text())
    ours = frozenset(one.soname for one in every if one.choice.path or one.choice.bound)
    missing = {one.soname: _missing(one) for one in absent.absent(path, ours)}
    found = [
        Finding(one.soname, "ok" if one.choice.path else "note", one.choice.text)
        for one in every
        if one.soname not in missing
    ]
    return [*found, *missing.values()], ours


def _missing(one: absent.Absent) -> Finding:
    files = ", ".join(one.files[:2]) + (f" and {len(one.files) - 2} more" if len(one.files) > 2 else "")
    remedy = f"pip install {one.package}" if one.package else "install the version of CUDA that has it"
    return Finding(one.soname, "missing", f"not found, needed by {files}", remedy)


def _speed() -> Iterator[Finding]:
    if settings.DEVICE.text().startswith(("vgpu", "kfd")) or not rocm.machine_chips():
        chips = ", ".join(choice.chips(settings.DEVICE.text()))
        yield Finding(
            "device", "note", f"the software GPU as {chips}: for development and tests, far slower than a GPU"
        )


def of_program(path: Path) -> Iterator[Finding]:
    """What a program will run with."""
    code = contents.program(path)
    yield from _code(path.name, code)
    if not code.modules and not code.damaged:
        text = "no CUDA code found in the file; its libraries, compressed PTX, and code that it compiles are not seen"
        yield Finding(path.name, "note", text)
    yield from _kernels(path, code)
    yield from _served(path)[0]
    yield from _speed()


def of_environment(folder: Path) -> Iterator[Finding]:
    """What the packages of an environment will run with."""
    served, ours = _served(folder)
    checked = True
    for name, code in contents.environment(folder, ours).items():
        yield from _code(name or "other files", code)
        checked = checked and not code.with_ptx
    if not checked:
        yield _unchecked("FILE")
    yield from served
    yield from _speed()
