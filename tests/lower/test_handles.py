"""Addresses of functions: numbers that all code objects of a module understand, and calls through them, whatever
kernel, floating-point mode or memory they come from."""

from __future__ import annotations

import struct

import pytest

from ptx2amd import hip
from ptx2amd.ptx.handles import handles
from ptx2amd.translate import module_index, parse, translate
from tests.lower.device import MAPPINGS, Program

HEAD = ".version 7.0\n.target sm_70\n.address_size 64\n"
TEXT = (
    HEAD
    + """.func (.param .b32 r) twice(.param .b32 x) { .reg .b32 %a; ld.param.b32 %a, [x]; add.u32 %a, %a, %a;
  st.param.b32 [r], %a; ret; }
.func (.param .b32 r) next(.param .b32 x) { .reg .b32 %a; ld.param.b32 %a, [x]; add.u32 %a, %a, 1;
  st.param.b32 [r], %a; ret; }
.func (.param .b32 r) half(.param .b32 x) { .reg .f32 %f; .reg .b32 %a; ld.param.b32 %a, [x];
  mov.b32 %f, %a; mul.ftz.f32 %f, %f, 0f3F000000; mov.b32 %a, %f; st.param.b32 [r], %a; ret; }
.func (.param .b32 r) direct(.param .b32 x) { .reg .b32 %a; ld.param.b32 %a, [x];
  { .param .b32 p; .param .b32 q; st.param.b32 [p], %a; call (q), next, (p); ld.param.b32 %a, [q]; }
  st.param.b32 [r], %a; ret; }
.func (.param .b32 r) again(.param .b32 x);
.alias again, twice;
.global .u64 before = 7;
.global .u64 table[3] = {twice, next, again};
.global .u64 there = generic(table);
.visible .entry by_table(.param .u64 out) {
  .reg .b64 %rd<5>; .reg .b32 %r<4>; .reg .pred %p;
  ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4; add.u64 %rd1, %rd1, %rd2;
  rem.u32 %r2, %r1, 3; mul.wide.u32 %rd3, %r2, 8; mov.u64 %rd4, table; add.u64 %rd3, %rd3, %rd4;
  ld.global.u64 %rd3, [%rd3];
  { .param .b32 p; .param .b32 q; st.param.b32 [p], %r1;
  kind: .callprototype (.param .b32 _) _ (.param .b32 _);
  call (q), %rd3, (p), kind; ld.param.b32 %r3, [q]; }
  st.global.u32 [%rd1], %r3; ret; }
.visible .entry take(.param .u64 out) {
  .reg .b64 %rd<3>; ld.param.u64 %rd1, [out]; mov.u64 %rd2, half; st.global.u64 [%rd1], %rd2; ret; }
.visible .entry given(.param .u64 out, .param .u64 f) {
  .reg .b64 %rd<4>; .reg .b32 %r<3>; .reg .f32 %f<3>;
  ld.param.u64 %rd1, [out]; ld.param.u64 %rd2, [f]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd3, %r1, 4;
  add.u64 %rd1, %rd1, %rd3; ld.global.u32 %r1, [%rd1];
  { .param .b32 p; .param .b32 q; st.param.b32 [p], %r1;
  kind: .callprototype (.param .b32 _) _ (.param .b32 _);
  call (q), %rd2, (p), kind; ld.param.b32 %r2, [q]; }
  st.global.u32 [%rd1], %r2; ret; }
.visible .entry plain(.param .u64 out) {
  .reg .b64 %rd; .reg .b32 %r;
  ld.param.u64 %rd, [out]; ld.global.u32 %r, [%rd];
  { .param .b32 p; .param .b32 q; st.param.b32 [p], %r; call (q), direct, (p); ld.param.b32 %r, [q]; }
  st.global.u32 [%rd], %r; ret; }
"""
)


def test_who_has_a_handle() -> None:
    """Functions that are only called directly have none; those that have one have the same in every parse."""
    found = handles(parse(TEXT))
    assert list(found) == ["twice", "next", "half"] and len(set(found.values())) == 3 and 0 not in found.values()
    assert handles(parse(TEXT)) == found
    changed = handles(parse(TEXT.replace("add.u32 %a, %a, 1", "add.u32 %a, %a, 2")))
    assert set(found.values()).isdisjoint(changed.values())
    alone = TEXT[: TEXT.index(".global")] + TEXT[TEXT.index(".visible .entry plain") :]
    assert handles(parse(alone)) == {}


@pytest.mark.parametrize("more", [0, 40])
def test_names_that_others_contain(more: int) -> None:
    """Only a function's whole name outside calls counts, however many functions there are."""
    names = ["f", "f1", "$f", "f$", "_f", *(f"other{k}" for k in range(more))]
    parts = [f".func {name}() {{ ret; }}\n" for name in names]
    calls = "".join(f"call.uni {name}, ();\n$L_{k}: call {name}, ();\n" for k, name in enumerate(names))
    for taken in ("f", "$f", "f$"):
        use = f".reg .b64 %f1; {{ mov.u64 %f1, {taken}; }}\n"
        text = HEAD + "".join(parts) + ".visible .entry k() { " + calls + use + calls.replace("$L", "$M") + "ret; }"
        assert list(handles(parse(text))) == [taken]


def test_variables_hold_handles() -> None:
    index = module_index(parse(TEXT))
    twice, following, _ = handles(parse(TEXT)).values()
    assert struct.unpack_from("<Q8x3Q", index.image) == (7, twice, following, twice)
    assert index.relocs == [(40, 16)]  # the address of `table`


