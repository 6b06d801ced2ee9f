"""Launches through the HIP API: arguments, hidden arguments, limits, faults.

Protects: kernarg layout for every producer, the documented errors of bad launches, sticky errors after a fault.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

import numpy as np
import pytest

from ptx2amd import hip
from tests.vgpu.hip_gpu import fails, opened
from tests.vgpu.hipcc import ARCHS, COMMON, common, compile_hip

SOURCE = r"""
struct Triple { char tag; double value; short tail[3]; };
GLOBAL void arguments(u64 *out, char c, short s, int i, u64 l, float f, double d, Triple t) {
  out[0] = c; out[1] = s; out[2] = i; out[3] = l;
  out[4] = __builtin_bit_cast(u32, f); out[5] = __builtin_bit_cast(u64, d);
  out[6] = t.tag; out[7] = __builtin_bit_cast(u64, t.value); out[8] = t.tail[2];
}
GLOBAL void shape(u32 *out) {
  if (TX == 0 && TY == 0 && TZ == 0) {
    u32 *p = out + 8 * (BX + 4 * (BY + 3 * BZ));
    p[0] = NX; p[1] = NY; p[2] = NZ; p[3] = GX;
  }
}
GLOBAL void dynamic(u32 *out) {
  extern SHARED u32 cells[];
  cells[TX] = TX * TX;
  barrier();
  out[TX] = cells[NX - 1 - TX];
}
GLOBAL void fixed_lds(u32 *out) {
  SHARED static u32 cells[12288];              /* 48 KiB */
  cells[TX * 48] = TX;
  barrier();
  out[TX] = cells[(NX - 1 - TX) * 48];
}
GLOBAL __attribute__((amdgpu_flat_work_group_size(1, 128))) void small_blocks(u32 *out) { out[TX] = 1; }
GLOBAL void trap() { __builtin_trap(); }
"""

LARGE = 4 << 20  # bytes: an allocation that has chunks of its own (chunk.h)
BEYOND = 6 << 20  # past those


@pytest.fixture(params=ARCHS)
def gpu(request: pytest.FixtureRequest) -> Iterator[hip.Gpu]:
    yield from opened(request.param)


def kernel(gpu: hip.Gpu, name: str, version: int = 5) -> hip.Kernel:
    return gpu.load(compile_hip(SOURCE, gpu.arch, version)).kernel(name)


ARGUMENTS = [-5, -300, 1 << 31, 0x1234_5678_9ABC_DEF0, np.float32(1.5), np.float64(-2.25),
             struct.pack("<b7xd3h2x", 7, 0.125, 1, 2, 3)]  # fmt: skip
EXPECTED = [
    (1 << 64) - 5, (1 << 64) - 300, 0xFFFF_FFFF_8000_0000, 0x1234_5678_9ABC_DEF0, 0x3FC0_0000,
    struct.unpack("<Q", struct.pack("<d", -2.25))[0], 7, struct.unpack("<Q", struct.pack("<d", 0.125))[0], 3,
]  # fmt: skip


def test_arguments_by_pointers(gpu: hip.Gpu) -> None:
    out = gpu.buffer(np.zeros(9, np.uint64))
    kernel(gpu, "arguments").launch(1, 1, [out, *ARGUMENTS])
    assert out.numpy().tolist() == EXPECTED


@pytest.mark.parametrize("longer", (0, 4, 4096))
@pytest.mark.parametrize("end", (0, 3), ids=("CUDA's end", "HIP's end"))
def test_arguments_as_a_buffer(gpu: hip.Gpu, end: int, longer: int) -> None:
    """Which may be longer than the kernel's segment: what is beyond is not looked at."""
    out = gpu.buffer(np.zeros(9, np.uint64))
    packed = struct.pack("<QbxhiQf4xd", out.address, -5, -300, -(1 << 31), ARGUMENTS[3], 1.5, -2.25)
    packed += ARGUMENTS[6] + bytes(longer)
    lib, ffi = gpu.activate(), gpu.library.ffi
    data, size = ffi.from_buffer(packed), ffi.new("size_t *", len(packed))
    extra = ffi.new("void *[]", [ffi.cast("void *", v) for v in (1, data, 2, size, end)])
    k = kernel(gpu, "arguments")
    lib.hipModuleLaunchKernel(k.handle, 1, 1, 1, 1, 1, 1, 0, ffi.NULL, ffi.NULL, extra)
    assert out.numpy().tolist() == EXPECTED


