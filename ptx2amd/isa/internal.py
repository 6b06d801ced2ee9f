"""Internal instructions, which have no PTX text: passes insert them into a body (middle/transforms/inserted.py). Rows
like those of the instruction table, but not in it."""

from ptx2amd.isa.effects import EXCHANGES, LANE, NOTHING
from ptx2amd.isa.form import family

row = family("none", "")

ANCHOR = row("", "", "anchor", does=NOTHING)  # lanes that come here by different ways go on together
HIDDEN = row("mov.{t:u32}", "d:t, a:t", "hidden", does=NOTHING)  # LLVM does not look through it
# Lanes wait for those of their warp (`wave`: of their wave) that are elsewhere in the loops around the label.
WAIT = row("", "a:u32, b:label", "wait", does=EXCHANGES)
SPIN_ROUND = row("", "d:u32, a:u32", "spin_round", does=NOTHING)
SPIN_PATIENT = row("", "p:pred, a:u32, b:u32", "spin_patient", does=NOTHING, result=LANE)
