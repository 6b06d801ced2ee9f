"""The occupancy that `explain` shows is the one that the software GPU gives programs, on chips that differ in waves,
registers and LDS."""

from __future__ import annotations

from contextlib import contextmanager

import pytest

from ptx2amd.target.occupancy import occupancy
from ptx2amd.translate import translate
from tests.vgpu.hip_gpu import opened

HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"
ARCHS = ["gfx803", "gfx90a", "gfx942", "gfx1030", "gfx1100", "gfx1201"]


def many_values(count: int) -> str:
    """A kernel with so many values that are alive at once."""
    loads = "\n".join(f"ld.volatile.global.u32 %r{n}, [%rd1+{4 * n}];" for n in range(count))
    stores = "\n".join(f"st.volatile.global.u32 [%rd1+{4 * n}], %r{n};" for n in range(count))
    registers = f".reg .b32 %r<{count}>; .reg .b64 %rd<2>;"
    body = "\n".join([registers, "ld.param.u64 %rd1, [p];", loads, stores, "ret;"])
    return f"{HEAD}.visible .entry k(.param .u64 p) {{\n{body}\n}}\n"


def with_shared(size: int) -> str:
    return f"{HEAD}.visible .entry k() {{ .shared .b8 s[{size}]; st.volatile.shared.u32 [s], 1; ret; }}\n"


KERNELS = {"waves": many_values(4), "registers": many_values(150), "LDS": with_shared(20_000)}


@pytest.mark.parametrize("arch", ARCHS)
@pytest.mark.parametrize("limit", KERNELS)
def test_as_the_software_gpu_says(arch: str, limit: str) -> None:
    [result] = translate(KERNELS[limit], archs=[arch])
    kernel = result.kernels["k"]
    with contextmanager(opened)(arch) as gpu:
        lib, blocks = gpu.library, gpu.library.ffi.new("int *")
        module = gpu.load(result.code)
        handle = module.kernel("k").handle
        for threads in (32, 96, 256, 1024):
            found = occupancy(arch, kernel.wave, kernel.vgprs, kernel.static_shared, threads, kernel.mapping)
            lib.hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(blocks, handle, threads, 0)
            assert found.blocks == blocks[0], threads
            assert 0 < found.waves <= found.most
    assert occupancy(arch, kernel.wave, kernel.vgprs, kernel.static_shared, 256, kernel.mapping).limit == limit
