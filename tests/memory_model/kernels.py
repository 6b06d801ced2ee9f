"""Kernels of litmus tests: each litmus thread is a warp, each lane of the warps an instance with variables of its own,
a cache line each."""

from __future__ import annotations

import re

from tests.memory_model.litmus import NotPtx, Test, Thread
from tests.reference.images import READ_AS_INTEGER, Image

HEAD = ".version 8.0\n.target sm_90\n.address_size 64\n"
LINE = 64
LANES = 32
#: Bytes of a descriptor; each variable has two, as a texture and as a surface.
DESCRIPTOR = 128
#: Threads of a block that have ended, of tests in which one is left waiting at a barrier.
_ENDED = "ended_"
#: Threads that have begun, of tests on several GPUs.
_BEGUN = "begun_"


def views(address: int, instances: int) -> bytes:
    """The descriptors of a variable, whose instances are at the address."""
    image = Image((instances * LINE // 4, 1, 1), 0x03, 1, [], 1, flags=READ_AS_INTEGER)
    return image.descriptor(address, 1) + image.descriptor(address, 2)


# --- barriers ----------------------------------------------------------------------------------------------


def _barrier(thread: Thread, text: str) -> tuple[str, str] | None:
    """What the thread names in a `bar.cta.sync instance[, barrier[, quorum]]`: of barriers, or of instances alone."""
    m = re.fullmatch(r"bar\.cta\.\w+\s+(\w+)(?:\s*,\s*(\w+))?.*", text)
    if not m:
        return None
    name = m[2] or m[1]
    return ("barrier" if m[2] else "instance", str(thread.registers.get(name, 0)) if name.startswith("r") else name)


def _partners(test: Test, thread: Thread, barrier: tuple[str, str]) -> list[Thread]:
    """Threads of the thread's block that come to the barrier."""
    block = [t for t in test.threads if (t.gpu, t.cta) == (thread.gpu, thread.cta)]
    return [t for t in block if any(_barrier(t, text) == barrier for text in t.code)]


def let_all_end(test: Test) -> None:
    """Where more threads come to a barrier than its quorum, one would be left waiting: another thread comes when the
    others have ended."""
    for thread in list(test.threads):
        for text in thread.code:
            m = re.fullmatch(r"bar\.cta\.sync\s+\w+\s*,\s*\w+\s*,\s*(\d+)", text)
            barrier = _barrier(thread, text)
            if not m or not barrier or _ENDED in test.variables:
                continue
            partners, quorum = _partners(test, thread, barrier), int(m[1])
            if len(partners) < quorum or len(partners) % quorum == 0:
                continue
            if len(partners) % quorum != quorum - 1:
                raise NotPtx("several threads are left waiting at a barrier")
            test.variables[_ENDED] = 0
            for partner in partners:
                partner.code.append(f"red.relaxed.cta.add {_ENDED}, 1")
            last = Thread(f"P{len(test.threads)}", thread.cta, thread.gpu)
            last.code = [
                "LC0:",
                f"ld.relaxed.cta r0, {_ENDED}",
                f"bne r0, {len(partners) // quorum * quorum}, LC0",
                text,
            ]
            test.threads.append(last)


def let_all_meet(test: Test) -> None:
    """Kernels on several GPUs start at times of their own: their threads wait for each other."""
    if len(test.gpus) == 1:
        return
    test.variables[_BEGUN] = 0
    for thread in test.threads:
        thread.code[:0] = [
            f"red.relaxed.sys.add {_BEGUN}, 1",
            "LC90:",
            f"ld.relaxed.sys r90, {_BEGUN}",
            f"bne r90, {len(test.threads)}, LC90",
        ]


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

    def view(self, name: str, kind: int) -> None:
        """%a becomes the handle of the variable as a texture (0) or surface (1), %b the texel of this instance."""
        k = list(self.test.variables).index(self.test.location(name))
        self.add(
            f"add.u64 %a, %views, {DESCRIPTOR * (2 * k + kind)}; mul.lo.u32 %b, %i, {LINE if kind else LINE // 4};"
        )

    def _sust(self, words: list[str], operands: list[str]) -> None:
        self.view(operands[0], 1)
        self.add(f"mov.u32 %t, {self.value(operands[1])}; sust.b.1d.b32.trap [%a, {{%b}}], {{%t}};")

    def _suld(self, words: list[str], operands: list[str]) -> None:
        self.view(operands[1], 1)
        self.add(f"suld.b.1d.b32.trap {{{self.value(operands[0])}}}, [%a, {{%b}}];")

    def _tld(self, words: list[str], operands: list[str]) -> None:
        self.view(operands[1], 0)
        self.add(f"tex.1d.v4.u32.s32 {{{self.value(operands[0])}, _, _, _}}, [%a, {{%b}}];")

    def _fence(self, words: list[str], operands: list[str]) -> None:
        if words in (["proxy", "surface"], ["proxy", "texture"]):  # which PTX has not
            words = ["proxy", "alias"]
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
            self._atom(words, ["_", *operands])
            return
        value = self.value(operands[1])
        if operation == "sub":
            self.add(f"sub.u32 %t, 0, {value};")
            operation, value = "add", "%t"
        kind = f"{operation}.{'u32' if operation == 'add' else 'b32'}"
        self.add(f"red.{'.'.join(order)}.global.{kind} {self.place(operands[0])}, {value};")

    def _bar(self, words: list[str], operands: list[str]) -> None:
        """`bar.cta.sync instance[, barrier[, quorum]]`; without a quorum, of all threads that come."""
        barrier = _barrier(self.thread, f"bar.{'.'.join(words)} {', '.join(operands)}")
        assert barrier
        partners = len(_partners(self.test, self.thread, barrier))
        count = int(operands[2]) if len(operands) > 2 else partners
        self.add(f"barrier.{words[1]} {barrier[1]}, {LANES * count};")

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


def kernel(test: Test, name: str, gpu: int) -> str:
    """The threads on one GPU, as a kernel (variables, results, views, instances, warm): instance n has variable v at
    (v * instances + n) lines, result k at (n * results + k) dwords. warm: every thread reads all variables first, so
    that caches hold old values."""
    if not test.variables:
        raise NotPtx("no variables")
    places = "".join(
        f"  mad.lo.u32 %t, %n, {k}, %i; mul.wide.u32 %a, %t, {LINE}; add.u64 %x_{v}, %base, %a;\n"
        for k, v in enumerate(test.variables)
    )
    warm = "".join(f"  ld.weak.global.u32 %w, [%x_{v}]; add.u32 %t, %t, %w;\n" for v in test.variables)
    ctas = test.ctas(gpu)
    choice = "".join(
        f"  setp.eq.u32 %p, %c, {64 * c + k}; @%p bra {thread.name};\n"
        for c, threads in enumerate(ctas)
        for k, thread in enumerate(threads)
    )
    bodies = "\n".join(f"{thread.name}:\n{_thread(test, thread)}" for threads in ctas for thread in threads)
    return f"""
.visible .entry {name}(.param .u64 p, .param .u64 out, .param .u64 views, .param .u32 n, .param .u32 warm) {{
  .reg .b64 %base, %out, %views, %a, {", ".join(f"%x_{v}" for v in test.variables)};
  .reg .b32 %n, %i, %c, %t, %w, %b; .reg .pred %p;
  ld.param.u64 %base, [p]; ld.param.u64 %out, [out]; ld.param.u64 %views, [views];
  ld.param.u32 %n, [n]; ld.param.u32 %w, [warm];
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
