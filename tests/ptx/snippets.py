"""Declarations, directives, scopes, names, operands and register types: accepted and rejected as ptxas does."""

from __future__ import annotations

HEADER = """.version 9.0
.target sm_90a
.address_size 64
.global .b32 gv[16];
.visible .entry k(.param .u64 a) { ret; }
"""
REGISTERS = """.reg .pred p<10>;
.reg .b16 h<10>;
.reg .b32 r<10>;
.reg .f32 f<10>;
.reg .b64 l<10>;
.reg .f64 d<10>;
.reg .u32 u<4>;
.reg .s32 s<4>;
.reg .f16 q<4>;
.reg .u16 w<4>;
.reg .b128 z<3>;
.reg .b8 c<3>;
.reg .u64 m<4>;"""

MODULE_ACCEPTED = r"""
.global .align 8 .v2 .b32 x2;
.align 8 .global .b32 x2;
.global .b32 x2[2][3] = {{1,2,3},{4,5,6}};
.global .b32 x2[] = {1,2,3,4,5,6};
.global .b32 x2[][2] = {{1,2},{3,4}};
.global .u8 x2[3] = {300,-1,2};
.global .u64 x2 = gv;
.global .u64 x2 = gv+4;
.global .u64 x2 = generic(gv);
.global .u64 x2 = generic(gv)+4;
.global .u8 x2[8] = {0xff(gv), 0xff00(gv), 0xff0000(gv), 0xff(generic(gv)), 0, 0, 0, 0};
.global .u8 x2[8] = {0xff(gv+4), 0,0,0,0,0,0,0};
.global .u32 x2 = gv;
.global .u64 x2[2] = {gv, k};
.global .b32 a1, b1[4], c1;
.global .b32 a1=1, c1=2;
.global .b128 bb;
.func f1(.reg .b32 q1) { ret; }
.func (.reg .b32 q0) f1(.reg .b32 q1) { mov.b32 q0, q1; ret; }
.func f1 { ret; }
.func f1() { ret; }
.func () f1() { ret; }
.entry f1 { ret; }
.entry f1() { ret; }
.weak .func f1() { ret; }
.extern .func f1();
.extern .func f1() .noreturn;
.entry f1(.param .u64 .ptr .global .align 16 p) {ret;}
.entry f1(.param .u64 .ptr p) {ret;}
.entry f1(.param .u64 .ptr .align 4 p) {ret;}
.entry f1(.param .align 16 .u64 .ptr .global p) {ret;}
.func f1(.param .b8 p[]) {ret;}
.func f1(.param .align 8 .b8 p[]) {ret;}
.entry f1() .maxntid 128 {ret;}
.entry f1() .maxntid 128,1,1 .minnctapersm 2 .maxnreg 32 {ret;}
.entry f1() .reqntid 128, 2 {ret;}
.entry f1() .pragma "nounroll"; {ret;}
.pragma "nounroll";
.entry f1() .maxclusterrank 4 {ret;}
.entry f1() .explicitcluster .reqnctapercluster 2,1,1 {ret;}
.visible .func f2(){ret;} .visible .func f1(); .alias f1, f2;
.weak .global .b32 w1;
.common .global .b32 w1;
.extern .global .b32 w1[];
.extern .global .b32 w1;
.extern .shared .b32 w1[];
.shared .b32 s1[4];
.const .b32 s1[4] = {1,2,3,4};
.global .texref t1;
.global .surfref t1;
.global .attribute(.managed) .b32 mm;
.global .attribute(.unified(1,2)) .b32 mm;
.visible .global .b32 vv = 3;
.file 1 "a.cu"
.file 1 "a.cu", 123, 456
.section .debug_foo { .b8 1,2,3 }
.global .u32 c5 = 5 > 3 ? 7 : 9;
.global .u32 c5 = WARP_SZ*2;
.global .b32 arr[WARP_SZ];
.global .f16x2 e;
.func f1() { .reg .f16x2 e; ret; }
.func f1() { .reg .b8 e; ret; }
.func f1() { .reg .v4 .b32 e<3>; ret; }
.func f1() { .reg .b32 e<3>; mov.b32 e2, 1; ret; }
.func f1() { .reg .b32 e<3>; mov.b32 e01, 1; ret; }
.func f1() { .reg .b32 e; { .reg .f32 e; mov.f32 e, 0f00000000; } mov.b32 e, 1; ret; }
.func f1() { { LL: bra LL; } ret; }
.func f1() { { bra LL; } LL: ret; }
.func f1() { LL: { LL: ret; } bra LL; }
.func f1() { .reg .b32 f1; mov.b32 f1, 1; ret;  }
.func f1() { .reg .b32 gv; mov.b32 gv, 1; ret;  }
.func f1(.param .b32 p) {ret;} .func f2(){ call f1, (5); ret;}
.func f1(.param .b32 p) {ret;} .func f2(){ .param .b32 z; call f1, (z); ret;}
.func f1(.param .b32 p) {ret;} .func f2(){ .reg .b32 z; call f1, (z); ret;}
.func f1(.reg .b32 p) {ret;} .func f2(){ call f1, (5); ret;}
.func f1() {ret;} .func f2(){ call f1; call f1, (); call.uni f1; call (), f1, (); ret;}
.func f2(){ .reg .b32 r; mov.b32 r, {1,2}; ret;}
.func f2(){ .reg .b64 r; mov.b64 r, {1,2}; ret;}
.func f1(.param .b32 p) {ret;} .func f2(){ call f1, (5+3); ret;}
.func f1(.param .b32 p) {ret;} .func f2(){ call f1, ((5+3)); ret;}
.global .b32 x[4] = {};
.global .b32 x[4] = {1};
.func f2(){ .reg .b32 r; mov.u32 r, %laneid; ret;}
.func f2(){ .reg .b32 r; mov.b32 r, %laneid; ret;}
.func f2(){ .reg .b32 r; mov.s32 r, %laneid; ret;}
.func f2(){ .reg .u16 r; mov.u16 r, %tid.x; ret;}
.func f2(){ .reg .u16 r; cvt.u16.u32 r, %tid.x; ret;}
.func f2(){ .reg .b32 %tid; ret;}
.func f2(){ .reg .b32 r; ld.global.b32 r, [gv+4*2+(1-1)]; ret;}
.func f2(){ .reg .b32 r; ld.global.b32 r, [gv+0x10]; ret;}
.func f2(){ .reg .b32 r; ld.global.b32 r, [gv+16U]; ret;}
.func f2(){ .reg .b32 r; ld.b32 r, [gv]; ret;}
.func f2(){ .reg .b32 r; .reg .b64 rr; ld.shared.b32 r, [rr]; ld.shared.b32 r, [r]; ret;}
.func f2(){ .reg .b32 r; .reg .b16 rr; ld.shared.b32 r, [rr];  ret;}
.func f2(){ .reg .b32 r; ld.local.b32 r, [16];  ret;}
.func f2(){ .reg .b32 r; ld.shared.u16 r, [r];  ret;}
.func f2(){ .reg .b32 r; ld.shared.u8 r, [r];  ret;}
.func f2(){ .reg .b32 r; .reg .f32 f; ld.shared.f32 r, [r];  ret;}
.func f2(){ .reg .b32 r; .reg .b64 f; ld.shared.f32 f, [r];  ret;}
.func f2(){ .reg .b32 r; .reg .b64 f; ld.shared.u32 f, [r];  ret;}
.func f2(){ .reg .b32 r; .reg .b64 f; ld.shared.b32 f, [r];  ret;}
.func f2(){ .reg .b32 r; .reg .b64 f; st.shared.b32 [r], f;  ret;}
.func f2(){ .reg .b32 r; .reg .b64 f; st.shared.u8 [r], 300;  ret;}
.func f2(){ .reg .b32 r; .reg .b64 f; cvt.u16.u32 r, f;  ret;}
.func f2(){ .reg .b32 r; .reg .b64 f; cvt.u16.u32 f, r;  ret;}
.func f2(){ .reg .b32 r; .reg .f32 f; cvt.rn.f32.u32 f, 5;  ret;}
.func f2(){ .reg .b32 r; .reg .f32 f; cvt.rn.f16.f32 r, f;  ret;}
.func f2(){ .reg .b32 r; .reg .b16 f; .reg .f32 g; cvt.rn.f16.f32 f, g;  cvt.rn.bf16.f32 f, g; ret;}
.func f2(){ .reg .b32 r; .reg .f32 f; .reg .u32 u; and.b32 r, f, u; ret;}
.func f2(){ .reg .pred p; .reg .f32 f; .reg .u32 u; selp.b32 f, u, 5, p; ret;}
.func f2(){ .reg .pred p; .reg .f32 f; .reg .u32 u; selp.b32 f, 0f3f800000, 5, p; ret;}
.func f2(){ .reg .pred p; mov.pred p, 1; mov.pred p, 0; mov.pred p, -1; ret;}
.func f2(){ .reg .pred p, q; and.pred p, q, 1; ret;}
""".strip().split("\n")

