"""ModuleLowering: kernels of a PTX module, with the functions and variables they use, as one LLVM module.

A kernel is planned first (middle/passes.py), and lowered as its plan says."""

from __future__ import annotations

from functools import cached_property

from ptx2amd.errors import Ptx2amdError, Unsupported
from ptx2amd.interface.environment import CELL_DATA
from ptx2amd.lower.core.body import Action
from ptx2amd.lower.core.debug import DebugInfo, wanted
from ptx2amd.lower.core.entry import lower_function
from ptx2amd.lower.core.function import FunctionLowering, quoted
from ptx2amd.lower.core.kernel import KernelLowering
from ptx2amd.lower.core.module_globals import declarations, definitions
from ptx2amd.lower.core.shared_globals import Shared
from ptx2amd.lower.core.symbols import flavour, llvm_name
from ptx2amd.lower.core.value import Val
from ptx2amd.lower.memory import data, window
from ptx2amd.lower.runtime.facts import facts
from ptx2amd.lower.runtime.helpers import helper_texts
from ptx2amd.lower.runtime.runtime import env
from ptx2amd.lower.runtime.special import special
from ptx2amd.middle.body import Body
from ptx2amd.middle.calls import CallGraph, defined
from ptx2amd.middle.passes import Observer, Pipeline
from ptx2amd.plan.kernel import KernelPlan, Request
from ptx2amd.plan.shared_memory import LdsObject, raised
from ptx2amd.ptx.ast import Function, Module, Var
from ptx2amd.ptx.layout import align_of, size_of
from ptx2amd.records import replace

TABLE = "__ptx2amd_functions"  # of a code object's functions, in the order of their handles


