"""Values of whole waves, for matrix instructions: they take part with all lanes of a wave, whatever EXEC says.

All between the fragments is then computed in LLVM's whole-wave mode, in registers that it keeps from other uses: what
an instruction writes to lanes that are off may be what they still need."""

from __future__ import annotations

from ptx2amd.lower.core.function import FunctionLowering
from ptx2amd.lower.core.value import Val


def enter(fn: FunctionLowering, v: Val) -> Val:
    """A 32-bit value of the active lanes, for a computation of the whole wave."""
    fn.module.whole_waves = True
    return fn.op("i32", f"call i32 @llvm.amdgcn.set.inactive.i32({fn.cast(v, 'i32').t}, i32 poison)")


def leave(fn: FunctionLowering, v: Val) -> Val:
    """A 32-bit value of such a computation, in the active lanes."""
    return fn.call("llvm.amdgcn.strict.wwm.i32", "i32", v)