MODULE_REJECTED = r"""
.global .b32 .align 8 x2;
.global .v2 .align 8 .b32 x2;
.global .v2 .b32 .align 8 x2;
.global .b32 x2[2][3] = {1,2,3,4,5,6};
.global .b32 x2 = {1};
.global .b32 x2[2] = {1,2,3};
.global .b32 x2[2] = {1,2,};
.global .f32 x2[3] = {1.0,0f3f800000,2};
.global .f16 x2 = 1.0;
.global .u64 x2 = generic(gv+4);
.global .u64 x2 = {gv};
.global .b8 s[] = "abc";
.entry f1(.param .b32 a,) { ret; }
.visible .weak .func f1() { ret; }
.func .noreturn f1();
.entry f1(.param .u64 p<3>) {ret;}
.entry f1(.reg .u64 p) {ret;}
.entry f1(.param .b8 p[]) {ret;}
.alias f1, f2;
.shared .b32 s1[4] = {1,2,3,4};
.const[3] .b32 s1;
.local .b32 s1[4];
.tex .u32 t1;
.reg .b32 rr;
.global .b32 .attribute(.managed) mm;
.visible .visible .global .b32 vv = 3;
.file 1 "a.cu";
.section .debug_str { .b8 "abc" }
.target sm_80
.version 8.7
.global .b32 gv[16];
.global .b32 k;
.global .b32 arr[2*4];
.global .align 2*4 .b32 arr;
.global .b32 arr[0];
.global .align 3 .b32 arr;
.global .v3 .b32 arr;
.global .v4 .b64 arr;
.global .v8 .b32 arr;
.global .pred parr;
.global .e4m3 e;
.global .bf16 e;
.global .bf16x2 e;
.func f1() { .reg .e4m3 e; ret; }
.func f1() { .reg .bf16 e; ret; }
.func f1() { .reg .bf16x2 e; ret; }
.func f1() { .reg .tf32 e; ret; }
.func f1() { .reg .b32 e, e; ret; }
.func f1() { .reg .b32 e<3>; mov.b32 e3, 1; ret; }
.func f1() { .reg .b32 e<3>; .reg .b32 e1; ret; }
.func f1() { mov.b32 e, 1; .reg .b32 e;  ret; }
.func f1() { { LL: ret; } bra LL; }
.func f1() { LL: ret; .reg .b32 LL; }
.func f1() { LL: LL: ret;  }
.func f1(.param .b32 p) { .reg .b32 p; ret;  }
.func f1() { .reg .b32 p; ret  }
.func f1() {ret;} .func f2(){ call f1(); ret;}
.func f2(){ @%p ret; ret;}
.func f2(){ call f9; ret;}
.func f2(){ .reg .b32 r; add.s32 r, r, %laneid; ret;}
.func f2(){ .reg .b32 r; mov.u32 r, %foo; ret;}
.func f2(){ .reg .b32 WARP_SZ; ret;}
.func f2(){ .reg .b32 r; ld.shared.b32 r, [gv]; ret;}
.func f2(){ .reg .b32 r; ld.global.b32 r, [gv[1]]; ret;}
.func f2(){ .reg .b32 r; ld.global.b32 r, [gv[1]+4]; ret;}
.func f2(){ .reg .b32 r; ld.global.b32 r, [r]; ret;}
.func f2(){ .reg .b32 r; .reg .f32 f; ld.global.b32 r, [f]; ret;}
.func f2(){ .reg .b32 r; ld.shared.b32 r, [16];  ret;}
.func f2(){ .reg .b32 r; ld.b32 r, [16];  ret;}
.func f2(){ .reg .b32 r; ld.const.b32 r, [16];  ret;}
.func f2(){ .reg .b32 r; ld.u16 r, [16];  ret;}
.func f2(){ .reg .b32 r; ld.shared.f16 r, [r];  ret;}
.func f2(){ .reg .b32 r; .reg .f32 f; ld.shared.u32 f, [r];  ret;}
.func f2(){ .reg .b32 r; .reg .u32 f; ld.shared.f32 f, [r];  ret;}
.func f2(){ .reg .b32 r; .reg .f64 f; ld.shared.f32 f, [r];  ret;}
.func f2(){ .reg .b32 r; .reg .b64 f; ld.shared.v2.b32 {f,r}, [r];  ret;}
.func f2(){ .reg .b32 r; .reg .b64 f; st.shared.u64 [r], r;  ret;}
.func f2(){ .reg .b32 r; .reg .f64 f; cvt.f32.u32 f, r;  ret;}
.func f2(){ .reg .b32 r; .reg .u16 f; .reg .f32 g; cvt.rn.f16.f32 f, g;  ret;}
.func f2(){ .reg .b32 r; .reg .f16 f; .reg .f32 g; cvt.rn.bf16.f32 f, g; ret;}
.func f2(){ .reg .b32 r; .reg .b64 l; mov.b32 r, l; ret;}
.func f2(){ .reg .b32 p, q; and.pred p, q, q; ret;}
""".strip().split("\n")

