"""What the CUDA samples copy from the device, byte by byte: with our HIP library and with AMD's of several releases, on
the same chip. amd_hip.py makes the page from it."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from cuda_samples import build, demo
from tests import rocm
from tests.kfd import amd_hip

HEADER = Path(__file__).with_name("record_results.h")
PROGRAMS = demo.OUT.with_name("samples-recorded")
#: The release's name where our own HIP library runs the program.
OURS = "ours"
#: Their results are in the order in which threads happen to come.
ANY_ORDER = {"locks", "stream_compaction"}


def names() -> list[str]:
    """Samples with such copies. Others compare managed memory, or print."""
    texts = {name: (build.HERE / f"{name}.cu").read_text() for name in build.names() if name not in ANY_ORDER}
    return [name for name, text in texts.items() if re.search("cudaMemcpyDeviceToHost|cudaMemcpyFromSymbol", text)]


def program(name: str) -> Path:
    PROGRAMS.mkdir(parents=True, exist_ok=True)
    return build.build(name, PROGRAMS, ("-include", str(HEADER)))


def results(name: str, release: str) -> str:
    """Number of bytes and their hash, or why there are none."""
    with tempfile.TemporaryDirectory() as folder:
        record = Path(folder) / "results"
        if release == OURS:
            device = f"vgpu:{amd_hip.CHIP}"
            words = [sys.executable, "-m", "ptx2amd.cli", "run", "--device", device, "--", program(name)]
            settings = {**os.environ, "RESULTS": str(record)}
            done = subprocess.run(words, env=settings, capture_output=True, text=True, timeout=amd_hip.LIMIT)
            passed, output = done.returncode == 0, done.stdout + done.stderr
        else:
            prefix = rocm.fetch(release, amd_hip.packages(release))
            outcome = amd_hip.run(prefix, program(name), RESULTS=str(record))
            passed, output = outcome.passed, outcome.output
        if not passed or not record.exists():
            return f"failed: {output[-300:]}"
        data = record.read_bytes()
        return f"{len(data)} bytes {hashlib.sha256(data).hexdigest()[:16]}"
