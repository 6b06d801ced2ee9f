"""Loads, stores, prefetches, and addresses (cvta, isspacep, mapa): rows of the instruction table."""

from ptx2amd.isa.effects import ADDRESS_64, NOTHING, READS, SOURCES, WIDER, WRITES
from ptx2amd.isa.form import Form, RowMaker, family
from ptx2amd.isa.sections import DATA

load = family(*DATA, does=READS, result=SOURCES, takes=WIDER | ADDRESS_64)
store = family(*DATA, does=WRITES, takes=WIDER | ADDRESS_64)
hint = family(*DATA, does=READS)
address = family(*DATA, does=NOTHING)

BYTES = "b8|u8|s8"
HALVES = "b16|u16|s16"
WORDS = "b32|u32|s32|f32"
DOUBLES = "b64|u64|s64|f64"
SMALL = f"{BYTES}|{HALVES}|{WORDS}"

# (modifier, element types, first sm, first PTX version): 128 bits in one access, 256 from sm_100 on
SCALAR = (("", f"{SMALL}|{DOUBLES}", 0, (1, 0)), ("", "b128", 70, (8, 3)))
STRONG = (SCALAR[0], ("", "b128", 70, (8, 4)))  # in system scope
WIDTHS = (*SCALAR, (".{vec:v2}", f"{SMALL}|{DOUBLES}", 0, (1, 0)), (".{vec:v4}", SMALL, 0, (1, 0)))
WIDTHS_256 = ((".{vec:v8}", WORDS, 100, (8, 8)), (".{vec:v4}", DOUBLES, 100, (8, 8)))

SHARED = "shared|shared::cta|shared::cluster"
L1 = "L1::evict_normal|L1::evict_unchanged|L1::evict_first|L1::evict_last|L1::no_allocate"
POLICY = ".[policy:L2::cache_hint]"
L2 = ".[hint:L2::evict_normal|L2::evict_first|L2::evict_last]"
SIZE = ".[prefetch:L2::64B|L2::128B|L2::256B]"
SCOPES = (("cta|gpu|sys", 70, (6, 0)), ("cluster", 90, (7, 8)))


def _access(
    row: RowMaker,
    before: str,
    after: str,
    operands: str,
    lower: str,
    sm: int = 0,
    since: tuple[int, int] = (1, 0),
    **more: object,
) -> list[Form]:
    """One access that may have a cache policy operand, in all widths."""
    operands += ", c:u64?policy"
    return [
        row(
            f"{before}{POLICY}{wide}{after}{vec}.{{t:{types}}}",
            operands if vec else _single(operands),
            lower,
            since=max(since, version),
            sm=max(sm, needs),
            **more,
        )
        for widths, wide in ((WIDTHS, ""), (WIDTHS_256, L2))
        for vec, types, needs, version in widths
    ]


def _plain(
    row: RowMaker,
    syntax: str,
    operands: str,
    lower: str,
    sm: int = 0,
    since: tuple[int, int] = (1, 0),
    widths: tuple[tuple[str, str, int, tuple[int, int]], ...] = WIDTHS,
    **more: object,
) -> list[Form]:
    """One access in the widths every space has."""
    return [
        row(
            f"{syntax}{vec}.{{t:{types}}}",
            operands if vec else _single(operands),
            lower,
            since=max(since, version),
            sm=max(sm, needs),
            **more,
        )
        for vec, types, needs, version in widths
    ]


def _single(operands: str) -> str:
    """Of one element: a scalar, or a list of one as Triton writes it."""
    return operands.replace("{d}", "{d*1}").replace("{b}", "{b*1}")


LD, ST = "{d}:t, [a]", "[a], {b}:t"

LOADS = [
    *_access(load, f"ld.[sem:weak].[space:global].[cop:ca|cg|cs|lu|cv|{L1}]", SIZE, LD, "ld"),
    *_plain(load, f"ld.[sem:weak].{{space:const|local|{SHARED}}}.[cop:ca|cg|cs|lu|cv]", LD, "ld"),
    *_plain(load, "ld.[sem:weak].{space:param|param::entry|param::func}.[cop:ca|cg|cs|lu|cv]", LD, "ld"),
    *_access(load, f"ld.{{space:global}}.[cop:ca|cg|cs|{L1}].{{nc:nc}}", SIZE, LD, "ld", 32, (3, 1), see="9.7.10.9"),
    *_plain(load, f"ld.{{sem:volatile}}.[space:global]{SIZE}", LD, "ld"),
    *_plain(load, f"ld.{{sem:volatile}}.[space:global]{SIZE}{L2}", LD, "ld", widths=WIDTHS_256),
    *_plain(load, f"ld.{{sem:volatile}}.{{space:{SHARED}}}", LD, "ld"),
    *_plain(load, "ld.{sem:volatile}.{space:local}", LD, "ld", since=(9, 1)),
    *(
        form
        for scope, sm, since in SCOPES
        for form in (
            *_access(
                load,
                f"ld.{{sem:relaxed|acquire}}.{{scope:{scope}}}.[space:global].[cop:{L1}]",
                SIZE,
                LD,
                "ld",
                sm,
                since,
            ),
            *_plain(load, f"ld.{{sem:relaxed|acquire}}.{{scope:{scope}}}.{{space:{SHARED}}}", LD, "ld", sm, since),
        )
    ),
    *_plain(load, "ld.{sem:mmio}.relaxed.{scope:sys}.[space:global]", LD, "ld", 70, (8, 2), STRONG),
    *_plain(load, "ld.{mmio:mmio}.{sem:acquire}.{scope:sys}.[space:global]", LD, "ld", 70, (9, 3), SCALAR),
    *_plain(load, "ldu.[space:global]", LD, "ld", 0, (2, 0)),
]

