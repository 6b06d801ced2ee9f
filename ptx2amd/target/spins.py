"""Locks that a thread takes by trying until an atomic succeeds.

Lanes of a wave that have the lock leave the loop and wait, where the lanes' ways meet again, for those that
still try: nobody gets on. Where the release can be seen, the way is led back from it into the loop, so that
the lanes meet after the release instead ("MIMD synchronization on SIMT architectures", ElTantawy and Aamodt):

    again: try; @failed bra again;        again: try; mov turn, 1; @failed bra meet;
           ... release ...           ->          ... release; mov turn, 0;
           rest                           meet:  <anchor>; @turn==1 bra again;
                                                 rest
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from ptx2amd.isa.form import Form
from ptx2amd.lower.summary import items
from ptx2amd.ptx.ast import Guard, Imm, Inst, Label, Operand, Reg, Scope, Shape, Sym, Var
from ptx2amd.target.flow import Flow, Op

STRONG = frozenset(("volatile", "relaxed", "acquire", "mmio"))
STORES = frozenset(("st", "atom", "red"))
ANCHOR = Shape("", Form("", "", "spin_anchor"), {}, (), ())
MOV = Shape("mov.u32", Form("mov.{t:u32}", "d:t, a:t", "spin_turn"), {"t": "u32"}, ("d", "a"), ("u32", "u32"))
SETP = Shape(
    "setp.eq.u32",
    Form("setp.{cmp:eq}.{t:u32}", "p:pred, a:t, b:t", "setp"),
    {"cmp": "eq", "t": "u32"},
    ("p", "a", "b"),
    ("pred", "u32", "u32"),
)
BRA = Shape("bra", Form("bra.[uni:uni]", "a:label", "bra"), {"uni": ""}, ("a",), ("",))


@dataclass(slots=True, eq=False)
class Lock:
    """A lock: the operations that try to take it and that only look, the branches back (with whether the
    jump, or the fall-through, is the way back), and the release; None: there is not one that all ways meet."""

    location: tuple[str, int]
    tries: list[Op]
    retries: list[tuple[Op, bool]] = field(default_factory=list)
    release: Op | None = None

    @property
    def line(self) -> int:
        return self.tries[0].inst.line


def is_try(op: Op) -> bool:
    """Whether an atomic may be an attempt to take a lock."""
    return op.lower == "atom_cas" or (op.lower == "atom" and op.mods["op"] == "exch")


def is_look(op: Op) -> bool:
    """Whether a load asks for what another thread may have written meanwhile."""
    return op.lower == "ld" and op.mods.get("sem") in STRONG


def conditions(flow: Flow) -> dict[Op, set[Op]]:
    """The conditional branches, with the loads and atomics that their conditions are made of."""
    found: dict[Op, set[Op]] = {}
    for number in range(len(flow.blocks)):
        branch = flow.branch(number)
        if branch is None or branch.inst.guard is None:
            continue
        seen, work = set(), [branch.key(branch.inst.guard.reg)]
        sources: set[Op] = set()
        while work:
            register = work.pop()
            if register in seen:
                continue
            seen.add(register)
            for op in flow.definitions.get(register, ()):
                if is_try(op) or is_look(op):
                    sources.add(op)
                elif op.inst.shape.form.mnemonic not in ("ld", "atom", "call"):
                    work += op.reads()
        if sources:
            found[branch] = sources
    return found


def locks(flow: Flow) -> list[Lock]:
    """The locks of a function body that its threads spin on."""
    if not any(is_try(op) for op in flow.ops()):
        return []
    found = []
    asked = conditions(flow)
    used = set().union(*asked.values())
    for location in dict.fromkeys(flow.location(op) for op in used if is_try(op)):
        if location is None:
            continue
        here = [op for op in flow.ops() if flow.location(op) == location]
        lock = Lock(location, [op for op in here if is_try(op) and op in used])
        looks = {op for op in here if is_look(op) and op in used}
        releases = {op for op in here if op.inst.shape.form.mnemonic in STORES and op not in lock.tries}
        if releases and _connect(flow, lock, looks, releases, asked):
            found.append(lock)
    return found


def _connect(flow: Flow, lock: Lock, looks: set[Op], releases: set[Op], asked: dict[Op, set[Op]]) -> bool:
    """Find the ways back and the release of a lock; whether it is one."""
    tries = set(lock.tries)
    ends = flow.hits((tries | releases | looks).__contains__)
    reached: set[Op] = set()
    for branch, sources in asked.items():
        if not sources & (tries | looks):
            continue
        block = flow.blocks[branch.block]
        jump = next((s for s in block.successors if s != block.falls), block.falls)
        ways = [flow.first(way, ends) for way in (jump, block.falls)]
        for back, ahead, taken in ((ways[0], ways[1], True), (ways[1], ways[0], False)):
            if back and not back & releases and ahead != back:
                goal = ahead & (releases if sources & tries else tries)
                if goal:
                    lock.retries.append((branch, taken))
                    reached |= ahead & releases
                    break
    if not lock.retries or not reached:
        return False
    if len(reached) == 1:
        [lock.release] = reached
    return True


# the change


def transformable(flow: Flow, lock: Lock) -> bool:
    """Whether the lanes can be made to meet after the release."""
    if lock.release is None or any(branch.depth for branch, _ in lock.retries):
        return False
    straight = all(not isinstance(item, Label) for item in lock.release.scope.items)
    return lock.release.depth == 0 or (lock.release.depth == 1 and straight)


def transform(scope: Scope) -> Scope:
    """A function body in which the lanes of a wave meet after the releases of its locks."""
    if not any(isinstance(item, Inst) and item.shape.form.mnemonic == "atom" for item in items(scope)):
        return scope
    flow = Flow(scope)
    found = [lock for lock in locks(flow) if transformable(flow, lock)]
    for number, lock in enumerate(found):
        scope = _meet(scope, lock, number)
    return scope


def _meet(scope: Scope, lock: Lock, number: int) -> Scope:
    turn, meet = Reg(f"$turn{number}"), f"$meet{number}"
    back: dict[int, list] = {}  # what stands in the place of an instruction
    ways: list[Inst] = []
    for k, (branch, taken) in enumerate(lock.retries, 1):
        inst = branch.inst
        again = inst.get("a") if taken else Sym(f"$again{number}.{k}")
        mark = _inst(MOV, inst.line, turn, Imm("u", k))
        assert isinstance(again, Sym)
        if taken:
            back[id(inst)] = [mark, replace(inst, operands=(Sym(meet),))]
        else:
            back[id(inst)] = [inst, mark, _inst(BRA, inst.line, Sym(meet)), Label(again.name, inst.line)]
        test = Reg(f"$is{number}.{k}")
        ways.append(_inst(SETP, inst.line, test, turn, Imm("u", k)))
        ways.append(_inst(BRA, inst.line, again, guard=Guard(test.name, False)))
    assert lock.release is not None
    line = lock.release.inst.line
    after = [_inst(MOV, line, turn, Imm("u", 0)), Label(meet, line), _inst(ANCHOR, line), *ways]
    body: list = [Var("reg", "u32", turn.name)]
    body += [Var("reg", "pred", f"$is{number}.{k}") for k in range(1, len(lock.retries) + 1)]
    for item in scope.items:
        body += back.get(id(item), [item])
        if item is lock.release.inst or item is lock.release.scope:
            body += after
    return Scope(body)


def _inst(shape: Shape, line: int, *operands: Operand, guard: Guard | None = None) -> Inst:
    return Inst(shape, operands, guard, line)


__all__ = ["Lock", "locks", "transform", "transformable"]
