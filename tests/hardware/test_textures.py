"""The reference of textures, and the software GPU, against an H100's answers to tests/hardware/textures.py: texels,
formats, borders, weights and levels bit by bit, sums of floats and gradients within what DIFFERENCES says."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from ptx2amd import launch, native
from tests.hardware import textures
from tests.hardware.textures import BORDER, CUBE, INTEGERS, LAYERED, NORMALIZED, SRGB, THREADS, Case
from tests.reference import images

GOLDEN = Path(__file__).with_name("textures.npz")
CASES = {case.title: case for case in textures.cases()}


@dataclass(frozen=True)
class Difference:
    """How far results may be off, and why."""

    most: float
    why: str


def difference(case: Case) -> Difference:
    """What is known to differ in a case; the reasons are in docs/internals/textures.md."""
    text = case.instruction
    if "%i0" in text and text.startswith("tex.1d"):
        return Difference(math.inf, "NVIDIA reads zeros from one-dimensional arrays at integer coordinates")
    if text.startswith("tex.1d") and case.linear and case.address == BORDER:
        return Difference(math.inf, "NVIDIA mixes in half of the second axis's border")
    if case.flags & SRGB:
        return Difference(2**-7, "NVIDIA makes bytes linear by a table of numbers of about 8 bits")
    if case.kind == CUBE and case.linear:
        return Difference(math.inf, "filtering across the edges of a cube's faces is left out")
    if case.kind == CUBE:
        return Difference(0.0, "")
    if ".grad" in text and case.linear:
        return Difference(0.0625 if case.format == "f32" else 2**-8, "levels from gradients are off by up to 2/256")
    if case.linear and case.format == "f32" and "tld4" not in text and "%i0" not in text:
        return Difference(2**-20, "sums of floats are rounded in another order")
    if case.linear and case.format == "f16":
        return Difference(2**-8, "sums of half floats are rounded otherwise")
    if case.linear and case.format == "s8":
        return Difference(1.01 / 32767, "means of signed bytes are rounded otherwise")
    return Difference(0.0, "")


def floats(case: Case) -> bool:
    return ".v4.f32." in case.instruction


def wrong(case: Case, got: np.ndarray, want: np.ndarray, threads: range) -> list[str]:
    """The threads whose results are further off than is known."""
    most, points = difference(case).most, coordinates(case).tolist()
    x, y = (v.view(np.float32 if floats(case) else np.int32).astype(np.float64) for v in (got, want))
    with np.errstate(invalid="ignore"):
        good = (x == y) | (np.isnan(x) & np.isnan(y)) | (np.abs(x - y) <= most)
    bad = [k for k, row in enumerate(good.all(axis=1)) if not row and not undecided(case, points[threads[k]])]
    return [f"{case.title} thread {threads[k]}: {got[k]} {want[k]} ({x[k]} {y[k]})" for k in bad]


def coordinates(case: Case) -> np.ndarray:
    return np.frombuffer(textures.coordinates(case), np.float32).reshape(THREADS, 4)


def undecided(case: Case, point: list[float]) -> bool:
    """Directions that are infinite or NaN; gradients halfway between two levels, of which the nearer one is taken."""
    if case.kind == CUBE:
        return not all(map(math.isfinite, point))
    if ".grad" in case.instruction and not case.linear:
        return abs(detail(case, point) % 1 - 0.5) <= 2 / 256
    return False


def detail(case: Case, point: list[float]) -> float:
    """The level of detail of the gradients {Z, 0} and {0, L}."""
    return math.log2(max(abs(point[2]) * case.shape[0], abs(point[3]) * case.shape[1], 2.0**-100))


def image(case: Case, shape: tuple[int, ...], dims: int) -> images.Image:
    size = tuple(max(n, 1) for n in shape)
    form, _ = textures.FORMATS[case.format]
    count = math.prod(size) * case.channels
    letter = images.FORMATS[form][0]
    data = np.frombuffer(textures.texels(case, count), np.dtype(f"<{letter}").newbyteorder("<")).tolist()
    flags = case.flags & (INTEGERS | NORMALIZED) | (images.SRGB if case.flags & SRGB else 0)
    return images.Image(
        size, form, case.channels, data, dims, layered=bool(case.kind & LAYERED), modes=(case.address,) * 3,
        linear=case.linear, flags=flags, border=(0.25, 0.5, 0.75, 1.0),
    )  # fmt: skip


def whole(x: float) -> int:
    """cvt.rmi.s32.f32."""
    return 0 if math.isnan(x) else math.floor(min(max(x, -(2.0**31)), 2.0**31 - 1))


def expected(case: Case, threads: range) -> np.ndarray:
    """What the reference gives."""
    parts = case.instruction.split()[0].split(".")
    geometry = next(p for p in parts if p in ("1d", "2d", "3d", "a1d", "a2d"))
    dims = int(geometry[-2])
    first = image(case, case.shape, dims)
    shapes = [tuple(n and max(n >> k, 1) for n in case.shape) for k in range(case.levels)]
    mipmap = images.Mipmap([image(case, s, dims) for s in shapes], 0, 0, case.levels - 1, case.linear)
    rows = []
    points = coordinates(case).tolist()
    for k in threads:
        x, y, z, more = points[k]
        at = {"1d": [x], "2d": [x, y], "3d": [x, y, z], "a1d": [x], "a2d": [x, y]}[geometry]
        if parts[0] == "tld4":
            row = images.gather(first, at, "rgba".index(parts[1]))
        elif "level" in parts:
            row = mipmap.sample(at, more)
        elif "grad" in parts:
            row = mipmap.sample(at, detail(case, points[k]))
        elif "%i0" in case.instruction:
            row = images.fetch(first, [whole(v) for v in at])
        else:
            row = images.sample(first, at, k % 8)
        rows.append(row)
    return np.array(rows, np.float32 if floats(case) else np.int64).astype(np.float32 if floats(case) else np.uint32)


def compare_reference(every: int, step: int) -> None:
    """Every so many of the cases, and of their threads."""
    with np.load(GOLDEN) as golden:
        bad = []
        for title, answer in zip(golden["titles"][::every], golden["values"][::every], strict=True):
            case = CASES[title]
            if case.kind == CUBE:  # the reference has no cubes
                continue
            threads = range(0, THREADS, step)
            bad += wrong(case, expected(case, threads).view(np.uint32), answer[::step], threads)
    assert not bad, "\n".join([f"{len(bad)} differ", *bad[:20]])


def test_reference() -> None:
    """Some of the cases and threads."""
    compare_reference(3, 16)


@pytest.mark.slow
def test_whole_reference() -> None:
    compare_reference(1, 1)


def compare_device(device: str, every: int, folder: Path) -> None:
    file = folder / "ours.npz"
    environment = os.environ | launch.environment(device) | {"LD_LIBRARY_PATH": str(native.DIRECTORY), "LD_AUDIT": ""}
    command = [sys.executable, "-m", "tests.hardware.textures", str(file), str(every)]
    subprocess.run(command, env=environment, check=True, timeout=100, stdout=subprocess.DEVNULL)
    with np.load(GOLDEN) as golden, np.load(file) as ours:
        assert not len(ours["refused"]), ours["refused"]
        answers = dict(zip(golden["titles"], golden["values"], strict=True))
        bad = []
        for title, got in zip(ours["titles"], ours["values"], strict=True):
            bad += wrong(CASES[title], got, answers[title], range(THREADS))
    assert not bad, "\n".join([f"{len(bad)} differ", *bad[:20]])


@pytest.mark.parametrize("device", ["vgpu:gfx942", "vgpu:gfx1100"])
def test_software_gpu(device: str, tmp_path: Path) -> None:
    """Some cases of each kind."""
    compare_device(device, 61, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("device", ["vgpu:gfx942", "vgpu:gfx1100"])
def test_all_on_the_software_gpu(device: str, tmp_path: Path) -> None:
    compare_device(device, 1, tmp_path)
