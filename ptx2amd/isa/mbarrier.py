"""Barrier objects in shared memory (mbarrier): rows of the instruction table."""

from ptx2amd.isa.form import Form

OWN = ".[space:shared|shared::cta]"
ANY = ".[space:shared|shared::cta|shared::cluster]"
TRANSACT = f".[sem:relaxed.cta|relaxed.cluster]{ANY}.b64"
ARRIVE = ".[sem:release.cta|release.cluster|relaxed.cta|relaxed.cluster]"
REMOTE = ".{space:shared::cluster}"  # another block's barrier gives no state back
WAIT = f".[sem:acquire.cta|acquire.cluster|relaxed.cta|relaxed.cluster]{OWN}.b64"
ARRIVALS = "{op:arrive|arrive_drop}"

# syntax, operands, lowering, first PTX version, first target
ROWS = [
    (f"mbarrier.init{OWN}.b64", "[a], b:u32", "mbarrier_init", (7, 0), 80),
    (f"mbarrier.inval{OWN}.b64", "[a]", "nothing", (7, 0), 80),
    (f"mbarrier.{{op:expect_tx|complete_tx}}{TRANSACT}", "[a], b:u32", "mbarrier_update", (8, 0), 90),
    (f"mbarrier.{ARRIVALS}{ARRIVE}{OWN}.b64", "d:u64, [a], b:u32?", "mbarrier_update", (7, 0), 80),
    (f"mbarrier.{ARRIVALS}{ARRIVE}{REMOTE}.b64", "d:_, [a], b:u32?", "mbarrier_update", (8, 0), 90),
    (
        f"mbarrier.{ARRIVALS}.{{tx:expect_tx}}{ARRIVE}{OWN}.b64",
        "d:u64, [a], b:u32",
        "mbarrier_update",
        (8, 0),
        90,
    ),
    (
        f"mbarrier.{ARRIVALS}.{{tx:expect_tx}}{ARRIVE}{REMOTE}.b64",
        "d:_, [a], b:u32",
        "mbarrier_update",
        (8, 0),
        90,
    ),
    (
        f"mbarrier.{ARRIVALS}.noComplete.[sem:release.cta]{OWN}.b64",
        "d:u64, [a], b:u32",
        "mbarrier_update",
        (7, 0),
        80,
    ),
    (f"mbarrier.test_wait{WAIT}", "p:pred, [a], b:u64", "mbarrier_wait", (7, 0), 80),
    (f"mbarrier.test_wait.{{parity:parity}}{WAIT}", "p:pred, [a], b:u32", "mbarrier_wait", (7, 1), 80),
    (f"mbarrier.try_wait{WAIT}", "p:pred, [a], b:u64, c:u32?", "mbarrier_wait", (7, 8), 90),
    (f"mbarrier.try_wait.{{parity:parity}}{WAIT}", "p:pred, [a], b:u32, c:u32?", "mbarrier_wait", (7, 8), 90),
    ("mbarrier.pending_count.b64", "d:u32, a:u64", "mbarrier_pending", (7, 0), 80),
    (f"cp.async.mbarrier.arrive{OWN}.b64", "[a]", "nothing", (7, 0), 80),
    (f"cp.async.mbarrier.arrive.noinc{OWN}.b64", "[a]", "mbarrier_update", (7, 0), 80),
]

FORMS = [Form(syntax, operands, lower, "exact", since, sm) for syntax, operands, lower, since, sm in ROWS]