@pytest.mark.parametrize("version", (4, 5, 6))
def test_hidden_arguments_and_dispatch_packet(gpu: hip.Gpu, version: int) -> None:
    """The block size comes from the packet in version 4 and from hidden arguments later."""
    out = gpu.buffer(np.zeros((2, 3, 4, 8), np.uint32))
    kernel(gpu, "shape", version).launch((4, 3, 2), (8, 2, 3), [out])
    assert (out.numpy()[..., :4] == (8, 2, 3, 4)).all()


def test_partial_last_workgroup(gpu: hip.Gpu) -> None:
    """hipExtModuleLaunchKernel counts work-items: 70 in blocks of 32 leave a block of 6."""
    out = gpu.buffer(np.zeros(96, np.uint32))
    lib, ffi = gpu.activate(), gpu.library.ffi
    argument = ffi.from_buffer(struct.pack("<Qi4x", out.address, 96))
    params = ffi.new("void *[]", [ffi.cast("void *", argument), ffi.cast("void *", argument) + 8])
    null, k = ffi.NULL, common(gpu, "add_one")
    lib.hipExtModuleLaunchKernel(k.handle, 70, 1, 1, 32, 1, 1, 0, null, params, null, null, null, 0)
    assert out.numpy().tolist() == [1] * 70 + [0] * 26


def test_dynamic_shared_memory(gpu: hip.Gpu) -> None:
    out = gpu.buffer(np.zeros(200, np.uint32))
    k = kernel(gpu, "dynamic")
    k.launch(1, 200, [out], shared=800)
    assert (out.numpy() == np.arange(200, dtype=np.uint32)[::-1] ** 2).all()
    k.launch(1, 200, [out], shared=65536)
    with fails("hipErrorLaunchOutOfResources"):
        k.launch(1, 200, [out], shared=65537)


def test_static_and_dynamic_shared_memory_share_the_limit(gpu: hip.Gpu) -> None:
    k, out = kernel(gpu, "fixed_lds"), gpu.buffer(np.zeros(256, np.uint32))
    assert k.attribute("SHARED_SIZE_BYTES") == 49152
    k.launch(1, 256, [out], shared=16384)
    assert (out.numpy() == np.arange(256)[::-1]).all()
    with fails("hipErrorLaunchOutOfResources"):
        k.launch(1, 256, [out], shared=16388)


@pytest.mark.parametrize(
    ("grid", "block", "error"),
    [
        ((0, 1, 1), (1, 1, 1), "hipErrorInvalidValue"),
        ((1, 1, 1), (1, 0, 1), "hipErrorInvalidValue"),
        ((1, 1, 1), (1025, 1, 1), "hipErrorInvalidConfiguration"),
        ((1, 1, 1), (32, 32, 2), "hipErrorInvalidConfiguration"),
        ((1 << 23, 1, 1), (1024, 1, 1), "hipErrorInvalidConfiguration"),
    ],
)
def test_bad_shapes(gpu: hip.Gpu, grid: tuple[int, ...], block: tuple[int, ...], error: str) -> None:
    with fails(error):
        common(gpu, "empty").launch(grid, block)
    common(gpu, "empty").launch(1, 1024)
    gpu.synchronize()  # a refused launch leaves no error behind


def test_block_larger_than_the_kernel_was_compiled_for(gpu: hip.Gpu, capfd: pytest.CaptureFixture[str]) -> None:
    k, out = kernel(gpu, "small_blocks"), gpu.buffer(512)
    assert k.attribute("MAX_THREADS_PER_BLOCK") == 128
    k.launch(1, 128, [out])
    with fails("hipErrorLaunchOutOfResources"):
        k.launch(1, 129, [out])
    assert "kernel small_blocks, compiled for at most 128" in capfd.readouterr().err


