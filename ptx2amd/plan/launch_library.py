"""The functions of CUDA's device runtime library, by which kernels launch kernels. Their
lowerings are in lower/runtime/launches.py."""

from __future__ import annotations

from ptx2amd.regex import regex

# Both generations of the library, and its names for the default stream of threads.
LIBRARY = regex(r"(?:__cudaCDP2|cuda)(?P<name>[A-Z]\w*?)(?:_ptsz)?")
#: Names without prefixes.
NAMES = frozenset((
    *("GetParameterBuffer", "GetParameterBufferV2", "LaunchDevice", "LaunchDeviceV2"),
    *("MemcpyAsync", "Memcpy2DAsync", "MemsetAsync", "Memset2DAsync", "Malloc", "Free"),
    *("StreamCreateWithFlags", "StreamDestroy", "StreamWaitEvent"),
    *("EventCreateWithFlags", "EventDestroy", "EventRecord", "EventRecordWithFlags"),
    *("GetLastError", "PeekAtLastError", "GetErrorName", "GetErrorString"),
    *("GetDevice", "GetDeviceCount", "DeviceGetLimit", "DeviceGetAttribute"),
    *("OccupancyMaxActiveBlocksPerMultiprocessor", "OccupancyMaxActiveBlocksPerMultiprocessorWithFlags"),
))  # fmt: skip


def library_name(function: str) -> str:
    """The name without prefix of a function that the library has, "" for others."""
    found = LIBRARY.fullmatch(function)
    return found["name"] if found and found["name"] in NAMES else ""
