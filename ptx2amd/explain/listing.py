"""The data of `ptx2amd explain`: a kernel is lowered and compiled as `run` does it, with line tables."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter

from ptx2amd.compile import Part, Way, compiled, lowered
from ptx2amd.explain import assembly, ir
from ptx2amd.lower.core.module import ModuleLowering
from ptx2amd.middle.summary import body, items
from ptx2amd.plan.kernel import FEW, Request
from ptx2amd.ptx.ast import Function, Inst, Module
from ptx2amd.records import dataclass, field
from ptx2amd.target import target
from ptx2amd.target.occupancy import Occupancy, occupancy
from ptx2amd.translate import KernelResult, translate

BLOCK = 256  # threads, where neither the kernel nor the user says how many
SILENT = (".loc", ".reg", ".file")  # what begins lines of PTX that stand for no work


@dataclass(slots=True)
class Row:
    """A PTX line and what became of it. line: 0 for code that LLVM ascribes to no line. place: the CUDA line,
    "file:line", where it begins; source: its text, if the file is there; note: why its result is not exact."""

    line: int
    ptx: str
    place: str = ""
    source: str = ""
    note: str = ""
    ir: list[str] = field(default_factory=list)
    code: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Section:
    """A function: the kernel itself, or one that it calls."""

    name: str
    rows: list[Row]


@dataclass(slots=True)
class Explanation:
    """kernel: its facts; counts: instructions of the machine code by class; reasons: why the mapping was chosen."""

    origin: str
    arch: str
    kernel: KernelResult
    occupancy: Occupancy | None
    counts: Counter[str]
    reasons: list[str]
    sections: list[Section]


def explain(module: Module, name: str, arch: str, mapping: str = "", threads: int = 0) -> Explanation:
    """Explain one kernel of a module. threads: of a block, for the occupancy. Raises Ptx2amdError where the kernel
    cannot be translated."""
    [result] = translate(module, module.source, [arch], [name], mapping=mapping, grid=FEW, isolate="all")
    kernel = result.kernels[name]
    if kernel.error:
        raise kernel.error
    function = module.functions[name]
    part, optimised = (_compiled(module, name, arch, mapping, form) for form in ("asm", "ll"))
    functions = part.lowering.calls.reachable(function)
    sections = [Section(one.proto.name, _rows(module, one, part)) for one in functions]
    code = assembly.instructions(part.code.decode())
    _place(sections, ir.instructions(optimised.code.decode()), "ir")
    _place(sections, code, "code")
    counts = Counter(assembly.group_of(one.text) for one in code if not one.text.endswith(":"))
    reasons = [*_mapping(kernel, mapping, arch), *kernel.warnings, *_ambiguous(module)]
    return Explanation(module.source, arch, kernel, _occupancy(kernel, arch, threads), counts, reasons, sections)


def _compiled(module: Module, name: str, arch: str, mapping: str, form: str) -> Part:
    """The kernel's part, as assembly or optimised IR: lowered as `translate` does, but with line tables."""
    lowering = ModuleLowering(module, Request(target(arch, mapping), choose=not mapping, grid=FEW, lines=True))
    way = Way(form, "all", linked=False)
    parts, failed = compiled(lowered(lowering, [name], ModuleLowering.kernel, way), way)
    if not parts:
        raise failed[name]
    return parts[0]


def _occupancy(kernel: KernelResult, arch: str, threads: int) -> Occupancy | None:
    """None where the arch stands for several chips. threads: of a block, 0: as far as the kernel says."""
    if target(arch).arch.generic:
        return None
    threads = threads or min(BLOCK, kernel.max_threads or BLOCK)
    return occupancy(arch, kernel.wave, kernel.vgprs, kernel.static_shared, threads, kernel.mapping)


def _rows(module: Module, function: Function, part: Part) -> list[Row]:
    """The PTX lines of a function, with their CUDA lines."""
    notes = _notes(module, function)
    debug = part.lowering.debug
    origins = sorted(debug.origins) if debug else []
    starts = [line for line, _, _ in origins]
    begin, end = function.line, function.body_line + function.text.count("\n")
    rows = [Row(function.line, f"{'.entry' if function.kind == 'entry' else '.func'} {function.proto.name}")]
    before = (0, 0)
    for number, text in enumerate(function.text.splitlines(), function.body_line):
        shown = " ".join(text.split())
        if shown in ("", "{", "}") or shown.startswith(SILENT):
            continue
        row = Row(number, shown, note=notes.get(number, ""))
        at = bisect_right(starts, number) - 1
        if at >= 0 and begin <= starts[at] <= end and (place := origins[at][1:]) != before:
            before = place
            row.place = f"{module.files.get(place[0], '?')}:{place[1]}" if place[1] else ""
        rows.append(row)
    return rows


def _notes(module: Module, function: Function) -> dict[int, str]:
    """By PTX line, why a result is not exact."""
    found = ((item.line, item.shape.form.exact) for item in items(body(module, function)) if isinstance(item, Inst))
    return {line: exact for line, exact in found if exact.startswith("approx")}


def _place(sections: list[Section], instructions: list[assembly.Located], column: str) -> None:
    """Put instructions beside the PTX lines that they come from; those of none go to the end of their function."""
    rows = {row.line: row for section in sections for row in section.rows}
    known = sorted(rows)
    for one in instructions:
        at = bisect_right(known, one.line) - 1  # a statement may have several lines
        row = rows[known[at]] if one.line and at >= 0 else _rest(sections, one.function)
        getattr(row, column).append(one.text)


def _rest(sections: list[Section], name: str) -> Row:
    section = next((one for one in sections if one.name == name), sections[0])
    if section.rows[-1].line:
        section.rows.append(Row(0, "(of no single line)"))
    return section.rows[-1]


def _mapping(kernel: KernelResult, asked: str, arch: str) -> list[str]:
    if asked:
        return [f"{kernel.mapping}, as asked for"]
    if kernel.mapping == "native":
        return [f"native: {arch} has waves of 32 lanes, a warp each"]
    if kernel.mapping == "paired":
        first = "paired: two warps in a wave of 64 lanes; no warp of a block waits for another outside of barriers"
        rows = ["padded where the block size in x is not 1, 2, 4, 8, 16 or 32"] if kernel.rows else []
        return [first, *rows, *(f"padded where the pointer parameters at +{a} and +{b} point into one allocation"
                                for a, b in kernel.apart)]  # fmt: skip
    return [f"padded: one warp in a wave of 64 lanes, as warps of a block wait for each other: {hazard}"
            for hazard in kernel.hazards]  # fmt: skip


def _ambiguous(module: Module) -> list[str]:
    if not module.linked:
        return []
    return ["the module is linked from several texts, whose lines have the same numbers: code may stand beside the "
            "line of another text"]  # fmt: skip
