"""Locks and checkpoints of processes: of this one and of another one, what waits meanwhile, and what is refused."""

from __future__ import annotations

from pathlib import Path

from tests.bad_input.test_bad_input import run

#: Fills memory and says how often; with a line "wait N" a fill in between waits until word 2 is N, "set N" sets it.
WORKER = """
import os, select, threading
cu = Driver().start()
memory = cu.alloc(64)
cu.cuMemsetD32_v2(memory, 0, c.c_size_t(16))
stream = c.c_void_p()
cu.cuStreamCreate(c.byref(stream), 1)
word = c.c_uint64(memory.value + 8)
file = os.open(WHERE, os.O_WRONLY)
print("ready", flush=True)
for count in range(1, 1 << 30):
    while select.select([sys.stdin], [], [], 0)[0]:
        order = sys.stdin.readline().split()
        if not order:
            os._exit(0)
        if order[0] == "wait": cu.cuStreamWaitValue32_v2(stream, word, int(order[1]), 0)
        if order[0] == "set": cu.cuMemsetD32_v2(word, int(order[1]), c.c_size_t(1))
        print(order[0], flush=True)
    cu.cuMemsetD32_v2(memory, count, c.c_size_t(1))
    assert struct.unpack("<I", cu.read(memory, 4)) == (count,)
    os.pwrite(file, struct.pack("<I", count), 0)
"""

CODE = """
import os, subprocess, time
RUNNING, LOCKED, CHECKPOINTED = range(3)
OK, STATE, WRONG = "CUDA_SUCCESS", "CUDA_ERROR_ILLEGAL_STATE", "CUDA_ERROR_INVALID_VALUE"
cu = Driver()                                   # not initialised: nothing here needs a device
PIPE = subprocess.PIPE
worker = subprocess.Popen([sys.executable, sys.argv[0], WORKER], stdin=PIPE, stdout=PIPE, text=True)
assert worker.stdout.readline() == "ready\\n"

def tell(order):
    worker.stdin.write(order + "\\n")
    worker.stdin.flush()
    assert worker.stdout.readline().split() == order.split()[:1]

def state(pid=worker.pid):
    found = c.c_int(-1)
    assert cu.error("cuCheckpointProcessGetState", pid, c.byref(found)) == OK
    return found.value

def call(name, pid=worker.pid, args=None): return cu.error("cuCheckpointProcess" + name, pid, args)

def count():
    with open(WHERE, "rb") as file: return struct.unpack("<I", file.read(4))[0]

def goes_on():
    before, end = count(), time.monotonic() + 20
    while count() <= before and time.monotonic() < end: time.sleep(0.01)
    return count() > before

thread = c.c_int()
assert cu.error("cuCheckpointProcessGetRestoreThreadId", worker.pid, c.byref(thread)) == OK
assert os.path.isdir(f"/proc/{worker.pid}/task/{thread.value}") and thread.value != worker.pid
assert state() == RUNNING and goes_on()
for name in ("Unlock", "Checkpoint", "Restore"): assert call(name) == STATE
assert call("Lock") == OK and state() == LOCKED
time.sleep(0.1)                                 # the count of a call that was done is written
stood = count()
time.sleep(0.4)
assert count() == stood, "calls of a locked process wait"
assert call("Lock") == STATE and call("Restore") == STATE
assert call("Checkpoint") == OK and state() == CHECKPOINTED
for name in ("Unlock", "Checkpoint", "Lock"): assert call(name) == STATE
nobody = c.create_string_buffer(32)
assert call("Restore", args=struct.pack("<QII48x", c.addressof(nobody), 1, 0)) == WRONG   # a device that is not there
assert call("Restore") == OK and state() == LOCKED and count() == stood
assert call("Unlock") == OK and state() == RUNNING and goes_on()

# with work that does not end: the timeout is kept, and the process goes on
tell("wait 5")
begin = time.monotonic()
assert call("Lock", args=struct.pack("<I60x", 300)) == "CUDA_ERROR_NOT_READY"
assert 0.29 < time.monotonic() - begin < 10 and state() == RUNNING and goes_on()
tell("set 5")
assert call("Lock", args=struct.pack("<I60x", 20000)) == OK and state() == LOCKED
assert call("Unlock") == OK

# what is wrong: reserved bytes, numbers of no process, of one without the driver, of one that has ended
assert call("Lock", args=struct.pack("<II56x", 0, 1)) == call("Unlock", args=b"\\1" + bytes(63)) == WRONG
assert call("Lock", 0) == call("Lock", -5) == WRONG
stranger = subprocess.Popen(["cat"], stdin=PIPE)
assert call("Lock", stranger.pid) == "CUDA_ERROR_NOT_INITIALIZED"
storage = struct.pack("<Q56x", c.addressof(nobody))
assert call("Checkpoint", args=storage) == "CUDA_ERROR_NOT_SUPPORTED"
worker.stdin.close()
worker.wait()
assert call("Lock") == WRONG

# this process
assert call("Lock", os.getpid()) == "CUDA_ERROR_NOT_INITIALIZED"
cu.start()
memory = cu.alloc(64)
cu.cuMemsetD32Async(memory, 7, c.c_size_t(16), None)
assert call("Lock", os.getpid()) == OK and call("Checkpoint", os.getpid()) == OK
version = c.c_int()
cu.cuDriverGetVersion(c.byref(version))         # touches no device
uuid = c.create_string_buffer(32)
import threading
asked = threading.Thread(target=lambda: cu.cuDeviceGetUuid_v2(uuid, 0))
asked.start()
asked.join(0.3)
assert asked.is_alive()
assert call("Restore", os.getpid()) == OK and call("Unlock", os.getpid()) == OK
asked.join()
assert call("Lock", os.getpid()) == OK and call("Checkpoint", os.getpid()) == OK
pair = c.create_string_buffer(uuid.raw[:16] * 2)
assert call("Restore", os.getpid(), struct.pack("<QII48x", c.addressof(pair), 1, 0)) == OK
assert call("Unlock", os.getpid()) == OK
assert struct.unpack("<16I", cu.read(memory, 64)) == (7,) * 16
print("checkpointed")
"""


def test_a_process_and_another(tmp_path: Path) -> None:
    worker = tmp_path / "worker.py"
    where = f"WHERE = {str(tmp_path / 'count')!r}\n"
    worker.write_text(where + WORKER)
    (tmp_path / "count").write_bytes(bytes(4))
    done = run(f"WORKER = {str(worker)!r}\n{where}{CODE}", tmp_path)
    assert done.returncode == 0 and "checkpointed" in done.stdout, done.stdout + done.stderr