class ModuleLowering:
    """Collects LLVM IR for one target. A kernel that fails leaves nothing behind.

    request: the options; observe: called after each pass; calls: the call graph, if it was built before."""

    def __init__(
        self,
        module: Module,
        request: Request,
        observe: Observer | None = None,
        calls: CallGraph | None = None,
    ) -> None:
        assert request.mode in ("kernel", "module")
        self.module, self.request = module, request
        self.target, self.mode = request.target, request.mode
        self.calls = calls or CallGraph(module)
        self.pipeline = Pipeline(self.calls, observe)
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
        self.debug: DebugInfo | None = DebugInfo(module) if request.lines or wanted(module) else None

    def fresh(self, matrix: str | None = None) -> ModuleLowering:
        """An empty ModuleLowering for the same module and target. matrix: replaces the target's choice of matrix
        instructions."""
        target = self.target if matrix is None else replace(self.target, matrix=matrix)
        return ModuleLowering(self.module, replace(self.request, target=target), self.pipeline.observe, self.calls)

    @property
    def lines(self) -> int:
        """About how many lines of IR the functions have."""
        return sum(text.count("\n") for text in self.texts.values())

    @cached_property
    def segment(self) -> data.Segment:
        if (whole := self.module.whole) is not None and self.mode == "kernel":
            return data.Segment(0, 1, whole.offsets, data.Image(), whole.problems, whole.facts)
        return data.segment(self.module, facts(self.module) if self.mode == "kernel" else {})

    # what lowerings ask for

    def lower_call(self, fn: FunctionLowering, function: Function) -> str:
        """The LLVM name (with @) of a PTX function, which will be lowered for the caller's kernel."""
        name = llvm_name(function, fn.plan)
        if name not in self.texts and name not in fn.kernel.texts:
            fn.kernel.texts[name] = ""
            fn.kernel.pending.append(function)
        return quoted(name)

    def function_table(self, fn: FunctionLowering) -> Val:
        """The functions that have handles, in the caller's FP mode."""
        name = quoted(TABLE + flavour(fn.plan))
        if name not in self.globals:
            functions = [self.module.functions[known] for known in self.calls.handles]
            names = ", ".join(f"ptr {self.lower_call(fn, function)}" for function in functions)
            head = f"{name} = internal unnamed_addr addrspace(4) constant"
            self.globals[name] = f"{head} [{len(functions)} x ptr] [{names}], align 8"
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
        if not defined(function):
            raise Unsupported(f"the address of {name}, which has no definition in this module", fn.name)
        if function.kind == "entry":
            return self._kernel_address(fn, name)
        return Val("ptr", f"inttoptr (i64 {self.calls.handles[name]} to ptr)")

    def _kernel_address(self, fn: FunctionLowering, name: str) -> Val:
        """The address of the facts about a kernel, by which a launch identifies it."""
        if self.mode == "module":
            why = f"the address of kernel {name} (launches from kernels) in whole-module code objects"
            raise Unsupported(f"{why}; ptx2amd run has it", fn.name)
        if name not in self.segment.kernels:
            raise Unsupported(f"the address of kernel {name}, in a module that launches none", fn.name)
        base = fn.op("ptr addrspace(1)", f"inttoptr {env(fn, CELL_DATA).t} to ptr addrspace(1)")
        return fn.displace(base, self.segment.kernels[name])

    def _variable_address(self, fn: FunctionLowering, var: Var, offset: int) -> Val:
        if var.space == "shared":
            part = window.lds_variable(fn.plan, var.name)
            return fn.displace(part or self.shared(var, quoted(var.name)), offset)
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
            return Val("ptr addrspace(3)", f"@{window.DYNAMIC_LDS}")
        size = size_of(var)
        head = f"{name} = internal addrspace(3) global [{size} x i8] poison"
        self.globals.setdefault(name, f"{head}, align {raised(size, align_of(var))}")
        return Val("ptr addrspace(3)", name)

    def _lds(self, plan: KernelPlan, lds: LdsObject) -> None:
        """The object that the kernel's shared memory is."""
        if lds.size:
            name = window.lds_object(plan)
            self.globals[name] = f"{name} = internal addrspace(3) global [{lds.size} x i8] poison, align {lds.align}"
        else:
            self.uses_dynamic_lds = True
            self.dynamic_align = max(self.dynamic_align, lds.align)

    def special(self, fn: FunctionLowering, name: str) -> Val:
        """The value of a special register. Raises Unsupported for one that does not exist."""
        return special(fn, name)

    def annotated(self, fn: FunctionLowering, function: Function) -> str:
        """The debug annotation of a function's head; its instructions get their locations."""
        return f" !dbg !{self.debug.annotate(fn, function)}" if self.debug else ""

    # kernels

    def kernel(self, name: str) -> None:
        """Add a kernel and the functions it needs. Raises Ptx2amdError; then nothing is added."""
        function = self.module.functions.get(name)
        if function is None or function.kind != "entry":
            known = [n for n, f in self.module.functions.items() if f.kind == "entry"]
            raise Ptx2amdError(f"no kernel {name!r} in {self.module.source}; it has {', '.join(known) or 'none'}")
        before = dict(self.globals), set(self.helpers), self.shared_globals.copy(), self.uses_dynamic_lds
        try:
            plan, body = self.pipeline.kernel(function, self.request)
            kernel = KernelLowering(plan)
            if plan.lds is not None:
                self._lds(plan, plan.lds)
            kernel.texts[name] = self._lowered(kernel, function, body)
            while kernel.pending:
                callee = kernel.pending.pop()
                kernel.texts[llvm_name(callee, plan)] = self._lowered(kernel, callee, self.pipeline.function(callee))
            self.plans[name] = plan
            self.texts.update(kernel.texts)
        except RecursionError:
            raise Unsupported("nested too deeply", name, function.line) from None
        finally:
            if name not in self.plans:
                self.globals, self.helpers, self.shared_globals, self.uses_dynamic_lds = before

    def _lowered(self, kernel: KernelLowering, function: Function, body: Body) -> str:
        others, self.shared_globals.cells = self.shared_globals.cells, set()
        text = lower_function(self, kernel, function, body)
        self.function_cells.setdefault(function.proto.name, set()).update(self.shared_globals.cells)
        self.shared_globals.cells |= others
        return text

    def cells(self, name: str) -> frozenset[int]:
        """The cells of the environment that a kernel which was lowered reads (interface/environment.py)."""
        reached = self.calls.reachable(self.module.functions[name])
        return frozenset().union(*(self.function_cells.get(f.proto.name, ()) for f in reached))

    def chosen(self, name: str) -> str:
        """The mapping that was chosen for a kernel; "" if there was only one."""
        return self.plans[name].mapping if self.request.choose else ""

    @property
    def simple(self) -> bool:
        """Whether there are only kernels, without functions that they call."""
        return not self.helpers and len(self.texts) == len(self.plans)

    def ir(self, part: bool = False) -> str:
        """The LLVM module's text (without data layout and triple, which codegen adds).

        part: of a code object, in which another part defines what all of them share."""
        parts = [text for text in self.globals.values() if text]
        parts += declarations(self) if part else definitions(self)
        if self.uses_dynamic_lds:
            parts.append(f"@{window.DYNAMIC_LDS} = external addrspace(3) global [0 x i8], align {self.dynamic_align}")
        parts += self.texts.values()
        parts += helper_texts(self.helpers)
        version = 100 * self.target.arch.code_object
        parts.append("!0 = !{}")
        parts.append(f"!llvm.module.flags = !{{!1{', !2, !3' if self.debug else ''}}}")
        parts.append(f'!1 = !{{i32 1, !"amdhsa_code_object_version", i32 {version}}}')
        if self.debug:
            parts += self.debug.text()
        return "\n".join(parts) + "\n"


__all__ = ["ModuleLowering"]
