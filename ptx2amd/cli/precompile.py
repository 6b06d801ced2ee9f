"""`ptx2amd precompile`: fill the cache ahead of a program's first run."""

from __future__ import annotations

import os
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import click

from ptx2amd import fatbin
from ptx2amd.errors import Ptx2amdError
from ptx2amd.fatbin import Image
from ptx2amd.modules import linked_images, module_of
from ptx2amd.native import current_build_id
from ptx2amd.service import cache, entry
from ptx2amd.service.folder import open_folder
from ptx2amd.service.translation import index_entry, kernel_entry, parse_options
from ptx2amd.target import MAPPINGS
from ptx2amd.translate import module_index

Outcome = tuple[int, list[str]]  # kernels translated, problems


@click.command(short_help="Translate a program's kernels ahead of its first run.")
@click.argument("files", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--arch", "archs", default="gfx942", show_default=True, help="Comma-separated AMDGPU archs.")
@click.option("--mapping", type=click.Choice(MAPPINGS), help="Warp mapping of all kernels (default: chosen for each).")
def command(files: tuple[Path, ...], archs: str, mapping: str | None) -> None:
    """Translate every kernel of the files into the cache. Exit status 1 when one could not be."""
    os.close(open_folder(cache.directory(), make="all")[1])  # at once, if it cannot be used
    images = [image for file in files for image in linked_images(fatbin.images(file)) if image.kind == "ptx"]
    options = f"mapping={mapping}" if mapping else ""  # as the shim asks for with PTX2AMD_MAPPING
    jobs = [(image, arch.strip(), options) for image in images for arch in archs.split(",")]
    translated, problems = 0, []
    with (
        ProcessPoolExecutor() as pool,
        click.progressbar(pool.map(_fill, jobs), length=len(jobs), label="translating", file=sys.stderr) as outcomes,
    ):
        for count, failed in outcomes:
            translated += count
            problems += failed
    for problem in problems:
        click.echo(problem, err=True)
    click.echo(f"{translated} kernels of {len(images)} modules in {cache.directory()}; {len(problems)} failed")
    sys.exit(bool(problems))


def _fill(job: tuple[Image, str, str]) -> Outcome:
    image, arch, options = job
    build, root = current_build_id(), cache.directory()
    module_id = entry.module_id(image.data() if image.encoding == "none" else image.stored)
    problems, count = [], 0
    try:
        module = module_of(image)
        index = module_index(module)
    except Ptx2amdError as error:
        return 0, [str(error)]
    entry.write(cache.path_of(root, entry.index_key(module_id, build)), index_entry(index).pack())
    names = [kernel.name for kernel in index.kernels]
    paths = {name: cache.path_of(root, entry.kernel_key(module_id, build, arch, options, name)) for name in names}
    for kernel in names:
        try:
            if not paths[kernel].exists():
                made = kernel_entry(module, kernel, arch, build, parse_options(options), isolate="all")
                entry.write(paths[kernel], made.pack())
            count += 1
        except Ptx2amdError as error:
            problems.append(str(error))
    return count, problems
