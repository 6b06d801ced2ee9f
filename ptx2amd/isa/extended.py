"""Extended-precision integer arithmetic: the instructions that read or write the carry flag CC.CF
(PTX manual 9.7.2). After sub.cc and subc.cc the flag is 1 when there was no borrow, as in hardware."""

from __future__ import annotations

from ptx2amd.isa.form import Form

WORDS = "u32|s32|u64|s64"

FORMS = [
    Form(f"add.cc.{{t:{WORDS}}}", "d:t, a:t, b:t", "add_carry", since=(1, 2)),
    Form(f"addc.[cc:cc].{{t:{WORDS}}}", "d:t, a:t, b:t", "add_carry", since=(1, 2)),
    Form(f"sub.cc.{{t:{WORDS}}}", "d:t, a:t, b:t", "sub_carry", since=(1, 2)),
    Form(f"subc.[cc:cc].{{t:{WORDS}}}", "d:t, a:t, b:t", "sub_carry", since=(3, 0)),
    Form(f"mad.{{part:lo|hi}}.cc.{{t:{WORDS}}}", "d:t, a:t, b:t, c:t", "mad_carry", since=(3, 0), sm=20),
    Form(f"madc.{{part:lo|hi}}.[cc:cc].{{t:{WORDS}}}", "d:t, a:t, b:t, c:t", "mad_carry", since=(3, 0), sm=20),
]
