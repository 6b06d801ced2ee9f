"""Operands, constants, calls and labels: accepted and rejected as ptxas does."""

from __future__ import annotations

HEADER = """.version 9.0
.target sm_90a
.address_size 64
.global .b32 gv[16];
.global .v4 .f32 gv4;
.extern .func ext(.param .b32 x);
.extern .func (.param .b32 r) ext2(.param .b32 x, .param .b32 y);
.func (.reg .u32 r) fr(.reg .u32 a, .reg .f32 b) { mov.u32 r, a; ret; }
.func (.param .u32 r) fp(.param .u32 a, .param .b64 b) { ret; }
.func fa(.param .align 8 .b8 x[16]) { ret; }
"""
REGISTERS = """.reg .pred p<10>; .reg .b16 h<10>; .reg .b32 r<10>; .reg .f32 f<10>;
.reg .b64 l<10>; .reg .f64 d<10>; .reg .u32 u<4>; .reg .s32 s<4>;
.reg .v4 .b32 v; .reg .v2 .f32 w; .reg .v4 .f32 vf; .reg .v2 .b64 vl; .reg .v2 .b32 w2; .reg .v4 .s16 vh;
.param .align 8 .b16 pa16[8]; .param .align 8 .b64 pa3[3];
.param .b32 pa; .param .b64 pb; .param .b32 pr; .param .f32 pf;
.local .b32 lo[4]; .shared .f32 sh[4];
T1: .branchtargets L1;
P1: .callprototype (.param .b32 _) _ (.param .b32 _, .param .b64 _);"""

