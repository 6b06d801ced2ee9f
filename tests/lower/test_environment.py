"""What the run time provides: the data segment of per-kernel code objects, the printf buffer, failed assertions."""

from __future__ import annotations

import struct

import pytest

from ptx2amd import hip
from ptx2amd.errors import Ptx2amdError
from ptx2amd.translate import module_index, parse, translate
from tests.lower.device import ARCHS

HEAD = ".version 8.0\n.target sm_75\n.address_size 64\n"
PRINTF = (
    HEAD
    + """
.extern .func (.param .b32 r) vprintf (.param .b64 format, .param .b64 args);
.extern .func __assertfail (.param .b64 m, .param .b64 f, .param .b32 l, .param .b64 fn, .param .b64 s) .noreturn;
.global .align 1 .b8 text[40] = {FORMAT};
.visible .entry k(.param .u64 out) {
  .local .align 8 .b8 args[40]; .reg .b64 %rd<9>; .reg .b32 %r<9>; .reg .f64 %f<2>; .reg .pred %p;
  ld.param.u64 %rd7, [out]; mov.u64 %rd1, args; cvta.local.u64 %rd2, %rd1; mov.u32 %r1, %tid.x;
  st.local.u32 [args], %r1; mov.f64 %f1, 0d4004000000000000; st.local.f64 [args+8], %f1;
  st.local.u32 [args+16], 77; st.local.u64 [args+24], 123456789012; st.local.u32 [args+32], 65;
  mov.u64 %rd3, text; cvta.global.u64 %rd4, %rd3;
  { .param .b64 a; st.param.b64 [a], %rd4; .param .b64 b; st.param.b64 [b], %rd2; .param .b32 r;
    call.uni (r), vprintf, (a, b);
    ld.param.b32 %r2, [r]; }
  mad.wide.u32 %rd7, %r1, 4, %rd7; st.global.u32 [%rd7], %r2;
  ret; }
"""
)


def initialiser(text: bytes) -> str:
    return ", ".join(str(b) for b in text.ljust(40, b"\0"))


class Loaded:
    """A per-kernel code object with its environment filled in as the loader does."""

    def __init__(self, text: str, kernel: str, arch: str, room: int = 4096) -> None:
        module = parse(text)
        [result] = translate(module, archs=[arch], kernels=[kernel])
        assert result.ok, result.kernels
        self.gpu = hip.open(f"vgpu:{arch}")
        self.code = self.gpu.load(result.code)
        self.index = module_index(module)
        self.segment = self.gpu.buffer(max(1, self.index.segment_size))
        image = bytearray(self.index.image)
        for at, target in self.index.relocs:
            struct.pack_into("<Q", image, at, int(self.segment) + target)
        self.segment.write(bytes(image))
        self.printf = self.gpu.buffer(struct.pack("<2I", room, 0) + bytes(room))
        self.code.variable("__ptx2amd_env").write(struct.pack("<8Q", int(self.segment), int(self.printf), *[0] * 6))
        self.kernel = self.code.kernel(kernel)

    def records(self) -> list[tuple[int, bytes]]:
        """(address of the format, arguments) of each printf record."""
        blob = self.printf.peek()
        _, end = struct.unpack_from("<2I", blob)
        at, found = 8, []
        while at < 8 + end:
            size, stream, text = struct.unpack_from("<2IQ", blob, at)
            assert stream in (0, 1) and size % 8 == 0 and size >= 16  # 1: standard error, for assertions
            found.append((text, blob[at + 16 : at + size]))
            at += size
        return found


