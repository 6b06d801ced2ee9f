"""Every row of ld, ldu and st, with every type, moves the right bytes: extension, truncation, vectors,
offsets, all state spaces and generic addresses into them; and address conversions and tests."""

from __future__ import annotations

import random
import re
import struct

import pytest

from ptx2amd.hip import HipError
from ptx2amd.translate import translate
from tests.lower import memory_programs as programs
from tests.lower.device import ARCHS, EVERY, MAPPINGS, Program, chunks, program
from tests.lower.memory_programs import SLICE, THREADS

LOADS = chunks([*programs.accesses("ld"), *programs.accesses("ldu")], 25)
STORES = chunks([access for access in programs.accesses("st") if access.space != "param"], 25)
TEXTS = {
    "load": programs.module([programs.load_kernel(f"load{i}", batch) for i, batch in enumerate(LOADS)]),
    "store": programs.module([programs.store_kernel(f"store{i}", batch) for i, batch in enumerate(STORES)]),
}
DATA = random.Random("data").randbytes(SLICE * THREADS)
PARAMETER = random.Random("parameter").randbytes(SLICE)


@pytest.mark.parametrize("kind", ["load", "store"])
@pytest.mark.parametrize("arch", MAPPINGS)
def test_accesses(arch: str, kind: str) -> None:
    for i, batch in enumerate(LOADS if kind == "load" else STORES):
        size = SLICE * THREADS * len(batch)
        _, out = program(TEXTS[kind], arch).run(f"{kind}{i}", THREADS, [DATA, size], [PARAMETER])
        for j, access in enumerate(batch):
            for t in range(THREADS):
                mine = DATA[SLICE * t : SLICE * (t + 1)]
                if kind == "load":
                    want = programs.extended(access, programs.source(access, mine, PARAMETER))
                else:
                    want = programs.stored(access, mine)
                at = SLICE * (t + THREADS * j)
                assert out[at : at + len(want)] == want, f"{access} in thread {t}"


ADDRESSES = """.version 8.8
.target sm_90
.address_size 64
.global .b32 gl[4];
.visible .entry k(.param .u64 in, .param .u64 out) {
.reg .pred %p<3>; .reg .b32 %a, %b, %c; .reg .b64 %out, %g<4>, %x;
.shared .align 4 .b8 sh[64]; .local .align 4 .b8 lo[64];
ld.param.u64 %out, [out];
cvta.global.u64 %g0, gl+4;
cvta.shared.u64 %g1, sh+8;
cvta.local.u64 %g2, lo+12;
ld.param.u64 %g3, [in];
""" + "".join(
    f"isspacep.global %p0, %g{i}; isspacep.shared %p1, %g{i}; isspacep.local %p2, %g{i};\n"
    f"selp.u32 %a, 1, 0, %p0; selp.u32 %b, 2, 0, %p1; selp.u32 %c, 4, 0, %p2;\n"
    f"or.b32 %a, %a, %b; or.b32 %a, %a, %c; st.global.u32 [%out+{4 * i}], %a;\n"
    for i in range(4)
) + """
st.u32 [%g0], 111; st.u32 [%g1], 222; st.u32 [%g2], 333;
cvta.to.global.u64 %x, %g0; ld.global.u32 %a, [%x]; st.global.u32 [%out+16], %a;
cvta.to.shared.u64 %x, %g1; ld.shared.u32 %a, [%x]; st.global.u32 [%out+20], %a;
cvta.to.local.u64 %x, %g2; ld.local.u32 %a, [%x]; st.global.u32 [%out+24], %a;
ld.shared.u32 %a, [sh+8]; ld.local.u32 %b, [lo+12]; add.u32 %a, %a, %b; st.global.u32 [%out+28], %a;
mov.u64 %x, sh; cvt.u32.u64 %a, %x; mapa.shared::cluster.u32 %b, %a, 0; sub.u32 %a, %b, %a;
getctarank.shared::cluster.u32 %b, %b; add.u32 %a, %a, %b; st.global.u32 [%out+32], %a;
ret;
}
"""  # fmt: skip


@pytest.mark.parametrize("arch", MAPPINGS)
def test_addresses(arch: str) -> None:
    _, out = program(ADDRESSES, arch).run("k", 1, [4, 36])
    assert struct.unpack("<9I", out) == (1, 2, 4, 1, 111, 222, 333, 555, 0)


BACKWARDS = """.version 8.8
.target sm_90
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out) {
.reg .b32 %t, %x, %a, %b; .reg .b64 %in, %out, %at; .shared .align 4 .b8 sh[160];
ld.param.u64 %in, [in]; ld.param.u64 %out, [out]; mov.u32 %t, %tid.x; mul.wide.u32 %at, %t, 4;
add.u64 %in, %in, %at; add.u64 %out, %out, %at; ld.global.u32 %x, [%in];
mov.u32 %a, sh; mad.lo.s32 %b, %t, 4, %a; st.shared.u32 [%b], %x; bar.sync 0;
mad.lo.s32 %b, %t, -4, %a; ld.shared.u32 %x, [%b+156]; st.global.u32 [%out], %x; ret; }
"""


