"""Kernels whose shared memory can lie in LDS or in a slot of the arena: the same text gives both."""

HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"
WORDS = 24  # that a thread of `everything` writes
COUNTERS, BARRIER = 32768, 34816  # offsets in the area

# AREA is the variable that spills, SMALL another one, which stays in LDS
VARIABLES = {
    "dynamic": (".extern .shared .align 16 .b8 AREA[];", ""),
    "both": (".extern .shared .align 16 .b8 AREA[]; .shared .align 8 .b8 SMALL[1024];", "SMALL"),
    "static": (".shared .align 16 .b8 AREA[{area}];", ""),
    "statics": (".shared .align 16 .b8 AREA[{area}]; .shared .align 8 .b8 SMALL[1024];", "SMALL"),
}

USE_SMALL = """
  mov.u32 %a3, SMALL; shl.b32 %r20, %tid0, 2; and.b32 %r20, %r20, 1023; add.u32 %a3, %a3, %r20;
  mul.lo.u32 %r21, %tid0, 7; and.b32 %r22, %tid0, 255; setp.eq.u32 %p1, %r22, %tid0; @%p1 st.shared.u32 [%a3], %r21;
  bar.sync 0;
  xor.b32 %r22, %r20, 4; mov.u32 %a4, SMALL; add.u32 %a4, %a4, %r22; ld.shared.u32 %r23, [%a4];
  st.global.u32 [%out+88], %r23; ld.shared.u32 %r23, [SMALL+12]; st.global.u32 [%out+92], %r23;
  cvta.shared.u64 %g3, %ga3; cvt.u64.u32 %ga3, %a3; cvta.shared.u64 %g3, %ga3; ld.u32 %r24, [%g3];
  isspacep.shared %p2, %g3;
  @%p2 st.global.u32 [%out+84], %r24;
"""

