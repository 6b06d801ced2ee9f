"""The translation service: answers over its socket, survives bad requests and dying workers, ends when idle."""

from __future__ import annotations

import os
import signal
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from ptx2amd.service import entry
from ptx2amd.service.entry import Entry
from ptx2amd.service.protocol import Message, receive

PTX = b""".version 8.0
.target sm_80
.address_size 64
.visible .global .u32 counter = 7;
.visible .entry k(.param .u64 out, .param .u8 small)
{
  .reg .b64 %rd<2>;
  .reg .b32 %r<2>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x;
  st.global.u32 [%rd1], %r1;
  ret;
}
.visible .entry bad() { tcgen05.fence::before_thread_sync; ret; }
"""


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A service of our own in its own folders; the path of its socket."""
    folder = tmp_path_factory.mktemp("service")
    folder.chmod(0o700)
    environment = {**os.environ, "PTX2AMD_RUNTIME_DIR": str(folder), "PTX2AMD_SERVICE_IDLE": "60"}
    process = subprocess.Popen([sys.executable, "-m", "ptx2amd.service"], env=environment)
    try:
        yield _socket(folder, process)
    finally:
        process.terminate()
        process.wait(10)


def _socket(folder: Path, process: subprocess.Popen, seconds: float = 60) -> Path:
    """The service's socket, once it listens."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        assert process.poll() is None, "the service ended at start-up"
        for path in folder.glob("service-*.sock"):
            with socket.socket(socket.AF_UNIX) as probe:
                try:
                    probe.connect(str(path))
                    return path
                except OSError:
                    pass  # bound, but not listening yet
        time.sleep(0.05)
    raise AssertionError("the service did not come up")


def ask(path: Path, header: dict[str, str], body: bytes = PTX) -> Message:
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(60)
        connection.connect(str(path))
        connection.sendall(Message(header, body).pack())
        return receive(connection)


def request(tmp_path: Path, **fields: str) -> dict[str, str]:
    return {
        "op": "index",
        "module": entry.module_id(PTX),
        "encoding": "none",
        "size": "0",
        "cache": str(tmp_path),
        "name": "t.ptx",
        **fields,
    }


def test_index_lists_kernels_parameters_and_globals(service: Path, tmp_path: Path) -> None:
    reply = ask(service, request(tmp_path))
    assert reply.header["status"] == "ok", reply.body
    found = Entry.unpack(reply.body, "index")
    lines = found.text.splitlines()
    assert "kernel k" in lines and "param 0 8 8" in lines and "param 8 1 1" in lines
    assert "kernel bad" in lines
    assert any(line.startswith("variable counter 0 4 global") for line in lines)
    assert found.payload[:4] == b"\x07\0\0\0"


def test_kernel_gives_a_code_object(service: Path, tmp_path: Path) -> None:
    reply = ask(service, request(tmp_path, op="kernel", arch="gfx942", kernel="k"))
    assert reply.header["status"] == "ok", reply.body
    found = Entry.unpack(reply.body, "kernel")
    fields = dict(line.split(" ", 1) for line in found.text.splitlines())
    assert (fields["name"], fields["mapping"], fields["wave"]) == ("k", "paired", "64")
    assert found.payload[:4] == b"\x7fELF"


def test_the_refused_kernel_says_why_and_the_other_still_works(service: Path, tmp_path: Path) -> None:
    reply = ask(service, request(tmp_path, op="kernel", arch="gfx1100", kernel="bad"))
    assert reply.header["status"] == "error"
    assert b"tcgen05" in reply.body and b"bad" in reply.body
    assert ask(service, request(tmp_path, op="kernel", arch="gfx1100", kernel="k")).header["status"] == "ok"


@pytest.mark.parametrize(
    ("change", "body", "code"),
    [
        ({}, b".version 8.0\n.target sm_80\n.address_size 64\n.entry k( { ret; }", "CUDA_ERROR_INVALID_PTX"),
        ({"op": "kernel", "arch": "gfx000", "kernel": "k"}, PTX, "CUDA_ERROR_NO_BINARY_FOR_GPU"),
        ({"encoding": "zstd", "size": "100"}, PTX, "CUDA_ERROR_INVALID_IMAGE"),
        ({"module": "00"}, PTX, "CUDA_ERROR_INVALID_IMAGE"),
    ],
)
def test_failures_have_the_documented_code(
    service: Path, tmp_path: Path, change: dict[str, str], body: bytes, code: str
) -> None:
    reply = ask(service, request(tmp_path, module=entry.module_id(body)) | change, body)
    assert (reply.header["status"], reply.header["code"]) == ("error", code)
    assert reply.body


def test_nonsense_and_silence_do_not_hurt_it(service: Path, tmp_path: Path) -> None:
    for nonsense in (b"", b"GET / HTTP/1.0\r\n\r\n", b"\xff" * 64):
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(str(service))
            connection.sendall(nonsense)
    assert ask(service, request(tmp_path)).header["status"] == "ok"


