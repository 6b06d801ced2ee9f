"""LLVM's part of a translation: code for lowered kernels, in parts that are compiled side by side.

A part is an object file with some of a module's kernels and all that these call. So a kernel that LLVM fails on, or
takes too long for, never loses the others: its part is compiled again kernel by kernel, then it in simpler forms.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from functools import partial

from ptx2amd import codegen
from ptx2amd.codegen import CodegenError, Isolated
from ptx2amd.lower.core.module import ModuleLowering
from ptx2amd.records import dataclass, replace

INTERNAL_ERROR = "internal error of the code generator"
SURE_LINES = 4000  # of IR that LLVM has never failed on
PART_LINES = 20_000  # of IR: a part that has more gets no further kernel

# What is tried when LLVM fails on a kernel, or takes too long: `matrix` and `least`, and what they mean.
SIMPLER = (("software", False, "without the chip's matrix instructions"), ("software", True, "without optimisation"))


@dataclass(frozen=True, slots=True)
class Way:
    """How LLVM is asked for code: see `translate`. form: "obj", "asm" or "ll"; jobs: parts that are compiled at once;
    linked: objects may be several, as a linker makes one of them."""

    form: str = "obj"
    isolate: str = ""
    least: bool = False
    jobs: int = 1
    linked: bool = True


@dataclass(slots=True)
class Part:
    """Lowered kernels, and the code that LLVM makes of them, or why it does not. note: a warning for its kernels."""

    lowering: ModuleLowering
    least: bool = False
    code: bytes = b""
    error: CodegenError | None = None
    note: str = ""

    @property
    def names(self) -> list[str]:
        return list(self.lowering.plans)


def lowered(
    empty: ModuleLowering, kernels: Iterable[str], add: Callable[[ModuleLowering, str], object], way: Way
) -> list[Part]:
    """The parts of a code object with these kernels. add: lowers one, unless it can't be."""
    parts = [Part(empty, way.least)]
    for name in kernels:
        if way.linked and parts[-1].lowering.lines > PART_LINES:
            parts.append(Part(empty.fresh(), way.least))
        add(parts[-1].lowering, name)
    return [part for part in parts if part.names]


def compiled(parts: list[Part], way: Way) -> tuple[list[Part], dict[str, CodegenError]]:
    """The parts with code, and the kernels for which there is none, with LLVM's reason.

    Parts become others where LLVM fails: of single kernels, and of simpler forms of these."""
    _emit(parts, way, whole=len(parts) == 1)
    if len(parts) == 1 and (parts[0].code or len(parts[0].names) == 1):
        part = _simplified(parts[0], way, whole=True) if parts[0].error else parts[0]
        return ([part], {}) if part.code else ([], _reasons([part]))
    alone = [_alone(part, name) for part in parts if part.error for name in part.names]
    _emit(alone, way, whole=False)
    parts = [part for part in parts if part.code]
    parts += [_simplified(part, way, whole=False) if part.error else part for part in alone]
    failed = _reasons(part for part in parts if part.error)
    parts = [part for part in parts if part.code]
    if parts and not way.linked:
        return [_together(parts, way)], failed
    return ([*parts, _rest(parts, way)] if parts else []), failed


def _reasons(parts: Iterable[Part]) -> dict[str, CodegenError]:
    return {name: part.error for part in parts for name in part.names if part.error}


def _alone(part: Part, name: str, matrix: str | None = None) -> Part:
    lowering = part.lowering.fresh(matrix)
    lowering.kernel(name)
    return Part(lowering, part.least)


def _simplified(part: Part, way: Way, whole: bool) -> Part:
    """A kernel that LLVM failed on, in the first simpler form that it does not fail on; else as it was."""
    [name] = part.names
    if codegen.TOO_LARGE.search(str(part.error)):
        return part
    for matrix, least, words in SIMPLER:
        other = _alone(part, name, matrix)
        other.least = least or way.least
        if (other.least, other.lowering.ir()) == (part.least, part.lowering.ir()):
            continue
        _emit([other], way, whole)
        if other.code:
            other.note = f"compiled {words}: kernel {name}: {INTERNAL_ERROR}: {part.error}"
            return other
    return part


def _together(parts: list[Part], way: Way) -> Part:
    """One part with the kernels of parts, for an output that cannot be linked."""
    names = [name for part in parts for name in part.names]
    simplest = next((part for part in parts if part.note), parts[0])  # the form that one needs, for all of them
    part = Part(simplest.lowering.fresh(), any(part.least for part in parts), note=simplest.note)
    for name in names:
        part.lowering.kernel(name)
    _emit([part], replace(way, linked=False), whole=True)
    if part.error:
        raise part.error
    return part


def _rest(parts: list[Part], way: Way) -> Part:
    """The part that defines what the others share."""
    part = Part(parts[0].lowering.fresh())
    for other in parts:
        part.lowering.shared_globals.add(other.lowering.shared_globals)
    _emit([part], way, whole=True)
    if part.error:
        raise part.error
    return part


def _emit(parts: list[Part], way: Way, whole: bool) -> None:
    """Have LLVM make code of parts. whole: each defines what it shares with others."""
    running: deque[tuple[Part, Isolated]] = deque()
    for part in parts:
        ir, lowering = part.lowering.ir(part=not whole), part.lowering
        risky = lowering.whole_waves or ir.count("\n") > SURE_LINES
        arguments = ir, lowering.target, way.form, lowering.simple, part.least
        if way.isolate == "all" or (way.isolate == "risky" and risky):
            if len(running) >= way.jobs:
                first, child = running.popleft()
                _take(first, child.result)
            running.append((part, Isolated(*arguments)))
        else:
            _take(part, partial(codegen.emit, *arguments))
    for part, child in running:
        _take(part, child.result)


def _take(part: Part, code: Callable[[], bytes]) -> None:
    try:
        part.code = code()
    except CodegenError as error:
        part.error = error
