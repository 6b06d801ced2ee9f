"""Translation: PTX text in, AMDGPU code out. The package's public Python API.

from ptx2amd.translate import translate
[result] = translate(text, "vadd.ptx", ["gfx942"])
result.code, result.kernels["vadd"].vgprs
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable
from itertools import accumulate
from typing import Any

from ptx2amd import codegen
from ptx2amd.binary.elf import Elf
from ptx2amd.compile import INTERNAL_ERROR, Part, Way, compiled, lowered
from ptx2amd.errors import Ptx2amdError, Unsupported
from ptx2amd.interface.environment import UNFILLED
from ptx2amd.interface.kernel import KernelProperties
from ptx2amd.interface.lines import note, taken_from
from ptx2amd.interface.module import IndexKernel, IndexVariable, ModuleIndex
from ptx2amd.lower.core.module import ModuleLowering
from ptx2amd.lower.memory import data
from ptx2amd.lower.runtime.facts import facts
from ptx2amd.middle.passes import Observer
from ptx2amd.middle.summary import body, items
from ptx2amd.plan.kernel import ANY, GRIDS, KernelPlan, Request
from ptx2amd.plan.shared_memory import LDS, VARIANTS, bytes_of
from ptx2amd.ptx.ast import Module, Var, Whole
from ptx2amd.ptx.declare import shared_in
from ptx2amd.ptx.handles import handles
from ptx2amd.ptx.heads import check_sizes, max_threads, most_registers, param_layout, required_block
from ptx2amd.ptx.layout import size_of
from ptx2amd.ptx.origin import origin
from ptx2amd.ptx.outline import Outline, outline_of
from ptx2amd.ptx.parse import parse_module, parse_part
from ptx2amd.records import dataclass
from ptx2amd.regex import regex
from ptx2amd.target import target

_WORD = regex(r"[A-Za-z_$%][\w$]*")
ISOLATE = ("", "risky", "all")
WARP = 32  # threads
EMIT = ("hsaco", "obj", "asm", "ll")


@dataclass(slots=True, kw_only=True)
class KernelResult(KernelProperties):
    """The result for one kernel. `error` says why it was not translated; the properties are valid for translated
    kernels, and those of its machine code only for emit "hsaco" and "obj"."""

    error: Ptx2amdError | None = None

    @property
    def ok(self) -> bool:
        return self.error is None

    @property
    def reason(self) -> str:
        """Why the kernel was not translated, with its place, for a reader who knows which kernel it is about."""
        if not isinstance(self.error, Unsupported):
            return str(self.error or "")
        line = f"line {self.error.line}" if self.error.line else ""
        place = ", ".join(part for part in (line, self.error.opcode) if part)
        return f"{place}: {self.error.reason}" if place else self.error.reason


@dataclass(slots=True)
class Result:
    """The outcome for one arch. `code`: the bytes asked for (empty when no kernel could be translated)."""

    arch: str
    emit: str
    code: bytes
    kernels: dict[str, KernelResult]
    seconds: float

    @property
    def ok(self) -> bool:
        return all(kernel.ok for kernel in self.kernels.values())


def translate(
    text: str | Module,
    source: str = "<ptx>",
    archs: Iterable[str] = ("gfx942",),
    kernels: Iterable[str] | None = None,
    *,
    mode: str = "kernel",
    emit: str = "hsaco",
    mapping: str = "",
    build_id: str = "",
    isolate: str = "",
    shared: str = LDS,
    grid: str = ANY,
    matrix: str = "",
    least: bool = False,
    jobs: int = 1,
) -> list[Result]:
    """Translate kernels of a PTX module (all of them, by default), once for each arch.

    text: PTX, or a module parsed before; source: its name in messages. mode "kernel": variables lie in the
    data segment that the run time provides (see module_index); "module": the code object defines them.
    mapping: "native", "paired", "padded", or "" for the arch's default; there kernels whose warps wait for
    each other are padded rather than paired. shared: "lds", or "spilled" for launches with more dynamic
    shared memory than LDS has: it then lies in the arena, as do static variables that LDS is too small for.
    grid: "few" for launches of few blocks (plan/kernel.py), whose addresses take fewer instructions; "any".
    matrix: "software" for matrix products without the chip's matrix instructions, "fast" with those, too, that flush
    subnormal numbers.
    isolate: compile in a child process what LLVM may fail on or take long for ("risky"), or everything ("all"), so that
    a crash is the error of one kernel (not for processes with other threads). least: ask as little of LLVM as can be.
    jobs: how many parts of a long module LLVM works on at once, with isolate "all".
    One kernel that cannot be translated does not lose the others: see KernelResult.error. When LLVM fails on a kernel,
    simpler forms of it are tried (compile.SIMPLER), which KernelResult.warnings tells.
    Raises PtxError for text that is no PTX, UnknownArch, Ptx2amdError for an unknown kernel name."""
    if emit not in EMIT:
        raise ValueError(f"emit must be one of {', '.join(EMIT)}")
    if shared not in VARIANTS:
        raise ValueError(f"shared must be one of {', '.join(VARIANTS)}")
    if grid not in GRIDS:
        raise ValueError(f"grid must be one of {', '.join(GRIDS)}")
    if isolate not in ISOLATE:
        raise ValueError(f"isolate must be one of {', '.join(map(repr, ISOLATE))}")
    module = text if isinstance(text, Module) else parse(text, source)
    names = list(archs)
    for name in names:
        target(name, mapping, matrix)
    known = [name for name, function in module.functions.items() if function.kind == "entry"]
    wanted = known if kernels is None else list(kernels)
    for name in wanted:
        if name not in known:
            raise Ptx2amdError(f"no kernel {name!r} in {module.source}; it has {', '.join(known) or 'no kernels'}")

    way = Way("obj" if emit == "hsaco" else emit, isolate, least, jobs, emit == "hsaco")

    def attempt(arch: str) -> Result:
        lowering = ModuleLowering(module, Request(target(arch, mapping, matrix), mode, not mapping, shared, grid))
        return _translate(lowering, arch, wanted, emit, build_id, way)

    return [attempt(name) for name in names]


def judge(module: Module, arch: str, kernels: Iterable[str]) -> dict[str, KernelResult]:
    """Whether kernels can be translated for an arch, and how: by lowering them to LLVM IR, without LLVM.

    The results have no registers and no scratch size. Raises UnknownArch."""
    results = {}
    for name in kernels:
        lowering = ModuleLowering(module, Request(target(arch), choose=True))
        results[name] = _lower(lowering, name)
        if results[name].ok and codegen.may_be_too_large(lowering.ir(), lowering.target):
            [known] = translate(module, module.source, [arch], [name], emit="ll")  # arrays that LLVM does away with
            results[name] = known.kernels[name]
    return results


def observed(
    module: Module, arch: str, kernels: Iterable[str], mapping: str, observe: Observer
) -> dict[str, KernelResult]:
    """Take kernels through the passes as `translate` does for whole modules, without LLVM. observe: called after each
    pass over each function. Raises UnknownArch."""
    results = {}
    for name in kernels:
        lowering = ModuleLowering(module, Request(target(arch, mapping), "module", not mapping), observe)
        results[name] = _lower(lowering, name)
    return results


def parse(text: str, source: str = "<ptx>", whole: bool = True) -> Module:
    """Parse PTX text. Function bodies are parsed when they are first needed. Raises PtxError.

    whole: the module is not linked with others: as in ptxas, an external variable that has a size is defined by it."""
    return _settled(parse_module(text, source), whole)


def parse_kernel(text: str, source: str, outline: Outline, kernel: str) -> Module | None:
    """Parse the part of a module that a kernel needs, by the module's outline; None if it has no such kernel."""
    module = parse_part(text, source, outline, kernel)
    return module and _settled(module, True)


