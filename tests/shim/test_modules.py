"""Modules, kernels and launches over ready-made cache entries."""

from __future__ import annotations

import struct
from types import SimpleNamespace

import pytest

from tests.shim.cache_entries import INDEX, PTX, write_index, write_kernel

INVALID_VALUE, INVALID_HANDLE, NOT_FOUND, OUT_OF_RESOURCES, NOT_SUPPORTED, NO_COMPILER = 1, 400, 500, 701, 801, 221
INVALID_CLUSTER = 912


def launch(
    shim: SimpleNamespace,
    kernel: object,
    block: tuple = (32, 1, 1),
    grid: tuple = (1, 1, 1),
    shared: int = 0,
    values: list | None = None,
    stream: object = None,
    extra: object = None,
) -> int:
    ffi = shim.ffi
    cells = [ffi.new(kind, value) for kind, value in values or []]
    params = ffi.new("void *[]", [ffi.cast("void *", c) for c in cells]) if cells else ffi.NULL
    return shim.cuda.cuLaunchKernel(kernel, *grid, *block, shared, stream or ffi.NULL, params, extra or ffi.NULL)


ARGUMENTS = [("uint64_t *", 0x1122334455667788), ("uint32_t *", 0xCAFE), ("uint64_t[3]", [1, 2, 3])]


def test_launches_ask_for_captures_only_once_one_has_begun(shim: SimpleNamespace, kernel: object) -> None:
    """AMD's library takes a lock to answer; a captured launch passes its parameters in another way."""
    stream, graph = shim.ffi.new("CUstream *"), shim.ffi.new("CUgraph *")
    assert shim.cuda.cuStreamCreate(stream, 1) == 0
    before = shim.stub.stub_questions
    assert launch(shim, kernel, values=ARGUMENTS, stream=stream[0]) == 0
    assert (shim.stub.stub_questions, shim.stub.stub_last.size) == (before, 40)
    assert shim.cuda.cuStreamBeginCapture_v2(stream[0], 0) == 0
    assert launch(shim, kernel, values=ARGUMENTS, stream=stream[0]) == 0
    assert (shim.stub.stub_questions, shim.stub.stub_last.size) == (before + 1, 0)
    assert shim.cuda.cuStreamEndCapture(stream[0], graph) == shim.cuda.cuStreamDestroy_v2(stream[0]) == 0


def test_parameters_are_laid_out_as_the_index_says(shim: SimpleNamespace, kernel: object) -> None:
    assert launch(shim, kernel, (16, 4, 2), (3, 2, 1), 256, ARGUMENTS) == 0
    last = shim.stub.stub_last
    assert (list(last.grid), list(last.block), last.shared, last.size) == ([3, 2, 1], [16, 4, 2], 256, 40)
    data = bytes(shim.stub_ffi.buffer(last.bytes))[:40]
    assert struct.unpack("<QI4xQQQ", data) == (0x1122334455667788, 0xCAFE, 1, 2, 3)


def test_packed_parameters(shim: SimpleNamespace, kernel: object) -> None:
    ffi, data = shim.ffi, bytes(range(40))
    buffer, size = ffi.new("char[]", data), ffi.new("size_t *", 40)
    extra = ffi.new("void *[]", [ffi.cast("void *", 1), buffer, ffi.cast("void *", 2), size, ffi.NULL])
    assert launch(shim, kernel, extra=extra) == 0
    assert bytes(shim.stub_ffi.buffer(shim.stub.stub_last.bytes))[:40] == data
    size[0] = 39
    assert launch(shim, kernel, extra=extra) == 0  # as with NVIDIA's driver, the rest is not given
    assert bytes(shim.stub_ffi.buffer(shim.stub.stub_last.bytes))[:40] == data[:39] + b"\0"
    assert launch(shim, kernel, extra=extra, values=ARGUMENTS) == INVALID_VALUE
    assert launch(shim, kernel) == INVALID_VALUE  # it has parameters, none were given


