"""Every attribute of pointers into every kind of memory, and every way of freeing it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from tests.shim.answers.script import Answer, started
from tests.shim.conformance_world import CHUNK, Driver

KINDS = ("data", "inside", "pinned", "pinned_mapped", "pinned_combined", "registered", "managed", "managed_host",
         "ordered", "pool_memory", "mapped", "reserved", "freed", "variable", "pitched", "plain", "nowhere", "null",
         "graph_memory", "external")  # fmt: skip
ATTRIBUTES = {1: "uint64_t", 2: "unsigned", 3: "uint64_t", 4: "uint64_t", 6: "unsigned char", 7: "uint64_t",
              8: "unsigned char", 9: "int", 10: "unsigned char", 11: "uint64_t", 12: "uint64_t",
              13: "unsigned char", 14: "uint64_t", 15: "unsigned", 16: "unsigned char", 17: "uint64_t",
              18: "uint64_t", 19: "uint64_t", 20: "unsigned char", 21: "unsigned char", 22: "int",
              5: "uint64_t", 0: "int", 23: "int"}  # fmt: skip
FREES = ("cuMemFree_v2", "cuMemFreeHost", "cuMemHostUnregister", "cuMemFreeAsync")


def made(world: Any, kind: str) -> int:
    if kind == "pinned_mapped":
        return int(world._get("cuMemHostAlloc", 4096, 3))
    if kind == "pinned_combined":
        return int(world._get("cuMemHostAlloc", 4096, 4))
    if kind == "managed_host":
        return int(world._get("cuMemAllocManaged", 4096, 2))
    if kind == "ordered":
        return int(world._get("cuMemAllocAsync", 4096, None))
    if kind == "variable":
        return int(world._get("cuModuleGetGlobal_v2", None, world["module"], b"table"))
    if kind == "pitched":
        pitch = world._room(8)
        return int(world._get("cuMemAllocPitch_v2", pitch, 100, 4, 4))
    if kind == "external":
        return int(world._get("cuExternalMemoryGetMappedBuffer", world["external_memory"], world["external_buffer"]))
    return int(world[kind] or 0)


def _said(world: Any, attribute: int, value: int, at: int) -> str:
    if attribute == 1:
        return "ctx" if value == world["ctx"] else "0" if not value else "other"
    if attribute in (3, 4, 11) and value:
        return "itself" if value == at else f"itself{value - at:+d}" if abs(value - at) < (1 << 30) else "elsewhere"
    if attribute in (5, 7, 17, 18, 19):
        return "0" if not value else "some"
    return str(value)


def attributes(driver: Driver, answer: Answer, kind: str) -> None:
    world = started(driver, answer)
    at = made(world, kind)
    room = world._room(64)
    for attribute, form in sorted(ATTRIBUTES.items()):
        driver.ffi.memmove(room, b"\xaa" * 64, 64)
        code = driver.call("cuPointerGetAttribute", [room, attribute, at])
        value = int(driver.ffi.cast(f"{form} *", room)[0])
        answer(f"{attribute}:{code}" + ("" if code else f"={_said(world, attribute, value, at)}"))
        driver.ffi.memmove(room, b"\xaa" * 64, 64)
        code = driver.call("cuPointerGetAttributes", [1, world._ints(attribute), world._words(world.address(room)), at])
        value = int(driver.ffi.cast(f"{form} *", room)[0])
        now = f"all:{code}" + ("" if code else f"={_said(world, attribute, value, at)}")
        answer(now)
    base, size = world._words(7), world._words(7)
    code = driver.call("cuMemGetAddressRange_v2", [base, size, at])
    answer(f"range:{code}" + ("" if code else f"={_said(world, 3, world.word(base), at)},{world.word(size)}"))
    flags = world._ints(7)
    code = driver.call("cuMemHostGetFlags", [flags, at])
    answer(f"flags:{code}" + ("" if code else f"={world.read(flags, 'unsigned')}"))
    code = driver.call("cuMemHostGetDevicePointer_v2", [base, at, 0])
    answer(f"device:{code}" + ("" if code else f"={_said(world, 3, world.word(base), at)}"))
    handle = world._words(7)
    code = driver.call("cuMemRetainAllocationHandle", [handle, at])
    answer(f"handle:{code}")
    answer(f"sync:{driver.call('cuPointerSetAttribute', [world._ints(1), 6, at])}")


def frees(driver: Driver, answer: Answer, kind: str) -> None:
    """Freed by each function, at its start and inside, and twice."""
    world = None
    for free in FREES:
        if not world:
            world = started(driver, answer)
        else:
            world = world.again()
        at = made(world, kind)
        got = []
        for offset in (1, 64, 0, 0):
            arguments = [at + offset] + ([None] if free == "cuMemFreeAsync" else [])
            got.append(str(driver.call(free, arguments)))
        got.append(str(driver.lib.cuCtxSynchronize()))
        answer(f"{free}:{' '.join(got)}")


def copies(driver: Driver, answer: Answer, kind: str) -> None:
    """Bytes of that memory copied and set by each function: inside, and beyond the end."""
    world = started(driver, answer)
    at = made(world, kind)
    data, plain = world["data2"], world["plain"]
    for what, symbol, arguments in (
        ("to", "cuMemcpy", (at, data, 64)), ("from", "cuMemcpy", (data, at, 64)),
        ("h2d", "cuMemcpyHtoD_v2", (at, plain + 4096, 64)), ("d2h", "cuMemcpyDtoH_v2", (plain + 4096, at, 64)),
        ("d2d to", "cuMemcpyDtoD_v2", (at, data, 64)), ("d2d from", "cuMemcpyDtoD_v2", (data, at, 64)),
        ("h2d from", "cuMemcpyHtoD_v2", (data, at, 64)), ("d2h to", "cuMemcpyDtoH_v2", (at, data, 64)),
        ("h2d none", "cuMemcpyHtoD_v2", (at, plain, 0)), ("d2d none", "cuMemcpyDtoD_v2", (at, data, 0)),
        ("set", "cuMemsetD8_v2", (at, 1, 64)), ("set none", "cuMemsetD8_v2", (at, 1, 0)),
        ("set odd", "cuMemsetD32_v2", (at + 1, 1, 4)), ("set odd none", "cuMemsetD32_v2", (at + 1, 1, 0)),
        ("beyond", "cuMemcpyDtoH_v2", (plain, at, CHUNK * 4)), ("set beyond", "cuMemsetD8_v2", (at, 1, CHUNK * 4)),
        ("async", "cuMemcpyHtoDAsync_v2", (at, plain, 64, None)), ("prefetch", "cuMemPrefetchAsync", (at, 64, 0, None)),
        ("advise", "cuMemAdvise", (at, 64, 1, 0)),
    ):  # fmt: skip
        if kind in ("plain", "nowhere", "null") and what in ("beyond", "set beyond", "h2d from", "d2h to"):
            continue
        answer(f"{what}:{driver.call(symbol, list(arguments))}/{driver.lib.cuCtxSynchronize()}")


def questions() -> Iterator[tuple[str, Callable[[Driver, Answer], None]]]:
    for kind in KINDS:
        yield f"pointer.{kind}", partial(attributes, kind=kind)
        yield f"frees.{kind}", partial(frees, kind=kind)
        yield f"copies.{kind}", partial(copies, kind=kind)
