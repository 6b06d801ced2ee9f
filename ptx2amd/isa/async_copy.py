"""Asynchronous copies: rows of the instruction table."""

from ptx2amd.isa.form import Form

SIZE = ".[prefetch:L2::64B|L2::128B|L2::256B]"
BULK = "refused: bulk asynchronous copies (TMA)"
COMPLETE = "mbarrier::complete_tx::bytes"
MULTICAST = ".[multicast:multicast::cluster]"
HINT = ".[hint:L2::cache_hint]"
SHARED = "shared::cluster|shared::cta"
DIM = ".{dim:1d|2d|3d|4d|5d}"
MODE = ".[mode:tile|im2col]"
REDUCE = "{op:add|min|max|inc|dec|and|or|xor}"

# Bytes beyond the third operand (a register) are zero; with a predicate there, true ignores the source.
COPIES = [
    Form(
        f"cp.async.{{cop:{cop}}}.{{space:shared|shared::cta}}.global{hint}{SIZE}",
        operands,
        "cp_async",
        "exact",
        since,
        80,
    )
    for cop in ("ca", "cg")
    for hint, policy, since in (("", "", (7, 0)), (".L2::cache_hint", ", h:b64", (7, 4)))
    for operands in (f"[a], [b], n:imm, c:u32?{policy}", f"[a], [b], n:imm, !c:pred{policy}")
]

GROUPS = [
    Form("cp.async.commit_group", "", "nothing", since=(7, 0), sm=80),
    Form("cp.async.wait_group", "n:imm", "nothing", since=(7, 0), sm=80),
    Form("cp.async.wait_all", "", "nothing", since=(7, 0), sm=80),
    Form("cp.async.bulk.commit_group", "", "nothing", since=(8, 0), sm=90),
    Form("cp.async.bulk.wait_group.[read:read]", "n:imm", "nothing", since=(8, 0), sm=90),
]


def _bulk(syntax: str, operands: str) -> Form:
    return Form(syntax, operands, "", BULK, (8, 0), 90)


TMA = [
    _bulk(
        f"cp.async.bulk.shared::cluster.global.{COMPLETE}{MULTICAST}{HINT}",
        "[a], [b], c:u32, [m], e:b16?multicast, f:b64?hint",
    ),
    _bulk(f"cp.async.bulk.shared::cta.global.{COMPLETE}{HINT}", "[a], [b], c:u32, [m], e:b64?hint"),
    _bulk(f"cp.async.bulk.shared::cluster.shared::cta.{COMPLETE}", "[a], [b], c:u32, [m]"),
    _bulk(
        f"cp.async.bulk.global.shared::cta.bulk_group{HINT}.[mask:cp_mask]",
        "[a], [b], c:u32, e:b64?hint, f:b16?mask",
    ),
    _bulk(f"cp.async.bulk.prefetch.L2.global{HINT}", "[a], c:u32, e:b64?hint"),
    _bulk(
        f"cp.async.bulk.tensor{DIM}.{{to:{SHARED}}}.global{MODE}.{COMPLETE}{MULTICAST}{HINT}",
        "[a], [b,*], [m], {c*?}:b16?, e:b16?multicast, f:b64?hint",
    ),
    _bulk(f"cp.async.bulk.tensor{DIM}.global.shared::cta{MODE}.bulk_group{HINT}", "[a,*], [b], e:b64?hint"),
    _bulk(f"cp.async.bulk.prefetch.tensor{DIM}.L2.global{MODE}{HINT}", "[a,*], {c*?}:b16?, e:b64?hint"),
    _bulk(
        f"cp.reduce.async.bulk.tensor{DIM}.global.shared::cta.{REDUCE}{MODE}.bulk_group{HINT}",
        "[a,*], [b], e:b64?hint",
    ),
    _bulk(
        f"cp.reduce.async.bulk.shared::cluster.shared::cta.{COMPLETE}.{REDUCE}.{{t:u32|s32|u64|b32}}",
        "[a], [b], c:u32, [m]",
    ),
    _bulk(
        f"cp.reduce.async.bulk.global.shared::cta.bulk_group{HINT}.{REDUCE}.[ftz:noftz]"
        ".{t:f16|bf16|b32|u32|s32|b64|u64|s64|f32|f64}",
        "[a], [b], c:u32, e:b64?hint",
    ),
]

FORMS = [*COPIES, *GROUPS, *TMA]
