"""Events between processes: the device says that it has them, and what an event without a handle gives."""

from __future__ import annotations

from pathlib import Path

from tests.bad_input.test_bad_input import run

HANDLES = """
cu = Driver().start()
IPC_EVENT_SUPPORTED, NO_TIMING, INTERPROCESS = 125, 2, 4
answer = c.c_int()
cu.cuDeviceGetAttribute(c.byref(answer), IPC_EVENT_SUPPORTED, 0)
assert answer.value == 1
shared, own, handle = c.c_void_p(), c.c_void_p(), c.create_string_buffer(b"x" * 64, 64)
cu.cuEventCreate(c.byref(shared), NO_TIMING | INTERPROCESS)
cu.cuEventCreate(c.byref(own), 0)
cu.cuIpcGetEventHandle(handle, shared)
assert any(handle.raw)
assert cu.error("cuIpcGetEventHandle", handle, own) == "CUDA_ERROR_INVALID_HANDLE" and not any(handle.raw)
print("handles")
"""


def test_handles(tmp_path: Path) -> None:
    done = run(HANDLES, tmp_path)
    assert done.returncode == 0 and "handles" in done.stdout, done.stdout + done.stderr
