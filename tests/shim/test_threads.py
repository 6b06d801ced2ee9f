"""Many host threads: loads, launches, handles and contexts at the same time."""

from __future__ import annotations

import threading
from types import SimpleNamespace

from tests.shim.cache_entries import INDEX, PTX, write_index, write_kernel
from tests.shim.test_modules import ARGUMENTS, launch

THREADS, ROUNDS = 8, 30


def in_threads(work: object) -> None:
    """Run work(i) in THREADS threads; the first exception of any is raised here."""
    errors: list[BaseException] = []

    def guarded(i: int) -> None:
        try:
            work(i)  # type: ignore[operator]
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=guarded, args=(i,)) for i in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive(), "a thread hangs"
    if errors:
        raise errors[0]


def test_modules_streams_and_launches(shim: SimpleNamespace, context: object) -> None:
    ffi, cuda = shim.ffi, shim.cuda
    images = [PTX + f"// of thread {i}\n".encode() for i in range(THREADS)]
    for image in images:
        write_index(shim.cache, image, INDEX, bytes(64))
        write_kernel(shim.cache, image, "scale", cells="0")

    def work(i: int) -> None:
        assert cuda.cuCtxSetCurrent(context) == 0
        module, function, stream = ffi.new("CUmodule *"), ffi.new("CUfunction *"), ffi.new("CUstream *")
        pointer = ffi.new("CUdeviceptr *")
        for _ in range(ROUNDS):
            assert cuda.cuModuleLoadData(module, images[i]) == 0
            assert cuda.cuModuleGetFunction(function, module[0], b"scale") == 0
            assert cuda.cuStreamCreate(stream, 1) == 0
            assert cuda.cuMemAlloc_v2(pointer, 4096) == 0
            assert launch(shim, function[0], values=ARGUMENTS, stream=stream[0]) == 0
            assert cuda.cuStreamDestroy_v2(stream[0]) == 0
            assert launch(shim, function[0], values=ARGUMENTS, stream=stream[0]) == 400
            assert cuda.cuMemFree_v2(pointer[0]) == 0
            assert cuda.cuModuleUnload(module[0]) == 0
            assert launch(shim, function[0], values=ARGUMENTS) == 400

    in_threads(work)


def test_one_kernel_is_loaded_once(shim: SimpleNamespace, context: object, module: object) -> None:
    function, barrier = shim.ffi.new("CUfunction *"), threading.Barrier(THREADS)
    assert shim.cuda.cuModuleGetFunction(function, module, b"scale") == 0
    before = shim.stub.stub_loads

    def work(i: int) -> None:
        assert shim.cuda.cuCtxSetCurrent(context) == 0
        barrier.wait()
        assert launch(shim, function[0], values=ARGUMENTS) == 0

    in_threads(work)
    assert shim.stub.stub_loads == before + 1


def test_every_thread_has_its_own_current_context(shim: SimpleNamespace) -> None:
    def work(i: int) -> None:
        mine, seen = shim.ffi.new("CUcontext *"), shim.ffi.new("CUcontext *")
        for _ in range(ROUNDS):
            assert shim.cuda.cuCtxCreate_v2(mine, 0, 0) == 0
            assert shim.cuda.cuCtxGetCurrent(seen) == 0 and seen[0] == mine[0]
            assert shim.cuda.cuCtxDestroy_v2(mine[0]) == 0
            assert shim.cuda.cuCtxGetCurrent(seen) == 0 and seen[0] == shim.ffi.NULL

    in_threads(work)


def test_what_one_thread_ends_another_may_use(shim: SimpleNamespace) -> None:
    """Streams, events and contexts that are destroyed by two threads at once, and while others use them: every call
    answers success or what the manual says of an object that is gone."""
    ffi, cuda = shim.ffi, shim.cuda
    gone = {0, 201, 400, 600, 709, 801}  # 600: not done yet; 801: what the stub of HIP lacks
    barrier = threading.Barrier(THREADS)
    shared: dict[str, object] = {}
    wrong: list[int] = []

    def work(i: int) -> None:
        for _ in range(ROUNDS):
            if i == 0:
                made = ffi.new("CUcontext *"), ffi.new("CUstream *"), ffi.new("CUevent *")
                assert cuda.cuCtxCreate_v2(made[0], 0, 0) == 0
                assert cuda.cuStreamCreate(made[1], 1) == cuda.cuEventCreate(made[2], 0) == 0
                assert cuda.cuCtxPopCurrent_v2(ffi.NULL) == 0
                shared.update(context=made[0][0], stream=made[1][0], event=made[2][0])
            barrier.wait()
            context, stream, event = shared["context"], shared["stream"], shared["event"]
            answers = [cuda.cuCtxSetCurrent(context), cuda.cuEventRecord(event, stream), cuda.cuStreamQuery(stream)]
            if i % 4 == 1:
                answers += [cuda.cuStreamDestroy_v2(stream), cuda.cuEventDestroy_v2(event)]
            answers += [cuda.cuStreamSynchronize(stream), cuda.cuEventQuery(event)]
            if i % 4 == 2:
                answers.append(cuda.cuCtxDestroy_v2(context))
            answers += [cuda.cuEventRecord(event, stream), cuda.cuCtxSynchronize()]
            cuda.cuCtxSetCurrent(ffi.NULL)
            wrong.extend(set(answers) - gone)
            barrier.wait()

    in_threads(work)
    assert wrong == []
