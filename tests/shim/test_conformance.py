"""Every function of the driver API answers as the manual says: success, each error of the tables, and never a crash."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from ptx2amd import launch, native
from ptx2amd.api.driver import functions
from tests import ROOT
from tests.shim.conformance_run import TABLES, all_cases, written

NOT_INITIALIZED = 3


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    base = tmp_path_factory.mktemp("conformance")
    return {
        **os.environ,
        **launch.environment("vgpu:gfx942"),
        "LD_AUDIT": "",
        "PTX2AMD_TRACE": "",
        "PTX2AMD_CACHE_DIR": str(base / "cache"),
        "PTX2AMD_RUNTIME_DIR": str(base / "run"),
        "PTX2AMD_SERVICE_IDLE": "20",
    }


def run(environment: dict[str, str], *options: str) -> list[list[object]]:
    library = native.DIRECTORY / "libcuda.so.1"
    command = [sys.executable, "-m", "tests.shim.conformance_run", str(library), *options]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, f"ended with {done.returncode} at {done.stderr[-2000:]}"
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_every_row_has_a_case() -> None:
    covered = {case.symbol for case in all_cases()}
    wanted = {s for row in functions() for s in (row.exports if row.disposition != "refused" else [row.symbol])}
    assert wanted - covered == set()


def test_every_working_row_is_seen_to_work() -> None:
    """A function that works succeeds in a case; these have nothing to succeed with."""
    succeeding = {case.symbol for case in written() if 0 in case.expected}
    never = {row.symbol for row in functions() if row.works} - succeeding
    assert never == {
        # there is nothing of that kind: no LUID, peer, affinity, sparse array, unified function, core dump, other API
        "cuDeviceGetLuid", "cuDeviceGetP2PAttribute", "cuCtxGetExecAffinity", "cuCtxEnablePeerAccess",
        "cuCtxDisablePeerAccess", "cuArrayGetSparseProperties", "cuArrayGetMemoryRequirements", "cuArrayGetPlane",
        "cuMipmappedArrayGetSparseProperties", "cuMipmappedArrayGetMemoryRequirements", "cuLibraryGetManaged",
        "cuLibraryGetUnifiedFunction", "cuCoredumpSetAttribute",
        "cuCoredumpSetAttributeGlobal", "cuGraphicsUnregisterResource",
        "cuGraphicsSubResourceGetMappedArray", "cuGraphicsResourceGetMappedPointer_v2", "cuGraphicsMapResources",
        "cuGraphicsUnmapResources", "cuGLGetDevices", "cuGLGetDevices_v2", "cuGLRegisterBufferObject",
        "cuGLUnregisterBufferObject", "cuGLSetBufferObjectMapFlags", "cuGLMapBufferObject_v2",
        "cuGLMapBufferObjectAsync_v2", "cuGLUnmapBufferObject", "cuGLUnmapBufferObjectAsync",
        "cuGraphicsGLRegisterBuffer", "cuGraphicsGLRegisterImage",
        # an edge between two nodes, which these calls would have to find
        "cuGraphRemoveDependencies", "cuGraphRemoveDependencies_v2",
        # handles that another process has to make: test_between_processes.py
        "cuIpcOpenMemHandle", "cuIpcOpenMemHandle_v2", "cuIpcCloseMemHandle", "cuIpcOpenEventHandle",
        "cuMemPoolImportPointer",
    }  # fmt: skip


def test_every_call_answers_as_the_tables_say(environment: dict[str, str]) -> None:
    answers = run(environment)
    assert len(answers) == len(all_cases()) > 1800
    assert [answer for answer in answers if answer[2] not in answer[1]] == []  # type: ignore[operator]


def test_what_nvidias_driver_answers_otherwise_is_listed_while_it_is_so() -> None:
    """conformance/nvidia.tsv can only become shorter: a case that agrees now, or is gone, must leave it."""
    cases = {case.title: case.expected for case in all_cases()}
    lines = [line.split("\t") for line in (TABLES / "nvidia.tsv").read_text().splitlines() if not line.startswith("#")]
    assert len(lines) > 100
    assert [title for title, answer in lines if title not in cases or answer in map(str, cases[title])] == []


@pytest.mark.parametrize("state", ["closed", "forked"])
def test_before_init_and_after_fork(environment: dict[str, str], state: str) -> None:
    """Functions that need no initialisation may answer what they like, short of crashing."""
    early = {row.symbol for row in functions() if row.early} - {"cuInit"}
    wrong = [
        (symbol, code)
        for symbol, code in run(environment, "--state", state)
        if symbol not in early and code != NOT_INITIALIZED
    ]
    assert wrong == []
