"""The programs of tests/reference/lock_programs.py as PTX kernels, and where these leave what they find."""

from __future__ import annotations

from tests.reference.lock_programs import (
    BLOCK,
    LOCKS,
    SIZES,
    WARP,
    Call,
    Count,
    Exchange,
    If,
    Leave,
    Loop,
    Mix,
    Program,
    Quit,
    Relay,
    Section,
    Slot,
    Times,
    Turns,
)

THREADS = 96  # of the largest block
# A record: the word, the next ticket, the owner, the counter, and a word for each member of a group.
NEXT, OWNER, COUNT, SLOTS = 4, 8, 12, 16
RECORD = SLOTS + 4 * THREADS
PLACES = 9  # records of a word of turns or of relays: of the grid, each block, or each warp
ERRORS = 0
FIRST_LOCK = 16
LOCK_BYTES = 2 * LOCKS * RECORD
FIRST_WORD = FIRST_LOCK + LOCK_BYTES
ACC = FIRST_WORD + LOCKS * PLACES * RECORD
DEPTH = 10
LOOKS = {
    "ld.volatile": "ld.volatile{s}.u32 {d}, [{a}];",
    "ld.acquire": "ld.acquire.gpu{s}.u32 {d}, [{a}];",
    "atom.add": "atom{s}.add.u32 {d}, [{a}], 0;",
    "atom.or": "atom{s}.or.b32 {d}, [{a}], 0;",
    "cas": "atom{s}.cas.b32 {d}, [{a}], {v}, {v};",
}
GIVES = {
    "exch": "membar.gl; atom{s}.exch.b32 %x, [{a}], {v};",
    "volatile": "membar.gl; st.volatile{s}.u32 [{a}], {v};",
    "release": "st.release.gpu{s}.u32 [{a}], {v};",
    "cas": "membar.gl; atom{s}.cas.b32 %x, [{a}], 1, {v};",
    "and": "membar.gl; red{s}.and.b32 [{a}], {v};",
    "red": "membar.gl; red{s}.add.u32 [{a}], 1;",
    "atom": "membar.gl; atom{s}.add.u32 %x, [{a}], 1;",
}
SPACES = {"global": ".global", "shared": ".shared", "generic": ""}
# take, give; early: take that returns at two places; whole: a section that adds k to the counter, as a function that
# gives the lock back at two places
FUNCTIONS = """.func take{n}(.param .b64 a, .param .b32 k) {{ .reg .b32 %r<3>; .reg .b64 %a; .reg .pred %p<2>;
ld.param.b64 %a, [a]; ld.param.b32 %r1, [k]; setp.ne.u32 %p1, %r1, 0;
L: @%p1 atom{s}.exch.b32 %r0, [%a], 1; @!%p1 atom{s}.cas.b32 %r0, [%a], 0, 1;
setp.ne.u32 %p0, %r0, 0; @%p0 bra L; membar.gl; ret; }}
.func early{n}(.param .b64 a, .param .b32 k) {{ .reg .b32 %r0; .reg .b64 %a; .reg .pred %p0;
ld.param.b64 %a, [a]; atom{s}.cas.b32 %r0, [%a], 0, 1; setp.ne.u32 %p0, %r0, 0; @%p0 bra L; membar.gl; ret;
L: nanosleep.u32 20; atom{s}.cas.b32 %r0, [%a], 0, 1; setp.eq.u32 %p0, %r0, 0; @%p0 ret; bra L; }}
.func give{n}(.param .b64 a) {{ .reg .b32 %r0; .reg .b64 %a; ld.param.b64 %a, [a];
membar.gl; atom{s}.exch.b32 %r0, [%a], 0; ret; }}
.func whole{n}(.param .b64 a, .param .b32 k, .param .b32 o) {{ .reg .b32 %r<4>; .reg .b64 %a; .reg .pred %p0;
ld.param.b64 %a, [a]; ld.param.b32 %r1, [k]; ld.param.b32 %r2, [o];
L: atom{s}.cas.b32 %r0, [%a], 0, 1; setp.ne.u32 %p0, %r0, 0; @%p0 bra L; membar.gl;
st.volatile{s}.u32 [%a+{owner}], %r2; ld.volatile{s}.u32 %r3, [%a+{count}]; add.u32 %r3, %r3, %r1;
st.volatile{s}.u32 [%a+{count}], %r3; and.b32 %r3, %r2, 1; setp.eq.u32 %p0, %r3, 0; @%p0 bra E;
membar.gl; atom{s}.exch.b32 %r0, [%a], 0; ret; E: membar.gl; st.volatile{s}.u32 [%a], 0; ret; }}
"""
CALL = """.func (.param .b32 r) mixed(.param .b32 a, .param .b32 k) { .reg .b32 %r<4>; .reg .pred %p0;
ld.param.b32 %r0, [a]; ld.param.b32 %r1, [k]; and.b32 %r2, %r0, 1; setp.eq.u32 %p0, %r2, 0; @%p0 bra E;
mad.lo.u32 %r3, %r0, 5, %r1; st.param.b32 [r], %r3; ret;
E: mad.lo.u32 %r3, %r0, 3, %r1; add.u32 %r3, %r3, 1; st.param.b32 [r], %r3; ret; }
"""
# The records in shared memory: to zero by all threads, to global memory by the last thread of the block that ends.
CLEAR = """mul.lo.u32 %y, %tid, 4;
CLEAR: cvt.u64.u32 %w, %y; add.s64 %w, %w, %shared; st.shared.u32 [%w], 0; mov.u32 %x, %ntid.x;
mad.lo.u32 %y, %x, 4, %y; setp.le.u32 %p, %y, {size}; @%p bra CLEAR; bar.sync 0;
"""
SAVE = """mov.u32 %x, %ntid.x; sub.u32 %x, %x, 1; membar.gl;
atom.shared.inc.u32 %y, [%shared+{size}], %x; setp.ne.u32 %p, %x, %y; @%p bra SAVED;
mul.wide.u32 %a0, %bid, {size}; add.s64 %a0, %a0, %base; add.s64 %w, %shared, 0; mov.u32 %y, 0;
SAVE: ld.volatile.shared.u32 %x, [%w]; st.global.u32 [%a0+{at}], %x; add.s64 %w, %w, 4; add.s64 %a0, %a0, 4;
add.u32 %y, %y, 4; setp.lt.u32 %p, %y, {size}; @%p bra SAVE;
SAVED:
"""


