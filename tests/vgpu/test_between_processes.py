"""Memory, events, objects and pools of the software GPU that another process opens."""

from __future__ import annotations

import socket
import subprocess
import sys

import pytest

from ptx2amd import native

SIDES = r"""
import os, socket, sys, array
from cffi import FFI
ffi = FFI()
ffi.cdef('''
typedef struct { char b[64]; } handle;
typedef struct { unsigned type, handle_type, where, id; void *w; unsigned long long f; } prop;
typedef struct { unsigned type, handle_types, where, id; void *w; size_t most; char rest[56]; } pool_prop;
typedef struct { unsigned where, id, flags; } access;
int hipInit(unsigned); int hipDeviceSynchronize(void);
int hipMalloc(uint64_t *, size_t); int hipFree(uint64_t);
int hipMemcpy(uint64_t, void *, size_t, int); int hipMemcpyDtoH(void *, uint64_t, size_t);
int hipIpcGetMemHandle(handle *, uint64_t); int hipIpcOpenMemHandle(uint64_t *, handle, unsigned);
int hipIpcCloseMemHandle(uint64_t);
int hipEventCreateWithFlags(void **, unsigned); int hipEventRecord(void *, void *); int hipEventQuery(void *);
int hipEventSynchronize(void *); int hipStreamWaitEvent(void *, void *, unsigned); int hipEventDestroy(void *);
int hipIpcGetEventHandle(handle *, void *); int hipIpcOpenEventHandle(void **, handle);
int hipStreamCreateWithFlags(void **, unsigned); int hipStreamSynchronize(void *); int hipStreamQuery(void *);
int hipStreamWaitValue32(void *, uint64_t, uint32_t, unsigned, uint32_t);
int hipMemCreate(void **, size_t, prop *, unsigned long long);
int hipMemAddressReserve(uint64_t *, size_t, size_t, uint64_t, unsigned long long);
int hipMemMap(uint64_t, size_t, size_t, void *, unsigned long long);
int hipMemSetAccess(uint64_t, size_t, access *, size_t);
int hipMemExportToShareableHandle(int *, void *, int, unsigned long long);
int hipMemImportFromShareableHandle(void **, void *, int);
int hipFreeAsync(uint64_t, void *); int hipMallocAsync(uint64_t *, size_t, void *); int hipMemPoolDestroy(void *);
int hipMemPoolCreate(void **, pool_prop *); int hipMallocFromPoolAsync(uint64_t *, size_t, void *, void *);
int hipMemPoolExportToShareableHandle(int *, void *, int, unsigned);
int hipMemPoolImportFromShareableHandle(void **, void *, int, unsigned);
int hipMemPoolExportPointer(handle *, uint64_t); int hipMemPoolImportPointer(uint64_t *, void *, handle *);
''')
hip = ffi.dlopen(sys.argv[1])
side = socket.socket(fileno=int(sys.argv[2]))
MIB2 = 2 << 20

def do(code):
    assert code == 0, code

def new(kind):
    return ffi.new(kind + ' *')

def write(at, data):
    do(hip.hipMemcpy(at, ffi.from_buffer(data), len(data), 1))

def data(at, size):
    room = ffi.new('char[]', size)
    do(hip.hipMemcpyDtoH(room, at, size))
    return bytes(ffi.buffer(room))

def send(handle, *fds):
    socket.send_fds(side, [bytes(ffi.buffer(handle)) if handle else b'-'], list(fds))

def receive(n=0):
    message, fds, _, _ = socket.recv_fds(side, 64, n)
    h = new('handle')
    ffi.buffer(h)[0:len(message)] = message
    return h, fds

def meet():
    side.sendall(b'+')
    assert side.recv(1) == b'+'

hip.hipInit(0)
at, thing, h = new('uint64_t'), new('void *'), new('handle')
"""