ACCEPTED = r"""
ld.global.u32 r1, gv[2];
mov.u64 l1, gv[2];
ld.global.u32 r1, gv[r2];
@p1 st.global.u32 gv[h2+3], r1;
mov.u64 l1, gv[l2];
mov.u64 l1, 0x1FFFFFFFFFFFFFFFF;
vmad.s32.s32.u32 s1, -s2.b0, r2, r3;
vmad.u32.u32.u32 u1, -u2, -u3, u1;
vmad.s32.u32.u32.shr7 s1, u2, u3, -s2;
ld.global.v4.b32 v, [l1];
ld.global.v2.f32 w, [l1];
st.global.v4.b32 [l1], v;
mov.b32 r1, v.x;
mov.b32 v.y, r1;
mov.b32 r1, v.r;
mov.b32 r1, v.w;
mov.b32 r1, v.a;
mov.f32 f1, w.y;
add.f32 f1, vf.x, vf.y;
add.f32 vf.x, vf.x, vf.y;
mov.v4.b32 v, v;
mov.v4.f32 vf, {f1,f2,f3,f4};
mov.v2.f32 w, w;
mov.b64 l1, w;
mov.b64 w, l1;
mov.b64 l1, w2;
mov.b64 vh, l1;
mov.b64 l1, vh;
mov.v2.b64 vl, vl;
mov.b64 l1, {v.x, v.y};
mov.b64 {v.x, v.y}, l1;
mov.b32 {vh.x, vh.y}, r1;
ld.global.v2.b32 {v.x, v.y}, [l1];
tex.2d.v4.f32.f32 vf, [l1, w];
tex.2d.v4.f32.f32 vf, [l1, {w.x, w.y}];
mov.b32 r1, -5;
mov.b32 r1, !5;
and.pred p1, p2, !p3;
or.pred p1, !p2, !p3;
not.pred p1, !p2;
selp.b32 r1, r2, r3, 1;
setp.eq.and.u32 p1, r1, r2, !p3;
setp.eq.u32 p1|p2, r1, r2;
setp.eq.u32 p1|_, r1, r2;
setp.eq.u32 _|p2, r1, r2;
mov.pred p1, 1;
mov.pred p1, 0;
mov.pred p1, 5;
and.pred p1, p2, 1;
@p1 mov.u32 r1, 1;
@!p1 mov.u32 r1, 1;
@ p1 mov.u32 r1, 1;
@!  p1 mov.u32 r1, 1;
call (r1), fr, (r2, f1);
call (r1), fr, (r2, r1);
call (s1), fr, (s2, f1);
call (r1), fr, (3, f1);
call (r1), fr, (3, 1.0);
call (pr), fp, (pa, pb);
call (r1), fp, (r2, l1);
call fa, (pa16);
call (pr), fp, (5, 6);
call.uni (pr), fp, (pa, pb);
call ext, (pa);
call ext, (r1);
call (pr), l1, (pa, pb), P1;
call (pr), r1, (pa, pb), P1;
mov.u64 l1, fp;
mov.u32 r1, WARP_SZ;
mov.u32 r1, WARP_SZ+1;
mov.u32 r1, 0x10U;
mov.u32 r1, 0b101U;
mov.u32 r1, 017U;
mov.f32 f1, 0F3f800000;
mov.f32 f1, 1.;
mov.f32 f1, .5;
mov.f32 f1, 1e10;
mov.f32 f1, -1.5e-3;
mov.f32 f1, 0d3ff0000000000000;
mov.f64 d1, 0f3f800000;
mov.u32 r1, (.s64)5;
mov.u32 r1, (.u64)5;
mov.u32 r1, 5>3?1:2;
mov.u32 r1, (5>3)&&(2<1)||1;
mov.u32 r1, ~0U>>3;
mov.u32 r1, -1>>3;
mov.u32 r1, 3*-2;
mov.u64 l1, 0xFFFFFFFFFFFFFFFF;
mov.u32 r1, 0x1FFFFFFFF;
add.u32 r1, r1, 4294967296;
mov.v4.u32 v, %tid;
mov.u16 h1, %tid.x;
mov.u32 r1, %clock_hi;
cvt.u32.u16 r1, %tid.x;
@p1 bra L1;
{ bra L1; }
{ .reg .b32 r1; mov.b32 r1, 1; }
{ L1: mov.b32 r1, 1; }
{ L5: bra L5; }
{ L5: bra L5; } { L5: bra L5; }
.reg .b32 zz, zy<3>; mov.b32 zy2, zz;
.reg .b32 %r<10>; mov.b32 %r9, %r0;
{ .param .b32 q<2>; .param .b32 o; st.param.b32 [q0], r1; st.param.b32 [q1], r2; call (o), ext2, (q0, q1); }
.shared .b32 q<2>; st.shared.b32 [q1], r1;
.shared .b32 q<2>; st.shared.b32 [q1+4], r1;
.reg .b32 $a_1, _b, %c$; mov.b32 $a_1, _b;
.reg .b32 add; add.u32 add, add, 1;
.reg .b32 mov, ret; mov.u32 mov, ret;
.pragma "unknown thing";
.pragma "a", "b";
brx.idx r1, T1;
brx.idx.uni r1, T1;
T2: .branchtargets L1; brx.idx r1, T2;
C1: .calltargets fp; call (pr), l1, (pa, pb), C1;
P2: .callprototype _ (.param .b32 q); call l1, (pa), P2;
P2: .callprototype (.param .b32 _) _ (); call (pr), l1, P2;
P2: .callprototype (.param .b32 _) _ (); call (pr), l1, (), P2;
P2: .callprototype _ (.param .b32 _, .param .align 8 .b8 _[16]) .noreturn;
st.param.b32 [pa+0], 5;
st.param.b32 [pa], r1;
ld.local.u32 r1, [lo+4];
ld.local.u32 r1, lo[1];
ld.shared.f32 f1, sh[1];
st.shared.f32 sh[1], f1;
ld.shared.f32 f1, [sh+4*1];
ld.shared.f32 f1, [sh+(4*1)];
ld.shared.f32 f1, [r1+-4];
ld.shared.f32 f1, [r1 + 4];
ld.global.f32 f1, [l1+0x10];
ld.global.f32 f1, [gv+WARP_SZ];
ld.global.f32 f1, [gv+4294967296];
ld.global.f32 f1, [l1+2147483648];
ld.global.f32 f1, [l1+-2147483649];
ld.shared.u32 r1, [l1];
ld.shared.u32 r1, [h1];
ld.u32 r1, [gv];
ld.global.v2.u32 {r1,_}, [l1];
ld.global.v2.u32 {r1,r1}, [l1];
st.global.v2.u32 [l1], {1, r2};
st.global.u32 [l1], 5;
st.global.f32 [l1], 0f3f800000;
st.global.u8 [l1], 5;
mad.lo.s32 r1, r2, 3, 4;
mul.wide.u32 l1, r1, 4;
mul.wide.u32 l1, r1, -4;
shl.b32 r1, r1, 33;
shl.b64 l1, l1, r1;
lop3.b32 r1, r2, r3, r4, 0x3c;
lop3.b32 r1, r2, r3, r4, 256;
prmt.b32 r1, r2, r3, 0x1234;
vadd.u32.u32.u32 r1, r2.b0, r3.h1;
bar.sync 0;
bar.sync r1, 64;
ret.uni;
exit;
trap;
nanosleep.u32 100;
nanosleep.u32 r1;
membar.gl;
isspacep.global p1, l1;
cvta.global.u64 l1, gv;
cvta.to.global.u64 l1, l2;
cvta.global.u64 l1, gv+4;
mov.u64 l1, sh;
mov.u32 r1, sh;
mov.b64 l1, {r1, 5};
mov.b64 {r1, _}, l1;
mov.b32 {h1, h2}, r1;
mov.b32 r1, {h1, 3};
mov.v4.b32 {r1,r2,r3,r4}, {r5,r6,r7,r8};
mov.v2.u32 {r1,r2}, {3,4};
mov.v4.b32 v, vf;
mov.v4.s16 vh, vh;
mov.v2.b64 {l1,l2}, {l2,l1};
mov.v4.u32 {r1,r2,r3,r4}, %tid;
mov.v4.b32 v, {r1,_,r2,r3};
mov.v4.b32 {r1,_,r2,r3}, v;
ld.local.b32 r1, lo[1+2];
ld.local.v2.b32 {r1,r2}, lo[2];
""".strip().split("\n")

