"""Barriers and fences: rows of the instruction table."""

from ptx2amd.isa.effects import ARRIVES, BLOCK_BARRIER, CLUSTER_BARRIER, MASKED, OF_WARP, ORDERS
from ptx2amd.isa.form import Fields, family
from ptx2amd.isa.sections import SYNCHRONIZATION

row = family(*SYNCHRONIZATION)
fence = family(*SYNCHRONIZATION, does=ORDERS)

ALIGNED = ".[aligned:aligned]"

VOTE = "a:u32, b:u32?, !c:pred"
REDUCES: Fields = {"does": BLOCK_BARRIER, "result": OF_WARP, "name_words": 2}

BARRIERS = [
    form
    for name, aligned, first, later in (
        ("bar.[level:cta]", "", ((1, 0), 0), ((2, 0), 20)),
        ("barrier.[level:cta]", ALIGNED, ((6, 0), 30), ((6, 0), 30)),
    )
    for form in (
        row(f"{name}.sync{aligned}", "a:u32", "bar_sync", "exact", *first, does=BLOCK_BARRIER, name_words=1),
        row(f"{name}.sync{aligned}", "a:u32, b:u32", "bar_sync", "exact", *later, does=BLOCK_BARRIER, name_words=1),
        row(
            f"{name}.arrive{aligned}",
            "a:u32, b:u32",
            "bar_arrive",
            "exact",
            *later,
            does=BLOCK_BARRIER | ARRIVES,
            name_words=2,
        ),
        row(f"{name}.red.{{op:popc}}{aligned}.{{t:u32}}", f"d:t, {VOTE}", "bar_red", "exact", *later, **REDUCES),
        row(f"{name}.red.{{op:and|or}}{aligned}.{{t:pred}}", f"p:t, {VOTE}", "bar_red", "exact", *later, **REDUCES),
    )
]

SCOPE = "{scope:cta|cluster|gpu|sys}"
RESTRICTED = "sync_restrict::shared::{}"

FENCES = [
    fence("membar.{scope:cta|gl|sys}", "", "membar", since=(1, 4)),
    fence("membar.proxy.alias", "", "fence_proxy", since=(7, 5), sm=70),
    fence(f"fence.[sem:sc|acq_rel].{SCOPE}", "", "fence", since=(6, 0), sm=70),
    fence(f"fence.{{sem:acquire|release}}.{SCOPE}", "", "fence", since=(8, 6), sm=90),
    fence("fence.{sem:acquire}.sync_restrict::shared::cluster.{scope:cluster}", "", "fence", since=(8, 6), sm=90),
    fence("fence.{sem:release}.sync_restrict::shared::cta.{scope:cluster}", "", "fence", since=(8, 6), sm=90),
    fence("fence.mbarrier_init.{sem:release}.{scope:cluster}", "", "fence", since=(8, 0), sm=90),
    fence("fence.proxy.alias", "", "fence_proxy", since=(7, 5), sm=70, name_words=2),
    fence(
        "fence.proxy.async.[space:global|shared::cta|shared::cluster]",
        "",
        "fence_proxy",
        since=(8, 0),
        sm=90,
        name_words=2,
    ),
    fence(f"fence.proxy.tensormap::generic.{{sem:release}}.{SCOPE}", "", "fence", since=(8, 3), sm=90, name_words=2),
    fence(
        f"fence.proxy.tensormap::generic.{{sem:acquire}}.{SCOPE}",
        "[a], n:imm",
        "fence",
        since=(8, 3),
        sm=90,
        name_words=2,
    ),
    fence(
        "fence.proxy.async::generic.{sem:acquire}.sync_restrict::shared::cluster.{scope:cluster}",
        "",
        "fence",
        since=(8, 6),
        sm=90,
        name_words=2,
    ),
    fence(
        "fence.proxy.async::generic.{sem:release}.sync_restrict::shared::cta.{scope:cluster}",
        "",
        "fence",
        since=(8, 6),
        sm=90,
        name_words=2,
    ),
]

CLUSTER: Fields = {"does": CLUSTER_BARRIER, "name_words": 2}

FORMS = [
    *BARRIERS,
    row("bar.warp.sync", "m:u32", "bar_warp_sync", since=(6, 0), sm=30, does=MASKED, name_words=1),
    row(
        "barrier.cluster.arrive.[sem:release|relaxed].[aligned:aligned]",
        "",
        "cluster_arrive",
        since=(7, 8),
        sm=90,
        does=CLUSTER_BARRIER | ARRIVES,
        name_words=2,
    ),
    row("barrier.cluster.wait.[sem:acquire].[aligned:aligned]", "", "cluster_wait", since=(7, 8), sm=90, **CLUSTER),
    *FENCES,
    row("griddepcontrol.{op:wait|launch_dependents}", "", "nothing", "exact", (7, 8), 90, does=ORDERS, name_words=1),
]
