"""Function heads and tails: kernels and .func functions as LLVM function definitions."""

from __future__ import annotations

from ptx2amd.lower.core.arguments import Signature, array, is_array, scalar, signature
from ptx2amd.lower.core.body import lower_body
from ptx2amd.lower.core.function import FunctionLowering, ModuleContext, quoted
from ptx2amd.lower.core.kernel import KernelLowering
from ptx2amd.lower.core.names import Register, Storage
from ptx2amd.lower.core.symbols import llvm_name
from ptx2amd.lower.core.value import Val, width
from ptx2amd.lower.memory import arena
from ptx2amd.lower.runtime import special
from ptx2amd.lower.warp import named
from ptx2amd.middle.body import Body
from ptx2amd.ptx.ast import Function, Var
from ptx2amd.ptx.heads import NO_LIMIT, max_threads, most_registers, param_layout, register_limit
from ptx2amd.ptx.layout import align_of
from ptx2amd.regex import regex

# Inputs of a kernel that our code never reads, and those that an intrinsic reads
NEVER_USED = (
    *("dispatch-id", "queue-ptr", "hostcall-ptr", "heap-ptr", "default-queue"),
    *("completion-action", "multigrid-sync-arg", "lds-kernel-id"),
    *(f"cluster-id-{axis}" for axis in "xyz"),
)
INPUTS = {
    "implicitarg-ptr": "llvm.amdgcn.implicitarg.ptr",
    **{f"workgroup-id-{axis}": f"llvm.amdgcn.workgroup.id.{axis}" for axis in "xyz"},
    **{f"workitem-id-{axis}": f"llvm.amdgcn.workitem.id.{axis}" for axis in "xyz"},
}
NULL_FAULTS = "null_pointer_is_valid"  # accesses of generic address 0 are not undefined: programs end themselves so
FLUSH = ' "denormal-fp-math-f32"="preserve-sign,preserve-sign"'
NO_IEEE = ' "amdgpu-ieee"="false"'  # min and max take any NaN for absent, as in PTX, in one instruction


def lower_function(module: ModuleContext, kernel: KernelLowering, function: Function, body: Body) -> str:
    """The LLVM definition of a PTX function with this body. Raises Ptx2amdError with function and line."""
    fn = FunctionLowering(function.proto.name, kernel.plan.target, module, kernel)
    fn.is_kernel = function.kind == "entry"
    how = signature(function.proto, not fn.is_kernel and module.calls.may_exit(function))
    head = kernel_head(fn, function) if fn.is_kernel else function_head(fn, function, how)
    fn.return_block, fn.exit_block = "return", "return" if fn.is_kernel else "exit"
    fn.lines.append("body:")
    if fn.is_kernel and fn.target.padded:
        live = fn.block("live")
        fn.branch(special.padding(fn), "return", live)
        fn.label(live)
        special.padded_threads(fn)
    arena.enter(fn)
    if fn.is_kernel and fn.plan.partial_barriers:
        named.prepare(fn, function)
    lower_body(fn, body)
    if not fn.ended():
        fn.branch(fn.return_block)
    named.leave(fn)
    arena.leave(fn)
    tail(fn, function, how)
    if fn.is_kernel:
        read_together(fn)
    module.helpers |= fn.helpers
    where = module.annotated(fn, function)
    text = "\n".join(["entry:", *fn.entry, "  br label %body", *fn.lines, "}"])
    inputs = unused_inputs(text, not fn.calls, fn.target.arch.apertures) if fn.is_kernel else ""
    return f"{head}{inputs}{where} {{\n{text}"


PARAMETER = regex(r"%p\d+\b(?!\.)")
ENDS = regex(r"  (?:br|switch|ret|unreachable)\b|[^ ]")  # of a block: its terminator, or the label of the next one
TOGETHER = 24  # dwords of parameters at most, which take as many scalar registers


