"""Scalar instructions with a 16-bit immediate: SOPK, SOPP.

Semantics as in sop.py; IMM is the sign-extended SIMM16, BRANCH(c) jumps by IMM dwords if c, K the literal.
"""

from __future__ import annotations

from ptx2amd.vgpu.isa.meaning import Branch, Order, waits
from ptx2amd.vgpu.isa.native import Scalar
from ptx2amd.vgpu.isa.op import Op


def _k(
    name: str,
    operands: str,
    semantics: str,
    *,
    scalar: Scalar | None = None,
    pure: bool = True,
    order: Order | None = None,
) -> Op:
    """A SOPK row; pure=False: it does more than compute."""
    return Op(name, "SOPK", operands, semantics, scalar=scalar, pure=pure, order=order)


def _p(name: str, semantics: str, order: Order | None = None) -> Op:
    return Op(name, "SOPP", "", semantics, order=order)


def _branch(name: str, condition: str) -> Op:
    return Op(name, "SOPP", "", f"BRANCH({condition});", branch=Branch.RELATIVE)


_COMPARE = [("eq", "=="), ("lg", "!="), ("gt", ">"), ("ge", ">="), ("lt", "<"), ("le", "<=")]
#: No effect here: caches and memory order are the host's, every access is complete before the next instruction.
_NOTHING = ";"


def _sopk() -> list[Op]:
    return [
        _k("s_movk_i32", "d:i32", "D = IMM;", scalar=Scalar("MOVE_IMMEDIATE")),
        _k("s_version", "", _NOTHING, pure=False),
        _k("s_cmovk_i32", "d=:i32", "if (SCC) D = IMM;"),
        *[_k(f"s_cmpk_{name}_i32", "a:i32", f"SCC = A {c} IMM;")
          for k, (name, c) in enumerate(_COMPARE)],
        *[_k(f"s_cmpk_{name}_u32", "a:u32", f"SCC = A {c} (uint32_t)(uint16_t)IMM;")
          for k, (name, c) in enumerate(_COMPARE)],
        _k("s_addk_i32", "d=:i32", "SCC = __builtin_add_overflow(D, IMM, &D);"),
        _k("s_mulk_i32", "d=:u32", "D = D * (uint32_t)IMM;"),
        _k("s_getreg_b32", "d:b32", "D = hwreg_read(w, i, (uint16_t)IMM);", pure=False),
        _k("s_setreg_b32", "a:b32", "return hwreg_write(w, i, (uint16_t)IMM, A);", pure=False),
        _k("s_setreg_imm32_b32", "k:b32", "return hwreg_write(w, i, (uint16_t)IMM, K);", pure=False),
        Op("s_call_b64", "SOPK", "d:b64", "D = PC_NEXT; WRITE_D; BRANCH(true);", branch=Branch.RELATIVE),
        *[_k(f"s_waitcnt_{name}", "", _NOTHING, pure=False, order=waits(name))
          for name in ("vscnt", "vmcnt", "lgkmcnt")],
        _k("s_waitcnt_expcnt", "", _NOTHING, pure=False),
        _k("s_subvector_loop_begin", "d=:b32", "", pure=False),
        _k("s_subvector_loop_end", "d=:b32", "", pure=False),
    ]  # fmt: skip


def _sopp() -> list[Op]:
    return [
        _p("s_nop", _NOTHING),
        _p("s_endpgm", "return wave_end(w, i);"),
        _branch("s_branch", "true"),
        _p("s_wakeup", _NOTHING),
        _branch("s_cbranch_scc0", "!SCC"),
        _branch("s_cbranch_scc1", "SCC"),
        _branch("s_cbranch_vccz", "mask_read(w->s + S_VCC) == 0"),
        _branch("s_cbranch_vccnz", "mask_read(w->s + S_VCC) != 0"),
        _branch("s_cbranch_execz", "wave_exec(w) == 0"),
        _branch("s_cbranch_execnz", "wave_exec(w) != 0"),
        _p("s_barrier", "return wave_at_barrier(w, i);"),
        _p("s_setkill", ""),
        _p("s_waitcnt", _NOTHING, waits("legacy")),
        _p("s_sethalt", "if (IMM & 1) return wave_halt(w, i);"),
        _p("s_sleep", "return wave_yield(w, i);"),
        _p("s_setprio", _NOTHING),
        _p("s_sendmsg", "wave_message((uint16_t)IMM & 0xff);"),
        _p("s_sendmsghalt", "return wave_halt(w, i);"),
        _p("s_trap", "return wave_trap(w, i);"),
        _p("s_icache_inv", _NOTHING),
        _p("s_incperflevel", _NOTHING),
        _p("s_decperflevel", _NOTHING),
        _p("s_ttracedata", _NOTHING),
        _p("s_ttracedata_imm", _NOTHING),
        _branch("s_cbranch_cdbgsys", "false"),
        _branch("s_cbranch_cdbguser", "false"),
        _branch("s_cbranch_cdbgsys_or_user", "false"),
        _branch("s_cbranch_cdbgsys_and_user", "false"),
        _p("s_endpgm_saved", "return wave_end(w, i);"),
        _p("s_endpgm_ordered_ps_done", "return wave_end(w, i);"),
        _p("s_set_gpr_idx_off", "w->mode &= ~(1u << 27);"),
        _p("s_set_gpr_idx_mode", "w->s[S_M0] = (M0 & ~0xf000u) | ((uint32_t)IMM & 15) << 12;"),
        _p("s_set_inst_prefetch_distance", _NOTHING),
        _p("s_clause", _NOTHING),
        _p("s_delay_alu", _NOTHING),
        _p("s_waitcnt_depctr", _NOTHING),
        _p("s_wait_idle", _NOTHING, waits("idle")),
        _p("s_wait_event", _NOTHING),
        _p("s_round_mode", "return set_mode(w, i, 0xf, (uint32_t)IMM);"),
        _p("s_denorm_mode", "return set_mode(w, i, 0xf0, (uint32_t)IMM << 4);"),
        _p("s_barrier_wait", "return wave_wait(w, i);"),
        _p("s_barrier_leave", ""),
        *[_p(f"s_wait_{name}", _NOTHING, waits(name))
          for name in ("loadcnt", "storecnt", "samplecnt", "bvhcnt", "dscnt", "kmcnt", "loadcnt_dscnt",
                       "storecnt_dscnt")],
        *[_p(f"s_wait_{name}", _NOTHING) for name in ("alu", "expcnt", "xcnt", "asynccnt", "tensorcnt")],
        _p("s_setprio_inc_wg", _NOTHING),
        _p("s_monitor_sleep", "return wave_yield(w, i);"),
        _p("s_set_vgpr_msb", ""),
        _p("s_code_end", "return run_illegal(w, i);"),
    ]  # fmt: skip


def ops() -> list[Op]:
    return [*_sopk(), *_sopp()]
