"""Whole-module translation: CPU time against `ptxas -O3`, four modules of 3 to 50 thousand PTX lines.

Both compile all kernels of a module, each in a process of its own; CPU time counts children (our linker,
nvcc's tools). Ours for one arch, from PTX text to the linked code object."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from ptx2amd.binary.elf import Elf
from ptx2amd.codegen import link, llvm
from ptx2amd.compat import toolkit
from ptx2amd.lower.core.module import ModuleLowering
from ptx2amd.plan.kernel import Request
from ptx2amd.target import target
from ptx2amd.translate import parse

SOURCE = Path(__file__).with_name("translate_kernels.cu")
SIZES = (1, 2, 3, 4)
ARCHS = ("gfx942", "gfx1100")
ROUNDS = 3
WARM = ".version 8.0\n.target sm_75\n.address_size 64\n.entry k() { ret; }\n"


def cpu_seconds() -> float:
    """CPU time of this process and of its children that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def ours(text: str, arch: str) -> dict[str, float]:
    """Seconds by stage of translating all kernels."""
    stages: dict[str, float] = {}
    last = cpu_seconds()

    def lap(stage: str) -> None:
        nonlocal last
        now = cpu_seconds()
        stages[stage], last = now - last, now

    module = parse(text)
    lowering = ModuleLowering(module, Request(target(arch)))
    kernels = [name for name, f in module.functions.items() if f.kind == "entry"]
    for name in kernels:
        lowering.calls.summary(module.functions[name])  # parses the body
    lap("parse")
    for name in kernels:
        lowering.kernel(name)
    ir = lowering.ir()
    lap("lower")
    optimised, machine = llvm.optimised(ir, target(arch), lowering.simple)
    lap("optimise")
    blob = machine.emit_object(optimised)
    lap("emit")
    link([Elf(blob)], {})
    lap("link")
    return stages


def in_child(work: Callable[[], dict[str, float]]) -> dict[str, float]:
    """Run in a fork, so that no round profits from the caches of the one before."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.write(write, repr(work()).encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as pipe:
        text = pipe.read()
    os.waitpid(pid, 0)
    return eval(text)


def ptxas(path: Path) -> float:
    """CPU seconds of `ptxas -O3`."""
    before = cpu_seconds()
    command = [toolkit.find().ptxas, "-O3", "-arch=sm_80", str(path), "-o", os.devnull]
    subprocess.run(command, check=True, capture_output=True)
    return cpu_seconds() - before


def main() -> None:
    """Print one line a module and arch."""
    found = toolkit.find()
    ours(WARM, "gfx942")  # importing LLVM and the instruction table is not part of a translation
    print(f"{'lines':>7} {'arch':8} {'ptxas':>7} {'ours':>7} {'ratio':>6}   by stage")
    with tempfile.TemporaryDirectory() as directory:
        for size in SIZES:
            path = Path(directory) / f"m{size}.ptx"
            command = [found.nvcc, *found.flags, "-ptx", "-arch=compute_80", f"-DSIZE={size}", str(SOURCE)]
            subprocess.run([*command, "-o", str(path)], check=True)
            text = path.read_text()
            theirs = min(ptxas(path) for _ in range(ROUNDS))
            for arch in ARCHS:
                stages = min(
                    (in_child(lambda arch=arch, text=text: ours(text, arch)) for _ in range(ROUNDS)),
                    key=lambda s: sum(s.values()),
                )
                total = sum(stages.values())
                detail = "  ".join(f"{name} {seconds:.2f}" for name, seconds in stages.items())
                lines = text.count("\n")
                print(
                    f"{lines:7} {arch:8} {theirs:6.2f}s {total:6.2f}s {total / theirs:5.2f}x   {detail}",
                    flush=True,
                )
    sys.stdout.flush()


if __name__ == "__main__":
    main()
