"""Statuses without a handle. Protects: a program that passes null gets from our libraries what NVIDIA's answer on a GPU
(nvidia/statuses.json), also where ROCm's are not installed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from importlib import import_module
from pathlib import Path

import pytest

from ptx2amd import native
from tests.libmap import on_rocm

NVIDIAS = json.loads(Path(__file__).with_name("nvidia").joinpath("statuses.json").read_text())
SONAMES = {
    "cublas": "libcublas.so.13", "cublaslt": "libcublasLt.so.13", "cufft": "libcufft.so.12",
    "curand": "libcurand.so.10", "cusparse": "libcusparse.so.12", "cusolver": "libcusolver.so.12",
    "cudnn": "libcudnn.so.9",
}  # fmt: skip
#: Where several arguments are wrong, NVIDIA's libraries may look at another first, and some look at no handle if there
#: is nothing to compute: NVIDIA's status, ours, and how many functions answer so, with 0 and with -1.
OTHERWISE: dict[str, dict[tuple[int, int], int]] = {
    "cublas": {(0, 1): 82, (0, 7): 1, (3, 7): 1, (7, 1): 36, (15, 1): 16},
    "cublaslt": {(3, 7): 1},
    "cufft": {(0, 1): 1, (0, 4): 2, (3, 1): 20, (4, 1): 6},
    "cusparse": {(1, 3): 4, (3, 1): 128, (3, 10): 2},
    "cusolver": {(3, 1): 21, (12, 1): 4, (13, 1): 24},
    "cudnn": {(4003, 2000): 1},
}


def ours(name: str) -> dict[str, list[int | None]]:
    command = [sys.executable, "-m", "tests.libmap.statuses", name, on_rocm.LIBRARIES / SONAMES[name]]
    environment = {**os.environ, "LD_LIBRARY_PATH": str(native.DIRECTORY)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    return {f"{function} {number}": status for number in ("0", "-1")
            for function, status in zip(found["functions"], found[number], strict=True)}  # fmt: skip


@pytest.mark.parametrize("name", SONAMES)
def test_calls_without_a_handle_answer_as_nvidias(name: str) -> None:
    works = {row.symbol for row in import_module(f"ptx2amd.api.{name}").MAPPED.rows if row.works}
    found, golden = ours(name), NVIDIAS[name]
    wrong: dict[tuple[int, int], list[str]] = {}
    same = 0
    for number in ("0", "-1"):
        for function, theirs in zip(golden["functions"].split(), golden[number], strict=True):
            answer = found[f"{function} {number}"]
            assert answer is not None, f"{function}, {number}: a crash"
            if theirs is None or function not in works:
                continue
            if answer == theirs:
                same += 1
            else:
                wrong.setdefault((theirs, answer), []).append(f"{function} {number}")
    counts = Counter({pair: len(names) for pair, names in wrong.items()})
    assert counts == OTHERWISE.get(name, {}), {pair: names[:20] for pair, names in wrong.items()}
    assert same > 20
