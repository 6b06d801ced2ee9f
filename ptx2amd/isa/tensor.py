"""Multicast memory (sm_90 and later), which needs a multicast object, and cuMulticastCreate is refused: rows of the
instruction table, all refused."""

from ptx2amd.isa.effects import ANYTHING
from ptx2amd.isa.form import family
from ptx2amd.isa.sections import DATA

row = family(*DATA, does=ANYTHING, name_words=1)

MULTICAST = "refused: multicast memory (multimem), of which the driver makes none"

NARROW = "u32|s32|u64|b32|f16|f16x2|bf16|bf16x2|f32|f64"


MAPPED = [
    row(
        f"multimem.ld_reduce.[sem:weak|relaxed|acquire].[scope:cta|cluster|gpu|sys].[space:global]"
        f".{{op:min|max|add|and|or|xor}}.[acc:acc::f32|acc::f16].[vec:v2|v4|v8].{{t:{NARROW}|s64|b64|e5m2|e4m3}}",
        "{d}:t, [a]",
        "",
        MULTICAST,
        (8, 1),
        90,
    ),
    row(
        f"multimem.st.[sem:weak|relaxed|release].[scope:cta|cluster|gpu|sys].[space:global].[vec:v2|v4|v8]"
        f".{{t:{NARROW}|s64|b64}}",
        "[a], {b}:t",
        "",
        MULTICAST,
        (8, 1),
        90,
    ),
    row(
        f"multimem.red.[sem:relaxed|release].[scope:cta|cluster|gpu|sys].[space:global].{{op:min|max|add|and|or|xor}}"
        f".[vec:v2|v4|v8].{{t:{NARROW}|s64|b64}}",
        "[a], {b}:t",
        "",
        MULTICAST,
        (8, 1),
        90,
    ),
]
COPIES = [
    row(
        "multimem.{op:cp.async.bulk|cp.reduce.async.bulk}.*",
        "*",
        "",
        MULTICAST,
        (9, 1),
        90,
    ),
]

FORMS = [*MAPPED, *COPIES]
