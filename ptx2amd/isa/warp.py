"""Operations across the lanes of a warp: rows of the instruction table."""

from ptx2amd.isa.form import Form

MODE = "{mode:up|down|bfly|idx}"
OLD = "{mode:all|any|uni}"

FORMS = [
    Form(f"shfl.{MODE}.sync.b32", "d:b32|p:pred?, a:b32, b:u32, c:u32, m:u32", "shfl", since=(6, 0), sm=30),
    Form(f"shfl.{MODE}.b32", "d:b32|p:pred?, a:b32, b:u32, c:u32", "shfl", since=(3, 0), sm=30),
    Form(f"vote.{OLD}.sync.pred", "p:pred, !a:pred, m:u32", "vote", since=(6, 0), sm=30),
    Form("vote.{mode:ballot}.sync.b32", "d:b32, !a:pred, m:u32", "vote", since=(6, 0), sm=30),
    Form(f"vote.{OLD}.pred", "p:pred, !a:pred", "vote", since=(1, 2), sm=12),
    Form("vote.{mode:ballot}.b32", "d:b32, !a:pred", "vote", since=(2, 0), sm=20),
    Form("match.any.sync.{t:b32|b64}", "d:u32, a:t, m:u32", "match_any", since=(6, 0), sm=70),
    Form("match.all.sync.{t:b32|b64}", "d:u32|p:pred?, a:t, m:u32", "match_all", since=(6, 0), sm=70),
    Form("redux.{op:add|min|max}.sync.{t:u32|s32}", "d:t, a:t, m:u32", "redux", since=(7, 0), sm=80),
    Form("redux.{op:and|or|xor}.sync.{t:b32}", "d:u32, a:u32, m:u32", "redux", since=(7, 0), sm=80),
    Form(
        "redux.{op:min|max}.sync.[abs:abs].[nan:NaN].{t:f32}",
        "d:t, a:t, m:u32",
        "redux",
        since=(8, 6),
        sm=100,
    ),
    Form("activemask.b32", "d:b32", "activemask", since=(6, 2), sm=30),
    Form("elect.sync", "d:b32|p:pred, m:u32", "elect", since=(8, 0), sm=90),
]
