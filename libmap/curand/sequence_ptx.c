/* The kernels' texts: an engine's words, and what makes numbers of them. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ptx.h"
#include "sequence.h"

/* Logarithm (of a number above 0), sine and cosine of 2 pi v, in f64 by series. */
static const char functions[] =
    ".func (.reg .f64 r) Log(.reg .f64 a) {\n"
    ".reg .b32 low, high; .reg .s32 e; .reg .f64 m, s, t; .reg .pred p;\n"
    "mov.b64 {low, high}, a; shr.u32 e, high, 20; sub.s32 e, e, 1023;\n"
    "and.b32 high, high, 0xFFFFF; or.b32 high, high, 0x3FF00000;\n"
    "setp.gt.u32 p, high, 0x3FF6A09E; @p sub.u32 high, high, 0x100000; @p add.s32 e, e, 1;\n"
    "mov.b64 m, {low, high}; sub.f64 s, m, 0d3FF0000000000000; add.f64 t, m, 0d3FF0000000000000;\n"
    "div.rn.f64 t, s, t; mul.f64 s, t, t; mov.f64 r, 0d3FA642C8590B2164;\n"
    "fma.rn.f64 r, r, s, 0d3FA8618618618618; fma.rn.f64 r, r, s, 0d3FAAF286BCA1AF28;\n"
    "fma.rn.f64 r, r, s, 0d3FAE1E1E1E1E1E1E; fma.rn.f64 r, r, s, 0d3FB1111111111111;\n"
    "fma.rn.f64 r, r, s, 0d3FB3B13B13B13B14; fma.rn.f64 r, r, s, 0d3FB745D1745D1746;\n"
    "fma.rn.f64 r, r, s, 0d3FBC71C71C71C71C; fma.rn.f64 r, r, s, 0d3FC2492492492492;\n"
    "fma.rn.f64 r, r, s, 0d3FC999999999999A; fma.rn.f64 r, r, s, 0d3FD5555555555555;\n"
    "mul.f64 r, r, s; add.f64 t, t, t; fma.rn.f64 r, r, t, t;\n"
    "cvt.rn.f64.s32 s, e; fma.rn.f64 r, s, 0d3FE62E42FEFA39EF, r;\n}\n"
    ".func (.reg .f64 s, .reg .f64 c) Turn(.reg .f64 v) {\n"
    ".reg .f64 q, x, y, t; .reg .s32 k, b; .reg .pred p;\n"
    "mul.f64 q, v, 0d4010000000000000; cvt.rni.s32.f64 k, q; cvt.rn.f64.s32 q, k;\n"
    "fma.rn.f64 x, q, 0dBFD0000000000000, v; mul.f64 x, x, 0d401921FB54442D18; mul.f64 y, x, x;\n"
    "mov.f64 s, 0d3CE952C77030AD4A; fma.rn.f64 s, s, y, 0dBD6AE7F3E733B81F;\n"
    "fma.rn.f64 s, s, y, 0d3DE6124613A86D09; fma.rn.f64 s, s, y, 0dBE5AE64567F544E4;\n"
    "fma.rn.f64 s, s, y, 0d3EC71DE3A556C734; fma.rn.f64 s, s, y, 0dBF2A01A01A01A01A;\n"
    "fma.rn.f64 s, s, y, 0d3F81111111111111; fma.rn.f64 s, s, y, 0dBFC5555555555555;\n"
    "mul.f64 s, s, y; fma.rn.f64 s, s, x, x;\n"
    "mov.f64 c, 0dBCA6827863B97D97; fma.rn.f64 c, c, y, 0d3D2AE7F3E733B81F;\n"
    "fma.rn.f64 c, c, y, 0dBDA93974A8C07C9D; fma.rn.f64 c, c, y, 0d3E21EED8EFF8D898;\n"
    "fma.rn.f64 c, c, y, 0dBE927E4FB7789F5C; fma.rn.f64 c, c, y, 0d3EFA01A01A01A01A;\n"
    "fma.rn.f64 c, c, y, 0dBF56C16C16C16C17; fma.rn.f64 c, c, y, 0d3FA5555555555555;\n"
    "fma.rn.f64 c, c, y, 0dBFE0000000000000; fma.rn.f64 c, c, y, 0d3FF0000000000000;\n"
    "and.b32 b, k, 1; setp.ne.s32 p, b, 0; selp.f64 t, c, s, p; selp.f64 c, s, c, p; mov.f64 s, t;\n"
    "and.b32 b, k, 2; setp.ne.s32 p, b, 0; @p neg.f64 s, s;\n"
    "add.s32 b, k, 1; and.b32 b, b, 2; setp.ne.s32 p, b, 0; @p neg.f64 c, c;\n}\n";

