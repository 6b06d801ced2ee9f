"""Control flow, calls, and what little there is beside them (PTX manual: Control Flow, Miscellaneous)."""

from ptx2amd.isa.effects import (
    BRANCHES,
    CALLS,
    EXITS,
    LANE,
    NOTHING,
    READS,
    RETURNS,
    SWITCHES,
    TRAPS,
    WARP_BARRIER,
    WRITES,
)
from ptx2amd.isa.form import family

flow = family("9.7.14", "- - bra brx.idx call ret exit")
stack = family("9.7.19", "stacksave stackrestore alloca", does=READS | WRITES, memory="local", result=LANE)
row = family("9.7.21", "brkpt nanosleep pmevent trap setmaxnreg", does=NOTHING)

FORMS = [
    flow("bra.[uni:uni]", "a:label", "bra", does=BRANCHES),
    flow("brx.idx.[uni:uni]", "a:u32, b:targets", "brx_idx", since=(6, 0), sm=30, does=SWITCHES, name_words=1),
    flow("ret.[uni:uni]", "", "ret", does=RETURNS),
    flow("exit", "", "exit", does=EXITS),
    row("trap", "", "trap", does=TRAPS),
    row("brkpt", "", "brkpt", exact="hint"),
    flow("call.[uni:uni]", "(d)?, f:any, (a)?, b:proto?", "call", since=(2, 0), does=CALLS),
    row("nanosleep.u32", "a:u32", "nanosleep", "approx: the duration, within PTX's [0, 2a]", (6, 2), 70),
    row("pmevent", "a:imm", "", exact="hint"),
    row("pmevent.mask", "a:imm", "", exact="hint", since=(3, 0), sm=20, name_words=1),
    row("setmaxnreg.{op:inc|dec}.sync.aligned.u32", "a:imm", "", "hint", (8, 0), 90, does=WARP_BARRIER, name_words=1),
    stack("stacksave.{t:u32|u64}", "d:t", "stacksave", since=(7, 3), sm=52),
    stack("stackrestore.{t:u32|u64}", "a:t", "stackrestore", since=(7, 3), sm=52),
    stack("alloca.{t:u32|u64}", "d:t, a:t, b:imm?", "alloca", since=(7, 3), sm=52),
]
