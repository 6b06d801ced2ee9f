"""ModuleLowering: kernels of a PTX module, with the functions and variables they use, as one LLVM module.

mode "kernel": variables lie in the data segment, whose address the environment holds; "module": they
are globals of the code object."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from math import prod

from ptx2amd.errors import Ptx2amdError, Unsupported
from ptx2amd.interface.arena import BLOCK_SHARED_LIMIT
from ptx2amd.interface.environment import CELL_DATA
from ptx2amd.lower.core.body import Action
from ptx2amd.lower.core.debug import DebugInfo, wanted
from ptx2amd.lower.core.entry import lower_function
from ptx2amd.lower.core.function import FunctionLowering, quoted
from ptx2amd.lower.core.module_globals import Shared, declarations, definitions
from ptx2amd.lower.core.symbols import flavour, llvm_name
from ptx2amd.lower.core.value import Val
from ptx2amd.lower.memory import data
from ptx2amd.lower.runtime.facts import facts
from ptx2amd.lower.runtime.handles import handles
from ptx2amd.lower.runtime.helpers import helper_texts
from ptx2amd.lower.runtime.launches import row
from ptx2amd.lower.runtime.runtime import env
from ptx2amd.lower.runtime.special import DYNAMIC_LDS
from ptx2amd.lower.warp import named
from ptx2amd.middle.analyses.hazards import Hazard, hazards
from ptx2amd.middle.passes import Observer
from ptx2amd.middle.summary import Summary, summarise
from ptx2amd.plan.shared_memory import LDS, Array, SharedPlan, packed, plan
from ptx2amd.ptx.ast import Function, Module, Var
from ptx2amd.ptx.heads import max_threads, param_layout, required_block
from ptx2amd.ptx.layout import align_of, size_of
from ptx2amd.target import Target

TABLE = "__ptx2amd_functions"  # of a code object's functions, in the order of their handles


@dataclass(slots=True)
class KernelPlan:
    """What the sidecar says of one kernel beside what the code object's metadata says."""

    name: str
    mapping: str
    params: list[tuple[int, int, int]]  # offset, size, align in bytes
    max_threads: int
    static_shared: int
    f32_denormals: str
    cells: frozenset[int]  # of the environment, that it reads (interface/environment.py)
    approximate: list[str] = field(default_factory=list)  # opcodes whose lowering is not exact
    slot: int | None = None  # bytes of static variables in the arena's slot; None: all in LDS
    dynamic: bool = False  # whether it uses dynamic shared memory
    launch_words: bool = False  # whether the launch appends its words to the parameters
    launches: bool = False  # whether it may launch kernels: then there is a word more
    hazards: list[Hazard] = field(default_factory=list)  # where warps wait for each other