GIVE = {
    "memory": """
do(hip.hipMalloc(at, SIZE))
write(at[0], bytes(range(256)) * (SIZE // 256))
do(hip.hipIpcGetMemHandle(h, at[0]))
send(h)
meet()
assert data(at[0] + 8, 8) == b'from you'
do(hip.hipFree(at[0]))
""",
    "event": """
do(hip.hipEventCreateWithFlags(thing, 6))
stream = new('void *')
do(hip.hipStreamCreateWithFlags(stream, 1))
do(hip.hipMalloc(at, 4))
write(at[0], bytes(4))
do(hip.hipStreamWaitValue32(stream[0], at[0], 1, 1, 0xffffffff))
do(hip.hipEventRecord(thing[0], stream[0]))
do(hip.hipIpcGetEventHandle(h, thing[0]))
send(h)
meet()
write(at[0], bytes([1, 0, 0, 0]))
meet()
do(hip.hipEventDestroy(thing[0]))
""",
    "object": """
p = ffi.new('prop *', [1, 1, 1, 0])
do(hip.hipMemCreate(thing, MIB2, p, 0))
fd = new('int')
do(hip.hipMemExportToShareableHandle(fd, thing[0], 1, 0))
send(None, fd[0])
do(hip.hipMemAddressReserve(at, MIB2, 0, 0, 0))
do(hip.hipMemMap(at[0], MIB2, 0, thing[0], 0))
do(hip.hipMemSetAccess(at[0], MIB2, ffi.new('access *', [1, 0, 3]), 1))
write(at[0], b'from me ')
meet()
meet()
assert data(at[0] + 8, 8) == b'from you'
""",
    "pool": """
p = ffi.new('pool_prop *', [1, 1, 1, 0])
do(hip.hipMemPoolCreate(thing, p))
fd = new('int')
do(hip.hipMemPoolExportToShareableHandle(fd, thing[0], 1, 0))
do(hip.hipMallocFromPoolAsync(at, 4096, thing[0], ffi.NULL))
write(at[0], b'from me ')
do(hip.hipMemPoolExportPointer(h, at[0]))
send(h, fd[0])
meet()
assert data(at[0] + 8, 8) == b'from you'
do(hip.hipFree(at[0]))
""",
    "pools": """
p = ffi.new('pool_prop *', [1, 1, 1, 0])
for k in range(2):
    do(hip.hipMemPoolCreate(thing, p))
    fd = new('int')
    do(hip.hipMemPoolExportToShareableHandle(fd, thing[0], 1, 0))
    do(hip.hipMallocFromPoolAsync(at, 4096, thing[0], ffi.NULL))
    write(at[0], bytes([k] * 8))
    do(hip.hipMemPoolExportPointer(h, at[0]))
    send(h, fd[0])
    meet()
do(hip.hipMallocAsync(at, 4096, ffi.NULL))
assert hip.hipMemPoolExportPointer(h, at[0]) == 1   # of a pool that cannot be exported
meet()
""",
}
TAKE = {
    "memory": """
h, _ = receive()
again = new('uint64_t')
do(hip.hipIpcOpenMemHandle(at, h[0], 1))
do(hip.hipIpcOpenMemHandle(again, h[0], 1))
assert again[0] == at[0] and data(at[0], 4) == bytes(range(4))
assert hip.hipFree(at[0]) == 1
write(at[0] + 8, b'from you')
do(hip.hipIpcCloseMemHandle(at[0]))
assert data(at[0], 1) == bytes(1)  # still open
do(hip.hipIpcCloseMemHandle(at[0]))
assert hip.hipIpcCloseMemHandle(at[0]) == 1
meet()
""",
    "event": """
h, _ = receive()
do(hip.hipIpcOpenEventHandle(thing, h[0]))
stream = new('void *')
do(hip.hipStreamCreateWithFlags(stream, 1))
do(hip.hipStreamWaitEvent(stream[0], thing[0], 0))
assert hip.hipEventQuery(thing[0]) == 600 and hip.hipStreamQuery(stream[0]) == 600
meet()
do(hip.hipEventSynchronize(thing[0]))
do(hip.hipStreamSynchronize(stream[0]))
do(hip.hipEventQuery(thing[0]))
meet()
do(hip.hipEventDestroy(thing[0]))
""",
    "object": """
_, (fd,) = receive(1)
do(hip.hipMemImportFromShareableHandle(thing, ffi.cast('void *', fd), 1))
do(hip.hipMemAddressReserve(at, MIB2, 0, 0, 0))
do(hip.hipMemMap(at[0], MIB2, 0, thing[0], 0))
do(hip.hipMemSetAccess(at[0], MIB2, ffi.new('access *', [1, 0, 3]), 1))
meet()
assert data(at[0], 8) == b'from me '
write(at[0] + 8, b'from you')
meet()
""",
    "pool": """
h, (fd,) = receive(1)
do(hip.hipMemPoolImportFromShareableHandle(thing, ffi.cast('void *', fd), 1, 0))
do(hip.hipMemPoolImportPointer(at, thing[0], h))
assert data(at[0], 8) == b'from me '
write(at[0] + 8, b'from you')
do(hip.hipFreeAsync(at[0], ffi.NULL))
do(hip.hipStreamSynchronize(ffi.NULL))
assert hip.hipFreeAsync(at[0], ffi.NULL) == 1
do(hip.hipMemPoolImportPointer(at, thing[0], h))
assert data(at[0] + 8, 8) == b'from you'
do(hip.hipFree(at[0]))
assert hip.hipMallocFromPoolAsync(at, 4096, thing[0], ffi.NULL) == 1   # only who created it allocates
meet()
""",
    "pools": """
import os
read, _ = os.pipe()
assert hip.hipMemPoolImportFromShareableHandle(thing, ffi.cast('void *', read), 1, 0) == 1
pools, pointers = [], []
for k in range(2):
    h, (fd,) = receive(1)
    do(hip.hipMemPoolImportFromShareableHandle(thing, ffi.cast('void *', fd), 1, 0))
    pools.append(thing[0])
    pointers.append(h)
    meet()
for k in range(2):
    assert hip.hipMemPoolImportPointer(at, pools[1 - k], pointers[k]) == 1
    do(hip.hipMemPoolImportPointer(at, pools[k], pointers[k]))
    assert data(at[0], 8) == bytes([k] * 8)
assert hip.hipIpcCloseMemHandle(at[0]) == 1
do(hip.hipMemPoolDestroy(pools[1]))
do(hip.hipFreeAsync(at[0], ffi.NULL))
meet()
""",
}


def run_both(what: str, size: int = 4096) -> None:
    library = native.DIRECTORY / "libptx2amd_vgpu.so"
    ours, theirs = socket.socketpair()
    with ours, theirs:
        sides = []
        for script, end in ((GIVE[what], ours), (TAKE[what], theirs)):
            command = [sys.executable, "-c", f"{SIDES}\nSIZE = {size}\n{script}", str(library), str(end.fileno())]
            sides.append(subprocess.Popen(command, pass_fds=[end.fileno()], stderr=subprocess.PIPE, text=True))
        for side in sides:
            _, errors = side.communicate(timeout=60)
            assert side.returncode == 0, errors


@pytest.mark.parametrize("size", [256, 4096, 65536 + 256, 3 << 20])
def test_memory(size: int) -> None:
    """Blocks from the heap and blocks of their own; opened twice, closed twice, never freed by who opened it."""
    run_both("memory", size)


@pytest.mark.parametrize("what", ["event", "object", "pool", "pools"])
def test_events_objects_pools(what: str) -> None:
    run_both(what)