def read_together(fn: FunctionLowering) -> None:
    """Read all scalar parameters before a kernel's first branch, such as `if (i >= n) return`: LLVM else reads those
    that are used behind it there, and waits twice. Empty inline assembly uses them, and has no other effect."""
    body = fn.lines.index("body:") + 1
    end = next((i for i in range(body, len(fn.lines)) if ENDS.match(fn.lines[i])), 0)
    if not fn.lines[end].startswith("  br i1 "):
        return
    read = {name for line in fn.lines for name in PARAMETER.findall(line)}
    values = [s.argument for s in fn.names.values() if isinstance(s, Storage) and s.argument and s.argument.ref in read]
    values = [v for v in values if v.ty in ("i32", "i64")]
    if len(values) > 1 and sum(width(v.ty) for v in values) <= 32 * TOGETHER:
        registers = ",".join("s" for _ in values)
        use = f'  call void asm sideeffect "", "{registers}"({", ".join(v.t for v in values)}) memory(none)'
        fn.lines[end] = f"{use}\n{fn.lines[end]}"


#: Instructions that need the apertures of LDS and scratch.
GENERIC = regex(r"addrspacecast ptr addrspace\([35]\)|@llvm\.amdgcn\.is\.(?:shared|private)\(")


def unused_inputs(text: str, alone: bool, apertures: bool) -> str:
    """Attributes for the kernel inputs that `text` does without; `alone`: it calls no other function; `apertures`: the
    chip has registers for what LLVM otherwise reads from the hidden arguments to make generic addresses."""
    names = list(NEVER_USED)
    if "llvm.amdgcn.dispatch.ptr" not in text:  # which functions that are called do not read
        names.append("dispatch-ptr")
    if alone:
        names += [name for name, intrinsic in INPUTS.items() if intrinsic not in text]
        if "addrspacecast ptr addrspace(5)" not in text:
            names.append("flat-scratch-init")
    if not apertures and GENERIC.search(text) and "implicitarg-ptr" in names:
        names.remove("implicitarg-ptr")
    return "".join(f' "amdgpu-no-{name}"' for name in names)


def kernel_head(fn: FunctionLowering, function: Function) -> str:
    """A kernel's head. Parameters are read as LLVM's, which have the same places, or through the kernarg segment."""
    parameters = []
    layout = list(zip(function.proto.params, param_layout(function), strict=True))
    natural = all(is_array(var) or align == size for var, (_, size, align) in layout)  # LLVM aligns scalars so
    if function.proto.params:
        base = Val("ptr addrspace(4)", "%kernarg")
        fn.entry.append("  %kernarg = call align 16 ptr addrspace(4) @llvm.amdgcn.kernarg.segment.ptr()")
    for i, (var, (offset, _, align)) in enumerate(layout):
        pointer = base
        if offset:
            pointer = Val(base.ty, f"%p{i}.at")
            fn.entry.append(f"  {pointer} = getelementptr inbounds i8, {base.t}, i64 {offset}")
        argument = Val(scalar(var), f"%p{i}") if natural and not is_array(var) else None
        fn.names[var.name] = Storage(var, pointer, True, argument)
        if is_array(var):
            parameters.append(f"ptr addrspace(4) byref({array(var)}) align {align} %p{i}")
        else:
            parameters.append(f"{scalar(var)} %p{i}")
    if fn.plan.launches:
        parameters.append("i64 %launch.records")
    if fn.plan.launch_words:
        parameters += ["i64 %launch.workspace", "i64 %launch.dynamic"]
    limit = max_threads(function)
    least = limit if "reqntid" in function.directives else 1
    if fn.target.padded:
        least, limit = 2 * least, 2 * min(limit, fn.target.max_block)
    attributes = f'"amdgpu-flat-work-group-size"="{least},{limit}" "uniform-work-group-size"="true"'
    attributes += NO_IEEE + occupancy(fn, function) + registers(fn, function)
    if limit > 512:  # 128 registers in all, of which LLVM would set half aside
        attributes += no_accumulation(fn)
    if fn.f32_denormals == "flush":
        attributes += FLUSH
    return (
        f"define protected amdgpu_kernel void {quoted(function.proto.name)}({', '.join(parameters)}) "
        f"convergent {NULL_FAULTS} nounwind {attributes}"
    )


def no_accumulation(fn: FunctionLowering) -> str:
    """Of one set of registers for both uses, none for accumulation."""
    return ' "amdgpu-agpr-alloc"="0"' if "bf16_1k" in fn.target.arch.matrix else ""


