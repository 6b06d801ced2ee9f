"""Calls of libcufftw, compared with numpy (client.py)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ptx2amd.api import cufftw
from tests.libmap.client import Array, Client

FORWARD, BACKWARD, ESTIMATE = -1, 1, 64
ERROR = {"fftw": 1e-13, "fftwf": 5e-6}
REAL, COMPLEX = {"fftw": np.float64, "fftwf": np.float32}, {"fftw": np.complex128, "fftwf": np.complex64}

client = Client(cufftw.MAPPED)
ffi, call = client.ffi, client.call


def complexes(prefix: str, *shape: int) -> Array:
    parts = client.draw.standard_normal((2, *shape))
    return (parts[0] + 1j * parts[1]).astype(COMPLEX[prefix])


def exact(values: Array, axes: Sequence[int], sign: int) -> Array:
    wide, count = values.astype(np.complex128), int(np.prod([values.shape[a] for a in axes]))
    return np.fft.fftn(wide, axes=axes) if sign == FORWARD else np.fft.ifftn(wide, axes=axes) * count


def near(what: str, prefix: str, found: Array, expected: Array) -> None:
    good = found.shape == expected.shape
    error = abs(found - expected).max() / abs(expected).max() if good else np.inf
    client.check(f"{prefix}: {what}: error {error}", good and error < ERROR[prefix])


def planned(name: str, *arguments: Any) -> Any:
    """The plan, which has to be there."""
    function = getattr(client.library, name)
    kinds = ffi.typeof(getattr(client.plain, name)).args
    given = [client.address(one) if isinstance(one, np.ndarray) else one for one in arguments]
    plan = function(*(ffi.cast(k, a) if k.kind == "pointer" else a for k, a in zip(kinds, given, strict=True)))
    client.check(f"{name}: a plan", plan != ffi.NULL)
    return plan


def executed(prefix: str, plan: Any) -> None:
    call_void(f"{prefix}_execute", plan)
    call_void(f"{prefix}_destroy_plan", plan)


def call_void(name: str, *arguments: Any) -> None:
    getattr(client.library, name)(*arguments)


def plain(prefix: str) -> None:
    """All numbers of dimensions, by their own function and by that for any."""
    for sizes in ((30,), (6, 10), (4, 6, 5)):
        axes, counts = tuple(range(len(sizes))), ffi.new("int[]", list(sizes))
        for ending, head in ((f"_{len(sizes)}d", sizes), ("", (len(sizes), counts))):
            source, sign = complexes(prefix, *sizes), BACKWARD if ending else FORWARD
            target, before = np.zeros_like(source), source.copy()
            executed(prefix, planned(f"{prefix}_plan_dft{ending}", *head, source, target, sign, ESTIMATE))
            near(f"{sizes}{ending}", prefix, target, exact(before, axes, sign))
            client.check("the input stays", (source == before).all())
            real = client.draw.standard_normal(sizes).astype(REAL[prefix])
            half = np.zeros((*sizes[:-1], sizes[-1] // 2 + 1), COMPLEX[prefix])
            executed(prefix, planned(f"{prefix}_plan_dft_r2c{ending}", *head, real, half, ESTIMATE))
            near(f"{sizes}{ending} of real numbers", prefix, half, np.fft.rfftn(real.astype(np.float64)))
            back = np.zeros_like(real)
            executed(prefix, planned(f"{prefix}_plan_dft_c2r{ending}", *head, half, back, ESTIMATE))
            near(f"{sizes}{ending} to real numbers", prefix, back, real.astype(np.float64) * real.size)


def in_place(prefix: str) -> None:
    """Rows of real numbers have room for the result."""
    source = complexes(prefix, 12)
    expected = exact(source, (0,), FORWARD)
    executed(prefix, planned(f"{prefix}_plan_dft_1d", 12, source, source, FORWARD, ESTIMATE))
    near("in place", prefix, source, expected)
    real = client.draw.standard_normal((4, 10)).astype(REAL[prefix])
    room = np.zeros((4, 12), REAL[prefix])
    room[:, :10] = real
    executed(prefix, planned(f"{prefix}_plan_dft_r2c_2d", 4, 10, room, room, ESTIMATE))
    near("real numbers in place", prefix, room.view(COMPLEX[prefix]), np.fft.rfftn(real.astype(np.float64)))


def many(prefix: str) -> None:
    """Transforms side by side, whose numbers are not; what is between stays. The plan serves other arrays."""
    sizes = ffi.new("int[]", [8])
    source, target = complexes(prefix, 8, 3), np.full((3, 10), 7, COMPLEX[prefix])
    name = f"{prefix}_plan_many_dft"
    embed = ffi.new("int[]", [10])
    plan = planned(name, 1, sizes, 3, source, sizes, 3, 1, target, embed, 1, 10, FORWARD, ESTIMATE)
    call_void(f"{prefix}_execute", plan)
    near("columns to rows", prefix, target[:, :8], exact(source.T, (1,), FORWARD))
    client.check("what is between", (target[:, 8:] == 7).all())
    other, result = complexes(prefix, 8, 3), np.zeros((3, 10), COMPLEX[prefix])
    kind = ffi.typeof(f"{prefix}_complex *")
    addresses = [ffi.cast(kind, client.address(one)) for one in (other, result)]
    call_void(f"{prefix}_execute_dft", plan, *addresses)
    near("other arrays", prefix, result[:, :8], exact(other.T, (1,), FORWARD))
    call_void(f"{prefix}_destroy_plan", plan)
    real, half = client.draw.standard_normal((5, 6)).astype(REAL[prefix]), np.zeros((5, 4), COMPLEX[prefix])
    six, back = ffi.new("int[]", [6]), np.zeros((5, 6), REAL[prefix])
    number = ffi.typeof("double *" if prefix == "fftw" else "float *")
    none = ffi.NULL
    plan = planned(f"{name}_r2c", 1, six, 5, real, none, 1, 6, half, none, 1, 4, ESTIMATE)
    call_void(f"{prefix}_execute_dft_r2c", plan, ffi.cast(number, client.address(real)),
              ffi.cast(kind, client.address(half)))  # fmt: skip
    near("rows of real numbers", prefix, half, np.fft.rfft(real.astype(np.float64)))
    inverse = planned(f"{name}_c2r", 1, six, 5, half, none, 1, 4, back, none, 1, 6, ESTIMATE)
    call_void(f"{prefix}_execute_dft_c2r", inverse, ffi.cast(kind, client.address(half)),
              ffi.cast(number, client.address(back)))  # fmt: skip
    near("rows to real numbers", prefix, back, real.astype(np.float64) * 6)
    call_void(f"{prefix}_destroy_plan", plan)
    call_void(f"{prefix}_destroy_plan", inverse)


def dimensions(kind: str, *parts: tuple[int, int, int]) -> Any:
    return ffi.new(f"{kind}[]", [list(part) for part in parts])


def guru(prefix: str) -> None:
    """Any strides, with two dimensions around the transform."""
    for bits in ("", "64"):
        kind = f"fftw_iodim{bits}"
        source, target = complexes(prefix, 4, 3, 6), np.zeros((6, 4, 3), COMPLEX[prefix])
        dims, around = dimensions(kind, (6, 1, 12)), dimensions(kind, (4, 18, 3), (3, 6, 1))
        executed(
            prefix, planned(f"{prefix}_plan_guru{bits}_dft", 1, dims, 2, around, source, target, FORWARD, ESTIMATE)
        )
        near(f"guru{bits}", prefix, target.transpose(1, 2, 0), exact(source, (2,), FORWARD))
        real, half = client.draw.standard_normal((3, 4, 6)).astype(REAL[prefix]), np.zeros((3, 4, 4), COMPLEX[prefix])
        back = np.zeros_like(real)
        dims, around = dimensions(kind, (4, 6, 4), (6, 1, 1)), dimensions(kind, (3, 24, 16))
        executed(prefix, planned(f"{prefix}_plan_guru{bits}_dft_r2c", 2, dims, 1, around, real, half, ESTIMATE))
        near(f"guru{bits} of real numbers", prefix, half, np.fft.rfftn(real.astype(np.float64), axes=(1, 2)))
        dims, around = dimensions(kind, (4, 4, 6), (6, 1, 1)), dimensions(kind, (3, 16, 24))
        executed(prefix, planned(f"{prefix}_plan_guru{bits}_dft_c2r", 2, dims, 1, around, half, back, ESTIMATE))
        near(f"guru{bits} to real numbers", prefix, back, real.astype(np.float64) * 24)


def on_device(prefix: str) -> None:
    source = complexes(prefix, 16)
    there, result = client.on_device(source), client.on_device(np.zeros_like(source))
    executed(prefix, planned(f"{prefix}_plan_dft_1d", 16, there.pointer, result.pointer, FORWARD, ESTIMATE))
    assert not client.cuda.cuCtxSynchronize()
    near("device memory", prefix, result.now(), exact(source, (0,), FORWARD))


def refused(prefix: str) -> None:
    """No plan for what cuFFT has not, and a line that says so."""
    make, none = getattr(client.library, f"{prefix}_plan_dft"), ffi.NULL
    sizes = ffi.new("int[]", [2, 3, 4, 5])
    for rank, sign in ((0, FORWARD), (4, FORWARD), (2, 2)):
        client.check(f"rank {rank}, sign {sign}", make(rank, sizes, none, none, sign, ESTIMATE) == none)
    client.check("no sizes", make(1, none, none, none, FORWARD, ESTIMATE) == none)
    client.check("no numbers", make(1, ffi.new("int[]", [0]), none, none, FORWARD, ESTIMATE) == none)
    dims = dimensions("fftw_iodim", (4, 5, 5), (4, 3, 3))  # rows that are no whole number of numbers apart
    wide = getattr(client.library, f"{prefix}_plan_guru_dft")
    client.check("strides", wide(2, dims, 0, none, none, none, FORWARD, ESTIMATE) == none)
    call_void(f"{prefix}_execute", none)
    call_void(f"{prefix}_destroy_plan", none)


def others(prefix: str) -> None:
    memory, library = getattr(client.library, f"{prefix}_malloc")(1000), client.library
    client.check("memory", memory != ffi.NULL and int(ffi.cast("uintptr_t", memory)) % 16 == 0)
    call_void(f"{prefix}_free", memory)
    call_void(f"{prefix}_set_timelimit", 1.0)
    plan = planned(f"{prefix}_plan_dft_1d", 8, ffi.NULL, ffi.NULL, FORWARD, ESTIMATE)
    counts = [ffi.new("double *", 5) for _ in range(3)]
    call_void(f"{prefix}_flops", plan, *counts)
    client.check("not counted", [place[0] for place in counts] == [0, 0, 0])
    client.check("no cost", getattr(library, f"{prefix}_cost")(plan) == 0)
    call_void(f"{prefix}_print_plan", plan)
    call_void(f"{prefix}_destroy_plan", plan)
    for what in ("export_wisdom_to_file", "import_wisdom_from_file"):
        call_void(f"{prefix}_{what}", ffi.NULL)
    call_void(f"{prefix}_cleanup")


if __name__ == "__main__":
    for precision in ERROR:
        for part in (plain, in_place, many, guru, on_device, refused, others):
            part(precision)
    client.report()
