"""What CUDA programs write for asynchronous copies (libcu++'s barriers and pipelines, cooperative groups, cuda::ptx),
compiled by nvcc for sm_90: each kernel brings tiles to shared memory and sums neighbours there."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest

from ptx2amd.compat import toolkit
from tests.lower.device import program
from tests.reference.tensors import TensorMap

TILE, TILES = 128, 8
KERNELS = {"by_barrier": TILE, "by_pipeline": TILE, "by_groups": TILE, "by_specialists": TILE + 32}
DATA = np.random.default_rng(7).integers(-1000, 1000, TILE * TILES, np.int32)
WANT = DATA.reshape(TILES, TILE) + np.roll(DATA.reshape(TILES, TILE), -1, axis=1)


@pytest.fixture(scope="module")
def ptx(tmp_path_factory: pytest.TempPathFactory) -> str:
    tools = toolkit.find()
    out = tmp_path_factory.mktemp("async") / "async.ptx"
    source = Path(__file__).with_name("async.cu")
    command = [tools.nvcc, *tools.flags, "-w", "-ptx", "-arch=compute_90", str(source), "-o", str(out)]
    subprocess.run(command, check=True, capture_output=True, timeout=300)
    return out.read_text()


@pytest.mark.parametrize("arch", ["gfx942", "gfx1100"])
def test_tiles(ptx: str, arch: str) -> None:
    device = program(ptx, arch)
    for kernel, threads in KERNELS.items():
        _, out = device.run(kernel, threads, [DATA.tobytes(), DATA.nbytes])
        assert np.array_equal(np.frombuffer(out, np.int32).reshape(TILES, TILE), WANT), kernel
    here, there = device.gpu.buffer(DATA.tobytes()), device.gpu.buffer(DATA.nbytes)
    maps = [
        TensorMap((TILE, TILES), (4 * TILE,), (TILE, 1), (), 3, address=buffer.address).encoded()
        for buffer in (here, there)
    ]
    device.launch("by_tensors", 1, TILE, maps)
    assert np.array_equal(np.frombuffer(there.bytes(), np.int32).reshape(TILES, TILE), WANT)
