"""Barriers and fences: rows of the instruction table."""

from ptx2amd.isa.form import Form

ALIGNED = ".[aligned:aligned]"

VOTE = "a:u32, b:u32?, !c:pred"

BARRIERS = [
    form
    for name, aligned, first, later in (
        ("bar.[level:cta]", "", ((1, 0), 0), ((2, 0), 20)),
        ("barrier.[level:cta]", ALIGNED, ((6, 0), 30), ((6, 0), 30)),
    )
    for form in (
        Form(f"{name}.sync{aligned}", "a:u32", "bar_sync", "exact", *first),
        Form(f"{name}.sync{aligned}", "a:u32, b:u32", "bar_sync", "exact", *later),
        Form(f"{name}.arrive{aligned}", "a:u32, b:u32", "bar_arrive", "exact", *later),
        Form(f"{name}.red.{{op:popc}}{aligned}.{{t:u32}}", f"d:t, {VOTE}", "bar_red", "exact", *later),
        Form(f"{name}.red.{{op:and|or}}{aligned}.{{t:pred}}", f"p:t, {VOTE}", "bar_red", "exact", *later),
    )
]

SCOPE = "{scope:cta|cluster|gpu|sys}"
RESTRICTED = "sync_restrict::shared::{}"

FENCES = [
    Form("membar.{scope:cta|gl|sys}", "", "membar", since=(1, 4)),
    Form("membar.proxy.alias", "", "fence_proxy", since=(7, 5), sm=70),
    Form(f"fence.[sem:sc|acq_rel].{SCOPE}", "", "fence", since=(6, 0), sm=70),
    Form(f"fence.{{sem:acquire|release}}.{SCOPE}", "", "fence", since=(8, 6), sm=90),
    Form(
        "fence.{sem:acquire}.sync_restrict::shared::cluster.{scope:cluster}", "", "fence", since=(8, 6), sm=90
    ),
    Form("fence.{sem:release}.sync_restrict::shared::cta.{scope:cluster}", "", "fence", since=(8, 6), sm=90),
    Form("fence.mbarrier_init.{sem:release}.{scope:cluster}", "", "fence", since=(8, 0), sm=90),
    Form("fence.proxy.alias", "", "fence_proxy", since=(7, 5), sm=70),
    Form(
        "fence.proxy.async.[space:global|shared::cta|shared::cluster]", "", "fence_proxy", since=(8, 0), sm=90
    ),
    Form(f"fence.proxy.tensormap::generic.{{sem:release}}.{SCOPE}", "", "fence", since=(8, 3), sm=90),
    Form(
        f"fence.proxy.tensormap::generic.{{sem:acquire}}.{SCOPE}", "[a], n:imm", "fence", since=(8, 3), sm=90
    ),
    Form(
        "fence.proxy.async::generic.{sem:acquire}.sync_restrict::shared::cluster.{scope:cluster}",
        "",
        "fence",
        since=(8, 6),
        sm=90,
    ),
    Form(
        "fence.proxy.async::generic.{sem:release}.sync_restrict::shared::cta.{scope:cluster}",
        "",
        "fence",
        since=(8, 6),
        sm=90,
    ),
]

FORMS = [
    *BARRIERS,
    Form("bar.warp.sync", "a:u32", "bar_warp_sync", since=(6, 0), sm=30),
    Form(
        "barrier.cluster.arrive.[sem:release|relaxed].[aligned:aligned]",
        "",
        "cluster_arrive",
        since=(7, 8),
        sm=90,
    ),
    Form("barrier.cluster.wait.[sem:acquire].[aligned:aligned]", "", "cluster_wait", since=(7, 8), sm=90),
    *FENCES,
    Form("griddepcontrol.{op:wait|launch_dependents}", "", "nothing", "exact", (7, 8), 90),
]
