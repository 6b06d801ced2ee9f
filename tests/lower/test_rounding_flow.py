"""Directed roundings under divergent control flow: the rounding mode belongs to the whole wave, so the two
arms of a branch must not share the instruction that they round differently."""

from __future__ import annotations

import random
import struct

import pytest

from ptx2amd import hip
from ptx2amd.translate import translate
from tests.reference.numbers import add, decode, encode, mul

THREADS = 128
PTX = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out) {
  .reg .b64 %in, %out, %at; .reg .b32 %t, %n, %r; .reg .f32 %x, %y, %z, %w; .reg .pred %p, %q;
  ld.param.u64 %in, [in];
  ld.param.u64 %out, [out];
  mov.u32 %t, %tid.x;
  mul.wide.u32 %at, %t, 4;
  add.u64 %in, %in, %at;
  add.u64 %out, %out, %at;
  ld.global.f32 %x, [%in];
  and.b32 %r, %t, 1;
  setp.eq.u32 %p, %r, 1;
  mov.f32 %z, 0f00000000;
  and.b32 %n, %t, 7;
LOOP:
  mul.rn.f32 %y, %x, %z;
  @%p add.UP.f32 %z, %z, %x;
  @!%p add.DOWN.f32 %z, %z, %x;
  add.rn.f32 %w, %y, %z;
  setp.eq.u32 %q, %n, 0;
  @%q bra DONE;
  sub.u32 %n, %n, 1;
  @%p fma.rz.f32 %z, %w, %x, %z;
  bra LOOP;
DONE:
  st.global.f32 [%out], %z;
  ret;
}
"""


def reference(bits: int, thread: int, up: str, down: str) -> int:
    def rounded(number, rnd="rn"):
        return decode(encode(number, "f32", rnd), "f32")

    x, z, n, p = decode(bits, "f32"), decode(0, "f32"), thread & 7, thread & 1
    while True:
        y = rounded(mul(x, z))
        rnd = up if p else down
        z = rounded(add(z, x, rnd), rnd)
        w = rounded(add(y, z))
        if n == 0:
            return encode(z, "f32")
        n -= 1
        if p:
            z = rounded(add(mul(w, x), z, "rz"), "rz")


@pytest.mark.parametrize("arch", ["gfx942", "gfx1100"])
@pytest.mark.parametrize("up, down", [("rp", "rm"), ("rp", "rp"), ("rz", "rn"), ("rn", "rm")])
def test_divergent_roundings(up: str, down: str, arch: str) -> None:
    seed = random.Random(1)
    inputs = [struct.unpack("<I", struct.pack("<f", seed.uniform(-2, 2)))[0] for _ in range(THREADS)]
    [result] = translate(PTX.replace("UP", up).replace("DOWN", down), "flow.ptx", [arch])
    assert result.ok, result.kernels
    gpu = hip.open(f"vgpu:{arch}")
    out = gpu.buffer(4 * THREADS)
    kernel = gpu.load(result.code).kernel("k")
    kernel.launch(1, THREADS, [gpu.buffer(struct.pack(f"<{THREADS}I", *inputs)), out])
    gpu.synchronize()
    got = list(struct.unpack(f"<{THREADS}I", out.bytes()))
    assert got == [reference(bits, thread, up, down) for thread, bits in enumerate(inputs)]
