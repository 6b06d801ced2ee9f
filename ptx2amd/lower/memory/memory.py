"""Loads, stores, and addresses. PTX accesses are naturally aligned, vectors as a whole, and the IR says so."""

from __future__ import annotations

from math import gcd

from ptx2amd.lower.core import debug
from ptx2amd.lower.core.function import FunctionLowering
from ptx2amd.lower.core.names import Storage
from ptx2amd.lower.core.registry import lowers
from ptx2amd.lower.core.value import LLVM_TYPE, Val, width
from ptx2amd.lower.memory import wide, window
from ptx2amd.lower.memory.order import ORDERS, SCOPES, byte_size, elements, fence, vector
from ptx2amd.ptx.ast import Addr, Inst, Sym
from ptx2amd.ptx.heads import param_layout
from ptx2amd.ptx.layout import align_of, size_of

STREAMING = {"cs", "L1::evict_first", "L1::no_allocate"}  # read or written once: nontemporal
# Cache operators that promise a view past the L1 cache, which a relaxed access of that scope has
COHERENT = {"cg": "gpu", "cv": "sys"}
COUNT = {"": 1, "v2": 2, "v4": 4, "v8": 8}
EARLY_BYTES = 128  # of a kernel's parameters
ATOMIC_BITS = 64  # the widest access that the hardware's memory model calls atomic


def space_of(inst: Inst) -> str:
    """The state space of an access without its sub-qualifier; "" is generic."""
    return inst.shape.mods.get("space", "").split("::")[0]


def modifiers(fn: FunctionLowering, inst: Inst) -> dict[str, str]:
    """Of a load or store; where LLVM has to leave accesses alone, a weak one is volatile."""
    mods = inst.shape.mods
    if not debug.accesses_apart() or space_of(inst) in ("const", "param"):
        return mods
    fn.apart.append(inst.line)
    weak = mods.get("sem", "weak") in ("", "weak")
    return {**mods, "sem": "volatile"} if weak and mods["t"] != "b128" else mods  # those under locks are strong


@lowers("ld")
def load(fn: FunctionLowering, inst: Inst) -> None:
    mods = modifiers(fn, inst)
    ty, count = LLVM_TYPE[mods["t"]][0], COUNT[mods.get("vec", "")]
    whole = argument(fn, inst, width(ty) * count)
    if whole is None:
        pointer = fn.address(inst, "a", space_of(inst))
        whole = read(fn, pointer, ty if count == 1 else f"<{count} x {ty}>", mods, declared_align(fn, inst))
    fn.put_vec(inst, "d", elements(fn, whole, ty, count))


def parameter(fn: FunctionLowering, inst: Inst) -> tuple[Storage, int] | None:
    """The kernel's parameter whose name the address has, and the offset in it."""
    place = inst.get("a")
    if not fn.is_kernel or not isinstance(place, Addr) or not isinstance(place.base, Sym):
        return None
    entity = fn.names.get(place.base.name)
    return (entity, place.offset) if isinstance(entity, Storage) and entity.given else None


def declared_align(fn: FunctionLowering, inst: Inst) -> int:
    """What the declaration of a kernel's parameter says of the alignment of a place in it, in bytes: LLVM reads short
    fields that begin a dword with the scalar unit."""
    found = parameter(fn, inst)
    return gcd(align_of(found[0].var), found[1]) if found else 1


def argument(fn: FunctionLowering, inst: Inst, bits: int) -> Val | None:
    """The kernel's argument that is loaded, if that is all of a parameter. LLVM reads arguments when the kernel begins,
    neighbours at once, with one wait; many would take many SGPRs from there on."""
    found = parameter(fn, inst)
    if not found or found[1]:
        return None
    whole = found[0].argument
    if whole is None or width(whole.ty) != bits:
        return None
    return whole if sum(size for _, size, _ in fn.plan.params) <= EARLY_BYTES else None