BODY_ACCEPTED = r"""
.global .u32 x; ld.global.u32 r1, [x];
.global .align 8 .u32 x[3] = {1, 2}, y = 4; mov.u64 l1, x; ld.global.u32 r1, [y];
.const .u16 x[] = {1, 2}; ld.const.u16 h1, [x+2];
.global .attribute(.managed) .u32 x; atom.global.add.u32 r1, [x], 1;
ld.global.u32 r1, [gv]; .global .u32 gv; ld.global.u32 r1, [gv];
{ .global .u32 x; } { .const .u32 x = 3; ld.const.u32 r1, [x]; }
.global .u32 x; { .global .u64 x = x; ld.global.u64 l1, [x]; }
.global .u64 x = gv+4, y = generic(gv); .global .u64 w7 = k;
ld.global.v4.b32 {r1,r2,r3,r4}, [l1];
ld.v4.global.b32 {r1,r2,r3,r4}, [l1];
ld.b32.v4.global {r1,r2,r3,r4}, [l1];
ld.b32.global r1, [l1];
add.f32.rn f1, f2, f3;
add.rn.ftz.f32 f1, f2, f3;
add.ftz.rn.f32 f1, f2, f3;
add.sat.ftz.rn.f32 f1, f2, f3;
cvt.f32.f64.rn f1, d1;
cvt.rn.f32.f64 f1, d1;
cvt.f32.rn.f64 f1, d1;
setp.f32.lt p1, f1, f2;
setp.s32.lt.and p1, r1, r2, p3;
setp.lt.and.s32 p1, r1, r2, p3;
setp.and.lt.s32 p1, r1, r2, !p3;
and.pred p1, !p2, p3;
atom.add.global.u32 r1,[l1],r2;
atom.global.add.u32 r1,[l1],r2;
atom.u32.add.global.relaxed.gpu r1,[l1],r2;
atom.global.gpu.relaxed.add.u32 r1,[l1],r2;
ld.gpu.global.acquire.u32 r1,[l1];
mma.sync.aligned.row.col.m16n8k16.f32.f16.f16.f32 {f1,f2,f3,f4},{r1,r2,r3,r4},{r5,r6},{f1,f2,f3,f4};
add.f32 f1, f2, 1.0;
add.f32 f1, f2, 0f3f800000;
add.f32 f1, f2, 0d3f80000000000000;
add.s32 r1, r2, 0x1ffffffff;
add.s32 r1, r2, -1;
add.s32 r1, r2, 4294967296;
add.f32 f1, r2, f3;
add.s32 u1, s2, r3;
add.f16 h1,q2,h3;
add .s32 r1, r2, r3;
add.s32.sat r1, r2, r3;
add.s32 r1, r2, 2+3*4;
add.s32 r1, r2, (2+3)*4;
add.s32 r1, r2, 1<<4;
add.s32 r1, r2, ~1;
add.s32 r1, r2, !1;
add.s32 r1, r2, 5>3?7:8;
add.s32 r1, r2, (.s64)5;
add.s32 r1, r2, WARP_SZ;
add.s32 r1, r2, WARP_SZ-1;
add.s32 r1, r2, 0b101;
add.s32 r1, r2, 017;
add.s32 r1, r2, 18U;
add.s32 r1, r2, 0x1fU;
add.s32 r1, r2, 0X1f;
add.f32 f1, f2, 1.;
add.f32 f1, f2, .5;
add.f32 f1, f2, 1e5;
add.f32 f1, f2, 1.5E-3;
add.f32 f1, f2, -1.5;
add.f32 f1, f2, 0F3F800000;
add.f32 f1, f2, 1.0+2.0;
add.f64 d1, d2, 0D3ff0000000000000;
add.f64 d1, d2, 0f3f800000;
add.f64 d1, d2, 1.0;
mov.u64 l1, gv;
mov.u64 l1, gv+4;
ld.global.b32 r1, [gv+4];
ld.global.b32 r1, [gv];
ld.global.b32 r1, [l1+-4];
ld.global.b32 r1, [l1+4*2];
mov.b32 r1, f1;
mov.f32 f1, r1;
mov.b32 r1, 0f3f800000;
mov.b64 d1, l1;
@p1 add.s32 r1,r2,r3;
@!p1 add.s32 r1,r2,r3;
@ ! p1 add.s32 r1,r2,r3;
L7:L8: add.s32 r1,r2,r3;
{ L9: }
{ .reg .b32 t; add.s32 t,r1,r2; }
ld.global.v2.b32 {_,r1}, [l1];
setp.lt.s32 p1|_, r1, r2;
setp.lt.s32 _|p1, r1, r2;
atom.global.add.u32 _, [l1], r1;
.pragma "nounroll";
.loc 1 2 3
mov.u32 r1, %tid.x;
.reg .v4 .f32 vv; mov.f32 f1, vv.x;
.reg .v4 .f32 vv; mov.f32 f1, vv.r;
.reg .b32 a$b;
.reg .b32 _a; add.s32 _a,_a,_a;
.reg .b32 x<3>, y<4>, zz;
.reg .b32 add; add.s32 add, add, add;
.reg .b32 tid;
bra L1;
bra.uni L1;
.global .b32 inner[4] = {1,2};
.param .b32 pp;
lop3.b32 r1,r2,r3,r4,0x80+1;
cvt.u64.u32 l1, %tid.x;
mov.u64 l1, %clock64;
mov.b32 r1, %lanemask_lt;
mov.u32 r1, %envreg31;
mov.u32 r1, %pm0;
mov.pred p1, %is_explicit_cluster;
mov.u64 l1, %current_graph_exec;
mov.u32 r1, %warpid;
mov.u32 r1, %gridid;
mov.u64 l1, %gridid;
mov.u32 r1, %tid.w;
mov.u32 r1, %cluster_ctarank;
mov.u32 r1, %reserved_smem_offset_begin;
mov.u32 r1, %dynamic_smem_size;
mov.u32 r1, %globaltimer_lo;
mov.b32 {h1,h2}, r1;
mov.b32 {_,h2}, r1;
mov.b32 {w1,w2}, r1;
mov.b32 {q1,q2}, r1;
mov.b64 {r1,r2}, l1;
mov.b64 {f1,f2}, l1;
mov.b64 {f1,r2}, l1;
mov.b64 {u1,r2}, l1;
mov.b64 {h1,h2,h3,h4}, l1;
mov.b128 {l1,l2}, z1;
mov.b32 {c1,c2,c1,c2}, r1;
selp.b32 r1, r2, r3, !p1;
mov.pred p1, !p2;
ld.global.v2.f32 {f1,r1}, [l1];
ld.global.v2.b32 {r1,u1}, [l1];
st.global.v2.b32 [l1], {r1, 5};
st.global.v2.b32 [l1], {5, 5};
st.global.v2.f32 [l1], {f1, 0f00000000};
st.global.v2.f32 [l1], {f1, r1};
st.global.v2.u32 [l1], {f1, r1};
st.global.v2.b32 [l1], {f1, r2};
fma.rn.f64 d1, d2, 1.0, l1;
add.u16 h1, w1, 3;
min.u32 s1, u1, r1;
shl.b32 r1, r2, r3;
shl.b64 l1, l2, r3;
shl.b64 l1, l2, s3;
shl.b32 f1, r2, r3;
shl.b32 u1, s2, u3;
popc.b64 r1, l1;
mul.wide.u16 r1, h1, h2;
mul.wide.u16 r1, w1, h2;
mul.wide.s32 l1, r1, 5;
cvt.u32.u8 r1, r2;
cvt.u32.u8 r1, h2;
cvt.u32.u8 r1, c2;
cvt.u8.u32 c1, r2;
cvt.u8.u32 r1, r2;
ld.global.u8 c1, [l1];
ld.global.b8 f1, [l1];
ld.global.b32 d1, [l1];
ld.global.f64 l1, [l1];
st.global.b8 [l1], f1;
st.global.b8 [l1], u1;
ld.global.b16 q1, [l1];
prmt.b32 r1, f2, u3, s3;
""".strip().split("\n")

