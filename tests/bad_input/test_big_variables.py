"""Zeros are a size: a variable without initial values costs neither bytes in the cache nor time, wherever it stands
among those that have values; one that is larger than the device's memory is CUDA_ERROR_OUT_OF_MEMORY."""

from __future__ import annotations

from pathlib import Path

import pytest

from ptx2amd.errors import PtxError
from ptx2amd.lower.memory.data import segment
from ptx2amd.translate import module_index, parse, translate
from tests.bad_input.test_bad_input import check, run

HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"
KERNEL = (
    ".visible .entry k() { .reg .b64 x; .reg .b32 r; mov.u64 x, big; mov.u32 r, 7; st.global.u32 [x+64], r; ret; }\n"
)


def module(size: int) -> str:
    return (
        f"{HEAD}.visible .global .u32 first = 5;\n.visible .global .align 16 .b8 big[{size}] = {{1, 2}};\n"
        f".visible .global .u32 last[3] = {{6}};\n.visible .global .u64 there = last;\n{KERNEL}"
    )


@pytest.mark.parametrize("size", [1 << 30, 1 << 40])
def test_zeros_are_a_size(size: int) -> None:
    """In the index, and in an offline code object, where they are in a section without bytes."""
    index = module_index(parse(module(size), "m"))
    assert index.segment_size > size and len(index.payload) < 1000
    place = {v.name: v.offset for v in index.variables}
    pieces = list(segment(parse(module(size), "m")).image.pieces(place["big"], place["big"] + size))
    assert pieces[-1] > size - 1000 and b"".join(p for p in pieces if isinstance(p, bytes))[:2] == b"\1\2"


def test_initial_values_with_gaps() -> None:
    with pytest.raises(PtxError, match="zeros between initial values"):
        parse(f"{HEAD}.global .b8 x[2][4294967296] = {{{{1}}, {{2}}}};\n", "m")
    index = module_index(parse(f"{HEAD}.global .u16 x[3][1000] = {{{{1}}, {{2, 3}}}};\n", "m"))
    assert index.parts == [(0, 2004, 0)] and index.image[2000:2004] == b"\2\0\3\0"


def test_a_code_object_without_the_zeros() -> None:
    [result] = translate(f"{HEAD}.visible .global .align 16 .b8 big[1073741824];\n{KERNEL}", "m", mode="module")
    assert result.ok and len(result.code) < 100_000


def test_a_program_reads_what_was_initialised(tmp_path: Path) -> None:
    """64 MiB between the first value and the last: small in the cache, and right."""
    check(
        f"""
m = cu.load({module(1 << 26)!r}.encode())
def at(name, size):
    address, bytes_ = c.c_uint64(), c.c_size_t()
    cu.cuModuleGetGlobal_v2(c.byref(address), c.byref(bytes_), m, name)
    data = c.create_string_buffer(size)
    cu.cuMemcpyDtoH_v2(data, address, c.c_size_t(size))
    return address.value, data.raw
assert cu.launch(cu.function(m, "k"), 1, 1, 0) == "CUDA_SUCCESS"
cu.cuCtxSynchronize()
assert at(b"first", 4)[1] == b"\\5\\0\\0\\0" and at(b"big", 80)[1] == b"\\1\\2" + bytes(62) + b"\\7" + bytes(15)
assert at(b"last", 12)[1] == b"\\6" + bytes(11) and at(b"there", 8)[1] == at(b"last", 4)[0].to_bytes(8, "little")
""",
        tmp_path,
    )
    assert sum(path.stat().st_size for path in (tmp_path / "cache").rglob("*.p2a")) < 1 << 20


def test_more_than_the_device_has(tmp_path: Path) -> None:
    code = f"""
cu = Driver().start()
module = c.c_void_p()
assert cu.error("cuModuleLoadData", c.byref(module), {module(1 << 44)!r}.encode()) == "CUDA_ERROR_OUT_OF_MEMORY"
still_works(cu)
"""
    done = run(code, tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "its variables need 17592186" in done.stderr
