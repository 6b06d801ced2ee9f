"""Operations across the lanes of a warp: rows of the instruction table."""

from ptx2amd.isa.effects import EXCHANGES, MASKED, OF_WARP, SOURCES
from ptx2amd.isa.form import Fields, family
from ptx2amd.isa.sections import SYNCHRONIZATION

row = family(*SYNCHRONIZATION, does=EXCHANGES | MASKED, result=OF_WARP)
old = family(*SYNCHRONIZATION, does=EXCHANGES, result=OF_WARP)  # of the lanes that are there

MODE = "{mode:up|down|bfly|idx}"
OLD = "{mode:all|any|uni}"

SHUFFLE: Fields = {"result": "d:sources p:lane", "discards": "p"}

FORMS = [
    row(
        f"shfl.{MODE}.sync.b32",
        "d:b32|p:pred?, a:b32, b:u32, c:u32, m:u32",
        "shfl",
        "exact",
        (6, 0),
        30,
        see="9.7.10.6",
        **SHUFFLE,
    ),
    old(
        f"shfl.{MODE}.b32", "d:b32|p:pred?, a:b32, b:u32, c:u32", "shfl", "exact", (3, 0), 30, see="9.7.10.5", **SHUFFLE
    ),
    row(f"vote.{OLD}.sync.pred", "p:pred, !a:pred, m:u32", "vote", "exact", (6, 0), 30, see="9.7.15.10"),
    row("vote.{mode:ballot}.sync.b32", "d:b32, !a:pred, m:u32", "vote", "exact", (6, 0), 30, see="9.7.15.10"),
    old(f"vote.{OLD}.pred", "p:pred, !a:pred", "vote", "exact", (1, 2), 12, see="9.7.15.9"),
    old("vote.{mode:ballot}.b32", "d:b32, !a:pred", "vote", "exact", (2, 0), 20, see="9.7.15.9"),
    row("match.any.sync.{t:b32|b64}", "d:u32, a:t, m:u32", "match_any", since=(6, 0), sm=70, result=SOURCES),
    row(
        "match.all.sync.{t:b32|b64}",
        "d:u32|p:pred?, a:t, m:u32",
        "match_all",
        since=(6, 0),
        sm=70,
        discards="d| p",
    ),
    row("redux.{op:add|min|max}.sync.{t:u32|s32}", "d:t, a:t, m:u32", "redux", since=(7, 0), sm=80),
    row("redux.{op:and|or|xor}.sync.{t:b32}", "d:u32, a:u32, m:u32", "redux", since=(7, 0), sm=80),
    row(
        "redux.{op:min|max}.sync.[abs:abs].[nan:NaN].{t:f32}",
        "d:t, a:t, m:u32",
        "redux",
        since=(8, 6),
        sm=100,
    ),
    old("activemask.b32", "d:b32", "activemask", since=(6, 2), sm=30),
    row("elect.sync", "d:b32|p:pred, m:u32", "elect", since=(8, 0), sm=90, result="d:warp p:lane", discards="d"),
]
