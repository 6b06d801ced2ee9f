"""Calls of driver functions with arguments that programs should not give, in forked children.

    python -m tests.fuzz.api_calls LIBRARY SEED COUNT [--calls N]

Half of the calls are cases of tests/shim/conformance that work, with one or two arguments replaced; the others are rows
of the API table with arguments drawn by type: NULL, live, stale, foreign and wild handles, device addresses that are
freed, reserved or nobody's, extreme sizes. Prints a JSON line for each child that died or hung, with the call at which
it did, and one with the number of calls at the end. `LIBRARY 7 200` makes the calls of seed 7 again.

A death is a defect unless the driver has to use what the caller lied about. Such arguments are not given:
- host pointers, callbacks and text are NULL or good, never wild, also where an address may be the host's (UNIFIED);
- lists are as long as their count says: a count is 0, right, or too large with NULL lists (or a documented limit);
- results have as much room as is said, and a copy to or from the host no more than there is;
- waits are for what comes: no other value to wait for, no other process, no grid of more blocks than a second runs.
"""

from __future__ import annotations

import argparse
import json
import mmap
import os
import random
import signal
import sys
import tempfile
from collections.abc import Callable
from functools import cache
from types import CodeType
from typing import Any

from ptx2amd.api.driver import Function, functions
from tests.shim.conformance_run import Case, written
from tests.shim.conformance_world import ENDS, Driver, World, declarations

CALLS = 200  # of a child
SECONDS = 300  # of a child
NEXT_WORLD = 10  # calls after which all objects are made anew

#: How to make a live object of a type.
LIVE = {kind: name for kind, (name, _) in ENDS.items()} | {
    "CUfunction": "function", "CUkernel": "kernel", "CUtexObject": "texture", "CUsurfObject": "surface",
    "CUmemGenericAllocationHandle": "created", "CUuserObject": "user_object", "CUsurfref": "surface_reference",
    "CUdevResourceDesc": "part", "CUgraphConditionalHandle": "condition",
}  # fmt: skip
WILD = (1, 2, 4, 0x1000, 0x10000, 0xDEAD0000, 1 << 31, 1 << 47, 1 << 63, (1 << 64) - 1, (1 << 64) - 4096)
ADDRESSES = ("data", "inside", "managed", "registered", "pinned", "reserved", "mapped", "freed", "freed_large")
NUMBERS = (0, 1, 2, 3, 7, 8, 31, 63, 64, 255, 256, 1023, 1024, 1025, 4096, 65535, 65536, (1 << 31) - 1, 1 << 31,
           (1 << 32) - 1, 1 << 32, 1 << 48, 1 << 62, (1 << 63) - 1, 1 << 63, (1 << 64) - 16, (1 << 64) - 1)  # fmt: skip
#: Bytes: as many as every buffer has, or more than any allocation has.
BYTES = (0, 1, 2, 3, 4, 7, 8, 16, 63, 64, 1 << 24, 1 << 31, 1 << 32, 1 << 40, 1 << 47, (1 << 62) + 1, 1 << 63,
         (1 << 64) - 60000, (1 << 64) - 4096, (1 << 64) - 16, (1 << 64) - 1)  # fmt: skip
SIZES = {"ByteCount", "N", "Width", "Height", "WidthInBytes", "bytesize", "length", "dstOffset", "srcOffset", "size"}
#: Of lists.
COUNTS = {"count", "numDependencies", "numExtSems", "numOptions", "numAttributes", "numOps", "numParams",
          "numJitOptions", "numLibraryOptions", "nbResources", "nbGroups"}  # fmt: skip
#: What only these values have room or time for.
ROOM = {"len": (-(1 << 31), -1, 0, 1, 16, 64), "bufferSize": (0, 1, 64), "dataSize": (0, 1, 4, 8),
        "numbytes": (0, 1, 4, 8), "gridDimX": (0, 1, 2, (1 << 32) - 1), "gridDimY": (0, 1, 2, 65536),
        "gridDimZ": (0, 1, 2, 65536),
        "summaryGranularity": (0, 64, 2048, 1 << 63), "samplingGranularity": (0, 64, 2048, 1 << 63),
        "grid_width": (-1, 0, 1, 2), "grid_height": (-1, 0, 1, 2), "pid": (-1, 0, (1 << 31) - 1)}  # fmt: skip
