"""The state of lowering one kernel."""

from __future__ import annotations

from ptx2amd.plan.kernel import KernelPlan
from ptx2amd.ptx.ast import Function
from ptx2amd.records import dataclass, field


@dataclass(slots=True)
class KernelLowering:
    """texts: LLVM functions by name, so far; pending: functions that these call and that are still to be lowered."""

    plan: KernelPlan
    texts: dict[str, str] = field(default_factory=dict)
    pending: list[Function] = field(default_factory=list)
