"""What programs compute launches from agrees with itself: registers, shared memory, the limits of blocks and
multiprocessors, occupancy, and which launches succeed. On every chip, for kernels of all sizes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.bad_input.test_bad_input import run

GFX9 = ("gfx900", "gfx906", "gfx908", "gfx90a", "gfx942", "gfx950")
ARCHS = (*GFX9, "gfx1030", "gfx1100", "gfx1151", "gfx1200", "gfx1201")
HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"


def kernel(name: str, values: int = 1, shared: int = 0, local: int = 0, bounds: str = "", waits: bool = False) -> str:
    """A kernel with so many values alive at once. waits: warps wait for each other, so that it is padded."""
    loads = "".join(f"ld.volatile.global.u32 %x{i}, [%a+{4 * i}];\n" for i in range(values))
    stores = "".join(f"st.volatile.global.u32 [%a+{4 * i}], %x{i};\n" for i in range(values))
    text = f"{loads} bar.sync 0;\n{stores}"
    if shared:
        text += f".shared .align 4 .b8 s[{shared}]; st.volatile.shared.u32 [s], %x0;\n"
    if local:
        text += f".local .align 4 .b8 l[{local}]; mov.u64 %b, l; add.u64 %b, %b, %c; st.volatile.local.u32 [%b], %x0;\n"
    if waits:
        text += (
            ".shared .u32 f; mov.u32 %x0, %tid.x; setp.eq.u32 %q, %x0, 0; @%q st.volatile.shared.u32 [f], 1;\n"
            "W: ld.volatile.shared.u32 %x0, [f]; setp.eq.u32 %q, %x0, 0; @%q bra W;\n"
        )
    return (
        f".visible .entry {name}(.param .u64 p) {bounds} {{ .reg .b64 %a, %b, %c; .reg .pred %q;\n"
        f".reg .b32 %x<{values}>; ld.param.u64 %a, [p]; and.b64 %c, %a, 0;\n{text} ret; }}\n"
    )


KERNELS = {
    "small": kernel("small"),
    "some": kernel("some", 40, 1000),
    "many": kernel("many", 110, 4096, 256),
    "more": kernel("more", 180),
    "most": kernel("most", 300, 20000),
    "shared": kernel("shared", 8, 49152),
    "waits": kernel("waits", 20, waits=True),
    "bound96": kernel("bound96", 120, 512, bounds=".maxntid 96"),
    "bound256": kernel("bound256", 120, bounds=".maxntid 16, 16"),
    "bound512": kernel("bound512", 300, bounds=".maxntid 512 .minnctapersm 2"),
    "bound1000": kernel("bound1000", 90, 3000, bounds=".maxntid 1000"),
    "few": kernel("few", 90, bounds=".maxnreg 32"),
}
QUICK = ("small", "many", "most", "waits", "bound96")

CODE = '''
import sys
cu = Driver().start()
REGISTERS, SHARED, MOST, DYNAMIC = 4, 1, 0, 8


def device(number):
    value = c.c_int()
    cu.cuDeviceGetAttribute(c.byref(value), number, 0)
    return value.value


def attribute(function, number):
    value = c.c_int()
    cu.cuFuncGetAttribute(c.byref(value), number, function)
    return value.value


def occupancy(function, block, dynamic):
    found, flagged = c.c_int(-1), c.c_int(-2)
    cu.cuOccupancyMaxActiveBlocksPerMultiprocessor(c.byref(found), function, block, c.c_size_t(dynamic))
    cu.cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(c.byref(flagged), function, block, c.c_size_t(dynamic), 1)
    assert found.value == flagged.value
    return found.value


def up(value, unit):
    return -(-value // unit) * unit


THREADS, BLOCKS, PER_BLOCK, PER_PROCESSOR, ROOM = device(39), device(106), device(12), device(82), device(81)
assert device(1) == 1024 and THREADS % 32 == 0 and device(8) <= device(97) <= ROOM and PER_BLOCK <= PER_PROCESSOR
memory = cu.alloc(4096)


def check(name, bound):
    f = cu.function(module, name)
    registers, shared, most = (attribute(f, number) for number in (REGISTERS, SHARED, MOST))
    assert 0 < registers <= 255 and 0 < most <= (bound or 1024), (registers, most)
    assert up(registers, 8) * up(most, 32) <= PER_BLOCK, (registers, most)
    if device(97) > shared + 2048:  # more than without asking, but within LDS
        cu.cuFuncSetAttribute(f, DYNAMIC, device(97) - shared - 2048)
    limit = attribute(f, DYNAMIC)
    assert limit + shared <= max(ROOM, 49152)
    for block in sorted({1, 31, 32, 33, 64, 96, 128, 192, 256, 384, 512, 768, 1000, 1024, most, min(1024, most + 1)}):
        for dynamic in sorted({0, min(1000, limit), min(9000, limit), limit // 2, limit, limit + 4}):
            blocks, what = occupancy(f, block, dynamic), (name, block, dynamic, registers, most)
            launched = cu.launch(f, 1, block, dynamic, memory)
            assert (launched == "CUDA_SUCCESS") == (blocks > 0), (*what, blocks, launched)
            if block <= most and dynamic <= limit:
                assert blocks > 0, what
            wrong = bound and block > bound or block <= most and dynamic > limit
            if not blocks and (wrong or dynamic <= limit):
                why = "CUDA_ERROR_INVALID_VALUE" if wrong else "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"
                assert launched == why, (*what, launched)
            assert blocks <= BLOCKS and blocks * up(block, 32) <= THREADS, (*what, blocks)
            assert blocks * (shared + dynamic) <= ROOM, (*what, blocks)
            if block <= most:
                assert blocks * up(block, 32) * up(registers, 8) <= PER_PROCESSOR, (*what, blocks)
    assert cu.error("cuCtxSynchronize") == "CUDA_SUCCESS"
    potential(f, most)
    available(f, most)
    print(name, registers, most, file=sys.stderr)


def potential(f, most):
    """The proposed block is the best of all that may be asked for, and the grid fills the device."""
    for limit in (0, 100, 512):
        grid, block, allowed = c.c_int(), c.c_int(), min(most, limit or most)
        cu.cuOccupancyMaxPotentialBlockSize(c.byref(grid), c.byref(block), f, None, c.c_size_t(0), limit)
        blocks = occupancy(f, block.value, 0)
        assert block.value <= allowed and grid.value == blocks * device(16)
        assert all(n * occupancy(f, n, 0) <= blocks * block.value for n in (*range(32, allowed + 1, 32), allowed))


def available(f, most):
    """With what is said to be available, so many blocks fit, and with a page more they do not; or they never do."""
    for block in (32, most):
        for blocks in (1, 2, 3, 5, 8, 33):
            found = c.c_size_t()
            error = cu.error("cuOccupancyAvailableDynamicSMemPerBlock", c.byref(found), f, blocks, block)
            if error != "CUDA_SUCCESS":
                assert error == "CUDA_ERROR_INVALID_VALUE" and occupancy(f, block, 0) < blocks
                continue
            fit = occupancy(f, block, found.value)
            what = (block, blocks, found.value, fit)
            assert fit >= blocks, what
            more = found.value + 4096
            assert more > attribute(f, DYNAMIC) or occupancy(f, block, more) < blocks, what


module = cu.load(PTX)
for name, bound in KERNELS.items():
    check(name, bound)
impossible = cu.function(module, next(iter(KERNELS)))
assert cu.launch(impossible, 1, 1025, 0, memory) == "CUDA_ERROR_INVALID_VALUE" and occupancy(impossible, 1025, 0) == 0
print("agree")
'''


def agree(tmp_path: Path, arch: str, names: tuple[str, ...]) -> str:
    text = HEAD + "".join(KERNELS[name] for name in names)
    bounds = {name: int(name.removeprefix("bound")) if name.startswith("bound") else 0 for name in names}
    done = run(f"PTX, KERNELS = {text.encode()!r}, {bounds}\n{CODE}", tmp_path, f"vgpu:{arch}")
    assert done.returncode == 0 and "agree" in done.stdout, done.stdout + done.stderr
    return done.stderr


@pytest.mark.parametrize("arch", ["gfx942", "gfx1100"])
def test_some_kernels_agree(tmp_path: Path, arch: str) -> None:
    agree(tmp_path, arch, QUICK)


@pytest.mark.slow
@pytest.mark.parametrize("arch", ARCHS)
def test_all_kernels_agree(tmp_path: Path, arch: str) -> None:
    agree(tmp_path, arch, tuple(KERNELS))
