"""Inlining of calls: for the analyses of hazards and locks, which have to see across calls, and for the
transformation of locks that are acquired in one function and released in another.

Names from inlined functions get a number. Scalar parameters become
registers, others remain variables in .param space. Functions that call themselves, or whose own variables are
in shared or global memory under their name, stay calls."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

from ptx2amd.isa.effects import BARRIERS, CALLS, EXCHANGES, MEMORY, POLLS, READS, RETURNS, WRITES
from ptx2amd.middle.summary import body, items
from ptx2amd.middle.transforms.inserted import branch, move
from ptx2amd.ptx.ast import (
    Addr,
    Function,
    Guard,
    Inst,
    Item,
    Label,
    Module,
    Operand,
    Reg,
    Scope,
    Sym,
    Var,
    Vec,
)
from ptx2amd.ptx.flat import Names, declared, instruction, renamed
from ptx2amd.records import dataclass, field

LIMIT = 20_000  # instructions of a body, above which calls remain
SHORT = 32  # instructions of a function that may compute where a lock lies
OWN = ("param", "local", "const", "texture")  # spaces that no other thread writes
MOVED = ("b32", "b64")  # types of registers that parameters become


def callee(module: Module, inst: Inst) -> Function | None:
    """The function of a direct call that has a body."""
    target = inst.get("f")
    if not inst.shape.form.does & CALLS or not isinstance(target, Sym) or inst.get("b") is not None:
        return None
    found = module.functions.get(module.aliases.get(target.name, target.name))
    return found if found is not None and (found.text or found.scope is not None) else None


def of_one_way(module: Module) -> bool:
    """Whether GCC made a module: lanes of its warps take one path, except in loops of `omp simd`, and GCC never
    duplicates an exchange, as other compilers do. So each function is analysed alone, and stays as it is."""
    return "__nvptx_uni" in module.variables


class Matters:
    """Which functions the analyses have to see: those that access memory shared with other threads, or synchronise or
    exchange with them, themselves or through their callees."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self._known: dict[str, bool] = {}
        self._own: dict[str, tuple[bool, list[Function]]] = {}

    def __call__(self, function: Function) -> bool:
        name = function.proto.name
        if name not in self._known:
            self._known[name] = self._reaches(function)
        return self._known[name]

    def inlined(self, function: Function) -> bool:
        """Whether the analyses inline its calls: it matters, or may compute where others access memory."""
        return self(function) or self._computes_address(function)

    def _computes_address(self, function: Function) -> bool:
        if not any(var.type[1:] == "64" and var.count < 0 for var in function.proto.results):
            return False
        return sum(isinstance(item, Inst) for item in items(body(self.module, function))) <= SHORT

    def _reaches(self, function: Function) -> bool:
        seen, work = {function.proto.name}, [function]
        while work:
            touches, callees = self._body(work.pop())
            if touches or any(self._known.get(callee.proto.name) for callee in callees):
                return True
            new = [callee for callee in callees if callee.proto.name not in seen]
            seen.update(callee.proto.name for callee in new)
            work += new
        return False

    def _body(self, function: Function) -> tuple[bool, list[Function]]:
        """Whether a body touches such memory itself, and the functions that it calls."""
        name = function.proto.name
        if name not in self._own:
            instructions = [item for item in items(body(self.module, function)) if isinstance(item, Inst)]
            touches = any(map(_touches, instructions))
            calls = () if touches else (callee(self.module, inst) for inst in instructions)
            self._own[name] = touches, [found for found in calls if found is not None]
        return self._own[name]


def _touches(inst: Inst) -> bool:
    form = inst.shape.form
    if form.does & CALLS:
        return False
    space = form.memory or inst.shape.mods.get("space", "")
    if form.does & MEMORY and not space.startswith(OWN):
        return True
    return bool(form.does & (EXCHANGES | BARRIERS | POLLS))


@dataclass(slots=True)
class Inlined:
    """scope: the body; functions: those whose calls it replaces, by name; left: those that it still calls."""

    scope: Scope
    functions: set[str] = field(default_factory=set)
    left: set[str] = field(default_factory=set)


def inlined(module: Module, function: Function, wanted: Callable[[Function], bool]) -> Inlined:
    """The body of `function` with the `wanted` functions that it calls, directly or not, in place of their calls;
    the body itself when there are none."""
    scope = body(module, function)
    calls = [callee(module, item) for item in items(scope) if isinstance(item, Inst)]
    names = {f.proto.name for f in calls if f is not None}
    if of_one_way(module) or not any(f is not None and wanted(f) for f in calls):
        return Inlined(scope, set(), names)
    result = Inlined(Scope([]))
    _Inliner(module, wanted, result).function(function)
    _registers(result.scope)
    return result