EVERYTHING = """
.func touch(.param .b64 p, .param .b32 x) { .reg .b64 %q; .reg .b32 %x, %y;
  ld.param.b64 %q, [p]; ld.param.b32 %x, [x]; ld.u32 %y, [%q]; add.u32 %y, %y, %x; st.u32 [%q], %y;
  atom.shared.add.u32 %y, [AREA+COUNT+40], 3; atom.add.u32 %y, [%q+4], 5; ret; }
.visible .entry everything(.param .u64 in, .param .u64 outs) {
  .reg .b32 %r<40>, %a<8>, %tid0, %n; .reg .b64 %rd<20>, %out, %in, %g<8>, %ga3; .reg .f32 %f<8>; .reg .pred %p<8>;
  .reg .b64 %v<4>; .reg .b16 %h<4>; .local .align 4 .b8 own[8];
  mov.u32 %tid0, %tid.x; mov.u32 %n, %ntid.x; mov.u32 %r1, %ctaid.x;
  ld.param.u64 %out, [outs]; ld.param.u64 %in, [in];
  mad.lo.u32 %r2, %r1, %n, %tid0; mul.wide.u32 %rd1, %r2, 96; add.u64 %out, %out, %rd1;
  mul.wide.u32 %rd2, %tid0, 16; add.u64 %in, %in, %rd2;
  mov.u32 %a1, AREA; shl.b32 %r3, %tid0, 6; add.u32 %a1, %a1, %r3;
  // counters start
  setp.lt.u32 %p1, %tid0, 16; shl.b32 %r4, %tid0, 3; mov.u32 %a2, AREA; add.u32 %a2, %a2, %r4;
  mov.u64 %rd3, 1000; @%p1 st.shared.u64 [%a2+COUNT], %rd3;
  setp.eq.u32 %p2, %tid0, 0; @%p2 mbarrier.init.shared.b64 [AREA+BARR], %n;
  // accesses of all widths
  mad.lo.u32 %r5, %r2, 77, 5; add.u32 %r6, %r5, 1; add.u32 %r7, %r5, 2; add.u32 %r8, %r5, 3;
  st.shared.v4.u32 [%a1], {%r5, %r6, %r7, %r8};
  st.shared.u8 [%a1+16], %r5; st.shared.u8 [%a1+17], %r6; cvt.u16.u32 %h1, %r7; st.shared.u16 [%a1+18], %h1;
  cvt.rn.f32.u32 %f1, %tid0; st.volatile.shared.f32 [%a1+20], %f1;
  cp.async.ca.shared.global [%a1+24], [%in], 8; cp.async.ca.shared.global [%a1+4], [%in+4], 4;
  cp.async.wait_all; bar.sync 0;
  add.u32 %r9, %tid0, 1; rem.u32 %r9, %r9, %n; shl.b32 %r9, %r9, 6; mov.u32 %a5, AREA; add.u32 %a5, %a5, %r9;
  ld.shared.v2.u64 {%v1, %v2}, [%a5]; st.global.v2.u64 [%out], {%v1, %v2};
  ld.shared.s8 %r10, [%a5+17]; ld.shared.u16 %h2, [%a5+18]; cvt.u32.u16 %r11, %h2;
  st.global.v2.u32 [%out+16], {%r10, %r11};
  ld.shared.u64 %v3, [%a5+24]; st.global.u64 [%out+24], %v3;
  // atomics
  atom.shared.add.u32 %r12, [AREA+COUNT], %r5; red.shared.add.u64 [%a0+COUNT+8], %v1;
  cvt.s32.u32 %r13, %r5; atom.shared.min.s32 %r12, [AREA+COUNT+16], %r13; red.shared.max.u32 [AREA+COUNT+24], %r5;
  atom.shared.add.f32 %f2, [AREA+COUNT+32], %f1; atom.acq_rel.cta.shared.inc.u32 %r12, [AREA+COUNT+48], 2000;
  atom.relaxed.gpu.shared.or.b32 %r12, [AREA+COUNT+56], %r5; red.shared.xor.b32 [AREA+COUNT+60], %r6;
CAS: ld.volatile.shared.u64 %rd4, [AREA+COUNT+64]; add.u64 %rd5, %rd4, 9;
  atom.shared.cas.b64 %rd6, [AREA+COUNT+64], %rd4, %rd5; setp.ne.u64 %p3, %rd6, %rd4; @%p3 bra CAS;
  atom.shared.cas.b32 %r12, [%a1+20], 0, 55;
  // generic addresses, here and in a function
  cvt.u64.u32 %rd7, %a1; cvta.shared.u64 %g1, %rd7; st.u32 [%g1+32], %r6; st.u32 [%g1+36], %r7;
  ld.shared.u32 %r14, [%a1+32]; st.global.u32 [%out+32], %r14;
  { .param .b64 p; .param .b32 x; add.u64 %g2, %g1, 32; st.param.b64 [p], %g2; st.param.b32 [x], %tid0;
  call.uni touch, (p, x); }
  ld.shared.v2.u32 {%r14, %r15}, [%a1+32]; st.global.v2.u32 [%out+40], {%r14, %r15};
  isspacep.shared %p4, %g2; selp.u32 %r16, 1, 0, %p4; isspacep.global %p5, %g2; selp.u32 %r17, 2, 0, %p5;
  or.b32 %r16, %r16, %r17;
  isspacep.shared %p4, %in; selp.u32 %r17, 4, 0, %p4; or.b32 %r16, %r16, %r17; isspacep.global %p5, %in;
  selp.u32 %r17, 8, 0, %p5;
  or.b32 %r16, %r16, %r17; cvta.local.u64 %g4, own; isspacep.shared %p4, %g4; selp.u32 %r17, 16, 0, %p4;
  or.b32 %r16, %r16, %r17;
  isspacep.local %p4, %g2; selp.u32 %r17, 32, 0, %p4; or.b32 %r16, %r16, %r17;
  cvta.to.shared.u64 %rd8, %g2; cvt.u32.u64 %r18, %rd8; sub.u32 %r18, %r18, %a1;
  st.global.v2.u32 [%out+48], {%r16, %r18};
  // a barrier object
  mbarrier.arrive.shared.b64 %rd9, [AREA+BARR];
WAIT: mbarrier.test_wait.shared.b64 %p6, [AREA+BARR], %rd9; @!%p6 bra WAIT;
  ld.shared.u32 %r19, [AREA+COUNT]; st.global.u32 [%out+36], %r19;
  bar.sync 0;
  and.b32 %r20, %tid0, 15; shl.b32 %r20, %r20, 2; mov.u32 %a6, AREA; add.u32 %a6, %a6, %r20; add.u32 %a6, %a6, COUNT;
  ld.shared.u32 %r21, [%a6]; ld.shared.u32 %r22, [%a6+12]; st.global.v2.u32 [%out+56], {%r21, %r22};
  // eight rows of 16 bytes
  and.b32 %r23, %tid0, 31; shl.b32 %r23, %r23, 6; mov.u32 %a7, AREA; add.u32 %a7, %a7, %r23;
  ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%r24, %r25}, [%a7];
  ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r26}, [%a7+16];
  st.global.v2.u32 [%out+64], {%r24, %r25}; st.global.u32 [%out+72], %r26;
  MORE
  ret;
}
"""


