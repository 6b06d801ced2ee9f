"""Names that NVIDIA's libraries export and ours lack: `python -m tests.libmap.exported FILE ...`, of libraries with
their sonames, for example from the wheels of PyPI. What cuBLAS calls of cuBLASLt (cublasLtSSSMatmul ...) is left out:
programs do not, and our libcublas does not."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from ptx2amd.api.libraries import MAPPED

#: Of cuBLASLt, for cuBLAS.
_INTERNAL = re.compile(r"cublasLt([A-Z]|_for)\w*(Matmul|Gemm|_[A-Z]{3})\w*")


def lacking(library: Path) -> list[str]:
    """Those of a library."""
    ours = {soname: {row.symbol for row in mapped.rows} for mapped in MAPPED for soname in mapped.library.sonames}
    if library.name not in ours:
        sys.exit(f"{library.name} is none of: {', '.join(ours)}")
    listing = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout
    words = [line.split() for line in listing.splitlines()]
    names = {name.partition("@")[0] for *_, kind, name in words if kind in "TWi"}
    return sorted(name for name in names - ours[library.name] if not _INTERNAL.fullmatch(name))


if __name__ == "__main__":
    for path in sys.argv[1:]:
        print(f"{path}: {' '.join(lacking(Path(path))) or 'none'}")
