"""Values that pass through a thread's own memory. Debug builds, and functions with parameters by reference, keep there
what the conditions of loops are made of."""

from __future__ import annotations

from collections import defaultdict

from ptx2amd.isa.effects import ATOMIC, CALLS, READS, WRITES
from ptx2amd.isa.form import DESTINATIONS
from ptx2amd.middle.analyses.addresses import Kept, place
from ptx2amd.middle.body import Body
from ptx2amd.middle.op import Op, Register
from ptx2amd.ptx.ast import Addr, Operand, Reg, Sym, Var, Vec
from ptx2amd.ptx.variables import width
from ptx2amd.records import dataclass

Reached = dict[Op, set[Op]]
WHERE = DESTINATIONS | {"a"}  # operands that give memory no value
ADDRESS = 8  # bytes of one
LEVELS = 4  # variables that an address is followed through
ANYWHERE = range(1 << 63)  # in a variable


@dataclass(frozen=True, slots=True)
class Access:
    """A load or store of a local variable, and the bytes that it accesses, which are a part of `taken` if they are not
    known before the kernel runs."""

    op: Op
    name: str
    taken: range
    known: bool


def stored(body: Body) -> Reached:
    """The loads of local variables, each with the stores whose values it may read."""
    return _pairs(body, _known(body)[0])


def stored_at_known_places(body: Body) -> Reached:
    """Those of them where it is known which bytes are accessed, so that a load reads what the store has written."""
    return _pairs(body, [access for access in _known(body)[0] if access.known])


def kept(body: Body) -> Kept:
    """The registers that loads of addresses write, with the operands of the stores whose values they certainly read."""
    return _known(body)[1]


def _known(body: Body) -> tuple[list[Access], Kept]:
    return body.analysis(_levels)


def _levels(body: Body) -> tuple[list[Access], Kept]:
    """More is known of an address that itself lies in a local variable when that variable is known."""
    found: dict[tuple[Op, Register], tuple[Op, Operand]] = {}
    accesses = _accesses(body, found, {})
    for _ in range(LEVELS):
        before = len(found)
        _keep(body, accesses, found)
        if len(found) == before:
            break
        accesses = _accesses(body, found, {access.op: access for access in accesses if access.known})
    return accesses, found


