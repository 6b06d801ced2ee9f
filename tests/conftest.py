"""Test-suite options: `--shard K/N` runs every N-th test, so that slow sweeps can be split over machines. `--rows`
fails when a row of the instruction table that is not refused was in no program that the chosen tests translated:
`pytest tests/lower --rows --ignore tests/lower/test_alu_compile.py`. `--gpu-rows`
fails when a row of the software GPU's table was in no program that the chosen tests executed:
`pytest tests/vgpu --gpu-rows -k "(valu or scalar or memory or transposed or engine or image or typed) and not hip"`."""

from __future__ import annotations

import zlib
from inspect import ismodule
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from ptx2amd.lower.core.function import FunctionLowering
    from ptx2amd.ptx.ast import Inst

LOWERED: set[int] = set()  # ids of the rows in programs that were translated


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--shard", default="1/1", help="K/N: run the K-th of N parts of the tests")
    parser.addoption("--rows", action="store_true", help="fail for rows of the instruction table that no test lowers")
    parser.addoption("--gpu-rows", action="store_true",
                     help="fail for rows of the software GPU that no test executes")  # fmt: skip


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--gpu-rows"):
        from tests.vgpu import executed

        executed.install()
    if config.getoption("--rows"):
        from ptx2amd.isa.match import candidates
        from ptx2amd.lower.core import body

        lower = body.instruction

        def noted(fn: FunctionLowering, inst: Inst) -> None:
            """The row, and older ones whose place it takes in modules of later PTX: the same words and operands."""
            own = inst.shape.form
            rows = (row for row, _ in candidates(inst.shape.opcode))
            LOWERED.update(id(row) for row in rows if (row.lower, row.operands) == (own.lower, own.operands))
            LOWERED.add(id(own))
            lower(fn, inst)

        body.instruction = noted


#: Modules by which tests get at a CUDA toolkit.
TOOLKIT = {"ptx2amd.compat.toolkit", "tests.oracle", "tests.clients.toolkit_programs", "cuda_samples.build"}


def mark_toolkit(items: list[pytest.Item]) -> None:
    """Marks the tests of files that use the toolkit which PTX2AMD_TOOLKIT chooses: CI runs them with each."""
    for item in items:
        values = vars(getattr(item, "module", object)).values()
        if not TOOLKIT.isdisjoint(v.__name__ if ismodule(v) else getattr(v, "__module__", "") or "" for v in values):
            item.add_marker(pytest.mark.toolkit)


def pytest_sessionfinish(session: pytest.Session) -> None:
    if session.config.getoption("--rows"):
        from ptx2amd.isa import table

        rows = [form for form in table.rows() if form.lower and id(form) not in LOWERED]
        texts = [f"{form.syntax}  {form.operands}" for form in rows]
        print(f"\n{len(rows)} rows that no test lowers", *texts, sep="\n")
        session.exitstatus = session.exitstatus or int(bool(rows))
    if session.config.getoption("--gpu-rows"):
        from tests.vgpu import executed

        missing = executed.missing()
        print(f"\n{len(missing)} rows that no test executes", *(f"{op.format} {op.name}" for op in missing), sep="\n")
        session.exitstatus = session.exitstatus or int(bool(missing))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    mark_toolkit(items)
    part, parts = map(int, config.getoption("--shard").split("/"))
    chosen: list[pytest.Item] = []
    others: list[pytest.Item] = []
    for item in items:
        (chosen if zlib.crc32(item.nodeid.encode()) % parts == part - 1 else others).append(item)
    config.hook.pytest_deselected(items=others)
    items[:] = chosen
