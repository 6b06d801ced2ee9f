"""Calls every function of the driver API as conformance/*.txt says, and what follows from that: no context, a context
that another thread destroyed, null where a result goes, handles of objects that are gone.

    python -m tests.shim.conformance_run [LIBRARY] [--only SYMBOL]

LIBRARY: a libcuda.so.1, NVIDIA's too (default: the loader's). Prints one JSON line per call: [what, expected, got].
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from ptx2amd.api.driver import Function, functions
from tests.shim.conformance_world import ENDS, Driver, World

TABLES = Path(__file__).resolve().parent / "conformance"
CODES = {
    "SUCCESS": 0, "INVALID_VALUE": 1, "OUT_OF_MEMORY": 2, "NOT_INITIALIZED": 3, "NO_DEVICE": 100, "INVALID_DEVICE": 101,
    "INVALID_IMAGE": 200, "INVALID_CONTEXT": 201,
    "PEER_ACCESS_UNSUPPORTED": 217, "INVALID_PTX": 218, "UNSUPPORTED_EXEC_AFFINITY": 224, "FILE_NOT_FOUND": 301,
    "INVALID_HANDLE": 400, "ILLEGAL_STATE": 401, "NOT_FOUND": 500, "PEER_ACCESS_NOT_ENABLED": 705,
    "CONTEXT_IS_DESTROYED": 709, "HOST_MEMORY_ALREADY_REGISTERED": 712, "HOST_MEMORY_NOT_REGISTERED": 713,
    "NOT_SUPPORTED": 801, "STREAM_CAPTURE_UNSUPPORTED": 900, "GRAPH_EXEC_UPDATE_FAILURE": 910,
    "INVALID_RESOURCE_TYPE": 914, "INVALID_RESOURCE_CONFIGURATION": 915, "UNKNOWN": 999,
}
#: What the manual names for a handle that is none.
GONE = {
    "CUcontext": (201, 709), "CUgreenCtx": (201, 709), "CUgraph": (1, 400), "CUgraphNode": (1, 400),
    "CUgraphExec": (1, 400), "CUmemoryPool": (1, 400), "CUexternalMemory": (1, 400), "CUexternalSemaphore": (1, 400),
    "CUtexref": (1, 400),
}
BAD_DEVICE = 99
#: What NVIDIA's driver answers to it, and to null for a result, where that is not what it answers elsewhere; setting
#: and unsetting "read mostly" ignores the device.
NO_PLACE = {"cuEventElapsedTime": 400, "cuEventElapsedTime_v2": 400}
UNLIKE_OTHERS = {"cuDeviceGetMemPool": 1, "cuDeviceSetMemPool": 1, "cuMemAdvise": 0}
#: Parameters that are sizes of memory; `count` where an address stands before it.
SIZES = ("ByteCount", "N", "Width", "Height", "WidthInBytes", "bytesize", "size", "length", "dstOffset", "srcOffset",
         "mcOffset", "memOffset", "offset")  # fmt: skip
#: Sizes that wrap around with the address, or times the size of an element, and one that does not.
EXTREMES = ((1 << 64) - 1, (1 << 64) - 16, (1 << 64) - 0x200000, 1 << 63, (1 << 62) + 1, 1 << 48)


@dataclass(frozen=True)
class Case:
    """A call: symbol, arguments as Python expressions, the codes that are right; and the state of the context in which
    the arguments were made: current, none (any more), destroyed."""

    symbol: str
    arguments: tuple[str, ...]
    expected: tuple[int, ...]
    context: str = "current"
    what: str = ""

    @property
    def title(self) -> str:
        return f"{self.symbol}({', '.join(self.arguments)})" + (f" {self.what}" if self.what else "")


def _parse(line: str) -> Case:
    expression = ast.parse(line, mode="eval").body
    codes: tuple[str, ...] = ("SUCCESS",)
    if isinstance(expression, ast.Compare):
        codes = tuple(node.id for node in ast.walk(expression.comparators[0]) if isinstance(node, ast.Name))
        expression = expression.left
    assert isinstance(expression, ast.Call) and isinstance(expression.func, ast.Name), line
    arguments = tuple(ast.unparse(argument) for argument in expression.args)
    return Case(expression.func.id, arguments, tuple(CODES[code] for code in codes))


@cache
def written() -> list[Case]:
    """The cases as the tables have them."""
    cases = []
    for path in sorted(TABLES.glob("*.txt")):
        lines = (line.partition("#")[0].strip() for line in path.read_text().splitlines())
        cases += [_parse(line) for line in lines if line]
    return cases


def refused() -> list[Case]:
    """Functions that answer NOT_SUPPORTED, whatever they are given."""
    return [
        Case(row.symbol, ("zeros",) * len(row.takes), (801,), what="refused")
        for row in functions()
        if row.disposition == "refused"
    ]


def elsewhere(case: Case, row: Function) -> Iterator[Case]:
    """The call by a thread that has no context, or one that another thread destroyed."""
    current = row.context == "current" or row.symbol in LOOK_THEMSELVES
    if row.context == "none" and not current:
        return
    stream = next((k for k, p in enumerate(row.takes) if p.name == row.context and p.type == "CUstream"), None)
    default = case.arguments[stream] == "null" if stream is not None else "launch_config" in case.arguments
    alone = (201,) if current or (row.owner == "CUstream" and default) else case.expected
    yield replace(case, expected=alone, context="none", what="without a context")
    popped = (0,) if case.symbol.startswith("cuCtxPopCurrent") else ()
    yield replace(case, expected=(201, 400, 709, *popped), context="destroyed", what="in a destroyed context")
    for handle in ("null", "1", "2") if stream is not None else ():
        arguments = (*case.arguments[:stream], handle, *case.arguments[stream + 1 :])
        yield replace(case, arguments=arguments, expected=(201,), context="none", what="without a context")


def derived(case: Case, row: Function) -> Iterator[Case]:
    """What follows from a call that succeeds."""
    for symbol in row.exports[1:]:
        yield replace(case, symbol=symbol)
    yield from elsewhere(case, row)
    for k, (argument, parameter) in enumerate(zip(case.arguments, row.takes, strict=True)):
        name, kind = parameter.name, parameter.type

        def with_argument(text: str, k: int = k) -> tuple[str, ...]:
            return (*case.arguments[:k], text, *case.arguments[k + 1 :])

        if kind == "size_t" and (name in SIZES or (name == "count" and "devPtr" in row.named)):
            for extreme in EXTREMES if row.symbol not in TAKES_ANY_SIZE else ():
                yield replace(case, arguments=with_argument(hex(extreme)), expected=TOO_LARGE)
        if argument in DESCRIBED:
            yield replace(case, arguments=with_argument(f"huge_{argument}"), expected=TOO_LARGE)
        if argument == "out":
            code = NO_PLACE.get(row.symbol, 1)
            yield replace(case, arguments=with_argument("null"), expected=(code,), what="no place for the result")
        elif argument == "opt":
            yield replace(case, arguments=with_argument("null"))
        elif argument == "dev" and kind == "CUdevice":
            code = UNLIKE_OTHERS.get(row.symbol, 101)
            yield replace(case, arguments=with_argument(str(BAD_DEVICE)), expected=(code,))
        elif kind in ENDS and argument != "null" and row.symbol not in CALLED_WITH_ANY:
            yield replace(case, arguments=with_argument(f"dead({kind!r})"), expected=GONE.get(kind, (400,)))


#: Calls whose own body asks for the current context: of one that is destroyed or not active yet they know more to say.
LOOK_THEMSELVES = frozenset(("cuCtxPopCurrent", "cuCtxPopCurrent_v2", "cuCtxGetDevice", "cuCtxDetach"))
#: What is too large, wherever it was seen: no such range, no memory, not taken at all.
TOO_LARGE = (1, 2, 801)
#: Descriptions with sizes in them.
DESCRIBED = ("sizes", "copy_2d", "copy_3d", "batch_copy", "memset_parameters")
#: Sizes of what the program says is there, and may be longer.
TAKES_ANY_SIZE = frozenset(("cuLinkAddData", "cuLinkAddData_v2"))
#: Calls whose context argument says where nodes run, which is everywhere the same here.
CALLED_WITH_ANY = frozenset((
    "cuGraphAddMemcpyNode", "cuGraphAddMemsetNode", "cuGraphExecMemcpyNodeSetParams",
    "cuGraphExecMemsetNodeSetParams",
))


def all_cases() -> list[Case]:
    table = {row.symbol: row for row in functions()}
    cases = []
    for case in written():
        cases.append(case)
        if case.expected == (0,):
            cases += derived(case, table[case.symbol])
    return cases + refused()


def run(driver: Driver, case: Case) -> int:
    """In a context of its own; without one, the objects are made in it and it is taken away before the call."""
    own = driver.ffi.new("CUcontext *")
    assert driver.lib.cuCtxCreate_v2(own, 0, 0) == 0
    context = int(driver.ffi.cast("uintptr_t", own[0]))
    world = World(driver, context)
    world["dead"] = world.dead
    try:
        arguments = evaluated(case.arguments, world)
        if case.context == "none":
            driver.lib.cuCtxSetCurrent(driver.ffi.NULL)
        elif case.context == "destroyed":
            other = threading.Thread(target=driver.lib.cuCtxDestroy_v2, args=(own[0],))
            other.start()
            other.join()
        return driver.call(case.symbol, arguments)
    finally:
        for _ in range(70):
            if driver.lib.cuCtxPopCurrent_v2(driver.ffi.NULL):
                break
        if case.context != "destroyed":
            driver.lib.cuCtxDestroy_v2(own[0])
        if "plain" in world:
            unregister(driver, world["plain"])


def evaluated(arguments: tuple[str, ...], world: World) -> list[Any]:
    """Their values. Handles of objects that are gone are made last: no other object gets such an address then."""
    values = dict[str, Any]()
    for argument in sorted(arguments, key=lambda text: "dead(" in text):
        values[argument] = eval(argument, {}, world)
    return [eval(argument, {}, world) if argument in ("out", "opt") else values[argument] for argument in arguments]


def unregister(driver: Driver, address: int) -> None:
    """Host memory that stayed registered after it was freed would be found again under other objects."""
    own = driver.ffi.new("CUcontext *")
    assert driver.lib.cuCtxCreate_v2(own, 0, 0) == 0
    assert driver.lib.cuMemHostUnregister(driver.ffi.cast("void *", address)) in (0, 713)  # it was not registered
    assert driver.lib.cuCtxDestroy_v2(own[0]) == 0


def bare(driver: Driver) -> Iterator[tuple[str, int]]:
    """Every symbol but cuInit, called with nothing but zeros and nulls."""
    for row in functions():
        for symbol in row.exports if row.symbol != "cuInit" else ():
            kinds = driver.ffi.typeof(getattr(driver.lib, symbol)).args
            room = driver.ffi.new("char[]", 4096)
            nothing = {"struct": room, "pointer": None, "function": None}
            yield symbol, driver.call(symbol, [nothing.get(kind.kind, 0) for kind in kinds])


def in_state(driver: Driver, state: str) -> None:
    """Prints what every symbol answers before cuInit, after a cuInit that failed, or in the child of a fork of an
    initialised process."""
    if state == "forked":
        assert driver.lib.cuInit(0) == 0
        own = driver.ffi.new("CUcontext *")
        assert driver.lib.cuCtxCreate_v2(own, 0, 0) == 0
        child = os.fork()
        if child:
            sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        print(json.dumps(["cuInit", driver.lib.cuInit(0)]), flush=True)
    if state == "deviceless":
        print(json.dumps(["cuInit", driver.lib.cuInit(0)]), flush=True)
    for symbol, code in bare(driver):
        print(json.dumps([symbol, code]), flush=True)
    os._exit(0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("library", nargs="?", default=os.environ.get("PTX2AMD_CONFORMANCE_LIBRARY", "libcuda.so.1"))
    parser.add_argument("--only", default="")
    parser.add_argument("--from", type=int, default=0, dest="start", metavar="N", help="leave out the first N cases")
    states = ("closed", "deviceless", "forked")
    parser.add_argument("--state", choices=states, help="call every symbol with zeros, in this state")
    options = parser.parse_args()
    driver = Driver(options.library)
    if options.state:
        in_state(driver, options.state)
    assert driver.lib.cuInit(0) == 0
    for number, case in enumerate(all_cases()):
        if number < options.start or options.only not in case.title:
            continue
        print(f"{number} {case.title}", file=sys.stderr, flush=True)
        try:
            got: object = run(driver, case)
        except RuntimeError as error:
            got = str(error)
        print(json.dumps([case.title, case.expected, got]), flush=True)


if __name__ == "__main__":
    main()
