"""CUDA's device runtime library: launches from kernels (dynamic parallelism), with streams, copies and errors.

A kernel that may launch has one more launch word (lower/runtime/special.py): the address of the *records* of its
launch, in memory that the host reads (shim/src/launch/children.c). What it launches is queued there; the host begins
with it when the kernel has ended. A kernel's address is that of the facts about it (lower/runtime/facts.py).
The layouts are in ptx2amd/interface/launches.py."""

from __future__ import annotations

from collections.abc import Callable

from ptx2amd.interface.environment import CELL_HEAP
from ptx2amd.interface.launches import FIRST_STREAM, RECORD_COPY, RECORD_FILL, RECORDS
from ptx2amd.lower.core.arguments import argument_value, place, take_result
from ptx2amd.lower.core.function import FunctionLowering
from ptx2amd.lower.core.value import Val
from ptx2amd.lower.runtime import special
from ptx2amd.lower.runtime.runtime import env
from ptx2amd.plan.launch_library import LIBRARY, NAMES, library_name
from ptx2amd.ptx.ast import Inst, Operand
from ptx2amd.records import dataclass

INVALID_VALUE, OUT_OF_MEMORY, INVALID_FUNCTION, INVALID_HANDLE = 1, 2, 98, 400
NON_BLOCKING, WITHOUT_TIME = 1, 2  # flags of streams and events, which kernels have to give

WAY_OUT = {
    "DeviceSynchronize": "a kernel cannot wait for those that it launches, as with CUDA 12 on compute capability 9.0: "
    "launch what comes after them into cudaStreamTailLaunch",
    "GraphLaunch": "launch the graph from the host",
}


@dataclass(frozen=True, slots=True)
class Row:
    """A function of the library. arguments: LLVM types, "dim3" for three i32; result: its LLVM type."""

    arguments: tuple[str, ...]
    result: str
    lower: Callable[[FunctionLowering, list[Val]], Val]


ROWS: dict[str, Row] = {}


def provides(
    names: str, *arguments: str, result: str = "i32"
) -> Callable[[Callable[[FunctionLowering, list[Val]], Val]], Callable[[FunctionLowering, list[Val]], Val]]:
    """Register how functions are lowered, given their names without prefixes."""

    def add(lower: Callable[[FunctionLowering, list[Val]], Val]) -> Callable[[FunctionLowering, list[Val]], Val]:
        assert NAMES.issuperset(names.split()), f"{names}: plan/launch_library.py lacks some"
        ROWS.update({name: Row(arguments, result, lower) for name in names.split()})
        return lower

    return add


def row(name: str) -> Row | None:
    """The row of a function that the library has, if it is one that is there."""
    return ROWS.get(library_name(name))


def device_runtime_call(
    fn: FunctionLowering, inst: Inst, name: str, results: tuple[Operand, ...], arguments: tuple[Operand, ...]
) -> bool:
    """Lower a call of a function of the library; false for any other function."""
    found = row(name)
    if found is None:
        plain = LIBRARY.fullmatch(name)
        if plain or name.startswith("__cudaDeviceSynchronize"):
            way_out = WAY_OUT.get(plain["name"] if plain else "DeviceSynchronize", "")
            fn.refuse(inst, f"{name} is not supported in kernels" + (f": {way_out}" if way_out else ""))
        return False
    if len(arguments) != len(found.arguments):
        fn.refuse(inst, f"{len(arguments)} arguments for {name}, which has {len(found.arguments)}")
    if not fn.plan.launches:
        fn.refuse(inst, f"{name} (launches from kernels) in whole-module code objects; ptx2amd run has it")
    values = [v for a, ty in zip(arguments, found.arguments, strict=True) for v in _values(fn, inst, a, ty)]
    result = found.lower(fn, values)
    if results:
        take_result(fn, inst, results[0], result)
    return True


def _values(fn: FunctionLowering, inst: Inst, argument: Operand, ty: str) -> list[Val]:
    if ty != "dim3":
        return [argument_value(fn, inst, argument, ty)]
    base = place(fn, inst, argument)
    return [fn.op("i32", f"load i32, {fn.displace(base, 4 * axis).t}, align 4") for axis in range(3)]


