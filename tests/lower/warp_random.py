"""The programs of tests/reference/warp_machine.py as PTX kernels."""

from __future__ import annotations

from reference.warp_machine import REGISTERS, UNDEFINED, Alu, If, Leave, Loop, Shuffle, Warp

HEAD = ".version 8.8\n.target sm_90\n.address_size 64\n"
DEPTH = 8
OPS = {"add": "add.u32", "sub": "sub.u32", "xor": "xor.b32", "mul": "mul.lo.u32"}


class Writer:
    """Collects the text of one kernel. %am<d> is the mask of the region at nesting depth d."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.labels = 0

    def add(self, *lines: str) -> None:
        self.lines += lines

    def block(self, statements: tuple, depth: int) -> None:
        for statement in statements:
            getattr(self, "_" + type(statement).__name__.lower())(statement, depth)

    def _alu(self, s: Alu, depth: int) -> None:
        self.add(f"{OPS[s.op]} %r{s.d}, %r{s.a}, %r{s.b};")

    def _mask(self, name: str, depth: int) -> str:
        """The member mask, in %m unless it is the region's."""
        if name == "region":
            return f"%am{depth}"
        pattern, bit = {"parity": (0x55555555, 1), "pairs": (0x33333333, 2)}[name]
        self.add(f"and.b32 %x, %lane, {bit}; shl.b32 %m, {pattern}, %x; and.b32 %m, %m, %am{depth};")
        return "%m"

    def _shuffle(self, s: Shuffle, depth: int) -> None:
        """The value is taken only where the source lane is there, else UNDEFINED."""
        mask = self._mask(s.mask, depth)
        b = f"%r{s.b % REGISTERS}" if s.b_reg else str(s.b)
        c = f"%r{s.c % REGISTERS}" if s.c_reg else str(s.c)
        self.add(f"vote.sync.ballot.b32 %live, %true, {mask}; and.b32 %src, {b}, 31;")
        if s.mode == "idx":
            self.add(
                f"shr.u32 %x, {c}, 8; and.b32 %x, %x, 31; and.b32 %y, %lane, %x; not.b32 %x, %x;",
                "and.b32 %src, %src, %x; or.b32 %src, %src, %y;",
            )
        else:
            op = {"up": "sub.u32", "down": "add.u32", "bfly": "xor.b32"}[s.mode]
            self.add(f"{op} %src, %lane, %src;")
        self.add(
            f"shfl.sync.{s.mode}.b32 %d|%q, %r{s.a}, {b}, {c}, {mask};",
            "selp.b32 %src, %src, %lane, %q; shr.u32 %x, %live, %src; and.b32 %x, %x, 1; setp.ne.u32 %p, %x, 0;",
            f"selp.b32 %r{s.d}, %d, {UNDEFINED}, %p; selp.b32 %r{(s.d + 1) % REGISTERS}, 1, 0, %q;",
        )

    def _warp(self, s: Warp, depth: int) -> None:
        mask, a, d = self._mask(s.mask, depth), f"%r{s.a}", f"%r{s.d}"
        second = f"selp.b32 %r{(s.d + 1) % REGISTERS}, 1, 0, %q;"
        match s.kind.split("."):
            case ["vote", mode]:
                self._bits("setp.ne.u32 %p, %x, 0;", s, 1)
                self.add(f"vote.sync.{mode}.pred %q, %p, {mask}; selp.b32 {d}, 1, 0, %q;")
            case ["ballot"]:
                self._bits("setp.ne.u32 %p, %x, 0;", s, 1)
                self.add(f"vote.sync.ballot.b32 {d}, %p, {mask};")
            case ["match", mode, bits]:
                self._bits("cvt.u64.u32 %w, %x; shl.b64 %w, %w, 31;", s, 3)
                source = "%x" if bits == "32" else "%w"
                both = "|%q" if mode == "all" else ""
                self.add(f"match.{mode}.sync.b{bits} {d}{both}, {source}, {mask};")
                if both:
                    self.add(second)
            case ["redux", op, ptype]:
                self.add(f"redux.sync.{op}.{ptype} {d}, {a}, {mask};")
            case ["elect"]:
                self.add(f"elect.sync {d}|%q, {mask};", second)

    def _bits(self, then: str, s: Warp, mask: int) -> None:
        self.add(f"shr.u32 %x, %r{s.a}, {s.bit}; and.b32 %x, %x, {mask}; {then}")

    def _if(self, s: If, depth: int) -> None:
        self.labels += 1
        other, end = f"ELSE{self.labels}", f"END{self.labels}"
        self.add(
            f"and.b32 %x, %r{s.a}, {1 << s.bit}; setp.ne.u32 %p, %x, 0;",
            f"vote.sync.ballot.b32 %b, %p, %am{depth};",
            f"@!%p bra {other};",
            f"mov.b32 %am{depth + 1}, %b;",
        )
        self.block(s.then, depth + 1)
        self.add(f"bra {end};", f"{other}:", f"not.b32 %b, %b; and.b32 %am{depth + 1}, %am{depth}, %b;")
        self.block(s.other, depth + 1)
        self.add(f"{end}:")
        if s.sync:
            self.add(f"bar.warp.sync %am{depth};")

    def _loop(self, s: Loop, depth: int) -> None:
        self.labels += 1
        head, end = f"LOOP{self.labels}", f"END{self.labels}"
        self.add(
            f"shr.u32 %c{depth}, %r{s.a}, {s.bit}; and.b32 %c{depth}, %c{depth}, 3;",
            f"mov.b32 %am{depth + 1}, %am{depth};",
            f"{head}:",
            f"setp.ne.u32 %p, %c{depth}, 0; vote.sync.ballot.b32 %b, %p, %am{depth + 1};",
            f"@!%p bra {end};",
            f"mov.b32 %am{depth + 1}, %b; sub.u32 %c{depth}, %c{depth}, 1;",
        )
        self.block(s.body, depth + 1)
        self.add(f"bra {head};", f"{end}:")

    def _leave(self, s: Leave, depth: int) -> None:
        self.add(f"shr.u32 %x, %r{s.a}, {s.bit}; and.b32 %x, %x, 3; setp.eq.u32 %p, %x, 3; @%p exit;")


def kernel(name: str, program: tuple) -> str:
    """`name(out)`: thread t writes its registers at out + 4 REGISTERS t."""
    writer = Writer()
    writer.block(program, 0)
    starts = [
        f"mad.lo.u32 %r{i}, %t, {2 * i + 0x9E3779B1}, 0; xor.b32 %r{i}, %r{i}, %x; add.u32 %r{i}, %r{i}, {i};"
        for i in range(REGISTERS)
    ]
    lines = [
        f".visible .entry {name}(.param .u64 out)",
        "{",
        f".reg .b32 %r<{REGISTERS}>, %am<{DEPTH}>, %c<{DEPTH}>, %b, %m, %x, %y, %d, %t, %lane, %live, %src;",
        ".reg .pred %p, %q, %true; .reg .b64 %out, %w;",
        "mov.u32 %t, %tid.x; mov.u32 %lane, %laneid; activemask.b32 %am0; setp.eq.u32 %true, %t, %t;",
        f"ld.param.u64 %out, [out]; mad.wide.u32 %out, %t, {4 * REGISTERS}, %out;",
        "shr.u32 %x, %t, 1; mul.lo.u32 %x, %x, 0x85EBCA6B;",
        *starts,
        *writer.lines,
        *(f"st.global.u32 [%out+{4 * i}], %r{i};" for i in range(REGISTERS)),
        "ret;",
        "}",
    ]
    return "\n".join(lines) + "\n"
