"""The order that NVIDIA's compiler gives operations, roughly: what is behind a short branch forward is made conditional
and joins what is around it, and in such a stretch loads begin as early as barriers and stores allow."""

from __future__ import annotations

from collections.abc import Iterator

from ptx2amd.isa.effects import ATOMIC, BARRIERS, CALLS, MEMBERS, READS, WRITES
from ptx2amd.middle.analyses.liveness import Access, Liveness
from ptx2amd.middle.body import Body
from ptx2amd.middle.op import Op

SHORT = 14  # operations behind a branch that are made conditional


def started(flow: Body, values: Liveness) -> int:
    """The most units alive at once when loads begin early."""
    most = 0
    for blocks in stretches(flow):
        order = [access for part in _parts(flow, values, blocks) for access in _early(part)]
        most = max(most, values.most_of(order, values.leaving(blocks[-1])))
    return most


def stretches(flow: Body) -> Iterator[list[int]]:
    """The blocks that become one, in their order, each in one stretch."""
    taken: set[int] = set()
    for first in range(len(flow.blocks)):
        if first not in taken:
            found = [first]
            while more := _joined(flow, found[-1]):
                found += more
            taken.update(found)
            yield found


def _joined(flow: Body, number: int) -> list[int]:
    """The blocks that a block continues with: the one behind it, or a short one that it may skip and the next."""
    blocks, block = flow.blocks, flow.blocks[number]
    if len(block.successors) == 1:
        [after] = block.successors
        return [after] if after > number and blocks[after].predecessors == [number] else []
    branch, inside = flow.branch(number), block.falls
    if branch is None or len(block.successors) != 2:
        return []
    skipped = blocks[inside]
    [after] = set(block.successors) - {inside}
    short = len(skipped.ops) <= SHORT and not any(op.does & (CALLS | BARRIERS) for op in skipped.ops)
    alone = skipped.predecessors == [number] and set(blocks[after].predecessors) == {number, inside}
    return [inside, after] if short and alone and after > inside else []


def _parts(flow: Body, values: Liveness, blocks: list[int]) -> Iterator[list[tuple[Op, Access]]]:
    """The operations of some blocks, apart where none is moved from before an operation to behind it."""
    part: list[tuple[Op, Access]] = []
    for number in blocks:
        for op, access in zip(flow.blocks[number].ops, values.accesses[number], strict=True):
            part.append((op, access))
            if access.barrier or op.does & CALLS:
                yield part
                part = []
    yield part


def _early(part: list[tuple[Op, Access]]) -> Iterator[Access]:
    """Loads whose addresses are not loaded themselves, with all that leads to them, then the rest."""
    loaded: set[int] = set()  # registers that depend on loads
    stored: set[str] = set()  # spaces
    last: dict[int, int] = {}  # the operation that wrote a register last
    sources: list[list[int]] = []
    work = []
    for at, (op, access) in enumerate(part):
        late = not loaded.isdisjoint(access.reads)
        sources.append([last[register] for register in access.reads if register in last])
        loads = _loads(op)
        if loads and not late and not (stored & {op.space, ""}) and not (stored and not op.space):
            work.append(at)
        if op.does & (WRITES | ATOMIC) and op.space != "param":
            stored.add(op.space)
        last.update(dict.fromkeys(access.writes, at))
        (loaded.update if loads or late else loaded.difference_update)(access.writes)
    early: set[int] = set()
    while work:
        at = work.pop()
        if at not in early:
            early.add(at)
            work += sources[at]
    yield from (access for at, (_, access) in enumerate(part) if at in early)
    yield from (access for at, (_, access) in enumerate(part) if at not in early)


def _loads(op: Op) -> bool:
    """Whether an operation's results come late, as those of memory do."""
    return bool(op.does & (READS | MEMBERS)) and not op.does & ATOMIC and op.space != "param"


__all__ = ["started", "stretches"]