def test_missing_arguments_and_foreign_handles(gpu: hip.Gpu) -> None:
    lib, ffi, k = gpu.activate(), gpu.library.ffi, common(gpu, "saxpy")
    null, one = ffi.NULL, (1, 1, 1, 1, 1, 1, 0)
    with fails("hipErrorInvalidValue"):
        lib.hipModuleLaunchKernel(k.handle, *one, null, null, null)
    for wrong in (0, 64, 0xDEAD_BEEF, int(ffi.cast("uintptr_t", k.module.handle))):
        with fails("hipErrorInvalidHandle"):
            lib.hipModuleLaunchKernel(ffi.cast("hipFunction_t", wrong), *one, null, null, null)
    with fails("hipErrorInvalidHandle"):
        lib.hipModuleLaunchKernel(k.handle, *one, ffi.cast("hipStream_t", 0x1000), null, null)


def test_accesses_a_little_outside_are_as_on_the_chip(gpu: hip.Gpu) -> None:
    """Memory is mapped in large pages: a border read, a grid that was rounded up. --memcheck reports them."""
    for size in (1000, LARGE):
        p = gpu.buffer(np.zeros(size // 4, np.uint32))
        common(gpu, "store").launch(1, 64, [p, size // 4 + 5, 7])
        common(gpu, "store").launch(1, 64, [p.address - 64, 0, 7])
        gpu.synchronize()
        assert not p.numpy().any()


def test_memory_fault_is_reported_and_sticks(gpu: hip.Gpu, capfd: pytest.CaptureFixture[str]) -> None:
    p = gpu.buffer(np.zeros(LARGE // 4, np.uint32))
    store = common(gpu, "store")
    store.launch(1, 64, [p, 255, 7])
    assert p.numpy()[255] == 7
    store.launch(1, 64, [p, BEYOND // 4, 7])
    with fails("hipErrorIllegalAddress") as caught:
        gpu.synchronize()
    report = capfd.readouterr().err
    for part in ("store", f"{p.address + BEYOND:#x}", f"{LARGE}-byte device allocation"):
        assert part in report and part in str(caught.value)
    assert len(report.splitlines()) == 1
    with fails("hipErrorIllegalAddress"):
        store.launch(1, 64, [p, 0, 1])
    with fails("hipErrorIllegalAddress"):
        gpu.buffer(16)
    with fails("hipErrorIllegalAddress"):
        p.bytes()
    gpu.reset()  # which frees the memory, too
    p = gpu.buffer(np.zeros(4, np.uint32))
    store.launch(1, 64, [p, 0, 9])
    assert p.numpy()[0] == 9


def test_use_after_free_is_a_fault(gpu: hip.Gpu, capfd: pytest.CaptureFixture[str]) -> None:
    p = gpu.buffer(LARGE)  # a small one's chunk stays mapped, as on the chip: that is --memcheck's to find
    stale = p.address
    p.free()
    common(gpu, "store").launch(1, 64, [stale, 3, 7])
    with fails("hipErrorIllegalAddress"):
        gpu.synchronize()
    assert "that was freed" in capfd.readouterr().err


def test_host_memory_has_to_be_registered(gpu: hip.Gpu, capfd: pytest.CaptureFixture[str]) -> None:
    data = np.zeros(1024, np.uint32)
    lib, ffi = gpu.activate(), gpu.library.ffi
    pointer = ffi.cast("void *", data.ctypes.data)
    lib.hipHostRegister(pointer, data.nbytes, 0)
    common(gpu, "store").launch(1, 64, [data.ctypes.data, 5, 77])
    gpu.synchronize()
    assert data[5] == 77
    lib.hipHostUnregister(pointer)
    common(gpu, "store").launch(1, 64, [data.ctypes.data, 5, 88])
    with fails("hipErrorIllegalAddress"):
        gpu.synchronize()
    assert data[5] == 77


def test_trap(gpu: hip.Gpu, capfd: pytest.CaptureFixture[str]) -> None:
    kernel(gpu, "trap").launch(1, 64)
    with fails("hipErrorLaunchFailure"):
        gpu.synchronize()
    assert "trap" in capfd.readouterr().err


def test_a_fault_on_one_device_leaves_the_other_alone(capfd: pytest.CaptureFixture[str]) -> None:
    a, b = (hip.open(f"vgpu:{arch}") for arch in ARCHS)
    common(a, "store").launch(1, 64, [a.buffer(4), 1 << 40, 7])
    with fails("hipErrorIllegalAddress"):
        a.synchronize()
    p = b.buffer(np.zeros(4, np.uint32))
    common(b, "add_one").launch(1, 4, [p, 4])
    b.synchronize()
    assert p.numpy().tolist() == [1, 1, 1, 1]
    a.reset()


def test_occupancy_follows_registers_and_shared_memory(gpu: hip.Gpu) -> None:
    lib, ffi, k = gpu.library, gpu.library.ffi, common(gpu, "empty")
    blocks = ffi.new("int *")

    def occupancy(block: int, shared: int) -> int:
        lib.hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(blocks, k.handle, block, shared)
        return int(blocks[0])

    waves = {"gfx942": 32, "gfx1100": 64}[gpu.arch]
    lds = {"gfx942": 64, "gfx1100": 128}[gpu.arch] << 10
    assert occupancy(gpu.wave, 0) == waves
    assert occupancy(1024, 0) == waves * gpu.wave // 1024
    assert occupancy(gpu.wave, 16384) == lds // 16384
    assert occupancy(gpu.wave, 65537) == 0
    grid, block = ffi.new("int *"), ffi.new("int *")
    lib.hipModuleOccupancyMaxPotentialBlockSize(grid, block, k.handle, 0, 0)
    assert block[0] == 1024 and grid[0] == gpu.attribute("MultiprocessorCount") * waves * gpu.wave // 1024


def test_cooperative_launch_is_limited_to_what_is_resident(gpu: hip.Gpu, capfd: pytest.CaptureFixture[str]) -> None:
    lib, ffi, k = gpu.activate(), gpu.library.ffi, common(gpu, "empty")
    most = gpu.attribute("MultiprocessorCount") * {"gfx942": 32, "gfx1100": 64}[gpu.arch] * gpu.wave // 1024
    null = ffi.NULL
    lib.hipModuleLaunchCooperativeKernel(k.handle, 4, 1, 1, 1024, 1, 1, 0, null, null)
    with fails("hipErrorCooperativeLaunchTooLarge"):
        lib.hipModuleLaunchCooperativeKernel(k.handle, most + 1, 1, 1, 1024, 1, 1, 0, null, null)
    lib.hipModuleLaunchCooperativeKernel(k.handle, most, 1, 1, 1024, 1, 1, 0, null, null)
    gpu.synchronize()
    assert not capfd.readouterr().err


def test_counters_and_kernel_attributes(gpu: hip.Gpu) -> None:
    before, after = gpu.library.ffi.new("uint64_t[4]"), gpu.library.ffi.new("uint64_t[4]")
    gpu.library.ptx2amd_vgpu_counters(before)
    common(gpu, "empty").launch(6, 128)
    gpu.synchronize()
    gpu.library.ptx2amd_vgpu_counters(after)
    assert after[3] - before[3] == 1 and after[2] - before[2] == 6
    assert after[1] - before[1] == 6 * 128 // gpu.wave and after[0] - before[0] >= after[1] - before[1]
    assert common(gpu, "saxpy").attribute("NUM_REGS") > 0


def test_many_launches_from_many_threads(gpu: hip.Gpu) -> None:
    """The launch path is shared state: 4 threads, 200 launches each, on their own and on the null stream."""
    import threading

    p = gpu.buffer(np.zeros((4, 64), np.uint32))
    k = common(gpu, "add_one")
    errors: list[BaseException] = []

    def work(row: int) -> None:
        try:
            stream = gpu.stream() if row % 2 else None
            for _ in range(200):
                k.launch(1, 64, [p.address + 256 * row, 64], stream=stream)
            (stream or gpu).synchronize()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(row,)) for row in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not errors and (p.numpy() == 200).all()


def test_unloaded_module_takes_its_functions_along(gpu: hip.Gpu) -> None:
    lib, ffi = gpu.activate(), gpu.library.ffi
    module, function = ffi.new("hipModule_t *"), ffi.new("hipFunction_t *")
    lib.hipModuleLoadData(module, ffi.from_buffer(compile_hip(COMMON, gpu.arch)))
    lib.hipModuleGetFunction(function, module[0], b"empty")
    lib.hipModuleUnload(module[0])
    with fails("hipErrorInvalidHandle"):
        lib.hipModuleLaunchKernel(function[0], 1, 1, 1, 1, 1, 1, 0, ffi.NULL, ffi.NULL, ffi.NULL)
    with fails("hipErrorInvalidHandle"):
        lib.hipModuleUnload(module[0])
