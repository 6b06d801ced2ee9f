"""Launches from kernels (dynamic parallelism): records that a kernel leaves for the host, in memory that both reach."""

from __future__ import annotations

from ptx2amd.interface.layout import Field, Layout, Number

RECORD_LAUNCH, RECORD_COPY, RECORD_FILL = (
    Number(number, f"kind of a record: a {name}") for number, name in enumerate(("launch", "copy", "fill"))
)
STREAM_TAIL = Number(3, "the stream whose records come last")
FIRST_STREAM = Number(16, "the first stream or event that a kernel makes")
LAUNCH_DEPTH = Number(24, "how deep launches nest at most")
LAUNCH_ERRORS = Number(4096, "errors that the list has room for")

RECORDS = Layout(
    "launch_records",
    "Of one launch; the address is a launch word. Kernels queue records until they end.",
    Field("capacity", "u64", "records that the queue has room for"),
    Field("count", "u64", "records in it, or more"),
    Field("room", "u64", "bytes of the pool"),
    Field("used", "u64", "bytes of it that are used, or more"),
    Field("queue", "u64", "address of the queue: u64 offsets of records in the pool"),
    Field("pool", "u64", "address of the pool, in which records lie"),
    Field("errors", "u64", "address of the list of errors: a `launch_error` each"),
    Field("error_count", "u32", "errors in it, or more"),
    Field("other_error", "u32", "the last one that the list lacks"),
    Field("next_stream", "u64", "the next stream or event that is made"),
    Field("depth", "u32", "of this kernel; 0: the host has launched it"),
    Field("device", "u32", "the kernel's device"),
    Field("devices", "u32", "how many there are"),
    Field("attribute_count", "u32", "attributes of the device"),
    Field("attributes", "u64", "address of them: i32 each, by CUdevice_attribute"),
    Field("limits", "u64", "of the context, by cudaLimit", count=5, at=104),
    size=256,
)
RECORD = Layout(
    "launch_record",
    "What a kernel launches, copies or fills. The parameters follow: the kernel's, or a `launch_command`.",
    Field("kernel", "u64", "address of its `launch_facts`"),
    Field("kind", "u32", "RECORD_LAUNCH and others"),
    Field("bytes", "u32", "of parameters"),
    Field("grid", "u32", "blocks", count=3),
    Field("block", "u32", "threads", count=3),
    Field("shared", "u32", "bytes of dynamic shared memory"),
    Field("stream", "u64", "in which it runs", at=48),
    Field("who", "u64", "the thread: block * 1024 + thread"),
    Field("parameters", "u8", "", count=0),
)
COMMAND = Layout(
    "launch_command", "A copy, or a fill.",
    Field("to", "u64", "address"),
    Field("pitch", "u64", "bytes from one row to the next"),
    Field("source", "u64", "address; of a fill the byte"),
    Field("source_pitch", "u64", "bytes from one row to the next"),
    Field("width", "u64", "bytes"),
    Field("height", "u64", "rows"),
)  # fmt: skip
ERROR = Layout(
    "launch_error", "An error that cudaGetLastError gives to its thread.",
    Field("who", "u64", "the thread + 1; 0: forgotten"),
    Field("error", "u32", "a cudaError_t"),
)  # fmt: skip
FACTS = Layout(
    "launch_facts", "What launches know of a kernel. They lie in the data segment; their address is the kernel's.",
    Field("bytes", "u32", "of parameters"),
    Field("most", "u32", "threads of a block"),
    Field("block", "u32", "the block's size, or zeros", count=3),
    size=64,
)  # fmt: skip
