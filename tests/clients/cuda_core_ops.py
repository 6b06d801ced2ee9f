"""Run by suites.py under `ptx2amd run`: cuda.core and cuda.bindings, NVIDIA's Python interfaces, against numpy."""

import ctypes

import cases
import numpy as np
from cuda.bindings import driver, nvrtc, runtime
from cuda.core import (
    Device,
    EventOptions,
    LaunchConfig,
    Linker,
    LinkerOptions,
    ObjectCode,
    Program,
    ProgramOptions,
    launch,
)

SOURCE = """
template <typename T> __global__ void scale(T *data, T factor, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] = data[i] * factor + i;
}
__constant__ float table[4];
extern "C" __global__ void lookup(float *data, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] = table[i % 4];
}
"""
NAMES = ("scale<float>", "scale<double>")
device = Device()
device.set_current()
stream = device.create_stream()
n = 1000


def compiled(kind: str) -> ObjectCode:
    arch = "sm_" + "".join(map(str, device.compute_capability))
    return Program(SOURCE, "c++", ProgramOptions(std="c++17", arch=arch)).compile(kind, name_expressions=NAMES)


def check(result: tuple) -> object:
    """What a function of cuda.bindings returns beside its error, which must be success."""
    error, *values = result
    assert int(error) == 0, error
    return values[0] if len(values) == 1 else values


def read(buffer: object, kind: type) -> np.ndarray:
    out = np.empty(n, kind)
    check(driver.cuMemcpyDtoH(out.ctypes.data, int(buffer.handle), out.nbytes))
    return out


def scaled(kind: str, name: str, number: type) -> np.ndarray:
    kernel = compiled(kind).get_kernel(name)
    buffer = device.allocate(n * np.dtype(number).itemsize, stream=stream)
    source = np.linspace(0, 1, n).astype(number)
    stream.sync()
    check(driver.cuMemcpyHtoD(int(buffer.handle), source.ctypes.data, source.nbytes))
    launch(stream, LaunchConfig(grid=8, block=128), kernel, buffer, number(3), np.int32(n))
    stream.sync()
    return read(buffer, number)


def linked() -> np.ndarray:
    """Two pieces of PTX: a kernel, and the device function that it calls."""
    options = ProgramOptions(relocatable_device_code=True)
    parts = [
        Program('extern "C" __device__ float twice(float x) { return 2 * x; }', "c++", options).compile("ptx"),
        Program(
            'extern "C" __device__ float twice(float); extern "C" __global__ void k(float *p, int n) {'
            " int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) p[i] = twice(i); }",
            "c++",
            options,
        ).compile("ptx"),
    ]
    code = Linker(*parts, options=LinkerOptions()).link("cubin")
    buffer = device.allocate(n * 4, stream=stream)
    launch(stream, LaunchConfig(grid=8, block=128), code.get_kernel("k"), buffer, np.int32(n))
    stream.sync()
    return read(buffer, np.float32)


def constants() -> np.ndarray:
    code = compiled("cubin")
    library = check(driver.cuLibraryLoadData(bytes(code.code), None, None, 0, None, None, 0))
    address, size = check(driver.cuLibraryGetGlobal(library, b"table"))
    assert size == 16
    check(driver.cuMemcpyHtoD(address, np.float32([5, 6, 7, 8]).ctypes.data, 16))
    kernel = check(driver.cuLibraryGetKernel(library, b"lookup"))
    memory = check(driver.cuMemAlloc(n * 4))
    arguments = ((int(memory), n), (ctypes.c_void_p, ctypes.c_int))
    check(driver.cuLaunchKernel(driver.CUfunction(int(kernel)), 8, 1, 1, 128, 1, 1, 0, 0, arguments, 0))
    out = np.empty(n, np.float32)
    check(driver.cuMemcpyDtoH(out.ctypes.data, memory, out.nbytes))
    check(driver.cuMemFree(memory))
    check(driver.cuLibraryUnload(library))
    return out


def times() -> None:
    events = [device.create_event(EventOptions(timing_enabled=True)) for _ in range(2)]
    stream.record(events[0])
    scaled("ptx", NAMES[0], np.float32)
    stream.record(events[1])
    events[1].sync()
    assert events[1] - events[0] > 0


def of_the_runtime() -> np.ndarray:
    """cuda.bindings.runtime holds a static cudart."""
    assert check(runtime.cudaGetDeviceCount()) == 1
    source, out = np.arange(n, dtype=np.float32), np.empty(n, np.float32)
    memory = check(runtime.cudaMalloc(source.nbytes))
    copy = runtime.cudaMemcpyKind
    check(runtime.cudaMemcpy(memory, source.ctypes.data, source.nbytes, copy.cudaMemcpyHostToDevice))
    check(runtime.cudaMemcpy(out.ctypes.data, memory, source.nbytes, copy.cudaMemcpyDeviceToHost))
    check(runtime.cudaFree(memory))
    return out


def properties() -> None:
    about = device.properties
    assert about.warp_size == 32 and about.max_threads_per_block == 1024
    assert about.multiprocessor_count > 0 and device.name and device.uuid and device.pci_bus_id
    assert check(runtime.cudaGetDeviceProperties(0)).name


def graph() -> np.ndarray:
    builder = device.create_graph_builder()
    kernel = compiled("ptx").get_kernel(NAMES[0])
    buffer = device.allocate(n * 4, stream=stream)
    check(driver.cuMemsetD32(int(buffer.handle), 0, n))
    builder.begin_building()
    for _ in range(2):
        launch(builder, LaunchConfig(grid=8, block=128), kernel, buffer, np.float32(2), np.int32(n))
    made = builder.end_building().complete()
    made.launch(stream)
    stream.sync()
    return read(buffer, np.float32)


def errors() -> None:
    """What is wrong has CUDA's name."""
    error, _ = driver.cuModuleLoadData(b"no PTX\0")
    assert error in (driver.CUresult.CUDA_ERROR_INVALID_IMAGE, driver.CUresult.CUDA_ERROR_INVALID_PTX), error
    error, name = driver.cuGetErrorName(driver.CUresult.CUDA_ERROR_NOT_FOUND)
    assert name == b"CUDA_ERROR_NOT_FOUND"
    assert check(nvrtc.nvrtcVersion())[0] == 13


i = np.arange(n)
start = np.linspace(0, 1, n)
CASES = {
    "properties": properties,
    "ptx": cases.agree(lambda: scaled("ptx", NAMES[0], np.float32), start * 3 + i),
    "cubin": cases.agree(lambda: scaled("cubin", NAMES[1], np.float64), start * 3 + i, 1e-12),
    "linked": cases.agree(linked, i * 2),
    "constants": cases.agree(constants, i % 4 + 5),
    "events": times,
    "graph": cases.agree(graph, i * 3),
    "runtime": cases.agree(of_the_runtime, i),
    "errors": errors,
}

cases.run(CASES)
