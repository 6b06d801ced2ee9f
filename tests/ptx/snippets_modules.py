"""Variables, initial values, function heads, redeclarations: accepted and rejected as ptxas does."""

from __future__ import annotations

from tests.ptx.snippets_operands import HEADER as HEADER

ACCEPTED = r"""
.global .u32 a1 = WARP_SZ;
.global .u32 a1 = 5 + 3 * 2;
.global .u64 a1 = gv + 8;
.global .u32 a1 = generic(gv);
.global .u8 a1[4] = {0xff(gv), 0xff00(gv), 0xff0000(gv), 0xff000000(gv)};
.global .u8 a1 = 0xff(gv);
.global .f32 a1 = 1.5;
.global .f32 a1[2] = {0f3f800000, 0d3ff0000000000000};
.global .f64 a1 = 0f3f800000;
.global .b16 a1 = 0x3c00;
.global .b8 a1[] = {1,2,3};
.global .b8 a1[2][2] = {{1,2},{3}};
.global .b8 a1[WARP_SZ];
.global .v2 .f32 a1 = {1.0, 2.0};
.global .v2 .f64 a1;
.global .align 16 .b8 a1[3];
.const .b32 a1 = 5;
.extern .global .b32 a1; .visible .global .b32 a1;
.extern .global .b32 a1; .extern .global .b32 a1;
.extern .const .b32 a1[];
.weak .const .b32 a1 = 3;
.common .global .b32 a1;
.common .global .b32 a1 = 3;
.weak .func f9() {ret;}
.weak .func f9(); .weak .func f9() {ret;}
.visible .func f9(); .func f9() {ret;}
.func f9(); .func f9() {ret;}
.func f9(.param .b32 a); .func f9(.param .b32 b) {ret;}
.visible .entry f9(); .visible .entry f9() {ret;}
.entry f9(.param .b128 x) {ret;}
.func f9(.param .b128 x) {ret;}
.func (.reg .b32 a) f9(.param .b32 b) {ret;}
.func f9(.reg .b32 a, .param .b32 b) {ret;}
.entry f9() .maxntid 2000 {ret;}
.entry f9() .maxnreg 300 {ret;}
.entry f9() .minnctapersm 2 {ret;}
.entry f9() .maxntid 32 .minnctapersm 65535 {ret;}
.extern .func f9(.param .align 256 .b8 x[4]) .entry f8() {ret;}
.func (.param .align 128 .b8 a[4]) f9(.param .align 128 .b8 b[4]) {ret;}
.func f9(.reg .align 256 .b32 x) {ret;}
.const .b8 a1[40000]; .const .align 256 .b8 a2[25536];
.entry f9() {.shared .b8 a1[232448]; ret;}
.func f9() .noreturn {ret;}
.extern .func f9(.param .b32 b) .func f8() {ret;}
.extern .func (.param .b32 a) f9(.param .b32 b) .global .b32 a1;
.extern .func f9 .visible .entry f8(.param .u64 .ptr .global .align 8 p) {ret;}
.entry f9() .reqnctapercluster 2 {ret;}
.entry f9() .blocksareclusters .reqntid 32 .reqnctapercluster 2 {ret;}
.func f9() .abi_preserve 3 {ret;}
.visible .func f8(){ret;} .visible .func f9(); .alias f9, f8;
.file 1 "x.cu"
.global .texref t[4];
.global .texref t = { channel_data_type = 1 };
.entry f9(.param .texref t) {ret;}
.entry f9(.param .u64 .ptr .shared .align 8 p) {ret;}
.entry f9(.param .u32 .ptr .global p) {ret;}
.entry f9(.param .align 16 .b8 x[4]) {ret;}
.entry f9(.param .align 256 .b8 x[4]) {ret;}
.func f9(.param .b8 x[]) {ret;}
.global .attribute(.managed) .b32 a1;
// nested /* comment
.global .b32 $$, __x, %y;
.visible .entry f9() { {} ret; }
.entry f9(.param .b32 gv) { ret; }
.entry f9() { .reg .b32 gv; ret; }
.entry f9() { .reg .b32 f9; ret; }
.entry f9() { .global .b32 g1 = 5; ret; }
.entry f9() { .const .b32 g1 = 5; ret; }
.entry f9() { .const .b32 g1; ret; }
.entry f9() { .param .b32 g1; ret; }
.entry f9() { .local .align 8 .b8 g1[16]; ret; }
.entry f9() { .reg .b32 r<0>; ret; }
.entry f9() { .reg .b32 r<5>, q; mov.b32 r4, q; ret; }
.entry f9() { .reg .v2 .b32 r<5>; ret; }
.entry f9() { .reg .align 4 .b32 r; ret; }
.entry f9() { .reg .b128 r; ret; }
.entry f9() { .reg .f16x2 r; ret; }
.entry f9() { .reg .u8 r; ret; }
.entry f9() { .reg .s8 r; ret; }
.entry f9() { L: bra L; }
.entry f9() { L: L2: bra L; }
.entry f9() { bra L; L: }
.entry f9() { .reg .b32 a; { .reg .f32 a; mov.f32 a, 1.0; } mov.b32 a, 1; ret; }
.extern .func xx(.param .align 8 .b8 x[16]); .entry f9() { .param .align 8 .b8 a[16]; call xx, (a); ret; }
.extern .func xx(.param .f32 x); .entry f9() { .param .b32 a; call xx, (a); ret; }
.extern .func xx(.param .b32 x); .entry f9() { .param .f32 a; call xx, (a); ret; }
.extern .func xx(.param .s32 x); .entry f9() { .param .u32 a; call xx, (a); ret; }
.extern .func xx(.param .b8 x[]); .entry f9() { .param .b8 a[8]; call xx, (a); ret; }
.extern .func xx(.param .u32 x[2]); .entry f9() { .param .b32 a[2]; call xx, (a); ret; }
.extern .func xx(.param .f32 x[2]); .entry f9() { .param .b32 a[2]; call xx, (a); ret; }
.extern .func xx(.param .f16 x); .entry f9() { .param .b16 a; call xx, (a); ret; }
.extern .func xx(.param .b64 x); .entry f9() { .param .f64 a; call xx, (a); ret; }
""".strip().split("\n")