def _records(fn: FunctionLowering) -> Val:
    return special.hidden(fn, "i64", special.RECORDS)


def _who(fn: FunctionLowering) -> tuple[Val, Val]:
    """The launch's records, and the number of the calling thread."""
    block = fn.op("i64", f"zext {special.linear(fn, special.ctaid, special.nctaid).t} to i64")
    thread = fn.op("i64", f"zext {special.linear(fn, special.tid, special.ntid).t} to i64")
    return _records(fn), fn.op("i64", f"add i64 {fn.op('i64', f'shl i64 {block}, 10')}, {thread}")


def _error(fn: FunctionLowering, wrong: Val, error: int) -> Val:
    """The error as the thread's last one where something is wrong, and as a result."""
    return _remembered(fn, fn.op("i32", f"select {wrong.t}, i32 {error}, i32 0"))


def _remembered(fn: FunctionLowering, error: Val) -> Val:
    return fn.call(fn.helper("ptx2amd_child_error"), "i32", *_who(fn), error)


def _field(fn: FunctionLowering, name: str) -> Val:
    field = RECORDS[name]
    at = fn.op("ptr addrspace(1)", f"inttoptr {_records(fn).t} to ptr addrspace(1)")
    return fn.op(field.llvm, f"load {field.llvm}, {fn.displace(at, field.offset).t}, align {field.step}")


def _store(fn: FunctionLowering, v: Val, pointer: Val) -> None:
    at = fn.op("ptr", f"inttoptr {pointer.t} to ptr")
    fn.do(f"store {v.t}, {at.t}, align {int(v.ty[1:]) // 8}")


# launches


@provides("GetParameterBufferV2", "i64", "dim3", "dim3", "i32", result="i64")
def parameter_buffer(fn: FunctionLowering, arguments: list[Val]) -> Val:
    return fn.call(fn.helper("ptx2amd_child_buffer"), "i64", *_who(fn), *arguments)


@provides("LaunchDeviceV2", "i64", "i64")
def launch(fn: FunctionLowering, arguments: list[Val]) -> Val:
    return fn.call(fn.helper("ptx2amd_child_launch"), "i32", *_who(fn), *arguments)


@provides("GetParameterBuffer", "i64", "i64", result="i64")
def plain_buffer(fn: FunctionLowering, arguments: list[Val]) -> Val:
    """A buffer of so many bytes (aligned as any parameter), for a kernel that is not known yet; 0 as without room."""
    return fn.call(fn.helper("ptx2amd_child_plain"), "i64", *_who(fn), arguments[1])


@provides("LaunchDevice", "i64", "i64", "dim3", "dim3", "i32", "i64")
def launch_plain(fn: FunctionLowering, arguments: list[Val]) -> Val:
    return fn.call(fn.helper("ptx2amd_child_launch_plain"), "i32", *_who(fn), *arguments)


# copies and fills


@provides("MemcpyAsync", "i64", "i64", "i64", "i32", "i64")
def copy(fn: FunctionLowering, arguments: list[Val]) -> Val:
    to, source, size, _, stream = arguments
    return _command(fn, RECORD_COPY, to, size, source, size, size, fn.const("i64", 1), stream)


@provides("Memcpy2DAsync", "i64", "i64", "i64", "i64", "i64", "i64", "i32", "i64")
def copy_2d(fn: FunctionLowering, arguments: list[Val]) -> Val:
    to, pitch, source, source_pitch, width, height, _, stream = arguments
    return _command(fn, RECORD_COPY, to, pitch, source, source_pitch, width, height, stream)


@provides("MemsetAsync", "i64", "i32", "i64", "i64")
def fill(fn: FunctionLowering, arguments: list[Val]) -> Val:
    to, value, size, stream = arguments
    return fill_2d(fn, [to, size, value, size, fn.const("i64", 1), stream])