def read(fn: FunctionLowering, pointer: Val, ty: str, mods: dict[str, str], align: int = 1) -> Val:
    """Load a value of type `ty` with the semantics and hints that the modifiers ask for. align: of the pointer, in
    bytes, if that is more than the value's size."""
    sem, scope, cop = mods.get("sem", ""), mods.get("scope", ""), mods.get("cop", "")
    align = max(align, byte_size(ty))
    if ty == wide.WIDE and sem and sem != "weak" and pointer.ty != "ptr addrspace(5)":
        return wide.load(fn, pointer, sem, scope or "sys")
    if sem in ("relaxed", "acquire") or (cop in COHERENT and pointer.ty == "ptr addrspace(1)"):
        scope = scope or COHERENT[cop]
        if width(ty) <= ATOMIC_BITS:
            word = f"i{width(ty)}"
            whole = fn.op(word, f"load atomic {word}, {pointer.t} {SCOPES[scope]}monotonic, align {align}")
            whole = fn.cast(whole, ty)
        else:  # one wide instruction past the caches: each element by itself is a relaxed read
            whole = fn.op(ty, f"load volatile {ty}, {pointer.t}, align {align}")
        if sem == "acquire":
            fence(fn, "acquire", scope)
        return whole
    if sem in ("volatile", "mmio") and width(ty) <= ATOMIC_BITS:  # LLVM takes vectors of bytes apart
        whole = fn.op(f"i{width(ty)}", f"load volatile i{width(ty)}, {pointer.t}, align {align}")
        return fn.cast(whole, ty)
    volatile = "volatile " if sem in ("volatile", "mmio") else ""
    known = mods.get("nc") or pointer.ty == "ptr addrspace(4)"
    notes = ", !invariant.load !{}" if known and not volatile else ""
    notes += ", !nontemporal !{i32 1}" if cop in STREAMING and not known else ""
    return fn.op(ty, f"load {volatile}{ty}, {pointer.t}, align {align}{notes}")


@lowers("st")
def store(fn: FunctionLowering, inst: Inst) -> None:
    mods = modifiers(fn, inst)
    pointer = fn.address(inst, "a", space_of(inst))
    target = inst.get("a")
    if isinstance(target, Addr) and isinstance(target.base, Sym):
        entity = fn.names.get(target.base.name)
        if isinstance(entity, Storage) and entity.given:
            fn.refuse(inst, f"{target.base.name} is a parameter, which cannot be written")
    write(fn, pointer, vector(fn, fn.vec(inst, "b")), mods)


def write(fn: FunctionLowering, pointer: Val, value: Val, mods: dict[str, str]) -> None:
    """Store a value with the semantics and hints that the modifiers ask for."""
    sem, scope, cop = mods.get("sem", ""), mods.get("scope", ""), mods.get("cop", "")
    align = byte_size(value.ty)
    if value.ty == wide.WIDE and sem and sem != "weak" and pointer.ty != "ptr addrspace(5)":
        wide.swap(fn, pointer, sem, scope or "sys", value)
        return
    if sem in ("relaxed", "release"):
        if sem == "release":
            fence(fn, "release", scope)
        if width(value.ty) <= ATOMIC_BITS:
            value = fn.cast(value, f"i{width(value.ty)}")
            fn.do(f"store atomic {value.t}, {pointer.t} {SCOPES[scope]}{ORDERS['relaxed']}, align {align}")
        else:
            fn.do(f"store volatile {value.t}, {pointer.t}, align {align}")
        return
    volatile = "volatile " if sem in ("volatile", "mmio") else ""
    if volatile and width(value.ty) <= ATOMIC_BITS:
        value = fn.cast(value, f"i{width(value.ty)}")
    notes = ", !nontemporal !{i32 1}" if cop in STREAMING else ""
    fn.do(f"store {volatile}{value.t}, {pointer.t}, align {align}{notes}")


@lowers("nothing")
def nothing(fn: FunctionLowering, inst: Inst) -> None:
    """Hints without an effect on results, and operations that are complete when they are issued."""


@lowers("policy")
def policy(fn: FunctionLowering, inst: Inst) -> None:
    """createpolicy: cache policies are opaque, and ignored where they are used."""
    fn.put(inst, "d", fn.const("i64", 0))


@lowers("cvta_flat")
def cvta_flat(fn: FunctionLowering, inst: Inst) -> None:
    """Global, constant and parameter addresses are generic addresses already. LLVM takes a kernel's parameters for
    a 32-bit space: of such an address only the low half has come."""
    address = fn.src(inst, "a", "b64")
    if space_of(inst) == "param" and fn.is_kernel and inst.shape.form.computes == "to_generic":
        start = fn.cast(fn.call("llvm.amdgcn.kernarg.segment.ptr", "ptr addrspace(4)"), "i64")
        offset = fn.op("i32", f"sub {fn.resize(address, 32).t}, {fn.resize(start, 32)}")
        whole = fn.op("i64", f"add {start.t}, {fn.resize(offset, 64)}")
        low = fn.op("i1", f"icmp ult {address.t}, {1 << 32}")
        address = fn.op("i64", f"select {low.t}, {whole.t}, {address.t}")
    fn.put(inst, "d", address)