def _settled(module: Module, whole: bool) -> Module:
    for var in module.variables.values():
        if whole and var.linkage == "extern" and var.count:
            var.linkage = ""
    check_sizes(module)
    return module


def module_outline(text: str, module: Module) -> Outline:
    """The outline of a module that was parsed from `text`, for parse_kernel."""
    return outline_of(text, module, whole_of(module))


def whole_of(module: Module) -> Whole:
    """What all parts of a module have to agree on."""
    segment = data.segment(module, facts(module))
    return Whole(handles(module), segment.offsets, segment.problems, segment.kernels, most_registers(module))


def _translate(lowering: ModuleLowering, arch: str, wanted: list[str], emit: str, build_id: str, way: Way) -> Result:
    start = time.perf_counter()
    results: dict[str, KernelResult] = {}

    def add(part: ModuleLowering, name: str) -> None:
        results[name] = _lower(part, name)

    parts, failed = compiled(lowered(lowering, wanted, add, way), way)
    for name, error in failed.items():
        results[name] = KernelResult(name=name, error=_refusal(lowering, name, error))
    for part in parts:
        for name in part.names:
            results[name].warnings += [part.note] if part.note else []
    code = parts[0].code if parts else b""
    if parts and way.form == "obj":
        files = [Elf(part.code) for part in parts]
        _measure(files, results)
        if emit == "hsaco":
            code = codegen.link(files, sidecar(lowering.module, arch, results, build_id), _origins(parts))
        else:
            codegen.check_symbols(*files)
    return Result(arch, emit, code, results, time.perf_counter() - start)


