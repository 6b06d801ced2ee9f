"""The memory model: PTX semantics and scopes as LLVM orderings and sync scopes, shared by loads, stores, atomics and
fences."""

from __future__ import annotations

from ptx2amd.codegen.workarounds import avoided
from ptx2amd.lower.core.emit import Emitter
from ptx2amd.lower.core.function import FunctionLowering
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


ACQUIRES, RELEASES = ("acquire", "acq_rel", "sc"), ("release", "acq_rel", "sc")
#: S_WAITCNT's immediates for vmcnt(0), up to GFX9, and for vmcnt(0) and lgkmcnt(0), by generation.
_VMCNT_0 = 0x0F70
_ALL_0 = {8: 0x0070, 9: 0x0070, 10: 0x0070, 11: 0x0007}


def fence(fn: FunctionLowering, order: str, scope: str) -> None:
    """A fence of LLVM ordering `order` at PTX scope `scope`."""
    if scope != "warp":
        settle(fn, order != "acquire")
    fn.do(f"fence {SCOPES[scope]}{order}")
    if scope == "cta" or order != "acquire":
        complete(fn, scope)


def complete(fn: FunctionLowering, scope: str) -> None:
    """Up to GFX9, wait for accesses to global memory behind a release, and behind an acquire of scope `cta`.

    The waves of a block share an L1 in order, so LLVM leaves accesses in flight that are ordered among them only.
    But a wave that acquires what another one has written and then releases it to other blocks, which PTX's causality
    order permits, would wait for its own accesses only; and LDS is not in order with global memory. At wider scopes
    LLVM does wait, but it removes the wait behind a write-back of L2 (gfx942) where it knows of no other access in
    flight."""
    if scope != "warp" and fn.target.arch.major <= 9 and avoided.applies("waits"):
        fn.do(f"call void @llvm.amdgcn.s.waitcnt(i32 {_VMCNT_0})")


def settle(fn: FunctionLowering, releases: bool) -> None:
    """In a loop, wait for accesses before a fence by instructions that LLVM leaves alone.

    LLVM's own waits at fences are removed when it first sees a block without an access in flight, though the loop's
    back edge brings one. GFX10 and 11 count stores apart (vscnt) and have no intrinsic for that wait: a store to a
    buffer of size 0, which the chip drops, keeps LLVM's own."""
    if not fn.in_loop or not avoided.applies("fences"):
        return
    major = fn.target.arch.major
    if major >= 12:
        for counter in ("storecnt", "loadcnt", "dscnt") if releases else ("loadcnt", "dscnt"):
            fn.do(f"call void @llvm.amdgcn.s.wait.{counter}(i16 0)")
        return
    fn.do(f"call void @llvm.amdgcn.s.waitcnt(i32 {_ALL_0[major]})")
    if releases and major >= 10 and fn.stores_in_loop:
        nowhere = "i32 0, <4 x i32> zeroinitializer, i32 0, i32 0, i32 0"
        fn.do(f"call void @llvm.amdgcn.raw.buffer.store.i32({nowhere})")


def released(fn: FunctionLowering, sem: str, scope: str) -> str:
    """The semantics that an atomic operation of PTX semantics `sem` still needs when what comes before it has been
    released: up to GFX9 by a fence, of which the wait is certain; elsewhere all."""
    if sem not in RELEASES:
        return sem
    if fn.target.arch.major > 9:
        settle(fn, releases=True)
        return sem
    fence(fn, "seq_cst" if sem == "sc" else "release", scope)
    return "relaxed" if sem == "release" else "acquire"


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
