"""The list of passes and what shows it: the page is the list, a function between two passes is printed as what it is,
and `--print-after` and `--print-passes` say which passes there are."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from ptx2amd.cli.translate import command
from ptx2amd.middle import page
from ptx2amd.middle.calls import CallGraph
from ptx2amd.middle.passes import PASSES, Pass, Pipeline, PlanPass
from ptx2amd.middle.printer import printed, variable
from ptx2amd.middle.unit import Unit
from ptx2amd.plan.kernel import Request
from ptx2amd.ptx.ast import Module
from ptx2amd.target import target
from ptx2amd.translate import parse
from tests.lower import test_random_flow, warp_random
from tests.reference import warp_machine

FILETESTS = sorted((Path(__file__).parents[1] / "filetests").glob("*/*.ptx"))
HEAD = ".version 8.8\n.target sm_90\n.address_size 64\n"
EXCHANGES = f"""{HEAD}.visible .entry k(.param .u64 p) {{
.reg .b32 %r<4>; .reg .pred %p;
mov.u32 %r1, %laneid; setp.eq.s32 %p, %r1, 0; @%p bra B;
shfl.sync.bfly.b32 %r2, %r1, 16, 31, -1; bra C;
B: shfl.sync.bfly.b32 %r2, %r1, 16, 31, -1;
C: ret; }}
.visible .entry other() {{ ret; }}
"""


def test_the_page_is_the_list() -> None:
    assert page.PAGE.read_text() == page.page(), "run `python -m ptx2amd.middle.page`"


def test_names_are_words_and_differ() -> None:
    names = [step.name for step in PASSES]
    assert len(set(names)) == len(names) and all(name.replace("-", "").isalpha() for name in names)


def texts() -> dict[str, str]:
    found = {f"{path.parent.name}/{path.stem}": path.read_text() for path in FILETESTS}
    found |= {f"flow{seed}": test_random_flow.ptx(test_random_flow.generate(seed)) for seed in range(4)}
    return found | {f"warp{n}": warp_random.HEAD + warp_random.kernel("k", warp_machine.generate(n)) for n in range(4)}


@pytest.mark.parametrize("text", texts().values(), ids=texts())
def test_what_is_printed_is_the_function(text: str) -> None:
    """Printed, parsed and printed again: the same statements and blocks."""
    module = parse(text)
    head = f".version 9.3\n.target {module.target}\n.address_size 64\n"
    for name, function in module.functions.items():
        unit = Unit(CallGraph(module), function)
        if not function.text:
            continue
        others = [f"{variable(var)};" for var in module.variables.values()]
        others += [_head(module, other) for other in module.functions if other != name]
        again = parse("\n".join([head, *others, printed(unit)]))
        assert _statements(Unit(CallGraph(again), again.functions[name])) == _statements(unit)


def _statements(unit: Unit) -> list[str]:
    lines = printed(unit).splitlines()
    return [line for line in lines if not line.startswith((".", " ")) or not line.lstrip().startswith(".")]


def _head(module: Module, name: str) -> str:
    """A declaration of a function."""
    return printed(Unit(CallGraph(module), module.functions[name])).partition("\n")[0] + ";"


def test_passes_run_in_the_order_of_the_list() -> None:
    module = parse(EXCHANGES)
    seen: list[str] = []

    def observe(step: Pass | PlanPass, unit: Unit, seconds: float) -> None:
        assert unit.function.proto.name == "k" and seconds >= 0
        seen.append(step.name)

    Pipeline(CallGraph(module), observe).kernel(module.functions["k"], Request(target("gfx942")))
    assert seen == [step.name for step in PASSES]
    seen.clear()
    Pipeline(CallGraph(module), observe).function(module.functions["k"])
    assert seen == [step.name for step in PASSES if isinstance(step, Pass)]


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "k.ptx"
    path.write_text(EXCHANGES)
    return str(path)


def test_print_after(file: str) -> None:
    before = CliRunner().invoke(command, [file, "--print-after", "find-locks", "--kernel", "k"])
    after = CliRunner().invoke(command, [file, "--print-after", "merge-exchanges", "--kernel", "k"])
    assert before.exit_code == after.exit_code == 0
    assert (before.output.count("shfl.sync.bfly"), after.output.count("shfl.sync.bfly")) == (2, 1)
    assert "$exchange0:" in after.output and "$anchor;" in after.output
    assert "B:" in before.output and ".entry other" not in before.output
    assert not list(Path(file).parent.glob("*.hsaco"))


def test_what_is_decided_is_printed(file: str) -> None:
    shown = CliRunner().invoke(command, [file, "--print-after", "choose-float-mode", "--kernel", "k"]).output
    assert shown.splitlines()[:3] == ["// hazards: none", "// target: gfx942, paired", "// denormals: ieee"]
    assert "launches" not in shown.partition(".entry")[0]  # which a later pass decides


def test_an_unknown_pass_is_refused_with_the_list(file: str) -> None:
    result = CliRunner().invoke(command, [file, "--print-after", "nothing"])
    assert result.exit_code == 2
    assert all(step.name in result.output for step in PASSES)


def test_print_passes(file: str) -> None:
    alone = CliRunner().invoke(command, ["--print-passes"])
    assert alone.exit_code == 0
    assert [line.split()[0] for line in alone.output.splitlines()] == [step.name for step in PASSES]
    timed = CliRunner().invoke(command, [file, "--print-passes"])
    assert timed.exit_code == 0
    assert all(float(line.split()[0]) >= 0 and line.split()[1] == "ms" for line in timed.output.splitlines())
    assert len(timed.output.splitlines()) == len(PASSES) + 1


def test_what_is_refused_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "big.ptx"
    path.write_text(f"{HEAD}.visible .entry k() {{ .shared .b8 s[400000]; ret; }}\n")
    result = CliRunner().invoke(command, [str(path), "--print-after", "keep-calls"])
    assert result.exit_code == 1 and "shared memory" in result.output
