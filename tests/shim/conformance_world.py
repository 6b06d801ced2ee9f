"""What the calls of conformance/*.txt name: each name is made on demand, for one call, and goes with its context."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import cffi
from cffi.recompiler import make_py_source

from ptx2amd.api.driver.libcuda import cdef

PTX = b"""
.version 7.0
.target sm_52
.address_size 64
.visible .global .align 4 .b8 table[64];
.visible .global .texref image;
.visible .global .surfref surface;
.visible .entry scale(.param .u64 p, .param .u32 n)
{
  .reg .b64 %rd<2>;
  .reg .b32 %r<2>;
  ld.param.u64 %rd1, [p];
  cvta.to.global.u64 %rd1, %rd1;
  ld.param.u32 %r1, [n];
  st.global.u32 [%rd1], %r1;
  ret;
}
"""
RUNTIME_TABLE = bytes.fromhex("6bd5fb6c5bf4e74a8987d93912fd9df9")
NOWHERE = 0x10000
CHUNK = 2 << 20
BYTES = 4096

#: Objects that only one kind of handle names: how to make one, and how to end it.
ENDS = {
    "CUstream": ("stream", "cuStreamDestroy_v2"),
    "CUevent": ("event", "cuEventDestroy_v2"),
    "CUmodule": ("module", "cuModuleUnload"),
    "CUlibrary": ("library", "cuLibraryUnload"),
    "CUcontext": ("other_ctx", "cuCtxDestroy_v2"),
    "CUgreenCtx": ("green", "cuGreenCtxDestroy"),
    "CUarray": ("array", "cuArrayDestroy"),
    "CUmipmappedArray": ("mipmap", "cuMipmappedArrayDestroy"),
    "CUtexref": ("texture_reference", "cuTexRefDestroy"),
    "CUlinkState": ("link", "cuLinkDestroy"),
    "CUgraph": ("graph", "cuGraphDestroy"),
    "CUgraphNode": ("node", "cuGraphDestroyNode"),
    "CUgraphExec": ("executable", "cuGraphExecDestroy"),
    "CUmemoryPool": ("pool", "cuMemPoolDestroy"),
    "CUexternalMemory": ("external_memory", "cuDestroyExternalMemory"),
    "CUexternalSemaphore": ("semaphore", "cuDestroyExternalSemaphore"),
}


def declarations() -> Any:
    """cffi's interface to the table's declarations, in the form that parses a type's name in no time."""
    ffi, source, module = cffi.FFI(), io.StringIO(), dict[str, Any]()
    ffi.cdef(cdef())
    make_py_source(ffi, "cuda_api", source)
    exec(source.getvalue(), module)
    return module["ffi"]


class Driver:
    """A driver's library with the table's declarations."""

    def __init__(self, library: str, ffi: Any = None) -> None:
        self.ffi = ffi or declarations()
        self.lib = self.ffi.dlopen(library)

    def call(self, symbol: str, arguments: list[Any]) -> int:
        """Calls with pointers cast to what the declaration says."""
        function = getattr(self.lib, symbol)
        kinds = self.ffi.typeof(function).args
        return int(function(*(self._as(kind, value) for kind, value in zip(kinds, arguments, strict=True))))

    def _as(self, kind: Any, value: Any) -> Any:
        if kind.kind in ("pointer", "function"):
            if value is None:
                return self.ffi.NULL
            if isinstance(value, bytes):
                return self.ffi.new("char[]", value) if kind.item.cname == "char" else value
            return self.ffi.cast(kind, value)
        if kind.kind == "struct":
            return self.ffi.cast(self.ffi.getctype(kind, "*"), value)[0]
        return 0 if isinstance(value, self.ffi.CData) else value


USES_THE_DRIVER = "import ctypes, sys; ctypes.CDLL('libcuda.so.1').cuInit(0); print(flush=True); sys.stdin.read()"


