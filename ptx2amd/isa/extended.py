"""Extended-precision integer arithmetic: the instructions that read or write the carry flag CC.CF
(PTX manual 9.7.2). After sub.cc and subc.cc the flag is 1 when there was no borrow, as in hardware."""

from __future__ import annotations

from ptx2amd.isa.effects import READS_CARRY, SOURCES, WRITES_CARRY
from ptx2amd.isa.form import family

WORDS = "u32|s32|u64|s64"
TWO, THREE = "d:t, a:t, b:t", "d:t, a:t, b:t, c:t"
BOTH = READS_CARRY | WRITES_CARRY

row = family("9.7.2", "add addc sub subc mad madc", result=SOURCES)

FORMS = [
    row(f"add.cc.{{t:{WORDS}}}", TWO, "add_carry", since=(1, 2), does=WRITES_CARRY),
    row(f"addc.{{t:{WORDS}}}", TWO, "add_carry", since=(1, 2), does=READS_CARRY),
    row(f"addc.cc.{{t:{WORDS}}}", TWO, "add_carry", since=(1, 2), does=BOTH),
    row(f"sub.cc.{{t:{WORDS}}}", TWO, "sub_carry", since=(1, 2), does=WRITES_CARRY),
    row(f"subc.{{t:{WORDS}}}", TWO, "sub_carry", since=(3, 0), does=READS_CARRY),
    row(f"subc.cc.{{t:{WORDS}}}", TWO, "sub_carry", since=(3, 0), does=BOTH),
    row(
        f"mad.{{part:lo|hi}}.cc.{{t:{WORDS}}}", THREE, "mad_carry", "exact", (3, 0), 20, does=WRITES_CARRY, name_words=1
    ),
    row(f"madc.{{part:lo|hi}}.{{t:{WORDS}}}", THREE, "mad_carry", "exact", (3, 0), 20, does=READS_CARRY, name_words=1),
    row(f"madc.{{part:lo|hi}}.cc.{{t:{WORDS}}}", THREE, "mad_carry", "exact", (3, 0), 20, does=BOTH, name_words=1),
]
