"""Every row for memory and other lanes that is not refused is run by one of the programs, or here; and refused
ones say why."""

from __future__ import annotations

import importlib
import struct

import pytest

from ptx2amd.middle.summary import body
from ptx2amd.ptx.ast import Inst
from ptx2amd.target import ARCHS as ALL_ARCHS
from ptx2amd.translate import parse, translate
from tests.lower import (
    barrier_programs,
    byte_moves,
    named_programs,
    test_async_copy,
    test_atomics,
    test_matrix,
    test_memory,
    test_windows,
    warp_programs,
)
from tests.lower.device import EVERY, program

FAMILIES = ("memory", "atomic", "barrier", "warp", "async_copy", "mbarrier", "matrix", "wmma")
TEXTS = [
    warp_programs.HEAD + warp_programs.kernel("k", warp_programs.cases()),
    named_programs.HEAD + "".join(named_programs.kernel(f"k{i}", named_programs.schedule(i, 4), 64) for i in range(8)),
    *test_memory.TEXTS.values(),
    test_memory.ADDRESSES,
    test_atomics.TEXT,
    test_atomics.TEXT2,
    barrier_programs.module(),
    test_matrix.MOVES,
    test_matrix.QUADPAIRS,
    test_matrix.PRODUCTS_TEXT,
    test_matrix.WMMA_TEXT,
    test_async_copy.text(40),
    byte_moves.HEAD + byte_moves.kernel(),
]

_HEAD = """{0}
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out) {{
.shared .align 8 .b64 bar; .shared .align 128 .b8 line[128]; .reg .pred %p, %q; .reg .f32 %f;
.reg .b32 %t, %x, %bar; .reg .b64 %in, %out, %y, %s, %sh; .local .b32 lo;
ld.param.u64 %in, [in]; ld.param.u64 %out, [out]; mov.u32 %t, %tid.x; mov.u32 %x, 0;
mov.u32 %bar, bar; mov.u64 %sh, line; cvta.shared.u64 %sh, %sh; mov.u64 %y, lo;
"""
# What has no effect on one thread.
QUIET = _HEAD.format(".version 8.8\n.target sm_90") + """
prefetch.global.L1 [%in]; prefetch.L2 [%in]; prefetch.local.L1 [%y]; prefetch.global.L2::evict_last [%in];
prefetch.L2::evict_normal [%in]; prefetch.tensormap [%in]; prefetchu.L1 [%in];
applypriority.global.L2::evict_normal [%in], 128; discard.L2 [%in], 128;
createpolicy.range.global.L2::evict_last.L2::evict_first.b64 %s, [%in], 64, 128; createpolicy.cvt.L2.b64 %s, %s;
ld.global.L2::cache_hint.u32 %x, [%in], %s; mapa.u64 %y, %sh, 0; getctarank.u64 %x, %y;
membar.proxy.alias; fence.acquire.gpu; fence.release.sys; fence.acquire.sync_restrict::shared::cluster.cluster;
fence.release.sync_restrict::shared::cta.cluster; fence.mbarrier_init.release.cluster; fence.proxy.alias;
fence.proxy.async.global; fence.proxy.tensormap::generic.release.gpu; fence.gpu; fence.sc.cluster;
fence.proxy.tensormap::generic.acquire.gpu [%in], 128;
fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster;
fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster;
brkpt; griddepcontrol.wait; griddepcontrol.launch_dependents; cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;
setp.eq.u32 %p, %t, 0; cp.async.ca.shared.global.L2::cache_hint [line], [%in], 16, %p, %s;
cp.async.cg.shared.global.L2::cache_hint [line], [%in], 16, !%p, %s;
sub.u64 %y, %y, %sh; cvt.u32.u64 %t, %y; or.b32 %x, %x, %t; st.global.u32 [%out], %x; ret; }
"""  # fmt: skip

