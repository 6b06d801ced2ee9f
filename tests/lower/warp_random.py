"""The programs of tests/reference/warp_machine.py as PTX kernels, run in a warp mapping and compared with the
machine. `python -m tests.lower.warp_random [parted|rotated] FIRST COUNT ARCH...` runs programs of the
slow tier."""

from __future__ import annotations

import struct
import sys
from collections.abc import Iterable
from unittest import mock

from ptx2amd.codegen import llvm
from ptx2amd.codegen.binding import Module
from ptx2amd.target import Target
from tests.lower.device import Program
from tests.reference import warp_machine
from tests.reference.warp_machine import (
    REGISTERS,
    UNDEFINED,
    Alu,
    Common,
    If,
    Leave,
    Loop,
    Rotated,
    Shuffle,
    Times,
    Warp,
)

HEAD = ".version 8.8\n.target sm_90\n.address_size 64\n"
DEPTH = 8
SAVED = ("halves", "common", "quarters")  # masks in registers of their own
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
        fixed = {"region": f"%am{depth}", "all": "-1", "start": "%am0"}
        if name in fixed or name in SAVED:
            return fixed.get(name, f"%{name}")
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

    def _times(self, s: Times, depth: int) -> None:
        self.labels += 1
        head, count = f"LOOP{self.labels}", f"%n{self.labels}"
        self.add(f"mov.u32 {count}, {s.rounds};", f"{head}:")
        self.block(s.body, depth)
        self.add(f"sub.u32 {count}, {count}, 1; setp.ne.u32 %p, {count}, 0;", f"@%p bra {head};")

    def _rotated(self, s: Rotated, depth: int) -> None:
        self.labels += 1
        here, inside = self.labels, depth + 1
        count = f"%n{here}"
        self.add(
            f"mov.u32 {count}, {s.rounds}; and.b32 %x, %r{s.a}, {1 << s.bit}; setp.ne.u32 %p, %x, 0;",
            f"vote.sync.ballot.b32 %am{inside}, %p, %am{depth};",
            f"@!%p not.b32 %am{inside}, %am{inside}; and.b32 %am{inside}, %am{inside}, %am{depth};",
            f"@!%p bra LOOP{here};",
        )
        self.block(s.before, inside)
        self.add(f"bra MIDDLE{here};", f"LOOP{here}:")
        self.block(s.first, inside)
        self.add(f"MIDDLE{here}:")
        self.block(s.second, inside)
        self.add(f"sub.u32 {count}, {count}, 1; setp.ne.u32 %p, {count}, 0;", f"@%p bra LOOP{here};")

    def _common(self, s: Common, depth: int) -> None:
        self.add(
            f"mov.b32 %common, %am{depth}; and.b32 %x, %lane, 2; shl.b32 %quarters, 0x33333333, %x;",
            "and.b32 %quarters, %quarters, %common;",
        )
        self.block(s.body, depth)

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
        f".reg .b32 %halves, %common, %quarters, %n<{writer.labels + 1}>;",
        ".reg .pred %p, %q, %true; .reg .b64 %out, %w;",
        "mov.u32 %t, %tid.x; mov.u32 %lane, %laneid; activemask.b32 %am0; setp.eq.u32 %true, %t, %t;",
        f"ld.param.u64 %out, [out]; mad.wide.u32 %out, %t, {4 * REGISTERS}, %out;",
        "and.b32 %x, %lane, 1; shl.b32 %halves, 0x55555555, %x; and.b32 %halves, %halves, %am0;",
        "shr.u32 %x, %t, 1; mul.lo.u32 %x, %x, 0x85EBCA6B;",
        *starts,
        *writer.lines,
        *(f"st.global.u32 [%out+{4 * i}], %r{i};" for i in range(REGISTERS)),
        "ret;",
        "}",
    ]
    return "\n".join(lines) + "\n"


THREADS = (96, 41, 128, 32)
FULL_MODULE = 5  # long programs in a module: few enough for LLVM's whole pipeline
SIZES = range(3, 9)  # statements of the short programs of the slow tier


def check(seeds: range, arch: str, sizes: range = range(14, 15)) -> list[str]:
    """Run the programs of `seeds` as one module; what differs from the machine."""
    return compare({seed: warp_machine.generate(seed, sizes[seed % len(sizes)]) for seed in seeds}, arch)


OTHERS = {"parted": warp_machine.parted, "rotated": warp_machine.rotated}


def check_others(kind: str, seeds: Iterable[int], arch: str) -> list[str]:
    """The same with programs of another kind."""
    return compare({seed: OTHERS[kind](seed) for seed in seeds}, arch)


def compare(programs: dict[int, tuple], arch: str) -> list[str]:
    """Run programs, by number, as one module; what differs from the machine."""
    loaded = Program(HEAD + "".join(kernel(f"k{seed}", program) for seed, program in programs.items()), arch)
    failures = []
    for seed, program in programs.items():
        threads = THREADS[seed % len(THREADS)]
        [out] = loaded.run(f"k{seed}", threads, [4 * REGISTERS * threads])
        found = [list(row) for row in struct.iter_unpack(f"<{REGISTERS}I", out)]
        wanted = warp_machine.run(program, threads)
        wrong = [t for t in range(threads) if found[t] != wanted[t]]
        if wrong:
            failures.append(
                f"program {seed} on {arch}, {threads} threads: {len(wrong)} wrong, first {wrong[0]}: "
                f"{found[wrong[0]]}, not {wanted[wrong[0]]}\n{kernel('k', program)}"
            )
    return failures


def sweep(first: int, count: int, arch: str, full: bool) -> list[str]:
    """Programs `first` to `first + count - 1`, `full`: long ones, compiled as users' kernels are; else short
    ones, compiled in a hurry. What differs."""
    if not full:
        with mock.patch.object(llvm, "optimised", hurried):
            return check(range(first, first + count), arch, SIZES)
    parts = range(first, first + count, FULL_MODULE)
    return [failure for part in parts for failure in check(range(part, part + FULL_MODULE), arch)]


def hurried(ir: str, target: Target, simple: bool, least: bool):
    """codegen.llvm.optimised with as little optimisation as there is."""
    machine = llvm.machine(target, 0)
    module = Module(llvm.head(machine) + ir)
    machine.optimise(module, False, ("SROA", "SimplifyCFG"))
    return module, machine


def main(kind: str, first: int, count: int, archs: list[str]) -> int:
    from tests.lower.test_warp_random import FULL, MODULE, MODULE_OTHERS

    bad, module = 0, MODULE_OTHERS if kind else MODULE
    for start in range(first, first + count, module):
        for arch in archs:
            full = start // module % FULL == 0
            seeds = range(start, start + module)
            wrong = check_others(kind, seeds, arch) if kind else sweep(start, module, arch, full)
            bad += len(wrong)
            print(f"{start} to {seeds[-1]}, {arch}: {len(wrong)} wrong", *wrong, sep="\n", flush=True)
    return 1 if bad else 0


if __name__ == "__main__":
    kind, *words = sys.argv[1:] if sys.argv[1] in OTHERS else ["", *sys.argv[1:]]
    sys.exit(main(kind, int(words[0]), int(words[1]), words[2:]))