@provides("Memset2DAsync", "i64", "i64", "i32", "i64", "i64", "i64")
def fill_2d(fn: FunctionLowering, arguments: list[Val]) -> Val:
    to, pitch, value, width, height, stream = arguments
    byte = fn.op("i64", f"zext {fn.op('i32', f'and i32 {value}, 255').t} to i64")
    return _command(fn, RECORD_FILL, to, pitch, byte, fn.const("i64", 0), width, height, stream)


def _command(fn: FunctionLowering, kind: int, *words: Val) -> Val:
    return fn.call(fn.helper("ptx2amd_child_command"), "i32", *_who(fn), fn.const("i32", kind), *words)


# streams and events: records are carried out in the order of the queue, so events have nothing to do


@provides("StreamCreateWithFlags", "i64", "i32")
def create_stream(fn: FunctionLowering, arguments: list[Val]) -> Val:
    return _create(fn, arguments, NON_BLOCKING)


@provides("EventCreateWithFlags", "i64", "i32")
def create_event(fn: FunctionLowering, arguments: list[Val]) -> Val:
    return _create(fn, arguments, WITHOUT_TIME)


def _create(fn: FunctionLowering, arguments: list[Val], demanded: int) -> Val:
    """A number that is unique in the launch."""
    at = fn.op("ptr addrspace(1)", f"inttoptr {_records(fn).t} to ptr addrspace(1)")
    last = fn.displace(at, RECORDS["next_stream"].offset)
    number = fn.op("i64", f"atomicrmw add {last.t}, i64 1 monotonic, align 8")
    _store(fn, number, arguments[0])
    asked = fn.op("i32", f"and i32 {arguments[1]}, {demanded}")
    return _error(fn, fn.op("i1", f"icmp eq i32 {asked}, 0"), INVALID_VALUE)


@provides("StreamDestroy EventDestroy", "i64")
def destroy(fn: FunctionLowering, arguments: list[Val]) -> Val:
    return _error(fn, fn.op("i1", f"icmp ult i64 {arguments[0]}, {FIRST_STREAM}"), INVALID_HANDLE)


@provides("EventRecord", "i64", "i64")
def record(fn: FunctionLowering, arguments: list[Val]) -> Val:
    return destroy(fn, arguments)


@provides("EventRecordWithFlags", "i64", "i64", "i32")
def record_with_flags(fn: FunctionLowering, arguments: list[Val]) -> Val:
    return destroy(fn, arguments)


@provides("StreamWaitEvent", "i64", "i64", "i32")
def wait(fn: FunctionLowering, arguments: list[Val]) -> Val:
    return destroy(fn, arguments[1:])


# errors


@provides("GetLastError")
def last_error(fn: FunctionLowering, arguments: list[Val]) -> Val:
    return fn.call(fn.helper("ptx2amd_child_last_error"), "i32", *_who(fn), fn.const("i1", 1))


@provides("PeekAtLastError")
def peek(fn: FunctionLowering, arguments: list[Val]) -> Val:
    return fn.call(fn.helper("ptx2amd_child_last_error"), "i32", *_who(fn), fn.const("i1", 0))


@provides("GetErrorName", "i32", result="i64")
def error_name(fn: FunctionLowering, arguments: list[Val]) -> Val:
    return fn.call(fn.helper("ptx2amd_error_text"), "i64", arguments[0], fn.const("i1", 1))


@provides("GetErrorString", "i32", result="i64")
def error_string(fn: FunctionLowering, arguments: list[Val]) -> Val:
    return fn.call(fn.helper("ptx2amd_error_text"), "i64", arguments[0], fn.const("i1", 0))


# memory


@provides("Malloc", "i64", "i64")
def malloc(fn: FunctionLowering, arguments: list[Val]) -> Val:
    memory = fn.call(fn.helper("ptx2amd_malloc"), "i64", arguments[1], env(fn, CELL_HEAP))
    _store(fn, memory, arguments[0])
    return _error(fn, fn.op("i1", f"icmp eq i64 {memory}, 0"), OUT_OF_MEMORY)


@provides("Free", "i64")
def free(fn: FunctionLowering, arguments: list[Val]) -> Val:
    fn.call(fn.helper("ptx2amd_free"), "void", arguments[0], env(fn, CELL_HEAP))
    return fn.const("i32", 0)


