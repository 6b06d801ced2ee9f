"""Translation of single kernels, as at a program's first run: CPU time against `ptxas -O3`, and what starting costs.

Kernels are those of bench/quality, each as a module of its own, in a worker of the service that has served another
request; ptxas has a process for each. Goals: 1.5 times ptxas in the median kernel, 120 ms for a new process with an
empty kernel, 250 ms for the service's first answer."""

from __future__ import annotations

import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench.quality import build
from bench.translate import ARCHS, cpu_seconds, in_child, ptxas
from ptx2amd.ptx.outline import part
from ptx2amd.ptx.scan import Piece
from ptx2amd.service import entry, place, translation
from ptx2amd.service.build_id import build_id
from ptx2amd.service.protocol import Message
from ptx2amd.translate import module_outline, parse

HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"
EMPTY = f"{HEAD}.visible .entry empty() {{ ret; }}\n"
STEP = 4  # each so many of the benchmark's kernels
ROUNDS = 2
LATER = 10  # requests


def modules(text: str) -> dict[str, str]:
    """Kernel -> a module with what it needs alone."""
    module = parse(text)
    outline = module_outline(text, module)
    kernels = [name for name, function in module.functions.items() if function.kind == "entry"]
    found = {name: part(text, outline, "m", name) or [] for name in kernels[::STEP]}
    return {name: "".join(map(_text, pieces)) for name, pieces in found.items()}


def _text(piece: Piece) -> str:
    declared = ";" if piece.kind == "function" and not piece.body else ""
    return f"{piece.text}{piece.body}{declared}\n"


def worker(before: str, kernel: str, found: dict[str, str], arch: str) -> float:
    """CPU seconds that a worker of the service takes for a request. before: the kernel of the request that it has
    served before; "" for a new worker."""

    def serve(name: str) -> bool:
        body = found[name].encode()
        header = {"op": "kernel", "module": entry.module_id(body), "encoding": "none", "arch": arch, "kernel": name}
        answer = translation.answer(Message({**header, "size": str(len(body))}, body), "bench")
        return answer.header["status"] == "ok"

    def work() -> dict[str, float]:
        good = not before or serve(before)
        begin = cpu_seconds()
        good = serve(kernel) and good
        return {"seconds": cpu_seconds() - begin, "good": good}

    taken = [in_child(work) for _ in range(ROUNDS)]
    assert all(one["good"] for one in taken), kernel
    return min(one["seconds"] for one in taken)


def against_ptxas() -> None:
    translation.warm_up()
    for _ in translation.preparations():
        pass
    found = modules(build.ptx())
    with tempfile.TemporaryDirectory() as folder:
        path, theirs = Path(folder, "kernel.ptx"), {}
        for name, text in found.items():
            path.write_text(text)
            theirs[name] = min(ptxas(path) for _ in range(ROUNDS))
    names = list(found)
    for arch in ARCHS:
        pairs = list(zip([names[-1], *names], names, strict=False))
        ours = {name: worker(before, name, found, arch) for before, name in pairs}
        new = statistics.median(worker("", name, found, arch) for name in names)
        ratios = [ours[name] / theirs[name] for name in found]
        print(
            f"{arch}: {len(found)} kernels, median {statistics.median(ratios):.2f} x ptxas (goal 1.5), "
            f"{statistics.median(ours.values()) * 1e3:.0f} ms ({statistics.median(theirs.values()) * 1e3:.0f}), "
            f"in a new worker {new * 1e3:.0f}, "
            f"sum {sum(ours.values()):.2f} s ({sum(theirs.values()):.2f})",
            flush=True,
        )


def new_process(text: str) -> float:
    """CPU seconds of `ptx2amd translate` for a file."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "m.ptx").write_text(text)
        command = [sys.executable, "-m", "ptx2amd", "translate", f"{folder}/m.ptx", "-o", folder]
        taken = []
        for _ in range(2 * ROUNDS):
            begin = cpu_seconds()
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            taken.append(cpu_seconds() - begin)
    return min(taken)


def answers(text: str, kernel: str) -> tuple[float, float, float]:
    """CPU and wall seconds from the start of a service to its first answer, and wall seconds from connecting to it to a
    later answer. The cache has no part in them."""
    body = text.encode()
    header = {"op": "kernel", "module": entry.module_id(body), "encoding": "none", "arch": "gfx942", "kernel": kernel}
    request = Message({**header, "size": str(len(body)), "cache": ""}, body)
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "PTX2AMD_RUNTIME_DIR": folder}
        os.environ["PTX2AMD_RUNTIME_DIR"] = folder
        begin = time.perf_counter()
        service = subprocess.Popen([sys.executable, "-m", "ptx2amd.service"], env=environment)
        try:
            _answered(request)
            first = time.perf_counter() - begin
            cpu = _cpu_seconds(service.pid)
            _answered(request)  # while the service still prepares for others
            later = min(_answered(request) for _ in range(LATER))
        finally:
            service.terminate()
            service.wait()
            del os.environ["PTX2AMD_RUNTIME_DIR"]
    return cpu, first, later


def _answered(request: Message) -> float:
    """Seconds that a request takes."""
    begin = time.perf_counter()
    with _connected(place.socket_path(build_id())) as connection:
        connection.sendall(request.head() + request.body)
        assert connection.recv(1 << 16), "no answer"
    return time.perf_counter() - begin


def _cpu_seconds(pid: int) -> float:
    """Of a process that runs."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def _connected(path: Path) -> socket.socket:
    end = time.monotonic() + 30
    while True:
        connection = socket.socket(socket.AF_UNIX)
        try:
            with place.socket_address(path) as address:
                connection.connect(address)
            return connection
        except OSError:
            connection.close()
            if time.monotonic() > end:
                raise
            time.sleep(0.002)


def main() -> None:
    """Print a line a chip, and what starting costs."""
    print(f"new process, empty kernel: {new_process(EMPTY) * 1e3:.0f} ms of CPU time (goal 120)", flush=True)
    found = [answers(EMPTY, "empty") for _ in range(ROUNDS)]
    cpu, first, later = (min(column) * 1e3 for column in zip(*found, strict=True))
    print(
        f"the service's first answer: {cpu:.0f} ms of CPU time, {first:.0f} ms (goal 250); later ones {later:.0f} ms",
        flush=True,
    )
    against_ptxas()
