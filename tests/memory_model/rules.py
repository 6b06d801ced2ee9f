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
#: Of each operation: what PTX requires, LLVM's instruction (of the scope's syncscope), and why that is enough.
_FRESH = "The bits pass the caches that threads of the scope do not share: one that reads again gets no older value."
_DONE = "What precedes it is written back and waited for: it is where all threads of the scope look."
_DROPPED = (
    "Nothing behind it starts before its result is there, and the caches that could hold older values are dropped."
)
_BOTH = ("a release, and an acquire", "Both: what precedes it is complete, what follows it starts anew.")
MEANINGS = {
    "ld.relaxed": ("a value no older than one that the thread has seen", "`load atomic monotonic`", _FRESH),
    "ld.acquire": (
        "behind the load of a released value, all that precedes the release is seen",
        "`load atomic monotonic`, `fence acquire`", _DROPPED,
    ),
    "st.relaxed": (
        "all threads see the stores to a location in one order", "`store atomic monotonic`",
        "Stores to a location meet in one L2, or in memory, in an order of their own.",
    ),
    "st.release": (
        "who acquires its value sees what precedes it", "`fence release`, `store atomic monotonic`", _DONE,
    ),
    "atom.relaxed": (
        "read and written in one step", "`atomicrmw monotonic`",
        "Atomics happen where the scope's threads meet: in L2, or in memory.",
    ),
    "atom.acquire": ("as `ld.acquire`, by an atomic", "`atomicrmw monotonic`, `fence acquire`", _DROPPED),
    "atom.release": ("as `st.release`, by an atomic", "`fence release`, `atomicrmw monotonic`", _DONE),
    "atom.acq_rel": (
        _BOTH[0], "`fence release`, `cmpxchg monotonic monotonic`, `fence acquire`", _BOTH[1],
    ),
    "red.release": ("as `atom.release`, without a result", "`fence release`, `atomicrmw monotonic`", _DONE),
    "fence.acq_rel": (_BOTH[0] + ", with the accesses around it", "`fence acq_rel`", _BOTH[1]),
    "fence.sc": (
        "a place in one order of all such fences of the scope", "`fence seq_cst`",
        "No access behind it starts before those in front of it are complete for the scope.",
    ),
    "membar": ("as `fence.sc`", "`fence seq_cst`", "As for `fence.sc`."),
}  # fmt: skip
#: Where threads of a scope meet, and so why its instructions suffice.
CACHES = {
    "gfx90a": (
        "the L1 of the compute unit, on which all waves of a block run: waits are enough", "L2: stores pass L1",
        "memory: L2 holds lines of the host's coarse-grained memory, which are written back and dropped",
    ),
    "gfx942": (
        "as on gfx90a", "memory: each die has an L2, which is written back and dropped", "as for `.gpu`",
    ),
    "gfx1030": (
        "the L1 of the shader array: the waves of a block may run on two compute units, each with an L0",
        "L2: stores pass L0 and L1, loads pass or drop them", "L2, which is coherent with the host",
    ),
    "gfx1100": ("as on gfx1030", "as on gfx1030", "as on gfx1030"),
    "gfx1201": (
        "as on gfx1030, by SCOPE_SE", "L2, by SCOPE_DEV",
        "memory: L2 holds lines of the host's coarse-grained memory; global_wb and global_inv act on them",
    ),
}  # fmt: skip
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