class Writer:
    """Collects the text of one kernel of blocks of `threads`. all_lanes: the member mask of warps."""

    def __init__(self, program: Program, all_lanes: str) -> None:
        self.threads, self.blocks, self.all_lanes = program.threads, program.blocks, all_lanes
        self.lines: list[str] = []
        self.labels = self.depth = 0
        self.record, self.size = "", BLOCK  # the address of the record of the innermost lock, and for whom it is held
        self.inside, self.space = 0, ""  # the depth of its section, and in which space the record is
        self.held: list[tuple[Section, int, str]] = []  # sections around, with their depths and records
        self.block(program.body, BLOCK)

    def add(self, *lines: str) -> None:
        self.lines += lines

    def label(self) -> int:
        self.labels += 1
        return self.labels

    def block(self, statements: tuple, size: int) -> None:
        self.depth += 1
        for statement in statements:
            getattr(self, "_" + type(statement).__name__.lower())(statement, size)
        self.depth -= 1

    def at(self, address: str, offset: int) -> str:
        """An address with a constant behind it."""
        base, _, first = address.partition("+")
        return f"{base}+{int(first or 0) + offset}"

    def members(self, size: int) -> str:
        return self.all_lanes if size in (BLOCK, WARP) else f"%m{size}"

    def meet(self, size: int) -> None:
        if size == BLOCK:
            self.add("bar.sync 0;")
        elif size != 1:
            self.add(f"bar.warp.sync {self.members(size)};")

    def count(self, size: int) -> int:
        return self.threads if size == BLOCK else size

    def _meet(self, s: object, size: int) -> None:
        self.meet(size)

    def _mix(self, s: Mix, size: int) -> None:
        self.add(f"mad.lo.u32 %acc, %acc, 5, {s.k};")

    def _call(self, s: Call, size: int) -> None:
        self.add("{ .param .b32 r, a, k;", f"st.param.b32 [a], %acc; st.param.b32 [k], {s.k};")
        self.add("call.uni (r), mixed, (a, k); ld.param.b32 %acc, [r]; }")

    def own(self) -> None:
        """An error where the record has another owner."""
        owner = self.at(self.record, OWNER)
        self.add(
            f"ld.volatile{self.space}.u32 %x, [{owner}]; setp.ne.u32 %p, %x, %own{self.inside};",
            f"@%p red.global.add.u32 [%base+{ERRORS}], 1;",
        )

    def _count(self, s: Count, size: int) -> None:
        self.own()
        place = self.at(self.record, COUNT)
        self.add(
            f"and.b32 %y, %tid, 3; add.u32 %y, %y, {s.k}; ld.volatile{self.space}.u32 %x, [{place}];",
            "nanosleep.u32 20;" if s.slow else "",
            f"add.u32 %x, %x, %y; st.volatile{self.space}.u32 [{place}], %x;",
        )

    def _slot(self, s: Slot, size: int) -> None:
        self.own()
        self.slot_address(self.record, self.size)
        self.add(f"and.b32 %y, %acc, 0xffff; ld.volatile{self.space}.u32 %x, [%w]; add.u32 %x, %x, %y;")
        self.add(f"st.volatile{self.space}.u32 [%w], %x;")

    def slot_address(self, record: str, size: int) -> None:
        """%w: a member's own word in a record."""
        base, _, first = record.partition("+")
        self.rank(size)
        self.add(f"mul.wide.u32 %w, %x, 4; add.s64 %w, %w, {base}; add.s64 %w, %w, {int(first or 0) + SLOTS};")

    def rank(self, size: int) -> None:
        """%x: the thread's rank in its group."""
        self.add("mov.u32 %x, %tid;" if size == BLOCK else f"and.b32 %x, %lane, {size - 1};")

    def _exchange(self, s: Exchange, size: int) -> None:
        size = size or WARP
        mask, bit = self.members(size), f"and.b32 %x, %acc, {1 << s.k}; setp.ne.u32 %p, %x, 0;"
        segment = 31 | (32 - size) << 8
        match s.kind:
            case "ballot":
                self.add(bit, f"vote.sync.ballot.b32 %x, %p, {mask};")
            case "any" | "all":
                self.add(bit, f"vote.sync.{s.kind}.pred %q, %p, {mask}; selp.u32 %x, 1, 0, %q;")
            case "redux":
                self.add(f"redux.sync.add.u32 %x, %acc, {mask};")
            case mode:
                self.add(f"shfl.sync.{mode}.b32 %x, %acc, {s.k % size}, {segment}, {mask};")
        self.add("add.u32 %acc, %acc, %x;")

    def _if(self, s: If, size: int) -> None:
        sources = {"acc": "%acc", "thread": "%tid", "block": "%bid", "warp": "%tid", "tile": "%lane"}
        bit = {"block": 0, "warp": 5, "tile": 4}.get(s.what, s.bit)
        here = self.label()
        self.add(f"and.b32 %x, {sources[s.what]}, {1 << bit}; setp.eq.u32 %p, %x, 0; @%p bra ELSE{here};")
        inner = {"block": size, "warp": WARP, "tile": 16}.get(s.what, 1)
        self.block(s.then, inner)
        if s.other:
            self.add(f"bra END{here};")
        self.add(f"ELSE{here}:")
        self.block(s.other, inner)
        self.add(f"END{here}:")

    def _times(self, s: Times, size: int) -> None:
        here, count = self.label(), f"%n{self.depth}"
        self.add(f"mov.u32 {count}, {s.rounds};", f"LOOP{here}:")
        self.block(s.body, size)
        self.add(f"sub.u32 {count}, {count}, 1; setp.ne.u32 %p, {count}, 0; @%p bra LOOP{here};")

    def _loop(self, s: Loop, size: int) -> None:
        here, count = self.label(), f"%n{self.depth}"
        self.add(f"shr.u32 {count}, %acc, {s.bit}; and.b32 {count}, {count}, 3;", f"LOOP{here}:")
        self.add(f"setp.eq.u32 %p, {count}, 0; @%p bra END{here}; sub.u32 {count}, {count}, 1;")
        self.block(s.body, 1)
        self.add(f"bra LOOP{here};", f"END{here}:")

    def _leave(self, s: Leave, size: int) -> None:
        self.add(f"shr.u32 %x, %acc, {s.bit}; and.b32 %x, %x, 3; setp.eq.u32 %p, %x, 3; @%p bra OUT;")

    def _quit(self, s: Quit, size: int) -> None:
        here = self.label()
        self.add(f"shr.u32 %x, %acc, {s.bit}; and.b32 %x, %x, 3; setp.ne.u32 %p, %x, 3; @%p bra STAY{here};")
        for section, depth, record in reversed(self.held):
            self.give(section, depth, record)
        self.add("bra OUT;", f"STAY{here}:")

    def leads(self, size: int, leader: int) -> str:
        """The predicate of those who are not the group's leader, "" where everybody is."""
        if size == 1:
            return ""
        self.rank(size)
        self.add(f"setp.ne.u32 %others{self.depth}, %x, {leader};")
        return f"%others{self.depth}"

    def _section(self, s: Section, size: int) -> None:
        if s.before:
            self.meet(s.size)
        outside = self.record, self.size, self.inside, self.space
        here, self.inside, self.space = self.label(), self.depth, SPACES[s.space]
        base = {"global": "%base", "shared": "%shared", "generic": "%generic"}[s.space]
        first = (FIRST_LOCK if s.space == "global" else 0) + 2 * s.lock * RECORD
        self.record, self.size = f"{base}+{first}", s.size
        if s.hashed:
            self.group_number(s.size)
            self.add(f"and.b32 %x, %x, 1; mul.wide.u32 %a{self.depth}, %x, {RECORD};")
            self.add(
                f"add.s64 %a{self.depth}, %a{self.depth}, {base}; add.s64 %a{self.depth}, %a{self.depth}, {first};"
            )
            self.record = f"%a{self.depth}"
        self.rank(s.size)
        self.add(f"sub.u32 %own{self.depth}, %gid, %x; add.u32 %own{self.depth}, %own{self.depth}, {s.leader + 1};")
        if s.shape == "whole":
            [count] = s.body
            self.add(f"and.b32 %y, %tid, 3; add.u32 %y, %y, {count.k};")
            self.call("whole", self.record, "%y", f"%own{self.depth}")
        else:
            self.section(s, here)
        self.record, self.size, self.inside, self.space = outside

    def section(self, s: Section, here: int) -> None:
        """A lock is taken, for a group or a thread, the body run and the lock given back."""
        self.held.append((s, self.inside, self.record))
        others = self.leads(s.size, s.leader)
        if others:
            self.add(f"@{others} bra IN{here};")
        self.take(s, here)
        self.add("membar.gl;", f"st.volatile{self.space}.u32 [{self.at(self.record, OWNER)}], %own{self.depth};")
        self.add("membar.gl;", f"IN{here}:")
        self.meet(s.size)
        if s.parts:
            number = f"{s.leader}" if s.size != 1 else "%acc"
            self.add(f"mov.u32 %x, {number}; and.b32 %x, %x, {1 << s.bit}; setp.eq.u32 %p, %x, 0; @%p bra PART{here};")
            self.under(s, others, f"OUT{here}a")
            self.add(f"bra DONE{here};", f"PART{here}:")
        self.under(s, others, f"OUT{here}b")
        self.add(f"DONE{here}:")
        if s.shape == "while":
            got = f"%got{self.depth}"
            self.add(f"mov.u32 {got}, 1;", f"MORE{here}: setp.eq.u32 %p, {got}, 0; @%p bra TRY{here};")
        self.held.pop()

    def under(self, s: Section, others: str, out: str) -> None:
        """The body and the release."""
        self.block(s.body, s.size)
        self.meet(s.size)
        self.own()
        self.meet(s.size)
        if others:
            self.add(f"@{others} bra {out};")
        self.give(s, self.inside, self.record)
        self.add(f"{out}:")

    def give(self, s: Section, depth: int, record: str) -> None:
        """The release of a section of some depth."""
        space = SPACES[s.space]
        if s.kind == "ticket" and s.give == "release":
            self.add(f"add.u32 %y, %ticket{depth}, 1;", GIVES["release"].format(a=record, v="%y", s=space))
        elif s.shape in ("function", "returns"):
            self.call("give", record, space=space)
        else:
            self.add(GIVES[s.give].format(a=record, v=0, s=space))

    def call(self, name: str, record: str, *more: str, space: str | None = None) -> None:
        """Call one of FUNCTIONS for the space."""
        base, _, first = record.partition("+")
        self.add("{ .param .b64 qa; .param .b32 qk, qo;", f"add.s64 %w, {base}, {first or 0}; st.param.b64 [qa], %w;")
        given = dict(zip(("qk", "qo"), more, strict=False))
        self.add(*(f"st.param.b32 [{parameter}], {value};" for parameter, value in given.items()))
        name += (self.space if space is None else space)[1:]
        self.add(f"call.uni {name}, ({', '.join(('qa', *given))}); }}")

    def tries(self, s: Section) -> list[str]:
        text = {"cas": f"cas.b32 %x, [{self.record}], 0, 1;", "exch": f"exch.b32 %x, [{self.record}], 1;"}[s.kind]
        return [f"atom{self.space}.{text} setp.ne.u32 %p, %x, 0;"]

    def take(self, s: Section, here: int) -> None:
        again = f"@%p bra TRY{here};"
        if s.kind == "ticket":
            ticket = f"%ticket{self.depth}"
            self.add(f"atom{self.space}.add.u32 {ticket}, [{self.at(self.record, NEXT)}], 1;", f"TRY{here}:")
            self.add(
                LOOKS[s.shape].format(d="%x", a=self.record, s=self.space), f"setp.ne.u32 %p, %x, {ticket};", again
            )
            return
        tries = self.tries(s)
        match s.shape:
            case "plain":
                self.add(f"TRY{here}:", *tries, again)
            case "peeled":
                self.add(*tries, f"@!%p bra GOT{here};", f"TRY{here}:", *tries, again, f"GOT{here}:")
            case "look":
                self.add(f"TRY{here}: ld.volatile{self.space}.u32 %x, [{self.record}]; setp.ne.u32 %p, %x, 0;", again)
                self.add(*tries, again)
            case "while":
                self.add(f"mov.u32 %got{self.depth}, 0;", f"TRY{here}:", *tries, f"@%p bra MORE{here};")
            case "sleep":
                self.add(f"bra TRY{here};", f"SLEEP{here}: nanosleep.u32 40;", f"TRY{here}:", *tries)
                self.add(f"@%p bra SLEEP{here};")
            case "function" | "returns":
                name = "take" if s.shape == "function" else "early"
                self.call(name, self.record, str(int(s.kind == "exch")))

    def group_number(self, size: int) -> None:
        """%x: of the thread's group in the grid."""
        self.add("mov.u32 %x, %bid;" if size == BLOCK else f"div.u32 %x, %gid, {size};")

    def _turns(self, s: Turns, size: int) -> None:
        if s.before:
            self.meet(s.size)
        here, word = self.label(), f"%base+{FIRST_WORD + s.word * PLACES * RECORD}"
        turn = f"%ticket{self.depth}"
        self.group_number(s.size)
        each = self.threads // self.count(s.size)
        if s.last_first:
            self.add(f"rem.u32 %y, %x, {each}; sub.u32 %x, %x, %y; sub.u32 %x, %x, %y; add.u32 %x, %x, {each - 1};")
        self.add(f"mov.u32 {turn}, %x;")
        others = self.leads(s.size, s.leader)
        if others:
            self.add(f"@{others} bra IN{here};")
        look = LOOKS[s.look].format(d="%x", a=word, v=turn, s=".global")
        self.add(f"TRY{here}:", look, f"setp.ne.u32 %p, %x, {turn}; @%p bra TRY{here};", "membar.gl;", f"IN{here}:")
        self.meet(s.size)
        self.block(s.body, s.size)
        self.meet(s.size)
        if others:
            self.add(f"@{others} bra OUT{here};")
        place = self.at(word, COUNT)
        self.add(f"add.u32 %y, {turn}, 1;", f"ld.volatile.global.u32 %x, [{place}]; mad.lo.u32 %x, %x, 3, %y;")
        self.add(
            f"st.volatile.global.u32 [{place}], %x;", GIVES[s.give].format(a=word, v="%y", s=".global"), f"OUT{here}:"
        )

    def _relay(self, s: Relay, size: int) -> None:
        if s.before:
            self.meet(s.size)
        here, word = self.label(), FIRST_WORD + s.word * PLACES * RECORD
        over = {-1: self.threads * self.blocks, BLOCK: self.threads}.get(s.over, s.over)
        record = f"%base+{word}"
        if s.over != -1:
            record = f"%a{self.depth}"
            self.add("mov.u32 %x, %bid;" if s.over == BLOCK else f"div.u32 %x, %gid, {WARP};")
            self.add(f"mul.wide.u32 {record}, %x, {RECORD}; add.s64 {record}, {record}, %base;")
            self.add(f"add.s64 {record}, {record}, {word};")
        others = self.leads(s.size, s.leader)
        self.group_number(s.size)
        if over != self.threads * self.blocks:
            self.add(f"rem.u32 %x, %x, {over // self.count(s.size)};")
        self.add(f"setp.{'eq' if s.first else 'ne'}.u32 %p, %x, {s.receiver}; @!%p bra OTHER{here};")
        sides = [self.receive, self.send] if s.first else [self.send, self.receive]
        sides[0](s, here, record, others, over // self.count(s.size) - 1)
        self.add(f"bra END{here};", f"OTHER{here}:")
        sides[1](s, here, record, others, over // self.count(s.size) - 1)
        self.add(f"END{here}:")

    def led(self, s: Relay, others: str, label: str, *lines: str) -> None:
        if others:
            self.add(f"@{others} bra {label};")
        self.add(*lines, f"{label}:")

    def send(self, s: Relay, here: int, record: str, others: str, count: int) -> None:
        take = [f"TAKE{here}: atom.global.cas.b32 %x, [{record}], 0, 1; setp.ne.u32 %p, %x, 0; @%p bra TAKE{here};"]
        self.led(s, others, f"IN{here}a", *take, "membar.gl;")
        self.meet(s.size)
        self.slot_address(record, s.size)
        self.add("and.b32 %y, %acc, 0xffff; st.volatile.global.u32 [%w], %y; membar.gl;")
        self.meet(s.size)
        self.led(s, others, f"OUT{here}a", GIVES[s.give].format(a=record, v=2, s=".global"))

    def receive(self, s: Relay, here: int, record: str, others: str, count: int) -> None:
        left = f"%n{self.depth}"
        self.add(f"mov.u32 {left}, {count};", f"ROUND{here}: setp.eq.u32 %p, {left}, 0; @%p bra LAST{here};")
        self.add(f"sub.u32 {left}, {left}, 1;")
        asks = f"ld.acquire.gpu.global.u32 %x, [{record}];" if s.looks else f"atom.global.cas.b32 %x, [{record}], 2, 3;"
        wait = f"WAIT{here}: {asks} setp.ne.u32 %p, %x, 2; @%p bra WAIT{here};"
        self.led(s, others, f"IN{here}b", wait, "membar.gl;")
        self.meet(s.size)
        self.slot_address(record, s.size)
        self.add("ld.volatile.global.u32 %x, [%w]; add.u32 %acc, %acc, %x; membar.gl;")
        self.meet(s.size)
        self.led(s, others, f"OUT{here}b", GIVES[s.give].format(a=record, v=0, s=".global"))
        self.add(f"bra ROUND{here};", f"LAST{here}:")


def kernel(name: str, program: Program, known: bool) -> str:
    """`name(p)`: p leads to the number of errors, the records, and acc of each thread. known: the mask of a warp is a
    constant, else in a register."""
    writer = Writer(program, "-1" if known else "%all")
    tiles = "".join(f"and.b32 %x, %lane, {32 - size}; shl.b32 %m{size}, {(1 << size) - 1}, %x;\n" for size in SIZES)
    body = "\n".join(writer.lines)
    many = ", ".join(f"%{name}<{DEPTH}>" for name in ("n", "own", "ticket", "got"))
    shared = "%shared" in body or "%generic" in body
    spaces = [space for space in SPACES.values() if f"give{space[1:]}," in body or f"whole{space[1:]}," in body]
    functions = [FUNCTIONS.format(n=space[1:], s=space, owner=OWNER, count=COUNT) for space in spaces]
    dump = ACC + 4 * program.threads * program.blocks
    return f"""{"".join(functions)}{CALL if "mixed," in body else ""}.visible .entry {name}(.param .u64 p)
{{
.reg .b32 %acc, %tid, %lane, %bid, %gid, %x, %y, %all, %m4, %m8, %m16, {many};
.reg .pred %p, %q, %others<{DEPTH}>; .reg .b64 %base, %shared, %generic, %w, %a<{DEPTH}>;
{f".shared .align 8 .b8 records[{LOCK_BYTES + 4}];" if shared else ""}
mov.u32 %tid, %tid.x; mov.u32 %lane, %laneid; mov.u32 %bid, %ctaid.x; ld.param.u64 %base, [p];
{"mov.u64 %shared, records; cvta.shared.u64 %generic, %shared;" if shared else ""}
cvta.to.global.u64 %base, %base; mov.u32 %x, %ntid.x; mad.lo.u32 %gid, %bid, %x, %tid;
mad.lo.u32 %acc, %gid, 0x9E3779B1, 12345; activemask.b32 %all;
{CLEAR.format(size=LOCK_BYTES) if shared else ""}{tiles}{body}
OUT:
mul.wide.u32 %w, %gid, 4; add.s64 %w, %w, %base; st.global.u32 [%w+{ACC}], %acc;
{SAVE.format(size=LOCK_BYTES, at=dump) if shared else ""}ret;
}}
"""
