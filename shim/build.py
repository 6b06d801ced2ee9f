"""Build libcuda.so.1 alone: `python -m shim.build OUTDIR`. ptx2amd.native does it as part of everything."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from shim.generate import FLAGS, LINK_FLAGS, include_dirs, write


def build(outdir: Path, extra_flags: list[str] | None = None, jobs: int = 2) -> Path:
    """Compile and link into `outdir`; returns the path of libcuda.so.1. Raises CalledProcessError."""
    objects_dir = Path(outdir) / "obj"
    objects_dir.mkdir(parents=True, exist_ok=True)
    sources = write(Path(outdir) / "gen")
    flags = [*FLAGS, *include_dirs(Path(outdir) / "gen"), *(extra_flags or [])]

    def compile_one(source: Path) -> str:
        target = objects_dir / f"{source.stem}.o"
        subprocess.run(["gcc", *flags, "-c", str(source), "-o", str(target)], check=True)
        return str(target)

    with ThreadPoolExecutor(jobs) as pool:
        objects = list(pool.map(compile_one, sources))
    library = Path(outdir) / "libcuda.so.1"
    subprocess.run(["gcc", *objects, *LINK_FLAGS, "-o", str(library)], check=True)
    link = Path(outdir) / "libcuda.so"
    link.unlink(missing_ok=True)
    link.symlink_to(library.name)
    return library


if __name__ == "__main__":
    print(build(Path(sys.argv[1])))