STORES = [
    *_access(store, f"st.[sem:weak].[space:global].[cop:wb|cg|cs|wt|{L1}]", "", ST, "st"),
    *_plain(store, f"st.[sem:weak].{{space:local|param|param::func|{SHARED}}}.[cop:wb|cg|cs|wt]", ST, "st"),
    *_plain(store, f"st.{{sem:volatile}}.[space:global|{SHARED}]", ST, "st"),
    *_plain(store, f"st.{{sem:volatile}}.[space:global]{L2}", ST, "st", widths=WIDTHS_256),
    *_plain(store, "st.{sem:volatile}.{space:local}", ST, "st", since=(9, 1)),
    *(
        form
        for scope, sm, since in SCOPES
        for form in (
            *_access(
                store,
                f"st.{{sem:relaxed|release}}.{{scope:{scope}}}.[space:global].[cop:{L1}]",
                "",
                ST,
                "st",
                sm,
                since,
            ),
            *_plain(store, f"st.{{sem:relaxed|release}}.{{scope:{scope}}}.{{space:{SHARED}}}", ST, "st", sm, since),
        )
    ),
    *_plain(store, "st.{sem:mmio}.relaxed.{scope:sys}.[space:global]", ST, "st", 70, (8, 2), STRONG),
    *_plain(store, "st.{mmio:mmio}.{sem:release}.{scope:sys}.[space:global]", ST, "st", 70, (9, 3), SCALAR),
]

POLICIES = "L2::evict_last|L2::evict_normal|L2::evict_first|L2::evict_unchanged"
SECOND = ".[second:L2::evict_first|L2::evict_unchanged]"

HINTS = [
    hint("prefetch.[space:global|local].{level:L1|L2}", "[a]", "nothing", "hint", (2, 0), 20),
    hint(
        "prefetch.{space:global}.{level:L2::evict_last|L2::evict_normal}",
        "[a]",
        "nothing",
        "hint",
        (7, 4),
        80,
    ),
    hint("prefetch.{level:L2::evict_last|L2::evict_normal}", "[a]", "nothing", "hint", (7, 4), 80),
    hint("prefetch.[space:const|param].tensormap", "[a]", "nothing", "hint", (8, 0), 90),
    hint("prefetchu.L1", "[a]", "nothing", "hint", (2, 0), 20),
    hint("applypriority.[space:global].L2::evict_normal", "[a], n:imm", "nothing", "hint", (7, 4), 80),
    hint("discard.[space:global].L2", "[a], n:imm", "nothing", "hint", (7, 4), 80, does=WRITES),
    hint(
        f"createpolicy.fractional.{{first:{POLICIES}}}{SECOND}.b64",
        "d:b64, a:f32?",
        "policy",
        "hint",
        (7, 4),
        80,
        does=NOTHING,
        name_words=1,
    ),
    hint(
        f"createpolicy.range.[space:global].{{first:{POLICIES}}}{SECOND}.b64",
        "d:b64, [a], b:u32, c:u32",
        "policy",
        "hint",
        (7, 4),
        80,
        does=NOTHING,
        name_words=1,
    ),
    hint("createpolicy.cvt.L2.b64", "d:b64, a:b64", "policy", "hint", (7, 4), 80, does=NOTHING, name_words=3),
]

WINDOWS = f"local|{SHARED}"
FLAT = "global|const|param|param::entry"  # their addresses are generic addresses

ADDRESSES = [
    address(
        f"cvta.{{space:{FLAT}}}.{{t:u64}}", "d:t, a:t+sym", "cvta_flat", "exact", (2, 0), 20, computes="to_generic"
    ),
    address(
        f"cvta.{{space:{WINDOWS}}}.{{t:u64}}", "d:t, a:t+sym", "cvta_window", "exact", (2, 0), 20, computes="to_generic"
    ),
    address(
        f"cvta.to.{{space:{FLAT}}}.{{t:u64}}",
        "d:t, a:t",
        "cvta_flat",
        "exact",
        (2, 0),
        20,
        computes="from_generic",
        name_words=1,
    ),
    address(
        f"cvta.to.{{space:{WINDOWS}}}.{{t:u64}}",
        "d:t, a:t",
        "cvta_to_window",
        "exact",
        (2, 0),
        20,
        computes="from_generic",
        name_words=1,
    ),
    address(f"isspacep.{{space:global|{WINDOWS}}}", "p:pred, a:u64", "isspacep", since=(2, 0), sm=20),
    address(
        "isspacep.{space:const|param|param::entry}",
        "p:pred, a:b64",
        "isspacep_flat",
        "exact",
        (3, 1),
        20,
    ),
    address("mapa.{t:u32|u64}", "d:t, a:t+sym, b:u32", "mapa", "exact", (7, 8), 90),
    address("mapa.shared::cluster.{t:u32|u64}", "d:t, a:t+sym, b:u32", "mapa", "exact", (7, 8), 90),
    address("getctarank.{t:u32|u64}", "d:u32, a:t+sym", "getctarank", "exact", (7, 8), 90),
    address("getctarank.shared::cluster.{t:u32|u64}", "d:u32, a:t+sym", "getctarank", "exact", (7, 8), 90),
]

FORMS = [*LOADS, *STORES, *HINTS, *ADDRESSES]