BODY_REJECTED = r"""
.global .u32 x; ld.const.u32 r1, [x];
.global .u32 x; .const .u32 x = 2;
.global .u32 x[];
.const .u32 x = {1};
.global .pred x;
.global .texref x;
.visible .global .u32 x;
.tex .u32 x;
{ .global .u32 x; } ld.global.u32 r1, [x];
mad.s32.lo r1,r2,r3,r4;
shf.wrap.l.b32 r1,r2,r3,r4;
add.f32 f1, f2, 1;
add.s32 r1, r2, 1.0;
add.f32 f1, u2, f3;
add.s32 r1, f2, r3;
add.f16 h1,w2,h3;
add.bf16 h1,w2,h3;
add.bf16 h1,q2,h3;
add. s32 r1, r2, r3;
add.s32 r1, r2, -r3;
add.s32 r1, r2, 18u;
add.s32 r1, r2, 089;
add.f32 f1, f2, 1.5f;
add.f32 f1, f2, -0f3f800000;
add.f32 f1, f2, 0f3f8000;
mov.u64 l1, gv-4;
mov.u64 l1, 4+gv;
ld.global.b32 r1, gv;
ld.global.b32 r1, [l1-4];
ld.global.b32 r1, [4096];
ld.global.b32 r1, [l1+gv];
ld.global.b32 r1, [gv+l1];
add.u64 l1, l2, gv;
mov.u32 r1, f1;
mov.f32 f1, 1;
mov.b32 r1, 1.0;
mov.u32 r1, 1.0;
;
;;
add.s32 r1 , r2,
add.s32 _, r2, r3;
ld.global.b32 _, [l1];
mov.u32 r1, %tid;
.reg .b32 %a%b;
.reg .b32 r1;
add.s32 undeclared, r1, r2;
add.s32 r1, ret, r2;
bra undefinedlabel;
bra gv;
bra k;
.local .b32 q[4] = {1,2,3,4};
.shared .b32 zz[];
.extern .shared .b32 zz[];
add.s32 r1,
add.s32 r1, r2, '1';
add.u32 r1, %clock, 1;
st.local.u32 [l1], %tid.x;
mov.u32 r1, %clock64;
mov.u64 l1, %tid.x;
mov.u64 l1, %clock;
mov.f32 f1, %tid.x;
setp.lt.u32 p1, %tid.x, 3;
mov.u32 r1, %envreg32;
mov.v2.u32 {r1,r2}, %tid;
mov.u64 {r1,r2}, l1;
mov.u64 l1, L1;
bra.uni L1, L1;
brx.idx r1, L1;
setp.eq.s32 p1, r1, !r2;
@r1 ret;
st.global.v2.u32 [l1], {f1, f2};
add.u16 r1, w1, 3;
shl.b64 l1, l2, l3;
shl.b64 l1, l2, h3;
shl.b64 l1, l2, f3;
popc.b64 l1, l1;
cvt.s64.s32 l1, h2;
ld.global.u8 f1, [l1];
st.global.f32 [l1], d1;
st.global.f32 [l1], m1;
ld.global.f32 m1, [l1];
ld.global.u32 q1, [l1];
ld.global.u16 q1, [l1];
""".strip().split("\n")