def _keep(body: Body, accesses: list[Access], found: dict[tuple[Op, Register], tuple[Op, Operand]]) -> None:
    """Adds what can be found now."""
    stores, _ = _stores(accesses)
    for load in accesses:
        op = load.op
        if not load.known or not op.does & READS or op.inst.guard is not None or _bytes(op) != ADDRESS:
            continue
        for number, part in enumerate(_parts(op.inst.get("d"))):
            register = body.register(part)
            at = load.taken.start + ADDRESS * number
            if register is None or (op, register) in found:
                continue
            store = _only(body, op, range(at, at + ADDRESS), stores[load.name])
            if store is not None:
                value = _parts(store.op.inst.get("b"))[(at - store.taken.start) // ADDRESS]
                found[op, register] = store.op, value


def _only(body: Body, load: Op, taken: range, stores: dict[int, list[Access]]) -> Access | None:
    """The store on every way to a load that alone gives these bytes their value."""
    found: Access | None = None
    seen: set[int] = set()
    work = [(load.block, load.index)]
    while work:
        number, end = work.pop()
        for access in reversed(stores.get(number, ())):
            op, other = access.op, access.taken
            if op.index >= end or other.start >= taken.stop or taken.start >= other.stop:
                continue
            whole = access.known and op.inst.guard is None and _bytes(op) == ADDRESS
            if not whole or (taken.start - other.start) % ADDRESS or found not in (None, access):
                return None
            found = access
            break
        else:
            if number == 0:
                return None
            new = set(body.blocks[number].predecessors) - seen
            seen |= new
            work += [(previous, len(body.blocks[previous].ops)) for previous in new]
    return found


def _bytes(op: Op) -> int:
    """Of each of the values that an access loads or stores."""
    return width(op.mods["t"]) // 8


def _pairs(body: Body, accesses: list[Access]) -> Reached:
    stores, everything = _stores(accesses)
    found: Reached = {}
    anywhere: dict[Op, list[str]] = defaultdict(list)  # the variables that a load may read anywhere
    for access in accesses:
        if access.op.does & READS and access.known:
            found[access.op] = _reaching(body, access, stores[access.name])
        elif access.op.does & READS:
            anywhere[access.op].append(access.name)
    unions: dict[tuple[str, ...], set[Op]] = {}  # many loads have the same
    for op, names in anywhere.items():
        if (key := tuple(names)) not in unions:
            unions[key] = set().union(*(everything[name] for name in names))
        found[op] = unions[key]
    return found


def _stores(accesses: list[Access]) -> tuple[dict[str, dict[int, list[Access]]], dict[str, set[Op]]]:
    """The stores to each variable, by block, in order; and together."""
    stores: dict[str, dict[int, list[Access]]] = defaultdict(lambda: defaultdict(list))
    everything: dict[str, set[Op]] = defaultdict(set)
    for access in accesses:
        if access.op.does & WRITES:
            stores[access.name][access.op.block].append(access)
            everything[access.name].add(access.op)
    return stores, everything


def _reaching(body: Body, load: Access, stores: dict[int, list[Access]]) -> set[Op]:
    """The stores to some bytes that no other store overwrites on the way to a load of them."""
    found: set[Op] = set()
    seen: set[int] = set()
    work = [(load.op.block, load.op.index)]
    taken = load.taken
    while work:
        number, end = work.pop()
        for access in reversed(stores.get(number, ())):
            op, other = access.op, access.taken
            if op.index < end and other.start < taken.stop and taken.start < other.stop:
                found.add(op)
                covers = access.known and other.start <= taken.start and taken.stop <= other.stop
                if covers and op.inst.guard is None:
                    break
        else:
            new = set(body.blocks[number].predecessors) - seen
            seen |= new
            work += [(previous, len(body.blocks[previous].ops)) for previous in new]
    return found


def _accesses(body: Body, kept: Kept, before: dict[Op, Access]) -> list[Access]:
    """The accesses of local variables, in order. before: those of which all is known already."""
    names = _names(body)
    found: list[Access] = []
    for op in body.ops() if names else ():
        if not op.does & (READS | WRITES) or op.does & ATOMIC or op.space not in ("", "local") or "t" not in op.mods:
            continue  # without a type: hints, which move no values
        if op in before:
            found.append(before[op])
            continue
        here = place(body, op, kept)
        if isinstance(here, tuple) and here[0] in names:
            name, at = here
            size = _bytes(op) * int(op.mods.get("vec", "")[1:] or 1)
            found.append(Access(op, name, range(at, at + size), True))
        elif isinstance(address := op.inst.get("a"), Addr) and isinstance(address.base, Reg):
            into = body.analysis(_pointers)[body.register(address.base)]
            found += [Access(op, name, ANYWHERE, False) for name in sorted(into)]
    return found


def _pointers(body: Body) -> dict[Register | None, set[str]]:
    """The local variables that each register may point into; None stands for memory and functions, where an address
    may go to and come back from."""
    names = _names(body)
    found: dict[Register | None, set[str]] = defaultdict(set)
    edges: dict[Register | None, set[Register | None]] = defaultdict(set)
    work: list[tuple[Register | None, str]] = []
    for op in body.ops():
        operands = dict(zip(op.inst.shape.names, op.inst.operands, strict=True))
        sources: tuple[Register, ...] = op.reads
        into: tuple[Register | None, ...] = op.writes
        address = operands.get("a")
        if op.does & CALLS or (op.does & (READS | WRITES) and not (op.space == "param" and _named(address))):
            if not op.does & CALLS:
                sources = tuple(r for name, o in operands.items() if name not in WHERE for r in body.within(o))
            edges[None].update(into)
            into = (None,)
        for source in sources:
            edges[source].update(into)
        given = {part.name for o in operands.values() for part in _parts(o) if isinstance(part, Sym)}
        work += [(register, name) for register in into for name in given & names]
    while work:
        register, name = work.pop()
        if name not in found[register]:
            found[register].add(name)
            work += [(other, name) for other in edges[register]]
    return found


def _names(body: Body) -> set[str]:
    return {item.name for item in body.declarations if isinstance(item, Var) and item.space == "local"}


def _named(address: Operand | None) -> bool:
    return isinstance(address, Addr) and isinstance(address.base, Sym)


def _parts(operand: Operand | None) -> tuple[Operand, ...]:
    return operand.items if isinstance(operand, Vec) else () if operand is None else (operand,)


__all__ = ["kept", "stored", "stored_at_known_places"]