#: Sizes of what the caller says is there, or that say how many results there are.
SAID = {"cuLinkAddData": (0, 1), "cuLinkAddData_v2": (0, 1), "cuMemGetLocationInfo": (0, 64, 4096)}
#: Rows whose `count` is of something else than a list, which are taken for what they are.
NO_LIST = {"cuGraphReleaseUserObject", "cuGraphRetainUserObject", "cuUserObjectRelease", "cuUserObjectRetain"}
#: Those of a list with a documented limit.
LIMITED = {"cuStreamBatchMemOp": 256, "cuStreamBatchMemOp_v2": 256}
#: Addresses may be the host's: only those that the driver knows are given.
UNIFIED = {"cuMemcpy", "cuMemcpyAsync", "cuMemcpyBatchAsync", "cuMemcpyBatchAsync_v2", "cuMemcpyWithAttributesAsync"}
#: Not called: they wait for what a random argument says, stop the process, or need another one.
LEFT_OUT = {"cuStreamWaitValue32", "cuStreamWaitValue32_v2", "cuStreamWaitValue64", "cuStreamWaitValue64_v2",
            "cuWaitExternalSemaphoresAsync", "cuGraphAddExternalSemaphoresWaitNode", "cuCheckpointProcessLock",
            "cuCheckpointProcessCheckpoint", "cuCheckpointProcessRestore", "cuCheckpointProcessUnlock",
            "cuCheckpointOperationComplete"}  # fmt: skip
INTEGERS = {"size_t", "unsigned int", "int", "unsigned long long", "cuuint64_t", "cuuint32_t", "unsigned char",
            "unsigned short"}  # fmt: skip


@cache
def compiled(expression: str) -> CodeType:
    return compile(expression, "argument", "eval")


class Caller:
    """Draws calls and makes them. `note` gets each before it is made."""

    def __init__(self, driver: Driver, draw: random.Random, note: Callable[[str], None]) -> None:
        self.driver, self.ffi, self.draw, self.note = driver, driver.ffi, draw, note
        self.table = {
            row.symbol: row for row in functions() if row.disposition != "refused" and row.symbol not in LEFT_OUT
        }
        self.cases = [case for case in written() if case.expected == (0,) and case.symbol in self.table
                      and not any("await_node" in argument for argument in case.arguments)]  # fmt: skip
        self.worlds: list[World] = []
        self.renew()

    def renew(self) -> None:
        """New objects, in a context of their own, beside what is left of the old ones."""
        lib, context = self.driver.lib, self.ffi.new("CUcontext *")
        lib.cuCtxSetCurrent(self.ffi.NULL)
        if lib.cuCtxCreate_v2(context, 0, 0):  # after a fault of the device
            os._exit(0)
        self.world = World(self.driver, int(self.ffi.cast("uintptr_t", context[0])))
        self.worlds.append(self.world)  # what streams have to call stays
        self.world["dead"] = self.world.dead

    # ---- arguments ----

    def _made(self, name: str) -> Any:
        try:
            return eval(compiled(name), {}, self.world)
        except RuntimeError:  # what it is made from is gone
            return 0

    def _dead(self, kind: str) -> Any:
        try:
            return self.world.dead(kind)
        except RuntimeError:
            return 0

    def handle(self, kind: str) -> Any:
        choice = self.draw.random()
        if choice < 0.15:
            return 0
        if choice < 0.5 and kind in LIVE:
            return self._made(LIVE[kind])
        if choice < 0.65 and kind in ENDS:
            return self._dead(kind)
        if choice < 0.8:
            return self._made(LIVE[self.draw.choice(sorted(LIVE))])
        return self.draw.choice(WILD)

    def address(self, row: Function) -> Any:
        if row.symbol not in UNIFIED and self.draw.random() < 0.3:
            return self.draw.choice((0, *WILD))
        return self._made(self.draw.choice(ADDRESSES))

    def number(self, row: Function, name: str, kind: str) -> int:
        values: tuple[int, ...] = NUMBERS
        if name in ROOM:
            values = ROOM[name]
        elif name in COUNTS and row.symbol not in NO_LIST and (name != "count" or "devPtr" not in row.named):
            values = (0, *(n for n in NUMBERS if n > LIMITED.get(row.symbol, 1 << 64)))
        elif name == "size" and row.symbol in SAID:
            values = SAID[row.symbol]
        elif name in SIZES:
            values = BYTES
        return self._fitted(kind, self.draw.choice(values))

    def _fitted(self, kind: Any, value: int) -> Any:
        """The number as an integer type holds it."""
        return int(self.ffi.cast(kind, value))

    def argument(self, row: Function, name: str, kind: str) -> Any:
        plain = kind.removeprefix("const ").strip()
        if kind == "CUdeviceptr":
            return self.address(row)
        if kind == "CUdevice":
            return self.draw.choice((0, 0, 0, 1, -1, 99, -(1 << 31)))
        if kind in INTEGERS:
            return self.number(row, name, kind)
        if kind.endswith("*"):
            if kind == "const char *":
                return self.draw.choice((None, b"", b"scale", b"table", b"x" * 300))
            return self._made(self.draw.choice(("null", "out")))
        if self.ffi.typeof(plain).kind == "function" or "Callback" in plain:
            return None
        if plain in LIVE or self.ffi.typeof(plain).kind == "pointer":
            return self.handle(plain)
        if self.ffi.typeof(plain).kind == "struct":
            return self._made("out")
        return self.draw.choice((0, 1, 2, 3, 4, 8, 99, (1 << 31) - 1))

    def field(self, row: Function, struct: Any) -> None:
        """One number or handle of a structure becomes another one."""
        fields = [(name, f.type) for name, f in self.ffi.typeof(struct).item.fields or ()]
        name, kind = self.draw.choice(fields)
        listed = name.startswith(("num", "count")) or name in ("cond", "attrs")
        if kind.kind == "primitive" and kind.cname not in ("float", "double") and not listed:
            room = {"gridDimX": 0, "gridDimY": 0, "gridDimZ": 0}.get(name)
            value = room if room is not None else self.draw.choice(NUMBERS)
            if kind.cname == "unsigned long long" and name.endswith("Device"):
                value = int(self._made(self.draw.choice(ADDRESSES)))
            setattr(struct, name, self._fitted(kind, value))
        elif kind.kind == "pointer":
            handle = kind.item.kind == "struct" and kind.item.cname.endswith("_st")
            setattr(struct, name, self.ffi.cast(kind, self.handle(kind.cname) if handle else 0))

    # ---- calls ----

    def spoilt(self) -> tuple[Function, list[Any]]:
        case: Case = self.draw.choice(self.cases)
        row = self.table[case.symbol]
        arguments = [self._made(argument) for argument in case.arguments]
        parameters = [(p.type, p.name) for p in row.takes]
        for _ in range(self.draw.choice((1, 1, 1, 2)) if parameters else 0):
            k = self.draw.randrange(len(parameters))
            kind, name = parameters[k]
            value = arguments[k]
            structured = isinstance(value, self.ffi.CData) and self.ffi.typeof(value).kind == "pointer"
            if structured and self.ffi.typeof(value).item.kind == "struct" and self.draw.random() < 0.8:
                arguments[k] = self.ffi.new(self.ffi.typeof(value), value[0])
                self.field(row, arguments[k])
            elif name in COUNTS and kind in INTEGERS and row.symbol not in NO_LIST and self.draw.random() < 0.5:
                arguments = [None if t.endswith("*") else a for (t, _), a in zip(parameters, arguments, strict=True)]
                arguments[k] = (1 << 31) - (kind == "int")
            elif kind.endswith("*"):
                arguments[k] = None
            else:
                arguments[k] = self.argument(row, name, kind)
        return row, arguments

    def random(self) -> tuple[Function, list[Any]]:
        row = self.table[self.draw.choice(sorted(self.table))]
        return row, [self.argument(row, p.name, p.type) for p in row.takes]

    def call(self) -> int:
        self.world.pop("zeros", None)  # results may have been written there, and room is as large as it says
        row, arguments = self.spoilt() if self.draw.random() < 0.5 else self.random()
        symbol = self.draw.choice(row.exports)
        self.note(f"{symbol}({', '.join(map(self._text, arguments))})")
        return self.driver.call(symbol, arguments)

    def _text(self, value: Any) -> str:
        if isinstance(value, self.ffi.CData) and self.ffi.typeof(value).kind == "pointer":
            item = self.ffi.typeof(value).item
            if value and item.kind == "struct" and item.fields:
                return str({name: str(getattr(value, name)) for name, _ in item.fields})
        return hex(value) if isinstance(value, int) else repr(value)


