"""Launches from kernels: what the host makes of a kernel's records, and how errors reach kernels and program."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.bad_input.test_bad_input import run
from tests.shim.hip_library import WITHOUT_WAITS, replaced

# A launch of a kernel by its address in %rd10 with %r10 blocks of %r11 threads, %r12 bytes of shared memory, in stream
# %rd11, with parameters %rd1, the log, and %r1. The error of cudaLaunchDeviceV2 is in %r13; 0 without a buffer.
LAUNCH = r"""
  { .param .b64 f; .param .align 4 .b8 g[12]; .param .align 4 .b8 b[12]; .param .b32 s; .param .b64 r;
    st.param.b64 [f], %rd10; st.param.b32 [g], %r10; st.param.b32 [g+4], 1; st.param.b32 [g+8], 1;
    st.param.b32 [b], %r11; st.param.b32 [b+4], 1; st.param.b32 [b+8], 1; st.param.b32 [s], %r12;
    call (r), __cudaCDP2GetParameterBufferV2, (f, g, b, s); ld.param.b64 %rd12, [r]; }
  mov.u32 %r13, 0; setp.eq.b64 %p1, %rd12, 0; @%p1 bra NONE;
  st.u64 [%rd12], %rd1; st.u32 [%rd12+8], %r1;
  { .param .b64 p; .param .b64 s; .param .b32 e; st.param.b64 [p], %rd12; st.param.b64 [s], %rd11;
    call (e), __cudaCDP2LaunchDeviceV2, (p, s); ld.param.b32 %r13, [e]; }
NONE:"""
ERROR = "{ .param .b32 e; call (e), __cudaCDP2%s, (); ld.param.b32 %%r14, [e]; } st.global.u32 [%%rd2+%d], %%r14;"
REGISTERS = ".reg .b64 %rd<16>; .reg .b32 %r<16>; .reg .pred %p<4>; ld.param.u64 %rd1, [log];"
KERNELS = rf"""
.extern .func (.param .b64 r) __cudaCDP2GetParameterBufferV2(.param .b64 f, .param .align 4 .b8 g[12],
  .param .align 4 .b8 b[12], .param .b32 s);
.extern .func (.param .b32 r) __cudaCDP2LaunchDeviceV2(.param .b64 p, .param .b64 s);
.extern .func (.param .b64 r) cudaGetParameterBuffer(.param .b64 a, .param .b64 n);
.extern .func (.param .b32 r) cudaLaunchDevice(.param .b64 f, .param .b64 p, .param .align 4 .b8 g[12],
  .param .align 4 .b8 b[12], .param .b32 s, .param .b64 t);
.extern .func (.param .b32 r) __cudaCDP2GetLastError();
.extern .func (.param .b32 r) __cudaCDP2PeekAtLastError();
.extern .func (.param .b32 r) cudaDeviceSynchronize();
.global .u64 kernels[3] = {{mark, deep, undefined}};
.visible .entry mark(.param .u64 log, .param .u32 what) {{ {REGISTERS}
  atom.global.add.u32 %r2, [%rd1], 1; mul.wide.u32 %rd2, %r2, 4; add.u64 %rd2, %rd2, %rd1;
  ld.param.u32 %r1, [what]; st.global.u32 [%rd2+4], %r1; ret; }}
.visible .entry undefined(.param .u64 log, .param .u32 what) {{
  .param .b32 r; call (r), cudaDeviceSynchronize, (); ret; }}
.visible .entry deep(.param .u64 log, .param .u32 level) {{ {REGISTERS}
  ld.param.u32 %r1, [level]; mul.wide.u32 %rd2, %r1, 4; add.u64 %rd2, %rd2, %rd1; add.u32 %r1, %r1, 1;
  mov.u64 %rd10, deep; mov.u32 %r10, 1; mov.u32 %r11, 1; mov.u32 %r12, 0; mov.u64 %rd11, 0;
  {LAUNCH} add.u32 %r13, %r13, 1000; st.global.u32 [%rd2], %r13; ret; }}
.visible .entry forever(.param .u64 log, .param .u32 level) {{ {REGISTERS}
  mov.u64 %rd10, forever; mov.u32 %r10, 1; mov.u32 %r11, 1; mov.u32 %r12, 0; mov.u64 %rd11, 3; mov.u32 %r1, 0;
  {LAUNCH} ret; }}
