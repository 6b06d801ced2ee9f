"""Barrier objects in shared memory (mbarrier): rows of the instruction table."""

from ptx2amd.isa.effects import ATOM, LANE, NOTHING, POLLS, READS, SPACES, WRITES
from ptx2amd.isa.form import Fields, family
from ptx2amd.isa.sections import SYNCHRONIZATION

row = family(*SYNCHRONIZATION, memory="shared")

OWN = ".[space:shared|shared::cta]"
ANY = ".[space:shared|shared::cta|shared::cluster]"
TRANSACT = f".[sem:relaxed.cta|relaxed.cluster]{ANY}.b64"
ARRIVE = ".[sem:release.cta|release.cluster|relaxed.cta|relaxed.cluster]"
REMOTE = ".{space:shared::cluster}"  # another block's barrier gives no state back
WAIT = f".[sem:acquire.cta|acquire.cluster|relaxed.cta|relaxed.cluster]{OWN}.b64"
ARRIVALS = "{op:arrive|arrive_drop}"

UPDATE: Fields = {"does": ATOM, "name_words": 1}
TOKEN: Fields = {"does": ATOM, "result": LANE, "discards": "d", "name_words": 1}
TEST: Fields = {"does": READS | POLLS, "result": LANE, "name_words": 2}
COPY: Fields = {"does": ATOM, "takes": SPACES}

# syntax, operands, lowering, first PTX version, first target, what it does
ROWS: list[tuple[str, str, str, tuple[int, int], int, Fields]] = [
    (f"mbarrier.init{OWN}.b64", "[a], b:u32", "mbarrier_init", (7, 0), 80, {"does": WRITES, "name_words": 1}),
    (f"mbarrier.inval{OWN}.b64", "[a]", "nothing", (7, 0), 80, {"does": WRITES, "name_words": 1}),
    (f"mbarrier.{{op:expect_tx|complete_tx}}{TRANSACT}", "[a], b:u32", "mbarrier_update", (8, 0), 90, UPDATE),
    (f"mbarrier.{ARRIVALS}{ARRIVE}{OWN}.b64", "d:u64, [a], b:u32?", "mbarrier_update", (7, 0), 80, TOKEN),
    (f"mbarrier.{ARRIVALS}{ARRIVE}{REMOTE}.b64", "d:_, [a], b:u32?", "mbarrier_update", (8, 0), 90, TOKEN),
    (
        f"mbarrier.{ARRIVALS}.{{tx:expect_tx}}{ARRIVE}{OWN}.b64",
        "d:u64, [a], b:u32",
        "mbarrier_update",
        (8, 0),
        90,
        TOKEN,
    ),
    (
        f"mbarrier.{ARRIVALS}.{{tx:expect_tx}}{ARRIVE}{REMOTE}.b64",
        "d:_, [a], b:u32",
        "mbarrier_update",
        (8, 0),
        90,
        TOKEN,
    ),
    (
        f"mbarrier.{ARRIVALS}.noComplete.[sem:release.cta]{OWN}.b64",
        "d:u64, [a], b:u32",
        "mbarrier_update",
        (7, 0),
        80,
        TOKEN,
    ),
    (f"mbarrier.test_wait{WAIT}", "p:pred, [a], b:u64", "mbarrier_wait", (7, 0), 80, {**TEST, "name_words": 1}),
    (f"mbarrier.test_wait.{{parity:parity}}{WAIT}", "p:pred, [a], b:u32", "mbarrier_wait", (7, 1), 80, TEST),
    (f"mbarrier.try_wait{WAIT}", "p:pred, [a], b:u64, c:u32?", "mbarrier_wait", (7, 8), 90, {**TEST, "name_words": 1}),
    (f"mbarrier.try_wait.{{parity:parity}}{WAIT}", "p:pred, [a], b:u32, c:u32?", "mbarrier_wait", (7, 8), 90, TEST),
    ("mbarrier.pending_count.b64", "d:u32, a:u64", "mbarrier_pending", (7, 0), 80, {"does": NOTHING, "name_words": 2}),
    (f"cp.async.mbarrier.arrive{OWN}.b64", "[a]", "nothing", (7, 0), 80, {**COPY, "name_words": 3}),
    (f"cp.async.mbarrier.arrive.noinc{OWN}.b64", "[a]", "mbarrier_update", (7, 0), 80, {**COPY, "name_words": 4}),
]

FORMS = [row(syntax, operands, lower, "exact", since, sm, **does) for syntax, operands, lower, since, sm, does in ROWS]
