"""Litmus tests in herd's format for PTX, as kernels: each litmus thread is a warp, each lane of the warps an instance
with variables of its own, a cache line each."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

Values = npt.NDArray[np.int64]
LINE = 64
LANES = 32


class NotPtx(Exception):
    """The test has something that PTX has not, or this conversion."""


@dataclass(slots=True)
class Thread:
    """One litmus thread: its place, the initial values of its registers, its instructions."""

    name: str
    cta: int
    gpu: int
    registers: dict[str, int] = field(default_factory=dict)
    code: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Test:
    """variables: name to initial value; same: names of one location; condition: an expression; quantifier: exists,
    ~exists or forall."""

    name: str
    variables: dict[str, int]
    same: dict[str, str]
    threads: list[Thread]
    quantifier: str
    condition: str

    def location(self, name: str) -> str:
        while name in self.same:
            name = self.same[name]
        if name not in self.variables:
            raise NotPtx(f"no variable {name}")
        return name

    @property
    def ctas(self) -> list[list[Thread]]:
        """The threads of each block."""
        return [[t for t in self.threads if t.cta == n] for n in sorted({t.cta for t in self.threads})]

    @property
    def outputs(self) -> list[tuple[str, str]]:
        """Registers that the condition names: (thread, register)."""
        found = re.findall(r"\bP?(\d+):(r\d+)", self.condition)
        return list(dict.fromkeys((f"P{n}", r) for n, r in found))


_OTHER_PROXIES = re.compile(r"\b(sust|suld|tld|cold|sured|suatom)\b|fence\.proxy\.(surface|texture|constant)")


def parse(name: str, text: str) -> Test:
    """The test of a file. Raises NotPtx."""
    if other := _OTHER_PROXIES.search(text):
        raise NotPtx(f"{other[0]}: PTX has no fence between this proxy and others")
    text = re.sub(r'"[^"]*"', "", text, flags=re.S)
    head, _, rest = text.partition("}")
    test = Test(name, {}, {}, [], "", "")
    initial: dict[tuple[str, str], int] = {}
    for item in filter(None, (part.strip() for part in re.split(r"[;\n]", head.partition("{")[2]))):
        _initial(test, initial, item)
    program, quantifier, condition = _split(rest)
    rows = [[cell.strip() for cell in row.split("|")] for row in program.split(";") if row.strip()]
    for cell in rows[0]:
        if not (m := re.fullmatch(r"(P\d+)\s*@\s*cta\s+(\d+)\s*,\s*gpu\s+(\d+)", cell)):
            raise NotPtx(f"thread {cell!r}")
        test.threads.append(Thread(m[1], int(m[2]), int(m[3])))
    for row in rows[1:]:
        for thread, cell in zip(test.threads, row, strict=False):
            if cell:
                thread.code.append(cell)
    for thread in test.threads:
        thread.registers = {r: value for (t, r), value in initial.items() if t == thread.name}
    if len({t.gpu for t in test.threads}) > 1:
        raise NotPtx("threads on several GPUs")
    test.quantifier, test.condition = quantifier, re.sub(r"\s*:\s*", ":", condition)
    accesses = "|".join(text for thread in test.threads for text in thread.code if not text.startswith("bar"))
    for name in re.findall(r"\b(?!(?:LC|r)\d)([a-zA-Z]\w*)\b(?=\s*(?:,|$|\|))", accesses):
        if name not in test.same:
            test.variables.setdefault(name, 0)  # of those that are not declared
    return test


def _initial(test: Test, registers: dict[tuple[str, str], int], item: str) -> None:
    if m := re.fullmatch(r"(\w+)\s*=\s*(-?\d+)", item):
        test.variables[m[1]] = int(m[2])
    elif m := re.fullmatch(r"(P\d+)\s*:\s*(\w+)\s*=\s*(-?\d+)", item):
        registers[m[1], m[2]] = int(m[3])
    elif m := re.fullmatch(r"(\w+)\s*@\s*\w+\s+aliases\s+(\w+)", item):
        test.same[m[1]] = m[2]
    else:
        raise NotPtx(f"initial state {item!r}")


def _split(text: str) -> tuple[str, str, str]:
    """Program, quantifier and condition."""
    m = re.search(r"(~\s*exists|exists|forall)\s*(.*)$", text, re.S)
    if not m:
        raise NotPtx("no condition")
    program = re.sub(r"(locations|filter)\b.*$", "", text[: m.start()], flags=re.S)
    return program, m[1].replace(" ", ""), m[2].strip()


# --- PTX ---------------------------------------------------------------------------------------------------


class _Body:
    """The PTX of one thread."""

    def __init__(self, test: Test, thread: Thread) -> None:
        self.test, self.thread, self.lines = test, thread, list[str]()

    def value(self, text: str) -> str:
        return f"%{text}" if re.fullmatch(r"r\d+", text) else text

    def place(self, name: str) -> str:
        return f"[%x_{self.test.location(name)}]"

    def label(self, name: str) -> str:
        return f"{self.thread.name}_{name}"

    def add(self, line: str) -> None:
        self.lines.append(line)

    def instruction(self, text: str) -> None:
        text = text.strip()
        if m := re.fullmatch(r"(LC\d+)\s*:(.*)", text):
            self.add(f"{self.label(m[1])}:")
            if m[2].strip():
                self.instruction(m[2])
            return
        name, _, rest = text.partition(" ")
        operands = [part.strip() for part in rest.split(",")] if rest.strip() else []
        words = name.split(".")
        handler = getattr(self, f"_{words[0]}", None)
        if not handler:
            raise NotPtx(f"instruction {text!r}")
        handler(words[1:], operands)

    def _ld(self, words: list[str], operands: list[str]) -> None:
        if not words:
            self.add(f"mov.u32 {self.value(operands[0])}, {self.value(operands[1])};")
            return
        self.add(f"ld.{'.'.join(words)}.global.u32 {self.value(operands[0])}, {self.place(operands[1])};")

    def _st(self, words: list[str], operands: list[str]) -> None:
        self.add(f"mov.u32 %t, {self.value(operands[1])};")
        self.add(f"st.{'.'.join(words)}.global.u32 {self.place(operands[0])}, %t;")

    def _fence(self, words: list[str], operands: list[str]) -> None:
        self.add(f"fence.{'.'.join(words)};")

    def _atom(self, words: list[str], operands: list[str]) -> None:
        *order, operation = words
        values = [self.value(v) for v in operands[2:]]
        if operation == "sub":
            self.add(f"sub.u32 %t, 0, {values[0]};")
            operation, values = "add", ["%t"]
        kind = f"{operation}.{'u32' if operation == 'add' else 'b32'}"
        self.add(f"atom.{'.'.join(order)}.global.{kind} {self.value(operands[0])}, {self.place(operands[1])}, "
                 f"{', '.join(values)};")  # fmt: skip

    def _red(self, words: list[str], operands: list[str]) -> None:
        *order, operation = words
        if order[0] not in ("relaxed", "release"):
            raise NotPtx(f"red.{order[0]}")
        value = self.value(operands[1])
        if operation == "sub":
            self.add(f"sub.u32 %t, 0, {value};")
            operation, value = "add", "%t"
        kind = f"{operation}.{'u32' if operation == 'add' else 'b32'}"
        self.add(f"red.{'.'.join(order)}.global.{kind} {self.place(operands[0])}, {value};")

    def _bar(self, words: list[str], operands: list[str]) -> None:
        """`bar.cta.sync instance[, barrier[, quorum]]`; without a barrier, of all threads that name the instance."""
        barrier = operands[1] if len(operands) > 1 else operands[0]
        if re.fullmatch(r"r\d+", barrier):
            barrier = str(self.thread.registers.get(barrier, 0))
        partners = self._partners(operands, barrier)
        count = int(operands[2]) if len(operands) > 2 else partners
        if partners % count:
            raise NotPtx("threads are left waiting at a barrier")
        self.add(f"barrier.{words[1]} {barrier}, {LANES * count};")

    def _partners(self, operands: list[str], barrier: str) -> int:
        """Threads of the block that come to the barrier."""
        count = 0
        for thread in self.test.threads:
            if thread.cta == self.thread.cta:
                for text in thread.code:
                    m = re.fullmatch(r"bar\.cta\.\w+\s+(\w+)(?:\s*,\s*(\w+))?.*", text)
                    if m and (len(operands) > 1) == bool(m[2]):
                        other = m[2] or m[1]
                        other = str(thread.registers.get(other, 0)) if other.startswith("r") else other
                        if other == barrier:
                            count += 1
                            break
        return count

    def _arithmetic(self, name: str, operands: list[str]) -> None:
        self.add(f"{name} {', '.join(self.value(v) for v in operands)};")

    def _add(self, words: list[str], operands: list[str]) -> None:
        self._arithmetic("add.u32", operands)

    def _sub(self, words: list[str], operands: list[str]) -> None:
        self._arithmetic("sub.u32", operands)

    def _mul(self, words: list[str], operands: list[str]) -> None:
        self._arithmetic("mul.lo.u32", operands)

    def _goto(self, words: list[str], operands: list[str]) -> None:
        self.add(f"bra {self.label(operands[0])};")

    def _compare(self, how: str, operands: list[str]) -> None:
        self.add(f"setp.{how}.s32 %p, {self.value(operands[0])}, {self.value(operands[1])};")
        self.add(f"@%p bra {self.label(operands[2])};")

    def _beq(self, words: list[str], operands: list[str]) -> None:
        self._compare("eq", operands)

    def _bne(self, words: list[str], operands: list[str]) -> None:
        self._compare("ne", operands)

    def _bgt(self, words: list[str], operands: list[str]) -> None:
        self._compare("gt", operands)

    def _blt(self, words: list[str], operands: list[str]) -> None:
        self._compare("lt", operands)

    def _bge(self, words: list[str], operands: list[str]) -> None:
        self._compare("ge", operands)

    def _ble(self, words: list[str], operands: list[str]) -> None:
        self._compare("le", operands)


def _thread(test: Test, thread: Thread) -> str:
    body = _Body(test, thread)
    registers = sorted(
        {f"r{n}" for text in thread.code for n in re.findall(r"\br(\d+)\b", text)} | set(thread.registers)
    )
    for text in thread.code:
        body.instruction(text)
    own = [(k, r) for k, (name, r) in enumerate(test.outputs) if name == thread.name]
    if missing := [r for _, r in own if r not in registers]:
        raise NotPtx(f"{thread.name} has no {missing[0]}")
    begin = [f".reg .b32 {', '.join(f'%{r}' for r in registers)};"] if registers else []
    begin += [f"mov.u32 %{r}, {thread.registers.get(r, 0)};" for r in registers]
    end = [f"st.weak.global.u32 [%out+{4 * k}], %{r};" for k, r in own]
    return "{\n  " + "\n  ".join(begin + body.lines + end) + "\n}\n  ret;"


def kernel(test: Test, name: str) -> str:
    """A kernel (variables, results, instances, warm): instance n has variable v at (v * instances + n) lines, result
    k at (n * results + k) dwords. warm: every thread reads all variables first, so that caches hold old values."""
    if not test.variables:
        raise NotPtx("no variables")
    places = "".join(
        f"  mad.lo.u32 %t, %n, {k}, %i; mul.wide.u32 %a, %t, {LINE}; add.u64 %x_{v}, %base, %a;\n"
        for k, v in enumerate(test.variables)
    )
    warm = "".join(f"  ld.weak.global.u32 %w, [%x_{v}]; add.u32 %t, %t, %w;\n" for v in test.variables)
    ctas = test.ctas
    choice = "".join(
        f"  setp.eq.u32 %p, %c, {64 * c + k}; @%p bra {thread.name};\n"
        for c, threads in enumerate(ctas)
        for k, thread in enumerate(threads)
    )
    bodies = "\n".join(f"{thread.name}:\n{_thread(test, thread)}" for threads in ctas for thread in threads)
    return f"""
