"""Bulk copies, reductions and asynchronous stores: what they write, and what the mbarrier counts."""

from __future__ import annotations

import random
import struct

import pytest

from tests.lower.device import ARCHS, EVERY, program

COMPLETE = "mbarrier::complete_tx::bytes"
BYTES = 1024


def text(body: str) -> str:
    """k(in, out): shared memory `sh` starts as the first KiB of `in`, is out's first KiB in the end; `body` is one
    thread's, and the others wait for the mbarrier's first phase, of one arrival."""
    return f"""
.version 9.3\n.target sm_100a\n.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out) {{
    .shared .align 128 .b8 sh[{BYTES}]; .shared .align 8 .b64 bar;
    .reg .b64 %in, %out, %at, %x<4>; .reg .b32 %t, %i, %s, %v<4>, %w<4>; .reg .b16 %h; .reg .pred %p, %q; .reg .b128 %z;
    ld.param.u64 %in, [in]; ld.param.u64 %out, [out]; mov.u32 %t, %tid.x; setp.ne.u32 %q, %t, 0;
    @!%q mbarrier.init.shared.b64 [bar], 1;
    shl.b32 %i, %t, 4; mov.u32 %s, sh; add.u32 %s, %s, %i; cvt.u64.u32 %at, %i; add.u64 %at, %at, %in;
    ld.global.v4.b32 {{%v0, %v1, %v2, %v3}}, [%at]; st.shared.v4.b32 [%s], {{%v0, %v1, %v2, %v3}};
    bar.sync 0;
    @%q bra WAIT;
    {body}
WAIT: mbarrier.try_wait.parity.shared.b64 %p, [bar], 0; @!%p bra WAIT;
    bar.sync 0;
    ld.shared.v4.b32 {{%v0, %v1, %v2, %v3}}, [%s]; cvt.u64.u32 %at, %i; add.u64 %at, %at, %out;
    st.global.v4.b32 [%at], {{%v0, %v1, %v2, %v3}};
    ret; }}
"""


