"""Operations of clusters of blocks that have no counterpart: rows of the instruction table, all refused."""

from ptx2amd.isa.form import Form

LAUNCH = "refused: cancelling the launch of clusters"
BULK = "refused: bulk stores to shared memory"
MMIO = "refused: asynchronous stores beyond the cluster"
SHARED = "shared::cta|shared::cluster"

FORMS = [
    Form(
        "clusterlaunchcontrol.try_cancel.async.[space:shared::cta].mbarrier::complete_tx::bytes"
        ".[all:multicast::cluster::all].b128",
        "[a], [m]",
        "",
        LAUNCH,
        (8, 6),
        100,
    ),
    Form("clusterlaunchcontrol.query_cancel.is_canceled.pred.b128", "p:pred, a:b128", "", LAUNCH, (8, 6), 100),
    Form(
        "clusterlaunchcontrol.query_cancel.get_first_ctaid.[vec:v4].b32.b128",
        "*",
        "",
        LAUNCH,
        (8, 6),
        100,
    ),
    Form(
        "clusterlaunchcontrol.query_cancel.{axis:get_first_ctaid::x|get_first_ctaid::y|get_first_ctaid::z}.b32.b128",
        "d:b32, a:b128",
        "",
        LAUNCH,
        (8, 6),
        100,
    ),
    Form("st.bulk.[sem:weak].[space:shared::cta]", "[a], b:u64, c:imm", "", BULK, (8, 6), 100),
    Form(
        "st.async.{sem:mmio.release|release}.{scope:cta|cluster|gpu|sys}.[space:global].{t:b8|b16|b32|b64|u8|u16|u32|u64"
        "|s8|s16|s32|s64|f32|f64}",
        "[a], b:t",
        "",
        MMIO,
        (8, 7),
        100,
    ),
    Form(
        "red.async.{sem:mmio.release|release}.{scope:cta|cluster|gpu|sys}.[space:global].{op:add|min|max|inc|dec|and|or|xor}"
        ".{t:u32|s32|u64|b32|b64|s64}",
        "[a], b:t",
        "",
        MMIO,
        (8, 7),
        100,
    ),
]
