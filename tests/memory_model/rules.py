"""What each generation of chips needs for PTX's ordered accesses, from "Memory Model" in LLVM's user guide for AMDGPU,
and the instructions that our translation of one has."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from ptx2amd.translate import translate

CHIPS = ("gfx90a", "gfx942", "gfx1030", "gfx1100", "gfx1201")
SCOPES = ("cta", "gpu", "sys")


@dataclass(frozen=True, slots=True)
class Rule:
    """For one scope. load, store, atomic: bits of such an access; write_back: the instruction that makes earlier writes
    visible beyond a cache, before a release; invalidate: those that drop what caches hold, after an acquire."""

    load: str
    store: str
    write_back: str
    invalidate: tuple[str, ...]
    atomic: str = ""


def _gfx12(bits: str, write_back: str = "") -> Rule:
    """All instructions name their scope."""
    return Rule(bits, bits, write_back, (f"global_inv {bits}",), atomic=bits)


_GFX10 = ("buffer_gl1_inv", "buffer_gl0_inv")
RULES: dict[str, dict[str, Rule]] = {
    # one L1 a compute unit; agents share L2, whose lines of other agents' memory are written back and dropped
    "gfx90a": {
        "cta": Rule("", "", "", ()),
        "gpu": Rule("glc", "", "", ("buffer_wbinvl1_vol",)),
        "sys": Rule("glc", "", "buffer_wbl2", ("buffer_invl2", "buffer_wbinvl1_vol")),
    },
    # an L2 for each die of an agent
    "gfx942": {
        "cta": Rule("sc0", "sc0", "", ()),
        "gpu": Rule("sc1", "sc1", "buffer_wbl2 sc1", ("buffer_inv sc1",)),
        "sys": Rule("sc0 sc1", "sc0 sc1", "buffer_wbl2 sc0 sc1", ("buffer_inv sc0 sc1",), atomic="sc1"),
    },
    # an L0 a compute unit, of which a workgroup may use two; L1 for several of these
    "gfx1030": {
        "cta": Rule("glc", "", "", ("buffer_gl0_inv",)),
        "gpu": Rule("glc dlc", "", "", _GFX10),
        "sys": Rule("glc dlc", "", "", _GFX10),
    },
    "gfx1100": {
        "cta": Rule("glc", "", "", ("buffer_gl0_inv",)),
        "gpu": Rule("glc", "", "", _GFX10),
        "sys": Rule("glc", "", "", _GFX10),
    },
    "gfx1201": {
        "cta": _gfx12("scope:SCOPE_SE"),
        "gpu": _gfx12("scope:SCOPE_DEV"),
        "sys": _gfx12("scope:SCOPE_SYS", "global_wb scope:SCOPE_SYS"),
    },
}
#: Waits until nothing of a kind is outstanding: loads (and atomics with a result), stores, LDS.
WAITS = {
    "gfx9": {"loads": r"vmcnt\(0\)", "stores": r"vmcnt\(0\)", "lds": r"lgkmcnt\(0\)"},
    "gfx10": {"loads": r"vmcnt\(0\)", "stores": r"s_waitcnt_vscnt null, 0x0", "lds": r"lgkmcnt\(0\)"},
    "gfx12": {"loads": r"s_wait_loadcnt(_dscnt)? 0x0", "stores": r"s_wait_storecnt(_dscnt)? 0x0", "lds": r"dscnt 0x0"},
}
GENERATION = {"gfx90a": "gfx9", "gfx942": "gfx9", "gfx1030": "gfx10", "gfx1100": "gfx10", "gfx1201": "gfx12"}
#: Operations, by PTX text; whether they acquire and release, and what access they are.
OPERATIONS = {
    "ld.relaxed.{s}.global.u32 %w, [%q]": ("", "load"),
    "ld.acquire.{s}.global.u32 %w, [%q]": ("acquire", "load"),
    "st.relaxed.{s}.global.u32 [%q], %v": ("", "store"),
    "st.release.{s}.global.u32 [%q], %v": ("release", "store"),
    "atom.relaxed.{s}.global.add.u32 %w, [%q], %v": ("", "atomic"),
    "atom.acquire.{s}.global.add.u32 %w, [%q], %v": ("acquire", "atomic"),
    "atom.release.{s}.global.exch.b32 %w, [%q], %v": ("release", "atomic"),
    "atom.acq_rel.{s}.global.cas.b32 %w, [%q], %v, %x": ("acquire release", "atomic"),
    "red.release.{s}.global.add.u32 [%q], %v": ("release", "atomic"),
    "fence.acq_rel.{s}": ("acquire release", "fence"),
    "fence.sc.{s}": ("acquire release", "fence"),
    "membar.{m}": ("acquire release", "fence"),
}
MEMBAR = {"cta": "cta", "gpu": "gl", "sys": "sys"}
#: Before the operation a store and an LDS store; after it a load, a store and an LDS load.
KERNEL = """.version 8.6
.target sm_90
.address_size 64
.extern .shared .align 8 .b8 area[];
.visible .entry k(.param .u64 p, .param .u32 s) {
  .reg .b64 %p, %q; .reg .b32 %v, %w, %x, %s, %a; .reg .pred %c;
  ld.param.u64 %p, [p]; ld.param.u32 %s, [s]; mov.u32 %a, area; add.u32 %s, %s, %a;
  mov.u32 %v, %tid.x; mov.u32 %w, 1; mov.u32 %x, 2; mad.wide.u32 %q, %v, 128, %p;
  st.weak.global.u32 [%q+16], %v; st.weak.shared.u32 [%s], %v;
  OPERATION;
  ld.weak.global.u32 %x, [%q+96]; add.u32 %w, %w, %x; ld.weak.shared.u32 %x, [%s+64]; add.u32 %w, %w, %x;
  st.weak.global.u32 [%q+64], %w; ret;
}
"""
_MEMORY = re.compile(r"(global|flat|ds|buffer)_\w+|s_wait\w+|s_barrier\w*")


def text(operation: str, scope: str) -> str:
    return operation.replace("{s}", scope).replace("{m}", MEMBAR[scope])


@cache
def instructions(statement: str, chip: str) -> tuple[list[str], int]:
    """The instructions on memory and the waits around a statement, and the place of its access, -1 for a fence."""
    [result] = translate(KERNEL.replace("OPERATION", statement), "model.ptx", [chip], emit="asm")
    lines = [" ".join(re.split(r";|//", line)[0].split()) for line in (result.code or b"").decode().split("\n")]
    lines = [line for line in lines if _MEMORY.match(line)]
    first = next(i for i, line in enumerate(lines) if "offset:16" in line)
    last = next(i for i, line in enumerate(lines) if "offset:96" in line)
    around = lines[first : last + 1]
    own = [i for i, line in enumerate(around[1:-1], 1) if line.startswith("global_") and not _other(line)]
    return around, own[0] if own else -1


def _other(line: str) -> bool:
    return line.startswith(("global_inv", "global_wb"))
