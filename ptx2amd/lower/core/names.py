"""The symbol table of a function body: registers, variables, lists of labels and prototypes."""

from __future__ import annotations

from ptx2amd.lower.core.value import Val
from ptx2amd.middle.body import Body
from ptx2amd.ptx.ast import BranchTargets, Proto, Var
from ptx2amd.ptx.layout import bits_of
from ptx2amd.records import dataclass, field


@dataclass(slots=True, eq=False)
class Register:
    """A PTX register. `ty` is the LLVM type of its alloca `memory`, which it has when its value crosses extended basic
    blocks (middle/analyses/crossing.py). `values` are its current value in the forms (LLVM types) it was used in, valid
    in extended basic block `block`. `constant`: the integer that it is everywhere."""

    name: str
    bits: int
    ty: str = ""
    memory: str = ""
    block: int = -1
    values: dict[str, Val] = field(default_factory=dict)
    constant: int | None = None


@dataclass(slots=True, eq=False)
class Storage:
    """A variable of local, shared or param space inside a function: its pointer once it exists."""

    var: Var
    pointer: Val | None = None
    given: bool = False  # a parameter of the function, which only reads it
    argument: Val | None = None  # a kernel's scalar parameter as LLVM's argument


Entity = Register | Storage | Proto | BranchTargets


def declare(body: Body, names: dict[str, Entity]) -> list[Register]:
    """Enter a body's declarations. Returns its registers."""
    found = [Register(name, bits_of(ptx_type)) for name, ptx_type in body.registers.items()]
    names.update((register.name, register) for register in found)
    for item in body.declarations:
        if not isinstance(item, Var):
            names[item.name] = item
        elif item.space != "reg":
            names[item.name] = Storage(item)
    return found
