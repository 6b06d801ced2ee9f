"""LLVM IR of the lowering as terms of the solver z3: code without calls back, and loops of one block.

Each instruction means what LLVM's language reference says of it; poison (shifts by the width or more, for instance) and
undefined behaviour (a division by zero) are collected as conditions that must not hold. Each block has a condition
under which it is reached; a phi takes the value of the edge that is taken. A loop is unrolled, and that it needs more
rounds is a condition that must not hold."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

import z3

from tests.proofs import floating
from tests.proofs.calls import CALLS, POISON
from tests.proofs.operands import SCALAR, constant, size, split
from tests.proofs.terms import product, quotient, remainder

Term = z3.BitVecRef
ROUNDS = 64  # of a loop
_LINE = re.compile(r"  (?:(%[\w.]+) = )?(.*)")
_ARITHMETIC: dict[str, Callable[[Term, Term], Term]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": product,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
    "udiv": quotient,
    "urem": remainder,
    "sdiv": lambda a, b: a / b,
    "srem": z3.SRem,
    "shl": lambda a, b: a << b,
    "lshr": z3.LShR,
    "ashr": lambda a, b: arithmetic_shift(a, b),
}
_COMPARE: dict[str, Callable[[Term, Term], z3.BoolRef]] = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "ult": z3.ULT,
    "ule": z3.ULE,
    "ugt": z3.UGT,
    "uge": z3.UGE,
    "slt": lambda a, b: a < b,
    "sle": lambda a, b: a <= b,
    "sgt": lambda a, b: a > b,
    "sge": lambda a, b: a >= b,
}


class Unknown(Exception):
    """An instruction that has no meaning here."""


def arithmetic_shift(a: Term, by: Term) -> Term:
    """By a constant: the sign, extended, which the solver simplifies where it keeps a shift."""
    n, by = a.size(), z3.simplify(by)
    if z3.is_bv_value(by) and by.as_long() < n:
        return z3.SignExt(by.as_long(), z3.Extract(n - 1, by.as_long(), a))
    return a >> by


def bit(condition: z3.BoolRef) -> Term:
    return z3.If(condition, z3.BitVecVal(1, 1), z3.BitVecVal(0, 1))


def unchanged(old: Term, new: Term, unless: z3.BoolRef) -> bool:
    """Whether two values are the same where a condition does not hold: the solver needs no choice between them."""
    solver = z3.Solver()
    solver.set("timeout", 1000)
    solver.add(z3.Not(unless), old != new)
    return bool(solver.check() == z3.unsat)


@dataclass(slots=True)
class Run:
    """One kernel, its parameters at offsets. stored: offset from the pointer in the first parameter -> value;
    forbidden: conditions under which LLVM promises nothing."""

    parameters: dict[int, Term]
    module: str = ""
    machine: floating.Machine = field(default_factory=floating.Machine)
    values: dict[str, Term] = field(default_factory=dict)
    vectors: dict[str, list[Term]] = field(default_factory=dict)
    structs: dict[str, list[Term]] = field(default_factory=dict)
    places: dict[str, int] = field(default_factory=dict)
    cells: dict[str, Term] = field(default_factory=dict)
    out: set[str] = field(default_factory=set)
    stored: dict[int, Term] = field(default_factory=dict)
    forbidden: list[z3.BoolRef] = field(default_factory=list)
    edges: dict[tuple[str, str], z3.BoolRef] = field(default_factory=dict)
    block: str = ""
    reached: z3.BoolRef = field(default_factory=lambda: z3.BoolVal(True))
    returned: list[Term] = field(default_factory=list)

    def kernel(self, ir: str) -> Run:
        """Execute the one kernel of a module."""
        self.module = ir = f"\n{ir}"
        [kernel] = [part for part in ir.split("\ndefine ")[1:] if "amdgpu_kernel" in part.partition("{\n")[0]]
        self.machine.ieee = "denormal-fp-math-f32" not in kernel.partition("{\n")[0]
        self.arguments(kernel[: kernel.index(")")])
        return self.function(kernel)

    def function(self, text: str) -> Run:
        body = text.partition("{\n")[2].partition("\n}")[0]
        blocks: dict[str, list[str]] = {}
        for line in body.split("\n"):
            if found := re.match(r"([\w.]+):", line):
                blocks[found[1]] = []
            elif line:
                blocks[next(reversed(blocks))].append(line.partition(", !")[0])
        for name, lines in blocks.items():
            self.enter(name)
            if re.match(rf"  br i1 .*%{name}\b", lines[-1]):
                others = " ".join(line for other, rest in blocks.items() if other != name for line in rest)
                self.loop(name, lines, set(re.findall(r"%[\w.]+", others)))
            else:
                self.lines(lines)
        return self

    def arguments(self, head: str) -> None:
        """A kernel's arguments, which lie at the places of its parameters."""
        at = 0
        for ty, name in re.findall(r"(i\d+) (%p\d+)", head):
            n = size(ty) // 8
            at = -(-at // n) * n
            if at in self.parameters:
                value = self.parameters[at]
                self.values[name] = value if value.size() == size(ty) else z3.Extract(size(ty) - 1, 0, value)
            at += n

    def enter(self, name: str) -> None:
        taken = [condition for (_, to), condition in self.edges.items() if to == name]
        if taken:
            self.reached = z3.simplify(z3.Or(taken))
        self.block = name

    def loop(self, name: str, lines: list[str], used: set[str]) -> None:
        """A block that goes back to itself: the values used elsewhere are those of the last round in which it ran."""
        before = self.reached
        for _ in range(ROUNDS):
            old, running = dict(self.values), self.reached
            self.lines(lines)
            for value in self.values.keys() & old.keys() & used:
                if not unchanged(old[value], self.values[value], running):
                    self.values[value] = z3.If(running, self.values[value], old[value])
            for edge in [edge for edge in self.edges if edge[1] == name]:
                self.reached = z3.And(running, self.edges[edge]) if edge[0] == name else self.reached
                self.edges[edge] = z3.BoolVal(edge[0] == name)
        self.forbidden.append(self.reached)
        for edge in [edge for edge in self.edges if edge[0] == name]:
            self.edges[edge] = before

    def lines(self, lines: list[str]) -> None:
        """One pass over a block: all its phis at once."""
        phis = {}
        for line in lines:
            found = _LINE.fullmatch(line)
            assert found is not None, line
            if phi := re.fullmatch(r"phi (\S+) (.*)", found[2]):
                phis[found[1]] = self.chosen(*phi.groups())
                continue
            self.values |= phis
            phis = {}
            self.step(found[1] or "", found[2])

    def chosen(self, ty: str, incoming: str) -> Term:
        """A phi's value."""
        result: Term | None = None
        for text, edge in re.findall(r"\[ (\S+), %([\w.]+) \]", incoming):
            taken = self.edges.get((edge, self.block), z3.BoolVal(False))
            if not z3.is_false(taken):
                value = self.integer(ty, text)
                result = value if result is None else z3.If(taken, value, result)
        if result is None:
            raise Unknown(f"phi {incoming}")
        return result

    def forbid(self, condition: z3.BoolRef) -> None:
        self.forbidden.append(z3.And(self.reached, condition))

    def integer(self, ty: str, text: str) -> Term:
        """The bits of an operand; vectors are their elements side by side."""
        if ty.startswith("<"):
            return z3.Concat(*reversed(self.elements(ty, text)))
        return self.values[text] if text[0] == "%" else constant(ty, text)

    def elements(self, ty: str, text: str) -> list[Term]:
        element, count = split(ty)
        if text in ("zeroinitializer", "poison"):
            return [z3.BitVecVal(0, size(element))] * count
        if text.startswith("splat"):
            return [self.integer(element, text.rpartition(" ")[2].rstrip(")"))] * count
        if text.startswith("<"):
            return [self.integer(*part.split(" ")) for part in text[1:-1].split(", ")]
        return self.vectors[text]

    def put(self, name: str, ty: str, value: Term) -> None:
        if ty.startswith("<"):
            n = size(split(ty)[0])
            self.vectors[name] = [z3.Extract(at + n - 1, at, value) for at in range(0, value.size(), n)]
        else:
            self.values[name] = value

    def each(self, name: str, ty: str, function: Callable[..., Term], *operands: str) -> None:
        """The same of each element, or of scalars."""
        if ty.startswith("<"):
            columns = [self.elements(ty, text) for text in operands]
            self.vectors[name] = [function(*row) for row in zip(*columns, strict=True)]
        else:
            self.values[name] = function(*(self.integer(ty, text) for text in operands))

    def step(self, name: str, text: str) -> None:
        word = text.split(" ")[0]
        for shape, run in _STEPS:
            if found := shape.fullmatch(text):
                return run(self, name, *found.groups())
        raise Unknown(f"{word}: {text}")

    def arithmetic(self, name: str, op: str, ty: str, a: str, b: str) -> None:
        def compute(x: Term, y: Term) -> Term:
            if op in ("shl", "lshr", "ashr"):
                self.forbid(z3.UGE(y, z3.BitVecVal(y.size(), y.size())))
            if op in ("udiv", "urem", "sdiv", "srem"):
                self.forbid(y == 0)
            if op in ("sdiv", "srem"):
                self.forbid(z3.And(y == -1, x == 1 << x.size() - 1))
            return _ARITHMETIC[op](x, y)

        self.each(name, ty, compute, a, b)

    def compare(self, name: str, relation: str, ty: str, a: str, b: str) -> None:
        if ty.startswith("<"):
            rows = zip(self.elements(ty, a), self.elements(ty, b), strict=True)
            self.vectors[name] = [bit(_COMPARE[relation](x, y)) for x, y in rows]
        else:
            self.values[name] = bit(_COMPARE[relation](self.integer(ty, a), self.integer(ty, b)))

    def select(self, name: str, of: str, condition: str, ty: str, a: str, b: str) -> None:
        if of.startswith("<"):
            rows = zip(self.elements(of, condition), self.elements(ty, a), self.elements(ty, b), strict=True)
            self.vectors[name] = [z3.If(c == 1, x, y) for c, x, y in rows]
        else:
            chosen = z3.If(self.integer("i1", condition) == 1, self.integer(ty, a), self.integer(ty, b))
            self.put(name, ty, chosen)

    def convert(self, name: str, op: str, ty: str, a: str, to: str) -> None:
        element, into = split(ty)[0], split(to)[0]

        def compute(x: Term) -> Term:
            if op == "trunc":
                return z3.Extract(size(into) - 1, 0, x)
            if op in ("zext", "sext"):
                return (z3.SignExt if op == "sext" else z3.ZeroExt)(size(into) - size(element), x)
            return floating.converted(self.machine, op, x, element, into)

        if op == "bitcast":
            self.put(name, to, self.integer(ty, a))
        else:
            self.each(name, ty, compute, a)

    def float_arithmetic(self, name: str, op: str, ty: str, a: str, b: str) -> None:
        self.each(name, ty, lambda x, y: floating.arithmetic(self.machine, op, split(ty)[0], x, y), a, b)

    def float_negation(self, name: str, ty: str, a: str) -> None:
        self.each(name, ty, lambda x: floating.negated(self.machine, split(ty)[0], x), a)

    def float_compare(self, name: str, relation: str, ty: str, a: str, b: str) -> None:
        self.each(name, ty, lambda x, y: bit(floating.compared(self.machine, relation, split(ty)[0], x, y)), a, b)

    def branch(self, name: str, to: str) -> None:
        self.edges[self.block, to] = self.reached

    def branch_on(self, name: str, condition: str, yes: str, no: str) -> None:
        taken = z3.simplify(self.integer("i1", condition) == 1)
        self.edges[self.block, yes] = z3.simplify(z3.And(self.reached, taken))
        self.edges[self.block, no] = z3.simplify(z3.And(self.reached, z3.Not(taken)))

    def cell(self, name: str, ty: str) -> None:
        """A variable of the thread's own."""
        self.cells[name] = z3.FreshConst(z3.BitVecSort(size(ty)), "cell")

    def load_cell(self, name: str, cell: str) -> None:
        self.values[name] = self.cells[cell]

    def store_cell(self, name: str, ty: str, value: str, cell: str) -> None:
        self.cells[cell] = z3.If(self.reached, self.integer(ty, value), self.cells[cell])

    def leave(self, name: str, ty: str, value: str) -> None:
        if not z3.is_true(self.reached):
            raise Unknown("a return in the middle")
        self.returned = self.structs[value] if ty[0] == "{" else [self.integer(ty, value)]

    def insert_value(self, name: str, ty: str, whole: str, element: str, value: str, index: str) -> None:
        count = ty.count(",") + 1
        parts = list(self.structs.get(whole, [z3.BitVecVal(0, 1)] * count))
        parts[int(index)] = self.integer(element, value)
        self.structs[name] = parts

    def address(self, name: str, base: str, offset: str) -> None:
        """Of a parameter, or of what the first parameter points to."""
        if (base in self.values and self.values[base].eq(self.parameters[0])) or base in self.out:
            self.out.add(name)
        elif base not in self.places:
            raise Unknown(f"an address made of {base}")
        self.places[name] = self.places.get(base, 0) + int(offset or 0)

    def load(self, name: str, ty: str, base: str) -> None:
        if base in self.out or base not in self.places:
            raise Unknown(f"a load of {base}")
        value = self.parameters[self.places[base]]
        self.values[name] = value if value.size() == size(ty) else z3.Extract(size(ty) - 1, 0, value)

    def store(self, name: str, ty: str, value: str, base: str) -> None:
        if base not in self.out:
            raise Unknown(f"a store to {base}")
        if not z3.is_true(self.reached):
            raise Unknown("a store that is not always done")
        self.stored[self.places[base]] = self.integer(ty, value)

    def call(self, name: str, result: str, function: str, arguments: str) -> None:
        parts = [(found[1], found[2]) for found in _ARGUMENT.finditer(arguments)]
        known = re.sub(r"(\.([iv]\d+([if]\d+)?|b?f\d+|float|double))+$", "", function)
        if known == "llvm.amdgcn.kernarg.segment.ptr":
            self.places[name] = 0
        elif known == "llvm.amdgcn.s.setreg":
            if not z3.is_true(self.reached):
                raise Unknown("a write of MODE that is not always done")
            self.machine.set_mode(*(z3.simplify(self.integer(*part)).as_long() for part in parts))
        elif overflow := re.fullmatch(r"llvm\.([us])(add|sub|mul)\.with\.overflow", known):
            self.overflow(name, *overflow.groups(), *(self.integer(*part) for part in parts))
        elif re.fullmatch(r"llvm\.experimental\.constrained\.(fptrunc|fpext)", known):
            self.convert(name, known.rpartition(".")[2], *parts[0], result)
        elif known in floating.FUNCTIONS or (known := f"{known}.i32") in floating.FUNCTIONS:
            self.float_call(name, result, known, parts)
        elif (known := known.removesuffix(".i32")) in CALLS:
            if known in POISON and parts[1][1] == "true":
                self.forbid(POISON[known](self.integer(*parts[0])))
            kinds = {kind for kind, _ in parts if kind.startswith("<")}
            if kinds and known in POISON:
                function_of_one = CALLS[known]
                self.each(name, kinds.pop(), lambda x: function_of_one(x, None), parts[0][1])
            elif kinds:
                self.each(name, kinds.pop(), CALLS[known], *(text for _, text in parts))
            else:
                self.values[name] = CALLS[known](*(self.integer(*part) for part in parts))
        else:
            self.inner(name, result, function, parts)

    def float_call(self, name: str, result: str, known: str, parts: list[tuple[str, str]]) -> None:
        element, function = split(parts[0][0])[0], floating.FUNCTIONS[known]
        if ".sat" in known:
            n = size(split(result)[0])
            self.each(name, parts[0][0], lambda x: function(self.machine, element, x, n), parts[0][1])
        elif parts[0][0][0] == "<":
            self.each(name, parts[0][0], lambda *v: function(self.machine, element, *v), *(text for _, text in parts))
        else:
            self.values[name] = function(self.machine, element, *(self.integer(*part) for part in parts))

    def inner(self, name: str, result: str, function: str, parts: list[tuple[str, str]]) -> None:
        """A call of a function of the same module."""
        found = re.search(rf"\ndefine [^\n]*@{re.escape(function)}\(([^\n]*)\)[^\n]* {{\n", self.module)
        if found is None:
            raise Unknown(f"call of {function}")
        names = [text for _, text in _ARGUMENT.findall(found[1])]
        values = {inner: self.integer(*part) for inner, part in zip(names, parts, strict=True)}
        run = Run({}, self.module, self.machine, values, forbidden=self.forbidden, reached=self.reached)
        run.function(self.module[found.start() + 1 :])
        if result[0] == "{":
            self.structs[name] = run.returned
        else:
            self.put(name, result, run.returned[0])

    def overflow(self, name: str, sign: str, op: str, a: Term, b: Term) -> None:
        n = a.size()
        extend = z3.SignExt if sign == "s" else z3.ZeroExt
        wide = _ARITHMETIC[op](extend(n, a), extend(n, b))
        result = z3.Extract(n - 1, 0, wide)
        self.structs[name] = [result, bit(extend(n, result) != wide)]

    def assembly(self, name: str, ty: str, value: str) -> None:
        """An opaque copy."""
        self.put(name, ty, self.integer(ty, value))

    def machine_integer(self, name: str, op: str, ty: str, value: str) -> None:
        """The machine's conversion, which saturates: see `machine_integer` of the lowering."""
        number = self.machine.number(self.integer(ty, value), ty)
        self.values[name] = floating.whole(number, z3.RTZ(), 32, op == "fptosi")

    def part(self, name: str, pair: str, index: str) -> None:
        self.values[name] = self.structs[pair][int(index)]

    def extract(self, name: str, ty: str, value: str, index: str) -> None:
        self.values[name] = self.elements(ty, value)[int(index)]

    def insert(self, name: str, ty: str, value: str, element: str, new: str, index: str) -> None:
        parts = list(self.elements(ty, value))
        parts[int(index)] = self.integer(element, new)
        self.vectors[name] = parts

    def shuffle(self, name: str, ty: str, a: str, b: str, mask: str) -> None:
        pool = self.elements(ty, a) + self.elements(ty, b)
        self.vectors[name] = [pool[int(part.split(" ")[1])] for part in mask.split(", ")]

    def nothing(self, name: str) -> None:
        """The end."""


_T = rf"({SCALAR}|<\d+ x {SCALAR}>)"
_V = r"(<[^<>]*>|splat \([^()]*\)|bitcast \([^()]*\)|[^\s,()]+)"
_ARGUMENT = re.compile(rf"{_T} {_V}")
_RESULT = rf"(void|{SCALAR}|<\d+ x {SCALAR}>|{{[^}}]*}}|ptr addrspace\(4\))"
_OWN = r"ptr addrspace\(5\) (%[\w.]+)"
_STEPS: list[tuple[re.Pattern[str], Callable[..., None]]] = [
    (re.compile(rf"({'|'.join(_ARITHMETIC)}) {_T} {_V}, {_V}"), Run.arithmetic),
    (re.compile(rf"(fadd|fsub|fmul|fdiv) (?:contract )?{_T} {_V}, {_V}"), Run.float_arithmetic),
    (re.compile(rf"fneg {_T} {_V}"), Run.float_negation),
    (re.compile(rf"icmp (\w+) {_T} {_V}, {_V}"), Run.compare),
    (re.compile(rf"fcmp (\w+) {_T} {_V}, {_V}"), Run.float_compare),
    (re.compile(rf"select {_T} {_V}, {_T} {_V}, (?:{SCALAR}|<\d+ x {SCALAR}>) {_V}"), Run.select),
    (re.compile(rf"(trunc|zext|sext|bitcast|fpext|fptrunc|uitofp|sitofp) {_T} {_V} to {_T}"), Run.convert),
    (re.compile(rf"(fptosi|fptoui) {_T} {_V} to i32"), Run.machine_integer),
    (re.compile(rf"freeze {_T} {_V}"), Run.assembly),
    (re.compile(r"inttoptr i64 (%[\w.]+) to ptr addrspace\(1\)()"), Run.address),
    (re.compile(r"getelementptr (?:inbounds )?i8, ptr addrspace\(\d\) (%[\w.]+), i64 (\d+)"), Run.address),
    (re.compile(r"alloca (i\d+), addrspace\(5\)"), Run.cell),
    (re.compile(rf"load i\d+, {_OWN}"), Run.load_cell),
    (re.compile(rf"store {_T} {_V}, {_OWN}"), Run.store_cell),
    (re.compile(rf"load ({SCALAR}), ptr addrspace\(4\) (%[\w.]+), align \d+"), Run.load),
    (re.compile(rf"store {_T} {_V}, ptr addrspace\(1\) (%[\w.]+), align \d+"), Run.store),
    (re.compile(rf'call {_T} asm(?: sideeffect)? "", "=[vs],0"\(\S+ (.*)\)'), Run.assembly),
    (
        re.compile(rf'call (?:align \d+ |fastcc )*{_RESULT} @([\w.]+|"[^"]*")\((.*)\)(?: strictfp| convergent)*'),
        Run.call,
    ),
    (re.compile(r"extractvalue {[^}]*} (%[\w.]+), (\d)"), Run.part),
    (re.compile(rf"insertvalue ({{[^}}]*}}) (%[\w.]+|poison), {_T} {_V}, (\d+)"), Run.insert_value),
    (re.compile(rf"extractelement {_T} {_V}, i\d+ (\d+)"), Run.extract),
    (re.compile(rf"insertelement {_T} {_V}, ({SCALAR}) {_V}, i\d+ (\d+)"), Run.insert),
    (re.compile(rf"shufflevector {_T} {_V}, (?:<\d+ x {SCALAR}>) {_V}, <\d+ x i32> <(.*)>"), Run.shuffle),
    (re.compile(r"br label %([\w.]+)"), Run.branch),
    (re.compile(r"br i1 (\S+), label %([\w.]+), label %([\w.]+)"), Run.branch_on),
    (re.compile(rf"ret ({SCALAR}|{{[^}}]*}}) (\S+)"), Run.leave),
    (re.compile(r"ret void"), Run.nothing),
]