REJECTED = r"""
ld.global.u32 r1, gv[f2];
ld.global.u32 r1, lo[gv];
atom.global.add.u32 r1, gv[r2], 1;
vmad.s32.s32.s32.po s1, -s2, s3, s1;
vadd.s32.s32.s32 s1, -s2, s3;
add.s32 s1, -s2, s3;
ld.global.u32 r1, gv;
ld.global.u32 r1, [gv[2]];
add.f32 w, w, w;
mov.v4.f32 vf, gv4;
mov.b128 v, v;
add.u32 r1, -r2, r3;
add.s32 r1, -r2, r3;
add.f32 f1, -f2, f3;
sub.f32 f1, f2, -f3;
mul.f32 f1, -f2, f3;
fma.rn.f32 f1, -f2, f3, -f4;
mov.f32 f1, -f2;
mov.u32 r1, -r2;
mul.f64 d1, -d2, d3;
setp.lt.f32 p1, -f1, f2;
selp.f32 f1, -f1, f2, p1;
cvt.f64.f32 d1, -f1;
@1 mov.u32 r1, 1;
call (r1), fr, (r2);
call (r1), fr, (r2, f1, f2);
call fr, (r2, f1);
call (f1), fr, (r2, f1);
call (l1), fr, (r2, f1);
call (r1), fr, (h1, f1);
call (r1, r2), fr, (r2, f1);
call fa, (pa3);
call (pr), fp, (pb, pa);
call (pr), fp, (pa);
call (pf), fp, (pa, pb);
call ext, (pb);
call ext;
call (pr), ext, (pa);
call (pr), l1, (pa), P1;
call (pr), l1, (pb, pa), P1;
call (pr), l1, (pa, pb), T1;
call (pr), l1, (pa, pb);
call (pr), nosuch, (pa, pb);
mov.f32 f1, 0x3f800000;
mov.f64 d1, 1;
mov.u32 r1, (.u32)5;
mov.u32 r1, (.f32)5;
mov.u32 r1, 1.5;
mov.u32 r1, 'a';
mov.u32 r1, %tid.q;
add.u32 r1, %tid.x, 1;
add.u32 r1, r1, %laneid;
bra L2;
{ L5: } bra L5;
.reg .b32 %r<10>; mov.b32 %r10, %r0;
.shared .b32 q<2>; st.shared.b32 [q2], r1;
.shared .b32 q<2>; st.shared.b32 [q], r1;
.shared .b32 q<2>, q1;
.reg .b32 %; mov.b32 %, r1;
.reg .b32 _;
mov.b32 _, r1;
add.u32 _, r1, r2;
ld.global.u32 _, [l1];
.reg .b32 x.y;
.loc 1 2 3;
brx.idx r1, T1, 1;
brx.idx l1, T1;
brx.idx r1, P1;
T2: .branchtargets L1, L9;
ld.shared.f32 f1, [sh-4];
ld.shared.f32 f1, [4];
ld.shared.f32 f1, [-4];
ld.shared.f32 f1, [r1-4];
ld.global.f32 f1, [l1+r1];
ld.f32 f1, [f1];
ld.u32 r1, [r1];
ld.shared.u32 r1, [gv];
ld.global.u32 r1, [sh];
ld.global.v3.u32 {r1,r2,r3}, [l1];
st.global.f32 [l1], 5;
shl.b64 l1, l1, l2;
lop3.b32 r1, r2, r3, r4, r5;
mov.b32 r1, r2.b0;
cvta.global.u64 l1, sh;
mov.u64 l1, generic(gv);
mov.b64 {_, _}, l1;
mov.v4.b64 {l1,l2,l3,l4},{l1,l2,l3,l4};
mov.v8.b32 {r1,r2,r3,r4,r5,r6,r7,r8},{r1,r2,r3,r4,r5,r6,r7,r8};
mov.b128 v, v;
mov.v2.u32 {r1,r2}, %tid;
ld.local.b32 r1, [lo[2]];
atom.global.add.u32 r1, gv[2], 1;
prefetch.global.L1 gv[2];
mov.b64 l1, vf;
""".strip().split("\n")

LENIENT = {  # what we take and ptxas does not, and why that does no harm
    "mov.u32 r1, gv[2];": "a 32-bit address in a 64-bit module is the programmer's wish",
    "mov.u32 r1, 10%3;": "ptxas reads %3 as a name",
    ".loc 1 2 3, function_name $n, inlined_at 1 2 3": "the outer position is not looked up",
    '.file 2 "x"': "in a body as at module level",
    "C1: .calltargets fp, ext; call (pr), l1, (pa, pb), C1;": "the first target's signature counts",
    "bfe.u32 r1, r2, 300, 5;": "constants are taken modulo 256",
    "bar.sync 16;": "the lowering refuses it",
    "barrier.sync 0, 33;": "the lowering refuses it",
    "mov.u64 l1, pa;": "a parameter's address, as of a kernel's",
}

STRICT = {  # what ptxas takes and we do not
    "mov.f32 f1, w.z;": "a vector of two has no third element",
}