REJECTED = r"""
.entry f9() .entry f8() {ret;}
.global .u64 a1 = 8 + gv;
.global .u64 a1 = gv - 8;
.global .u64 a1 = generic(gv) - 8;
.global .u64 a1 = &gv;
.global .u16 a1[2] = {0xff(gv), 1};
.global .f32 a1 = 1;
.global .f16 a1 = 1.0;
.global .f32 a1 = gv;
.global .pred a1;
.global .b8 a1[];
.global .b8 a1[2] = {1,2,3};
.global .b8 a1[2][2] = {1,2,3,4};
.global .b8 a1[2][2] = {{1,2},{3,4,5}};
.global .b8 a1[0];
.global .b8 a1[-1];
.global .b8 a1[2*3];
.global .v4 .f32 a1[2] = {{1.0,2.0,3.0,4.0},{1.0}};
.global .v3 .f32 a1;
.global .v4 .f64 a1;
.global .align 3 .b8 a1;
.global .align 0 .b8 a1;
.shared .b32 a1 = 5;
.local .b32 a1;
.param .b32 a1;
.reg .b32 a1;
.reg .b32 a1; .func f9() { mov.b32 a1, 1; }
.const[1] .b32 a1;
.visible .global .b32 a1; .visible .global .b32 a1;
.extern .global .b32 a1 = 5;
.common .shared .b32 a1;
.common .const .b32 a1;
.common .func f9() { ret; }
.func f9(.param .b32 a); .func f9() {ret;}
.func f9(.param .b32 a); .func f9(.param .f32 b) {ret;}
.extern .func f9(); .func f9() {ret;}
.extern .func f9(); .visible .func f9() {ret;}
.func f9() {ret;} .func f9() {ret;}
.entry f9(.reg .b32 x) {ret;}
.entry f9(.param .pred x) {ret;}
.func (.param .b32 a, .param .b32 b) f9() {ret;}
.entry f9() .maxntid 0 {ret;}
.entry f9() .reqntid 32, 0 {ret;}
.entry f9() .maxnreg 0 {ret;}
.entry f9() .maxntid 32 .minnctapersm 0 {ret;}
.func f9(.param .align 256 .b8 x[4]) {ret;}
.func (.param .align 256 .b8 x[4]) f9() {ret;}
.func f9() {.param .align 512 .b8 x[4]; ret;}
.entry f9() {.param .align 256 .b8 x[4]; ret;}
.const .b8 a1[65537];
.func (.reg .b32 r) f8(.reg .b32 a) {ret;} .global .b32 a1; .entry f9() {.reg .b32 x; L: call (f9), f8, (x); ret;}
.func (.reg .b32 r) f8(.reg .b32 a) {ret;} .global .b32 a1; .entry f9() {.reg .b32 x; L: call (L), f8, (x); ret;}
.func (.reg .b32 r) f8(.reg .b32 a) {ret;} .global .b32 a1; .entry f9() {.reg .b32 x; L: call (a1), f8, (x); ret;}
.func (.reg .b32 r) f8(.reg .b32 a) {ret;} .global .b32 a1; .entry f9() {.reg .b32 x; L: call ([x]), f8, (x); ret;}
.func (.reg .b32 r) f8(.reg .b32 a) {ret;} .global .b32 a1; .entry f9() {.reg .b32 x; L: call (x), f8, (a1); ret;}
.func (.reg .b32 r) f8(.reg .b32 a) {ret;} .global .b32 a1; .entry f9() {.reg .b32 x; L: call (x), f8, ([x]); ret;}
.func (.reg .b32 r) f8(.reg .b32 a) {ret;} .global .b32 a1; .entry f9() {.reg .b32 x; L: call (x), f8, (_); ret;}
.func f8(.reg .pred a) {ret;} .entry f9() {call f8, (1); ret;}
.const .b8 a1[40000]; .const .b8 a2[40000]; .entry f9() {ret;}
.entry f9() .maxntid 32 .reqntid 32 {ret;}
.entry f9() .maxntid 1,2,3,4 {ret;}
.entry f9() .noreturn {ret;}
.func f9() .maxnreg 32 {ret;}
.entry f9() .abi_preserve 3 {ret;}
.func f9() .language 3 {ret;}
.visible .func f8(){ret;} .alias f9, f8;
.visible .func f9(); .alias f9, f8;
.visible .func f9(); .visible .func f8(.param .b32 x){ret;} .alias f9, f8;
.visible .entry f8(){ret;} .visible .func f9(); .alias f9, f8;
.section .debug_x { .b8 1, 2; .b32 5; L1: .b64 L1; }
.global .texref t; .global .samplerref s; .global .surfref u;
.global .samplerref s = { addr_mode_0 = clamp_to_edge, filter_mode = nearest };
.shared .texref t;
.func f9(.param .texref t) {ret;}
.entry f9(.param .u64 .ptr .foo p) {ret;}
.entry f9(.param .v2 .f32 x) {ret;}
.func f9(.param .b32 x, ...) {ret;}
.func f9(.param .b8 x[], .param .b32 y) {ret;}
.shared .attribute(.managed) .b32 a1;
.global .attribute(.foo) .b32 a1;
.global .b32 é;
.global .b32 a1 // no semicolon
.global .b32 %;
.global .b32 1a;
.global .b32 a1;;
.visible .entry f9() { ret }
.visible .entry f9() { ;;; ret; ; }
.visible .entry f9() { ret; } ;
.visible .visible .entry f9() { ret; }
.extern .visible .global .b32 a1;
.global .b32 a1, a1;
.entry gv() { ret; }
.entry f9(.param .b32 x, .param .b32 x) { ret; }
.entry f9() { .shared .b32 s1 = 5; ret; }
.entry f9() { .extern .shared .b32 g1[]; ret; }
.entry f9() { .reg .b32 r[4]; ret; }
.entry f9() { .reg .b32 r = 4; ret; }
.entry f9() { .reg .b1 r; ret; }
.entry f9() { .reg .bf16 r; ret; }
.entry f9() { .reg .bf16x2 r; ret; }
.entry f9() { .reg .tf32 r; ret; }
.entry f9() { .reg .e4m3 r; ret; }
.entry f9() { bra L; L: ret; L: ret; }
.entry f9() { .reg .b32 L; L: ret; }
.entry f9() { .loc 1 2 3; ret; }
.entry f9() { mov.b32 a, 1; .reg .b32 a; ret; }
.extern .func xx(.param .align 8 .b8 x[16]); .entry f9() { .param .align 4 .b8 a[16]; call xx, (a); ret; }
.extern .func xx(.param .align 4 .b8 x[16]); .entry f9() { .param .align 8 .b8 a[16]; call xx, (a); ret; }
.extern .func xx(.param .b64 x); .entry f9() { .param .b8 a[8]; call xx, (a); ret; }
.extern .func xx(.param .b8 x[8]); .entry f9() { .param .b64 a; call xx, (a); ret; }
.extern .func xx(.param .f32 x); .entry f9() { .param .u32 a; call xx, (a); ret; }
.extern .func xx(.param .b8 x[16]); .entry f9() { .param .b8 a[8]; call xx, (a); ret; }
.extern .func xx(.param .b8 x[8]); .entry f9() { .param .b32 a[2]; call xx, (a); ret; }
.extern .func xx(.param .b32 x); .entry f9() { .param .u16 a; call xx, (a); ret; }
.extern .func xx(.param .align 8 .b8 x[8]); .entry f9() { .param .align 16 .b8 a[8]; call xx, (a); ret; }
""".strip().split("\n")

