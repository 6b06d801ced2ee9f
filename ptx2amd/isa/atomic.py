"""Atomic operations and reductions on memory: rows of the instruction table."""

from ptx2amd.isa.effects import ADDRESS_64, ATOM, LANE
from ptx2amd.isa.form import Form, family
from ptx2amd.isa.sections import SYNCHRONIZATION

row = family(*SYNCHRONIZATION, does=ATOM, result=LANE, takes=ADDRESS_64)

SCOPE = ".[scope:cta|cluster|gpu|sys]"
GENERIC = ".[space:global]"
SHARED = ".{space:shared|shared::cta|shared::cluster}"

# (operation and type, first sm, first PTX version) of the scalar forms that atom and red share
OPERATIONS = (
    (".{op:add}.{t:u32|s32|u64}", 20, (2, 0)),
    (".{op:add}.{t:f32}", 20, (2, 0)),
    (".{op:add}.{t:f64}", 60, (5, 0)),
    (".{op:add}.noftz.{t:f16x2}", 60, (6, 2)),
    (".{op:add}.noftz.{t:f16}", 70, (6, 3)),
    (".{op:add}.noftz.{t:bf16|bf16x2}", 90, (7, 8)),
    (".{op:min|max}.{t:u32|s32|u64|s64}", 20, (2, 0)),
    (".{op:inc|dec}.{t:u32}", 20, (2, 0)),
    (".{op:and|or|xor}.{t:b32|b64}", 20, (2, 0)),
)
EXCHANGES = ((".{op:exch}.{t:b32|b64}", 20, (2, 0)), (".{op:exch}.{t:b128}", 90, (8, 3)))
# vectors, in global memory only
VECTORS = (
    (".{vec:v2|v4}.{op:add}.{t:f32}", 90, (8, 1)),
    (".{vec:v2|v4|v8}.{op:add|min|max}.noftz.{t:f16|bf16}", 90, (8, 1)),
    (".{vec:v2|v4}.{op:add|min|max}.noftz.{t:f16x2|bf16x2}", 90, (8, 1)),
)
SUBNORMAL = "approx: subnormal numbers in global memory are kept or flushed to zero as the chip does"


def _forms(
    mnemonic: str,
    sems: str,
    destination: str,
    shapes: tuple[tuple[str, int, tuple[int, int]], ...],
    operand: str,
    local: bool = True,
) -> list[Form]:
    """The rows of atom or red; `local`: shared memory has the operations too."""
    head = f"{mnemonic}.[sem:{sems}]{SCOPE}"
    operands = f"{destination}[a], {operand}:t"
    forms = []
    more = {"discards": "d"} if destination else {}
    for what, sm, since in shapes:
        hinted = f"{head}{GENERIC}{what}.[policy:L2::cache_hint]"
        exact = SUBNORMAL if "{op:add}.{t:f32}" in what else "exact"
        forms.append(row(hinted, f"{operands}, c:u64?policy", "atom", exact, since, sm, **more))
        if local:
            forms.append(row(f"{head}{SHARED}{what}", operands, "atom", since=since, sm=sm, **more))
    return forms


ORDERS = "relaxed|acquire|release|acq_rel"
_CAS = f"atom.[sem:{ORDERS}]{SCOPE}.[space:global|shared|shared::cta|shared::cluster].{{op:cas}}"

FORMS = [
    *_forms("atom", ORDERS, "d:t, ", (*OPERATIONS, *EXCHANGES), "b"),
    *_forms("atom", ORDERS, "{d}:t, ", VECTORS, "{b}", local=False),
    row(f"{_CAS}.{{t:b32|b64}}", "d:t, [a], b:t, c:t", "atom_cas", since=(2, 0), sm=20, discards="d"),
    row(f"{_CAS}.{{t:b16}}", "d:t, [a], b:t, c:t", "atom_cas", since=(6, 3), sm=70, discards="d"),
    row(f"{_CAS}.{{t:b128}}", "d:t, [a], b:t, c:t", "atom_cas", since=(8, 3), sm=90, discards="d"),
    *_forms("red", "relaxed|release", "", OPERATIONS, "b"),
    *_forms("red", "relaxed|release", "", VECTORS, "{b}", local=False),
]
