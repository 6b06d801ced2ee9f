"""Every row of atom and red returns and leaves what PTX says; many threads on one location lose nothing."""

from __future__ import annotations

import struct

import pytest

from tests.lower import atomic_programs as programs
from tests.lower.atomic_programs import CELL
from tests.lower.device import MAPPINGS, chunks, program

THREADS = 48
BATCHES = chunks(list(programs.operations()), 40)
TEXT = programs.HEAD + "".join(programs.kernel(f"k{i}", b, THREADS) for i, b in enumerate(BATCHES))


@pytest.mark.parametrize("arch", MAPPINGS)
def test_one_thread_a_location(arch: str) -> None:
    for i, batch in enumerate(BATCHES):
        cells = [c for o in batch for t in range(THREADS) for c in programs.operands(o, t)]
        owner = [o for o in batch for _ in range(3 * THREADS)]
        image = b"".join(programs.cell(o, c) for o, c in zip(owner, cells, strict=True))
        _, out = program(TEXT, arch).run(f"k{i}", THREADS, [image, 2 * CELL * THREADS * len(batch)])
        for j, operation in enumerate(batch):
            for t in range(THREADS):
                returned, left = programs.expected(operation, t)
                at = 2 * CELL * (t + THREADS * j)
                assert out[at : at + CELL] == returned, f"{operation} returns, thread {t}"
                assert out[at + CELL : at + 2 * CELL] == left, f"{operation} leaves, thread {t}"


# Contention: what each thread gets is in `out`; the location (in memory, or a copy of shared memory) in `cell`.
_HEAD = """.version 8.8
.target sm_90
.address_size 64
"""
_KERNEL = """
.visible .entry {name}(.param .u64 cell, .param .u64 out) {{
.shared .align 8 .b64 sh; .reg .pred %p; .reg .b32 %t, %n, %a, %b; .reg .b64 %cell, %out, %at, %x, %y, %sh;
.reg .f32 %f; .reg .f64 %e; .reg .b16 %h, %i, %j;
mov.u32 %t, %tid.x; mov.u32 %n, %ntid.x; mov.u32 %a, %ctaid.x; mad.lo.u32 %n, %n, %a, %t;
ld.param.u64 %cell, [cell]; ld.param.u64 %out, [out]; mul.wide.u32 %at, %n, 8; add.u64 %out, %out, %at;
mov.u64 %sh, sh; setp.ne.u32 %p, %t, 0; @!%p ld.global.u64 %x, [%cell]; @!%p st.shared.u64 [%sh], %x;
bar.sync 0;
mov.u64 %x, 0;
{body}
st.global.u64 [%out], %x;
bar.sync 0;
{after}
ret;
}}
"""
_COPY = "@!%p ld.shared.u64 %x, [%sh]; @!%p st.global.u64 [%cell], %x;"
_LOCK_FREE = """
mov.u32 %b, 0;
again:
ld.relaxed.gpu.global.u32 %a, [%cell]; add.u32 %b, %a, 3;
atom.global.cas.b32 %n, [%cell], %a, %b; setp.ne.u32 %p, %n, %a; @%p bra again;
cvt.u64.u32 %x, %a;
"""
_HALFWORD = """
again:
ld.volatile.global.u16 %h, [%cell+2]; add.u16 %i, %h, 1;
atom.global.cas.b16 %j, [%cell+2], %h, %i; setp.ne.u16 %p, %j, %h; @%p bra again;
cvt.u64.u16 %x, %h;
"""
CONTENTION = {
    "add": "atom.global.add.u32 %a, [%cell], 3; cvt.u64.u32 %x, %a;",
    "add_shared": "atom.shared.add.u64 %x, [%sh], 3;",
    "add_generic": "atom.add.u32 %a, [%cell], 3; cvt.u64.u32 %x, %a;",
    "add_f32": "atom.global.add.f32 %f, [%cell], 0f40400000; cvt.rzi.u64.f32 %x, %f;",
    "add_f32_shared": "atom.shared.add.f32 %f, [%sh], 0f40400000; cvt.rzi.u64.f32 %x, %f;",
    "add_f64": "atom.global.add.f64 %e, [%cell], 0d4008000000000000; cvt.rzi.u64.f64 %x, %e;",
    "cas": _LOCK_FREE,
    "cas_b16": _HALFWORD,
    "inc": "atom.global.inc.u32 %a, [%cell], 10000; cvt.u64.u32 %x, %a;",
    "exch": "add.u32 %a, %n, 1; atom.global.exch.b32 %a, [%cell], %a; cvt.u64.u32 %x, %a;",
}
TEXT2 = _HEAD + "".join(
    _KERNEL.format(name=name, body=body, after=_COPY if "%sh" in body else "") for name, body in CONTENTION.items()
)
STEP = {"inc": 1, "cas_b16": 1}


@pytest.mark.parametrize("name", CONTENTION)
@pytest.mark.parametrize("arch", MAPPINGS)
def test_contention(arch: str, name: str) -> None:
    """Two hundred threads (of one block, where the location is shared) get the values of some order, each once."""
    grid, block = (1, 200) if "shared" in name else (4, 50)
    cell, out = program(TEXT2, arch).run(name, block, [8, 8 * grid * block], grid=grid)
    found = sorted(struct.unpack(f"<{grid * block}Q", out))
    if name == "exch":
        left = struct.unpack_from("<I", cell)[0]
        assert sorted([*found, left]) == list(range(grid * block + 1))
        return
    step = STEP.get(name, 3)
    assert found == [step * i for i in range(grid * block)]
    total = step * grid * block
    if name == "add_f64":
        assert struct.unpack("<d", cell)[0] == total
    elif "f32" in name:
        assert struct.unpack_from("<f", cell)[0] == total
    else:
        assert int.from_bytes(cell, "little") == (total << 16 if name == "cas_b16" else total)


UNEVEN = _HEAD + _KERNEL.format(name="k", body="atom.global.add.f32 %f, [%cell], 0f3DCCCCCD;", after="")


@pytest.mark.parametrize("arch", MAPPINGS)
def test_float_sums_are_rounded_one_by_one(arch: str) -> None:
    """0.1f added by each of 192 threads: every addition rounds, none is replaced by a multiplication."""
    import numpy as np

    cell, _ = program(UNEVEN, arch).run("k", 192, [8, 8 * 192])
    total = np.float32(0)
    for _ in range(192):
        total += np.float32(0.1)
    assert struct.unpack_from("<f", cell)[0] == total
    assert total != np.float32(192) * np.float32(0.1)
