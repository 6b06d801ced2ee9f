"""Run by suites.py under `ptx2amd run`: NVIDIA's cuFFT against numpy, by ctypes."""

import ctypes as c
import sysconfig
from pathlib import Path

import cases
import numpy as np

LIBRARIES = Path(sysconfig.get_path("purelib")) / "nvidia"
runtime = c.CDLL(str(next(LIBRARIES.glob("cuda_runtime/lib/libcudart.so.*"))), mode=c.RTLD_GLOBAL)
cufft = c.CDLL(str(next(LIBRARIES.glob("cufft/lib/libcufft.so.*"))))
FORWARD, INVERSE = -1, 1
# kind: its number, its function, what goes in, what comes out
KINDS = {
    "C2C": (0x29, "cufftExecC2C", np.complex64, np.complex64),
    "R2C": (0x2A, "cufftExecR2C", np.float32, np.complex64),
    "C2R": (0x2C, "cufftExecC2R", np.complex64, np.float32),
    "Z2Z": (0x69, "cufftExecZ2Z", np.complex128, np.complex128),
    "D2Z": (0x6A, "cufftExecD2Z", np.float64, np.complex128),
    "Z2D": (0x6C, "cufftExecZ2D", np.complex128, np.float64),
}
random = np.random.default_rng(1)


def check(status: int) -> None:
    if status:
        raise RuntimeError(f"status {status}")


def on_device(data: np.ndarray) -> c.c_void_p:
    at = c.c_void_p()
    check(runtime.cudaMalloc(c.byref(at), c.c_size_t(data.nbytes)))
    check(runtime.cudaMemcpy(at, data.ctypes.data_as(c.c_void_p), c.c_size_t(data.nbytes), 1))
    return at


def transform(kind: str, data: np.ndarray, shape: tuple[int, ...], direction: int, stride: int = 1) -> np.ndarray:
    """The transforms of a batch; with a stride, element k of a transform lies at k * stride and transforms next to
    each other."""
    number, function, _, to = KINDS[kind]
    batch = data.shape[-1] if stride > 1 else data.shape[0]
    half = (*shape[:-1], shape[-1] // 2 + 1)
    size = half if kind in ("R2C", "D2Z") else shape
    result = np.zeros(data.shape if stride > 1 else (batch, *size), to)
    plan, sizes = c.c_int(), (c.c_int * len(shape))(*shape)
    layout = (sizes, stride, 1) if stride > 1 else (None, 1, 0)
    check(cufft.cufftPlanMany(c.byref(plan), len(shape), sizes, *layout, *layout, number, batch))
    source, target = on_device(data), on_device(result)
    check(getattr(cufft, function)(plan, source, target, *((direction,) if kind in ("C2C", "Z2Z") else ())))
    check(runtime.cudaMemcpy(result.ctypes.data_as(c.c_void_p), target, c.c_size_t(result.nbytes), 2))
    check(cufft.cufftDestroy(plan))
    check(runtime.cudaFree(source))
    check(runtime.cudaFree(target))
    return result


def numbers(kind: type, *shape: int) -> np.ndarray:
    values = random.standard_normal(shape)
    if np.issubdtype(kind, np.complexfloating):
        values = values + 1j * random.standard_normal(shape)
    return values.astype(kind)


def close(got: np.ndarray, want: np.ndarray) -> None:
    most = 1e-5 if got.dtype in (np.float32, np.complex64) else 1e-12
    assert abs(got - want).max() <= most * abs(want).max(), abs(got - want).max() / abs(want).max()


def full(kind: str, *shape: int, direction: int = FORWARD) -> None:
    data = numbers(KINDS[kind][2], 3, *shape)
    axes = tuple(range(1, len(shape) + 1))
    wide = data.astype(np.complex128)
    want = np.fft.fftn(wide, axes=axes) if direction == FORWARD else np.fft.ifftn(wide, axes=axes) * np.prod(shape)
    close(transform(kind, data, shape, direction), want)


def real(forward: str, back: str, *shape: int) -> None:
    data = numbers(KINDS[forward][2], 3, *shape)
    spectrum = transform(forward, data, shape, FORWARD)
    close(spectrum, np.fft.rfftn(data.astype(np.float64), axes=tuple(range(1, len(shape) + 1))))
    close(transform(back, spectrum, shape, INVERSE), data * data.dtype.type(np.prod(shape)))


def strided() -> None:
    data = numbers(np.complex64, 60, 7)
    close(transform("C2C", data, (60,), FORWARD, stride=7), np.fft.fft(data.astype(np.complex128), axis=0))


SINGLE = "64 48 1024 1001 17 4096 65536 10007 64x48 97x61 32x32x32 12x10x9"
DOUBLE = "100 2310 24x20 16x16x16"
REAL = "128 90 40x64 8x10x12"


def shape_of(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split("x")))


cases.run(
    {f"C2C {s}": lambda s=s: full("C2C", *shape_of(s)) for s in SINGLE.split()}
    | {f"Z2Z {s}": lambda s=s: full("Z2Z", *shape_of(s)) for s in DOUBLE.split()}
    | {f"real {s}": lambda s=s: real("R2C", "C2R", *shape_of(s)) for s in REAL.split()}
    | {
        "inverse": lambda: full("C2C", 360, direction=INVERSE),
        "real, double": lambda: real("D2Z", "Z2D", 30, 32),
        "strided": strided,
    }
)