struct text {
  char *at;
  size_t used, room;
};

__attribute__((format(printf, 2, 3))) static void put(struct text *text, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  size_t left = text->room - text->used;
  text->used += (size_t)vsnprintf(text->at + text->used, left, format, arguments);
  va_end(arguments);
}

static bool is_double(enum draw draw) {
  return draw == DRAW_UNIFORM_DOUBLE || draw == DRAW_NORMAL_DOUBLE || draw == DRAW_LOG_NORMAL_DOUBLE;
}
static bool is_normal(enum draw draw) { return draw >= DRAW_NORMAL; }
static bool is_log(enum draw draw) { return draw >= DRAW_LOG_NORMAL; }

size_t draw_size(enum draw draw) { return is_double(draw) ? 8 : 4; }

/* Words that make one number, or two normal ones. */
static int words_of(enum engine engine, enum draw draw) {
  return (is_double(draw) && engine != ENGINE_MRG32K3A ? 2 : 1) * (is_normal(draw) ? 2 : 1);
}

/* A number in (0, 1] from words x<first> (and x<first + 1>), in a register of f64. */
static void uniform(struct text *t, enum engine engine, enum draw draw, int first, const char *to) {
  if (engine == ENGINE_MRG32K3A) {
    put(t, "cvt.rn.f64.u32 %s, x%d; mul.f64 %s, %s, 0d3DF000000D10000B;\n", to, first, to, to);
    if (!is_double(draw)) put(t, "cvt.rn.f32.f64 single, %s; cvt.f64.f32 %s, single;\n", to, to);
  } else if (is_double(draw)) {
    put(t, "cvt.u64.u32 wide, x%d; shl.b64 wide, wide, 21; cvt.u64.u32 low, x%d; xor.b64 wide, wide, low;\n", first + 1,
        first);
    put(t, "cvt.rn.f64.u64 %s, wide; fma.rn.f64 %s, %s, 0d3CA0000000000000, 0d3C90000000000000;\n", to, to, to);
  } else {
    put(t, "cvt.rn.f32.u32 single, x%d; fma.rn.f32 single, single, 0f2F800000, 0f2F000000; cvt.f64.f32 %s, single;\n",
        first, to);
  }
}

/* The next number, which is in `value`; guarded by the predicate `in`. */
static void store(struct text *t, enum draw draw, const char *value, int index, bool guarded) {
  const char *guard = guarded ? "@in " : "";
  if (is_normal(draw) && is_double(draw)) {
    put(t, "fma.rn.f64 %s, %s, deviation, mean;\n", value, value);
    if (is_log(draw)) put(t, "call (%s), Exp, (%s);\n", value, value);
  }
  if (guarded) put(t, "add.s64 e, number, %d; setp.lt.u64 in, e, count;\n", index);
  else put(t, "add.s64 e, number, %d;\n", index);
  put(t, "mul.lo.s64 e, e, %d; add.s64 at, out, e;\n", (int)draw_size(draw));
  if (is_double(draw)) {
    put(t, "%sst.global.f64 [at], %s;\n", guard, value);
  } else if (draw == DRAW_BITS) {
    put(t, "%sst.global.u32 [at], %s;\n", guard, value);
  } else if (is_log(draw)) {
    put(t, "fma.rn.f64 %s, %s, deviation, mean; call (%s), Exp, (%s);\n", value, value, value, value);
    put(t, "cvt.rn.f32.f64 single, %s; %sst.global.f32 [at], single;\n", value, guard);
  } else {
    if (is_normal(draw)) put(t, "fma.rn.f64 %s, %s, deviation, mean;\n", value, value);
    put(t, "cvt.rn.f32.f64 single, %s; %sst.global.f32 [at], single;\n", value, guard);
  }
}