def _server(path: Path) -> int:
    """The process of the service that listens at `path`, once it has no worker (asking takes one)."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(str(path))
        [server, _, _] = struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
    while _workers(server):
        time.sleep(0.01)
    return int(server)


def _workers(server: int) -> set[int]:
    """The processes that the service has started and that work."""
    children = Path(f"/proc/{server}/task/{server}/children").read_text().split()
    return {int(pid) for pid in children if _name(pid) not in ("", "ptx2amd idle")}


def _name(pid: str) -> str:
    """The name of a process; "" if it has ended."""
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""


def long_kernel(steps: int) -> bytes:
    """A kernel that takes a while: about a second of LLVM's time for 10,000 steps."""
    text = "".join(f"fma.rn.f32 %f{i % 7}, %f{i % 5}, %f{i % 3}, %f{i % 11};\n" for i in range(steps))
    return (
        ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry long(.param .u64 p) {\n"
        f".reg .f32 %f<11>; .reg .u64 %p; ld.param.u64 %p, [p]; ld.global.f32 %f0, [%p];\n{text}"
        "st.global.f32 [%p], %f1; ret; }\n"
    ).encode()


def test_a_client_that_leaves_ends_its_translation(service: Path, tmp_path: Path) -> None:
    text = long_kernel(60000)
    header = request(tmp_path, op="kernel", arch="gfx942", kernel="long", module=entry.module_id(text))
    server = _server(service)
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(str(service))
        connection.sendall(Message(header, text).pack())
        time.sleep(1)
        before = _workers(server)
        assert before, "the translation has ended already"
    end = time.monotonic() + 4
    while (left := before & _workers(server)) and time.monotonic() < end:
        time.sleep(0.1)
    assert not left


@pytest.mark.parametrize("crashes", [1, 2])
def test_the_request_of_a_worker_that_crashed_is_tried_once_more(service: Path, tmp_path: Path, crashes: int) -> None:
    text = long_kernel(20000 * crashes)
    header = request(tmp_path, op="kernel", arch="gfx942", kernel="long", module=entry.module_id(text))
    server = _server(service)
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(100)
        connection.connect(str(service))
        connection.sendall(Message(header, text).pack())
        killed: set[int] = set()
        while len(killed) < crashes:
            time.sleep(0.5)  # the request has been read by then
            alive = _workers(server) - killed
            assert alive, "the translation has ended already"
            [worker] = alive
            os.kill(worker, signal.SIGABRT)
            killed.add(worker)
        reply = receive(connection)
    assert reply.header["status"] == ("ok" if crashes == 1 else "error"), reply.body
    assert crashes == 1 or b"signal 6" in reply.body


def test_a_worker_that_llvm_ended_gets_a_successor_that_says_why(service: Path, tmp_path: Path) -> None:
    """LLVM ends the process over a stack that registers make too large, with an exit status."""
    loads = "".join(f"ld.volatile.global.u64 x{i}, [a+{8 * i}];\n" for i in range(300))
    stores = "".join(f"st.volatile.global.u64 [a+{8 * i}], x{i};\n" for i in range(300))
    text = f""".version 8.0\n.target sm_80\n.address_size 64
.visible .entry k(.param .u64 p) .maxntid 1024 {{ .local .align 8 .b8 s[131040]; .reg .b64 a, l, x<300>;
ld.param.u64 a, [p]; mov.u64 l, s; add.u64 l, l, a; st.local.u64 [l], a; {loads} bar.sync 0; {stores}
ld.local.u64 l, [l]; st.global.u64 [a], l; ret; }}""".encode()
    header = request(tmp_path, op="kernel", arch="gfx942", kernel="k", module=entry.module_id(text))
    reply = ask(service, header, text)
    assert reply.header["status"] == "error"
    assert b"bytes of local memory a thread (the largest array: s), where gfx942 has 131,056" in reply.body


def test_a_second_service_leaves_the_first_alone(service: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "PTX2AMD_RUNTIME_DIR": str(service.parent), "PTX2AMD_SERVICE_IDLE": "1"}
    assert subprocess.run([sys.executable, "-m", "ptx2amd.service"], env=environment, timeout=60).returncode == 0
    assert ask(service, request(tmp_path)).header["status"] == "ok"


def test_the_folders_of_who_started_it_may_go(tmp_path: Path) -> None:
    """A batch job's TMPDIR and working folder are removed when the job ends; the service serves the next one."""
    tmp_path.chmod(0o700)
    job = tmp_path / "job"
    job.mkdir()
    environment = {**os.environ, "PTX2AMD_RUNTIME_DIR": str(tmp_path), "PTX2AMD_SERVICE_IDLE": "20", "TMPDIR": str(job)}
    process = subprocess.Popen([sys.executable, "-m", "ptx2amd.service"], env=environment, cwd=job)
    try:
        path = _socket(tmp_path, process)
        job.rmdir()
        reply = ask(path, request(tmp_path, op="kernel", arch="gfx942", kernel="k"))
        assert reply.header["status"] == "ok", reply.body
    finally:
        process.kill()
        process.wait()


def test_it_ends_when_idle(tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    environment = {**os.environ, "PTX2AMD_RUNTIME_DIR": str(tmp_path), "PTX2AMD_SERVICE_IDLE": "0.5"}
    process = subprocess.Popen([sys.executable, "-m", "ptx2amd.service"], env=environment)
    assert process.wait(60) == 0
    assert not list(tmp_path.glob("*.sock"))


def test_a_folder_open_to_others_is_refused(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    environment = {**os.environ, "PTX2AMD_RUNTIME_DIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-m", "ptx2amd.service"], env=environment, capture_output=True, text=True, timeout=60
    )
    assert done.returncode != 0 and "(mode 755)" in done.stderr and "PTX2AMD_RUNTIME_DIR" in done.stderr
