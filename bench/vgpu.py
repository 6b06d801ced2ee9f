"""Software GPU speed: eleven kernels against PoCL, and two against tinygrad's emulator, on the same machine.

Both run the same source (vgpu_kernels.cl), CUDA by nvcc and OpenCL C by PoCL. Times are CPU seconds of the process,
so that other load does not count. PoCL comes from Debian's packages, and runs on the calling thread. Goals: PoCL's
time on add, 2 times on stencil, 3 on sgemm and reduce; 200 times tinygrad's emulator on sgemm and add.

PTX2AMD_BENCH_TINYGRAD names tinygrad's source tree, whose tests hold the emulator (no
package does): then it runs gfx1100's code object in the same run, on smaller inputs. Otherwise its published figures
stand in (15 million multiply-adds, 1 million elements a second), by the wall clock.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from bench import _pocl
from ptx2amd import hip
from ptx2amd.compat import toolkit
from ptx2amd.translate import translate

SOURCE = Path(__file__).with_name("vgpu_kernels.cl")
TINYGRAD = {"sgemm": 15e6, "add": 1e6}
GOAL_TINYGRAD, GOAL_POCL = 200, {"add": 1, "stencil": 2, "sgemm": 3, "reduce": 3}
N = 1 << 20


@dataclass(frozen=True)
class Case:
    """A kernel, its launch, its arguments (the result's index), what is counted, and the expected result."""

    name: str
    grid: tuple[int, int]
    block: tuple[int, int]
    arguments: Sequence[np.ndarray | int]
    result: int
    work: float
    expected: np.ndarray | None
    exact: bool = False


def cases() -> list[Case]:
    """The kernels with inputs whose results are known."""
    rng = np.random.default_rng(0)
    floats = rng.random(4 * N, dtype=np.float32)
    others = rng.random(4 * N, dtype=np.float32)
    a, b = (v[: 256 * 256].reshape(256, 256) for v in (floats, others))
    words = rng.integers(0, 1 << 32, N, dtype=np.uint32)
    x, y = floats[:2048], others[:2048]
    dx, dy = x[None, :] - x[:, None], y[None, :] - y[:, None]
    plane = floats[:N].reshape(1024, 1024)
    smooth = np.zeros_like(plane)
    smooth[1:-1, 1:-1] = 0.5 * plane[1:-1, 1:-1] + 0.125 * (
        plane[1:-1, :-2] + plane[1:-1, 2:] + plane[:-2, 1:-1] + plane[2:, 1:-1]
    )
    columns = rng.integers(0, N, (8, N // 4), dtype=np.int32)
    values = others[: 2 * N].reshape(8, N // 4)
    empty = np.zeros(4 * N, np.float32)
    return [
        Case("add", (4 * N // 256, 1), (256, 1), [floats, others, empty, 4 * N], 2, 4 * N, floats + others),
        Case("sgemm", (16, 16), (16, 16), [a, b, empty[: 256 * 256], 256], 2, 256**3, (a @ b).ravel()),
        Case("reduce", (256, 1), (256, 1), [floats, empty[:256], 4 * N], 1, 4 * N,
             floats.reshape(64, 65536).astype(np.float64).sum(0).reshape(256, 256).sum(1)),
        Case("nbody", (8, 1), (256, 1), [x, y, empty[:2048], 2048], 2, 2048**2,
             (dx * (dx * dx + dy * dy + 0.01) ** -1.5).sum(1)),
        Case("stencil", (4, 1024), (256, 1), [plane, empty[:N], 1024], 1, N, smooth.ravel()),
        Case("histogram", (64, 1), (256, 1), [words, np.zeros(256, np.int32), N], 1, N, None),
        Case("transpose", (64, 64), (16, 16), [plane, empty[:N], 1024], 1, N, plane.T.ravel()),
        Case("sort", (N // 512, 1), (256, 1), [words, np.zeros(N, np.uint32), 512], 1, N,
             np.sort(words.reshape(-1, 512)).ravel()),
        Case("mandelbrot", (1024, 1), (256, 1), [np.zeros(N // 4, np.int32), 512], 0, N / 4, None),
        Case("montecarlo", (64, 1), (256, 1), [empty[: 64 * 256], 64], 0, 64 * 64 * 256, None),
        Case("spmv", (N // 4 // 256, 1), (256, 1), [columns, values, floats, empty[: N // 4], N // 4], 3, 2 * N,
             (values * floats[columns]).sum(0)),
    ]  # fmt: skip


def ptx() -> str:
    """The kernels compiled to PTX by nvcc."""
    tools = toolkit.find()
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "kernels.ptx"
        command = [tools.nvcc, *tools.flags, "-x", "cu", "-ptx", "-arch=compute_80", "-o", str(out), str(SOURCE)]
        subprocess.run(command, check=True)
        return out.read_text()


def best(run: Callable[[], object], samples: int = 5, seconds: float = 0.15) -> tuple[float, float]:
    """Wall-clock seconds of the fastest run, and CPU seconds of a run in the best of some samples of many runs: the
    system counts the time of a process's other threads when its clock ticks."""
    run()
    run()
    begin, count = time.perf_counter(), 0
    while time.perf_counter() - begin < seconds:
        run()
        count += 1
    walls, cpus = [], []
    for _ in range(samples):
        cpu = time.process_time()
        for _ in range(count):
            wall = time.perf_counter()
            run()
            walls.append(time.perf_counter() - wall)
        cpus.append((time.process_time() - cpu) / count)
    return min(walls), min(cpus)


def on_gpu(gpu: hip.Gpu, module: hip.Module, case: Case) -> tuple[float, float]:
    """Times of a case on a device; the result is checked."""
    arguments = [gpu.buffer(v) if isinstance(v, np.ndarray) else v for v in case.arguments]
    kernel = module.kernel(case.name)

    def run() -> None:
        kernel.launch(case.grid, case.block, arguments)
        gpu.synchronize()

    run()
    if case.expected is not None:
        found = arguments[case.result].numpy()
        assert np.allclose(found, case.expected, rtol=1e-3, atol=1e-3), case.name
    return best(run)


def on_cpu() -> dict[str, tuple[float, float]]:
    """Times of the cases by PoCL, by name: what a process with PoCL's libraries prints. Raises OSError and
    CalledProcessError where there is none."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-c", "from bench import vgpu; vgpu.by_pocl()"]
        environment = {**os.environ, **_pocl.environment(Path(folder))}
        done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True, timeout=300)
    return {name: (float(wall), float(cpu)) for name, wall, cpu in map(str.split, done.stdout.splitlines())}


def by_pocl() -> None:
    """Measures the cases in this process."""
    device = _pocl.Device()
    program = device.build(SOURCE.read_text())
    for case in cases():
        arguments = [device.buffer(v) if isinstance(v, np.ndarray) else v for v in case.arguments]
        kernel = device.kernel(program, case.name, arguments)
        device.run(kernel, case.grid, case.block)
        if case.expected is not None:
            found = device.read(arguments[case.result], np.empty_like(case.arguments[case.result]))
            assert np.allclose(found, case.expected, rtol=1e-3, atol=1e-3), case.name
        print(case.name, *best(partial(device.run, kernel, case.grid, case.block)))


def emulated(sources: str, code: bytes) -> dict[str, float]:
    """What tinygrad's emulator does in a CPU second: elements of add, multiply-adds of sgemm."""
    rng, speeds = np.random.default_rng(0), {}
    a, b = rng.random((2, 64, 64), dtype=np.float32)
    jobs = {
        "add": ([a.ravel(), b.ravel(), np.zeros(4096, np.float32), 4096], [16, 1], [256, 1], 4096, (a + b).ravel()),
        "sgemm": ([a, b, np.zeros(4096, np.float32), 64], [4, 4], [16, 16], 64**3, (a @ b).ravel()),
    }
    for name, (arguments, grid, block, work, expected) in jobs.items():
        with tempfile.TemporaryDirectory() as folder:
            files = [str(Path(folder, f"{k}.npy")) if isinstance(v, np.ndarray) else v for k, v in enumerate(arguments)]
            for file, value in zip(files, arguments, strict=True):
                if isinstance(file, str):
                    np.save(file, value)
            image, job = Path(folder, "code.hsaco"), Path(folder, "job.json")
            image.write_bytes(code)
            job.write_text(json.dumps({"kernel": name, "grid": grid, "block": block, "arguments": files}))
            command = [sys.executable, str(Path(__file__).with_name("_tinygrad.py")), sources, str(image), str(job)]
            done = subprocess.run(command, capture_output=True, text=True)
            assert not done.returncode, done.stderr
            assert np.allclose(np.load(files[2]), expected, rtol=1e-4), f"tinygrad's emulator: {name}"
            speeds[name] = work / float(done.stdout.split()[-1])
    return speeds


def against_tinygrad(case: Case, wall: float, cpu: float, measured: dict[str, float]) -> str:
    if measured:
        return f", {case.work / cpu / measured[case.name]:.0f} x tinygrad's emulator (goal {GOAL_TINYGRAD})"
    published = case.work / wall / TINYGRAD[case.name]
    return f", {published:.0f} x tinygrad's emulator's published speed (goal {GOAL_TINYGRAD})"


def main() -> None:
    todo = cases()
    peer: dict[str, tuple[float, float]] = {}
    try:
        peer = on_cpu()
    except (OSError, subprocess.SubprocessError) as error:
        print(f"no comparison with PoCL: {error} {getattr(error, 'stderr', None) or ''}")
    text = ptx()
    rivals: dict[str, float] = {}
    if sources := os.environ.get("PTX2AMD_BENCH_TINYGRAD"):
        rivals = emulated(sources, translate(text, "bench.ptx", ["gfx1100"], mode="module")[0].code)
        for name, speed in rivals.items():
            print(f"tinygrad's emulator: {name:10} {speed / 1e6:.2f} million a CPU second")
    for arch in ("gfx942", "gfx1100"):
        gpu = hip.open(f"vgpu:{arch}")
        module = gpu.load(translate(text, "bench.ptx", [arch], mode="module")[0].code)
        for case in todo:
            wall, cpu = on_gpu(gpu, module, case)
            line = f"{arch}: {case.name:10} {case.work / cpu / 1e6:7.0f} million a CPU second"
            if case.name in peer:
                goal = f" (goal {GOAL_POCL[case.name]})" if case.name in GOAL_POCL else ""
                line += f", {cpu / peer[case.name][1]:6.2f} x PoCL's time{goal}"
            if case.name in TINYGRAD:
                line += against_tinygrad(case, wall, cpu, rivals)
            print(line, flush=True)
