"""Questions that are made from the driver's function table: names and versions, and each case that works with one or
two arguments changed."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from ptx2amd.api.driver import Function, functions
from tests.shim.answers.script import Answer, new_context, started
from tests.shim.conformance_run import Case, evaluated, written
from tests.shim.conformance_world import Driver, World

Change = tuple[str, dict[int, Any], tuple[str, Any] | None]
Changed = tuple[Case, Function, Change]
CASES = 24  # of a process
VERSIONS = (0, 1000, 2000, 2010, 2020, 3000, 3010, 3020, 4000, 4010, 4020, 5000, 5050, 6000, 6050, 7000, 7050, 8000,
            9000, 9010, 9020, 10000, 10010, 10020, 11000, 11010, 11020, 11030, 11040, 11050, 11060, 11070, 11080, 12000,
            12010, 12020, 12030, 12040, 12050, 12060, 12080, 12090, 13000)  # fmt: skip


def names() -> list[str]:
    found = {row.name for row in functions()} | {row.symbol for row in functions()}
    found |= {name for row in functions() for name, _ in row.also} | {s for row in functions() for s in row.exports}
    return sorted(found | {"", "cu", "cuInit ", "cuinit", "cuNothing", "cudaMalloc", "cuMemAlloc_v3", "cuEGLApiInit"})


def by_flags(texts: list[str]) -> str:
    """Those of the second and third flag only if they differ from the first's."""
    return texts[0] + "".join(f"; {flag}: {text}" for flag, text in enumerate(texts) if text != texts[0])


def proc_addresses(driver: Driver, answer: Answer) -> None:
    """For each name and flag: the versions from which another function is found."""
    ffi, exports = driver.ffi, dict[int, str]()
    for row in functions():
        for symbol in row.exports:
            try:
                exports.setdefault(int(ffi.cast("uintptr_t", getattr(driver.lib, symbol))), symbol)
            except Exception:  # of a later driver
                answer(f"export {symbol}\tabsent")
    others = dict[int, str]()
    for name in names():
        texts = list[str]()
        for flag in (0, 1, 2):
            text, last = "", ""
            for version in VERSIONS:
                found, room = ffi.new("int *"), ffi.new("void **")
                found[0] = -1
                code = driver.lib.cuGetProcAddress_v2(name.encode(), room, version, flag, found)
                at = int(ffi.cast("uintptr_t", room[0]))
                what = exports.get(at) or (others.setdefault(at, f"#{len(others)}") if at else "null")
                now = f"{code}/{found[0]}/{what}"
                if now != last:
                    text, last = f"{text} {version}:{now}", now
            texts.append(text.strip())
        answer(f"{name}\t{by_flags(texts)}")
    for flag in (3, 4, 8, 16):
        found, room = ffi.new("int *", -1), ffi.new("void **")
        code = driver.lib.cuGetProcAddress_v2(b"cuInit", room, 12000, flag, found)
        answer(f"cuInit flags={flag}\t{code}/{found[0]}/{bool(room[0])}")


# ---- cases with changed arguments ----

INTEGERS = {"size_t", "unsigned int", "int", "unsigned long long", "cuuint64_t", "cuuint32_t", "unsigned char",
            "unsigned short", "long long"}  # fmt: skip
SMALL = (0, 1, 2, 3, 4, 5, 6, 7, 8, 16, 32, 64, 128, 256, (1 << 31) - 1, (1 << 32) - 1)
SIZES = {"ByteCount", "N", "Width", "Height", "WidthInBytes", "bytesize", "size", "length", "dstOffset", "srcOffset",
         "mcOffset", "memOffset", "offset", "srcPitch", "dstPitch", "MemoryLength"}  # fmt: skip
COUNTS = {"count", "numDependencies", "numExtSems", "numOptions", "numAttributes", "numOps", "numParams",
          "numJitOptions", "numLibraryOptions", "nbResources", "nbGroups", "numAttrs", "numPaths",
          "numLevels"}  # fmt: skip
ROOM = {"len": (-1, 0, 1, 16), "bufferSize": (0, 1), "dataSize": (0, 1, 4), "numbytes": (0, 1, 4),
        "gridDimX": (0, (1 << 32) - 1), "gridDimY": (0, 65536), "gridDimZ": (0, 65536),
        "summaryGranularity": (0, 64, 2048), "samplingGranularity": (0, 64, 2048), "grid_width": (-1, 0),
        "grid_height": (-1, 0), "pid": (-1, 0)}  # fmt: skip