def everything(which: str, area: int) -> str:
    variables, small = VARIABLES[which]
    text = variables.format(area=area) + EVERYTHING.replace("MORE", USE_SMALL if small else "")
    text = text.replace("[%a0+COUNT+8]", "[AREA+COUNT+8]").replace("COUNT", str(COUNTERS)).replace("BARR", str(BARRIER))
    return HEAD + text


# Ways out of a kernel, by block and thread. Every thread adds 1 to its block's place in `out` before it goes.
EXITS = (
    HEAD
    + """
.extern .shared .align 16 .b8 AREA[];
.func leave(.param .b32 x) { .reg .b32 %x; .reg .pred %p; ld.param.b32 %x, [x]; setp.gt.u32 %p, %x, 40; @%p exit;
  st.shared.u32 [AREA+8], %x; ret; }
.visible .entry exits(.param .u64 out) {
  .reg .b32 %r<20>, %a<4>; .reg .b64 %rd<8>; .reg .pred %p<8>;
  ld.param.u64 %rd1, [out]; mov.u32 %r1, %ctaid.x; mul.wide.u32 %rd2, %r1, 4; add.u64 %rd1, %rd1, %rd2;
  mov.u32 %r2, %tid.x; mov.u32 %r11, %tid.y; mov.u32 %r12, %ntid.x; mad.lo.u32 %r2, %r11, %r12, %r2;
  mov.u32 %a1, AREA; shl.b32 %r3, %r2, 2; add.u32 %a1, %a1, %r3;
  xor.b32 %r4, %r2, %r1; st.shared.u32 [%a1+16], %r4; ld.shared.u32 %r5, [%a1+16]; sub.u32 %r5, %r5, %r4;
  add.u32 %r5, %r5, 1;
  red.global.add.u32 [%rd1], %r5;
  and.b32 %r6, %r1, 7;
  setp.eq.u32 %p1, %r6, 0; @%p1 ret;
  setp.eq.u32 %p2, %r6, 1; @%p2 exit;
  setp.ne.u32 %p3, %r6, 2; @%p3 bra L3;
  and.b32 %r7, %r2, 1; setp.eq.u32 %p4, %r7, 0; @%p4 exit; // every other lane
  bra LOOPS;
L3: setp.ne.u32 %p3, %r6, 3; @%p3 bra L4;
  setp.lt.u32 %p4, %r2, 40; @%p4 ret; // a wave and a part of one
  ret;
L4: setp.ne.u32 %p3, %r6, 4; @%p3 bra L5;
  { .param .b32 x; st.param.b32 [x], %r2; call.uni leave, (x); }
  bar.sync 0; exit;
L5: setp.ne.u32 %p3, %r6, 5; @%p3 bra L6;
T: .branchtargets L6, L6, LOOPS;
  rem.u32 %r7, %r2, 3; brx.idx %r7, T;
L6: setp.eq.u32 %p4, %r2, 0; @!%p4 exit; // all but one, which goes on for long
  mov.u32 %r8, 500;
LONG: sub.u32 %r8, %r8, 1; st.volatile.shared.u32 [AREA], %r8; setp.ne.u32 %p5, %r8, 0; @%p5 bra LONG; exit;
LOOPS: and.b32 %r9, %r2, 63; // lanes leave a loop one after another
TURN: setp.eq.u32 %p6, %r9, 0; @%p6 ret; sub.u32 %r9, %r9, 1; bra TURN;
}
"""
)

# What a launch appends to the parameters, read in a kernel and in a function
LAUNCH_WORDS = (
    HEAD
    + """
.extern .shared .align 16 .b8 AREA[];
.func (.param .b64 r) workspace(.param .b32 x) { .reg .b32 %a, %b; .reg .b64 %c; mov.u32 %a, %envreg1;
  mov.u32 %b, %envreg2;
  mov.b64 %c, {%b, %a}; st.param.b64 [r], %c; ret; }
.visible .entry words(.param .u64 out, .param .u8 odd) {
  .reg .b32 %r<8>; .reg .b64 %rd<8>; ld.param.u64 %rd1, [out];
  { .param .b64 r; .param .b32 x; st.param.b32 [x], 0; call.uni (r), workspace, (x); ld.param.b64 %rd2, [r]; }
  mov.u32 %r1, %envreg1; mov.u32 %r2, %envreg2; mov.b64 %rd3, {%r2, %r1};
  mov.u32 %r3, %dynamic_smem_size; mov.u32 %r4, %total_smem_size; ld.param.u8 %r5, [odd]; mov.u32 %r6, %envreg3;
  st.shared.u32 [AREA], %r3; ld.shared.u32 %r7, [AREA]; add.u32 %r5, %r5, %r6;
  st.global.u64 [%rd1], %rd2; st.global.u64 [%rd1+8], %rd3; st.global.v4.u32 [%rd1+16], {%r3, %r4, %r5, %r7}; ret; }
"""
)

