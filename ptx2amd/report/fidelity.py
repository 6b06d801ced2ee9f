"""The page of `ptx2amd inspect --report`: what a file's kernels will be on a chip, before it is run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from ptx2amd.inspection import ImageReport, KernelReport
from ptx2amd.libraries.asked import Asked
from ptx2amd.records import replace
from ptx2amd.report import page as report

#: Verdicts, the worst first: how a page shows them, and what they mean.
VERDICTS = {
    "refused": ("bad", "cannot be translated: a launch fails with an error that names the reason"),
    "approximate": ("warn", "some instructions have results within a bound that docs/support/ptx.md gives"),
    "exact": ("good", "every result is the one that the PTX manual defines"),
}


def verdict(kernel: KernelReport) -> str:
    """A kernel's word of VERDICTS."""
    return "refused" if not kernel.runs else "exact" if kernel.fidelity == "exact" else "approximate"


def page(file: Path, arch: str, images: Sequence[ImageReport], libraries: Sequence[Asked]) -> str:
    """HTML that needs no other file. The kernels have been checked for `arch`."""
    images = [replace(image, origin=image.origin.removeprefix(f"{file}: ")) for image in images]
    kernels = [(image, kernel) for image in images for kernel in image.kernels]
    counts = Counter(verdict(kernel) for _, kernel in kernels)
    parts = [report.facts(_facts(images, counts, arch)), _bar(counts)]
    if libraries:
        rows = (report.row((("code", one.soname), ("", one.choice.text))) for one in libraries)
        parts += ["<h2>CUDA libraries that it asks for</h2>", report.table(("library", "served by"), rows)]
    if kernels:
        ordered = sorted(kernels, key=lambda pair: list(VERDICTS).index(verdict(pair[1])))
        columns = ("kernel", "verdict", "warps", "why, and what to know", "image")
        parts += ["<h2>Kernels</h2>", report.table(columns, (_kernel(image, kernel) for image, kernel in ordered))]
    titles = ("image", "kind", "for", "bytes", "kernels")
    parts += ["<h2>Images</h2>", report.table(titles, map(_image, images), ("bytes", "kernels"))]
    return report.page(file.name, f"Kernels of {file.absolute()}, as translated for {arch}", parts)


def _facts(images: Sequence[ImageReport], counts: Counter[str], arch: str) -> Iterator[tuple[str, str]]:
    whole = sum(counts.values())
    if not any(image.kind == "ptx" for image in images):
        held = "machine code only, which cannot be translated: it needs a build with PTX" if images else "no CUDA code"
        yield "verdict", f"holds {held}"
        return
    yield "kernels", f"{whole}, of which {whole - counts['refused']} run on {arch}"
    for word, (_, meaning) in VERDICTS.items():
        yield word, f"{counts[word]}: {meaning}"
    if unreadable := [image.origin for image in images if image.error]:
        yield "not readable", ", ".join(unreadable)


def _bar(counts: Counter[str]) -> str:
    parts = (
        f'<span class="{VERDICTS[word][0]}" style="flex:{counts[word]}" title="{counts[word]} {word}"></span>'
        for word in reversed(VERDICTS)
        if counts[word]
    )
    return f'<div class="bar">{"".join(parts)}</div>'


def _kernel(image: ImageReport, kernel: KernelReport) -> str:
    word = verdict(kernel)
    cells = (("code", kernel.name), (VERDICTS[word][0], word), ("", kernel.mapping if kernel.runs else ""),
             ("", "\n".join(_remarks(kernel))), ("code soft", image.origin))  # fmt: skip
    return report.row(cells)


def _remarks(kernel: KernelReport) -> Iterator[str]:
    if not kernel.runs:
        yield kernel.reason
        return
    if kernel.fidelity != "exact":
        yield kernel.fidelity
    if kernel.mapping == "padded":
        yield "blocks of at most 512 threads"
    if kernel.slot:
        yield f"{kernel.slot:,} bytes of shared memory in global memory, which is slower"
    yield from (f"warps of a block wait for each other: {text}" for text in kernel.hazards)
    yield from (f"may hang: {text}" for text in kernel.warnings)


def _image(image: ImageReport) -> str:
    kernels = f"not readable: {image.error}" if image.error else str(len(image.kernels) or "")
    return report.row((("code", image.origin), ("", " ".join(filter(None, (image.kind, image.ptx_version)))),
                       ("", image.target), ("number", f"{image.bytes:,}"), ("number", kernels)))  # fmt: skip
