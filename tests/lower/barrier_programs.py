"""PTX programs around barriers. Each reads one word a thread from `in` and writes one word to `out`; beside
each, what thread t of a block with inputs `v` has to write."""

from __future__ import annotations

from collections.abc import Callable

HEAD = ".version 8.8\n.target sm_90\n.address_size 64\n"
LIMIT = 1024  # threads

_PROLOGUE = f"""(.param .u64 in, .param .u64 out)
{{
.shared .align 8 .b8 sh[{4 * LIMIT}]; .shared .align 8 .b64 bar;
.reg .pred %p, %q; .reg .b64 %in, %out, %at, %state;
.reg .b32 %t, %n, %v, %w, %x, %i, %sh, %own, %other, %bar;
mov.u32 %t, %tid.x; mov.u32 %n, %ntid.x;
ld.param.u64 %in, [in]; ld.param.u64 %out, [out];
mul.wide.u32 %at, %t, 4; add.u64 %in, %in, %at; add.u64 %out, %out, %at;
ld.global.u32 %v, [%in];
mov.u32 %sh, sh; mad.lo.u32 %own, %t, 4, %sh; mov.u32 %bar, bar;
mad.lo.u32 %x, %t, 7, 3; rem.u32 %x, %x, %n; mad.lo.u32 %other, %x, 4, %sh;
mov.u32 %i, 0; mov.u32 %w, %v;
"""
_EPILOGUE = "st.global.u32 [%out], %w;\nret;\n}\n"


def _rounds(barrier: str, rounds: int = 6) -> str:
    """Each round: publish w, meet, add the word of another thread, meet."""
    return f"""
again:
st.shared.u32 [%own], %w;
{barrier}
ld.shared.u32 %x, [%other];
{barrier}
add.u32 %w, %w, %x;
add.u32 %i, %i, 1; setp.lt.u32 %p, %i, {rounds}; @%p bra again;
"""


def rounds(v: list[int]) -> list[int]:
    """What `_rounds` computes."""
    for _ in range(6):
        v = [(w + v[(7 * t + 3) % len(v)]) % (1 << 32) for t, w in enumerate(v)]
    return v


def _vote(op: str, extra: str = "") -> str:
    """Six votes in a row on different bits; the results are packed."""
    result = "popc.u32 %x" if op == "popc" else f"{op}.pred %q"
    read = "" if op == "popc" else "selp.u32 %x, 1, 0, %q;"
    return f"""
mov.u32 %w, 0;
again:
shr.u32 %x, %v, %i; and.b32 %x, %x, 1; setp.ne.u32 %p, %x, 0;
bar.red.{result}, {extra}0, %p; {read}
mad.lo.u32 %w, %w, 31, %x;
add.u32 %i, %i, 1; setp.lt.u32 %p, %i, 6; @%p bra again;
"""


def votes(op: Callable[[list[int]], int]) -> Callable[[list[int]], list[int]]:
    def model(v: list[int]) -> list[int]:
        w = 0
        for i in range(6):
            w = (w * 31 + op([x >> i & 1 for x in v])) % (1 << 32)
        return [w] * len(v)

    return model


# The last third leaves before the barriers; the first reads of the others stay among them.
_LEAVE = """
mul.lo.u32 %x, %n, 2; div.u32 %x, %x, 3; setp.ge.u32 %p, %t, %x; @%p bra end;
mad.lo.u32 %w, %t, 7, 3; rem.u32 %w, %w, %x; mad.lo.u32 %other, %w, 4, %sh; mov.u32 %w, %v;
"""


def leaving(v: list[int]) -> list[int]:
    stay = len(v) * 2 // 3
    return rounds(v[:stay]) + v[stay:]


_MBARRIER_INIT = """
setp.ne.u32 %p, %t, 0; @%p bra ready;
mbarrier.init.shared.b64 [%bar], %n;
ready:
bar.sync 0;
"""


def _mbarrier(arrive: str, wait: str, count: int) -> str:
    meet = f"{arrive}\nwait{{}}:\n{wait}\n@!%p bra wait{{}};"
    return f"""
{_MBARRIER_INIT}
again:
st.shared.u32 [%own], %w;
{meet.format(0, 0)}
ld.shared.u32 %x, [%other];
{meet.format(1, 1)}
add.u32 %w, %w, %x;
add.u32 %i, %i, 1; setp.lt.u32 %p, %i, {count}; @%p bra again;
"""


_SIDES = """
and.b32 %x, %t, 1; setp.ne.u32 %p, %x, 0; @%p bra odd;
st.shared.u32 [%own], %w; bra.uni both;
odd: add.u32 %x, %w, 5; st.shared.u32 [%own], %x;
both:
bar.warp.sync -1;
xor.b32 %x, %t, 1; min.u32 %x, %x, 1023; mad.lo.u32 %x, %x, 4, %sh;
sub.u32 %i, %n, 1; setp.eq.u32 %p, %t, %i; and.b32 %i, %n, 1; setp.ne.and.u32 %p, %i, 0, %p;
@!%p ld.shared.u32 %w, [%x];
"""


def sides(v: list[int]) -> list[int]:
    """Neighbours within a warp swap; odd threads gave five more. The last of an odd block keeps its own."""
    swapped = [v[t ^ 1] + 5 * (1 - t % 2) if t ^ 1 < len(v) else v[t] for t in range(len(v))]
    return [w % (1 << 32) for w in swapped]


def identity(v: list[int]) -> list[int]:
    return v


PROGRAMS: dict[str, tuple[str, Callable[[list[int]], list[int]]]] = {
    "bar_sync": (_rounds("bar.sync 0;"), rounds),
    "barrier_sync": (_rounds("barrier.sync.aligned 3;"), rounds),
    "bar_register": (_rounds("bar.cta.sync %i;"), rounds),
    "cluster": (_rounds("barrier.cluster.arrive; barrier.cluster.wait;"), rounds),
    "red_popc": (_vote("popc"), votes(sum)),
    "red_and": (_vote("and"), votes(lambda bits: int(all(bits)))),
    "red_or": (_vote("or"), votes(lambda bits: int(any(bits)))),
    "leaving": (_LEAVE + _rounds("bar.sync 0;") + "end:\n", leaving),
    "warp_sync": (_SIDES, sides),
    "mbarrier_state": (
        _mbarrier(
            "mbarrier.arrive.shared.b64 %state, [%bar];",
            "mbarrier.test_wait.shared.b64 %p, [%bar], %state;",
            6,
        ),
        rounds,
    ),
    "mbarrier_parity": (
        _mbarrier(
            "mbarrier.arrive.shared::cta.b64 _, [%bar];",
            "mbarrier.try_wait.parity.shared::cta.b64 %p, [%bar], PARITY;",
            6,
        ),
        rounds,
    ),
    "membar": (
        "membar.cta; membar.gl; membar.sys; fence.acq_rel.gpu; fence.sc.cta; fence.proxy.async;",
        identity,
    ),
}


def _parity(text: str) -> str:
    """The first meeting of a round waits for parity 0, the second for 1."""
    return text.replace("PARITY", "0", 1).replace("PARITY", "1", 1)


def module() -> str:
    kernels = [f".visible .entry {name}{_PROLOGUE}{_parity(body)}{_EPILOGUE}" for name, (body, _) in PROGRAMS.items()]
    return HEAD + "".join(kernels)
