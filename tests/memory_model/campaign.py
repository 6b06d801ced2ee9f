"""Runs litmus tests on the software GPU in its weak-memory mode: `python -m tests.memory_model.campaign WORK RESULT`
is one process, with one seed, on one chip in one mapping."""

from __future__ import annotations

import json
import os
import pickle
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from ptx2amd import hip
from ptx2amd.hip.library import ffi, software_gpu
from tests.memory_model import kernels, litmus

#: Chip, mapping ("": the one chosen for each kernel); gfx1100-cu: in CU mode.
PLACES = (
    ("gfx90a", ""), ("gfx90a", "padded"), ("gfx942", ""), ("gfx942", "padded"), ("gfx1030", ""), ("gfx1100", ""),
    ("gfx1100-cu", ""), ("gfx1201", ""), ("gfx1250", ""),
)  # fmt: skip
#: Instructions of a wave after which a test counts as one that does not end.
LIMIT = 300000


@dataclass(slots=True)
class Outcome:
    """Of one test: instances that ended, those in the state of the condition (of forall: not in it), launches that did
    not end."""

    ended: int = 0
    found: int = 0
    endless: int = 0


@dataclass(frozen=True, slots=True)
class Work:
    chip: str
    mapping: str
    tests: tuple[litmus.Test, ...]
    blocks: int  # of 32 instances, in each launch
    launches: int
    edit: tuple[str, str] = ("", "")  # a pattern in the machine code as text, and what it becomes everywhere
    code: tuple[bytes, set[str]] | None = None  # what code_for made, where it is for several seeds


class NoPlace(Exception):
    """The pattern of an edit is nowhere in the code."""


def run(work: Work, seed: int, timeout: int = 1200) -> tuple[list[Outcome], str]:
    """The outcomes by test, and what the software GPU reported. Raises RuntimeError where the process fails."""
    with tempfile.TemporaryDirectory() as folder:
        given, result = Path(folder, "work"), Path(folder, "result")
        given.write_bytes(pickle.dumps(work))
        environment = {
            **os.environ, "PTX2AMD_WEAK": str(seed), "PTX2AMD_VGPU_MAX_INSTRUCTIONS": str(LIMIT),
            "PTX2AMD_VGPU_DEADLOCK": "2", "PTX2AMD_VGPU_COUNT": "1",
        }  # fmt: skip
        done = subprocess.run([sys.executable, "-m", "tests.memory_model.campaign", str(given), str(result)],
                              env=environment, capture_output=True, text=True, timeout=timeout)  # fmt: skip
        if done.returncode:
            raise RuntimeError(f"seed {seed}, {work.chip}, {work.mapping}: {done.stderr[-800:]}")
        return [Outcome(**each) for each in json.loads(result.read_text())], done.stderr


def _name(test: int, gpu: int) -> str:
    """Of the kernel for one GPU."""
    return f"t{test}_{gpu}"


def code_for(work: Work) -> tuple[bytes, set[str]]:
    """The tests' kernels, and those that are padded."""
    from ptx2amd.translate import translate
    from tests.vgpu.engine import assemble_code_object, symbols_of

    text = kernels.HEAD + "".join(
        kernels.kernel(test, _name(k, gpu), gpu) for k, test in enumerate(work.tests) for gpu in test.gpus
    )
    arch, emit = work.chip.removesuffix("-cu"), "asm" if work.edit[0] else "hsaco"
    [result] = translate(text, "litmus.ptx", [arch], mapping=work.mapping, mode="module", emit=emit)
    if failed := [
        f"{work.tests[int(each[1:].partition('_')[0])].name}: {error}"
        for each, kernel in result.kernels.items()
        if (error := kernel.error)
    ]:
        raise RuntimeError(f"not translated: {failed}")
    assert result.code
    padded = {name for name, kernel in result.kernels.items() if kernel.mapping == "padded"}
    if work.edit[0]:
        changed, count = re.subn(work.edit[0], work.edit[1], result.code.decode(), flags=re.M)
        if not count:
            raise NoPlace(f"{work.edit[0]!r} is nowhere in the code for {work.chip}")
        return assemble_code_object(changed, arch), padded
    if not work.chip.endswith("-cu"):
        return result.code, padded
    code = bytearray(result.code)
    for name, value in symbols_of(result.code).items():
        if name.endswith(".kd"):
            code[_offset(result.code, value) + 48 + 3] &= ~0x20  # compute_pgm_rsrc1's WGP_MODE
    return bytes(code), padded