@pytest.mark.parametrize("arch", MAPPINGS)
def test_calls_through_addresses(arch: str) -> None:
    program = Program(TEXT, arch)
    [out] = program.run("by_table", 64, [256])
    assert list(struct.unpack("64I", out)) == [i + 1 if i % 3 == 1 else 2 * i for i in range(64)]
    [address] = program.run("take", 1, [8])
    values = [3.0, -8.0, 2.0**-149, 1.0] * 16
    [out] = program.run("given", 64, [struct.pack("64f", *values)], [address])
    assert list(struct.unpack("64f", out)) == [1.5, -4.0, 0.0, 0.5] * 16  # flushed: the address knows its mode
    [out] = program.run("plain", 1, [struct.pack("I", 41)])
    assert struct.unpack("I", out) == (42,)


@pytest.mark.parametrize("arch", MAPPINGS)
def test_code_objects_share_addresses(arch: str) -> None:
    """What one code object stores, another calls: its copy of the function, in its own way."""
    name, _, mapping = arch.partition(":")
    gpu = hip.open(f"vgpu:{name}")
    [take] = translate(TEXT, "handles.ptx", [name], ["take"], mapping=mapping)
    [given] = translate(TEXT, "handles.ptx", [name], ["given"], mapping=mapping)
    address, out = gpu.buffer(bytes(8)), gpu.buffer(struct.pack("32f", *range(32)))
    spread = 2 if mapping == "padded" else 1
    gpu.load(take.code).kernel("take").launch(1, spread, [address])
    gpu.load(given.code).kernel("given").launch(1, 32 * spread, [out, address.bytes()])
    assert list(struct.unpack("32f", out.bytes())) == [i / 2 for i in range(32)]


@pytest.mark.parametrize("offset", [0, 1, 48, -16])
def test_what_is_no_address_traps(offset: int, capfd: pytest.CaptureFixture[str]) -> None:
    """No call of another function, wherever the number comes from."""
    program = Program(TEXT, "gfx942")
    number = 0 if not offset else next(iter(handles(parse(TEXT)).values())) + offset
    program.launch("given", 1, 1, [program.gpu.buffer(bytes(4)), struct.pack("<Q", number)])
    with pytest.raises(hip.HipError):
        program.gpu.synchronize()
    assert "trap" in capfd.readouterr().err
    program.gpu.reset()


ENDING = """.version 7.0
.target sm_70
.address_size 64
.func (.param .b32 r) ends(.param .b32 x) { .reg .b32 %a; .reg .pred %p; ld.param.b32 %a, [x];
  and.b32 %a, %a, 2; setp.ne.u32 %p, %a, 0; @%p exit; st.param.b32 [r], 5; ret; }
.func (.param .b32 r) goes_on(.param .b32 x) { .reg .b32 %a; ld.param.b32 %a, [x]; st.param.b32 [r], %a; ret; }
.func (.param .b32 r) asks(.param .b64 f, .param .b32 x) { .reg .b32 %a, %b; .reg .b64 %f;
  ld.param.b64 %f, [f]; ld.param.b32 %a, [x];
  { .param .b32 p; .param .b32 q; st.param.b32 [p], %a;
  kind: .callprototype (.param .b32 _) _ (.param .b32 _);
  call (q), %f, (p), kind; ld.param.b32 %b, [q]; }
  st.param.b32 [r], %b; ret; }
.visible .entry k(.param .u64 out) {
  .reg .b64 %rd<4>; .reg .b32 %r<4>; .reg .pred %p;
  ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4; add.u64 %rd1, %rd1, %rd2;
  mov.u64 %rd2, ends; mov.u64 %rd3, goes_on; and.b32 %r2, %r1, 1; setp.eq.u32 %p, %r2, 0;
  selp.b64 %rd2, %rd2, %rd3, %p;
  { .param .b64 f; .param .b32 p; .param .b32 q; st.param.b64 [f], %rd2; st.param.b32 [p], %r1;
  call (q), asks, (f, p); ld.param.b32 %r3, [q]; }
  st.global.u32 [%rd1], %r3; ret; }
"""


@pytest.mark.parametrize("arch", MAPPINGS)
def test_exit_behind_an_address(arch: str) -> None:
    """A thread that ends in a function called through its address ends for its callers too."""
    [out] = Program(ENDING, arch).run("k", 64, [struct.pack("64I", *[99] * 64)])
    want = [(99 if i & 2 else 5) if i % 2 == 0 else i for i in range(64)]
    assert list(struct.unpack("64I", out)) == want


HEAPLESS = """.version 7.0
.target sm_70
.address_size 64
.extern .func (.param .b64 r) malloc(.param .b64 n);
.extern .func free(.param .b64 p);
.visible .entry k(.param .u64 out) { .reg .b64 %rd<3>; ld.param.u64 %rd1, [out];
  { .param .b64 p; .param .b64 q; st.param.b64 [p], 16; call (q), malloc, (p); ld.param.b64 %rd2, [q]; }
  { .param .b64 p; st.param.b64 [p], %rd2; call free, (p); }
  st.global.u64 [%rd1], %rd2; ret; }
"""


def test_malloc_without_a_heap_gives_null() -> None:
    [out] = Program(HEAPLESS, "gfx942").run("k", 1, [b"\xff" * 8])
    assert out == bytes(8)