def test_limits_of_a_launch(shim: SimpleNamespace, kernel: object, module: object) -> None:
    before = shim.stub.stub_launches
    assert launch(shim, kernel, (257, 1, 1), values=ARGUMENTS) == INVALID_VALUE  # .maxntid 256
    plain = shim.ffi.new("CUfunction *")
    assert shim.cuda.cuModuleGetFunction(plain, module, b"plain") == 0
    for block in ((1025, 1, 1), (32, 33, 1), (1, 1, 65), (0, 1, 1)):
        assert launch(shim, plain[0], block) == INVALID_VALUE
    for grid in ((0, 1, 1), (1, 65536, 1), (1, 1, 65536), (0x80000000, 1, 1)):
        assert launch(shim, plain[0], grid=grid) == INVALID_VALUE
    assert launch(shim, kernel, shared=49152 - 1024 + 1, values=ARGUMENTS) == INVALID_VALUE
    assert shim.stub.stub_launches == before
    assert launch(shim, kernel, shared=49152 - 1024, values=ARGUMENTS) == 0
    assert shim.cuda.cuFuncSetAttribute(kernel, 8, 60000) == 0
    assert launch(shim, kernel, shared=60000, values=ARGUMENTS) == 0
    assert shim.cuda.cuFuncSetAttribute(kernel, 8, 232448 - 1023) == INVALID_VALUE  # with the static part too much
    assert launch(shim, plain[0], (1024, 1, 1), (0x3FFFFF, 65535, 65535)) == 0
    assert launch(shim, plain[0], (1, 1, 1), (0x7FFFFFFF, 65535, 65535)) == 0


def test_more_threads_than_the_code_object_takes(shim: SimpleNamespace, context: object) -> None:
    image = PTX + b"// registers\n"
    write_index(shim.cache, image, "ptx 8 0\ntarget 80\nsegment_size 0\nsegment_align 1\nkernel big\n")
    write_kernel(shim.cache, image, "big", max_threads=512)
    module, function = shim.ffi.new("CUmodule *"), shim.ffi.new("CUfunction *")
    assert shim.cuda.cuModuleLoadData(module, image) == 0
    assert shim.cuda.cuModuleGetFunction(function, module[0], b"big") == 0
    assert launch(shim, function[0], (513, 1, 1)) == OUT_OF_RESOURCES
    assert launch(shim, function[0], (512, 1, 1)) == 0


@pytest.mark.parametrize(
    ("shape", "want"), [((1, 1, 1), 0), ((4, 2, 1), INVALID_CLUSTER), ((1, 4, 2), INVALID_CLUSTER)]
)
def test_clusters_have_one_block(
    shim: SimpleNamespace, kernel: object, shape: tuple[int, int, int], want: int, capfd: pytest.CaptureFixture[str]
) -> None:
    ffi = shim.ffi
    attribute = ffi.new("CUlaunchAttribute *", {"id": 4, "value": {"dim": shape}})
    config = ffi.new("CUlaunchConfig *", {"gridDimX": 8, "gridDimY": 4, "gridDimZ": 2, "blockDimX": 32, "blockDimY": 1,
                                          "blockDimZ": 1, "attrs": attribute, "numAttrs": 1})  # fmt: skip
    cells = [ffi.new(kind, value) for kind, value in ARGUMENTS]
    params = ffi.new("void *[]", [ffi.cast("void *", cell) for cell in cells])
    assert shim.cuda.cuLaunchKernelEx(config, kernel, params, ffi.NULL) == want
    assert (
        f"clusters of {shape[0]} x {shape[1]} x {shape[2]} blocks are not supported" in capfd.readouterr().err
    ) == bool(want)


def test_padded_kernels_get_blocks_of_twice_the_size(
    shim: SimpleNamespace, context: object, capfd: pytest.CaptureFixture[str]
) -> None:
    """The shim doubles blocks in x, and says why a larger one is refused; programs see CUDA's sizes."""
    image = PTX + b"// padded\n"
    write_index(shim.cache, image, "ptx 8 0\ntarget 80\nsegment_size 0\nsegment_align 1\nkernel waits\n")
    write_kernel(shim.cache, image, "waits", mapping="padded", max_threads=512, hazard="line 7: a loop", warning="hm")
    module, function = shim.ffi.new("CUmodule *"), shim.ffi.new("CUfunction *")
    assert shim.cuda.cuModuleLoadData(module, image) == 0
    assert shim.cuda.cuModuleGetFunction(function, module[0], b"waits") == 0
    assert launch(shim, function[0], (16, 8, 4), (5, 6, 7)) == 0
    assert (list(shim.stub.stub_last.grid), list(shim.stub.stub_last.block)) == ([5, 6, 7], [32, 8, 4])
    before = shim.stub.stub_launches
    assert launch(shim, function[0], (33, 16, 1)) == OUT_OF_RESOURCES
    assert shim.stub.stub_launches == before
    said = capfd.readouterr().err
    assert "528 threads" in said and "line 7: a loop" in said and said.count("hm") == 1
    value = shim.ffi.new("int *")
    assert shim.cuda.cuFuncGetAttribute(value, 0, function[0]) == 0
    assert value[0] == 512