/* Numbers of the words from x<first> on. */
static void numbers(struct text *t, enum engine engine, enum draw draw, int first, int index, bool guarded) {
  char word[] = "x0";
  word[1] = (char)('0' + first);
  if (draw == DRAW_BITS) {
    if (engine == ENGINE_MRG32K3A)
      put(t, "cvt.rn.f64.u32 u, %s; mul.f64 u, u, 0d3FF000000D1006F5; cvt.rzi.u32.f64 %s, u;\n", word, word);
    store(t, draw, word, index, guarded);
    return;
  }
  uniform(t, engine, draw, first, "u");
  if (is_normal(draw)) {
    if (engine == ENGINE_MRG32K3A) uniform(t, engine, DRAW_UNIFORM_DOUBLE, first + 1, "v");
    else if (is_double(draw)) uniform(t, engine, draw, first + 2, "v");
    else put(t, "cvt.rn.f64.u32 v, x%d; fma.rn.f64 v, v, 0d3DF0000000000000, 0d3DE0000000000000;\n", first + 1);
    put(t, "call (u), Log, (u); mul.f64 u, u, 0dC000000000000000; sqrt.rn.f64 u, u; call (s, v), Turn, (v);\n");
    put(t, "mul.f64 v, u, v; mul.f64 u, u, s;\n");
  }
  store(t, draw, "u", index, guarded);
  if (is_normal(draw)) store(t, draw, "v", index + 1, guarded);
}

static void begin(struct text *t) {
  put(t, ".version 7.0\n.target sm_70\n.address_size 64\n%s%s", functions, ptx_exp_f64);
  put(t, ".visible .entry draw(.param .u64 p_out, .param .u64 p_states, .param .u64 p_first, .param .u64 p_count,\n"
         ".param .f64 p_mean, .param .f64 p_deviation) {\n"
         ".reg .u64 out, states, first, count, at, number, group, wide, low; .reg .s64 e; .reg .f64 mean, deviation, u, v, s;\n"
         ".reg .f32 single; .reg .u32 thread, blocks, x0, x1, x2, x3, a, b, c; .reg .pred in, done;\n"
         "ld.param.u64 out, [p_out]; ld.param.u64 states, [p_states]; ld.param.u64 first, [p_first];\n"
         "ld.param.u64 count, [p_count]; ld.param.f64 mean, [p_mean]; ld.param.f64 deviation, [p_deviation];\n"
         "mov.u32 thread, %%ctaid.x; mov.u32 blocks, %%ntid.x; mov.u32 a, %%tid.x; mad.lo.u32 thread, thread, blocks, a;\n");
}

static void xorwow_word(struct text *t, int i) {
  put(t, "shr.u32 a, v0, 2; xor.b32 a, a, v0; mov.u32 v0, v1; mov.u32 v1, v2; mov.u32 v2, v3; mov.u32 v3, v4;\n"
         "shl.b32 b, v4, 4; xor.b32 b, b, v4; shl.b32 c, a, 1; xor.b32 c, c, a; xor.b32 v4, b, c;\n"
         "add.u32 v5, v5, 362437; add.u32 x%d, v5, v4;\n", i);
}

/* A whole number from 1 to 4294967087. */
static void mrg32k3a_word(struct text *t, int i) {
  put(t, "sub.u32 a, 4294967087, v0; mul.wide.u32 wide, a, 810728; mul.wide.u32 low, v1, 1403580; add.s64 wide, wide, low;\n"
         "rem.u64 wide, wide, 4294967087; mov.u32 v0, v1; mov.u32 v1, v2; cvt.u32.u64 v2, wide;\n"
         "sub.u32 a, 4294944443, v3; mul.wide.u32 wide, a, 1370589; mul.wide.u32 low, v5, 527612; add.s64 wide, wide, low;\n"
         "rem.u64 wide, wide, 4294944443; mov.u32 v3, v4; mov.u32 v4, v5; cvt.u32.u64 v5, wide;\n"
         "sub.u32 x%d, v2, v5; setp.le.u32 in, v2, v5; @in add.u32 x%d, x%d, 4294967087;\n", i, i, i);
}

