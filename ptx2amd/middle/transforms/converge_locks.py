"""Spin locks: locks that a thread acquires by retrying an atomic until it succeeds.

Lanes of a wave that have acquired the lock leave the loop and wait, at the reconvergence point, for those that still
try: a deadlock. If the release is known, control goes back into the loop after it, so that the lanes reconverge after
the release instead ("MIMD synchronization on SIMT architectures", ElTantawy and Aamodt):

    again: try; @failed bra again;        again: try; mov turn, 1; @failed bra meet;
           ... release ...           ->          ... release; mov turn, 0;
           rest                           meet:  <anchor>; @turn==1 bra again;
                                                 rest

The same is done for lanes that only look, for their turn or for what lanes on the other side of a branch write.

A release behind a barrier, or an exchange of all lanes, stays as it is: the owner of the lock needs the lanes that
still try there, so these do not wait for that release, and all reconverge in front of the barrier anyway."""

from __future__ import annotations

from ptx2amd.middle.analyses.locks import Lock, joined
from ptx2amd.middle.body import Body
from ptx2amd.middle.transforms.inserted import ANCHOR, ENTRY, HIDDEN, PATIENT, ROUND, WAITING, branch, is_equal, made
from ptx2amd.middle.unit import Unit
from ptx2amd.ptx.ast import Guard, Imm, Inst, Item, Label, Reg, Sym, Var
from ptx2amd.records import replace


def run(unit: Unit) -> None:
    """Let the lanes of a wave reconverge after the releases of the unit's locks, which were found in its body as it is,
    or as it was before exchanges in it were merged."""
    if not unit.locks:
        return
    found, body = unit.locks, unit.body
    while True:
        unit.places = [(lock, _label(lock, number)) for number, lock in enumerate(found)]
        changed = body
        for number, (lock, label) in enumerate(unit.places):
            changed = _meet(changed, lock, number, label)
        unit.transform(changed)
        fewer = _shared(unit)
        if len(fewer) == len(found):
            return
        found = fewer


def _shared(unit: Unit) -> list[Lock]:
    """The locks, as one where their loops are. In a loop where lanes wait for others, or for turns, a lock's own loop
    would separate them from lanes elsewhere."""
    found = [lock for lock, _ in unit.places]
    if len(found) < 2 or not any(lock.gathers or not lock.taken for lock in found):
        return found
    loops = [unit.body.components[unit.body.labels[label]] for _, label in unit.places]
    crowded = {loop for loop, lock in zip(loops, found, strict=True) if lock.gathers or not lock.taken}
    return joined(list(zip(loops, found, strict=True)), lambda a, b: a == b and a in crowded)


def _label(lock: Lock, number: int) -> str:
    """The name of the meeting place's label."""
    role = _role(lock)
    return f"{'$' if role else ''}{role}$meet{number}"


def _role(lock: Lock) -> str:
    """The role of the meeting place's label. The place has to be the entry of its loop: if one of several tries were
    the entry, lanes at another try would be in an inner loop, and wait there for lanes at the first."""
    return WAITING if lock.gathers else ENTRY if len(lock.retries) > 1 else ""


def _meet(body: Body, lock: Lock, number: int, meet: str) -> Body:
    turn, ahead = Reg(f"$turn{number}"), Reg(f"$ahead{number}")
    instead: dict[int, list[Item]] = {}  # by the identity of an instruction
    ways: list[Inst] = []
    tests: list[Reg] = []

    def way(register: Reg, value: int, label: str, line: int) -> None:
        tests.append(Reg(f"$is{number}.{len(tests)}"))
        ways.append(is_equal(line, tests[-1], register, value))
        ways.append(branch(line, label, Guard(tests[-1].name, False)))

    for k, (retry, taken) in enumerate(lock.retries, 1):
        inst = retry.inst
        again = inst.get("a") if taken else Sym(f"$again{number}.{k}")
        mark = made(HIDDEN, inst.line, turn, Imm("u", k))
        assert isinstance(again, Sym)
        if taken:
            instead[id(inst)] = [mark, replace(inst, operands=(Sym(meet),))]
        else:
            instead[id(inst)] = [inst, mark, branch(inst.line, meet), Label(again.name, inst.line)]
        way(turn, k, again.name, inst.line)
    first, *others = sorted(lock.releases, key=lock.given.__contains__)
    line = first.inst.line
    ways.append(made(ANCHOR, line))  # LLVM merged a try behind the section with the retries
    for k, release in enumerate(others, 1):
        inst, after = release.inst, f"$after{number}.{k}"
        done = len(lock.retries) + 1 if release in lock.given else 0  # a turn to wait for, or none
        marks = [made(HIDDEN, inst.line, turn, Imm("u", done)), made(HIDDEN, inst.line, ahead, Imm("u", k))]
        instead[id(inst)] = [inst, *marks, branch(inst.line, meet), Label(after, inst.line)]
        way(ahead, k, after, inst.line)
    marks = [made(HIDDEN, line, register, Imm("u", 0)) for register in (turn, ahead)]
    if lock.given:
        rounds, patient = Reg(f"$round{number}"), Reg(f"$patient{number}")
        ways = [made(ROUND, line, rounds, rounds), *ways]
        for inst in {id(op.inst): op.inst for again in lock.again.values() for op in again}.values():
            # Here, as lanes that waited for their rounds at the meeting place would keep the others there.
            wait = made(PATIENT, inst.line, patient, turn, rounds)
            skip = branch(inst.line, meet, Guard(patient.name, False))
            instead[id(inst)] = [made(ANCHOR, inst.line), wait, skip, *instead.get(id(inst), [inst])]
    instead[id(first.inst)] = [first.inst, *marks, Label(meet, line, _role(lock)), made(ANCHOR, line), *ways]
    declared = [Var("reg", "u32", f"${name}{number}") for name in ("turn", "ahead", "round")]
    declared += [Var("reg", "pred", name) for name in (f"$patient{number}", *(test.name for test in tests))]
    return body.rewritten(instead, declared)
