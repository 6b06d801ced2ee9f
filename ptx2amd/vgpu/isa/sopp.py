"""Scalar instructions with a 16-bit immediate: SOPK, SOPP.

Semantics as in sop.py; IMM is the sign-extended SIMM16, BRANCH(c) jumps by IMM dwords if c, K the literal.
"""

from __future__ import annotations

from ptx2amd.vgpu.isa.op import Op


def _k(name: str, gfx9: int | None, gfx11: int | None, operands: str, semantics: str) -> Op:
    return Op(name, "SOPK", operands, semantics, gfx9=gfx9, gfx11=gfx11)


def _p(name: str, gfx9: int | None, gfx11: int | None, semantics: str) -> Op:
    return Op(name, "SOPP", "", semantics, gfx9=gfx9, gfx11=gfx11)


_COMPARE = [("eq", "=="), ("lg", "!="), ("gt", ">"), ("ge", ">="), ("lt", "<"), ("le", "<=")]
#: Nothing to do here: caches and order are the host's, every access is complete before the next instruction.
_NOTHING = ";"

SOPK = [
    _k("s_movk_i32", 0x00, 0x00, "d:i32", "D = IMM;"),
    _k("s_version", None, 0x01, "", _NOTHING),
    _k("s_cmovk_i32", 0x01, 0x02, "d=:i32", "if (SCC) D = IMM;"),
    *[_k(f"s_cmpk_{name}_i32", 0x02 + k, 0x03 + k, "a:i32", f"SCC = A {c} IMM;")
      for k, (name, c) in enumerate(_COMPARE)],
    *[_k(f"s_cmpk_{name}_u32", 0x08 + k, 0x09 + k, "a:u32", f"SCC = A {c} (uint32_t)(uint16_t)IMM;")
      for k, (name, c) in enumerate(_COMPARE)],
    _k("s_addk_i32", 0x0E, 0x0F, "d=:i32", "SCC = __builtin_add_overflow(D, IMM, &D);"),
    _k("s_mulk_i32", 0x0F, 0x10, "d=:u32", "D = D * (uint32_t)IMM;"),
    _k("s_getreg_b32", 0x11, 0x11, "d:b32", "D = hwreg_read(w, i, (uint16_t)IMM);"),
    _k("s_setreg_b32", 0x12, 0x12, "a:b32", "return hwreg_write(w, i, (uint16_t)IMM, A);"),
    _k("s_setreg_imm32_b32", 0x14, 0x13, "k:b32", "return hwreg_write(w, i, (uint16_t)IMM, K);"),
    _k("s_call_b64", 0x15, 0x14, "d:b64", "D = PC_NEXT; WRITE_D; BRANCH(true);"),
    *[_k(f"s_waitcnt_{name}", None, 0x18 + k, "", _NOTHING)
      for k, name in enumerate(("vscnt", "vmcnt", "expcnt", "lgkmcnt"))],
    _k("s_subvector_loop_begin", None, 0x16, "d=:b32", ""),
    _k("s_subvector_loop_end", None, 0x17, "d=:b32", ""),
]  # fmt: skip

SOPP = [
    _p("s_nop", 0x00, 0x00, _NOTHING),
    _p("s_endpgm", 0x01, 0x30, "return wave_end(w, i);"),
    _p("s_branch", 0x02, 0x20, "BRANCH(true);"),
    _p("s_wakeup", 0x03, 0x34, _NOTHING),
    _p("s_cbranch_scc0", 0x04, 0x21, "BRANCH(!SCC);"),
    _p("s_cbranch_scc1", 0x05, 0x22, "BRANCH(SCC);"),
    _p("s_cbranch_vccz", 0x06, 0x23, "BRANCH(mask_read(w->s + S_VCC) == 0);"),
    _p("s_cbranch_vccnz", 0x07, 0x24, "BRANCH(mask_read(w->s + S_VCC) != 0);"),
    _p("s_cbranch_execz", 0x08, 0x25, "BRANCH(wave_exec(w) == 0);"),
    _p("s_cbranch_execnz", 0x09, 0x26, "BRANCH(wave_exec(w) != 0);"),
    _p("s_barrier", 0x0A, 0x3D, "return wave_at_barrier(w, i);"),
    _p("s_setkill", 0x0B, 0x01, ""),
    _p("s_waitcnt", 0x0C, 0x09, _NOTHING),
    _p("s_sethalt", 0x0D, 0x02, "if (IMM & 1) return wave_halt(w, i);"),
    _p("s_sleep", 0x0E, 0x03, "return wave_yield(w, i);"),
    _p("s_setprio", 0x0F, 0x35, _NOTHING),
    _p("s_sendmsg", 0x10, 0x36, "wave_message((uint16_t)IMM & 0xff);"),
    _p("s_sendmsghalt", 0x11, 0x37, "return wave_halt(w, i);"),
    _p("s_trap", 0x12, 0x10, "return wave_trap(w, i);"),
    _p("s_icache_inv", 0x13, 0x3C, _NOTHING),
    _p("s_incperflevel", 0x14, 0x38, _NOTHING),
    _p("s_decperflevel", 0x15, 0x39, _NOTHING),
    _p("s_ttracedata", 0x16, 0x3A, _NOTHING),
    _p("s_ttracedata_imm", None, 0x3B, _NOTHING),
    _p("s_cbranch_cdbgsys", 0x17, 0x27, "BRANCH(false);"),
    _p("s_cbranch_cdbguser", 0x18, 0x28, "BRANCH(false);"),
    _p("s_cbranch_cdbgsys_or_user", 0x19, 0x29, "BRANCH(false);"),
    _p("s_cbranch_cdbgsys_and_user", 0x1A, 0x2A, "BRANCH(false);"),
    _p("s_endpgm_saved", 0x1B, 0x31, "return wave_end(w, i);"),
    _p("s_endpgm_ordered_ps_done", 0x1E, 0x32, "return wave_end(w, i);"),
    _p("s_set_gpr_idx_off", 0x1C, None, "w->mode &= ~(1u << 27);"),
    _p("s_set_gpr_idx_mode", 0x1D, None, "w->s[S_M0] = (M0 & ~0xf000u) | ((uint32_t)IMM & 15) << 12;"),
    _p("s_set_inst_prefetch_distance", None, 0x04, _NOTHING),
    _p("s_clause", None, 0x05, _NOTHING),
    _p("s_delay_alu", None, 0x07, _NOTHING),
    _p("s_waitcnt_depctr", None, 0x08, _NOTHING),
    _p("s_wait_idle", None, 0x0A, _NOTHING),
    _p("s_wait_event", None, 0x0B, _NOTHING),
    _p("s_round_mode", None, 0x11, "return set_mode(w, i, 0xf, (uint32_t)IMM);"),
    _p("s_denorm_mode", None, 0x12, "return set_mode(w, i, 0xf0, (uint32_t)IMM << 4);"),
    _p("s_barrier_wait", None, None, "return wave_wait(w, i);"),
    _p("s_barrier_leave", None, None, ""),
    *[_p(f"s_wait_{name}", None, None, _NOTHING)
      for name in ("alu", "loadcnt", "storecnt", "samplecnt", "bvhcnt", "expcnt", "dscnt", "kmcnt", "loadcnt_dscnt",
                   "storecnt_dscnt", "xcnt", "asynccnt", "tensorcnt")],
    _p("s_setprio_inc_wg", None, None, _NOTHING),
    _p("s_code_end", None, 0x1F, "return run_illegal(w, i);"),
]  # fmt: skip

OPS = SOPK + SOPP