# One thread, many arrivals: the bit for each check, and whether it has to be set.
CHECKS = (
    "mbarrier.init.shared.b64 [%bar], 1; mbarrier.arrive.expect_tx.shared.b64 %s, [%bar], 16;"
    " mbarrier.test_wait.shared.b64 %p, [%bar], %s;",  # 16 bytes are missing: 0
    "mbarrier.complete_tx.shared.b64 [%bar], 16; mbarrier.test_wait.shared.b64 %p, [%bar], %s;",  # 1
    "mbarrier.test_wait.parity.shared.b64 %p, [%bar], 0;",  # phase 0 is over: 1
    "mbarrier.try_wait.parity.shared.b64 %p, [%bar], 1, 100;",  # phase 1 is not: 0
    "mbarrier.inval.shared.b64 [%bar]; mbarrier.init.b64 [%y], 3; mbarrier.arrive.noComplete.b64 %s, [%y], 2;"
    " mbarrier.pending_count.b64 %x, %s; setp.eq.u32 %p, %x, 3;",  # 1
    "mbarrier.try_wait.b64 %p, [%y], %s;",  # 0
    "mbarrier.arrive.b64 %s, [%y]; mbarrier.try_wait.b64 %p, [%y], %s;",  # 1
    "mbarrier.arrive_drop.b64 %s, [%y], 2; mbarrier.arrive.b64 %s, [%y]; mbarrier.arrive.b64 %s, [%y];"
    " mbarrier.pending_count.b64 %x, %s; setp.eq.u32 %p, %x, 1;",  # the dropped ones stay away: 1
    "mbarrier.expect_tx.relaxed.cta.shared.b64 [%bar], 4; mbarrier.arrive.shared::cluster.b64 _, [%bar];"
    " mbarrier.test_wait.parity.shared.b64 %p, [%bar], 1;",  # nothing of the cluster's is known: 0
    "mbarrier.init.shared.b64 [%bar], 2; cp.async.mbarrier.arrive.shared.b64 [%bar];"
    " cp.async.mbarrier.arrive.noinc.shared.b64 [%bar]; mbarrier.test_wait.parity.shared.b64 %p, [%bar], 0;",  # 0
    "mbarrier.arrive.expect_tx.shared::cluster.b64 _, [%bar], 0; mbarrier.test_wait.parity.shared.b64 %p, [%bar], 0;",
)
OBJECT = _HEAD.format(".version 8.8\n.target sm_90") + "mov.u64 %y, bar; cvta.shared.u64 %y, %y; mov.u32 %t, 0;\n"
OBJECT += "".join(f"{c}\nselp.u32 %x, {1 << i}, 0, %p; or.b32 %t, %t, %x;\n" for i, c in enumerate(CHECKS))
OBJECT += "st.global.u32 [%out], %t; ret; }\n"
SET = (0, 1, 1, 0, 1, 0, 1, 1, 0, 0, 1)

# Before sm_70, warp operations had no member masks.
OLD = _HEAD.format(".version 6.0\n.target sm_60") + """
shfl.bfly.b32 %x|%p, %t, 1, 31; setp.ne.u32 %q, %x, 99; vote.all.pred %p, %q; vote.any.pred %q, !%p;
selp.u32 %bar, 100, 0, %p; add.u32 %x, %x, %bar; vote.ballot.b32 %bar, %q; add.u32 %x, %x, %bar;
mul.wide.u32 %y, %t, 4; add.u64 %out, %out, %y; st.global.u32 [%out], %x; ret; }
"""  # fmt: skip

# f32 reductions are for sm_100a; block votes and barriers with a count need to know the block's size.
NEW = _HEAD.format(".version 8.8\n.target sm_100a").replace(") {", ") .reqntid 64 {", 1) + """
cvt.rn.f32.u32 %f, %t; setp.eq.u32 %p, %t, 7; @%p mov.f32 %f, 0f7FC00000; @!%p neg.f32 %f, %f;
redux.sync.max.abs.f32 %f, %f, -1; cvt.rzi.u32.f32 %x, %f;
bar.sync 0, 64; barrier.sync.aligned 1, 64; barrier.red.popc.aligned.u32 %bar, 0, 64, %p;
add.u32 %x, %x, %bar; barrier.red.and.pred %q, 0, !%p; selp.u32 %bar, 500, 0, %q; add.u32 %x, %x, %bar;
mul.wide.u32 %y, %t, 4; add.u64 %out, %out, %y; st.global.u32 [%out], %x; ret; }
"""  # fmt: skip


@pytest.mark.parametrize("arch", EVERY)
def test_quiet_rows(arch: str) -> None:
    _, out = program(QUIET, arch).run("k", 1, [bytes(256), 4])
    assert out == bytes(4)


@pytest.mark.parametrize("arch", EVERY)
def test_barrier_objects(arch: str) -> None:
    _, out = program(OBJECT, arch).run("k", 1, [8, 4])
    assert [struct.unpack("<I", out)[0] >> i & 1 for i in range(len(SET))] == list(SET)


@pytest.mark.parametrize("arch", EVERY)
def test_operations_without_member_masks(arch: str) -> None:
    _, out = program(OLD, arch).run("k", 64, [8, 256])
    assert struct.unpack("<64I", out) == tuple((t ^ 1) + 100 for t in range(64))


@pytest.mark.parametrize("arch", EVERY)
def test_counted_barriers_and_float_reductions(arch: str) -> None:
    _, out = program(NEW, arch).run("k", 64, [8, 256])
    assert struct.unpack("<64I", out) == tuple((31 if t < 32 else 63) + 1 for t in range(64))


def forms_of(text: str) -> set[int]:
    """The rows that a module's statements are."""
    module = parse(text)
    found = (item for function in module.functions.values() for item in body(module, function).items)
    return {id(item.shape.form) for item in found if isinstance(item, Inst)}


def test_every_row_is_run() -> None:
    ran = set().union(*(forms_of(text) for text in [*TEXTS, QUIET, OBJECT, OLD, NEW, test_windows.text()]))
    for family in FAMILIES:
        for form in importlib.import_module(f"ptx2amd.isa.{family}").FORMS:
            if not form.exact.startswith("refused"):
                assert id(form) in ran, form


@pytest.mark.slow
@pytest.mark.parametrize("arch", sorted(ALL_ARCHS))
def test_every_arch_compiles_every_row(arch: str) -> None:
    for text in [*TEXTS, QUIET, OBJECT, OLD, NEW]:
        [result] = translate(text, "rows.ptx", [arch], mode="module")
        assert not [k.reason for k in result.kernels.values() if not k.ok]
