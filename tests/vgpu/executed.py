"""Which rows of the software GPU's instruction table the tests executed: `--gpu-rows` of tests/conftest.py."""

from __future__ import annotations

import struct

from ptx2amd.vgpu.isa.encoding import DECODERS
from ptx2amd.vgpu.isa.meaning import Prefix
from ptx2amd.vgpu.isa.op import REPRESENTATIVES, Op
from ptx2amd.vgpu.isa.table import all_ops
from tests.vgpu import engine, machine

EXECUTED: set[tuple[str, str]] = set()  # (architecture, mnemonic)
#: Rows whose effect no register or memory shows: waits, caches, hints, clocks, ends and traps.
WITHOUT_VALUE = (
    "s_cbranch_cdbg",
    "s_nop", "s_sleep", "s_wait", "s_dcache", "s_gl1", "s_icache", "s_prefetch", "s_buffer_prefetch", "s_trap",
    "s_ttrace", "s_set_inst_prefetch", "s_inst_prefetch", "s_clause", "s_delay", "s_sendmsg", "s_setprio",
    "s_incperf", "s_decperf", "s_round", "s_denorm", "s_endpgm", "s_code_end", "s_memtime", "s_memrealtime",
    "s_mem", "s_sethalt", "s_version", "s_wakeup", "s_barrier", "s_singleuse", "s_get_barrier", "buffer_wb",
    "buffer_inv", "buffer_gl", "global_inv", "global_wb", "v_nop", "ds_nop", "ds_gws", "s_perm95", "s_set_gpr_idx",
    "s_sync", "v_pipeflush", "v_clrexcp", "s_monitor_sleep", "s_set_vgpr"
)  # fmt: skip


def note(arch: str, code: bytes, lanes: int) -> None:
    """Instructions of straight code up to the first unknown word."""
    words = struct.unpack(f"<{len(code) // 4}I", code[: len(code) // 4 * 4])
    arch, at = REPRESENTATIVES.get(arch, arch), 0
    while at < len(words):
        n, text = engine.describe(arch, words[at : at + 6], lanes)
        if n <= 0:
            return
        EXECUTED.add((arch, text.split()[0]))
        at += n


def install() -> None:
    """From here on, what tests execute is noted."""
    execute, load = machine.execute, engine.CodeObject.__init__

    def noted_execute(
        generation: str, code: bytes, state: machine.State, mode: int = machine.MODE, level: str = "v3"
    ) -> None:
        execute(generation, code, state, mode, level)
        note(machine.CHIPS[generation], code, state.lanes)

    def noted_load(self: engine.CodeObject, elf: bytes, arch: str) -> None:
        load(self, elf, arch)
        note(arch, machine.sections(elf)[".text"], 32 if arch.startswith("gfx1") else 64)

    machine.execute = noted_execute
    engine.CodeObject.__init__ = noted_load  # type: ignore[method-assign]


def missing() -> list[Op]:
    """Rows with a meaning that were in no program."""
    return [
        op for op in all_ops()
        if op.semantics not in ("", Prefix()) and not op.name.startswith(WITHOUT_VALUE)
        and not any((arch, op.mnemonic(arch)) in EXECUTED for arch in DECODERS if op.opcode(arch) is not None)
    ]  # fmt: skip