# Functions behind addresses, which have shared memory of their own and use the kernel's; the addresses are those that
# `fill`, another kernel, has stored
THROUGH_ADDRESSES = (
    HEAD
    + """
.extern .shared .align 16 .b8 AREA[];
.global .u64 table[2];
.func (.param .b32 r) deep(.param .b32 x) { .shared .align 4 .b8 own[4096]; .reg .b32 %x, %a, %b;
  ld.param.b32 %x, [x]; shl.b32 %a, %x, 2; mov.u32 %b, own; add.u32 %b, %b, %a; st.shared.u32 [%b], %x; bar.sync 0;
  xor.b32 %a, %a, 4; mov.u32 %b, own; add.u32 %b, %b, %a; ld.shared.u32 %x, [%b]; st.param.b32 [r], %x; ret; }
.func (.param .b32 r) far(.param .b32 x) { .reg .b32 %x, %a, %b; .reg .pred %p;
  ld.param.b32 %x, [x]; shl.b32 %a, %x, 2; mov.u32 %b, AREA; add.u32 %b, %b, %a; atom.shared.add.u32 %x, [%b], 9;
  setp.eq.u32 %p, %x, 1007; @%p exit; st.param.b32 [r], %x; ret; }
.visible .entry fill(.param .u64 out) { .reg .b64 %f; mov.u64 %f, deep; st.global.u64 [table], %f; mov.u64 %f, far;
  st.global.u64 [table+8], %f; ret; }
.visible .entry ask(.param .u64 out) {
  .reg .b32 %r<9>; .reg .b64 %rd<6>; .reg .pred %p;
  ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x;
  mad.lo.u32 %r2, %r2, %r3, %r1; mul.wide.u32 %rd2, %r2, 8; add.u64 %rd1, %rd1, %rd2;
  shl.b32 %r4, %r1, 2; mov.u32 %r5, AREA; add.u32 %r5, %r5, %r4; add.u32 %r6, %r1, 1000; st.shared.u32 [%r5], %r6;
  ld.global.u64 %rd3, [table]; ld.global.u64 %rd4, [table+8];
  kind: .callprototype (.param .b32 _) _ (.param .b32 _);
  { .param .b32 p; .param .b32 q; st.param.b32 [p], %r1; call (q), %rd3, (p), kind; ld.param.b32 %r7, [q]; }
  st.global.u32 [%rd1], %r7;
  { .param .b32 p; .param .b32 q; st.param.b32 [p], %r1; call (q), %rd4, (p), kind; ld.param.b32 %r7, [q]; }
  ld.shared.u32 %r8, [%r5]; add.u32 %r7, %r7, %r8; st.global.u32 [%rd1+4], %r7; ret; }
"""
)

# Threads write a value into the slot and look at it several times; the last store is under way when they exit.
# Counts the threads that saw another value.
LATE_STORES = (
    HEAD
    + """
.extern .shared .align 16 .b8 area[];
.visible .entry late(.param .u64 out) {
  .reg .b64 %o; .reg .b32 %t, %b, %v, %a, %c, %x, %i; .reg .pred %p;
  ld.param.u64 %o, [out]; mov.u32 %t, %tid.x; mov.u32 %b, %ctaid.x;
  mad.lo.u32 %v, %b, 1024, %t; shl.b32 %a, %t, 2; mov.u32 %x, area; add.u32 %a, %a, %x;
  mov.u32 %i, 0; mov.u32 %c, 0;
  st.shared.u32 [%a+140000], %v;
  bar.sync 0;
AGAIN:
  ld.volatile.shared.u32 %x, [%a+140000];
  setp.ne.u32 %p, %x, %v; @%p add.u32 %c, %c, 1;
  add.u32 %i, %i, 1; setp.lt.u32 %p, %i, 10; @%p bra AGAIN;
  setp.ne.u32 %p, %c, 0;
  @%p red.global.add.u32 [%o], 1;
  st.shared.u32 [%a+140000], -1;
  ret;
}
"""
)