LEFT_OUT = {"cuStreamWaitValue32", "cuStreamWaitValue32_v2", "cuStreamWaitValue64", "cuStreamWaitValue64_v2",
            "cuWaitExternalSemaphoresAsync", "cuGraphAddExternalSemaphoresWaitNode", "cuLinkAddData",
            "cuLinkAddData_v2"}  # fmt: skip


def _number(name: str, kind: str) -> tuple[int, ...]:
    if name in ROOM:
        return ROOM[name]
    if name in COUNTS:
        return (0, 2)
    if name in SIZES:
        return (0, 1, 3)
    return SMALL


def changes(driver: Driver, name: str, kind: str, given: str) -> list[tuple[str, Any]]:
    """Other values of a parameter: what they are called, and the values."""
    ffi = driver.ffi
    if kind == "CUdeviceptr":
        return [("0", 0), ("nowhere", 0x10000), ("odd", f"{given} + 1")]
    if kind == "CUdevice":
        return [("-1", -1), ("1", 1), ("99", 99)]
    if kind == "const char *":
        return [("null", None), ("empty", b"")]
    if kind.endswith("*"):
        return [] if given in ("null", "out") else [("null", None)]
    plain = kind.removeprefix("const ").strip()
    if kind in INTEGERS:
        fitted = dict.fromkeys(int(ffi.cast(kind, value)) for value in _number(name, kind))
        return [(str(value), value) for value in fitted]
    form = ffi.typeof(plain)
    if form.kind == "function" or "Callback" in plain or "Fn" in plain:
        return [("null", None)] if given != "null" else []
    if form.kind == "pointer":
        extra = [("1", 1), ("2", 2)] if kind == "CUstream" else []
        return ([("null", 0)] if given != "null" else []) + extra
    if form.kind == "enum" or plain in ("CUjit_option",):
        return [(str(value), value) for value in SMALL[:-1]]
    return []


def wrong(driver: Driver, name: str, kind: str, given: str) -> list[tuple[str, Any]]:
    """The one that is most likely to be an error of its own."""
    if given == "out":
        return [("null", None)]
    found = [c for c in changes(driver, name, kind, given) if c[0] not in ("odd",)] if name not in COUNTS else []
    return found[:1] if kind.endswith("*") or kind == "CUdeviceptr" else found[-1:]


def changed(driver: Driver, case: Case, row: Function) -> Iterator[Change]:
    """What is changed, the values of arguments by position, and a field of the structure that an argument is."""
    each = [(k, p.name, p.type, a) for k, (a, p) in enumerate(zip(case.arguments, row.takes, strict=True))]
    for k, name, kind, given in each:
        for text, value in changes(driver, name, kind, given):
            yield f"{name}={text}", {k: value}, None
    for i, first in enumerate(each):
        for second in each[i + 1 :]:
            for a, x in wrong(driver, *first[1:]):
                for b, y in wrong(driver, *second[1:]):
                    yield f"{first[1]}={a},{second[1]}={b}", {first[0]: x, second[0]: y}, None
    for k, name, kind, given in each:
        plain = kind.removeprefix("const ").removesuffix("*").strip()
        if kind.endswith("*") and given not in ("out", "opt", "null", "zeros"):
            try:
                form = driver.ffi.typeof(plain)
                known = form.kind == "struct" and driver.ffi.sizeof(form)
            except Exception:  # declared without its fields
                continue
            if known and form.fields:
                for field, value in fields(driver, form):
                    yield f"{name}.{field}={value}", {k: given}, (field, value)


def fields(driver: Driver, form: Any, prefix: str = "") -> Iterator[tuple[str, int]]:
    driver.ffi.sizeof(form)  # makes cffi read the fields
    for name, field in form.fields:
        if name.startswith(("num", "count", "reserved", "gridDim")) or name in ("attrs", "cond"):
            continue
        if field.type.kind in ("primitive", "enum") and field.type.cname not in ("float", "double", "char"):
            values = (0, 1, 2, 3, 4, 7, 64, -1) if field.type.kind == "enum" else (0, 1, 3, -1)
            for value in values:
                yield prefix + name, value
        elif field.type.kind == "pointer":
            yield prefix + name, 0
        elif field.type.kind == "struct" and driver.ffi.sizeof(field.type) and field.type.fields and not prefix:
            yield from fields(driver, field.type, f"{name}.")


