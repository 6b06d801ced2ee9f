"""The software GPU's HIP library, with some functions replaced."""

from __future__ import annotations

import subprocess
from pathlib import Path

from ptx2amd import native


def replaced(folder: Path, functions: str) -> Path:
    """A library for PTX2AMD_HIP_LIBRARY: C functions of this text take the place of those of the software GPU."""
    source, library = folder / "hip.c", folder / "libreplaced.so"
    source.write_text(functions)
    link = [f"-L{native.DIRECTORY}", "-Wl,--no-as-needed", "-lptx2amd_vgpu", f"-Wl,-rpath,{native.DIRECTORY}"]
    subprocess.run(["gcc", "-shared", "-fPIC", str(source), "-o", str(library), *link], check=True)
    return library


#: Streams that cannot wait for values, as on some of AMD's devices.
WITHOUT_WAITS = "int hipStreamWaitValue64(void) { return 801; }\nint hipStreamWaitValue32(void) { return 801; }\n"
