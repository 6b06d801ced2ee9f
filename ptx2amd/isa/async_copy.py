"""Asynchronous copies of up to 16 bytes, carried out when they are issued, which the manual allows: nothing says
when between issue and wait they happen. Rows of the instruction table."""

from ptx2amd.isa.effects import ORDERS, READS, SPACES, WRITES
from ptx2amd.isa.form import family
from ptx2amd.isa.sections import DATA

row = family(*DATA, does=READS | WRITES, memory="shared", takes=SPACES)
group = family(*DATA, does=ORDERS, name_words=2)

SIZE = ".[prefetch:L2::64B|L2::128B|L2::256B]"

# Bytes beyond the third operand (a register) are zero; with a predicate there, true ignores the source.
COPIES = [
    row(
        f"cp.async.{{cop:{cop}}}.{{space:shared|shared::cta}}.global{hint}{SIZE}",
        operands,
        "cp_async",
        "exact",
        since,
        80,
        name_words=1,
    )
    for cop in ("ca", "cg")
    for hint, policy, first in (("", "", (7, 0)), (".L2::cache_hint", ", h:u64", (7, 4)))
    for operands, since in (
        (f"[a], [b], n:imm, c:u32?{policy}", first),
        (f"[a], [b], n:imm, !c:pred{policy}", (7, 5)),
    )
]

GROUPS = [
    group("cp.async.commit_group", "", "nothing", since=(7, 0), sm=80),
    group("cp.async.wait_group", "n:imm", "nothing", since=(7, 0), sm=80),
    group("cp.async.wait_all", "", "nothing", since=(7, 0), sm=80),
]

FORMS = [*COPIES, *GROUPS]