class _Inliner:
    def __init__(self, module: Module, wanted: Callable[[Function], bool], result: Inlined) -> None:
        self.module, self.wanted, self.result = module, wanted, result
        self.stack: list[str] = []
        self.copies = self.instructions = 0

    def function(self, function: Function, names: Names | None = None, end: str = "") -> None:
        """Add a body. names: its parameters'; end: where it returns to, "" for the outermost."""
        self.stack.append(function.proto.name)
        self.scope(body(self.module, function), dict(names or {}), end, outermost=not end)
        self.stack.pop()

    def add(self, *found: Item) -> None:
        self.result.scope.items += found

    def scope(self, scope: Scope, names: Names, end: str, outermost: bool) -> None:
        if not outermost:
            self.copies += 1
            mark = f"${self.copies}$"
            for item in scope.items:
                names.update(declared(item, lambda name: mark + name))
        for item in scope.items:
            if isinstance(item, Inst):
                self._instruction(item, names, end)
            else:
                self.add(renamed(item, names))

    def _instruction(self, inst: Inst, names: Names, end: str) -> None:
        self.instructions += 1
        inst = instruction(inst, names)
        if inst.shape.form.does & RETURNS and end:
            self.add(branch(inst.line, end, inst.guard))
            return
        function = callee(self.module, inst)
        if function is None or not self._takes(function, inst):
            if function is not None:
                self.result.left.add(function.proto.name)
            self.add(inst)
            return
        self._call(inst, function)

    def _takes(self, function: Function, call: Inst) -> bool:
        proto = function.proto
        if (len(proto.results), len(proto.params)) != (len(_list(call.get("d"))), len(_list(call.get("a")))):
            return False
        if function.proto.name in self.stack or self.instructions > LIMIT or not self.wanted(function):
            return False
        own = [item for item in items(body(self.module, function)) if isinstance(item, Var)]
        return not any(var.space in ("shared", "global", "const") for var in own)

    def _call(self, inst: Inst, function: Function) -> None:
        self.result.functions.add(function.proto.name)
        self.copies += 1
        names: Names = {}
        after = f"$back{self.copies}"
        if inst.guard is not None:
            self.add(branch(inst.line, after, Guard(inst.guard.reg, not inst.guard.negated)))
        proto = function.proto
        for variables, given in ((proto.results, inst.get("d")), (proto.params, inst.get("a"))):
            for var, argument in zip(variables, _list(given), strict=True):
                if isinstance(argument, Reg | Sym):
                    names[var.name] = argument.name
                else:
                    names[var.name] = f"$arg{self.copies}${var.name}"
                    kind = move(f"b{var.type[1:]}" if f"b{var.type[1:]}" in MOVED else "b64")
                    self.add(Var("reg", kind.mods["t"], names[var.name]))
                    self.add(Inst(kind, (Reg(names[var.name]), argument), None, inst.line))
        self.function(function, names, after)
        self.add(Label(after, inst.line))


def _list(operand: Operand | None) -> tuple[Operand, ...]:
    return () if operand is None else operand.items if isinstance(operand, Vec) else (operand,)


def _registers(scope: Scope) -> None:
    """Turn scalars in .param space that are only accessed as a whole into registers."""
    uses: Counter[str] = Counter()
    whole: Counter[str] = Counter()
    scalars = {
        item.name: f"b{item.type[1:]}"
        for item in scope.items
        if isinstance(item, Var) and item.space == "param" and item.count < 0 and f"b{item.type[1:]}" in MOVED
    }
    for item in scope.items:
        if isinstance(item, Inst):
            for operand in item.operands:
                uses.update(_symbols(operand))
            cell = _cell(item)
            if cell in scalars and f"b{item.shape.mods['t'][1:]}" == scalars[cell]:
                whole[cell] += 1
    chosen = {name for name in scalars if uses[name] == whole[name]}
    for at, item in enumerate(scope.items):
        if isinstance(item, Var) and item.name in chosen:
            scope.items[at] = Var("reg", scalars[item.name], item.name, line=item.line)
        elif isinstance(item, Inst) and (name := _cell(item)) in chosen:
            loads = item.shape.form.does & READS
            to, value = (item.get("d"), Reg(name)) if loads else (Reg(name), item.get("b"))
            assert to is not None and value is not None
            scope.items[at] = Inst(move(scalars[name]), (to, value), item.guard, item.line)


def _cell(inst: Inst) -> str:
    """The variable in .param space whose first word an instruction accesses, else ""."""
    address = inst.get("a")
    if not inst.shape.form.does & (READS | WRITES) or not inst.shape.mods.get("space", "").startswith("param"):
        return ""
    if not isinstance(address, Addr) or not isinstance(address.base, Sym) or address.offset or address.base.offset:
        return ""
    value = inst.get("d") or inst.get("b")
    return "" if value is None or isinstance(value, Vec) else address.base.name


def _symbols(operand: Operand) -> Iterator[str]:
    if isinstance(operand, Sym):
        yield operand.name
    elif isinstance(operand, Addr):
        yield from _symbols(operand.base)
    elif isinstance(operand, Vec):
        for item in operand.items:
            yield from _symbols(item)


__all__ = ["Inlined", "callee", "inlined", "of_one_way"]