# the device


@provides("GetDevice", "i64")
def device(fn: FunctionLowering, arguments: list[Val]) -> Val:
    _store(fn, _field(fn, "device"), arguments[0])
    return fn.const("i32", 0)


@provides("GetDeviceCount", "i64")
def device_count(fn: FunctionLowering, arguments: list[Val]) -> Val:
    _store(fn, _field(fn, "devices"), arguments[0])
    return fn.const("i32", 0)


@provides("DeviceGetLimit", "i64", "i32")
def limit(fn: FunctionLowering, arguments: list[Val]) -> Val:
    limits = RECORDS["limits"]
    return _looked_up(fn, arguments, "i64", _address(fn, limits.offset), fn.const("i32", limits.count))


@provides("DeviceGetAttribute", "i64", "i32", "i32")
def attribute(fn: FunctionLowering, arguments: list[Val]) -> Val:
    """Of the kernel's own device."""
    own = fn.op("i1", f"icmp eq i32 {arguments[2]}, {_field(fn, 'device')}")
    count = fn.op("i32", f"select {own.t}, {_field(fn, 'attribute_count').t}, i32 0")
    return _looked_up(fn, arguments, "i32", _field(fn, "attributes"), count)


@provides("OccupancyMaxActiveBlocksPerMultiprocessor", "i64", "i64", "i32", "i64")
def occupancy(fn: FunctionLowering, arguments: list[Val]) -> Val:
    """1 for a block that can be launched, else 0: how many fit depends on code that may not be translated yet, and one
    always fits. CUB sizes its grids by it."""
    result, kernel, threads, shared = arguments
    one = fn.const("i32", 1)
    # More shared memory than 2^31 - 1 is as impossible as that.
    large = fn.op("i1", f"icmp ugt i64 {shared}, {2**31 - 1}")
    bytes_ = fn.op("i32", f"select {large.t}, i32 {2**31 - 1}, i32 {fn.op('i32', f'trunc {shared.t} to i32')}")
    sizes = (one, one, one, threads, one, one, bytes_)
    wrong = fn.call(fn.helper("ptx2amd_child_check"), "i32", kernel, *sizes)
    fits = fn.op("i1", f"icmp eq i32 {wrong}, 0")
    _store(fn, fn.op("i32", f"zext {fits.t} to i32"), result)
    nothing = fn.op("i1", f"icmp eq i64 {kernel}, 0")
    empty = fn.op("i1", f"icmp slt i32 {threads}, 1")
    error = fn.op("i32", f"select {nothing.t}, i32 {INVALID_FUNCTION}, i32 {INVALID_VALUE}")
    bad = fn.op("i1", f"or i1 {nothing}, {empty}")
    return _remembered(fn, fn.op("i32", f"select {bad.t}, {error.t}, i32 0"))


@provides("OccupancyMaxActiveBlocksPerMultiprocessorWithFlags", "i64", "i64", "i32", "i64", "i32")
def occupancy_with_flags(fn: FunctionLowering, arguments: list[Val]) -> Val:
    return occupancy(fn, arguments[:4])


def _address(fn: FunctionLowering, offset: int) -> Val:
    return fn.op("i64", f"add i64 {_records(fn)}, {offset}")


def _looked_up(fn: FunctionLowering, arguments: list[Val], ty: str, table: Val, count: Val) -> Val:
    """What the table has at the place of the second argument, stored where the first one points."""
    which = arguments[1]
    known = fn.op("i1", f"icmp ult i32 {which}, {count}")
    there, behind = fn.block("known"), fn.block("looked_up")
    fn.branch(known, there, behind)
    fn.label(there)
    at = fn.op("ptr addrspace(1)", f"inttoptr {table.t} to ptr addrspace(1)")
    place = fn.op(at.ty, f"getelementptr {ty}, {at.t}, i32 {which}")
    _store(fn, fn.op(ty, f"load {ty}, {place.t}, align {int(ty[1:]) // 8}"), arguments[0])
    fn.label(behind)
    return _error(fn, fn.op("i1", f"xor i1 {known}, true"), INVALID_VALUE)