def test_the_environment_names_segment_and_printf_buffer(shim: SimpleNamespace, kernel: object, module: object) -> None:
    pointer, size = shim.ffi.new("CUdeviceptr *"), shim.ffi.new("size_t *")
    assert launch(shim, kernel, values=ARGUMENTS) == 0
    assert shim.cuda.cuModuleGetGlobal_v2(pointer, size, module, b"counter") == 0
    assert (shim.stub.stub_environment(0), size[0]) == (pointer[0], 4)
    assert shim.stub.stub_environment(1) != 0
    assert [shim.stub.stub_environment(i) for i in range(2, 8)] == [0] * 6


def test_variables_are_initialised_and_relocated(shim: SimpleNamespace, module: object) -> None:
    pointer, size, data = shim.ffi.new("CUdeviceptr *"), shim.ffi.new("size_t *"), shim.ffi.new("char[16]")

    def read(name: bytes) -> bytes:
        assert shim.cuda.cuModuleGetGlobal_v2(pointer, size, module, name) == 0
        assert shim.cuda.cuMemcpyDtoH_v2(data, pointer[0], size[0]) == 0
        return bytes(shim.ffi.buffer(data, size[0]))

    assert read(b"counter") == struct.pack("<I", 7)
    assert read(b"table") == bytes(range(16))
    address_of_table = pointer[0]
    assert read(b"pointer") == struct.pack("<Q", address_of_table)
    assert shim.cuda.cuModuleGetGlobal_v2(pointer, size, module, b"absent") == NOT_FOUND


def test_names(shim: SimpleNamespace, module: object) -> None:
    function, count = shim.ffi.new("CUfunction *"), shim.ffi.new("unsigned *")
    assert shim.cuda.cuModuleGetFunction(function, module, b"absent") == NOT_FOUND
    assert shim.cuda.cuModuleGetFunctionCount(count, module) == 0 and count[0] == 3
    functions, name = shim.ffi.new("CUfunction[3]"), shim.ffi.new("char **")
    assert shim.cuda.cuModuleEnumerateFunctions(functions, 3, module) == 0
    found = set()
    for f in functions:
        assert shim.cuda.cuFuncGetName(shim.ffi.cast("const char **", name), f) == 0
        found.add(shim.ffi.string(name[0]))
    assert found == {b"plain", b"scale", b"strange"}


def test_one_refused_kernel_leaves_the_others(
    shim: SimpleNamespace, module: object, capfd: pytest.CaptureFixture[str]
) -> None:
    function = shim.ffi.new("CUfunction *")
    assert shim.cuda.cuModuleGetFunction(function, module, b"strange") == 0
    assert launch(shim, function[0]) == NOT_SUPPORTED
    assert launch(shim, function[0]) == NOT_SUPPORTED
    assert capfd.readouterr().err.count("kernel strange cannot run: uses an instruction that nobody has") == 1
    assert shim.cuda.cuModuleGetFunction(function, module, b"plain") == 0
    assert launch(shim, function[0]) == 0


def test_attributes(shim: SimpleNamespace, module: object, kernel: object) -> None:
    value, plain = shim.ffi.new("int *"), shim.ffi.new("CUfunction *")
    assert shim.cuda.cuModuleGetFunction(plain, module, b"plain") == 0
    assert shim.cuda.cuFuncGetAttribute(value, 5, plain[0]) == 0 and value[0] == 61  # linked from another part

    def attribute(number: int) -> int:
        assert shim.cuda.cuFuncGetAttribute(value, number, kernel) == 0
        return value[0]

    assert [attribute(i) for i in range(8)] == [256, 1024, 16, 0, 24, 75, 80, 0]  # PTX version: the module's target
    assert attribute(8) == 49152 - 1024
    assert shim.cuda.cuFuncGetAttribute(value, 4, plain[0]) == 0 and value[0] == 128
    assert shim.cuda.cuFuncGetAttribute(value, 0, plain[0]) == 0 and value[0] == 65536 // 128  # its registers fit
    assert shim.cuda.cuFuncGetAttribute(value, 99, kernel) == INVALID_VALUE
    offset, size = shim.ffi.new("size_t *"), shim.ffi.new("size_t *")
    layout = []
    while shim.cuda.cuFuncGetParamInfo(kernel, len(layout), offset, size) == 0:
        layout.append((offset[0], size[0]))
    assert layout == [(0, 8), (8, 4), (16, 24)]


