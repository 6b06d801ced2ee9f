"""LLVM IR of the lowering as terms of the solver z3: straight-line integer code, one value a line.

Each instruction means what LLVM's language reference says of it; poison (shifts by the width or more, for instance) and
undefined behaviour (a division by zero) are collected as conditions that must not hold."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

import z3

from tests.proofs.terms import product, quotient, remainder

Term = z3.BitVecRef
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
    "ashr": lambda a, b: a >> b,
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


def bit(condition: z3.BoolRef) -> Term:
    return z3.If(condition, z3.BitVecVal(1, 1), z3.BitVecVal(0, 1))


def count_ones(a: Term) -> Term:
    n = a.size()
    return z3.simplify(sum((z3.ZeroExt(n - 1, z3.Extract(i, i, a)) for i in range(n)), z3.BitVecVal(0, n)))


def leading_zeros(a: Term) -> Term:
    n = a.size()
    found: Term = z3.BitVecVal(n, n)
    for i in range(n):
        found = z3.If(z3.Extract(i, i, a) == 1, z3.BitVecVal(n - 1 - i, n), found)
    return found


def reverse(a: Term) -> Term:
    return z3.Concat(*(z3.Extract(i, i, a) for i in range(a.size()))) if a.size() > 1 else a


def saturated(a: Term, b: Term, signed: bool, subtract: bool) -> Term:
    n = a.size()
    extend = z3.SignExt if signed else z3.ZeroExt
    wide = extend(2, a) - extend(2, b) if subtract else extend(2, a) + extend(2, b)
    low, high = (-(1 << n - 1), (1 << n - 1) - 1) if signed else (0, (1 << n) - 1)
    return z3.If(
        wide < low, z3.BitVecVal(low, n), z3.If(wide > high, z3.BitVecVal(high, n), z3.Extract(n - 1, 0, wide))
    )


def funnel(high: Term, low: Term, by: Term, left: bool) -> Term:
    n = high.size()
    both, amount = z3.Concat(high, low), z3.ZeroExt(n, z3.URem(by, z3.BitVecVal(n, n)))
    return z3.Extract(2 * n - 1, n, both << amount) if left else z3.Extract(n - 1, 0, z3.LShR(both, amount))


def field_of(a: Term, at: Term, length: Term, signed: bool) -> Term:
    """v_bfe_u32, v_bfe_i32 of the AMDGPU instruction sets: 5 bits each of position and length."""
    at, length = at & 31, length & 31
    top = z3.LShR(a, at) << (32 - length)
    taken = top >> (32 - length) if signed else z3.LShR(top, 32 - length)
    return z3.If(length == 0, z3.BitVecVal(0, 32), taken)


def permuted(a: Term, b: Term, selector: Term) -> Term:
    """v_perm_b32: bytes of a (4 to 7) and b (0 to 3), signs of 16-bit parts, 0, or all ones."""
    both = z3.Concat(a, b)
    out = []
    for i in range(4):
        pick = z3.ZeroExt(56, z3.Extract(8 * i + 7, 8 * i, selector))
        byte = z3.Extract(7, 0, z3.LShR(both, (pick & 7) * 8))
        sign = z3.Extract(7, 0, z3.LShR(both, ((pick & 3) * 16 + 15)))
        signs = z3.If(sign & 1 == 1, z3.BitVecVal(255, 8), z3.BitVecVal(0, 8))
        special = z3.If(pick == 12, z3.BitVecVal(0, 8), z3.If(pick > 12, z3.BitVecVal(255, 8), signs))
        out.append(z3.If(pick < 8, byte, special))
    return z3.Concat(*reversed(out))


def byte_differences(a: Term, b: Term, c: Term) -> Term:
    """v_sad_u8: c and the distances of the bytes."""
    for at in range(0, 32, 8):
        x, y = (z3.ZeroExt(24, z3.Extract(at + 7, at, v)) for v in (a, b))
        c = c + z3.If(z3.UGT(x, y), x - y, y - x)
    return c


def byte_products(a: Term, b: Term, total: Term, a_signed: bool, b_signed: bool) -> Term:
    """v_dot4 without clamp."""
    extend_a, extend_b = (z3.SignExt if signed else z3.ZeroExt for signed in (a_signed, b_signed))
    for at in range(0, 32, 8):
        total += extend_a(24, z3.Extract(at + 7, at, a)) * extend_b(24, z3.Extract(at + 7, at, b))
    return total


_CALLS: dict[str, Callable[..., Term]] = {
    "llvm.umin": lambda a, b: z3.If(z3.ULT(a, b), a, b),
    "llvm.umax": lambda a, b: z3.If(z3.UGT(a, b), a, b),
    "llvm.smin": lambda a, b: z3.If(a < b, a, b),
    "llvm.smax": lambda a, b: z3.If(a > b, a, b),
    "llvm.abs": lambda a, poison: z3.If(a < 0, -a, a),
    "llvm.ctpop": count_ones,
    "llvm.ctlz": lambda a, poison: leading_zeros(a),
    "llvm.cttz": lambda a, poison: leading_zeros(reverse(a)),
    "llvm.bitreverse": reverse,
    "llvm.sadd.sat": lambda a, b: saturated(a, b, True, False),
    "llvm.ssub.sat": lambda a, b: saturated(a, b, True, True),
    "llvm.uadd.sat": lambda a, b: saturated(a, b, False, False),
    "llvm.usub.sat": lambda a, b: saturated(a, b, False, True),
    "llvm.fshl": lambda a, b, by: funnel(a, b, by, True),
    "llvm.fshr": lambda a, b, by: funnel(a, b, by, False),
    "llvm.amdgcn.ubfe": lambda a, at, n: field_of(a, at, n, False),
    "llvm.amdgcn.sbfe": lambda a, at, n: field_of(a, at, n, True),
    "llvm.amdgcn.perm": permuted,
    "llvm.amdgcn.sad.u8": byte_differences,
    "llvm.amdgcn.udot4": lambda a, b, c, clamp: byte_products(a, b, c, False, False),
    "llvm.amdgcn.sdot4": lambda a, b, c, clamp: byte_products(a, b, c, True, True),
}
#: Calls whose second argument says what is poison.
_POISON = {"llvm.abs": lambda a: a == 1 << a.size() - 1, "llvm.ctlz": lambda a: a == 0, "llvm.cttz": lambda a: a == 0}


@dataclass(slots=True)
class Run:
    """One kernel, its parameters at offsets. stored: offset from the pointer in the first parameter -> value;
    forbidden: conditions under which LLVM promises nothing."""

    parameters: dict[int, Term]
    values: dict[str, Term] = field(default_factory=dict)
    vectors: dict[str, list[Term]] = field(default_factory=dict)
    pairs: dict[str, tuple[Term, Term]] = field(default_factory=dict)
    places: dict[str, int] = field(default_factory=dict)
    out: set[str] = field(default_factory=set)
    stored: dict[int, Term] = field(default_factory=dict)
    forbidden: list[z3.BoolRef] = field(default_factory=list)

    def kernel(self, ir: str) -> Run:
        """Execute the one kernel of a module."""
        body = ir[ir.index("define ") :].partition("{\n")[2].partition("\n}")[0]
        for line in body.split("\n"):
            if line and not line.endswith(":") and not line.startswith("  br label"):
                found = _LINE.fullmatch(line.partition(", !")[0])
                assert found is not None, line
                self.step(found[1] or "", found[2])
        return self

    def integer(self, ty: str, text: str) -> Term:
        """An operand of an integer type; vectors are their elements side by side."""
        if ty.startswith("<"):
            return z3.Concat(*reversed(self.elements(ty, text)))
        n = int(ty[1:])
        if text in ("true", "false"):
            return z3.BitVecVal(int(text == "true"), 1)
        return self.values[text] if text[0] == "%" else z3.BitVecVal(int(text), n)

    def elements(self, ty: str, text: str) -> list[Term]:
        count, element = ty[1:-1].split(" x ")
        if text in ("zeroinitializer", "poison"):
            return [z3.BitVecVal(0, int(element[1:]))] * int(count)
        if text.startswith("splat"):
            return [self.integer(element, text.rpartition(" ")[2].rstrip(")"))] * int(count)
        if text.startswith("<"):
            return [self.integer(*part.split(" ")) for part in text[1:-1].split(", ")]
        return self.vectors[text]

    def put(self, name: str, ty: str, value: Term) -> None:
        if ty.startswith("<"):
            n = int(ty[:-1].rpartition("i")[2])
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
                self.forbidden.append(z3.UGE(y, z3.BitVecVal(y.size(), y.size())))
            if op in ("udiv", "urem", "sdiv", "srem"):
                self.forbidden.append(y == 0)
            if op in ("sdiv", "srem"):
                self.forbidden.append(z3.And(y == -1, x == 1 << x.size() - 1))
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
        def size(t: str) -> int:
            return int(t.rstrip(">").rpartition("i")[2])

        def compute(x: Term) -> Term:
            if op == "trunc":
                return z3.Extract(size(to) - 1, 0, x)
            return (z3.SignExt if op == "sext" else z3.ZeroExt)(size(to) - size(ty), x)

        if op == "bitcast":
            self.put(name, to, self.integer(ty, a))
        else:
            self.each(name, ty, compute, a)

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
        self.values[name] = value if value.size() == int(ty[1:]) else z3.Extract(int(ty[1:]) - 1, 0, value)

    def store(self, name: str, ty: str, value: str, base: str) -> None:
        if base not in self.out:
            raise Unknown(f"a store to {base}")
        self.stored[self.places[base]] = self.integer(ty, value)

    def call(self, name: str, function: str, arguments: str) -> None:
        parts = [(found[1], found[2]) for found in _ARGUMENT.finditer(arguments)]
        known = re.sub(r"(\.[iv]\d+(i\d+)?)+$", "", function)
        if known == "llvm.amdgcn.kernarg.segment.ptr":
            self.places[name] = 0
        elif overflow := re.fullmatch(r"llvm\.([us])(add|sub|mul)\.with\.overflow", known):
            self.overflow(name, *overflow.groups(), *(self.integer(*part) for part in parts))
        elif known in _CALLS:
            if known in _POISON and parts[1][1] == "true":
                self.forbidden.append(_POISON[known](self.integer(*parts[0])))
            kinds = {kind for kind, _ in parts if kind.startswith("<")}
            if kinds and known in _POISON:
                function_of_one = _CALLS[known]
                self.each(name, kinds.pop(), lambda x: function_of_one(x, None), parts[0][1])
            elif kinds:
                self.each(name, kinds.pop(), _CALLS[known], *(text for _, text in parts))
            else:
                self.values[name] = _CALLS[known](*(self.integer(*part) for part in parts))
        else:
            raise Unknown(f"call of {function}")

    def overflow(self, name: str, sign: str, op: str, a: Term, b: Term) -> None:
        n = a.size()
        extend = z3.SignExt if sign == "s" else z3.ZeroExt
        wide = _ARITHMETIC[op](extend(n, a), extend(n, b))
        result = z3.Extract(n - 1, 0, wide)
        self.pairs[name] = result, bit(extend(n, result) != wide)

    def assembly(self, name: str, ty: str, value: str) -> None:
        """An opaque copy."""
        self.put(name, ty, self.integer(ty, value))

    def part(self, name: str, pair: str, index: str) -> None:
        self.values[name] = self.pairs[pair][int(index)]

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


_T, _V = r"(i\d+|<\d+ x i\d+>)", r"(<[^<>]*>|splat \([^()]*\)|[^\s,()]+)"
_ARGUMENT = re.compile(rf"{_T} {_V}")
_STEPS: list[tuple[re.Pattern[str], Callable[..., None]]] = [
    (re.compile(rf"({'|'.join(_ARITHMETIC)}) {_T} {_V}, {_V}"), Run.arithmetic),
    (re.compile(rf"icmp (\w+) {_T} {_V}, {_V}"), Run.compare),
    (re.compile(rf"select {_T} {_V}, {_T} {_V}, (?:i\d+|<\d+ x i\d+>) {_V}"), Run.select),
    (re.compile(rf"(trunc|zext|sext|bitcast) {_T} {_V} to {_T}"), Run.convert),
    (re.compile(r"inttoptr i64 (%[\w.]+) to ptr addrspace\(1\)()"), Run.address),
    (re.compile(r"getelementptr (?:inbounds )?i8, ptr addrspace\(\d\) (%[\w.]+), i64 (\d+)"), Run.address),
    (re.compile(r"load (i\d+), ptr addrspace\(4\) (%[\w.]+), align \d+"), Run.load),
    (re.compile(rf"store {_T} {_V}, ptr addrspace\(1\) (%[\w.]+), align \d+"), Run.store),
    (re.compile(r"call (?:align \d+ )?(?:i\d+|<[^>]*>|{[^}]*}|ptr addrspace\(4\)) @([\w.]+)\((.*)\)"), Run.call),
    (re.compile(rf'call {_T} asm "", "=v,0"\(\S+ (.*)\)'), Run.assembly),
    (re.compile(r"extractvalue {[^}]*} (%[\w.]+), (\d)"), Run.part),
    (re.compile(rf"extractelement {_T} {_V}, i\d+ (\d+)"), Run.extract),
    (re.compile(rf"insertelement {_T} {_V}, (i\d+) {_V}, i\d+ (\d+)"), Run.insert),
    (re.compile(rf"shufflevector {_T} {_V}, (?:<\d+ x i\d+>) {_V}, <\d+ x i32> <(.*)>"), Run.shuffle),
    (re.compile(r"ret void"), Run.nothing),
]
