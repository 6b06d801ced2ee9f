"""Memory: allocations, the program's own, and what is refused."""

from __future__ import annotations

import struct

import numpy as np
import pytest

from tests.kfd import software_kfd as kfd


def test_memory_is_counted_per_gpu() -> None:
    before = kfd.request("available", "QII", 0, kfd.gpu(), 0)[0]
    memory = kfd.Memory(1 << 20)
    assert kfd.request("available", "QII", 0, kfd.gpu(), 0)[0] == before - (1 << 20)
    memory.free()
    assert kfd.request("available", "QII", 0, kfd.gpu(), 0)[0] == before
    with pytest.raises(OSError, match="Invalid argument"):
        memory.free()


def svm(start: int, size: int, operation: int, *attributes: int) -> tuple[int, ...]:
    return kfd.request("svm", f"QQII{len(attributes)}I", start, size, operation, len(attributes) // 2, *attributes)[4:]


def test_attributes_of_the_programs_own_memory() -> None:
    preferred, prefetched, access, in_place, set_flags, undefined = 0, 1, 2, 3, 5, 0xFFFFFFFF
    memory = np.zeros(1 << 16, np.uint8)
    start = (memory.ctypes.data + 4095) & ~4095
    assert svm(start, 4096, 1, preferred, 0, set_flags, 9) == (preferred, undefined, set_flags, 0)
    svm(start, 8192, 0, preferred, kfd.gpu(), set_flags, 2)
    svm(start + 4096, 4096, 0, preferred, 0)
    assert svm(start, 4096, 1, preferred, 0, prefetched, 0) == (preferred, kfd.gpu(), prefetched, undefined)
    assert svm(start + 4096, 4096, 1, preferred, 5, set_flags, 0) == (preferred, 0, set_flags, 2)
    assert svm(start, 4096, 1, access, kfd.gpu()) == (in_place, kfd.gpu())


def test_ranges_that_overlap_are_accessible_as_a_whole() -> None:
    """A kernel-side look at each page: the copy of a range by a kernel would fault where a part were missing."""
    memory = np.zeros(1 << 16, np.uint8)
    start = (memory.ctypes.data + 4095) & ~4095
    for first, pages in ((2, 2), (6, 1), (1, 8), (0, 12)):
        svm(start + first * 4096, pages * 4096, 0, 0, 0)


@pytest.mark.parametrize(
    ("name", "layout", "values", "error"),
    [
        ("alloc", "QQQQII", (0x10000, 4096, 0, 0, 77, 1), "Invalid argument"),  # no such GPU
        ("alloc", "QQQQII", (0x10000, 0, 0, 0, 0, 1), "Invalid argument"),
        ("destroy_queue", "II", (99, 0), "Invalid argument"),
        ("xnack", "i", (1,), "not permitted"),
    ],
)
def test_wrong_requests(name: str, layout: str, values: tuple[int, ...], error: str) -> None:
    with pytest.raises(OSError, match=error):
        kfd.request(name, layout, *values)


def test_an_unknown_request_is_refused() -> None:
    data = struct.pack("Q", 0)
    assert kfd.library().ioctl(kfd.driver(), 0x7F, data) == -1
