"""Instructions with one f32 operand, of all 2^32 values."""

from __future__ import annotations

import numpy as np

from ptx2amd import hip
from ptx2amd.translate import translate
from tests.lower.alu_programs import HEAD, Case, all_cases
from tests.reference import columns

BLOCK, STEP = 256, 1 << 22  # threads of a block, values at a time
KERNEL = """.visible .entry k(.param .u64 out, .param .u32 first) {
  .reg .b64 %out; .reg .b32 %at, %n, %bits; .reg .f32 %a, %d; .reg .pred %p;
  ld.param.u64 %out, [out]; ld.param.u32 %bits, [first];
  mov.u32 %n, %ctaid.x; mov.u32 %at, %tid.x; mad.lo.u32 %at, %n, 256, %at;
  add.u32 %bits, %bits, %at; mov.b32 %a, %bits;
  OPERATION
  mad.wide.u32 %out, %at, 4, %out; st.global.b32 [%out], %bits; ret;
}
"""


def cases() -> list[Case]:
    """Those for which columns has a reference; conversions are proven."""
    return [c for c in all_cases("float") if [t for _, t, _ in c.sources] == ["f32"]]


def sweep(opcode: str, arch: str, first: int = 0, last: int = 1 << 32) -> str:
    """Operands from first to last: "" or the first wrong result."""
    result = "%p" if opcode.startswith("testp") else "%d"
    bits = "selp.b32 %bits, 1, 0, %p;" if result == "%p" else "mov.b32 %bits, %d;"
    [built] = translate(HEAD + KERNEL.replace("OPERATION", f"{opcode} {result}, %a; {bits}"), "sweep.ptx", [arch])
    assert built.ok, built.kernels
    gpu = hip.open(f"vgpu:{arch}")
    out = gpu.buffer(4 * STEP)
    kernel = gpu.load(built.code).kernel("k")
    lanes = 2 if built.kernels["k"].mapping == "padded" else 1
    for start in range(first, last, STEP):
        kernel.launch(STEP // BLOCK, BLOCK * lanes, [out, start])
        gpu.synchronize()
        got = np.frombuffer(out.bytes(), np.uint32)
        operands = np.arange(start, start + STEP, dtype=np.uint64).astype(np.uint32)
        if len(places := np.flatnonzero(columns.wrong(opcode, operands, got))):
            at = places[0]
            return f"{opcode} of {operands[at]:#x} gives {got[at]:#x}, and {len(places) - 1} more of {STEP}"
    return ""
