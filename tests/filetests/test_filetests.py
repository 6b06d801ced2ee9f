"""PTX files that say themselves how to run them and what must come out (filetest.py has the notation). Protects what
instructions compute, against values that the PTX manual gives, and which instructions of the chip they become."""

from __future__ import annotations

import re
from contextlib import redirect_stderr
from functools import cache
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from filecheck.finput import FInput
from filecheck.matcher import Matcher
from filecheck.options import Options
from filecheck.parser import Parser

from ptx2amd.isa import table
from ptx2amd.isa.form import Form
from ptx2amd.isa.match import candidates
from ptx2amd.lower.core.module import ModuleLowering
from ptx2amd.middle.calls import CallGraph
from ptx2amd.middle.passes import PASSES, Pass, Pipeline, PlanPass
from ptx2amd.middle.printer import printed
from ptx2amd.middle.summary import body, items
from ptx2amd.middle.unit import Unit
from ptx2amd.plan.kernel import Request
from ptx2amd.ptx.ast import Inst
from ptx2amd.target import target
from ptx2amd.translate import parse, translate
from tests.filetests.filetest import OLD, Column, Filetest, Launch, Run, differences, packed
from tests.lower.device import Program
from tests.lower.matrix_programs import spelled

FOLDER = Path(__file__).parent
FILES = {str(path.relative_to(FOLDER)): Filetest(path) for path in sorted(FOLDER.glob("*/*.ptx"))}
RUNS = [(name, run) for name, test in FILES.items() for run in test.runs]


def lowered(text: str, chip: str) -> str:
    """The LLVM IR of all kernels, before LLVM's passes."""
    module = parse(text)
    lowering = ModuleLowering(module, Request(target(*chip.split(":"))))
    for name, function in module.functions.items():
        if function.kind == "entry":
            lowering.kernel(name)
    return lowering.ir()


def passed(text: str, name: str, after: bool) -> str:
    """The functions as a pass leaves them, or as it finds them, in PTX."""
    calls = CallGraph(parse(text))
    found, states = [], []

    def observe(step: Pass | PlanPass, unit: Unit, seconds: float) -> None:
        states.append(printed(unit))

    names = [step.name for step in PASSES if isinstance(step, Pass)]
    for function in calls.module.functions.values():
        states[:] = [printed(Unit(calls, function))]
        Pipeline(calls, observe).function(function)
        found.append(states[names.index(name) + after])
    return "".join(found)


def translated(text: str, chip: str, emit: str) -> str:
    arch, mapping = (*chip.split(":"), "")[:2]
    [result] = translate(text, "test.ptx", [arch], mapping=mapping, emit=emit)
    assert result.ok, {name: kernel.reason for name, kernel in result.kernels.items() if not kernel.ok}
    return result.code.decode()


def check(test: Filetest, run: Run, output: str) -> None:
    """Compare an output with the lines of its prefix. AssertionError: they are not so in the output."""
    assert [text for text in run.never if text in output] == []
    options = Options(str(test.path), check_prefixes=[prefix(run)])
    with redirect_stderr(StringIO()) as said:
        status = Matcher(options, FInput("output", output), Parser.from_opts(options)).run()
    assert status == 0, f"{said.getvalue()}\n{output}"


def launched(program: Program, parameters: list[str], launch: Launch) -> None:
    """Run a kernel once. AssertionError: a buffer has not what it must have."""
    old = {name: packed(columns) for name, columns in launch.inputs.items()}
    old = {name: bytes([OLD]) * len(packed(columns)) for name, columns in launch.expected.items()} | old
    memory = {name: program.gpu.buffer(content) for name, content in old.items()}
    arguments = {**launch.values, **memory}
    for name, (buffer, described) in launch.descriptors.items():
        arguments[name] = program.gpu.buffer(described(memory[buffer].address))
    args = [arguments[name] for name in parameters]
    program.launch(launch.kernel, launch.grid, launch.block, args, launch.shared)
    for name, columns in {**launch.inputs, **launch.expected}.items():
        wrong = differences(columns, memory[name].bytes())
        assert not wrong, "\n".join([f"{launch.kernel}, {name}:", *wrong])


@pytest.mark.parametrize(("name", "run"), RUNS, ids=[f"{name}-{run.verb}-{run.on}" for name, run in RUNS])
def test_file(name: str, run: Run) -> None:
    test, (verb, chip, _) = FILES[name], run
    if verb == "execute":
        assert test.launches
        program, functions = Program(test.text, chip), parse(test.text).functions
        for launch in test.launches:
            assert launch.expected, f"{launch.kernel} may do what it likes"
            launched(program, [var.name for var in functions[launch.kernel].proto.params], launch)
    elif verb == "refuse":
        [result] = translate(test.text, name, [chip])
        assert {kernel: result.kernels[kernel].ok for kernel in test.refused} == dict.fromkeys(test.refused, False)
        assert {k: why for k, why in test.refused.items() if why not in result.kernels[k].reason} == {}
    elif verb == "compile":
        assert translated(test.text, chip, "asm")
    else:
        check(test, run, OUTPUTS[verb](test.text, chip))


