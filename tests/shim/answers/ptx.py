"""PTX of the questions."""

from __future__ import annotations

HEAD = ".version 7.8\n.target sm_70\n.address_size 64\n"
HEAP = (
    HEAD
    + """
.extern .func (.param .b64 r) malloc (.param .b64 n);
.extern .func free (.param .b64 p);
.visible .entry grab(.param .u64 out, .param .u64 n)
{
  .reg .b64 %rd<5>;
  ld.param.u64 %rd1, [out];
  ld.param.u64 %rd2, [n];
  { .param .b64 a; .param .b64 r;
  st.param.b64 [a], %rd2;
  call.uni (r), malloc, (a);
  ld.param.b64 %rd3, [r]; }
  st.global.u64 [%rd1], %rd3;
  ret;
}
.visible .entry release(.param .u64 p)
{
  .reg .b64 %rd<5>;
  ld.param.u64 %rd1, [p];
  { .param .b64 a;
  st.param.b64 [a], %rd1;
  call.uni free, (a); }
  ret;
}
"""
)
#: Kernels that fault: the body between braces; all have parameters p and n.
BODIES = {
    "fine": "st.global.u32 [%p], 7;",
    "store_low": "mov.u64 %a, 16; st.global.u32 [%a], 1;",
    "load_low": "mov.u64 %a, 16; ld.global.u32 %r, [%a]; st.global.u32 [%p], %r;",
    "store_generic_low": "mov.u64 %a, 16; st.u32 [%a], 1;",
    "store_high": "mov.u64 %a, 0x7fffffff0000; st.global.u32 [%a], 1;",
    "store_noncanonical": "mov.u64 %a, 0xdead000000000000; st.global.u32 [%a], 1;",
    "store_null": "mov.u64 %a, 0; st.u32 [%a], 1;",
    "load_far": "mad.lo.u64 %a, %n, 0x100000000, %p; ld.global.u32 %r, [%a]; st.global.u32 [%p], %r;",
    "load_unused": "mov.u64 %a, 16; ld.volatile.global.u32 %r, [%a];",
    "atomic_low": "mov.u64 %a, 16; atom.global.add.u32 %r, [%a], 1; st.global.u32 [%p], %r;",
    "reduce_low": "mov.u64 %a, 16; red.global.add.u32 [%a], 1;",
    "misaligned_store": "add.u64 %a, %p, 1; st.global.u32 [%a], 1;",
    "misaligned_load": "add.u64 %a, %p, 2; ld.global.u32 %r, [%a]; st.global.u32 [%p], %r;",
    "misaligned_load_64": "add.u64 %a, %p, 4; ld.global.u64 %n, [%a]; st.global.u64 [%p], %n;",
    "misaligned_vector": "add.u64 %a, %p, 8; ld.global.v4.u32 {%r, %s, %t, %u}, [%a]; st.global.u32 [%p], %u;",
    "misaligned_atomic": "add.u64 %a, %p, 2; atom.global.add.u32 %r, [%a], 1; st.global.u32 [%p], %r;",
    "misaligned_generic": "add.u64 %a, %p, 1; st.u32 [%a], 1;",
    "misaligned_shared": "mov.u32 %r, pool; add.u32 %r, %r, 1; st.shared.u32 [%r], 1;",
    "misaligned_shared_atomic":
        "mov.u32 %r, pool; add.u32 %r, %r, 2; atom.shared.add.u32 %s, [%r], 1; st.global.u32 [%p], %s;",
    "misaligned_and_low": "mov.u64 %a, 17; st.global.u32 [%a], 1;",
    "shared_outside": "mov.u32 %r, 0x1000000; st.shared.u32 [%r], 1;",
    "shared_just_outside": "mov.u32 %r, pool; add.u32 %r, %r, 0x10000; ld.shared.u32 %s, [%r]; st.global.u32 [%p], %s;",
    "local_outside": "mov.u32 %r, 0x7ffffff0; st.local.u32 [%r], 1;",
    "constant_outside": "mov.u64 %a, 0x10000000; ld.const.u32 %r, [%a]; st.global.u32 [%p], %r;",
    "generic_shared_outside":
        "mov.u32 %r, pool; cvt.u64.u32 %a, %r; cvta.shared.u64 %a, %a; add.u64 %a, %a, 0x400000; st.u32 [%a], 1;",
    "write_constant": "mov.u64 %a, table; cvta.const.u64 %a, %a; st.u32 [%a], 1;",
    "trap": "trap;",
    "exit": "exit;",
    "breakpoint": "brkpt;",
    "trap_after_store": "st.global.u32 [%p], 77; membar.sys; trap;",
    "call_null": "mov.u64 %a, 0; call %a, (), shape;",
    "call_wild": "mov.u64 %a, 0x1234567800; call %a, (), shape;",
    "nested": "add.u64 %a, %p, 1; st.global.u32 [%a], 1; trap;",
    "prefetch_low": "mov.u64 %a, 16; prefetch.global.L2 [%a]; st.global.u32 [%p], 7;",
    "readonly_low": "mov.u64 %a, 16; ld.global.nc.u32 %r, [%a]; st.global.u32 [%p], %r;",
    "bounded": "ld.global.u32 %r, [%p+65532]; st.global.u32 [%p], %r;",
    "texture_none": "mov.u64 %a, 0; tex.1d.v4.u32.s32 {%r, %s, %t, %u}, [%a, {%v}]; st.global.u32 [%p], %r;",
    "surface_none": "mov.u64 %a, 0; sust.b.1d.b32.trap [%a, {%v}], {%r}; ",
    "map_shared": "mov.u32 %r, pool; barrier.cluster.arrive; barrier.cluster.wait; st.global.u32 [%p], 7;",
}  # fmt: skip