.visible .entry parent(.param .u64 log, .param .u64 errors, .param .u64 kernel, .param .u32 blocks, .param .u32 threads,
  .param .u32 shared, .param .u64 stream, .param .u32 times) {{ {REGISTERS}
  ld.param.u64 %rd2, [errors]; ld.param.u64 %rd10, [kernel]; ld.param.u32 %r10, [blocks];
  ld.param.u32 %r11, [threads]; ld.param.u32 %r12, [shared]; ld.param.u64 %rd11, [stream]; ld.param.u32 %r2, [times];
  setp.ge.u64 %p2, %rd10, 3; @%p2 bra GIVEN;
  mul.lo.u64 %rd10, %rd10, 8; mov.u64 %rd3, kernels; add.u64 %rd3, %rd3, %rd10; ld.global.u64 %rd10, [%rd3];
GIVEN: mov.u32 %r1, 0;
AGAIN: {LAUNCH} add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, %r2; @%p1 bra AGAIN;
  {ERROR % ("PeekAtLastError", 0)} {ERROR % ("GetLastError", 4)} {ERROR % ("GetLastError", 8)}
  st.global.u32 [%rd2+12], %r13; ret; }}
.visible .entry plain(.param .u64 log, .param .u64 bytes) {{ {REGISTERS}
  ld.param.u64 %rd3, [bytes]; mov.u64 %rd4, mark;
  {{ .param .b64 a; .param .b64 n; .param .b64 r; st.param.b64 [a], 8; st.param.b64 [n], %rd3;
    call (r), cudaGetParameterBuffer, (a, n); ld.param.b64 %rd5, [r]; }}
  st.u64 [%rd5], %rd1; st.u32 [%rd5+8], 77;
  {{ .param .b64 f; .param .b64 p; .param .align 4 .b8 g[12]; .param .align 4 .b8 b[12]; .param .b32 s; .param .b64 t;
    .param .b32 e; st.param.b64 [f], %rd4; st.param.b64 [p], %rd5; st.param.b32 [g], 3; st.param.b32 [g+4], 1;
    st.param.b32 [g+8], 1; st.param.b32 [b], 2; st.param.b32 [b+4], 1; st.param.b32 [b+8], 1; st.param.b32 [s], 0;
    st.param.b64 [t], 0; call (e), cudaLaunchDevice, (f, p, g, b, s, t); ld.param.b32 %r1, [e]; }}
  st.global.u32 [%rd1+4], %r1; ret; }}
"""
WORLD = f"""
KERNELS = HEAD + b'''{KERNELS}''' + bytes(1)
MARK, DEEP, UNDEFINED = 0, 1, 2
cu = Driver().start()
module = cu.load(KERNELS)
log, errors = cu.alloc(1 << 20), cu.alloc(64)
parent = cu.function(module, "parent")

def fresh(): cu.cuMemsetD8_v2(log, 0, c.c_size_t(1 << 20))
def marks(n): return list(struct.unpack(f"<{{n}}I", cu.read(c.c_uint64(log.value + 4), 4 * n)))
def count(): return struct.unpack("<I", cu.read(log, 4))[0]
def parented(kernel=MARK, blocks=1, threads=1, shared=0, stream=0, times=1, width=1):
    fresh()
    numbers = c.c_uint64(kernel), c.c_uint32(blocks), c.c_uint32(threads), c.c_uint32(shared), c.c_uint64(stream)
    assert cu.launch(parent, 1, width, 0, log, errors, *numbers, c.c_uint32(times)) == "CUDA_SUCCESS"
    return struct.unpack("<4I", cu.read(errors, 16))
"""

ERRORS = """
assert parented(blocks=3, threads=2, times=2) == (0, 0, 0, 0) and sorted(marks(12)) == [0] * 6 + [1] * 6
assert parented(times=5) == (0, 0, 0, 0) and marks(5) == [0, 1, 2, 3, 4]
CONFIGURATION, VALUE, FUNCTION, HANDLE, RESOURCES = 9, 1, 98, 400, 701
assert parented(blocks=0) == (CONFIGURATION, CONFIGURATION, 0, 0) and count() == 0
assert parented(threads=1025) == (CONFIGURATION, CONFIGURATION, 0, 0)
assert parented(shared=300000) == (VALUE, VALUE, 0, 0)
for stream in (5, 16, 1 << 56):
    assert parented(stream=stream) == (HANDLE, HANDLE, 0, HANDLE) and count() == 0
