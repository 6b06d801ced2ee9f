"""One exit for loops that lanes leave at several places for the same one.

LLVM's structuriser keeps a mask for each exit, and copies of all values that are used behind the loop: the exits of
`for (...) { if (...) break; ... }` take twelve instructions of each iteration more than one exit does. Here the other
exits lead to a block behind the latch, which leaves the loop or begins the next iteration. Clang makes such blocks of
the source; nvcc's PTX has none."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ptx2amd.codegen.workarounds.records import Block, Function, Module
from ptx2amd.records import dataclass
from ptx2amd.regex import regex

_NAME = r"([\w.$-]+|\"[^\"\n]+\")"
_BRANCH = regex(rf"  br i1 (\S+), label %{_NAME}, label %{_NAME}(.*)")
_LABEL = regex(rf"label %{_NAME}")
_PHI = regex(r"  (%\S+) = phi (.*?) (\[ .*)")
_INCOMING = regex(rf"\[ (.+?), %{_NAME} \]")


@dataclass(frozen=True, slots=True)
class _Loop:
    """latch: the block whose conditional branch leads to the header and the exit; others: blocks that leave it too."""

    latch: Block
    header: str
    exit: str
    others: list[Block]


def may_apply(ir: str) -> bool:
    """A quick look at our own IR, before LLVM has optimised it. (What LLVM does to packed values in loops with a
    dispatch block, the work-around "pairs" avoids there; this is not to bring it back.)"""
    return ir.count("br i1") > 1 and ".dispatch:" not in ir


def rewrite(module: Module) -> None:
    """Give such loops one exit."""
    for function in module.functions():
        made = 0
        while loop := next(_loops(function), None):
            _merge(function, loop, made)
            made += 1


def _loops(function: Function) -> Iterator[_Loop]:
    blocks = {block.label: block for block in function.blocks}
    before: dict[str, list[str]] = {}
    for block in function.blocks:
        for label in _LABEL.findall(block.lines[-1]):
            before.setdefault(label, []).append(block.label)
    ends = {label: branch for label, block in blocks.items() if (branch := _BRANCH.fullmatch(block.lines[-1]))}
    for label, branch in ends.items():
        for header, leaves in ((branch[2], branch[3]), (branch[3], branch[2])):
            inside = _inside(label, header, before, function.blocks[0].label)
            if leaves in inside or not inside:
                continue
            others = [other for other in inside - {label} if other in ends and _leads(ends[other], leaves)]
            if others:
                in_order = [block for block in function.blocks if block.label in others]
                yield _Loop(blocks[label], header, leaves, in_order)


def _inside(latch: str, header: str, before: dict[str, list[str]], entry: str) -> set[str]:
    """The blocks of the loop with a latch and a header; none where there is no such loop, or it has other entries."""
    found = {latch, header}
    work = [latch] if latch != header else []
    while work:
        for label in before.get(work.pop(), ()):
            if label not in found:
                found.add(label)
                work.append(label)
    return found if entry not in found else set()


def _leads(branch: re.Match[str], label: str) -> bool:
    return (branch[2] == label) != (branch[3] == label)


def _merge(function: Function, loop: _Loop, number: int) -> None:
    branch = _BRANCH.fullmatch(loop.latch.lines[-1])
    assert branch
    name, first = f"exits.{number}", branch[2] == loop.exit
    merged = Block(name, f"{name}:")
    sources = [loop.latch, *loop.others]
    at = {block.label: block for block in function.blocks}
    for place, target in enumerate((loop.exit, loop.header)):
        for index, line in enumerate(at[target].lines):
            if (phi := _PHI.fullmatch(line)) is None:
                break
            values = dict(reversed(pair) for pair in _INCOMING.findall(phi[3]))
            mine = f"%{name}.{place}.{index}"
            known = [values.pop(block.label, "poison") for block in sources]  # only the latch leads to the header
            merged.lines.append(_phi(mine, phi[2], known, sources))
            rest = [f"[ {value}, %{label} ]" for label, value in values.items()]
            at[target].lines[index] = f"  {phi[1]} = phi {phi[2]} " + ", ".join([*rest, f"[ {mine}, %{name} ]"])
    decided = [branch[1]] + [str(first).lower()] * len(loop.others)
    merged.lines.append(_phi(f"%{name}.leaves", "i1", decided, sources))
    merged.lines.append(f"  br i1 %{name}.leaves, label %{branch[2]}, label %{branch[3]}{branch[4]}")
    loop.latch.lines[-1] = f"  br label %{name}"
    for block in loop.others:
        block.lines[-1] = re.sub(rf"label %{re.escape(loop.exit)}(?=,|$)", f"label %{name}", block.lines[-1])
    function.blocks.insert(function.blocks.index(loop.latch) + 1, merged)


def _phi(name: str, kind: str, values: list[str], sources: list[Block]) -> str:
    incoming = (f"[ {value}, %{block.label} ]" for value, block in zip(values, sources, strict=True))
    return f"  {name} = phi {kind} {', '.join(incoming)}"
