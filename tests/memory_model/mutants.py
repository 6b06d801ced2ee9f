"""Bugs seeded into the machine code of the litmus tests: waits, write-backs and invalidations that are gone, scopes
that are too narrow. Each has to show as an outcome that PTX forbids, as a test that does not end and must, or as a
report of a register that was not waited for."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tests.memory_model import campaign, dat3m, results, with_host

_PADDED = {"gfx90a": "padded", "gfx942": "padded"}
#: Behind a wait: the access that a release is for.
_STORE = r"(?=\s*global_(?:store|atomic))"


@dataclass(frozen=True, slots=True)
class Mutant:
    """What happens to the code for a chip: every place of the pattern becomes the text. host: it shows to the host, in
    with_host.py. survives: why it is not caught, where it is not."""

    chip: str
    name: str
    pattern: str
    text: str = ""
    survives: str = ""
    host: bool = False


def _waits(chip: str) -> list[Mutant]:
    """GFX9 to GFX11."""
    rows = [
        Mutant(chip, "no s_waitcnt", r"^\s*s_waitcnt [^_].*\n"),
        Mutant(chip, "no vmcnt", r"vmcnt\(\d+\)( lgkmcnt\(\d+\))?", r"expcnt(7)\1"),
        Mutant(chip, "no lgkmcnt", r"s_waitcnt( vmcnt\(\d+\))? lgkmcnt\(\d+\)", r"s_waitcnt\1 expcnt(7)"),
        Mutant(chip, "one load too many in flight", r"vmcnt\(0\)", "vmcnt(1)"),
    ]
    if chip.startswith("gfx9"):
        rows.append(Mutant(chip, "no vmcnt before a store or atomic", r"^\s*s_waitcnt vmcnt\(0\).*\n" + _STORE))
    else:
        rows.append(Mutant(chip, "no vscnt", r"^\s*s_waitcnt_vscnt .*\n"))
        rows.append(Mutant(chip, "one store too many in flight", r"vscnt null, 0x0", "vscnt null, 0x1"))
    return rows


def _gfx12_waits() -> list[Mutant]:
    chip = "gfx1201"
    return [
        *[Mutant(chip, f"no {c}", rf"^\s*s_wait_{c} .*\n") for c in ("loadcnt", "kmcnt", "storecnt", "dscnt")],
        Mutant(chip, "one load too many in flight", r"s_wait_loadcnt 0x0", "s_wait_loadcnt 0x1"),
        Mutant(chip, "one store too many in flight", r"s_wait_storecnt 0x0", "s_wait_storecnt 0x1"),
    ]


def _caches() -> list[Mutant]:
    return [
        Mutant("gfx90a", "no buffer_wbinvl1_vol", r"^\s*buffer_wbinvl1_vol.*\n"),
        Mutant("gfx90a", "no glc on loads", r"(global_load_\w+ .*) glc", r"\1"),
        Mutant("gfx90a", "no buffer_wbl2", r"^\s*buffer_wbl2.*\n", host=True),
        Mutant("gfx90a", "no buffer_invl2", r"^\s*buffer_invl2.*\n", host=True),
        Mutant("gfx942", "no buffer_wbl2", r"^\s*buffer_wbl2.*\n"),
        Mutant("gfx942", "no wait behind buffer_wbl2", r"(buffer_wbl2.*\n)\s*s_waitcnt vmcnt\(0\).*\n", r"\1"),
        Mutant("gfx942", "buffer_wbl2 for a workgroup", r"buffer_wbl2 (sc0 )?sc1", "buffer_wbl2 sc0"),
        Mutant("gfx942", "no buffer_inv", r"^\s*buffer_inv.*\n"),
        Mutant("gfx942", "buffer_inv for a workgroup", r"buffer_inv (sc0 )?sc1", "buffer_inv sc0"),
        Mutant("gfx942", "buffer_inv for a wave", r"buffer_inv (sc0 )?sc1", "buffer_inv"),
        Mutant("gfx942", "loads for a workgroup", r"(global_load_\w+ .*) sc1", r"\1"),
        Mutant("gfx942", "stores for a workgroup", r"(global_store_\w+ .*) sc1", r"\1"),
        *[row for chip in ("gfx1030", "gfx1100") for row in (
            Mutant(chip, "no buffer_gl0_inv", r"^\s*buffer_gl0_inv.*\n"),
            Mutant(chip, "no buffer_gl1_inv", r"^\s*buffer_gl1_inv.*\n"),
            Mutant(chip, "no invalidations", r"^\s*buffer_gl[01]_inv.*\n"),
            Mutant(chip, "no glc on loads", r"(global_load_\w+ .*) glc", r"\1"),
        )],
        Mutant("gfx1030", "no dlc on loads", r"(global_load_\w+ .*) dlc", r"\1"),
        Mutant("gfx1201", "no global_inv", r"^\s*global_inv.*\n"),
        Mutant("gfx1201", "global_inv for a workgroup", r"global_inv scope:SCOPE_\w+", "global_inv scope:SCOPE_SE"),
        Mutant("gfx1201", "global_inv for a CU", r"global_inv scope:SCOPE_\w+", "global_inv"),
        Mutant("gfx1201", "loads for a workgroup", r"(global_load_\w+ .*) scope:SCOPE_(DEV|SYS)", r"\1 scope:SCOPE_SE"),
        Mutant("gfx1201", "loads for a CU", r"(global_load_\w+ .*) scope:SCOPE_\w+", r"\1"),
        Mutant("gfx1201", "stores for a CU", r"(global_store_\w+ .*) scope:SCOPE_\w+", r"\1",
               survives="L0 is written through: a store is in L2 when its counter says so, whatever its scope"),
        Mutant("gfx1201", "no global_wb", r"^\s*global_wb.*\n", host=True),
    ]  # fmt: skip


MUTANTS = [
    *[row for chip in ("gfx90a", "gfx942", "gfx1030", "gfx1100") for row in _waits(chip)], *_gfx12_waits(), *_caches(),
]  # fmt: skip


def _loops(case: dat3m.Case) -> bool:
    return any(text.startswith("goto") for thread in case.test.threads for text in thread.code)


def _made(work: campaign.Work) -> campaign.Work | None:
    """With its code; None where the bug has no place in it."""
    try:
        return replace(work, code=campaign.code_for(work))
    except campaign.NoPlace:
        return None


def caught(mutant: Mutant, seed: int) -> str:
    """What shows the bug: a report, or the tests with a forbidden outcome or without an end; "" where nothing does."""
    if mutant.host:
        code = with_host.code_for(mutant.chip, mutant.pattern, mutant.text)
        return "with the host" if any(with_host.stale(mutant.chip, "coarse", code, seed)) else ""
    cases = [case for case in dat3m.cases()[0] if case.allowed is False and not _loops(case)]
    ending = [case for case in dat3m.cases()[0] if case.ends]
    brief = [(cases[:2], 1, 1)] if "cnt" in mutant.pattern and "wbl2" not in mutant.pattern else []
    for some, blocks, launches in (*brief, (cases, 12, 4), (ending, 1, 4)):  # what no wait covers shows at once
        work = _made(campaign.Work(mutant.chip, _PADDED.get(mutant.chip, ""), tuple(case.test for case in some), blocks,
                                   launches, (mutant.pattern, mutant.text)))  # fmt: skip
        if not work:
            continue
        outcomes, report = campaign.run(work, seed)
        if "ptx2amd weak: register" in report:
            return next(line for line in report.splitlines() if line.startswith("ptx2amd weak: register"))
        if wrong := [c.test.name for c, o in zip(some, outcomes, strict=True) if results.forbidden(c, o)]:
            return ", ".join(wrong)
    return ""
