"""Matrix products of a warp group (wgmma, sm_90a): rows of the instruction table. Sources are 16-bit, tf32, 8-bit or
1-bit elements, 32 bytes deep (sparse A: B is 64 bytes deep); B and, unless it is in registers, A lie in shared memory,
where a descriptor says how."""

from ptx2amd.isa.effects import GROUP_BARRIER, LANE, READS, WARP, WARP_BARRIER, WHOLE
from ptx2amd.isa.form import Form, family
from ptx2amd.isa.matrix import SUM

row = family("9.7.17.5", "", does=WARP | READS, memory="shared", result=LANE, takes=WHOLE, software="product")
order = family("9.7.17.7", "", does=GROUP_BARRIER | WARP_BARRIER, name_words=1)

EIGHTHS = "e4m3|e5m2"
BYTES = "u8|s8"
COLUMNS = range(8, 257, 8)
INTEGER_COLUMNS = (8, 24, *range(16, 257, 16))

# (depth, depth of a sparse product or 0, types of a and b, types of d, columns, tail of the opcode, what follows
# the choice to add to d: signs of a and b (x, y), major dimension of a and b (z, w))
KINDS = [
    (16, 32, "f16", "f16|f32", COLUMNS, "", "xyzw"),
    (16, 32, "bf16", "f32", COLUMNS, "", "xyzw"),
    (8, 16, "tf32", "f32", COLUMNS, "", "xy"),
    (32, 64, EIGHTHS, "f16|f32", COLUMNS, "", "xy"),
    (32, 64, BYTES, "s32", INTEGER_COLUMNS, "", ""),
    (256, 0, "b1", "s32", INTEGER_COLUMNS, ".{op:and.popc}", ""),
]
REGISTERS = {"f32": ("2", "f32"), "f16": ("4", "b32"), "s32": ("2", "s32")}  # columns a register of d; its type


def _rows() -> list[Form]:
    found = []
    for dense, sparse, types, results, columns, tail, more in KINDS:
        for d in results.split("|"):
            for depth, word in ((dense, ""), (sparse, ".{sparse:sp}")):
                shapes = "|".join(f"m64n{n}k{depth}" for n in sorted(columns))
                sat = ".[sat:satfinite]" if types == BYTES else ""
                syntax = (
                    f"wgmma.mma_async{word}.sync.[aligned:aligned].{{shape:{shapes}}}{sat}.{{dt:{d}}}.{{at:{types}}}.{{bt:{types}}}"
                    + tail
                )
                per, kind = REGISTERS[d]
                for a in ("a:b64", "{a*4}:b32"):
                    options = more.replace("z", "") if a[0] == "{" else more
                    operands = [f"{{u*n/{per}}}:{kind}", a, "b:b64", *(["m:b32", "n:imm"] if word else [])]
                    operands += ["c:pred" if word else "!c:pred", *(f"{name}:imm" for name in options)]
                    exact = "exact" if d == "s32" else SUM
                    since = (8, 2) if word else (8, 0)
                    if depth:
                        see = "9.7.17.6" if word else "9.7.17.5"
                        found.append(row(syntax, ", ".join(operands), "wgmma", exact, since, 90, see=see, name_words=1))
    return found


FORMS = [
    order("wgmma.{op:fence|commit_group}.sync.[aligned:aligned]", "", "wgmma_order", since=(8, 0), sm=90),
    order("wgmma.wait_group.sync.[aligned:aligned]", "n:imm", "wgmma_order", since=(8, 0), sm=90),
    *_rows(),
]