OUTPUTS = {
    "before": lambda text, name: passed(text, name, after=False),
    "after": lambda text, name: passed(text, name, after=True),
    "ir": lowered,
    "asm": lambda text, chip: translated(text, chip, "asm"),
}


def prefix(run: Run) -> str:
    """Of the checks that a RUN line looks at; "" for none."""
    return f"CHECK-{run.on.upper() if run.verb == 'asm' else run.verb.upper()}" if run.verb in OUTPUTS else ""


def test_wrong_values_are_found() -> None:
    words = [Column(np.array([1, 2], "u4")), Column(np.array([0.1, np.nan], "f4"), within=2**-20)]
    right = np.array([(1, 0.1 + 2**-22), (2, np.nan)], "u4, f4")
    assert differences(words, right.tobytes()) == []
    wrong = np.array([(1, 0.1 + 2**-18), (3, 0)], "u4, f4")
    assert len(differences(words, wrong.tobytes())) == 3
    assert len(differences([Column(np.array([0.0], "f4"))], np.array([-0.0], "f4").tobytes())) == 1


@pytest.mark.parametrize("name", FILES)
def test_nothing_is_left_out(name: str) -> None:
    """Lines that no RUN line looks at."""
    test = FILES[name]
    checks = {"CHECK-" + word for word in re.findall(r"// CHECK-([A-Z0-9]+)", test.text)}
    assert checks == {prefix(run) for run in test.runs} - {""}
    verbs = {run.verb for run in test.runs}
    assert (bool(test.launches), bool(test.refused)) == ("execute" in verbs, "refuse" in verbs)


@cache
def rows_in(name: str) -> dict[int, Form]:
    """The rows of instructions in a file's functions, and in its kernels that are launched or have to be refused."""
    test, module = FILES[name], parse(FILES[name].text)
    kernels = {launch.kernel for launch in test.launches} | set(test.refused)
    chosen = [f for f in module.functions.values() if f.text and (f.kind != "entry" or f.proto.name in kernels)]
    shapes = [item.shape for f in chosen for item in items(body(module, f)) if isinstance(item, Inst)]
    return {id(shape.form): shape.form for shape in shapes}


@pytest.mark.parametrize("family", table.FAMILIES)
def test_every_family_has_a_file(family: str) -> None:
    """Its mnemonics are all in it."""
    used = {form.mnemonic for form in rows_in(f"isa/{family}.ptx").values()}
    assert {row.mnemonic for row in table.family(family) if row.lower} - used == set()


#: Rows that no statement has, by syntax and operands, and why.
FIRST = (
    "all its spellings are those of a row before it, with .xorsign.abs, of later PTX; it says since when there are some"
)
NO_STATEMENT = {
    ("min.[ftz:ftz].{nan:NaN}.f32", "d:f32, a:f32, b:f32"): FIRST,
    ("max.[ftz:ftz].{nan:NaN}.f32", "d:f32, a:f32, b:f32"): FIRST,
    ("min.[ftz:ftz].[nan:NaN].{t:f16|f16x2}", "d:t, a:t, b:t"): FIRST,
    ("max.[ftz:ftz].[nan:NaN].{t:f16|f16x2}", "d:t, a:t, b:t"): FIRST,
    ("min.[nan:NaN].{t:bf16|bf16x2}", "d:t, a:t, b:t"): FIRST,
    ("max.[nan:NaN].{t:bf16|bf16x2}", "d:t, a:t, b:t"): FIRST,
}


def test_every_row_is_in_a_file() -> None:
    """Each row of the instruction table is in a kernel that a filetest runs, or that has to be refused."""
    found = {row for name in FILES for row in rows_in(name)}
    assert {(row.syntax, row.operands) for row in table.rows() if id(row) not in found} == set(NO_STATEMENT)


@pytest.mark.parametrize("key", NO_STATEMENT, ids=lambda key: key[0])
def test_rows_that_no_statement_has(key: tuple[str, str]) -> None:
    """An earlier row takes each opcode, and does the same with it."""
    [row] = [row for row in table.rows() if (row.syntax, row.operands) == key]
    for opcode, _ in spelled(row):
        first, _ = candidates(opcode)[0]
        assert first is not row
        assert (first.operands, first.lower, first.exact) == (row.operands, row.lower, row.exact)


#: Finds what another pass changes, and changes nothing.
NO_SHAPE = {"find-locks"}


def test_every_pass_has_a_file() -> None:
    """Which shows a function before and after it."""
    passes = [step.name for step in PASSES if isinstance(step, Pass) and step.name not in NO_SHAPE]
    runs = {name: FILES[f"passes/{name}.ptx"].runs for name in passes}
    assert {name: [run[:2] for run in found][:2] for name, found in runs.items()} == {
        name: [("before", name), ("after", name)] for name in runs
    }
