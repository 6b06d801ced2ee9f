"""Copies of tiles of tensors (TMA) and the tensor maps that describe them: rows of the instruction table."""

from collections.abc import Iterator

from ptx2amd.isa.effects import ATOM, ORDERS, READS, SPACES, WARP_BARRIER, WRITES
from ptx2amd.isa.form import Form, family
from ptx2amd.isa.sections import DATA, SYNCHRONIZATION

copy = family(*DATA, does=READS | WRITES, takes=SPACES)
edit = family(*DATA, does=WRITES, name_words=2)
publish = family(*SYNCHRONIZATION, does=READS | WRITES | ORDERS | WARP_BARRIER)

COMPLETE = "mbarrier::complete_tx::bytes"
HINT = ".[hint:L2::cache_hint]"
POLICY = "h:u64?hint"
MULTICAST = ".[multicast:multicast::cluster]"
PAIR = ".[pair:cta_group::1|cta_group::2]"
REDUCE = ".{op:add|min|max|inc|dec|and|or|xor}"
ROUNDED = "exact: tf32 tensors are rounded to nearest even, as chips were seen to"
SUBNORMAL = "approx: subnormal f32 numbers are kept or flushed to zero as the chip does"
WIDE = "refused: the modes im2col::w and im2col::w::128"
ANY = "1d|2d|3d|4d|5d"


def _modes(four: str, im2col: str, offsets: bool) -> Iterator[tuple[str, str, str, int]]:
    """(dimensions and mode, operand of offsets, PTX version, target): tiles, four rows, convolutions."""
    yield f".{{dim:{ANY}}}%s.[mode:tile]", "", "8.0", 90
    yield f".{{dim:2d}}%s.{{mode:{four}}}", "", "8.6", 100
    for dim, count in (("3d", 1), ("4d", 2), ("5d", 3)):
        yield f".{{dim:{dim}}}%s.{{mode:{im2col}}}", f", {{c*{count}}}:u16" if offsets else "", "8.0", 90


def _rows(
    head: str,
    middle: str,
    end: str,
    operands: str,
    modes: tuple[str, str, bool],
    lower: str,
    exact: str,
    first: str = "8.0",
    **more: object,
) -> list[Form]:
    """Rows of all modes: `{c}` in the operands is where offsets of convolutions stand."""
    return [
        copy(
            head + (mode % middle) + end,
            operands.replace("{c}", offsets),
            lower,
            exact,
            max((int(v[0]), int(v[2])) for v in (since, first)),
            sm,
            **more,
        )
        for mode, offsets, since, sm in _modes(*modes)
    ]


LOAD, STORE = ("tile::gather4", "im2col", True), ("tile::scatter4", "im2col_no_offs", False)
TILE = "cp.async.bulk.tensor"

COPIES = [
    *(
        form
        for space, more, operand, first in (
            ("shared::cluster", MULTICAST, ", g:b16?multicast", "8.0"),
            ("shared::cta", "", "", "8.6"),
        )
        for form in _rows(
            TILE,
            f".{space}.global",
            f".{COMPLETE}{more}{PAIR}{HINT}",
            f"[a], [b,*], [m]{{c}}{operand}, {POLICY}",
            LOAD,
            "tensor_load",
            ROUNDED,
            first,
            memory="shared",
            name_words=3,
        )
    ),
    *_rows(
        TILE,
        ".global.shared::cta",
        f".bulk_group{HINT}",
        f"[a,*], [b]{{c}}, {POLICY}",
        STORE,
        "tensor_store",
        "exact",
        memory="global",
        name_words=3,
    ),
    *_rows(
        "cp.reduce.async.bulk.tensor",
        f".global.shared::cta{REDUCE}",
        f".bulk_group{HINT}",
        f"[a,*], [b]{{c}}, {POLICY}",
        STORE,
        "tensor_reduce",
        SUBNORMAL,
        does=ATOM,
        memory="global",
        name_words=4,
    ),
    *_rows(
        "cp.async.bulk.prefetch.tensor",
        ".L2.global",
        HINT,
        f"[a,*]{{c}}, {POLICY}",
        LOAD,
        "nothing",
        "hint",
        does=READS,
        memory="global",
        name_words=4,
    ),
    *(
        copy(
            f"{head}.{{dim:3d|4d|5d}}{middle}.{{mode:im2col::w|im2col::w::128}}{end}",
            operands,
            "",
            WIDE,
            (8, 6),
            100,
            name_words=words,
        )
        for words, head, middle, end, operands in (
            (
                3,
                TILE,
                ".{to:shared::cluster|shared::cta}.global",
                f".{COMPLETE}{MULTICAST}{PAIR}{HINT}",
                f"[a], [b,*], [m], {{c*2}}:b16, g:b16?multicast, {POLICY}",
            ),
            (4, "cp.async.bulk.prefetch.tensor", ".L2.global", HINT, f"[a,*], {{c*2}}:b16, {POLICY}"),
        )
    ),
]

REPLACE = "tensormap.replace.tile"
SPACE = ".[space:global|shared::cta].b1024"

MAPS = [
    edit(f"{REPLACE}.{{field:global_address}}{SPACE}.b64", "[a], b:b64", "tensormap_replace", "exact", (8, 3), 90),
    edit(f"{REPLACE}.{{field:rank}}{SPACE}.b32", "[a], b:b32", "tensormap_replace", "exact", (8, 3), 90),
    edit(
        f"{REPLACE}.{{field:global_stride}}{SPACE}.b64", "[a], n:imm, b:b64", "tensormap_replace", "exact", (8, 3), 90
    ),
    edit(
        f"{REPLACE}.{{field:box_dim|global_dim|element_stride}}{SPACE}.b32",
        "[a], n:imm, b:b32",
        "tensormap_replace",
        "exact",
        (8, 3),
        90,
    ),
    edit(
        f"{REPLACE}.{{field:elemtype|interleave_layout|swizzle_mode|fill_mode|swizzle_atomicity}}{SPACE}.b32",
        "[a], b:imm",
        "tensormap_replace",
        "exact",
        (8, 3),
        90,
    ),
    publish(
        "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.{scope:cta|cluster|gpu|sys}"
        ".sync.aligned",
        "[a], [b], n:imm",
        "tensormap_publish",
        "exact",
        (8, 3),
        90,
        memory="global",
        name_words=5,
    ),
]

FORMS = [*COPIES, *MAPS]