def test_library_kernels_are_functions(shim: SimpleNamespace, context: object, image: bytes) -> None:
    ffi, cuda = shim.ffi, shim.cuda
    library, kernel, function, module = (ffi.new(f"{t} *") for t in ("CUlibrary", "CUkernel", "CUfunction", "CUmodule"))
    assert cuda.cuLibraryLoadData(library, image, ffi.NULL, ffi.NULL, 0, ffi.NULL, ffi.NULL, 0) == 0
    assert cuda.cuLibraryGetKernel(kernel, library[0], b"scale") == 0
    assert launch(shim, ffi.cast("CUfunction", kernel[0]), values=ARGUMENTS) == 0
    assert cuda.cuKernelGetFunction(function, kernel[0]) == 0
    assert launch(shim, function[0], values=ARGUMENTS) == 0
    assert cuda.cuLibraryGetModule(module, library[0]) == 0
    assert cuda.cuModuleGetFunction(function, module[0], b"scale") == 0
    assert cuda.cuModuleUnload(module[0]) == INVALID_HANDLE
    assert cuda.cuLibraryUnload(library[0]) == 0
    assert cuda.cuLibraryUnload(library[0]) == INVALID_HANDLE
    assert launch(shim, function[0], values=ARGUMENTS) == INVALID_HANDLE


def test_handles_that_are_none(shim: SimpleNamespace, kernel: object, module: object, context: object) -> None:
    cast, function = shim.ffi.cast, shim.ffi.new("CUfunction *")
    for address in (
        0,
        1,
        0x1234,
        0x7FFF12345678,
        int(cast("uintptr_t", module)),
        int(cast("uintptr_t", context)),
        int(cast("uintptr_t", kernel)) + 8,
        int(cast("uintptr_t", kernel)) + 1 << 20,
    ):
        assert launch(shim, cast("CUfunction", address), values=ARGUMENTS) == INVALID_HANDLE
    assert launch(shim, kernel, values=ARGUMENTS, stream=cast("CUstream", 0x123450)) == INVALID_HANDLE
    assert shim.cuda.cuModuleUnload(module) == 0
    assert shim.cuda.cuModuleUnload(module) == INVALID_HANDLE
    assert shim.cuda.cuModuleGetFunction(function, module, b"scale") == INVALID_HANDLE
    assert launch(shim, kernel, values=ARGUMENTS) == INVALID_HANDLE


def test_errors_of_hip_are_cuda_errors(shim: SimpleNamespace, kernel: object) -> None:
    assert launch(shim, kernel, values=ARGUMENTS) == 0  # its code is loaded
    for hip_error, cuda_error in (
        (719, 719),
        (700, 700),
        (2, 2),
        (98, INVALID_HANDLE),
        (9, INVALID_VALUE),
        (1053, 999),
    ):
        shim.stub.stub_fail = hip_error
        assert launch(shim, kernel, values=ARGUMENTS) == cuda_error
        assert shim.cuda.cuCtxSynchronize() == cuda_error
    shim.stub.stub_fail = 0


def test_no_service_means_an_error_and_a_filled_log(shim: SimpleNamespace, context: object) -> None:
    log = shim.ffi.new("char[]", 1000)
    options = shim.ffi.new("CUjit_option[2]", [5, 6])
    values = shim.ffi.new("void *[2]", [log, shim.ffi.cast("void *", 1000)])
    module = shim.ffi.new("CUmodule *")
    assert shim.cuda.cuModuleLoadDataEx(module, PTX + b"// nobody knows this", 2, options, values) == NO_COMPILER
    text = shim.ffi.string(log)
    assert b"cannot start the translation service" in text
    assert int(shim.ffi.cast("uintptr_t", values[1])) == len(text)