.visible .entry {name}(.param .u64 p, .param .u64 out, .param .u32 n, .param .u32 warm) {{
  .reg .b64 %base, %out, %a, {", ".join(f"%x_{v}" for v in test.variables)};
  .reg .b32 %n, %i, %c, %t, %w, %b; .reg .pred %p;
  ld.param.u64 %base, [p]; ld.param.u64 %out, [out]; ld.param.u32 %n, [n]; ld.param.u32 %w, [warm];
  mov.u32 %b, %ctaid.x; mov.u32 %t, %tid.x; rem.u32 %c, %b, {len(ctas)}; div.u32 %b, %b, {len(ctas)};
  and.b32 %i, %t, 31; shr.u32 %t, %t, 5; mad.lo.u32 %c, %c, 64, %t; mad.lo.u32 %i, %b, 32, %i;
{places}  mul.lo.u32 %t, %i, {4 * max(1, len(test.outputs))}; cvt.u64.u32 %a, %t; add.u64 %out, %out, %a;
  setp.eq.u32 %p, %w, 0; @%p bra COLD;
  mov.u32 %t, 0;
{warm}  setp.eq.u32 %p, %t, 0x7fffffff; @%p trap;
COLD:
{choice}  ret;
{bodies}
}}
"""


HEAD = ".version 8.0\n.target sm_90\n.address_size 64\n"


# --- conditions -----------------------------------------------------------------------------------------------


def holds(test: Test, values: dict[str, Values]) -> npt.NDArray[np.bool_]:
    """For each instance whether the condition is true. values: variables by name, registers as P0:r1."""
    tokens = re.findall(r"/\\|\\/|[()~]|!=|==|=|-?\d+(?!\s*:)|P?\d+\s*:\s*r\d+|\w+", test.condition)
    at = 0

    def peek() -> str:
        return tokens[at] if at < len(tokens) else ""

    def take() -> str:
        nonlocal at
        at += 1
        return tokens[at - 1]

    def operand() -> Values:
        text = take().replace(" ", "")
        if re.fullmatch(r"-?\d+", text):
            return np.int64(int(text)) + np.zeros(1, np.int64)
        return values[text if text.startswith("P") or ":" not in text else f"P{text}"]

    def term() -> npt.NDArray[np.bool_]:
        if peek() == "~":
            take()
            return ~term()
        if peek() == "(":
            take()
            inside = either()
            if take() != ")":
                raise NotPtx(f"condition {test.condition!r}")
            return inside
        left, how, right = operand(), take(), operand()
        return left != right if how == "!=" else left == right

    def both() -> npt.NDArray[np.bool_]:
        result = term()
        while peek() == "/\\":
            take()
            result = result & term()
        return result

    def either() -> npt.NDArray[np.bool_]:
        result = both()
        while peek() == "\\/":
            take()
            result = result | both()
        return result

    found = either()
    if peek():
        raise NotPtx(f"condition {test.condition!r}")
    return found
