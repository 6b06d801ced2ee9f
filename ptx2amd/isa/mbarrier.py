"""Barrier objects in shared memory (mbarrier): rows of the instruction table."""

from ptx2amd.isa.form import Form

OWN = ".[space:shared|shared::cta]"
ANY = ".[space:shared|shared::cta|shared::cluster]"
ARRIVE = ".[sem:release.cta|release.cluster|relaxed.cta|relaxed.cluster]"
WAIT = f".[sem:acquire.cta|acquire.cluster|relaxed.cta|relaxed.cluster]{OWN}.b64"
V7, V8 = {"since": (7, 0), "sm": 80}, {"since": (8, 0), "sm": 90}

FORMS = [
    Form(f"mbarrier.init{OWN}.b64", "[a], b:u32", "mbarrier_init", **V7),
    Form(f"mbarrier.inval{OWN}.b64", "[a]", "nothing", **V7),
    Form(
        f"mbarrier.{{op:expect_tx|complete_tx}}.[sem:relaxed.cta|relaxed.cluster]{ANY}.b64",
        "[a], b:u32",
        "mbarrier_update",
        **V8,
    ),
    Form(
        f"mbarrier.{{op:arrive|arrive_drop}}{ARRIVE}{ANY}.b64", "d:b64, [a], b:u32?", "mbarrier_update", **V7
    ),
    Form(
        f"mbarrier.{{op:arrive|arrive_drop}}.{{tx:expect_tx}}{ARRIVE}{ANY}.b64",
        "d:b64, [a], b:u32",
        "mbarrier_update",
        **V8,
    ),
    Form(
        f"mbarrier.{{op:arrive|arrive_drop}}.noComplete.[sem:release.cta]{OWN}.b64",
        "d:b64, [a], b:u32",
        "mbarrier_update",
        **V7,
    ),
    Form(f"mbarrier.test_wait{WAIT}", "p:pred, [a], b:b64", "mbarrier_wait", **V7),
    Form(
        f"mbarrier.test_wait.{{parity:parity}}{WAIT}",
        "p:pred, [a], b:u32",
        "mbarrier_wait",
        since=(7, 1),
        sm=80,
    ),
    Form(f"mbarrier.try_wait{WAIT}", "p:pred, [a], b:b64, c:u32?", "mbarrier_wait", since=(7, 8), sm=90),
    Form(
        f"mbarrier.try_wait.{{parity:parity}}{WAIT}",
        "p:pred, [a], b:u32, c:u32?",
        "mbarrier_wait",
        since=(7, 8),
        sm=90,
    ),
    Form("mbarrier.pending_count.b64", "d:u32, a:b64", "mbarrier_pending", **V7),
    Form(f"cp.async.mbarrier.arrive{OWN}.b64", "[a]", "nothing", **V7),
    Form(f"cp.async.mbarrier.arrive.noinc{OWN}.b64", "[a]", "mbarrier_update", **V7),
]
