"""LLVM IR text -> object code or assembly for one arch.

LLVM changes the module while it emits, so the text is parsed afresh for each arch. Threads share nothing but LLVM's
target registry; every call may run in its own thread or process. llvmlite's LLVM has
no assembler for AMDGPU: inline assembly with any text in it ends the process."""

from __future__ import annotations

from functools import cache
from threading import local

from ptx2amd.codegen import branches, conversions, exits, halves, library, stack, workarounds
from ptx2amd.codegen.error import CodegenError
from ptx2amd.codegen.library import Machine, Module
from ptx2amd.codegen.workarounds import avoided
from ptx2amd.regex import regex
from ptx2amd.target import Target

TRIPLE = "amdgcn-amd-amdhsa"
CODEGEN_LEVEL = 2
LONG_CODEGEN_LEVEL = 1
LEAST_CODEGEN_LEVEL = 0
LONG_LINES = 40_000  # IR of more lines gets level 1: level 2 takes time that grows with a block's length squared
FULL_LINES = 4000  # IR of up to this many lines gets LLVM's O3
SHARED = "addrspace(3)"  # whose accesses need alignments; without them O3 is mostly its passes over functions
EARLY = ("SROA", "InstCombine", "SimplifyCFG")  # as O3 begins: the passes over functions expect code of that form
SHORT = ("SROA", "SimplifyCFG", "InstCombine", "SimplifyCFG", "ADCE")  # longer IR without calls


class _Machines(local):
    """The machines of the running thread."""

    def __init__(self) -> None:
        self.kept: dict[tuple[str, str, int], Machine] = {}


_machines = _Machines()


_OF_F32 = regex(r"= f(?:add|sub|mul)[a-z ]* float|@llvm\.fma\.f32")
_OF_16_BITS = regex(
    r"= (?:f?(?:add|sub|mul|neg)|shl|[al]shr|and|or|xor|select|fcmp|icmp)[a-z ]* (?:half|bfloat|i16)\b"
    r"|@llvm\.[a-z.]+\.(?:f16|bf16|i16)\b"
)


@cache
def _prepare() -> None:
    """Set LLVM's options."""
    # Strength reduction over address chains costs half of code generation; PTX has been through it.
    library.set_option("-amdgpu-scalar-ir-passes=0")
    if avoided.applies("shared_ends"):
        library.set_option("-sink-common-insts=false")
    library.set_option("-enable-pre=false")  # PTX has been through it
    # Long live ranges that a structured kernel's thousands of joins share: coalescing them took two thirds of code
    # generation, for 1 % less code.
    library.set_option("-large-interval-freq-threshold=8")
    # Sums of matrix instructions are moved to other lanes, so they had better not be in accumulation registers.
    library.set_option("-amdgpu-mfma-vgpr-form=true")


def machine(target: Target, level: int = CODEGEN_LEVEL) -> Machine:
    """The LLVM target machine; level: of code generation, as in -O. A thread keeps its machines, with the tables that
    LLVM makes for them: on chips with many registers these take several milliseconds."""
    _prepare()
    wave = "" if target.wave_size == target.arch.waves[0] else f"+wavefrontsize{target.wave_size}"
    key = target.arch.name, wave, level
    if key not in _machines.kept:
        _machines.kept[key] = Machine(TRIPLE, *key)
    return _machines.kept[key]


def head(tm: Machine) -> str:
    """The beginning of IR for a machine."""
    return f'target datalayout = "{tm.layout}"\ntarget triple = "{TRIPLE}"\n'


def is_long(ir: str) -> bool:
    """Whether IR is so long that LLVM gets a lower optimisation level."""
    return ir.count("\n") > LONG_LINES


def _has_pairs(ir: str, target: Target) -> bool:
    """Whether SLP vectorisation may find operations of which the chip does two at a time. It pairs integers as well,
    which costs an instruction more, and takes up to half of O3's time."""
    return bool(_OF_16_BITS.search(ir) or (target.arch.packed_f32 and _OF_F32.search(ir)))


def prepare_for_long_code() -> None:
    """Leave out, from now on and in this process, what takes time that grows with the square of a function's length:
    moving instructions, within blocks and out of loops, and the passes over IR before instructions are selected."""
    _prepare()
    for option in ("-enable-misched=false", "-disable-machine-licm", "-disable-cgp"):
        library.set_option(option)


def optimised(ir: str, target: Target, simple: bool = False, least: bool = False) -> tuple[Module, Machine]:
    """Parse, verify and optimise IR text. Returns (LLVM module, target machine); raises CodegenError.

    simple: the IR has no calls to functions of its own. Long IR then gets a short pipeline, as the compiler that made
    the PTX has optimised it before. least: only the passes that code generation requires."""
    if before := workarounds.needed(ir, target, optimised=False):
        ir = workarounds.rewritten(ir, before)
    level = LEAST_CODEGEN_LEVEL if least else LONG_CODEGEN_LEVEL if is_long(ir) else CODEGEN_LEVEL
    tm = machine(target, level)
    try:
        module = Module(head(tm) + ir)
        module.verify()
    except RuntimeError as error:
        raise CodegenError(f"LLVM does not accept our IR: {error}") from None
    slp = _has_pairs(ir, target) and (".dispatch:" not in ir or not avoided.applies("pairs"))
    short = simple and (least or ir.count("\n") > FULL_LINES)
    if simple and not short and not slp and SHARED not in ir:
        tm.optimise(module, slp, EARLY)
        tm.simplify(module)
    else:
        tm.optimise(module, slp, SHORT if short else ())
    rewrites = workarounds.needed(ir, target, optimised=True)
    if exits.may_apply(ir) and not (short or least):
        rewrites.insert(0, exits.rewrite)
    if branches.may_apply(ir):
        rewrites.append(branches.rewrite)
    if conversions.may_apply(ir):
        rewrites.append(conversions.rewrite)
    if halves.may_apply(ir):
        rewrites.append(halves.rewrite)
    if rewrites:
        text = str(module)
        if (safe := workarounds.rewritten(text, rewrites)) is not text:
            module = Module(safe)
    if stack.may_be_too_large(ir, target) and (problem := stack.problem(str(module), target)):
        raise CodegenError(problem)
    return module, tm


def emit(ir: str, target: Target, form: str = "obj", simple: bool = False, least: bool = False) -> bytes:
    """Compile IR text to "obj" (ELF bytes), "asm" or "ll" (optimised IR; both as UTF-8). Raises CodegenError."""
    module, tm = optimised(ir, target, simple, least)
    if form == "ll":
        return str(module).encode()
    if form == "asm":
        return tm.emit_assembly(module)
    return tm.emit_object(module)