@cache
def other(uses_the_driver: bool) -> subprocess.Popen[str]:
    """Another process, which ends with this one."""
    command = [sys.executable, "-c", USES_THE_DRIVER] if uses_the_driver else ["cat"]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    if uses_the_driver and process.stdout:
        process.stdout.readline()
    return process


class World(dict[str, Any]):
    """The names of a call, evaluated as `eval(argument, {}, world)`."""

    def __init__(self, driver: Driver, context: int) -> None:
        super().__init__(null=None, dev=0, ctx=context, nowhere=NOWHERE, ptx=PTX, ptx_size=len(PTX) + 1,
                         bad_ptx=b".version 7.0\n.target sm_52\nnonsense\n", list_of=self._list, exec_of=self._exec,
                         containing=self._containing)
        self.driver, self.ffi = driver, driver.ffi
        self._keep: list[Any] = []

    def __missing__(self, name: str) -> Any:
        if name in ("out", "opt"):
            return self._room()
        maker: Callable[[], Any] = getattr(self, f"make_{name}", None) or self._unknown(name)
        self[name] = maker()
        return self[name]

    @staticmethod
    def _unknown(name: str) -> Any:
        raise KeyError(name)

    # ---- helpers ----

    def _room(self, size: int = BYTES) -> Any:
        room = self.ffi.new("char[]", size)
        self._keep.append(room)
        return room

    def _get(self, symbol: str, *arguments: Any, kind: str = "uint64_t") -> Any:
        """The first result of a call whose first parameter is a pointer to it."""
        room = self.ffi.new("uint64_t *")
        self._do(symbol, room, *arguments)
        return self.ffi.cast(f"{kind} *", room)[0]

    def _do(self, symbol: str, *arguments: Any) -> None:
        code = self.driver.call(symbol, list(arguments))
        if code:
            raise RuntimeError(f"{symbol} answers {code}")

    def _struct(self, kind: str, values: Any = None) -> Any:
        made = self.ffi.new(f"{kind} *", values)
        self._keep.append(made)
        return made

    def _words(self, *words: int) -> Any:
        made = self.ffi.new("uint64_t[64]", list(words))
        self._keep.append(made)
        return made

    def _ints(self, *words: int) -> Any:
        made = self.ffi.new("uint32_t[64]", list(words))
        self._keep.append(made)
        return made

    def _list(self, *handles: int) -> Any:
        return self._words(*handles)

    def _exec(self, _node: int) -> int:
        return int(self._get("cuGraphInstantiateWithFlags", self["graph"], 0))

    def _containing(self, _node: int) -> int:
        return int(self["graph"])

    def dead(self, kind: str) -> Any:
        """A handle of that type whose object is gone."""
        name, end = ENDS[kind]
        fresh = World(self.driver, self["ctx"])
        self._keep.append(fresh)
        handle = fresh[name]
        self._do(end, handle)
        return handle

    # ---- plain memory ----

    def make_zeros(self) -> Any: return self._room()
    def make_ones(self) -> Any: return self._ints(*[1] * 16)
    def make_one(self) -> Any: return self._ints(1)
    def make_plain(self) -> Any:
        room = self._room(3 * BYTES)
        at = int(self.ffi.cast("uintptr_t", room))
        return (at + BYTES - 1) // BYTES * BYTES
    def make_runtime_table(self) -> Any:
        room = self._room()
        self.ffi.buffer(room)[0:16] = RUNTIME_TABLE
        return room
    def make_memory_type(self) -> Any: return self._ints(2)
    def make_pointer_to_out(self) -> Any: return self._words(int(self.ffi.cast("uintptr_t", self["zeros"])))
    def make_size_4(self) -> Any: return self._words(4)
    def make_sizes(self) -> Any: return self._words(64)
    def make_huge_sizes(self) -> Any: return self._words((1 << 64) - 16)
    def make_pointers(self) -> Any: return self._words(self["data"])
    def make_pointers2(self) -> Any: return self._words(self["data2"])
    def make_managed_pointers(self) -> Any: return self._words(self["managed"])
    def make_copy_attributes(self) -> Any: return self._ints(1)
    def make_location(self) -> Any: return self._struct("CUmemLocation", {"type": 1, "id": 0})
    def make_location_pointer(self) -> Any: return self["location"]
    def make_access(self) -> Any: return self._ints(1, 0, 3)
    def make_host_function(self) -> Any:
        made = self.ffi.callback("void(void *)", lambda _data: None)
        self._keep.append(made)
        return made
    def make_stream_callback(self) -> Any:
        made = self.ffi.callback("void(void *, int, void *)", lambda _stream, _status, _data: None)
        self._keep.append(made)
        return made
    def make_dot_file(self) -> bytes: return str(Path(tempfile.mkdtemp()) / "graph.dot").encode()
    def make_ptx_file(self) -> bytes:
        path = Path(tempfile.mkdtemp()) / "kernels.ptx"
        path.write_bytes(PTX)
        return str(path).encode()

    # ---- devices, contexts ----

    def make_pci_id(self) -> bytes:
        room = self.ffi.new("char[64]")
        self._do("cuDeviceGetPCIBusId", room, 64, 0)
        return self.ffi.string(room)
    def make_default_pool(self) -> int: return int(self._get("cuDeviceGetDefaultMemPool", 0))
    def make_retained_device(self) -> int:
        self._get("cuDevicePrimaryCtxRetain", 0)
        return 0
    def make_other_ctx(self) -> int:
        made = int(self._get("cuCtxCreate_v2", 0, 0))
        self._get("cuCtxPopCurrent_v2")
        return made
    def _in_other_ctx(self, maker: Callable[[], int]) -> int:
        self._do("cuCtxPushCurrent_v2", self["other_ctx"])
        made = maker()
        self._get("cuCtxPopCurrent_v2")
        return made
    def make_event_of_other_ctx(self) -> int: return self._in_other_ctx(self.make_event)
    def make_stream_of_other_ctx(self) -> int: return self._in_other_ctx(self.make_stream)
    def make_sms(self) -> Any:
        room = self._room()
        self._do("cuDeviceGetDevResource", 0, room, 1)
        return room
    def _sm_groups(self, *counts: int) -> Any:
        return self._ints(*(word for count in counts for word in (count, *[0] * 15)))
    def make_sm_group(self) -> Any: return self._sm_groups(2)
    def make_large_sm_group(self) -> Any: return self._sm_groups(100000)
    def make_large_sm_groups(self) -> Any:
        half = int(self.ffi.cast("CUdevResource *", self["sms"]).sm.smCount) // 4 * 2
        return self._sm_groups(half, half, half)
    def make_part(self) -> int: return int(self._get("cuDevResourceGenerateDesc", self["sms"], 1))
    def make_green(self) -> int: return int(self._get("cuGreenCtxCreate", self["part"], 0, 1))

    def make_event_of_green(self) -> int:
        self._do("cuCtxPushCurrent_v2", self._get("cuCtxFromGreenCtx", self["green"]))
        made = self.make_event()
        self._get("cuCtxPopCurrent_v2")
        return made

    # ---- streams, events ----

    def make_stream(self) -> int: return int(self._get("cuStreamCreate", 1))
    make_stream2 = make_stream
    def make_capturing(self) -> int:
        stream = int(self._get("cuStreamCreate", 1))
        self._do("cuStreamBeginCapture_v2", stream, 0)
        return stream
    def make_event(self) -> int: return int(self._get("cuEventCreate", 0))
    def make_shared_event(self) -> int: return int(self._get("cuEventCreate", 6))
    def make_recorded(self) -> int:
        event = self.make_event()
        self._do("cuEventRecord", event, None)
        self._do("cuEventSynchronize", event)
        return event
    make_recorded2 = make_recorded
    def make_write_operation(self) -> Any: return self._words(2, self["data"], 7, 0)
    def make_log_callback(self) -> int:
        room = self.ffi.new("uint64_t *")
        self._do("cuLogsRegisterCallback", self["host_function"], None, room)
        return int(room[0])
    def make_notification(self) -> int:
        room = self.ffi.new("uint64_t *")
        self._do("cuDeviceRegisterAsyncNotification", 0, self["host_function"], None, room)
        return int(room[0])

    # ---- memory ----

    def make_data(self) -> int:
        at = int(self._get("cuMemAlloc_v2", 65536))
        self._do("cuMemsetD8_v2", at, 0, 65536)
        return at
    make_data2 = make_data
    make_zeroed = make_data
    def make_inside(self) -> int: return int(self["data"]) + 16
    def make_pinned(self) -> int: return int(self._get("cuMemHostAlloc", 4096, 0))
    def _freed(self, size: int) -> int:
        at = int(self._get("cuMemAlloc_v2", size))
        self._do("cuMemFree_v2", at)
        return at
    def make_freed(self) -> int: return self._freed(65536)
    def make_freed_large(self) -> int: return self._freed(256 << 20)
    def make_managed(self) -> int: return int(self._get("cuMemAllocManaged", 4096, 1))
    def make_registered(self) -> int:
        self._do("cuMemHostRegister_v2", self["plain"], BYTES, 0)
        return int(self["plain"])
    def make_pool_properties(self) -> Any: return self._ints(1, 0, 1, 0)
    def make_pool(self) -> int: return int(self._get("cuMemPoolCreate", self["pool_properties"]))
    def make_shared_pool(self) -> int: return int(self._get("cuMemPoolCreate", self._ints(1, 1, 1, 0)))
    def make_pool_descriptor(self) -> int:
        return int(self._get("cuMemPoolExportToShareableHandle", self["shared_pool"], 1, 0, kind="int"))
    def make_pool_memory(self) -> int:
        at = int(self._get("cuMemAllocFromPoolAsync", 64, self["shared_pool"], None))
        self._do("cuStreamSynchronize", None)
        return at
    def make_allocation(self) -> Any: return self._ints(1, 0, 1, 0)
    def make_reserved(self) -> int: return int(self._get("cuMemAddressReserve", CHUNK, 0, 0, 0))
    def make_created(self) -> int: return int(self._get("cuMemCreate", CHUNK, self["allocation"], 0))
    def make_shared_created(self) -> int: return int(self._get("cuMemCreate", CHUNK, self._ints(1, 1, 1, 0), 0))
    def make_memory_descriptor(self) -> int:
        return int(self._get("cuMemExportToShareableHandle", self["shared_created"], 1, 0, kind="int"))
    def make_bad_descriptor(self) -> int: return 987
    def make_mapped(self) -> int:
        self._do("cuMemMap", self["reserved"], CHUNK, 0, self["created"], 0)
        self._do("cuMemSetAccess", self["reserved"], CHUNK, self["access"], 1)
        return int(self["reserved"])
    make_mapped_pointer = make_mapped
    def make_own_memory_handle(self) -> Any:
        room = self._room()
        self._do("cuIpcGetMemHandle", room, self["data"])
        return room
    def make_own_event_handle(self) -> Any:
        room = self._room()
        self._do("cuIpcGetEventHandle", room, self["shared_event"])
        return room
    def make_external_memory_description(self) -> Any:
        descriptor = os.memfd_create("conformance")
        os.ftruncate(descriptor, 65536)
        return self._words(1, descriptor, 0, 65536, 0)
    def make_external_memory(self) -> int:
        return int(self._get("cuImportExternalMemory", self["external_memory_description"]))
    def make_external_buffer(self) -> Any: return self._words(0, 4096, 0)
    def _external_mipmap(self, **changes: int) -> Any:
        values = {"offset": 64, "arrayDesc": self["array_3d_description"][0], "numLevels": 3, **changes}
        return self._struct("CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC", values)
    def make_external_mipmap(self) -> Any: return self._external_mipmap()
    def make_external_mipmap_of_no_levels(self) -> Any: return self._external_mipmap(numLevels=0)
    def make_external_mipmap_outside(self) -> Any: return self._external_mipmap(offset=65536)
    def make_semaphore_description(self) -> Any: return self._words(1, os.eventfd(0), 0, 0)
    def make_semaphore(self) -> int: return int(self._get("cuImportExternalSemaphore", self["semaphore_description"]))
    def make_semaphores(self) -> Any: return self._words(self["semaphore"])
    def make_signalled_semaphores(self) -> Any:
        self._do("cuSignalExternalSemaphoresAsync", self["semaphores"], self["semaphore_parameters"], 1, None)
        return self["semaphores"]
    def make_semaphore_parameters(self) -> Any: return self._room()
    def make_copy_2d(self) -> Any:
        side = {"MemoryType": 2, "Pitch": 64}
        values = {f"{end}{name}": value for end in ("src", "dst") for name, value in side.items()}
        values |= {"srcDevice": self["data"], "dstDevice": self["data2"], "WidthInBytes": 16, "Height": 2}
        return self._struct("CUDA_MEMCPY2D", values)
    def make_copy_3d(self) -> Any:
        side = {"MemoryType": 2, "Pitch": 64, "Height": 4}
        values = {f"{end}{name}": value for end in ("src", "dst") for name, value in side.items()}
        values |= {"srcDevice": self["data"], "dstDevice": self["data2"], "WidthInBytes": 16, "Height": 2, "Depth": 2}
        return self._struct("CUDA_MEMCPY3D", values)
    def make_batch_copy(self) -> Any:
        made = self._struct("CUDA_MEMCPY3D_BATCH_OP")
        for side, name in ((made.src, "data"), (made.dst, "data2")):
            side.type = 1
            side.op.ptr.ptr = self[name]
        made.width, made.height, made.depth, made.srcAccessOrder = 16, 2, 2, 1
        return made

    def make_huge_batch_copy(self) -> Any:
        made = self.make_batch_copy()
        made.width = (1 << 64) - 16
        return made
    def make_huge_copy_2d(self) -> Any:
        made = self.make_copy_2d()
        made.WidthInBytes, made.srcPitch, made.dstPitch = (1 << 64) - 16, 0, 0
        return made
    def make_huge_copy_3d(self) -> Any:
        made = self.make_copy_3d()
        made.WidthInBytes, made.srcPitch, made.dstPitch = (1 << 64) - 16, 0, 0
        return made

    # ---- code ----

    def make_module(self) -> int: return int(self._get("cuModuleLoadData", PTX))
    def make_function(self) -> int: return int(self._get("cuModuleGetFunction", self["module"], b"scale"))
    def make_shaped_function(self) -> int:
        self._do("cuFuncSetBlockShape", self["function"], 32, 1, 1)
        self._do("cuParamSetSize", self["function"], 16)
        self._do("cuParamSetv", self["function"], 0, self._words(self["data"]), 8)
        return int(self["function"])
    def make_library(self) -> int: return int(self._get("cuLibraryLoadData", PTX, None, None, 0, None, None, 0))
    def make_kernel(self) -> int: return int(self._get("cuLibraryGetKernel", self["library"], b"scale"))
    def make_arguments(self) -> Any:
        values = (self._words(self["data"]), self._ints(5))
        return self._words(*(int(self.ffi.cast("uintptr_t", value)) for value in values))
    def make_launch_config(self) -> Any:
        names = ("gridDimX", "gridDimY", "gridDimZ", "blockDimX", "blockDimY", "blockDimZ")
        return self._struct("CUlaunchConfig", dict.fromkeys(names, 1))
    def make_launch_config_of_stream(self) -> Any:
        made = self.make_launch_config()
        made.hStream = self.ffi.cast("CUstream", self["stream"])
        return made
    def make_cooperative_launch(self) -> Any:
        made = self._struct("CUDA_LAUNCH_PARAMS")
        made.function = self.ffi.cast("CUfunction", self["function"])
        for name in ("gridDimX", "gridDimY", "gridDimZ", "blockDimX", "blockDimY", "blockDimZ"):
            setattr(made, name, 1)
        made.hStream = self.ffi.cast("CUstream", self["stream"])
        made.kernelParams = self.ffi.cast("void **", self["arguments"])
        return made
    def make_link(self) -> int:
        room = self.ffi.new("uint64_t *")
        self._do("cuLinkCreate_v2", 0, None, None, room)
        return int(room[0])
    def make_filled_link(self) -> int:
        self._do("cuLinkAddData_v2", self["link"], 1, PTX, len(PTX) + 1, b"a.ptx", 0, None, None)
        return int(self["link"])

    def make_complete_link(self) -> int:
        self._do("cuLinkComplete", self["filled_link"], self._room(), None)
        return int(self["link"])

    # ---- graphs ----

    def make_graph(self) -> int: return int(self._get("cuGraphCreate", 0))
    make_other_graph = make_graph
    def make_node(self) -> int: return int(self._get("cuGraphAddEmptyNode", self["graph"], None, 0))
    make_node2 = make_node
    def make_other_node(self) -> int: return int(self._get("cuGraphAddEmptyNode", self["other_graph"], None, 0))
    def make_clone(self) -> int: return int(self._get("cuGraphClone", self["graph"]))
    def make_variable(self) -> int: return int(self._get("cuModuleGetGlobal_v2", None, self["module"], b"table"))
    def make_executable(self) -> int: return self._exec(self["node"])
    def _add(self, symbol: str, *arguments: Any) -> int:
        return int(self._get(symbol, self["graph"], None, 0, *arguments))
    def make_kernel_parameters(self) -> Any:
        made = self._struct("CUDA_KERNEL_NODE_PARAMS")
        made.func = self.ffi.cast("CUfunction", self["function"])
        for name in ("gridDimX", "gridDimY", "gridDimZ", "blockDimX", "blockDimY", "blockDimZ"):
            setattr(made, name, 1)
        made.kernelParams = self.ffi.cast("void **", self["arguments"])
        return made
    def make_kernel_node(self) -> int: return self._add("cuGraphAddKernelNode_v2", self["kernel_parameters"])
    def make_memcpy_node(self) -> int: return self._add("cuGraphAddMemcpyNode", self["copy_3d"], self["ctx"])
    def make_memset_parameters(self) -> Any:
        values = {"dst": self["data"], "value": 1, "elementSize": 4, "width": 4, "height": 1}
        return self._struct("CUDA_MEMSET_NODE_PARAMS", values)
    def make_memset_node(self) -> int:
        return self._add("cuGraphAddMemsetNode", self["memset_parameters"], self["ctx"])
    def make_huge_memset_parameters(self) -> Any:
        values = {"dst": self["data"], "value": 1, "elementSize": 4, "width": (1 << 62) + 1, "height": 1}
        return self._struct("CUDA_MEMSET_NODE_PARAMS", values)
    def make_generic_memset(self) -> Any:
        made = self._struct("CUgraphNodeParams")
        made.type = 2
        made.memset = self["memset_parameters"][0]
        return made
    def make_condition(self) -> int:
        return int(self._get("cuGraphConditionalHandleCreate", self["graph"], self["ctx"], 0, 1))
    make_unused_condition = make_condition
    def _conditional(self, handle: int, kind: int, size: int) -> Any:
        made = self._struct("CUgraphNodeParams", {"type": 13})
        made.conditional.handle, made.conditional.type, made.conditional.size = handle, kind, size
        made.conditional.ctx = self.ffi.cast("CUcontext", self["ctx"])
        return made
    def make_conditional(self) -> Any: return self._conditional(self["condition"], 1, 1)
    def make_while_of_two(self) -> Any: return self._conditional(self["condition"], 1, 2)
    def make_if_of_three(self) -> Any: return self._conditional(self["condition"], 0, 3)
    def make_huge_switch(self) -> Any: return self._conditional(self["condition"], 2, (1 << 32) - 1)
    def make_empty_switch(self) -> Any: return self._conditional(self["condition"], 2, 0)
    def make_conditional_of_type_9(self) -> Any: return self._conditional(self["condition"], 9, 1)
    def make_conditional_of_no_handle(self) -> Any: return self._conditional(self["nowhere"], 1, 1)
    def make_conditional_elsewhere(self) -> Any:
        made = self._conditional(self["condition"], 1, 1)
        made.conditional.ctx = self.ffi.cast("CUcontext", self["other_ctx"])
        return made
    def make_loop(self) -> int: return int(self._get("cuGraphAddNode", self["graph"], None, 0, self["conditional"]))
    def make_body(self) -> int:
        self["loop"]
        return int(self.ffi.cast("uintptr_t", self["conditional"].conditional.phGraph_out[0]))
    def make_body_host_node(self) -> int:
        return int(self._get("cuGraphAddHostNode", self["body"], None, 0, self["host_parameters"]))
    def make_host_parameters(self) -> Any:
        return self._words(int(self.ffi.cast("uintptr_t", self["host_function"])), 0)
    def make_host_node(self) -> int: return self._add("cuGraphAddHostNode", self["host_parameters"])
    def make_child_node(self) -> int: return self._add("cuGraphAddChildGraphNode", self["other_graph"])
    def make_record_node(self) -> int: return self._add("cuGraphAddEventRecordNode", self["event"])
    def make_wait_node(self) -> int: return self._add("cuGraphAddEventWaitNode", self["event"])
    def make_semaphore_node_parameters(self) -> Any:
        pointers = (self["semaphores"], self["semaphore_parameters"])
        return self._words(*(int(self.ffi.cast("uintptr_t", p)) for p in pointers), 1)
    def make_signal_node(self) -> int:
        return self._add("cuGraphAddExternalSemaphoresSignalNode", self["semaphore_node_parameters"])
    def make_await_node(self) -> int:
        return self._add("cuGraphAddExternalSemaphoresWaitNode", self["semaphore_node_parameters"])
    def make_batch_parameters(self) -> Any:
        operation = int(self.ffi.cast("uintptr_t", self["write_operation"]))
        return self._words(int(self["ctx"]), 1, operation, 0)
    def make_batch_node(self) -> int: return self._add("cuGraphAddBatchMemOpNode", self["batch_parameters"])
    def make_alloc_parameters(self) -> Any:
        made = self._ints(1, 0, 1, 0)
        self.ffi.cast("uint64_t *", made)[13] = 256
        return made
    def make_alloc_node(self) -> int: return self._add("cuGraphAddMemAllocNode", self["alloc_parameters"])
    def make_graph_memory(self) -> int:
        self["alloc_node"]
        return int(self.ffi.cast("uint64_t *", self["alloc_parameters"])[14])
    def make_free_node(self) -> int:
        memory, after = self["graph_memory"], self._words(self["alloc_node"])
        return int(self._get("cuGraphAddMemFreeNode", self["graph"], after, 1, memory))
    def make_user_object(self) -> int: return int(self._get("cuUserObjectCreate", None, self["host_function"], 9, 1))
    def make_retained_object(self) -> int:
        self._do("cuGraphRetainUserObject", self["graph"], self["user_object"], 1, 0)
        return int(self["user_object"])

    # ---- processes ----

    def make_running(self) -> int:
        pid = other(True).pid
        for back in ("Restore", "Unlock"):  # as far as it has got
            self.driver.call(f"cuCheckpointProcess{back}", [pid, None])
        return pid
    def make_locked(self) -> int:
        self._do("cuCheckpointProcessLock", self["running"], None)
        return int(self["running"])
    def make_checkpointed(self) -> int:
        self._do("cuCheckpointProcessCheckpoint", self["locked"], None)
        return int(self["running"])
    def make_no_driver(self) -> int: return other(False).pid

    # ---- arrays, textures ----

    def make_array_description(self) -> Any:
        return self._struct("CUDA_ARRAY_DESCRIPTOR", {"Width": 32, "Height": 4, "Format": 0x20, "NumChannels": 1})
    def make_bad_array_description(self) -> Any:
        return self._struct("CUDA_ARRAY_DESCRIPTOR", {"Width": 32, "Height": 4, "Format": 0x20, "NumChannels": 7})
    def make_array_3d_description(self) -> Any:
        values = {"Width": 32, "Height": 4, "Format": 0x20, "NumChannels": 1, "Flags": 2}
        return self._struct("CUDA_ARRAY3D_DESCRIPTOR", values)
    def make_tall_description(self) -> Any:
        values = {"Width": 1, "Height": 1 << 30, "Format": 1, "NumChannels": 1}
        return self._struct("CUDA_ARRAY3D_DESCRIPTOR", values)
    def make_array(self) -> int: return int(self._get("cuArrayCreate_v2", self["array_description"]))
    make_array2 = make_array
    def make_mipmap(self) -> int: return int(self._get("cuMipmappedArrayCreate", self["array_3d_description"], 3))
    def make_mipmap_reference(self) -> int:
        made = self.make_texture_reference()
        self._do("cuTexRefSetMipmappedArray", made, self["mipmap"], 1)
        return made
    def make_tensor_sizes(self) -> Any: return self._words(16, 8, 4)
    def make_tensor_strides(self) -> Any: return self._words(64, 512)
    def make_tensor_box(self) -> Any: return self._ints(16, 1, 1)
    def make_tensor_steps(self) -> Any: return self._ints(1, 1, 1)
    def make_empty_tensor_map(self) -> int:
        return -(-int(self.ffi.cast("uintptr_t", self._room())) // 64) * 64
    def make_tensor_map(self) -> int:
        made = self.make_empty_tensor_map()
        shape = (self[f"tensor_{name}"] for name in ("sizes", "strides", "box", "steps"))
        self._do("cuTensorMapEncodeTiled", made, 7, 3, self["data"], *shape, 0, 0, 0, 0)
        return made
    def make_surface_array(self) -> int: return int(self._get("cuArray3DCreate_v2", self["array_3d_description"]))
    def _resource(self, array: int) -> Any:
        made = self._struct("CUDA_RESOURCE_DESC")
        made.res.array.hArray = self.ffi.cast("CUarray", array)
        return made
    def make_array_resource(self) -> Any: return self._resource(self["array"])
    def make_surface_resource(self) -> Any: return self._resource(self["surface_array"])
    def make_texture_how(self) -> Any: return self._struct("CUDA_TEXTURE_DESC")
    def make_texture(self) -> int:
        return int(self._get("cuTexObjectCreate", self["array_resource"], self["texture_how"], None))
    def make_surface(self) -> int: return int(self._get("cuSurfObjectCreate", self["surface_resource"]))
    def make_texture_reference(self) -> int: return int(self._get("cuTexRefCreate"))
    def make_linear_reference(self) -> int:
        made = self.make_texture_reference()
        self._do("cuTexRefSetAddress_v2", None, made, self["data"], 64)
        return made
    def make_array_reference(self) -> int:
        made = self.make_texture_reference()
        self._do("cuTexRefSetArray", made, self["array"], 1)
        return made
    def make_surface_reference(self) -> int: return int(self._get("cuModuleGetSurfRef", self["module"], b"surface"))
    def make_bound_surface_reference(self) -> int:
        self._do("cuSurfRefSetArray", self["surface_reference"], self["surface_array"], 0)
        return int(self["surface_reference"])