assert cu.error("cuCtxSynchronize") == "CUDA_SUCCESS"
# Of a limit of 4 launches that are pending, eight times as many are taken, as none begins before the kernel ends.
cu.cuCtxSetLimit(4, c.c_size_t(4))
assert parented(times=32) == (0, 0, 0, 0) and count() == 32
assert parented(times=33) == (RESOURCES, RESOURCES, 0, 0) and count() == 32
cu.cuCtxSetLimit(4, c.c_size_t(2048))
# Each thread has an error of its own.
assert parented(blocks=0, width=64) == (CONFIGURATION, CONFIGURATION, 0, 0)
print("errors")
"""

DEPTH = """
fresh()
deep = cu.function(module, "deep")
assert cu.launch(deep, 1, 1, 0, log, c.c_uint32(0)) == "CUDA_SUCCESS"
cu.cuCtxSynchronize()
assert struct.unpack("<26I", cu.read(log, 104)) == (*[1000] * 24, 1065, 0)
fresh()
plain = cu.function(module, "plain")
assert cu.launch(plain, 1, 1, 0, log, c.c_uint64(12)) == "CUDA_SUCCESS"
assert count() == 6 and marks(6) == [77] * 6
fresh()
assert cu.launch(plain, 1, 1, 0, log, c.c_uint64(8)) == "CUDA_SUCCESS"
assert count() == 0 and marks(1) == [1]  # the buffer was too small for these parameters
print("depth")
"""

# More launches than may be under way, in a stream; the default stream waits for what its kernels launch as well.
STREAMS = """
stream = c.c_void_p()
cu.cuStreamCreate(c.byref(stream), 1)
fresh()
arguments = (log, errors, c.c_uint64(MARK), c.c_uint32(1), c.c_uint32(1), c.c_uint32(0), c.c_uint64(0), c.c_uint32(3))
pointers = (c.c_void_p * len(arguments))(*(c.cast(c.byref(a), c.c_void_p) for a in arguments))
for _ in range(50):
    cu.cuLaunchKernel(parent, 1, 1, 1, 1, 1, 1, 0, stream, pointers, None)
cu.cuStreamSynchronize(stream)
assert count() == 150 and marks(150) == [0, 1, 2] * 50

# Threads with streams of their own, which are destroyed before the work is done.
import threading
found = []
def alone():
    cu.start()
    own, mine = c.c_void_p(), cu.alloc(4096)
    cu.cuMemsetD8_v2(mine, 0, c.c_size_t(4096))
    cu.cuCtxSynchronize()
    cu.cuStreamCreate(c.byref(own), 1)
    values = (mine, cu.alloc(64), *arguments[2:])
    places = (c.c_void_p * len(values))(*(c.cast(c.byref(a), c.c_void_p) for a in values))
    for _ in range(20):
        cu.cuLaunchKernel(parent, 1, 1, 1, 1, 1, 1, 0, own, places, None)
    cu.cuStreamDestroy_v2(own)
    cu.cuCtxSynchronize()
    found.append(struct.unpack("<61I", cu.read(mine, 244)))