@lowers("cvta_window")
def cvta_window(fn: FunctionLowering, inst: Inst) -> None:
    """A shared or local address as a generic one."""
    offset = fn.resize(fn.src(inst, "a", "b64"), 32)
    if fn.slot is not None and space_of(inst) == "shared":
        fn.put(inst, "d", fn.cast(window.flat(fn, offset), "i64"))
        return
    own = fn.cast(offset, "ptr addrspace(3)" if space_of(inst) == "shared" else "ptr addrspace(5)")
    fn.put(inst, "d", fn.cast(fn.op("ptr", f"addrspacecast {own.t} to ptr"), "i64"))


@lowers("cvta_to_window")
def cvta_to_window(fn: FunctionLowering, inst: Inst) -> None:
    """A generic address as one of the shared or local window."""
    if fn.slot is not None and space_of(inst) == "shared":
        fn.put(inst, "d", fn.resize(window.address(fn, fn.src(inst, "a", "b64")), 64))
        return
    flat = fn.cast(fn.src(inst, "a", "b64"), "ptr")
    ty = "ptr addrspace(3)" if space_of(inst) == "shared" else "ptr addrspace(5)"
    fn.put(inst, "d", fn.resize(fn.op(ty, f"addrspacecast {flat.t} to {ty}"), 64))


@lowers("isspacep")
def isspacep(fn: FunctionLowering, inst: Inst) -> None:
    flat = fn.cast(fn.src(inst, "a", "b64"), "ptr")
    shared, private = (fn.call(f"llvm.amdgcn.is.{name}", "i1", flat) for name in ("shared", "private"))
    if fn.slot is not None:
        shared = fn.op("i1", f"or {shared.t}, {window.inside(fn, fn.cast(flat, 'i64'))}")
    if space_of(inst) == "global":
        either = fn.op("i1", f"or {shared.t}, {private}")
        either = fn.op("i1", f"or {either.t}, {constant(fn, fn.cast(flat, 'i64'))}")
        fn.put(inst, "p", fn.op("i1", f"xor {either.t}, true"))
    else:
        fn.put(inst, "p", shared if space_of(inst) == "shared" else private)


def constant(fn: FunctionLowering, address: Val) -> Val:
    """Whether a generic address (an i64) is in one of the module's constant variables."""
    found = fn.const("i1", 0)
    for var in fn.module.module.variables.values():
        if var.space == "const" and var.linkage != "extern" and size_of(var):
            start = fn.cast(fn.module.symbol_address(fn, var.name, 0), "i64")
            past = fn.op("i64", f"sub {address.t}, {start}")
            found = fn.op("i1", f"or {found.t}, {fn.op('i1', f'icmp ult {past.t}, {size_of(var)}')}")
    return found


@lowers("isspacep_flat")
def isspacep_flat(fn: FunctionLowering, inst: Inst) -> None:
    """Constant variables; a kernel's parameters, which are part of the global window too."""
    address = fn.src(inst, "a", "b64")
    if space_of(inst) == "const":
        fn.put(inst, "p", constant(fn, address))
        return
    if not fn.is_kernel:
        fn.refuse(inst, "in a function, which does not know the kernel's parameters")
    layout = param_layout(fn.module.module.functions[fn.name])
    start = fn.cast(fn.call("llvm.amdgcn.kernarg.segment.ptr", "ptr addrspace(4)"), "i64")
    past = fn.op("i64", f"sub {address.t}, {start}")
    end = max((offset + size for offset, size, _ in layout), default=0)
    fn.put(inst, "p", fn.op("i1", f"icmp ult {past.t}, {end}"))


@lowers("mapa")
def mapa(fn: FunctionLowering, inst: Inst) -> None:
    """Clusters have one block: every shared address is in its own."""
    fn.put(inst, "d", fn.src(inst, "a", inst.shape.mods["t"]))


@lowers("getctarank")
def getctarank(fn: FunctionLowering, inst: Inst) -> None:
    fn.put(inst, "d", fn.const("i32", 0))
