"""The memory model: PTX semantics and scopes in LLVM's words, shared by loads, stores, atomics and fences."""

from __future__ import annotations

from ptx2amd.lower.core.emit import Emitter
from ptx2amd.lower.core.value import Val, width

# PTX scope -> LLVM synchronisation scope, as it is written in an instruction
SCOPES = {
    "warp": 'syncscope("wavefront") ',
    "cta": 'syncscope("workgroup") ',
    "cluster": 'syncscope("agent") ',
    "gpu": 'syncscope("agent") ',
    "gl": 'syncscope("agent") ',
    "sys": "",
}
# PTX semantics -> LLVM ordering
ORDERS = {
    "relaxed": "monotonic",
    "acquire": "acquire",
    "release": "release",
    "acq_rel": "acq_rel",
    "sc": "seq_cst",
}


def fence(fn: Emitter, order: str, scope: str) -> None:
    """A fence of LLVM ordering `order` at PTX scope `scope`."""
    fn.do(f"fence {SCOPES[scope]}{order}")


def vector(fn: Emitter, parts: list[Val]) -> Val:
    """Values of one type as an LLVM vector; a single one as it is."""
    if len(parts) == 1:
        return parts[0]
    whole = Val(f"<{len(parts)} x {parts[0].ty}>", "poison")
    for i, part in enumerate(parts):
        whole = fn.op(whole.ty, f"insertelement {whole.t}, {part.t}, i32 {i}")
    return whole


def elements(fn: Emitter, whole: Val, ty: str, count: int) -> list[Val]:
    """The inverse of `vector`: `count` values of type `ty` out of any value of that total width."""
    if count == 1:
        return [fn.cast(whole, ty)]
    whole = fn.cast(whole, f"<{count} x {ty}>")
    return [fn.op(ty, f"extractelement {whole.t}, i32 {i}") for i in range(count)]


def byte_size(ty: str) -> int:
    return width(ty) // 8
