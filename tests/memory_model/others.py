"""Operations other than accesses and fences that order memory: barriers, mbarriers, copies, proxies, and accesses of
other kinds. What PTX requires of each, what becomes of it, and why that is enough."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Row:
    """center: the instruction before which a release has to be complete, and behind which an acquire begins, as a
    pattern; "" for a fence. kind: of the access at the center (tests/memory_model/test_instructions.py)."""

    statement: str
    center: str
    order: str
    scope: str
    kind: str
    requires: str
    emitted: str
    why: str


ARRIVE = r"ds_cmp(st|store)_rtn_b64"
READ = r"ds_(read|load)_b64"
ONE_ADDER = "One LDS serves the block, and its atomics are in order."
PHASE = (
    "the arrival is the release: whoever sees the phase end sees what precedes it",
    "a compare-and-swap of the barrier's 64 bits, behind a release fence of the block",
    ONE_ADDER,
)
ASYNC = "the copy's writes are visible to those that see the phase end"
EVERY = "orders all accesses of the threads that take part"

GROUPS: dict[str, dict[str, Row]] = {
    "Barriers": {
        "bar.sync 0": Row(
            "bar.sync 0", "^s_barrier", "acquire release", "cta", "barrier", EVERY,
            "`fence release` and `acquire` of `workgroup` around `llvm.amdgcn.s.barrier`",
            "The fences are those of the block's scope; the machine's barrier adds that all waves have come.",
        ),
        "bar.red.popc 0": Row(
            "setp.ne.u32 %c, %v, 3; bar.red.popc.u32 %w, 0, %c", "^s_barrier", "acquire release", "cta", "barrier",
            "as `bar.sync`, and a sum",
            "as `bar.sync`, three times: the sum in LDS is cleared, added to and read",
            "No wave adds before the sum is cleared, or reads before all have added.",
        ),
        "bar.sync 1, 64": Row(
            "bar.sync 1, 64", ARRIVE, "acquire release", "cta", "barrier", EVERY,
            "a counter in LDS between the block's fences, and a loop that waits for its next phase", ONE_ADDER,
        ),
        "bar.arrive 1, 64": Row(
            "bar.arrive 1, 64", ARRIVE, "release", "cta", "barrier",
            "orders the accesses before it, for those that wait", "as `bar.sync 1, 64`, without the loop",
            "The threads that wait acquire.",
        ),
        "barrier.cluster.arrive, .wait": Row(
            "barrier.cluster.arrive; barrier.cluster.wait", "^s_barrier", "acquire release", "gpu", "barrier",
            "release and acquire of all threads of the cluster, by default",
            "fences of `agent` around the block's barrier; where a cluster has more blocks, around a counter in memory",
            "Blocks of a cluster may be on any compute unit, so the scope is that of the device.",
        ),
        "bar.warp.sync": Row(
            "bar.warp.sync -1", "", "", "cta", "warp",
            "orders the accesses of the warp's threads", "a fence of `wavefront`",
            "A warp is in one wave: its accesses are issued in the program's order, and wait on the same counters.",
        ),
    },
    "mbarrier": {
        "mbarrier.arrive": Row("mbarrier.arrive.shared.b64 %q, [%s+16]", ARRIVE, "release", "cta", "barrier", *PHASE),
        "mbarrier.arrive.expect_tx": Row(
            "mbarrier.arrive.expect_tx.shared.b64 %q, [%s+16], 64", ARRIVE, "release", "cta", "barrier",
            "as `mbarrier.arrive`; the phase lasts until as many bytes are copied", *PHASE[1:],
        ),
        "mbarrier.complete_tx": Row(
            "mbarrier.complete_tx.shared.b64 [%s+16], 64", ARRIVE, "", "cta", "barrier",
            "counts bytes, and orders nothing", "a relaxed compare-and-swap", ONE_ADDER,
        ),
        "mbarrier.test_wait": Row(
            "mbarrier.test_wait.shared.b64 %c, [%s+16], %q; selp.b32 %w, 1, 2, %c", READ, "acquire", "cta", "lds",
            "acquires, where the phase has ended", "a relaxed load, and an acquire fence of the block",
            "The fence is there whether the phase has ended or not.",
        ),
        "mbarrier.try_wait.parity": Row(
            "mbarrier.try_wait.parity.shared.b64 %c, [%s+16], 0; selp.b32 %w, 1, 2, %c", READ, "acquire", "cta", "lds",
            "acquires, where the phase has ended", "as `test_wait`", "As for `test_wait`.",
        ),
        "fence.mbarrier_init": Row(
            "fence.mbarrier_init.release.cluster", "", "release", "gpu", "fence",
            "the cluster sees the initialised barrier", "`fence release` of `agent`", "It is a stronger fence.",
        ),
    },
    "Copies and proxies": {
        "cp.async, wait_group, bar.sync": Row(
            "cp.async.ca.shared.global [%s+32], [%q], 16; cp.async.commit_group; cp.async.wait_group 0; bar.sync 0",
            "^s_barrier", "acquire release", "cta", "barrier",
            "the group's writes are done for this thread, and behind the barrier for the block",
            "a load and a store to LDS, both before the wait", "The copy is the thread's own access.",
        ),
        "cp.async.mbarrier.arrive": Row(
            "cp.async.ca.shared.global [%s+32], [%q], 16; cp.async.mbarrier.arrive.noinc.shared.b64 [%s+16]",
            ARRIVE, "release", "cta", "barrier", ASYNC, "as `cp.async`, then as `mbarrier.arrive`",
            "The copy is the thread's own access, and the arrival a release.",
        ),
        "cp.async.bulk to .shared": Row(
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%s+32], [%q], 16, [%s+16]",
            ARRIVE, "release", "cta", "barrier", ASYNC, "loads and stores to LDS, then a release that counts the bytes",
            "The copy is the thread's own access, so the asynchronous proxy is the generic one.",
        ),
        "cp.async.bulk to .global, st.release.gpu": Row(
            "cp.async.bulk.global.shared::cta.bulk_group [%q], [%s+32], 16; cp.async.bulk.commit_group; "
            "cp.async.bulk.wait_group 0; st.release.gpu.global.u32 [%q+32], %v",
            r"global_store_(dword|b32) .* offset:32", "release", "gpu", "copied",
            "the group's writes are done for this thread, which may release them", "loads of LDS and stores",
            "The copy is the thread's own access.",
        ),
        "cp.reduce.async.bulk, st.release.gpu": Row(
            "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%q], [%s+32], 16; "
            "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; st.release.gpu.global.u32 [%q+32], %v",
            r"global_store_(dword|b32) .* offset:32", "release", "gpu", "copied",
            "each addition is a relaxed atomic of the device", "loads of LDS and `atomicrmw monotonic` of `agent`",
            "The copy is the thread's own access.",
        ),
        "fence.proxy.async": Row(
            "fence.proxy.async", "", "acquire release", "cta", "fence",
            "orders accesses of the generic and the asynchronous proxy", "`fence acq_rel` of `workgroup`",
            "There is one proxy; the fence keeps the order of the thread's own accesses, and of its block's.",
        ),
        "fence.proxy.alias": Row(
            "fence.proxy.alias", "", "acquire release", "cta", "fence",
            "orders accesses by two virtual addresses of one place", "`fence acq_rel` of `workgroup`",
            "Caches are by physical address.",
        ),
        "fence.proxy.tensormap::generic.release.gpu": Row(
            "fence.proxy.tensormap::generic.release.gpu", "", "release", "gpu", "fence",
            "a tensor map that was changed is visible to the device", "`fence release` of `agent`",
            "The map is read by the generic proxy's loads.",
        ),
        "fence.proxy.tensormap::generic.acquire.gpu": Row(
            "fence.proxy.tensormap::generic.acquire.gpu [%q], 128", "", "acquire", "gpu", "fence",
            "a tensor map that was changed is read anew", "`fence acquire` of `agent`",
            "The map is read by the generic proxy's loads.",
        ),
    },
    "Exchanges and cooperative groups": {
        "shfl.sync": Row(
            "shfl.sync.bfly.b32 %w, %v, 1, 31, -1", "", "", "cta", "warp",
            "waits for the lanes, and orders no memory", "an exchange of registers", "No memory takes part.",
        ),
        "vote.sync": Row(
            "setp.ne.u32 %c, %v, 3; vote.sync.ballot.b32 %w, %c, -1", "", "", "cta", "warp",
            "waits for the lanes, and orders no memory", "a comparison whose result is a lane mask",
            "No memory takes part.",
        ),
        "tile.sync()": Row(
            "bar.warp.sync 65535", "", "", "cta", "warp", "as `bar.warp.sync`", "a fence of `wavefront`",
            "As for `bar.warp.sync`.",
        ),
        "grid.sync()": Row(
            "barrier.sync 0; atom.add.release.gpu.global.u32 %w, [%q], %v; ld.acquire.gpu.global.u32 %w, [%q]; "
            "barrier.sync 0", r"global_atomic_add|global_load_\w+ (?!.*offset:96)", "acquire release", "gpu", "barrier",
            "all accesses of the grid before it are seen behind it",
            "a block's barrier, an atomic that releases, a load that acquires, a block's barrier",
            "The first barrier waits for the other waves' accesses; the release is one of the device.",
        ),
    },
    "Accesses of other kinds": {
        "ld.weak, st.weak": Row(
            "ld.weak.global.u32 %w, [%q]; st.weak.global.u32 [%q+32], %w", "", "", "cta", "weak",
            "no order with other threads", "a plain load and store",
            "The thread's own accesses of an address stay in order.",
        ),
        "st.volatile.shared": Row(
            "st.volatile.shared.u32 [%s+32], %v", r"ds_(write|store)_b32 .*offset:32", "", "cta", "lds",
            "relaxed, at system scope; not removed or merged", "a volatile, monotonic store",
            "One LDS serves the block, and a wave's accesses of it are in order.",
        ),
        "ld.volatile.global": Row(
            "ld.volatile.global.u32 %w, [%q]", r"global_load_\w+ (?!.*offset:96)", "", "sys", "volatile load",
            "relaxed, at system scope; not removed or merged", "a volatile, monotonic load",
            "LLVM is stricter: it waits for the access at once.",
        ),
        "st.volatile.global": Row(
            "st.volatile.global.u32 [%q], %v", r"global_store_\w+ (?!.*offset:16)", "", "sys", "volatile store",
            "relaxed, at system scope; not removed or merged", "a volatile, monotonic store",
            "LLVM is stricter: it waits for the access at once.",
        ),
        "ld.mmio.relaxed.sys": Row(
            "ld.mmio.relaxed.sys.global.u32 %w, [%q]", r"global_load_\w+ (?!.*offset:96)", "", "sys", "volatile load",
            "performed once, with the given size", "a volatile, monotonic load",
            "LLVM does not change volatile accesses.",
        ),
        "st.mmio.relaxed.sys": Row(
            "st.mmio.relaxed.sys.global.u32 [%q], %v", r"global_store_\w+ (?!.*offset:16)", "", "sys", "volatile store",
            "performed once, with the given size", "a volatile, monotonic store",
            "LLVM does not change volatile accesses.",
        ),
        "ld.acquire.gpu (generic)": Row(
            "ld.acquire.gpu.u32 %w, [%q]", r"flat_load_\w+", "acquire", "gpu", "flat load",
            "an acquire, wherever the address is", "a monotonic load of the flat space, and a fence",
            "It counts in the counters of memory and of LDS, and both are waited for.",
        ),
        "st.release.gpu (generic)": Row(
            "st.release.gpu.u32 [%q], %v", r"flat_store_\w+", "release", "gpu", "store",
            "a release, wherever the address is", "a fence, and a monotonic store of the flat space",
            "What precedes it is complete, in memory and in LDS.",
        ),
        "ld.acquire.cta.shared": Row(
            "ld.acquire.cta.shared.u32 %w, [%s+32]", r"ds_(read|load)_b32 .*offset:32", "acquire", "cta", "lds",
            "an acquire, for accesses to all memory", "a monotonic load, and a fence of `workgroup`",
            "The fence is not one of LDS alone: it drops what the compute unit's cache has.",
        ),
        "st.release.cta.shared": Row(
            "st.release.cta.shared.u32 [%s+32], %v", r"ds_(write|store)_b32 .*offset:32", "release", "cta", "barrier",
            "a release, for accesses to all memory", "a fence of `workgroup`, and a monotonic store",
            "The fence is not one of LDS alone: stores to global memory are waited for.",
        ),
        "atom.acq_rel.cta.shared": Row(
            "atom.acq_rel.cta.shared.cas.b32 %w, [%s+32], %v, %x", r"ds_cmp(st|store)_rtn_b32", "acquire release",
            "cta", "lds", "a release and an acquire, for accesses to all memory",
            "fences of `workgroup` around the atomic",
            "As for loads and stores; LDS atomics are in order.",
        ),
    },
}  # fmt: skip
ROWS = {name: row for group in GROUPS.values() for name, row in group.items()}
#: Bits of volatile accesses, of the system's scope, and the wait right behind them.
VOLATILE = {
    "gfx90a": {"load": "glc", "store": ""},
    "gfx942": {"load": "sc0 sc1", "store": "sc0 sc1"},
    "gfx1030": {"load": "glc dlc", "store": ""},
    "gfx1100": {"load": "glc dlc", "store": "dlc"},
    "gfx1201": {"load": "scope:SCOPE_SYS", "store": "scope:SCOPE_SYS"},
}
