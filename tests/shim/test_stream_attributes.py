"""What programs set of streams is what they get back; streams that were not asked begin with CUDA's values."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

WINDOW, COOPERATIVE, POLICY, PRIORITY, DOMAIN_MAP, DOMAIN = 1, 2, 3, 8, 9, 10
INVALID_VALUE = 1
LEGACY, PER_THREAD = 0, 2


@pytest.fixture
def streams(shim: SimpleNamespace) -> Iterator[list[Any]]:
    """Two streams, the default one, and the thread's own."""
    context, made = shim.ffi.new("CUcontext *"), shim.ffi.new("CUstream[2]")
    assert shim.cuda.cuCtxCreate_v2(context, 0, 0) == 0
    for k in range(2):
        assert shim.cuda.cuStreamCreate(made + k, 0) == 0
    yield [*made, *(shim.ffi.cast("CUstream", number) for number in (LEGACY, PER_THREAD))]
    assert shim.cuda.cuCtxDestroy_v2(context[0]) == 0


def get(shim: SimpleNamespace, stream: Any, attribute: int) -> bytes:
    value = shim.ffi.new("char[64]", b"?" * 64)
    assert shim.cuda.cuStreamGetAttribute(stream, attribute, shim.ffi.cast("CUstreamAttrValue *", value)) == 0
    return bytes(shim.ffi.buffer(value)[:])


def put(shim: SimpleNamespace, stream: Any, attribute: int, value: bytes) -> int:
    room = shim.ffi.new("char[64]", value.ljust(64, b"\0"))
    return int(shim.cuda.cuStreamSetAttribute(stream, attribute, shim.ffi.cast("CUstreamAttrValue *", room)))


def value_of(attribute: int, number: int) -> bytes:
    """One that the attribute can have, of its own for each stream."""
    return bytes([number % 4 + 1]) if attribute == POLICY else bytes([attribute, number + 2])


def test_attributes_are_kept_of_each_stream(shim: SimpleNamespace, streams: list[Any]) -> None:
    begin = {WINDOW: b"", POLICY: b"\1", PRIORITY: b"", DOMAIN_MAP: b"\0\1", DOMAIN: b""}
    for stream in streams:
        assert {attribute: get(shim, stream, attribute).rstrip(b"\0") for attribute in begin} == begin
    for number, stream in enumerate(streams):
        for attribute in (WINDOW, POLICY, DOMAIN_MAP, DOMAIN):
            assert put(shim, stream, attribute, value_of(attribute, number)) == 0
    for number, stream in enumerate(streams):
        for attribute in (WINDOW, POLICY, DOMAIN_MAP, DOMAIN):
            assert get(shim, stream, attribute) == value_of(attribute, number).ljust(64, b"\0")
    assert shim.cuda.cuStreamCopyAttributes(streams[2], streams[1]) == 0
    assert get(shim, streams[2], WINDOW)[1] == get(shim, streams[1], WINDOW)[1] != get(shim, streams[3], WINDOW)[1]
    assert put(shim, streams[0], PRIORITY, b"\5") == 0 and get(shim, streams[0], PRIORITY) == bytes(64)


def test_attributes_of_launches_are_none_of_streams(shim: SimpleNamespace, streams: list[Any]) -> None:
    for attribute in (0, COOPERATIVE, 4, 12, 99, -1):
        assert put(shim, streams[0], attribute, b"") == INVALID_VALUE
    nothing = shim.ffi.NULL
    assert shim.cuda.cuStreamGetAttribute(streams[0], POLICY, nothing) == INVALID_VALUE
    assert shim.cuda.cuStreamSetAttribute(streams[0], POLICY, nothing) == INVALID_VALUE