def occupancy(fn: FunctionLowering, function: Function) -> str:
    """The number of waves per SIMD that .minnctapersm and .maxnreg ask for. A limit of N registers lets
    64 * 32 / N warps run on an NVIDIA processor; the same share of a SIMD's waves is asked for here."""
    arch = fn.target.arch
    most = 8 if arch.major <= 9 else 16  # waves of a SIMD, of which a compute unit has 4 (from gfx10 on, 2)
    least = 1
    if "maxnreg" in function.directives:
        least = most * 32 // max(32, function.directives["maxnreg"][0])
    if "minnctapersm" in function.directives:
        block = max_threads(function) << fn.target.padded
        waves = -(-block // fn.target.wave_size) * function.directives["minnctapersm"][0]
        least = max(least, -(-waves // (4 if arch.major <= 9 else 2)))
    return f' "amdgpu-waves-per-eu"="{min(least, most)}"' if least > 1 else ""


LEAST_REGISTERS = 32  # LLVM passes arguments in so many


def registers(fn: FunctionLowering, function: Function) -> str:
    """The vector registers that .maxnreg allows; functions may use those of any kernel. Where accumulation registers
    count too, LLVM uses half of them."""
    limit = max(LEAST_REGISTERS, register_limit(function) if fn.is_kernel else most_registers(fn.ptx))
    if limit >= NO_LIMIT:
        return ""
    return f' "amdgpu-num-vgpr"="{limit // 2 if "bf16_1k" in fn.target.arch.matrix else limit}"'


def function_head(fn: FunctionLowering, function: Function, how: Signature) -> str:
    """A .func's head: arguments are stored to allocas, which SROA takes away."""
    parameters = []
    if how.sret is not None:
        parameters.append(f"ptr addrspace(5) sret({array(how.sret)}) align {align_of(how.sret)} %result")
        fn.names[how.sret.name] = Storage(how.sret, Val("ptr addrspace(5)", "%result"))
    for i, var in enumerate(function.proto.results):
        if var is not how.sret:
            _scalar_place(fn, var, _result(i), False)
    for i, var in enumerate(function.proto.params):
        if is_array(var):
            parameters.append(f"ptr addrspace(5) byval({array(var)}) align {align_of(var)} %p{i}")
            fn.names[var.name] = Storage(var, Val("ptr addrspace(5)", f"%p{i}"), True)
        else:
            parameters.append(f"{scalar(var)} %a{i}")
            _scalar_place(fn, var, f"%p{i}", True)
            fn.entry.append(f"  store {scalar(var)} %a{i}, ptr addrspace(5) %p{i}")
    attributes = NO_IEEE + no_accumulation(fn) + registers(fn, function)
    if fn.f32_denormals == "flush":
        attributes += FLUSH
    name = quoted(llvm_name(function, fn.plan))
    return f"define internal {how.result} {name}({', '.join(parameters)}) convergent {NULL_FAULTS} nounwind{attributes}"


def _result(number: int) -> str:
    return f"%result{number or ''}"


def _scalar_place(fn: FunctionLowering, var: Var, memory: str, given: bool) -> None:
    """A parameter or result as memory: a .param variable, or a register of the old ABI."""
    ty = scalar(var)
    fn.entry.append(f"  {memory} = alloca {ty}, align {max(4, align_of(var))}, addrspace(5)")
    if var.space == "reg":
        fn.names[var.name] = Register(var.name, 1 if ty == "i1" else int(ty[1:]), ty, memory)
    else:
        fn.names[var.name] = Storage(var, Val("ptr addrspace(5)", memory), given)


def tail(fn: FunctionLowering, function: Function, how: Signature) -> None:
    """The blocks in which all exits of the function meet."""
    fn.lines.append("return:")
    if fn.is_kernel:
        fn.do("ret void")
        return
    values = [fn.op(ty, f"load {ty}, ptr addrspace(5) {_result(i)}") for i, ty in enumerate(how.values)]
    if not how.exits:
        _return(fn, how, values)
        return
    _return(fn, how, [Val("i1", "false"), *values])
    fn.lines.append("exit:")
    _return(fn, how, [Val("i1", "true"), *(Val(ty, "poison") for ty in how.values)])


def _return(fn: FunctionLowering, how: Signature, parts: list[Val]) -> None:
    """Return the value that `how` describes, built from its parts."""
    v = parts[0] if len(parts) == 1 else Val(how.result, "poison")
    for at, part in enumerate(parts if len(parts) > 1 else ()):
        v = fn.op(how.result, f"insertvalue {v.t}, {part.t}, {at}")
    fn.do(f"ret {v.t}" if parts else "ret void")


__all__ = ["lower_function"]
