"""One row per exported symbol of the driver API."""

from __future__ import annotations

from ptx2amd.api import spec
from ptx2amd.records import dataclass


@dataclass(frozen=True)
class Function(spec.Function):
    """An exported function of the driver API; `spec.Function` has most of the fields.

    `symbol` includes its `_v2`, `_v3` suffix; `since` is the CUDA version (12040 = 12.4) from which cuGetProcAddress
    returns it for the plain name. `ptsz` and `ptds` are the versions from which a variant with the per-thread default
    stream exists (`_ptsz`: the function takes a stream; `_ptds`: it uses the default stream implicitly).

    `context` is the context in which the function works (contexts.py has the reasons by group, and cuda.h's
    documentation):
    - "current": the calling thread's current context; without one, CUDA_ERROR_INVALID_CONTEXT;
    - a parameter: the current context, or if there is none, that object's own; the default streams have none;
    - "any": the current context, or if there is none, that of the first device;
    - "none": no context is needed.

    `absent` names a feature that no device here has (absent.py). `also` lists further (name, since) pairs under which
    cuGetProcAddress finds the symbol.
    """

    answer: str = "CUDA_ERROR_NOT_SUPPORTED"
    context: str = "current"
    ptsz: int = 0
    ptds: int = 0
    also: tuple[tuple[str, int], ...] = ()

    @property
    def name(self) -> str:
        """The name for cuGetProcAddress: the symbol without its version suffix."""
        head, _, tail = self.symbol.rpartition("_v")
        return head if head and tail.isdigit() else self.symbol

    def variants(self) -> list[tuple[str, int]]:
        return [(suffix, since) for suffix, since in (("_ptsz", self.ptsz), ("_ptds", self.ptds)) if since]

    @property
    def owner(self) -> str:
        """The type of the object whose context is used if none is current; "": none."""
        if self.context in ("current", "any", "none"):
            return ""
        parameter = self.named[self.context]
        return "CUstream" if parameter.role == "stream" else parameter.type
