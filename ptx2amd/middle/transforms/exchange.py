"""Exchanges between lanes as transformations write them: one that replaces several, or one at which lanes wait."""

from __future__ import annotations

from collections.abc import Iterator

from ptx2amd.isa.effects import BLOCK_BARRIER, JUMPS, MEMBERS
from ptx2amd.isa.form import DESTINATIONS
from ptx2amd.middle.analyses.divergence import ALL_LANES
from ptx2amd.middle.analyses.exchanges import Meeting
from ptx2amd.middle.body import Body
from ptx2amd.middle.transforms.inserted import ANCHOR, HIDDEN, WAIT, WAIT_ALL, WAITING, branch, is_equal, made, move
from ptx2amd.ptx.ast import Guard, Imm, Inst, Item, Label, Operand, Reg, Sym, Var

EXCHANGE = "$exchange"  # what labels and registers begin with


class Exchange:
    """Operations that are merged, or one at which lanes wait."""

    def __init__(self, body: Body, number: int, meeting: Meeting) -> None:
        self.body, self.number, self.meeting = body, number, meeting
        self.shape = max((op.inst.shape for op in meeting), key=lambda shape: len(shape.names))
        self.label = f"{EXCHANGE}{number}"
        self.waits = False  # whether lanes wait here
        self.anchor = made(ANCHOR, meeting[0].inst.line)
        self.declared: list[Var] = []
        self.side = self._register("side", "u32")
        self.tests = [self._register(f"is{k}", "pred") for k in range(1, len(meeting))]
        self.own: dict[str, Reg] = {}  # registers in the place of operands
        self.operands = tuple(map(self._operand, self.shape.names, self.shape.types))

    def wait(self) -> None:
        """Make lanes wait here for others."""
        self.waits, self.label = True, f"$waiting{self.number}"

    def replacements(self) -> Iterator[tuple[int, list[Item]]]:
        """What stands in the place of each, by the identity of its instruction."""
        for k, op in enumerate(self.meeting):
            inst, line, after, skip = op.inst, op.inst.line, f"$back{self.number}.{k}", f"$skip{self.number}.{k}"
            moved = self._moved(inst, False)
            new: list[Item] = [made(move(t), line, self.own[name], source) for name, source, t in moved]
            if len(self.meeting) > 1:
                new.append(made(HIDDEN, line, self.side, Imm("u", k)))
            if inst.guard is not None:
                new.insert(0, branch(line, skip, Guard(inst.guard.reg, not inst.guard.negated)))
            if k:
                new.append(branch(line, self.label))
            else:
                new += [Label(self.label, line, WAITING if self.waits else ""), self.anchor]
                if self.waits:
                    shape = WAIT_ALL if inst.shape.form.does & BLOCK_BARRIER else WAIT
                    new.append(made(shape, line, self._members(), Sym(self.label)))
                new += [Inst(self.shape, self.operands, None, line), *self._ways()]
            new.append(Label(after, line))
            new += [made(move(t), line, to, self.own[name]) for name, to, t in self._moved(inst, True)]
            if inst.guard is not None:
                new.append(Label(skip, line))
            yield id(inst), new

    def _members(self) -> Operand:
        if not self.shape.form.does & MEMBERS:
            return Imm("u", ALL_LANES)
        return self.operands[self.shape.names.index("m")]

    def _ways(self) -> Iterator[Inst]:
        """The jumps back to the code of all other members but the first."""
        for k, (op, test) in enumerate(zip(self.meeting[1:], self.tests, strict=True), 1):
            yield is_equal(op.inst.line, test, self.side, k)
            yield branch(op.inst.line, f"$back{self.number}.{k}", Guard(test.name, False))

    def _operand(self, name: str, type_: str) -> Operand:
        """An operand of the one: what all have, or a register of its own."""
        each = [op.inst.get(name) for op in self.meeting]
        first = each[0]
        if first is not None and all(operand == first for operand in each):
            return first
        if type_ == "u32":  # lanes, distances and masks
            known = {self.body.constant(op.inst.get(name)) for op in self.meeting}
            if name not in DESTINATIONS and len(known) == 1 and (value := known.pop()) is not None:
                return Imm("u", value)
        self.own[name] = self._register(name, type_)
        return self.own[name]

    def _moved(self, inst: Inst, results: bool) -> Iterator[tuple[str, Operand, str]]:
        """The operands of one of the operations that go through registers: name, operand, type."""
        for name, operand, type_ in zip(inst.shape.names, inst.operands, inst.shape.types, strict=True):
            if name in self.own and (name in DESTINATIONS) == results and operand != Reg("_"):
                yield name, operand, type_

    def _register(self, name: str, type_: str) -> Reg:
        register = Reg(f"{EXCHANGE}{self.number}.{name}")
        self.declared.append(Var("reg", type_, register.name))
        return register


def replaced(body: Body, exchanges: list[Exchange]) -> Body:
    """The body with exchanges in place of the operations that they merge."""
    instead = {at: new for exchange in exchanges for at, new in exchange.replacements()}
    return body.rewritten(instead, [var for exchange in exchanges for var in exchange.declared])


def labelled(body: Body) -> Body:
    """The same with labels behind conditional jumps: what follows may be outside of a loop that the jump stays in, and
    exits of loops in which lanes wait are known by labels (lower/control/dispatch.py)."""
    number = sum(block.label is not None for block in body.blocks)
    jumps = (op.inst for op in body.ops() if op.inst.guard is not None and op.does & JUMPS)
    return body.rewritten(
        {id(inst): [inst, Label(f"$behind{n}", inst.line)] for n, inst in enumerate(jumps, number + 1)}
    )
