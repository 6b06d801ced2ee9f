"""The contents of a file's CUDA images, and which of their kernels will run: the data for `ptx2amd inspect`.

Listing costs a scan of each image's PTX; judging a kernel lowers it to LLVM IR, as a translation does, without LLVM."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import lru_cache
from typing import Any

from ptx2amd.errors import Ptx2amdError
from ptx2amd.fatbin import Image
from ptx2amd.modules import module_of
from ptx2amd.ptx.ast import Module
from ptx2amd.ptx.heads import param_layout
from ptx2amd.records import dataclass, field, fields
from ptx2amd.translate import KernelResult, judge

CHUNK = 200_000  # characters of PTX bodies that one job judges
SMALL = 4  # fewer jobs than this are not worth processes


@dataclass(slots=True)
class KernelReport:
    """One kernel: parameters as (offset, size, align) in bytes, and its verdict; `runs` is None where none was asked
    for. static_shared: bytes of shared memory, known with the verdict."""

    name: str
    params: list[tuple[int, int, int]]
    static_shared: int = 0
    mapping: str = ""
    fidelity: str = ""
    runs: bool | None = None
    reason: str = ""
    hazards: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    slot: int = 0  # bytes of static shared memory in the arena
    dynamic: bool = False  # whether it uses dynamic shared memory
    apart: list[tuple[int, int]] = field(default_factory=list)  # parameters, by offset
    rows: int = 0  # what a block's size in x must divide, not to be padded; 0: any


@dataclass(slots=True)
class ImageReport:
    """One image. kernels: [] for machine code; error: why the PTX could not be read."""

    kind: str
    target: str
    ptx_version: str
    compression: str
    stored_bytes: int
    bytes: int
    origin: str
    kernels: list[KernelReport] = field(default_factory=list)
    error: str = ""


@dataclass(frozen=True, slots=True)
class _Job:
    """Kernels of one image to judge for an arch, or none: to list the image."""

    image: int
    kernels: tuple[str, ...] = ()
    arch: str = ""


_images: Sequence[Image] = ()  # of the file at hand: forked workers find them here


def reports(images: Sequence[Image], arch: str = "") -> Iterator[tuple[ImageReport, bool]]:
    """Each image's report, in their order. arch: judge the kernels for it. The second value says whether the report is
    complete: it is repeated for each part of its kernels that was checked, so that progress can be shown."""
    global _images
    _images = images
    _module.cache_clear()
    listed = (_Job(number) for number in range(len(images)))
    with _Pool(len(images), sum(image.size for image in images)) as run:
        if not arch:
            yield from ((report, True) for report, _ in run(_listed, listed))
            return
        listings = list(run(_listed, listed))
        # The kernels of all images at once, as most images have few.
        jobs = [_Job(number, names, arch) for number, (_, chunks) in enumerate(listings) for names in chunks]
        judged = iter(run(_judged, jobs))
        for report, chunks in listings:
            report.kernels = []
            for left in reversed(range(len(chunks))):
                report.kernels += next(judged)
                yield report, left == 0
            if not chunks:
                yield report, True


class _Pool:
    """`map` over processes, or in this one when there is little to do."""

    def __init__(self, jobs: int, size: int) -> None:
        little = jobs < SMALL and size < SMALL * CHUNK
        self.pool = None if little else ProcessPoolExecutor(mp_context=multiprocessing.get_context("fork"))

    def __enter__(self) -> Callable[..., Iterable[Any]]:
        return self.pool.map if self.pool else map

    def __exit__(self, *_: object) -> None:
        if self.pool:
            self.pool.shutdown(cancel_futures=True)


@lru_cache(maxsize=2)
def _module(number: int) -> Module:
    return module_of(_images[number])


def _listed(job: _Job) -> tuple[ImageReport, list[tuple[str, ...]]]:
    """The report without verdicts, and its kernels in parts to be judged."""
    image = _images[job.image]
    version = ".".join(map(str, image.version)) if image.kind == "ptx" else ""
    report = ImageReport(image.kind, image.target, version, image.encoding, len(image.stored), image.size, image.origin)
    chunks: list[list[str]] = []
    if image.kind == "ptx":
        try:
            module = _module(job.image)
        except Ptx2amdError as error:
            report.error = str(error)
            return report, []
        room = 0
        for name, function in module.functions.items():
            if function.kind == "entry" and function.text:
                report.kernels.append(KernelReport(name, param_layout(function)))
                if not chunks or room < len(function.text):
                    chunks.append([])
                    room = CHUNK
                chunks[-1].append(name)
                room -= len(function.text)
    return report, [tuple(names) for names in chunks]


def _judged(job: _Job) -> list[KernelReport]:
    return [_kernel(result) for result in judge(_module(job.image), job.arch, job.kernels).values()]


def _kernel(result: KernelResult) -> KernelReport:
    same = {each.name: getattr(result, each.name) for each in fields(KernelReport) if each.name != "runs"}
    return KernelReport(**same, runs=result.ok)