def test_damaged_cache_entries_are_not_used(shim: SimpleNamespace, context: object) -> None:
    image, module = PTX + b"// damaged\n", shim.ffi.new("CUmodule *")
    before = set(shim.cache.rglob("*.p2a"))
    write_index(shim.cache, image, INDEX, bytes(64))
    path = max(set(shim.cache.rglob("*.p2a")) - before, key=lambda path: path.stat().st_size)  # not that of the check
    whole = path.read_bytes()
    for damaged in (
        whole[:-1],
        whole + b"x",
        whole[:70] + b"?" + whole[71:],
        whole[:8] + b"\xff" * 8 + whole[16:],
        b"",
    ):
        path.write_bytes(damaged)
        assert shim.cuda.cuModuleLoadData(module, image) == NO_COMPILER
    path.write_bytes(whole)
    assert shim.cuda.cuModuleLoadData(module, image) == 0


@pytest.mark.parametrize(
    "text",
    [
        "segment_size 8\nsegment_align 8\nvariable g 8 1 global\n",
        "segment_size 8\nsegment_align 8\nreloc 4 0\n",
        "kernel k\nparam 99999 8 8\n",
        "segment_size x\n",
        "segment_size 8\nsegment_align 8\npart 0 8 0\n",
        "segment_size 8\nsegment_align 8\npart 4 18446744073709551612 0\n",
        "kernel k\nparam x\n",
    ],
)
def test_an_index_that_makes_no_sense(shim: SimpleNamespace, context: object, text: str) -> None:
    image, module = PTX + text.encode(), shim.ffi.new("CUmodule *")
    write_index(shim.cache, image, "ptx 8 0\ntarget 80\n" + text)
    assert shim.cuda.cuModuleLoadData(module, image) == 200


def linked_entry(text: bytes) -> bytes:
    """A PTX entry as the linker's container has it."""
    padded = text + bytes(-len(text) % 8)
    return struct.pack("<HHIQIIHHIIIQQQ", 1, 0x101, 64, len(padded), *[0] * 10) + padded


def test_link_puts_its_inputs_into_one_image(shim: SimpleNamespace, context: object, image: bytes) -> None:
    ffi, cuda, null = shim.ffi, shim.cuda, shim.ffi.NULL
    state, cubin, size, module = (
        ffi.new("CUlinkState *"),
        ffi.new("void **"),
        ffi.new("size_t *"),
        ffi.new("CUmodule *"),
    )
    assert cuda.cuLinkCreate_v2(0, null, null, state) == 0
    assert cuda.cuLinkComplete(state[0], cubin, size) == 1  # nothing to link
    other = image + b"// another\n"
    for input in (image, other):
        write_index(shim.cache, input, INDEX)
        text = ffi.new("char[]", input)
        assert cuda.cuLinkAddData_v2(state[0], 1, text, len(input) + 1, null, 0, null, null) == 0
    write_index(shim.cache, linked_entry(image) + linked_entry(other), INDEX, bytes(64))
    assert cuda.cuLinkComplete(state[0], cubin, size) == 0
    assert cuda.cuModuleLoadData(module, cubin[0]) == 0
    assert cuda.cuLinkAddData_v2(state[0], 1, text, len(image) + 1, null, 0, null, null) == 1  # it is complete
    assert cuda.cuLinkAddData_v2(state[0], 5, text, len(image) + 1, null, 0, null, null) == 1
    assert cuda.cuLinkDestroy(state[0]) == 0
    assert cuda.cuLinkComplete(state[0], cubin, size) == INVALID_HANDLE


def test_launch_with_attributes(shim: SimpleNamespace, kernel: object) -> None:
    ffi = shim.ffi
    config, attributes = ffi.new("CUlaunchConfig *"), ffi.new("CUlaunchAttribute[2]")
    for field in ("gridDimX", "gridDimY", "gridDimZ", "blockDimX", "blockDimY", "blockDimZ"):
        setattr(config, field, 1)
    config.attrs, config.numAttrs = attributes, 2
    attributes[0].id, attributes[1].id = 8, 6  # priority, programmatic serialisation: hints
    cells = [ffi.new(kind, value) for kind, value in ARGUMENTS]
    params = ffi.new("void *[]", [ffi.cast("void *", c) for c in cells])
    assert shim.cuda.cuLaunchKernelEx(config, kernel, params, ffi.NULL) == 0
    attributes[1].id = 4
    attributes[1].value.dim = [2, 1, 1]
    assert shim.cuda.cuLaunchKernelEx(config, kernel, params, ffi.NULL) == 912
    assert shim.cuda.cuLaunchKernelEx(ffi.NULL, kernel, params, ffi.NULL) == INVALID_VALUE