def run(body: str, arch: str, data: bytes, out: bytes) -> tuple[bytes, bytes]:
    """(shared memory, what is behind the first KiB of out) after the kernel."""
    result = program(text(body), arch).run("k", BYTES // 16, [data, bytes(BYTES) + out])[1]
    return result[:BYTES], result[BYTES:]


def expect(n: int | str) -> str:
    return f"mbarrier.arrive.expect_tx.shared.b64 _, [bar], {n};"


ARRIVE = "mbarrier.arrive.shared.b64 _, [bar];"
DATA = random.Random("bulk").randbytes(2 * BYTES)


@pytest.mark.parametrize("arch", EVERY)
@pytest.mark.parametrize("size", [0, 16, 48, 64, 80, 960])
def test_loads(size: int, arch: str) -> None:
    """Global to shared memory, to both spaces, the expectation before and after the copy; a mask of blocks."""
    want = DATA[:16] + DATA[BYTES : BYTES + size] + DATA[16 + size : BYTES]
    spaces = f"cluster.global.{COMPLETE}", f"cta.global.{COMPLETE}", f"cluster.global.{COMPLETE}.multicast::cluster"

    def copy(form: str, count: int | str, more: str = "") -> str:
        head = f"add.u64 %at, %in, {BYTES}; mov.u32 %v0, {size}; mov.b16 %h, {more or 0};"
        return f"{head} cp.async.bulk.shared::{form} [sh+16], [%at], {count}, [bar]{', %h' if more else ''};"

    for body in (
        expect(size) + copy(spaces[0], "%v0"),
        copy(spaces[1], size) + expect(size),
        expect(size) + copy(spaces[2], "%v0", "1"),
    ):
        assert run(body, arch, DATA, b"")[0] == want, body
    assert run(ARRIVE + copy(spaces[2], "%v0", "2"), arch, DATA, b"")[0] == DATA[:BYTES]  # for another block only


@pytest.mark.parametrize("arch", EVERY)
def test_masks_of_blocks(arch: str) -> None:
    """A mask may be a constant; a register that has one is read only."""
    copy = f"cp.async.bulk.shared::cluster.global.{COMPLETE}.multicast::cluster"
    head = f"add.u64 %at, %in, {BYTES}; {copy} [sh], [%at], 16, [bar]"
    read = f"cvt.u32.u16 %v0, %h; st.global.u32 [%out+{BYTES}], %v0;"
    body = f"mov.b16 %h, 0x5; {expect(16)} {head}, %h; {read}"
    assert run(body, arch, DATA, bytes(4)) == (DATA[BYTES : BYTES + 16] + DATA[16:BYTES], b"\5\0\0\0")
    assert run(f"{expect(16)} {head}, 3;", arch, DATA, b"")[0] == DATA[BYTES : BYTES + 16] + DATA[16:BYTES]
    assert run(f"{ARRIVE} {head}, 2;", arch, DATA, b"")[0] == DATA[:BYTES]


@pytest.mark.parametrize("arch", EVERY)
@pytest.mark.parametrize(("left", "right"), [(0, 0), (3, 15), (15, 0)])
def test_loads_without_their_ends(left: int, right: int, arch: str) -> None:
    """Bytes at the ends stay as they are, and count for the mbarrier."""
    body = f"add.u64 %at, %in, {BYTES}; mov.u32 %v0, {left}; {expect(48)}"
    body += f"cp.async.bulk.shared::cta.global.{COMPLETE}.ignore_oob [sh+16], [%at], 48, %v0, {right}, [bar];"
    want = DATA[: 16 + left] + DATA[BYTES + left : BYTES + 48 - right] + DATA[64 - right : BYTES]
    assert run(body, arch, DATA, b"")[0] == want


@pytest.mark.parametrize("arch", EVERY)
def test_stores(arch: str) -> None:
    """Shared to shared and to global memory, whole and by a mask of bytes."""
    body = f"cp.async.bulk.shared::cluster.shared::cta.{COMPLETE} [sh+512], [sh], 144, [bar]; {expect(144)}"
    assert run(body, arch, DATA, b"")[0] == DATA[:512] + DATA[:144] + DATA[656:BYTES]
    wait = f"cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0; {ARRIVE}"
    out = bytes(range(256))
    for mask in (0xFFFF, 0x8001, 0x0F0E):
        plain = mask == 0xFFFF
        body = (
            f"add.u64 %at, %out, {BYTES + 32}; mov.b16 %h, {mask};"
            f"cp.async.bulk.global.shared::cta.bulk_group{'' if plain else '.cp_mask'} [%at], [sh+16], 96"
            f"{'' if plain else ', %h'}; {wait}"
        )
        part = bytes(DATA[16 + i] if mask >> i % 16 & 1 else out[32 + i] for i in range(96))
        assert run(body, arch, DATA, out)[1] == out[:32] + part + out[128:], hex(mask)


@pytest.mark.parametrize("arch", EVERY)
@pytest.mark.parametrize(("sem", "t"), [("weak.", ""), ("relaxed.cluster.", ".b128"), ("", ".b128")])
def test_copies_with_semantics(sem: str, t: str, arch: str) -> None:
    """.weak and .relaxed (PTX 9.3) move the same bytes: every direction."""
    copy = f"cp.async.bulk.{sem}"
    load = f"add.u64 %at, %in, {BYTES}; {expect(80)}"
    for to, more, mask in (("cta", "", ""), ("cluster", "", ""), ("cluster", ".multicast::cluster", ", %h")):
        body = f"{load} mov.b16 %h, 1; {copy}shared::{to}.global.{COMPLETE}{more}{t} [sh+16], [%at], 80, [bar]{mask};"
        assert run(body, arch, DATA, b"")[0] == DATA[:16] + DATA[BYTES : BYTES + 80] + DATA[96:BYTES], body
    body = f"{load} {copy}shared::cta.global.{COMPLETE}.ignore_oob{t} [sh+16], [%at], 80, 3, 15, [bar];"
    assert run(body, arch, DATA, b"")[0] == DATA[:19] + DATA[BYTES + 3 : BYTES + 65] + DATA[81:BYTES]
    body = f"{copy}shared::cluster.shared::cta.{COMPLETE}{t} [sh+512], [sh], 144, [bar]; {expect(144)}"
    assert run(body, arch, DATA, b"")[0] == DATA[:512] + DATA[:144] + DATA[656:BYTES]
    head = f"add.u64 %at, %out, {BYTES}; mov.b16 %h, 0x0f;"
    body = f"{head} {copy}global.shared::cta.bulk_group{t} [%at], [sh+16], 96; {ARRIVE}"
    assert run(body, arch, DATA, bytes(96))[1] == DATA[16:112]
    body = f"{head} {copy}global.shared::cta.bulk_group.cp_mask{t} [%at], [sh+16], 16, %h; {ARRIVE}"
    assert run(body, arch, DATA, bytes(16))[1] == DATA[16:20] + bytes(12)


REDUCED = {"add": int.__add__, "min": min, "max": max, "and": int.__and__, "or": int.__or__, "xor": int.__xor__}
REDUCED["inc"] = lambda old, limit: 0 if old >= limit else old + 1
REDUCED["dec"] = lambda old, limit: limit if old == 0 or old > limit else old - 1
CODES = {"u32": "I", "s32": "i", "u64": "Q", "s64": "q", "b32": "I", "b64": "Q", "f32": "f", "f64": "d", "f16": "e"}
INTEGERS = [("add", "u32 s32 u64"), ("min", "u32 s32"), ("max", "u32 s32"), ("inc", "u32"), ("dec", "u32")]
INTEGERS += [(op, "b32") for op in ("and", "or", "xor")]
GLOBAL = [*INTEGERS, ("add", "f32 f64 f16"), ("min", "u64 s64 f16"), ("max", "u64 s64 f16"), ("xor", "b64")]


def values(code: str, count: int, seed: str) -> list:
    draw, bits = random.Random(seed), 8 * struct.calcsize(code)
    if code in "efd":
        return [draw.randint(-256, 256) / 8 for _ in range(count)]
    low = -(1 << bits - 1) if code.islower() else 0
    return [draw.randrange(low, low + (1 << bits)) for _ in range(count)]


def reduced(op: str, code: str, old: list, new: list) -> bytes:
    results = [(REDUCED["add"] if code not in "efd" or op != "add" else float.__add__)(a, b) if op == "add"
               else REDUCED[op](a, b) for a, b in zip(old, new, strict=True)]  # fmt: skip
    if code in "efd":
        return struct.pack(f"<{len(old)}{code}", *results)
    size = struct.calcsize(code)
    return b"".join((v & (1 << 8 * size) - 1).to_bytes(size, "little") for v in results)


@pytest.mark.parametrize("arch", EVERY)
@pytest.mark.parametrize("place", ["global", "shared"])
@pytest.mark.parametrize("sem", ["", "relaxed.cluster."])
def test_reductions(sem: str, place: str, arch: str) -> None:
    for op, types in GLOBAL if place == "global" else INTEGERS:
        for t in types.split()[(arch == ARCHS[1]) % len(types.split()) :: 2]:  # each half of the types on one arch
            code, count = CODES[t], 96 // struct.calcsize(CODES[t])
            old, new = values(code, count, f"old {op} {t}"), values(code, count, f"new {op} {t}")
            want = reduced(op, code, old, new)
            before, source = struct.pack(f"<{count}{code}", *old), struct.pack(f"<{count}{code}", *new)
            data = source + before + bytes(2 * BYTES)
            noftz = ".noftz" if (op, t) == ("add", "f16") else ""
            head = f"cp.reduce.async.bulk.{sem}"
            if place == "global":
                body = (
                    f"add.u64 %at, %out, {BYTES}; {head}global.shared::cta.bulk_group.{op}{noftz}.{t}"
                    f" [%at], [sh], 96; cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; {ARRIVE}"
                )
                assert run(body, arch, data[: 2 * BYTES], before)[1] == want, (op, t)
            else:
                body = f"{head}shared::cluster.shared::cta.{COMPLETE}.{op}.{t} [sh+96], [sh], 96, [bar];"
                assert run(body + expect(96), arch, data[: 2 * BYTES], b"")[0][96:192] == want, (op, t)


@pytest.mark.parametrize("arch", EVERY)
def test_asynchronous_stores(arch: str) -> None:
    """st.async, red.async and st.bulk; addresses in shared memory and generic ones."""
    load = f"add.u64 %at, %in, {BYTES}; ld.global.v4.b32 {{%v0, %v1, %v2, %v3}}, [%at];"
    generic = "mov.u32 %i, sh; cvt.u64.u32 %x0, %i; cvta.shared.u64 %x0, %x0;"
    generic += "mov.u32 %i, bar; cvt.u64.u32 %x1, %i; cvta.shared.u64 %x1, %x1;"
    again = "shl.b32 %i, %t, 4;"
    for op, size in (
        (f"st.async.weak.shared::cluster.{COMPLETE}.b32 [sh], %v0, [bar];", 4),
        (f"st.async.shared::cluster.{COMPLETE}.v2.u32 [sh], {{%v0, %v1}}, [bar];", 8),
        (
            f"mov.b64 %x0, {{%v0, %v1}}; mov.b64 %x1, {{%v2, %v3}}; mov.b128 %z, {{%x0, %x1}};"
            f"st.async.shared::cta.{COMPLETE}.b128 [sh], %z, [bar];",
            16,
        ),
        (f"{generic}st.async.{COMPLETE}.v4.b32 [%x0], {{%v0, %v1, %v2, %v3}}, [%x1];{again}", 16),
    ):
        assert run(load + op + expect(size), arch, DATA, b"")[0] == DATA[BYTES : BYTES + size] + DATA[size:BYTES], op
    [first] = struct.unpack_from("<I", DATA)
    [other] = struct.unpack_from("<I", DATA, BYTES)
    body = f"{load}red.async.relaxed.cluster.shared::cluster.{COMPLETE}.max.u32 [sh], %v0, [bar]; {expect(4)}"
    assert run(body, arch, DATA, b"")[0][:4] == struct.pack("<I", max(first, other))
    body = f"add.u64 %at, %out, {BYTES}; mov.u32 %v0, 7; red.async.mmio.release.sys.global.add.u32 [%at], %v0;"
    body += "add.u64 %at, %at, 4; st.async.release.gpu.global.u32 [%at], %v0;"
    body += f"add.u64 %at, %at, 4; st.async.mmio.release.sys.global.u32 [%at], %v0; {ARRIVE}"
    assert run(body, arch, DATA, struct.pack("<3I", 5, 5, 5))[1] == struct.pack("<3I", 12, 7, 7)
    body = f"mov.b64 %x0, 40; st.bulk.weak.shared::cta [sh+8], %x0, 0; {ARRIVE}"
    assert run(body, arch, DATA, b"")[0] == DATA[:8] + bytes(40) + DATA[48:BYTES]


@pytest.mark.parametrize("arch", EVERY)
@pytest.mark.parametrize(("op", "types"), [*INTEGERS, ("add", "s64"), ("min", "s32"), ("max", "s32")])
def test_asynchronous_reductions(op: str, types: str, arch: str) -> None:
    """red.async to shared memory, which counts its bytes off, and to global memory."""
    for t in types.split():
        code = CODES[t]
        size = struct.calcsize(code)
        [old], [new] = values(code, 1, f"old {op} {t}"), values(code, 1, f"new {op} {t}")
        data = (struct.pack(f"<{code}", old) + DATA)[:BYTES] + struct.pack(f"<{code}", new) + bytes(BYTES - size)
        want = reduced(op, code, [old], [new])
        load = f"add.u64 %at, %in, {BYTES}; ld.global.b{8 * size} %{'v0' if size == 4 else 'x0'}, [%at];"
        value = "%v0" if size == 4 else "%x0"
        body = f"{load} red.async.relaxed.cluster.{COMPLETE}.{op}.{t} [%x2], {value}, [%x3]; {expect(size)}"
        for name, register in (("sh", "%x2"), ("bar", "%x3")):
            body = f"mov.u64 {register}, {name}; cvta.shared.u64 {register}, {register};" + body
        assert run(body, arch, data, b"")[0][:size] == want, t
        if size == 4:
            ways = ("release.gpu", "mmio.release.sys")
            for way in ways:
                body = f"{load} add.u64 %at, %out, {BYTES}; red.async.{way}.global.{op}.{t} [%at], {value}; {ARRIVE}"
                assert run(body, arch, data, struct.pack(f"<{code}", old))[1] == want, (way, t)


@pytest.mark.parametrize("arch", EVERY)
def test_cancelled_launches(arch: str) -> None:
    """A request to take over another block fails, after it was counted off the barrier."""
    name = "clusterlaunchcontrol"
    body = f"""{expect(16)} {name}.try_cancel.async.shared::cta.{COMPLETE}.b128 [sh], [bar];
        ld.shared.b128 %z, [sh]; {name}.query_cancel.is_canceled.pred.b128 %p, %z; selp.b32 %v0, 1, 2, %p;
        st.global.b32 [%out+{BYTES}], %v0;"""
    assert run(body, arch, DATA, bytes(4))[1] == struct.pack("<I", 2)
    body += f"{name}.query_cancel.get_first_ctaid.v4.b32.b128 {{%v0, %v1, %v2, _}}, %z;"
    for i, axis in enumerate("xyz"):  # of a request that failed: no block's, but the instructions end
        body += f"{name}.query_cancel.get_first_ctaid::{axis}.b32.b128 %w{i}, %z; or.b32 %v0, %v0, %w{i};"
    body += f"or.b32 %v0, %v0, %v1; or.b32 %v0, %v0, %v2; st.global.b32 [%out+{BYTES}], %v0;"
    assert run(body, arch, DATA, struct.pack("<I", 9))[1] == bytes(4)


@pytest.mark.parametrize("arch", EVERY)
def test_transactions(arch: str) -> None:
    """A phase ends when both arrivals and bytes are none: bytes may come first, in parts, and in later phases."""
    steps = [
        ("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [bar], 1048575;", 0),
        (ARRIVE, 0),
        ("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [bar], 1048574;", 0),
        ("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [bar], 1;", 1),
        ("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [bar], 24;", 1),
        ("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [bar], 16;", 1),
        (expect(8), 0),
        (ARRIVE, 1),
    ]
    body = ""
    for n, (step, _) in enumerate(steps):
        body += f"{step} mbarrier.test_wait.parity.shared.b64 %p, [bar], 0; selp.b32 %v0, 1, 0, %p;"
        body += f"st.global.b32 [%out+{BYTES + 4 * n}], %v0;"
    got = struct.unpack(f"<{len(steps)}I", run(body, arch, DATA, bytes(4 * len(steps)))[1])
    assert list(got) == [parity for _, parity in steps]
