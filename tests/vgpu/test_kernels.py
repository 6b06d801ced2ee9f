"""Kernels from compilers that are not ours (clang 19 and 22, HIP), on every architecture, against numpy.

Protects: what real code objects need, from the loader (code object versions 4 to 6, relocations, hidden arguments) to
the registers' initial state, control flow, calls, LDS, scratch, atomics and matrix instructions.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest

from ptx2amd import hip
from tests.vgpu import kernel_cases_wide  # noqa: F401  (registers its cases)
from tests.vgpu.hipcc import compile_hip, have_clang19
from tests.vgpu.kernel_cases import CASES, Case

KERNELS = Path(__file__).with_name("kernels")
SOURCES = ("head", "basics", "control", "parallel", "numbers", "linear")
WAVE64 = ("gfx900", "gfx906", "gfx908", "gfx90a", "gfx942", "gfx950")
BOTH = ("gfx1030", "gfx1100", "gfx1151", "gfx1200", "gfx1201")

LEVELS = ("-O0", "-O2", "-O3")

#: (compiler, architecture, lanes, optimisation, code object version)
Build = tuple[str, str, int, str, int]
FEW: list[Build] = [
    ("clang22", "gfx942", 64, "-O2", 5), ("clang22", "gfx1100", 32, "-O2", 5), ("clang22", "gfx1200", 32, "-O3", 6),
]  # fmt: skip


def sweep() -> list[Build]:
    """Every compiler, architecture, wave width and optimisation; the versions in turn."""
    found: list[Build] = []
    for compiler in ("clang22", "clang19"):
        for arch in WAVE64 + BOTH:
            if (compiler, arch) == ("clang19", "gfx950"):
                continue  # which it does not know
            for lanes in (64,) if arch in WAVE64 else (32, 64):
                found += [(compiler, arch, lanes, o, 4 + (k + len(found)) % 3) for k, o in enumerate(LEVELS)]
    return [build for build in found if build not in FEW]


def miscompiled(build: Build, kernel: str) -> bool:
    """Where the compiler is wrong. alloca_: where scratch is not flat, it takes a wave's stack pointer for the lane's
    address, and clang 19 refuses it; byte_swap: half of the value is lost."""
    compiler, arch, _, optimisation, _ = build
    if kernel == "alloca_":
        return compiler == "clang19" or arch in ("gfx900", "gfx906", "gfx908", "gfx90a", "gfx1030")
    return kernel == "byte_swap" and (compiler, optimisation) == ("clang22", "-O0") and arch in ("gfx1100", "gfx1151")


@cache
def module(build: Build) -> hip.Module:
    compiler, arch, lanes, optimisation, version = build
    source = "".join((KERNELS / f"{name}.hip").read_text() for name in SOURCES)
    wave = f"-m{'no-' if lanes == 32 else ''}wavefrontsize64"
    flags = (optimisation, f"-DWAVE={lanes}", *((wave,) if arch in BOTH else ()))
    return hip.open(f"vgpu:{arch}").load(compile_hip(source, arch, version, *flags, compiler=compiler))


def run(build: Build, kernel: str, case: Case) -> dict[int, np.ndarray]:
    """What the buffers hold after a launch."""
    code = module(build)
    buffers = {k: code.gpu.buffer(a) for k, a in enumerate(case.arguments) if isinstance(a, np.ndarray)}
    arguments = [buffers.get(k, a) for k, a in enumerate(case.arguments)]
    block = build[2] if case.one_wave else case.block
    code.kernel(kernel).launch(case.grid, block, arguments, shared=case.shared)
    code.gpu.synchronize()
    arrays = {k: np.asarray(case.arguments[k]) for k in case.expected}
    return {k: buffers[k].numpy(a.dtype).reshape(a.shape) for k, a in arrays.items()}


def check(build: Build, kernel: str) -> None:
    with np.errstate(all="ignore"):
        case = CASES[kernel](np.random.default_rng(5))
    for k, got in run(build, kernel, case).items():
        want = case.expected[k]
        assert got.dtype == want.dtype, f"argument {k} of {kernel} is {got.dtype}"
        if k in case.unordered:
            got, want = np.sort(got, axis=None), np.sort(want, axis=None)
        if case.tolerance:
            worst = np.abs(got - want.reshape(got.shape)).max() / np.abs(want).max()
            assert worst <= case.tolerance, f"{kernel}: {worst}"
        else:
            np.testing.assert_array_equal(got, want.reshape(got.shape), err_msg=f"argument {k} of {kernel}")


@pytest.fixture(scope="module", params=FEW, ids=lambda build: "-".join(map(str, build)))
def build(request: pytest.FixtureRequest) -> Build:
    return request.param


@pytest.mark.parametrize("kernel", CASES)
def test_kernel(build: Build, kernel: str) -> None:
    check(build, kernel)


def test_device_variables_keep_their_value(build: Build) -> None:
    check_calls(build)


def check_calls(build: Build) -> None:
    def calls() -> int:
        return int(run(build, "read_calls", Case(1, 1, [np.zeros(1, np.uint32)], {0: np.zeros(1)}))[0][0])

    before = calls()
    run(build, "device_variables", Case(2, 80, [np.zeros(80, np.uint32)], {}))
    assert calls() == before + 160


def test_one_lane_of_each_wave_takes_a_lock(build: Build) -> None:
    check_lock(build)


def check_lock(build: Build) -> None:
    value = 1
    for _ in range(5 * 128 // build[2]):
        value = value * 3 % 1000003 + 1
    case = Case(5, 128, [np.zeros(1, np.uint32), np.ones(1, np.uint32)], {0: np.zeros(1), 1: np.zeros(1)})
    assert [int(x[0]) for x in run(build, "lock", case).values()] == [0, value]


def test_breadth_first_search(build: Build) -> None:
    check_search(build)


def check_search(build: Build) -> None:
    rng, n = np.random.default_rng(7), 300
    edges = rng.integers(0, n, (n, 2)).astype(np.uint32)
    rows, columns = (np.arange(n + 1) * 2).astype(np.uint32), edges.ravel()
    want, front, depth = np.full(n, -1), {0}, 0
    while front:
        want[list(front)] = depth
        front, depth = {int(t) for f in front for t in edges[f] if want[t] < 0}, depth + 1
    level = np.full(n, ~np.uint32(0))
    level[0] = 0
    for now in range(depth):
        arguments = [rows, columns, level, np.zeros(1, np.uint32), now, n]
        level = run(build, "levels", Case(5, 64, arguments, {2: level}))[2]
    assert np.array_equal(level.view(np.int32), want)


def test_numbers_of_waves(build: Build) -> None:
    check_waves(build)


def check_waves(build: Build) -> None:
    out = np.zeros(256, np.uint32)
    got = run(build, "wave_numbers", Case(1, 256, [out], {0: out}))[0]
    assert np.array_equal(got, np.arange(256) // build[2])


def test_trap_ends_the_launch(build: Build) -> None:
    check_trap(build)


def check_trap(build: Build) -> None:
    out = np.zeros(2, np.uint32)
    assert run(build, "trap", Case(1, 64, [out], {0: out}))[0].tolist() == [0, 1]
    out[0] = 1
    with pytest.raises(hip.HipError, match="trap"):
        run(build, "trap", Case(1, 64, [out], {0: out}))
    restart(build)


def restart(build: Build) -> None:
    """After a fault."""
    module(build).gpu.reset()
    module.cache_clear()


@pytest.mark.slow
@pytest.mark.parametrize("build", sweep(), ids=lambda build: "-".join(map(str, build)))
def test_all_kernels(build: Build) -> None:
    if build[0] == "clang19" and not have_clang19():
        pytest.skip("clang-19 is not installed")
    wrong = []
    checks = {kernel: (check, kernel) for kernel in CASES if not miscompiled(build, kernel)}
    for function in (check_calls, check_lock, check_search, check_waves, check_trap):
        checks[function.__name__] = (function,)
    for name, (function, *arguments) in checks.items():
        try:
            function(build, *arguments)
        except (AssertionError, hip.HipError) as error:
            wrong.append(f"{name}: {error}")
            if isinstance(error, hip.HipError):
                restart(build)
    assert not wrong, "\n".join(wrong)
