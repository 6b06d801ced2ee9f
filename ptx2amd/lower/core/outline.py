"""Outlining: long code that is needed often becomes LLVM functions, which are not inlined."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ptx2amd.lower.core.entry import FLUSH, NO_IEEE, NULL_FAULTS
from ptx2amd.lower.core.function import FunctionLowering, quoted
from ptx2amd.lower.core.value import Val

Make = Callable[[FunctionLowering, list[Val]], list[Val]]


def outlined(fn: FunctionLowering, name: str, args: Sequence[Val], make: Make) -> list[Val]:
    """What `make` gives for `args`, by a call of a function that the LLVM module has once for each name (and FP mode
    and mapping). `make` may use nothing else but the lane's number."""
    full = quoted(f"{name}.{fn.f32_denormals}.{fn.target.mapping}")
    globals_, results = fn.module.globals, fn.module.outlined
    if full not in globals_:
        inner = FunctionLowering(fn.name, fn.target, fn.module, fn.kernel)
        inner.f32_denormals = fn.f32_denormals
        found = make(inner, [Val(arg.ty, f"%a{i}") for i, arg in enumerate(args)])
        results[full] = [value.ty for value in found]
        globals_[full] = _definition(inner, full, args, found)
    fn.calls = True
    ty = _struct(results[full])
    both = fn.op(ty, f"call fastcc {ty} {full}({', '.join(arg.t for arg in args)})")
    return [fn.op(part, f"extractvalue {both.t}, {i}") for i, part in enumerate(results[full])]


def _struct(types: Sequence[str]) -> str:
    return "{ " + ", ".join(types) + " }"


def _definition(inner: FunctionLowering, name: str, args: Sequence[Val], found: Sequence[Val]) -> str:
    ty = _struct([value.ty for value in found])
    whole = Val(ty, "poison")
    for i, value in enumerate(found):
        whole = inner.op(ty, f"insertvalue {whole.t}, {value.t}, {i}")
    inner.do(f"ret {whole.t}")
    flush = FLUSH if inner.f32_denormals == "flush" else ""
    parameters = ", ".join(f"{arg.ty} %a{i}" for i, arg in enumerate(args))
    head = (
        f"define internal fastcc {ty} {name}({parameters}) noinline nounwind convergent {NULL_FAULTS}{flush}{NO_IEEE}"
    )
    return "\n".join([f"{head} {{", "entry:", *inner.entry, "  br label %body", "body:", *inner.lines, "}"])