class ModuleLowering:
    """Collects LLVM IR for one target. A kernel that fails leaves nothing behind.

    choose: run kernels whose warps wait for each other padded where the target's mapping is paired; variant:
    of the shared memory (plan/shared_memory.py); observe: called after each pass."""

    def __init__(
        self,
        module: Module,
        target: Target,
        mode: str = "kernel",
        choose: bool = False,
        variant: str = LDS,
        observe: Observer | None = None,
    ) -> None:
        assert mode in ("kernel", "module")
        self.module, self.target, self.mode, self.choose = module, target, mode, choose
        self.variant, self.observe = variant, observe
        self.shared_plan: SharedPlan | None = None  # of the kernel that is being lowered
        self.has_launch_words = False  # the same
        self.launches = False  # the same: whether it may launch kernels
        self.block_size: tuple[int, int, int] | None = None  # the same: .reqntid
        self.named_barriers: frozenset[int | None] = frozenset()  # the same: see lower/warp/named.py
        self.owner = ""  # the same: its name, where it has its own copies of functions
        self.kernel_target = target  # of the kernel that is being lowered
        self.actions: dict[int, Action] = {}
        self.texts: dict[str, str] = {}  # LLVM functions by name
        self.globals: dict[str, str] = {}
        self.outlined: dict[str, list[str]] = {}  # functions among the globals -> types of their results
        self.helpers: set[str] = set()
        self.shared_globals = Shared()
        self.function_cells: dict[str, set[int]] = {}  # the same by function
        self.whole_waves = False  # whether it computes for whole waves, in registers that LLVM cannot spill
        self.uses_dynamic_lds = False
        self.dynamic_align = 16  # of the dynamic shared memory, in bytes
        self.plans: dict[str, KernelPlan] = {}
        self.summaries: dict[str, Summary] = {}
        self.debug: DebugInfo | None = DebugInfo(module) if wanted(module) else None
        self._pending: list[tuple[Function, str]] = []  # requested functions, with their denormal mode
        self._new: dict[str, str] = {}

    def fresh(self, matrix: str | None = None) -> ModuleLowering:
        """An empty one for the same module and target. matrix: other matrix instructions than the target's."""
        target = self.target if matrix is None else replace(self.target, matrix=matrix)
        return ModuleLowering(self.module, target, self.mode, self.choose, self.variant, self.observe)

    @property
    def lines(self) -> int:
        """About how many lines of IR the functions have."""
        return sum(text.count("\n") for text in self.texts.values())

    @cached_property
    def segment(self) -> data.Segment:
        return data.segment(self.module, facts(self.module) if self.mode == "kernel" else {})

    @cached_property
    def handles(self) -> dict[str, int]:
        return handles(self.module)

    # what lowerings ask for

    def summary(self, function: Function) -> Summary:
        """What calls and modes a function's body has (parsed and computed on first use)."""
        name = function.proto.name
        found = self.summaries.get(name)
        if found is None:
            found = self.summaries[name] = summarise(self.module, function)
        return found

    def reachable(self, function: Function) -> list[Function]:
        """`function` and the defined functions that it calls, names or may call through addresses,
        transitively."""
        seen = {function.proto.name: function}
        work = [function]
        while work:
            summary = self.summary(work.pop())
            for name in (*summary.functions, *(self.handles if summary.indirect else ())):
                callee = self.module.functions.get(self.module.aliases.get(name, name))
                if callee is not None and callee.proto.name not in seen and _defined(callee):
                    seen[callee.proto.name] = callee
                    work.append(callee)
        return list(seen.values())

    def may_exit(self, function: Function) -> bool:
        """Whether a thread may end inside a call of `function`; the same for all that have their address taken,
        as calls through addresses must be alike."""
        if function.proto.name in self.handles:
            return self.indirect_may_exit
        return any(self.summary(f).exits for f in self.reachable(function))

    @cached_property
    def indirect_may_exit(self) -> bool:
        """Whether a function whose address is taken may end the thread."""
        taken = (self.module.functions[name] for name in self.handles)
        return any(self.summary(f).exits for function in taken for f in self.reachable(function))

    def request(self, fn: FunctionLowering, function: Function) -> str:
        """The LLVM name (with @) of a PTX function, which will be lowered in the caller's FP mode."""
        name = llvm_name(function, fn.f32_denormals, fn.target.mapping, self.owner)
        if name not in self.texts and name not in self._new:
            self._new[name] = ""
            self._pending.append((function, fn.f32_denormals))
        return quoted(name)

    def function_table(self, fn: FunctionLowering) -> Val:
        """The functions that have handles, in the caller's FP mode."""
        name = quoted(TABLE + flavour(fn.f32_denormals, fn.target.mapping, self.owner))
        if name not in self.globals:
            names = ", ".join(f"ptr {self.request(fn, self.module.functions[known])}" for known in self.handles)
            head = f"{name} = internal unnamed_addr addrspace(4) constant"
            self.globals[name] = f"{head} [{len(self.handles)} x ptr] [{names}], align 8"
        return Val("ptr addrspace(4)", name)

    def symbol_address(self, fn: FunctionLowering, name: str, offset: int) -> Val:
        """The address of a module-level variable, plus an offset in bytes, or a function's handle."""
        name = self.module.aliases.get(name, name)
        var = self.module.variables.get(name)
        if var is not None:
            return self._variable_address(fn, var, offset)
        function = self.module.functions.get(name)
        if function is None:
            raise Unsupported(f"{name} is not declared", fn.name)
        if not _defined(function):
            raise Unsupported(f"the address of {name}, which has no definition in this module", fn.name)
        if function.kind == "entry":
            return self._kernel_address(fn, name)
        return Val("ptr", f"inttoptr (i64 {self.handles[name]} to ptr)")

    def _kernel_address(self, fn: FunctionLowering, name: str) -> Val:
        """Where the facts about a kernel are, which a launch names it by."""
        if self.mode == "module":
            why = f"the address of kernel {name} (launches from kernels) in whole-module code objects"
            raise Unsupported(f"{why}; ptx2amd run has it", fn.name)
        if name not in self.segment.kernels:
            raise Unsupported(f"the address of kernel {name}, in a module that launches none", fn.name)
        base = fn.op("ptr addrspace(1)", f"inttoptr {env(fn, CELL_DATA).t} to ptr addrspace(1)")
        return fn.displace(base, self.segment.kernels[name])

    def _variable_address(self, fn: FunctionLowering, var: Var, offset: int) -> Val:
        if var.space == "shared":
            return fn.displace(self.shared(var, quoted(var.name)), offset)
        if var.space not in ("global", "const"):
            raise Unsupported(f"module variable {var.name} in .{var.space} space", fn.name)
        if var.linkage == "extern":
            raise Unsupported(f"{var.name} is external: it has no definition in this module", fn.name)
        space = 1 if var.space == "global" else 4
        if var.name in self.segment.problems:
            raise Unsupported(self.segment.problems[var.name], fn.name)
        if self.mode == "module":
            self.shared_globals.variables.add(var.name)
            return fn.displace(Val(f"ptr addrspace({space})", quoted(var.name)), offset)
        base = fn.op(f"ptr addrspace({space})", f"inttoptr {env(fn, CELL_DATA).t} to ptr addrspace({space})")
        return fn.displace(base, self.segment.offsets[var.name] + offset)

    def shared(self, var: Var, name: str) -> Val:
        """A shared variable as an LDS global; all unsized ones are the dynamic shared memory."""
        if size_of(var) == 0 or var.linkage == "extern":
            self.uses_dynamic_lds = True
            self.dynamic_align = max(self.dynamic_align, align_of(var))
            return Val("ptr addrspace(3)", f"@{DYNAMIC_LDS}")
        ty = f"[{size_of(var)} x i8]"
        self.globals.setdefault(name, f"{name} = internal addrspace(3) global {ty} poison, align {align_of(var)}")
        return Val("ptr addrspace(3)", name)

    def static_shared(self, fn: FunctionLowering) -> int:
        """Bytes of static shared memory that a function and what it calls declare."""
        return self.static_shared_of(self.module.functions[fn.name])

    def static_shared_of(self, function: Function) -> int:
        """Bytes of static shared memory of `function` and of all that it calls."""
        return packed(self._arrays(function))

    def _arrays(self, function: Function) -> list[Array]:
        """The shared variables of `function` and of all that it calls; the dynamic ones have no bytes."""
        reached = self.reachable(function)
        used = {name for f in reached for name in self.summary(f).functions}
        found = [(name, v) for name, v in self.module.variables.items() if v.space == "shared" and name in used]
        found += [(f"{f.proto.name}.{v.name}", v) for f in reached for v in self.summary(f).shared]
        return [Array(name, size_of(v), align_of(v)) for name, v in found]

    def _shared_plan(self, kernel: Function) -> SharedPlan | None:
        """Where the kernel's shared memory goes. Raises Unsupported for more than a block can have."""
        arrays = self._arrays(kernel)
        size = packed(arrays)
        most = max(BLOCK_SHARED_LIMIT, self.target.arch.lds)
        if size > most:
            raise Unsupported(f"{size} bytes of static shared memory; a block can have {most}", kernel.proto.name)
        return plan(arrays, self.target.arch, self.variant)

    def _own_functions(self, kernel: Function) -> bool:
        """Whether a kernel must have its own copies of functions: for its plan of shared memory, or its barriers."""
        return self.shared_plan is not None or any(self.summary(f).parts for f in self.reachable(kernel))

    def launch_words(self, kernel: Function) -> bool:
        """Whether the launch has to append its words to the parameters of a kernel: it launches kernels, reads the
        grid's workspace, or has shared memory whose size HIP is not told."""
        if self.mode == "module":
            return False
        if self.launches or self.shared_plan is not None:
            return True
        return any("%envreg" in f.text for f in self.reachable(kernel))

    def may_launch(self, kernel: Function) -> bool:
        """Whether a kernel, or what it calls, uses the library for launches from kernels."""
        if self.mode == "module":
            return False
        return any(
            row(name) and not _defined(self.module.functions[name])
            for f in self.reachable(kernel)
            for name in self.summary(f).functions
            if name in self.module.functions
        )

    # kernels

    def kernel(self, name: str) -> None:
        """Add a kernel and the functions it needs. Raises Ptx2amdError; then nothing is added."""
        function = self.module.functions.get(name)
        if function is None or function.kind != "entry":
            known = [n for n, f in self.module.functions.items() if f.kind == "entry"]
            raise Ptx2amdError(f"no kernel {name!r} in {self.module.source}; it has {', '.join(known) or 'none'}")
        before = dict(self.globals), set(self.helpers), self.shared_globals.copy(), self.uses_dynamic_lds
        self._new, self._pending = {}, []
        try:
            mode = self._denormals(function)
            found = hazards(self.module, self.reachable(function))
            self.kernel_target = self._target(function, found)
            self.shared_plan = self._shared_plan(function)
            self.launches = self.may_launch(function)
            self.has_launch_words = self.launch_words(function)
            self.block_size = required_block(function)
            self.named_barriers = named.numbers(self, function)
            self.owner = name if self._own_functions(function) else ""
            self._new[name] = self._lowered(function, mode)
            while self._pending:
                callee, mode = self._pending.pop()
                text = self._lowered(callee, mode)
                self._new[llvm_name(callee, mode, self.kernel_target.mapping, self.owner)] = text
            self.plans[name] = self._plan(function, mode, found)
        except RecursionError:
            raise Unsupported("nested too deeply", name, function.line) from None
        finally:
            failed = name not in self.plans
            if failed:
                self.globals, self.helpers, self.shared_globals, self.uses_dynamic_lds = before
            else:
                self.texts.update(self._new)
            self._new, self._pending = {}, []

    def _lowered(self, function: Function, mode: str) -> str:
        others, self.shared_globals.cells = self.shared_globals.cells, set()
        text = lower_function(self, function, mode)
        self.function_cells.setdefault(function.proto.name, set()).update(self.shared_globals.cells)
        self.shared_globals.cells |= others
        return text

    def _denormals(self, kernel: Function) -> str:
        """The f32 denormal mode most of the kernel's instructions ask for: "flush" or "ieee"."""
        reached = [self.summary(f) for f in self.reachable(kernel)]
        return "flush" if sum(s.flush for s in reached) > sum(s.ieee for s in reached) else "ieee"

    def _target(self, function: Function, found: list[Hazard]) -> Target:
        """The kernel's target: its mapping chosen. Raises Unsupported for blocks and clusters that it has not."""
        cluster = function.directives.get("reqnctapercluster", ())
        if prod(cluster) > 1:
            raise Unsupported(f"clusters of {prod(cluster)} blocks; a cluster has one block", function.proto.name)
        chosen = self.target
        # What is known at launches only: they take a padded variant then (per-kernel code objects).
        hazardous = [h for h in found if not h.lanes and (self.mode == "module" or not h.at_launch)]
        if self.choose and chosen.paired and hazardous:
            chosen = replace(chosen, mapping="padded")
        block = max_threads(function)
        if "reqntid" in function.directives and block > chosen.max_block:
            reason = f"blocks of {block} threads, where {chosen.mapping} warps allow {chosen.max_block}"
            why = f": {found[0]}" if found else ""
            raise Unsupported(reason + why, function.proto.name)
        return chosen

    def _plan(self, function: Function, mode: str, found: list[Hazard]) -> KernelPlan:
        approximate = sorted({o for f in self.reachable(function) for o in self.summary(f).approximate})
        return KernelPlan(
            function.proto.name,
            self.kernel_target.mapping,
            param_layout(function),
            min(max_threads(function), self.kernel_target.max_block),
            self.static_shared_of(function),
            mode,
            frozenset().union(*(self.function_cells.get(f.proto.name, ()) for f in self.reachable(function))),
            approximate,
            None if self.shared_plan is None else self.shared_plan.dynamic,
            not all(array.size for array in self._arrays(function)),
            self.has_launch_words,
            self.launches,
            found,
        )

    def chosen(self, name: str) -> str:
        """The mapping that the analysis chose for a kernel, "" where it was not asked."""
        return self.plans[name].mapping if self.choose else ""

    @property
    def simple(self) -> bool:
        """Whether there are kernels only, and no functions that they call."""
        return not self.helpers and len(self.texts) == len(self.plans)

    def ir(self, part: bool = False) -> str:
        """The LLVM module's text (without data layout and triple, which codegen adds).

        part: of a code object, in which another part defines what all of them share."""
        parts = [text for text in self.globals.values() if text]
        parts += declarations(self) if part else definitions(self)
        if self.uses_dynamic_lds:
            parts.append(f"@{DYNAMIC_LDS} = external addrspace(3) global [0 x i8], align {self.dynamic_align}")
        parts += self.texts.values()
        parts += helper_texts(self.helpers)
        version = 100 * self.target.arch.code_object
        parts.append("!0 = !{}")
        parts.append(f"!llvm.module.flags = !{{!1{', !2, !3' if self.debug else ''}}}")
        parts.append(f'!1 = !{{i32 1, !"amdhsa_code_object_version", i32 {version}}}')
        if self.debug:
            parts += self.debug.text()
        return "\n".join(parts) + "\n"


def _defined(function: Function) -> bool:
    return bool(function.text) or function.scope is not None


__all__ = ["KernelPlan", "ModuleLowering"]