def _origins(parts: list[Part]) -> bytes:
    """The CUDA positions of all parts."""
    infos = [part.lowering.debug for part in parts if part.lowering.debug]
    for other in infos[1:]:
        infos[0].absorb(other)
    return infos[0].origin_table() if infos else b""


def _refusal(lowering: ModuleLowering, name: str, problem: Ptx2amdError) -> Unsupported:
    """Why there is no code for a kernel that was lowered."""
    found = codegen.TOO_LARGE.search(str(problem))
    if not found:
        return Unsupported(f"{INTERNAL_ERROR}: {problem}", name)
    target, kernel = lowering.target, lowering.module.functions[name]
    bodies = (items(body(lowering.module, function)) for function in lowering.calls.reachable(kernel))
    own = (item for found in bodies for item in found if isinstance(item, Var) and item.space == "local")
    largest = max(own, key=size_of, default=None)
    array = f" (the largest array: {largest.name})" if largest else ""
    reason = f"{int(found[1]):,} bytes of local memory a thread{array}, where {target.arch.name} has {int(found[2]):,}"
    return Unsupported(reason, name, largest.line if largest else kernel.line)


def _lower(lowering: ModuleLowering, name: str) -> KernelResult:
    try:
        lowering.kernel(name)
    except Unsupported as error:
        place = origin(lowering.module, error.line)
        reason = f"{error.reason} ({place})" if place else error.reason
        return KernelResult(name=name, error=Unsupported(reason, error.kernel, error.line, error.opcode))
    except Ptx2amdError as error:
        return KernelResult(name=name, error=error)
    return KernelResult(**_properties(lowering, lowering.plans[name]))


def _properties(lowering: ModuleLowering, plan: KernelPlan) -> dict[str, Any]:
    """What a kernel's plan says, before LLVM has seen it."""
    padded = lowering.chosen(plan.name) == "paired"  # whether launches may ask for the padded variant
    cells = lowering.cells(plan.name)
    waits = [h for h in plan.hazards if not h.lanes and (not h.at_launch or _counts(plan, lowering))]
    return taken_from("plan", plan, KernelProperties) | {
        "wave": lowering.target.wave_size,
        "params": list(plan.params),
        "cells": cells,
        "needs": _needs(plan, cells),
        "spilled": plan.slot is not None,
        "slot": plan.slot or 0,
        "fidelity": f"approx: {' '.join(plan.approximate)}" if plan.approximate else "exact",
        "hazards": [str(hazard) for hazard in waits],
        "apart": sorted({pair for h in plan.hazards for pair in h.aliases}) if padded else [],
        "rows": WARP if padded and any(h.rows for h in plan.hazards) else 0,
        "warnings": _first([str(hazard) for hazard in plan.hazards if hazard.lanes]),
        "line": lowering.module.functions[plan.name].line,
    }