LENIENT = {
    ".func (.reg .b32 r) f8() {ret;} .entry f9() {call (5), f8; ret;}": "ptxas -O0 dies of it, -O1 ignores it",
    ".weak .func f9();": "found missing when it is called",
    ".func f9(.reg .pred x) {ret;}": "ptxas's calling convention is not ours",
    ".func (.reg .b32 a, .reg .b32 b) f9() {ret;}": "a warning",
    '.pragma "x";': "a hint that a later version may have",
    ".entry f9(.param .b8 x[4][4]) {ret;}": "as any variable's dimensions",
    "/* unicode \u2603 */ .global .b32 a1;": "comments are free text",
    ".version 99.0": "versions and targets are not held against each other: nothing here depends on them",
}

# Several lines each: heads and calls, as a base for changes (test_changed_modules.py).
CALLS = r"""
.func (.reg .v2 .u32 r) f9(.reg .v2 .u32 x) { mov.v2.u32 r, x; ret; }
.func f8() { .reg .v2 .u32 a; call (a), f9, (a); ret; }

.func (.reg .u32 r) f9(.reg .u32 x, .param .b64 y) { mov.u32 r, x; ret; }
.func f8() { .reg .u32 a; .param .b64 p; call.uni (a), f9, (a, p); ret; }

.func (.param .b32 r) f9(.param .align 8 .b8 x[16]) { ret; }
.func f8() { .param .align 8 .b8 p[16]; .param .b32 q; call (q), f9, (p); ret; }

.extern .func (.param .b32 r) f9(.param .b64 x);
.func f8() { .reg .b64 a; mov.u64 a, f9; .reg .b32 q; .param .b64 p; .param .b32 s;
P: .callprototype (.param .b32 _) _ (.param .b64 _);
call (s), a, (p), P; ret; }

.func f9(.param.u64 x, .reg.f32 y) { .reg.v4.u16 v; .local.align 8 .b8 z[4]; ret; }

.func f8() { .reg .u32 t, a; .reg .u64 b; st.u32 [b], t + 1; add.u32 a, t+4, a; ret; }

.func f8() { .reg .b32 ; .param .b32 ; .local .b8 ; ret; }

.entry f9(.param .u64 .ptr .global .align 8 p, .param .align 4 .b8 q[12]) .maxntid 128, 2 .minnctapersm 2 { ret; }

.visible .func f8() { ret; } .visible .func f7(); .alias f7, f8; .func f6() { call f7; ret; }

.func f8() { .reg .u32 i; T: .branchtargets L1, L2; brx.idx i, T; L1: ret; L2: ret; }

.global .align 8 .u64 a1[3] = {gv, generic(gv)+8, 0x10}; .const .v2 .f32 a2[2] = {{1.0, 2.0}, {0f3f800000, 1.5}};

.section .debug_str { L: .b8 1, 2, 0x30 .b32 L .b64 L+4 }
""".strip().split("\n\n")
