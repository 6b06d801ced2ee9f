"""Compile the samples with nvcc: `python cuda_samples/build.py OUTDIR [NAME...]`.

A comment line `// link: FLAGS` in a sample adds link flags; `-lcuda` links against our own libcuda.so.
`// mapping: padded` says that its kernels need this warp mapping on 64-lane waves.
"""

from __future__ import annotations

import fcntl
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from ptx2amd import native
from ptx2amd.compat import toolkit

HERE = Path(__file__).resolve().parent


def names() -> list[str]:
    return sorted(path.stem for path in HERE.glob("*.cu"))


def mapping(name: str) -> str:
    """The warp mapping that a sample's kernels get on 64-lane waves."""
    declared = re.search(r"^// mapping: (.*)$", (HERE / f"{name}.cu").read_text(), re.M)
    return declared[1] if declared else "paired"


def build(name: str, out: Path, extra: tuple[str, ...] = ()) -> Path:
    """Compile one sample unless this nvcc has done it since its last change; the path of the executable."""
    source, program = HERE / f"{name}.cu", out / name
    with open(out / f".{name}.lock", "w") as lock:  # two test processes may want the same sample
        fcntl.flock(lock, fcntl.LOCK_EX)
        return _build(source, program, extra)


def _build(source: Path, program: Path, extra: tuple[str, ...]) -> Path:
    newest = max(source.stat().st_mtime, (HERE / "sample.h").stat().st_mtime)
    tools, record = toolkit.find(), program.with_name(f".{program.name}.nvcc")
    same = record.exists() and record.read_text() == tools.nvcc
    if same and program.exists() and program.stat().st_mtime > newest:
        return program
    link = re.findall(r"^// link: (.*)$", source.read_text(), re.M)
    flags = [word for line in link for word in line.split()]
    command = [tools.nvcc, *tools.flags, *extra, f"-L{native.DIRECTORY}", "-o", str(program), str(source), *flags]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"nvcc failed for {source.name}:\n{done.stderr}")
    record.write_text(tools.nvcc)
    return program


def build_all(out: Path, which: list[str] | None = None) -> dict[str, Path]:
    """Compile samples two at a time; name -> executable."""
    out.mkdir(parents=True, exist_ok=True)
    chosen = which or names()
    with ThreadPoolExecutor(2) as pool:
        return dict(zip(chosen, pool.map(lambda name: build(name, out), chosen), strict=True))


if __name__ == "__main__":
    build_all(Path(sys.argv[1]), sys.argv[2:])