@pytest.mark.parametrize("arch", ARCHS)
@pytest.mark.parametrize(
    ("text", "size", "count"),
    [
        (b"%d %f %s", 24, 3),
        (b"plain 100%%\n", 0, 0),
        (b"%d %5.2lf %-3d %lld %c", 36, 5),
        (b"%*d%% %hhx %zu %p", 32, 5),
        (b"%d %5$", 4, 1),
    ],
)
def test_printf_records(text: bytes, size: int, count: int, arch: str) -> None:
    loaded = Loaded(PRINTF.replace("FORMAT", initialiser(text)), "k", arch)
    out = loaded.gpu.buffer(bytes(4 * 40))
    loaded.kernel.launch(1, 40, [out])
    assert struct.unpack("<40i", out.bytes()) == (count,) * 40
    records = loaded.records()
    assert len(records) == 40
    assert {text for text, _ in records} == {int(loaded.segment) + loaded.index.variables[0].offset}
    if size:
        assert sorted(struct.unpack_from("<I", args)[0] for _, args in records) == list(range(40))
    for _, args in records:
        assert len(args) == -(-size // 8) * 8
        whole = struct.pack("<I4xdI4xQI", 0, 2.5, 77, 123456789012, 65)
        for first, last in ((8, 16), (16, 20), (24, 32), (32, 36)):  # between them is padding, undefined
            if last <= size:
                assert args[first:last] == whole[first:last]


@pytest.mark.parametrize("arch", ARCHS)
def test_full_buffer_loses_records_and_says_so(arch: str) -> None:
    loaded = Loaded(PRINTF.replace("FORMAT", initialiser(b"%d")), "k", arch, room=24 * 10 + 8)
    loaded.printf.write(struct.pack("<2I", 248, 0) + b"\xff" * 248)  # left over from before
    out = loaded.gpu.buffer(bytes(4 * 40))
    loaded.kernel.launch(1, 40, [out])
    assert sorted(struct.unpack("<40i", out.bytes())) == [-1] * 30 + [1] * 10
    capacity, end = struct.unpack_from("<2I", loaded.printf.bytes())
    assert (capacity, end) == (248, 24 * 40)
    assert loaded.printf.bytes()[248:252] == bytes(4)


SEGMENT = (
    HEAD
    + """
.visible .global .align 4 .u32 counter = 40;
.visible .const .align 8 .f64 table[3] = {0d3FF0000000000000, 0d4000000000000000, 0d4008000000000000};
.global .align 8 .u64 links[2] = {counter, generic(table)+16};
.visible .entry k(.param .u64 out) {
  .reg .b64 %rd<9>; .reg .b32 %r<5>; .reg .f64 %f<5>;
  ld.param.u64 %rd1, [out];
  ld.global.u64 %rd2, [links]; atom.global.add.u32 %r1, [%rd2], 1;
  ld.global.u64 %rd3, [links+8]; ld.f64 %f1, [%rd3];
  ld.const.f64 %f2, [table+8]; mov.u64 %rd4, table; ld.const.f64 %f3, [%rd4];
  st.global.f64 [%rd1], %f1; st.global.f64 [%rd1+8], %f2; st.global.f64 [%rd1+16], %f3;
  st.global.u32 [%rd1+24], %r1; ld.global.u32 %r2, [counter]; st.global.u32 [%rd1+28], %r2;
  ret; }
"""
)


@pytest.mark.parametrize("arch", ARCHS)
def test_data_segment(arch: str) -> None:
    loaded = Loaded(SEGMENT, "k", arch)
    out = loaded.gpu.buffer(bytes(32))
    loaded.kernel.launch(1, 1, [out])
    assert struct.unpack("<3d2I", out.bytes()) == (3.0, 2.0, 1.0, 40, 41)
    loaded.kernel.launch(1, 1, [out])
    assert struct.unpack("<3d2I", out.bytes())[3:] == (41, 42)


ASSERT = PRINTF.replace("FORMAT", initialiser(b"a > b")).replace(
    "  ret; }",
    """  setp.ne.u32 %p, %r1, 3; @%p ret;
  { .param .b64 a; st.param.b64 [a], %rd4; .param .b64 b; st.param.b64 [b], %rd4; .param .b32 c; st.param.b32 [c], 12;
    .param .b64 d; st.param.b64 [d], %rd4; .param .b64 e; st.param.b64 [e], 1;
    call.uni __assertfail, (a, b, c, d, e); }
  ret; }""",
)


@pytest.mark.parametrize("arch", ARCHS)
def test_failed_assertion_leaves_its_text_and_ends_the_launch(arch: str) -> None:
    loaded = Loaded(ASSERT, "k", arch)
    out = loaded.gpu.buffer(bytes(4 * 40))
    with pytest.raises(Ptx2amdError):
        loaded.kernel.launch(1, 40, [out])
        loaded.gpu.synchronize()
    text = int(loaded.segment) + loaded.index.variables[0].offset
    *_, (_, args) = loaded.records()
    loaded.gpu.reset()
    place = (0, 0, 0, 3, 0, 0)  # block, thread
    assert struct.unpack("<QI4xQ6IQ", args) == (text, 12, text, *place, text)  # file, line, function, message