def _needs(plan: KernelPlan, cells: frozenset[int]) -> list[str]:
    """What a program has to know that launches the kernel itself (docs/offline.md)."""
    twice = "blocks of at most 512 threads, launched with twice the size in x"
    found = [twice] if plan.mapping == "padded" else []
    unfilled = {cell: what for cell, what in UNFILLED.items() if cell in cells}
    return found + [f"while cell {cell} of __ptx2amd_env is 0, {what}" for cell, what in unfilled.items()]


def _first(warnings: list[str]) -> list[str]:
    """The first of a kernel's warnings, and of how many: unrolled code repeats them by the dozen."""
    return warnings if len(warnings) < 2 else [f"{warnings[0]} (and {len(warnings) - 1} more)"]


def _counts(plan: KernelPlan, lowering: ModuleLowering) -> bool:
    """Whether hazards that launches tell of are a kernel's: not where launches look."""
    return plan.mapping == "padded" or (plan.mapping == "paired" and not lowering.request.choose)


def _measure(files: list[Elf], results: dict[str, KernelResult]) -> None:
    """Fill in what the objects' metadata knows."""
    for entry in [kernel for file in files for kernel in file.metadata().get("amdhsa.kernels", [])]:
        result = results[entry[".name"]]
        result.vgprs = max(entry[".vgpr_count"], entry.get(".agpr_count", 0))  # the first counts both
        result.sgprs = entry[".sgpr_count"]
        result.local = entry[".private_segment_fixed_size"]
        result.static_shared = entry[".group_segment_fixed_size"]


def sidecar(module: Module, arch: str, results: dict[str, KernelResult], build_id: str = "") -> dict[str, Any]:
    """The contents of the note section `.note.ptx2amd` (docs/internals/abi.md)."""
    return {
        "translator": build_id,
        "ptx": list(module.version),
        "target": module.target,
        "arch": arch,
        "kernels": {result.name: note(result) for result in results.values() if result.ok},
    }


def module_index(module: Module) -> ModuleIndex:
    """The index of a module. Parses no function bodies: `static_shared` counts the declarations found in
    the body's text."""
    segment = data.segment(module, facts(module))
    outer = {v.name: v for v in module.variables.values() if v.space == "shared" and size_of(v)}
    kernels = [
        IndexKernel(
            name=name,
            params=param_layout(function),
            max_threads=max_threads(function),
            required=required_block(function) or (),
            static_shared=_static_shared(module, name, outer),
            facts=segment.kernels.get(name, -1),
            target=0 if function.target == module.target else _capability(function.target),
        )
        for name, function in module.functions.items()
        if function.kind == "entry" and function.text
    ]
    variables = []
    for name, offset in segment.offsets.items():
        var = module.variables[name]
        space = "managed" if "managed" in var.attrs else var.space
        variables.append(IndexVariable(name=name, offset=offset, size=size_of(var), space=space))
    pieces = [bytes(part) for _, part in segment.image.parts]
    starts = accumulate((len(part) for part in pieces), initial=0)
    return ModuleIndex(
        ptx=module.version,
        target=_capability(module.target),
        segment_size=segment.size,
        segment_align=segment.align,
        kernels=kernels,
        variables=variables,
        relocs=[(cell.at, segment.place(cell.symbol) + cell.offset) for cell in segment.image.cells],
        parts=[(at, len(part), start) for (at, part), start in zip(segment.image.parts, starts, strict=False)],
        payload=b"".join(pieces),
    )


def _capability(target: str) -> int:
    """80 of sm_80, 90 of sm_90a."""
    found = re.match(r"sm_(\d+)", target)
    return int(found[1]) if found else 0


def _reached(module: Module, name: str) -> set[str]:
    """The words in the text of a function and of those that it may call."""
    words: set[str] = set()
    todo = [name]
    while todo:
        found = set(_WORD.findall(module.functions[todo.pop()].text))
        todo += [word for word in found - words if word in module.functions and word != name]
        words |= found
    return words


def _static_shared(module: Module, name: str, outer: dict[str, Var]) -> int:
    """Bytes of shared memory that a kernel declares, or names; `outer`: the module's own sized shared variables."""
    function = module.functions[name]
    found = shared_in(function, module.source)
    if outer:
        found += [outer[word] for word in _reached(module, name) & outer.keys()]
    return bytes_of(found)