def _offset(elf: bytes, address: int) -> int:
    """Where in the file the address is."""
    start, size, count = (int.from_bytes(elf[a:b], "little") for a, b in ((32, 40), (54, 56), (56, 58)))
    for k in range(count):
        header = elf[start + k * size : start + (k + 1) * size]
        offset, virtual, _, length = (int.from_bytes(header[a : a + 8], "little") for a in (8, 16, 24, 32))
        if int.from_bytes(header[:4], "little") == 1 and virtual <= address < virtual + length:
            return address - virtual + offset
    raise ValueError(f"no segment has {address:#x}")


def _gpus(work: Work) -> list[hip.Gpu]:
    """As many of the chip as the tests need."""
    library = software_gpu()
    count = max(len(test.gpus) for test in work.tests)
    library.raw.ptx2amd_vgpu_select(",".join([work.chip.removesuffix("-cu")] * count).encode())
    return [hip.Gpu(library, ordinal) for ordinal in range(count)]


def _buffer(gpus: list[hip.Gpu], content: np.ndarray | bytes) -> hip.Buffer:
    """Device memory of one GPU; for several pinned memory of the host, which all may access."""
    if len(gpus) == 1:
        return gpus[0].buffer(content)
    pointer, size = ffi().new("void **"), memoryview(content).nbytes
    gpus[0].activate().hipHostMalloc(pointer, size, 0)
    buffer = hip.Buffer(gpus[0], size, address=int(ffi().cast("uintptr_t", pointer[0])))
    buffer.write(content)
    return buffer


def perform(work: Work) -> Sequence[Outcome]:
    """In this process."""
    every = _gpus(work)
    image, padded = work.code or code_for(work)
    modules = [gpu.load(image) for gpu in every]
    outcomes = [Outcome() for _ in work.tests]
    for k, test in enumerate(work.tests):
        gpus = every[: len(test.gpus)]
        for launch in range(work.launches):
            instances, results = work.blocks * kernels.LANES, max(1, len(test.outputs))
            content = np.zeros((len(test.variables), instances, kernels.LINE // 4), np.int32)
            for v, value in enumerate(test.variables.values()):
                content[v, :, 0] = value
            memory, out = _buffer(gpus, content), _buffer(gpus, np.zeros((instances, results), np.int32))
            step = instances * kernels.LINE
            views = _buffer(gpus, b"".join(kernels.views(memory.address + v * step, instances)
                                           for v in range(len(test.variables))))  # fmt: skip
            arguments = [memory, out, views, np.uint32(instances), np.uint32(launch % 2)]
            try:
                for number, module in zip(test.gpus, modules, strict=False):
                    name, ctas = _name(k, number), test.ctas(number)
                    lanes = kernels.LANES * (2 if name in padded else 1)
                    module.kernel(name).launch(work.blocks * len(ctas), lanes * max(map(len, ctas)), arguments)
                for gpu in gpus:
                    gpu.synchronize()
            except hip.HipError:
                outcomes[k].endless += 1
                for gpu in every:
                    gpu.reset()
                modules = [gpu.load(image) for gpu in every]
                break  # the other launches would be as long
            count(test, outcomes[k], memory.numpy(np.int32).reshape(content.shape)[:, :, 0], out.numpy(np.int32))
    return outcomes


def count(test: litmus.Test, outcome: Outcome, variables: np.ndarray, registers: np.ndarray) -> None:
    values = {name: variables[v].astype(np.int64) for v, name in enumerate(test.variables)}
    values |= {name: values[test.location(name)] for name in test.same}
    registers = registers.reshape(variables.shape[1], -1)
    values |= {f"{t}:{r}": registers[:, k].astype(np.int64) for k, (t, r) in enumerate(test.outputs)}
    holds = np.broadcast_to(litmus.holds(test, values), variables.shape[1])
    outcome.ended += variables.shape[1]
    outcome.found += int((~holds if test.quantifier == "forall" else holds).sum())


if __name__ == "__main__":
    work = pickle.loads(Path(sys.argv[1]).read_bytes())
    Path(sys.argv[2]).write_text(json.dumps([asdict(outcome) for outcome in perform(work)]))