def _set_field(driver: Driver, struct: Any, path: str, value: int) -> None:
    *outer, name = path.split(".")
    for part in outer:
        struct = getattr(struct, part)
    kind = dict(driver.ffi.typeof(struct).item.fields if driver.ffi.typeof(struct).kind == "pointer"
                else driver.ffi.typeof(struct).fields)[name].type  # fmt: skip
    setattr(struct, name, driver.ffi.cast(kind, value) if kind.kind == "pointer" else int(driver.ffi.cast(kind, value)))


def _call(driver: Driver, case: Case, row: Function, context: int, values: dict[int, Any], field: Any) -> int:
    world = World(driver, context)
    world["dead"] = world.dead
    arguments = evaluated(case.arguments, world)
    for k, value in values.items():
        arguments[k] = eval(value, {}, world) if isinstance(value, str) else value
    if field:
        (k,) = values
        kind = row.takes[k].type.removeprefix("const ").removesuffix("*").strip()
        struct = driver.ffi.new(f"{kind} *", driver.ffi.cast(f"{kind} *", arguments[k])[0])
        world._keep.append(struct)
        _set_field(driver, struct, *field)
        arguments[k] = struct
    KEPT.append(world)
    return driver.call(case.symbol, arguments)


KEPT: list[Any] = []


def _from(driver: Driver, cases: list[Changed], start: int, answer: Answer) -> None:
    """The changed calls from `start` on, in this process."""
    context = started(driver, answer)["ctx"]
    for number, (case, row, (what, values, field)) in enumerate(cases[start:], start):
        answer(f"@{number} {what}")
        signal.alarm(6)
        try:
            code = str(_call(driver, case, row, context, values, field))
        except RuntimeError as error:
            code = f"({error})"
        except Exception:  # of a later driver
            code = "absent"
        now = driver.ffi.new("CUcontext *")
        driver.lib.cuCtxGetCurrent(now)
        same = int(driver.ffi.cast("uintptr_t", now[0])) == context
        sync = driver.lib.cuCtxSynchronize() if same else 0
        answer(f"={number} {code}" + (f"/{sync}" if sync else ""))
        if 700 <= sync < 800:
            os._exit(7)  # a fault may stay with the process
        if sync or not same or code.startswith("(") or "Ctx" in case.symbol:
            while now[0] and not driver.lib.cuCtxPopCurrent_v2(now):
                driver.lib.cuCtxGetCurrent(now)
            if sync:
                driver.call("cuCtxDestroy_v2", [context])
            context = new_context(driver)
    answer("end")


def _line(descriptor: int, text: str) -> None:
    os.write(descriptor, f"{text}\n".encode())


def spoilt(driver: Driver, answer: Answer, cases: list[tuple[Case, Function]]) -> None:
    """The cases with changes, in a process until it dies, then in another one."""
    every = [(case, row, change) for case, row in cases for change in changed(driver, case, row)]
    got, start = dict[int, str](), 0
    for _ in range(60):
        reading, writing = os.pipe()
        pid = os.fork()
        if not pid:
            signal.alarm(6)
            try:
                _from(driver, every, start, partial(_line, writing))
            finally:
                os.kill(os.getpid(), signal.SIGKILL)
        os.close(writing)
        with os.fdopen(reading) as pipe:
            lines = pipe.read().splitlines()
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        begun = start
        for line in lines:
            number, _, rest = line[1:].partition(" ")
            if line.startswith("@"):
                begun = int(number)
                got[begun] = "timeout" if status == -signal.SIGALRM else "crash"
            elif line.startswith("="):
                got[int(number)] = rest
        start = begun + 1
        if not lines or lines[-1] == "end":
            break
    for case, _ in cases:
        said = (f"{change[0]}:{got.get(n, '?')}" for n, (other, _, change) in enumerate(every) if other is case)
        answer(f"{case.title}\t{' '.join(said)}")


def questions() -> Iterator[tuple[str, Callable[[Driver, Answer], None]]]:
    yield "proc", proc_addresses
    table = {row.symbol: row for row in functions()}
    found = dict[str, tuple[Case, Function]]()
    for case in written():
        if case.expected != (0,) or case.symbol in LEFT_OUT or case.symbol.startswith("cuCheckpoint"):
            continue
        if not any("await_node" in argument for argument in case.arguments):
            found[case.title] = (case, table[case.symbol])
    cases = list(found.values())
    for at in range(0, len(cases), CASES):
        yield "spoilt", partial(spoilt, cases=cases[at : at + CASES])
