"""A client of ROCm's libraries, for test_rocm_libraries.py: `rocm_client.py MAJOR CASE...` prints JSON, a line for each
case. It runs under the loader of a ROCm release."""

from __future__ import annotations

import ctypes
import json
import sys
from collections.abc import Callable

import numpy as np

from tests.hip.rocm_client_cases import GENERATORS, WIDE

HIP = ctypes.CDLL(f"libamdhip64.so.{sys.argv[1]}")
TO_DEVICE, TO_HOST = 1, 2
POINTER, SIZE = ctypes.c_void_p, ctypes.c_size_t


def check(status: int, what: str) -> None:
    if status:
        raise SystemExit(f"{what}: status {status}")


class Device:
    """An array on the device."""

    def __init__(self, array: np.ndarray) -> None:
        self.shape, self.type, self.bytes, self.pointer = array.shape, array.dtype, array.nbytes, POINTER()
        check(HIP.hipMalloc(ctypes.byref(self.pointer), SIZE(array.nbytes)), "hipMalloc")
        check(HIP.hipMemcpy(self.pointer, array.ctypes.data_as(POINTER), SIZE(array.nbytes), TO_DEVICE), "hipMemcpy")

    def numpy(self) -> np.ndarray:
        array = np.empty(self.shape, self.type)
        check(HIP.hipMemcpy(array.ctypes.data_as(POINTER), self.pointer, SIZE(self.bytes), TO_HOST), "hipMemcpy")
        return array


def rocrand(name: str) -> dict[str, object]:
    """Numbers of the device's generator, and of the library's own on the host."""
    library, n = ctypes.CDLL("librocrand.so.1"), 20000
    wide = name in WIDE
    kind, type_ = (WIDE | GENERATORS)[name], np.uint64 if wide else np.uint32
    generate = library.rocrand_generate_long_long if wide else library.rocrand_generate
    device, host, handle = Device(np.zeros(n, type_)), np.zeros(n, type_), POINTER()
    check(library.rocrand_create_generator(ctypes.byref(handle), kind), "rocrand_create_generator")
    check(generate(handle, device.pointer, SIZE(n)), "rocrand_generate")
    ours = device.numpy()
    told = {"different": len(np.unique(ours)), "sum": int(ours.sum(dtype=np.uint64))}
    if not hasattr(library, "rocrand_create_generator_host_blocking"):  # ROCm 5
        return told
    check(library.rocrand_create_generator_host_blocking(ctypes.byref(handle), kind), "rocrand_create_generator_host")
    check(generate(handle, host.ctypes.data_as(POINTER), SIZE(n)), "rocrand_generate")
    return {"equal": bool((ours == host).all()), **told}


def rocfft(text: str) -> dict[str, object]:
    """A forward transform of that many complex numbers, against numpy's."""
    library, n = ctypes.CDLL("librocfft.so.0"), int(text)
    values = np.random.default_rng(n).standard_normal((2, n))
    data = Device((values[0] + 1j * values[1]).astype(np.complex64))
    plan, info, lengths, size = POINTER(), POINTER(), (SIZE * 1)(n), SIZE()
    check(library.rocfft_setup(), "rocfft_setup")
    in_place, forward, single = 0, 0, 0
    create = (ctypes.byref(plan), in_place, forward, single, SIZE(1), lengths, SIZE(1), None)
    check(library.rocfft_plan_create(*create), "rocfft_plan_create")
    check(library.rocfft_execution_info_create(ctypes.byref(info)), "rocfft_execution_info_create")
    check(library.rocfft_plan_get_work_buffer_size(plan, ctypes.byref(size)), "rocfft_plan_get_work_buffer_size")
    if size.value:
        work = Device(np.zeros(size.value, np.uint8))
        set_work = library.rocfft_execution_info_set_work_buffer
        check(set_work(info, work.pointer, size), "rocfft_execution_info_set_work_buffer")
    buffers = (POINTER * 1)(data.pointer)
    check(library.rocfft_execute(plan, buffers, None, info), "rocfft_execute")
    check(HIP.hipDeviceSynchronize(), "hipDeviceSynchronize")
    expected = np.fft.fft((values[0] + 1j * values[1]).astype(np.complex64))
    return {"error": float(abs(data.numpy() - expected).max() / abs(expected).max())}


def rocblas(text: str) -> dict[str, object]:
    """A product of matrices "sgemm:M:N:K" or "dgemm:...", against numpy's."""
    library, handle = ctypes.CDLL("librocblas.so.5"), POINTER()
    name, *sizes = text.split(":")
    m, n, k = map(int, sizes)
    type_, scalar = (np.float32, ctypes.c_float) if name == "sgemm" else (np.float64, ctypes.c_double)
    random = np.random.default_rng(m * n * k)
    a, b = (np.asfortranarray(random.standard_normal(shape).astype(type_)) for shape in ((m, k), (k, n)))
    one, zero, plain = scalar(1), scalar(0), 111
    da, db, dc = (Device(np.ravel(x, order="F")) for x in (a, b, np.zeros((m, n), type_)))
    check(library.rocblas_create_handle(ctypes.byref(handle)), "rocblas_create_handle")
    product = getattr(library, f"rocblas_{name}")
    factors = (ctypes.byref(one), da.pointer, m, db.pointer, k, ctypes.byref(zero), dc.pointer, m)
    check(product(handle, plain, plain, m, n, k, *factors), name)
    ours = dc.numpy().reshape((m, n), order="F")
    return {"error": float(abs(ours - a.astype(np.float64) @ b).max())}


def fault(name: str) -> dict[str, object]:
    """Numbers to an address where nothing is; then what HIP says, and whether an error stays."""
    library, handle = ctypes.CDLL("librocrand.so.1"), POINTER()
    check(library.rocrand_create_generator(ctypes.byref(handle), GENERATORS[name]), "rocrand_create_generator")
    library.rocrand_generate(handle, POINTER(0x10000), SIZE(1000))
    return {"status": [HIP.hipDeviceSynchronize(), HIP.hipMalloc(ctypes.byref(POINTER()), SIZE(64))]}


CASES: dict[str, Callable[[str], dict[str, object]]] = {
    "rocrand": rocrand, "rocfft": rocfft, "rocblas": rocblas, "fault": fault,
}  # fmt: skip

for case in sys.argv[2:]:
    library_, _, what = case.partition("=")
    print(json.dumps({"case": case, **CASES[library_](what)}), flush=True)