threads = [threading.Thread(target=alone) for _ in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
assert found == [(60, *[0, 1, 2] * 20)] * 4
print("streams")
"""

REFUSED = """
stream, graph = c.c_void_p(), c.c_void_p()
cu.cuStreamCreate(c.byref(stream), 1)
arguments = (log, errors, c.c_uint64(MARK), c.c_uint32(1), c.c_uint32(1), c.c_uint32(0), c.c_uint64(0), c.c_uint32(3))
pointers = (c.c_void_p * len(arguments))(*(c.cast(c.byref(a), c.c_void_p) for a in arguments))
cu.cuStreamBeginCapture_v2(stream, 0)
assert cu.error("cuLaunchKernel", parent, 1, 1, 1, 1, 1, 1, 0, stream, pointers, None) == "CUDA_ERROR_NOT_SUPPORTED"
cu.cuStreamEndCapture(stream, c.byref(graph))
node = c.c_void_p()
params = struct.pack("<Q6II4xQQQQ", parent.value, 1, 1, 1, 1, 1, 1, 0, c.addressof(pointers), 0, 0, 0)
added = cu.error("cuGraphAddKernelNode_v2", c.byref(node), graph, None, c.c_size_t(0), params)
assert added == "CUDA_ERROR_NOT_SUPPORTED"
assert parented() == (0, 0, 0, 0) and marks(1) == [0]
print("refused")
"""

# What cannot be launched after all: all calls of the program say so, until the context is reset.
FAILURES = """
def sizes(shared): return c.c_uint32(1), c.c_uint32(1), c.c_uint32(shared), c.c_uint64(0), c.c_uint32(1)
for kernel, shared in ((UNDEFINED, 0), (MARK, 60000), (None, 0)):
    fresh()
    cu.cuMemsetD32_v2(log, 1024, c.c_size_t(2))  # where there is no kernel, facts that could be one's
    numbers = c.c_uint64(log.value if kernel is None else kernel), *sizes(shared)
    begun = cu.launch(parent, 1, 1, 0, log, errors, *numbers)
    assert begun in ("CUDA_SUCCESS", "CUDA_ERROR_LAUNCH_FAILED")  # it may be over by then
    assert cu.error("cuCtxSynchronize") == cu.error("cuStreamSynchronize", None) == "CUDA_ERROR_LAUNCH_FAILED"
    assert cu.error("cuMemcpyDtoH_v2", c.create_string_buffer(4), log, c.c_size_t(4)) == "CUDA_ERROR_LAUNCH_FAILED"
    cu.cuDevicePrimaryCtxReset_v2(0)
    cu.start()
    module = cu.load(KERNELS)
    parent = cu.function(module, "parent")
    log, errors = cu.alloc(1 << 20), cu.alloc(64)
    assert parented() == (0, 0, 0, 0) and marks(1) == [0]
print("failures")
"""

FOREVER = """
assert cu.launch(cu.function(module, "forever"), 1, 1, 0, log, c.c_uint32(0)) == "CUDA_SUCCESS"
print("leaves")
"""


@pytest.mark.parametrize("arch", ["gfx942", "gfx1100"])
def test_kernels_are_told_of_errors(tmp_path: Path, arch: str) -> None:
    done = run(WORLD + ERRORS + DEPTH, tmp_path, f"vgpu:{arch}")
    assert done.returncode == 0 and "depth" in done.stdout and not done.stderr, done.stdout + done.stderr


def test_launches_in_streams(tmp_path: Path) -> None:
    done = run(WORLD + STREAMS, tmp_path)
    assert done.returncode == 0 and "streams" in done.stdout, done.stdout + done.stderr


def test_streams_that_cannot_wait_for_values(tmp_path: Path) -> None:
    library = replaced(tmp_path, WITHOUT_WAITS)
    done = run(WORLD + STREAMS, tmp_path, PTX2AMD_HIP_LIBRARY=str(library))
    assert done.returncode == 0 and "streams" in done.stdout, done.stdout + done.stderr


def test_captures_and_graphs_are_refused(tmp_path: Path) -> None:
    done = run(WORLD + REFUSED, tmp_path)
    assert done.returncode == 0 and "refused" in done.stdout, done.stdout + done.stderr
    for where in ("a capture", "graphs"):
        assert f"kernel parent launches kernels, which is not supported in {where}" in done.stderr


def test_what_cannot_be_launched_fails_at_synchronisation(tmp_path: Path) -> None:
    done = run(WORLD + FAILURES, tmp_path)
    assert done.returncode == 0 and "failures" in done.stdout, done.stdout + done.stderr
    assert "kernel undefined cannot run" in done.stderr and "cudaDeviceSynchronize" in done.stderr
    assert "kernel mark, launched by a kernel with 1 x 1 x 1 blocks of 1 x 1 x 1 threads and 60000 bytes" in done.stderr
    assert "which is not a kernel" in done.stderr


def test_the_process_may_end_while_kernels_launch_kernels(tmp_path: Path) -> None:
    done = run(WORLD + FOREVER, tmp_path)
    assert done.returncode == 0 and done.stdout == "leaves\n" and not done.stderr, done.stdout + done.stderr
