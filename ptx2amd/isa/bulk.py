"""Bulk copies and other asynchronous operations that an mbarrier or a bulk group completes: rows of the
instruction table. All are carried out when they are issued; clusters have one block."""

from collections.abc import Callable

from ptx2amd.isa.effects import ADDRESS_64, ATOM, NOTHING, ORDERS, READS, SPACES, WRITES
from ptx2amd.isa.form import Fields, Form, family
from ptx2amd.isa.sections import DATA, SYNCHRONIZATION

COMPLETE = "mbarrier::complete_tx::bytes"
HINT = ".[hint:L2::cache_hint]"
POLICY = "h:u64?hint"
OWN = ".[space:shared::cluster|shared::cta]"
CANCEL = "exact: the request always fails, as it may"
EVERYWHERE, NEAR = "relaxed.cta|relaxed.cluster|relaxed.gpu|relaxed.sys", "relaxed.cta|relaxed.cluster"
INTEGERS = (("add", "u32|s32|u64"), ("min|max", "u32|s32"), ("inc|dec", "u32"), ("and|or|xor", "b32"))

copy = family(*DATA, does=READS | WRITES, takes=SPACES)
group = family(*DATA, does=ORDERS)
write = family(*DATA, takes=ADDRESS_64, name_words=1)
reduction = family(*SYNCHRONIZATION, does=ATOM, takes=ADDRESS_64, name_words=1)
launch = family(*SYNCHRONIZATION)


def _row(
    row: Callable[..., Form],
    syntax: str,
    operands: str,
    lower: str,
    since: tuple[int, int] = (8, 0),
    sm: int = 90,
    **more: object,
) -> Form:
    return row(syntax, operands, lower, "exact", since, sm, **more)


# direction, operands, what may be behind the direction, lower, scopes, first PTX and sm
LOAD, MOVE, STORE = f"cluster.global.{COMPLETE}", f"cluster.shared::cta.{COMPLETE}", "global.shared::cta.bulk_group"
_COPIES = [
    (
        f"shared::{LOAD}",
        f"[a], [b], c:u32, [m], g:b16?multicast, {POLICY}",
        f".[multicast:multicast::cluster]{HINT}",
        "bulk_load",
        EVERYWHERE,
        (8, 0),
        90,
    ),
    (
        f"shared::cta.global.{COMPLETE}",
        f"[a], [b], c:u32, [m], {POLICY}",
        HINT,
        "bulk_load",
        EVERYWHERE,
        (8, 6),
        90,
    ),
    (
        f"shared::cta.global.{COMPLETE}",
        f"[a], [b], c:u32, x:u32, y:u32, [m], {POLICY}",
        f"{HINT}.{{part:ignore_oob}}",
        "bulk_load_inner",
        EVERYWHERE,
        (9, 2),
        90,
    ),
    (f"shared::{MOVE}", "[a], [b], c:u32, [m]", "", "bulk_move", NEAR, (8, 0), 90),
    (STORE, f"[a], [b], c:u32, {POLICY}", HINT, "bulk_store", EVERYWHERE, (8, 0), 90),
    (STORE, f"[a], [b], c:u32, {POLICY}, k:b16", f"{HINT}.{{part:cp_mask}}", "bulk_store", EVERYWHERE, (8, 6), 100),
]
COPIES = [
    _row(
        copy,
        f"cp.async.bulk{before}.{direction}{more}{after}",
        operands,
        lower,
        max(since, first),
        sm,
        memory=direction.partition(".")[0] if lower == "bulk_store" else "shared",
        name_words=2 if before else 5,
    )
    for direction, operands, more, lower, scopes, since, sm in _COPIES
    for before, after, first in (
        ("", "", since),
        (".{sem:weak}", "", (9, 3)),
        (f".[sem:{scopes}]", ".b128", (9, 3)),
    )
] + [
    copy(
        f"cp.async.bulk.prefetch.L2.global{HINT}",
        f"[a], c:u32, {POLICY}",
        "nothing",
        "hint",
        (8, 0),
        90,
        does=READS,
        memory="global",
        name_words=5,
    )
]

