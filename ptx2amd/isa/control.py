"""Control flow, calls, and what little there is beside them (PTX manual: Control Flow, Miscellaneous)."""

from ptx2amd.isa.form import Form

FORMS = [
    Form("bra.[uni:uni]", "a:label", "bra"),
    Form("brx.idx.[uni:uni]", "a:u32, b:label", "brx_idx", since=(6, 0), sm=30),
    Form("ret.[uni:uni]", "", "ret"),
    Form("exit", "", "exit"),
    Form("trap", "", "trap"),
    Form("brkpt", "", "brkpt", exact="hint"),
    Form("call.[uni:uni]", "(d)?, f:any, (a)?, b:label?", "call", since=(2, 0)),
    Form("nanosleep.u32", "a:u32", "nanosleep", "approx: the duration, within PTX's [0, 2a]", (6, 2), 70),
    Form("pmevent", "a:imm", "", exact="hint"),
    Form("pmevent.mask", "a:imm", "", exact="hint", since=(3, 0), sm=20),
    Form("griddepcontrol.{op:launch_dependents|wait}", "", "", exact="hint", since=(7, 8), sm=90),
    Form("setmaxnreg.{op:inc|dec}.sync.aligned.u32", "a:imm", "", exact="hint", since=(8, 0), sm=90),
    Form("stacksave.{t:u32|u64}", "d:t", "stacksave", since=(7, 3), sm=52),
    Form("stackrestore.{t:u32|u64}", "a:t", "stackrestore", since=(7, 3), sm=52),
    Form("alloca.{t:u32|u64}", "d:t, a:t, b:imm?", "alloca", since=(7, 3), sm=52),
]