def child(library: str, ffi: Any, seed: int, calls: int, note: mmap.mmap) -> None:
    """Calls, and the end of the process."""
    signal.alarm(SECONDS)
    os.chdir(tempfile.gettempdir())
    driver = Driver(library, ffi)
    assert driver.lib.cuInit(0) == 0

    def noted(text: str) -> None:
        encoded = text.encode()[: len(note) - 1]
        note[: len(encoded) + 1] = encoded + b"\0"

    caller = Caller(driver, random.Random(seed), noted)
    for k in range(calls):
        note.seek(len(note) - 8)
        note.write(k.to_bytes(8, "little"))
        if k % NEXT_WORLD == 0:
            noted("a new world")
            caller.renew()
        caller.call()
    noted("the end of the process")
    note.seek(len(note) - 8)
    note.write(calls.to_bytes(8, "little"))
    os._exit(0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("library")
    parser.add_argument("seed", type=int)
    parser.add_argument("count", type=int)
    parser.add_argument("--calls", type=int, default=CALLS)
    options = parser.parse_args()
    ffi = declarations()
    for case in written():  # what children share is made before them
        for argument in case.arguments:
            compiled(argument)
    note, made, died = mmap.mmap(-1, 1 << 16), 0, 0
    for seed in range(options.seed, options.seed + options.count // options.calls):
        note[:] = bytes(len(note))
        pid = os.fork()
        if not pid:
            try:
                child(options.library, ffi, seed, options.calls, note)
            finally:
                import traceback

                traceback.print_exc()
                os._exit(99)
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        made += int.from_bytes(note[-8:], "little")
        if status:
            died += 1
            text = note[: note.find(b"\0")].decode(errors="replace")
            print(json.dumps({"seed": seed, "status": status, "call": text}), flush=True)
        if (seed + 1) % 100 == 0:
            print(f"seed {seed}: {made} calls", file=sys.stderr, flush=True)
    print(json.dumps({"calls": made, "died": died}))


if __name__ == "__main__":
    main()