F32 = "approx: subnormal numbers are kept or flushed to zero as the chip does"
_REDUCTIONS = [
    *(
        (f"shared::{MOVE}", NEAR, "[a], [b], c:u32, [m]", "bulk_reduce_shared", op, "", t, "exact")
        for op, t in INTEGERS
    ),
    *(
        (f"{STORE}{HINT}", EVERYWHERE, f"[a], [b], c:u32, {POLICY}", "bulk_reduce", op, more, t, exact)
        for op, more, t, exact in (
            ("add", "", "u32|s32|u64|f64", "exact"),
            ("add", ".noftz", "f16|bf16", "exact"),
            ("min|max", "", "u32|s32|u64|s64|f16|bf16", "exact"),
            ("inc|dec", "", "u32", "exact"),
            ("and|or|xor", "", "b32|b64", "exact"),
            ("add", "", "f32", F32),
        )
    ),
]
REDUCTIONS = [
    copy(
        f"cp.reduce.async.bulk{sem}.{direction}.{{op:{op}}}{more}.{{t:{t}}}",
        operands,
        lower,
        exact,
        since,
        90,
        does=ATOM,
        memory="global" if lower == "bulk_reduce" else "shared",
        name_words=3 if sem else 6,
    )
    for direction, scopes, operands, lower, op, more, t, exact in _REDUCTIONS
    for sem, since in (("", (8, 0)), (f".{{sem:{scopes}}}", (9, 3)))
]

GROUPS = [
    _row(group, "cp.async.bulk.commit_group", "", "nothing", name_words=3),
    _row(group, "cp.async.bulk.wait_group.[read:read]", "n:imm", "nothing", name_words=3),
]

# ptxas 13.0 took .gpu with .mmio too.
RELEASES = "{sem:release}.{scope:gpu|sys}", "{mmio:mmio}.{sem:release}.{scope:sys}"
SIGNALS: Fields = {"does": ATOM, "memory": "shared"}  # an mbarrier too
STORES = [
    *(
        _row(
            write,
            f"st.async.[sem:weak]{OWN}.{COMPLETE}{vec}.{{t:{t}}}",
            "[a], {b}:t, [m]",
            "st_async",
            (8, 1),
            **SIGNALS,
        )
        for vec, t in ((".[vec:v2]", "b32|u32|s32|f32|b64|u64|s64|f64"), (".{vec:v4}", "b32|u32|s32|f32"))
    ),
    _row(write, f"st.async.[sem:weak]{OWN}.{COMPLETE}.{{t:b128}}", "[a], {b}:t, [m]", "st_async", (9, 2), **SIGNALS),
    *(
        _row(
            write,
            f"st.async.{scope}.[space:global].{{t:b16|b32|b64|u16|u32|u64|s16|s32|s64|f32|f64}}",
            "[a], b:t",
            "st",
            (8, 7),
            100,
            does=WRITES,
            memory="global",
        )
        for scope in RELEASES
    ),
    *(
        _row(
            reduction,
            f"red.async.{{sem:relaxed}}.{{scope:cluster}}.[space:shared::cluster].{COMPLETE}.{{op:{op}}}.{{t:{t}}}",
            "[a], b:t, [m]",
            "red_async",
            (8, 1),
            memory="shared",
        )
        for op, t in (("add", "u32|s32|u64|s64"), *INTEGERS[1:])
    ),
    *(
        _row(
            reduction,
            f"red.async.{scope}.[space:global].{{op:{op}}}.{{t:{t}}}",
            "[a], b:t",
            "atom",
            (8, 7),
            100,
            memory="global",
        )
        for scope in RELEASES
        for op, t in (("add", "u32|s32|u64|s64"), *INTEGERS[1:])
    ),
    _row(
        write,
        "st.bulk.[sem:weak].[space:shared::cta]",
        "[a], b:u64, c:imm",
        "st_bulk",
        (8, 6),
        100,
        does=WRITES,
        memory="shared",
    ),
]

QUERY = "clusterlaunchcontrol.query_cancel"
LAUNCHES = [
    launch(
        f"clusterlaunchcontrol.try_cancel.async.[space:shared::cta].{COMPLETE}.[all:multicast::cluster::all].b128",
        "[a], [m]",
        "try_cancel",
        CANCEL,
        (8, 6),
        100,
        does=ATOM,
        memory="shared",
        name_words=2,
    ),
    _row(
        launch,
        f"{QUERY}.is_canceled.pred.b128",
        "p:pred, a:b128",
        "is_cancelled",
        (8, 6),
        100,
        does=NOTHING,
        name_words=4,
    ),
    _row(
        launch,
        f"{QUERY}.get_first_ctaid.v4.b32.b128",
        "{d*4}:b32, a:b128",
        "first_ctaid",
        (8, 6),
        100,
        does=NOTHING,
        name_words=5,
    ),
    _row(
        launch,
        f"{QUERY}.{{axis:get_first_ctaid::x|get_first_ctaid::y|get_first_ctaid::z}}.b32.b128",
        "d:b32, a:b128",
        "first_ctaid",
        (8, 6),
        100,
        does=NOTHING,
        name_words=1,
    ),
]

FORMS = [*COPIES, *REDUCTIONS, *GROUPS, *STORES, *LAUNCHES]