/* A thread's turns; it keeps its state. */
static void turns(struct text *t, enum engine engine, enum draw draw, uint32_t threads) {
  int words = words_of(engine, draw), outputs = is_normal(draw) ? 2 : 1;
  put(t, ".reg .u32 v0, v1, v2, v3, v4, v5; cvt.u64.u32 low, thread; shl.b64 at, low, 2; add.s64 states, states, at;\n");
  for (int w = 0; w < STATE_WORDS; w++) put(t, "ld.global.u32 v%d, [states + %u];\n", w, (unsigned)w * threads * 4);
  put(t, "setp.lt.u64 in, low, first; sub.s64 group, low, first; @in add.s64 group, group, %u;\n", threads);
  put(t, "TURN: setp.ge.u64 done, group, count; @done bra END; mul.lo.s64 number, group, %d;\n", outputs);
  for (int i = 0; i < words; i++) (engine == ENGINE_XORWOW ? xorwow_word : mrg32k3a_word)(t, i);
  numbers(t, engine, draw, 0, 0, false);
  put(t, "add.s64 group, group, %u; bra TURN;\nEND:\n", threads);
  for (int w = 0; w < STATE_WORDS; w++) put(t, "st.global.u32 [states + %u], v%d;\n", (unsigned)w * threads * 4, w);
  put(t, "ret; }\n");
}

/* A group is four numbers of one thread of cuRAND's; here it is one thread. The counter has the thread, and the blocks
 * that it drew before. */
static void philox(struct text *t, enum draw draw) {
  int words = words_of(ENGINE_PHILOX, draw), outputs = is_normal(draw) ? 2 : 1, blocks = words / outputs;
  put(t, ".reg .u32 k0, k1, l0, l1, h0, h1, turn, sub; cvt.u64.u32 group, thread; shr.u64 wide, first, 2;\n");
  put(t, "add.s64 wide, wide, group; and.b64 low, wide, %d; cvt.u32.u64 sub, low; shr.u64 wide, wide, %d;\n",
      PHILOX_THREADS - 1, __builtin_ctz(PHILOX_THREADS));
  put(t, "mul.lo.s64 wide, wide, %d; and.b64 low, first, 3; shl.b64 number, group, 2; sub.s64 number, number, low;\n", blocks);
  put(t, "mov.u64 group, wide;\n"); /* the number of the thread's next block */
  for (int block = 0, index = 0; block < blocks; block++) {
    put(t, "cvt.u32.u64 x0, group; shr.u64 wide, group, 32; cvt.u32.u64 x1, wide; mov.u32 x2, sub; mov.u32 x3, 0;\n"
           "cvt.u32.u64 k0, states; shr.u64 wide, states, 32; cvt.u32.u64 k1, wide; mov.u32 turn, 0;\n"
           "ROUND%d: mul.lo.u32 l0, x0, 0xD2511F53; mul.hi.u32 h0, x0, 0xD2511F53; mul.lo.u32 l1, x2, 0xCD9E8D57;\n"
           "mul.hi.u32 h1, x2, 0xCD9E8D57; xor.b32 x0, h1, x1; xor.b32 x0, x0, k0; xor.b32 x2, h0, x3;\n"
           "xor.b32 x2, x2, k1; mov.u32 x1, l1; mov.u32 x3, l0; add.u32 k0, k0, 0x9E3779B9;\n"
           "add.u32 k1, k1, 0xBB67AE85; add.u32 turn, turn, 1; setp.lt.u32 in, turn, 10; @in bra ROUND%d;\n",
        block, block);
    for (int first = 0; first < 4; first += words, index += outputs) numbers(t, ENGINE_PHILOX, draw, first, index, true);
    put(t, "add.s64 group, group, 1;\n");
  }
  put(t, "ret; }\n");
}

char *sequence_ptx(enum engine engine, enum draw draw, uint32_t threads) {
  enum { ROOM = 32 << 10 };
  struct text text = {malloc(ROOM), 0, ROOM};
  if (!text.at) return NULL;
  begin(&text);
  if (engine == ENGINE_PHILOX) philox(&text, draw);
  else turns(&text, engine, draw, threads);
  return text.at;
}