def _kernel(name: str, body: str) -> str:
    shared = "  .shared .align 16 .b8 pool[64];\n" if "pool" in body else ""
    shape = "  shape: .callprototype _ ();\n" if "shape" in body else ""
    return f"""
.visible .entry {name}(.param .u64 p, .param .u64 n)
{{
  .reg .b64 %p, %n, %a;
  .reg .b32 %r, %s, %t, %u, %v;
{shared}{shape}  ld.param.u64 %p, [p];
  ld.param.u64 %n, [n];
  mov.u32 %v, 0;
  mov.u32 %r, 0;
  {body}
  ret;
}}
"""


def fault(name: str) -> str:
    head = HEAD.replace("sm_70", "sm_90").replace("7.8", "8.0") if "cluster" in BODIES[name] else HEAD
    return head + ".const .align 4 .b8 table[64];\n" + _kernel(name, BODIES[name]) + _kernel("good", BODIES["fine"])


ASSERT = (
    HEAD
    + """
.extern .func __assertfail (.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d, .param .b64 e);
.global .align 1 .b8 message[6] = {120, 32, 60, 32, 51, 0};
.global .align 1 .b8 file[5] = {97, 46, 99, 117, 0};
.global .align 1 .b8 function[5] = {107, 40, 41, 49, 0};
.visible .entry fails(.param .u64 p, .param .u64 n)
{
  .reg .b64 %rd<5>;
  mov.u64 %rd1, message; cvta.global.u64 %rd1, %rd1;
  mov.u64 %rd2, file; cvta.global.u64 %rd2, %rd2;
  mov.u64 %rd3, function; cvta.global.u64 %rd3, %rd3;
  mov.u64 %rd4, 1;
  { .param .b64 a; .param .b64 b; .param .b32 c; .param .b64 d; .param .b64 e;
  st.param.b64 [a], %rd1; st.param.b64 [b], %rd2; st.param.b32 [c], 42; st.param.b64 [d], %rd3; st.param.b64 [e], %rd4;
  call.uni __assertfail, (a, b, c, d, e); }
  ret;
}
"""
    + _kernel("good", BODIES["fine"])
)
RECURSION = (
    HEAD
    + """
.func (.param .b32 r) deeper(.param .b32 n)
{
  .local .align 4 .b8 room[1024];
  .reg .b32 %r<6>;
  .reg .b64 %rd<3>;
  .reg .pred %q;
  ld.param.u32 %r1, [n];
  and.b32 %r2, %r1, 255;
  mov.u64 %rd1, room;
  cvt.u64.u32 %rd2, %r2;
  add.u64 %rd1, %rd1, %rd2;
  st.local.u8 [%rd1], %r1;
  setp.eq.u32 %q, %r1, 0;
  mov.u32 %r3, 0;
  @%q bra done;
  sub.u32 %r4, %r1, 1;
  { .param .b32 x; .param .b32 y;
  st.param.b32 [x], %r4;
  call (y), deeper, (x);
  ld.param.b32 %r3, [y]; }
done:
  ld.local.u8 %r5, [%rd1];
  add.u32 %r3, %r3, %r5;
  st.param.b32 [r], %r3;
  ret;
}
.visible .entry recurse(.param .u64 p, .param .u64 n)
{
  .reg .b64 %rd<3>;
  .reg .b32 %r<3>;
  ld.param.u64 %rd1, [p];
  ld.param.u32 %r1, [n];
  { .param .b32 x; .param .b32 y;
  st.param.b32 [x], %r1;
  call (y), deeper, (x);
  ld.param.b32 %r2, [y]; }
  st.global.u32 [%rd1], %r2;
  ret;
}
"""
    + _kernel("good", BODIES["fine"])
)
#: Kernels whose attributes are asked.
SHAPES = (
    HEAD
    + """
.const .align 4 .b8 table[64];
.visible .global .align 4 .b8 array[100];
.extern .shared .align 16 .b8 dynamic[];
.visible .entry plain(.param .u64 p, .param .u64 n) { ret; }
.visible .entry none() { ret; }
.visible .entry many(.param .u8 a, .param .u16 b, .param .u32 c, .param .u64 d, .param .f64 e,
                     .param .align 16 .b8 f[48], .param .align 4 .b8 g[3], .param .u8 h) { ret; }
.visible .entry shared_48k(.param .u64 p)
{
  .shared .align 4 .b8 pool[49152];
  .reg .b32 %r<3>;
  mov.u32 %r1, pool;
  mov.u32 %r2, %tid.x;
  shl.b32 %r2, %r2, 2;
  add.u32 %r1, %r1, %r2;
  st.volatile.shared.u32 [%r1], %r2;
  ret;
}
.visible .entry bounded(.param .u64 p) .maxntid 64, 1, 1 { ret; }
.visible .entry required(.param .u64 p) .reqntid 32, 2, 1 { ret; }
.visible .entry crowded(.param .u64 p) .maxntid 256, 1, 1 .minnctapersm 4 { ret; }
.visible .func helper() { ret; }
.entry hidden() { ret; }
.weak .entry weakly() { ret; }
"""
)
NAMES = {"HEAD": HEAD, "HEAP": HEAP, "ASSERT": ASSERT, "RECURSION": RECURSION, "SHAPES": SHAPES, "fault": fault}