def test_unloading_without_a_context(shim: SimpleNamespace, module: object) -> None:
    """In the module's own, as Blender asks for it; once only, and the thread stays without one."""
    current = shim.ffi.new("CUcontext *")
    assert shim.cuda.cuCtxPopCurrent_v2(current) == 0
    before = current[0]
    assert shim.cuda.cuModuleUnload(module) == 0
    assert shim.cuda.cuCtxGetCurrent(current) == 0 and current[0] == shim.ffi.NULL
    assert shim.cuda.cuModuleUnload(module) != 0
    assert shim.cuda.cuCtxPushCurrent_v2(before) == 0
    assert shim.cuda.cuModuleUnload(module) == INVALID_HANDLE


def test_the_hidden_table_of_modules_tells_their_functions(shim: SimpleNamespace, module: object) -> None:
    """cuFFT looks for its kernels so: slot 7 of a table that NVIDIA's tools use too."""
    ffi, table, functions = shim.ffi, shim.ffi.new("void ***"), shim.ffi.new("CUfunction[3]")
    identifier = ffi.new("CUuuid *", {"bytes": bytes.fromhex("6e163fbeb958444d835ce182aff1991e")})
    assert shim.cuda.cuGetExportTable(ffi.cast("const void **", table), identifier) == 0
    each = ffi.cast("uint64_t (*)(void *, void *, void *, void *)", table[0][7])
    told = []

    @ffi.callback("void(void *, void *, void *)")
    def tell(data: object, function: object, of: object) -> None:
        told.append((data, function, of))

    data, handle = ffi.cast("void *", 77), ffi.cast("void *", module)
    assert shim.cuda.cuModuleEnumerateFunctions(functions, 3, module) == 0
    known = [ffi.cast("void *", function) for function in functions if function]
    assert each(ffi.NULL, handle, tell, data) == len(known) > 1
    assert told == [(data, function, handle) for function in known]
    assert each(ffi.NULL, data, tell, data) == 0


def test_the_hidden_table_of_streams_numbers_them(shim: SimpleNamespace, context: object) -> None:
    """cuBLAS gives streams parts of its workspace by these numbers: slots 51 and 39 of another such table."""
    ffi, table, channel, number = shim.ffi, shim.ffi.new("void ***"), shim.ffi.new("uint64_t *"), shim.ffi.new("int *")
    identifier = ffi.new("CUuuid *", {"bytes": bytes.fromhex("21318c60971432488ca641ff7324c8f2")})
    assert shim.cuda.cuGetExportTable(ffi.cast("const void **", table), identifier) == 0
    channel_of = ffi.cast("int (*)(void *, void *, uint64_t *)", table[0][51])
    number_of = ffi.cast("int (*)(void *, uint64_t, int *)", table[0][39])
    streams = ffi.new("CUstream[3]")  # the last is the default one
    for at in range(2):
        assert shim.cuda.cuStreamCreate(streams + at, 0) == 0
    numbers = []
    for stream in (*streams, streams[0]):
        assert channel_of(ffi.NULL, stream, channel) == 0 and number_of(ffi.NULL, channel[0], number) == 0
        numbers.append(number[0])
    assert len(set(numbers[:3])) == 3 and numbers[3] == numbers[0]
    assert channel_of(ffi.NULL, streams[0], ffi.NULL) == number_of(ffi.NULL, channel[0], ffi.NULL) == INVALID_VALUE
    assert shim.cuda.cuStreamDestroy_v2(streams[0]) == shim.cuda.cuStreamDestroy_v2(streams[1]) == 0
    assert channel_of(ffi.NULL, streams[0], channel) == INVALID_HANDLE


def test_more_threads_than_amd_counts(shim: SimpleNamespace, kernel: object, capfd: pytest.CaptureFixture[str]) -> None:
    assert launch(shim, kernel, (256, 1, 1), (1 << 24, 1, 1), values=ARGUMENTS) == INVALID_VALUE
    assert "more than the 2^32 - 1 threads" in capfd.readouterr().err
    assert launch(shim, kernel, (256, 1, 1), ((1 << 24) - 1, 1, 1), values=ARGUMENTS) == 0