@pytest.mark.parametrize("arch", MAPPINGS)
def test_offsets_on_negative_addresses(arch: str) -> None:
    """sh - 4 t is below the start of shared memory for most threads; with the offset it is not."""
    _, out = program(BACKWARDS, arch).run("k", 40, [DATA[:160], 160])
    assert out == b"".join(DATA[4 * (39 - t) : 4 * (40 - t)] for t in range(40))


INDEXED = """.version 8.8
.target sm_90
.address_size 64
.global .b32 words[8] = {10, 11, 12, 13, 14, 15, 16, 17};
.visible .entry k(.param .u64 out) {
.reg .b64 %out, %at, %long; .reg .b32 %t, %x, %y, %z; .reg .b16 %h; .reg .pred %odd;
.shared .v2 .b16 pairs[8];
ld.param.u64 %out, [out]; mov.u32 %t, %tid.x; mul.wide.u32 %at, %t, 16; add.u64 %out, %out, %at;
cvt.u16.u32 %h, %t; st.shared.v2.b16 pairs[%t], {%h, %h}; bar.warp.sync -1;
sub.u32 %x, %t, 2; mov.b64 %long, {%x, 7};
ld.global.u32 %x, words[%t]; ld.global.u32 %y, words[%long+2]; st.global.v2.u32 [%out], {%x, %y};
and.b32 %y, %t, 1; setp.eq.u32 %odd, %y, 1; mov.u32 %x, 99; @%odd ld.shared.u32 %x, pairs[%h];
mov.u64 %at, words[%t]; mov.u64 %long, words; sub.u64 %at, %at, %long; cvt.u32.u64 %y, %at;
st.global.v2.u32 [%out+8], {%x, %y};
ret; }
"""


@pytest.mark.parametrize("arch", EVERY)
def test_elements_with_their_number_in_a_register(arch: str) -> None:
    """a[r + c]: 32-bit arithmetic, times the element's size."""
    [out] = program(INDEXED, arch).run("k", 8, [8 * 16])
    rows = [struct.unpack_from("<4I", out, 16 * t) for t in range(8)]
    assert rows == [(10 + t, 10 + t, t << 16 | t if t & 1 else 99, 4 * t) for t in range(8)]


STRONG = [f"ld.{sem}.global.{ty}" for sem in ("volatile", "relaxed.gpu", "acquire.sys") for ty in ("v2.u64", "v4.f32")]
STRONG += [f"st.{sem}.global.{ty}" for sem in ("volatile", "relaxed.gpu", "release.sys") for ty in ("v2.u64", "v4.f32")]
STRONG += [text.replace(".global", "") for text in STRONG]


def strong(text: str) -> str:
    registers = "{%a, %b}" if "u64" in text else "{%f, %g, %h, %i}"
    return f"{text} {registers}, [%p];" if text.startswith("ld") else f"{text} [%p], {registers};"


@pytest.mark.parametrize(
    "arch", ["gfx900", "gfx906", "gfx908", "gfx90a", "gfx942", "gfx950", "gfx1030", "gfx1100", "gfx1201"]
)
def test_strong_accesses_of_16_bytes_are_one_instruction(arch: str) -> None:
    """Look-back relies on it (docs/support/differences.md)."""
    head = ".version 8.8\n.target sm_90\n.address_size 64\n"
    begin = "(.param .u64 p) { .reg .b64 %p, %a, %b; .reg .b32 %f, %g, %h, %i; ld.param.u64 %p, [p];\n"
    back = "st.global.v2.u64 [%p+16], {%a, %b}; st.global.v4.f32 [%p+32], {%f, %g, %h, %i}; ret; }\n"
    kernels = [f".visible .entry k{n}{begin}{strong(text)}\n{back}" for n, text in enumerate(STRONG)]
    [result] = translate(head + "".join(kernels), archs=[arch], mode="module", emit="asm")
    bodies = re.split(r"^k\d+:", result.code.decode(), flags=re.MULTILINE)[1:]
    for text, body in zip(STRONG, bodies, strict=True):
        own = re.findall(r"^\s((?:global|flat)_(?:load|store)_\S+)", body, re.MULTILINE)
        kind = "flat" if ".global" not in text else "global"
        wanted = rf"{kind}_{'load' if text.startswith('ld') else 'store'}_(dwordx4|b128)"
        assert re.fullmatch(wanted, own[0]), f"{text}: {own}"
        assert len(own) == 3, f"{text}: {own}"


NULL = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out) {
  .reg .b64 %out, %null; .reg .b32 %x, %t; .reg .pred %p; ld.param.u64 %out, [out];
  mov.u64 %null, 0; mov.u32 %t, %tid.x; setp.eq.u32 %p, %t, 3; mov.u32 %x, 7;
  ACCESS
  st.global.u32 [%out], %x; ret; }
"""


@pytest.mark.parametrize("arch", ARCHS)
@pytest.mark.parametrize("access", [
    "ld.u32 %x, [%null];", "st.u32 [%null], 5;", "atom.add.u32 %x, [%null], 1;", "ld.global.u32 %x, [%null];",
    "@!%p bra GO; st.u32 [%null], 5; bra.uni GO; GO:",
])  # fmt: skip
def test_address_0_faults(access: str, arch: str) -> None:
    """Also where the compiler knows the address: programs write there to end themselves."""
    loaded = Program(NULL.replace("ACCESS", access), arch)
    with pytest.raises(HipError, match="IllegalAddress"):
        loaded.run("k", 32, [4])
    loaded.gpu.reset()
