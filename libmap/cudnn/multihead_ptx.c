/* The kernels of multi-head attention (template.h). */
#define _GNU_SOURCE
#include "multihead.h"

#include "ptx.h"
#include "template.h"

const char *const multihead_names[KERNELS] = {"take", "again", "give", "share", "share_back", "sum"};

/* i: the thread's number; r: its place in a vector; inside: whether the vector is before its sequence's end. */
static const char place[] =
    "mov.u32 i, %ctaid.x; mov.u32 k, %tid.x; mad.lo.u32 i, i, #THREADS, k;\n"
    "ld.param.u32 k, [a+#COUNT]; setp.ge.u32 p, i, k; @p ret;\n"
    "ld.param.u32 k, [a+#WIDTH]; rem.u32 r, i, k; div.u32 vector, i, k;\n"
    "ld.param.u32 k, [a+#TIME_STEP]; div.u32 time, vector, k; ld.param.u32 k, [a+#TIMES]; rem.u32 time, time, k;\n"
    "ld.param.u32 k, [a+#BATCH_STEP]; div.u32 batch, vector, k; ld.param.u32 k, [a+#BATCHES]; rem.u32 batch, batch, k;\n"
    "ld.param.u32 k, [a+#BEAM_STEP]; div.u32 beam, vector, k; ld.param.u32 k, [a+#BEAMS]; rem.u32 beam, beam, k;\n"
    "mad.lo.u32 batch, batch, k, beam; ld.param.u64 at, [a+#LENGTHS]; setp.eq.u64 inside, at, 0; @inside bra Known;\n"
    "mad.wide.u32 at, batch, 4, at; ld.global.u32 k, [at]; setp.lt.s32 inside, time, k;\n"
    "Known: ld.param.u64 from, [a+#FROM]; ld.param.u64 to, [a+#TO]; ld.param.u64 bias, [a+#BIAS];\n";

/* to = from + bias inside, and 0 outside; `from` is of the program's type, or as what is computed with. */
#define TAKE(load)                                                                                                       \
  "mov.$ x, zero; @!inside bra Put;\n" load                                                                          \
  "setp.eq.u64 p, bias, 0; @p bra Put; mad.wide.u32 at, r, #SIZE, bias; call (y), Load, (at); add.$ x, x, y;\n"        \
  "Put: mad.wide.u32 at, i, #OWN, to; st.global.$ [at], x; ret;\n}\n"
#define OWN_NUMBER "mad.wide.u32 at, i, #OWN, from; ld.global.$ x, [at];\n"
static const char take[] = TAKE("mad.wide.u32 at, i, #SIZE, from; call (x), Load, (at);\n");
static const char again[] = TAKE(OWN_NUMBER);

/* to = from + bias + more (+ to), in memory of the program's type, inside; with `only`, at one time. */
static const char give[] =
    "@!inside ret; ld.param.u32 k, [a+#ONLY]; setp.eq.s32 p, k, -1; setp.ne.and.u32 p, time, k, !p; @p ret;\n" OWN_NUMBER
    "setp.eq.u64 p, bias, 0; @p bra Plain; mad.wide.u32 at, r, #SIZE, bias; call (y), Load, (at); add.$ x, x, y;\n"
    "Plain: ld.param.u64 more, [a+#MORE]; setp.eq.u64 p, more, 0; @p bra Alone; mad.wide.u32 at, i, #SIZE, more;\n"
    "call (y), Load, (at); add.$ x, x, y;\n"
    "Alone: mad.wide.u32 to, i, #SIZE, to; ld.param.u32 k, [a+#KEEP]; setp.eq.u32 p, k, 0; @p bra Write;\n"
    "call (y), Load, (to); add.$ x, x, y;\n"
    "Write: call Store, (to, x); ret;\n}\n";

/* A thread's row of products of one query with all keys; `row` and its length, and keys from `low` to before `high`. */
static const char row[] =
    "mov.u32 i, %ctaid.x; mov.u32 k, %tid.x; mad.lo.u32 i, i, #THREADS, k;\n"
    "ld.param.u32 k, [a+#COUNT]; setp.ge.u32 p, i, k; @p ret;\n"
    "ld.param.u32 k, [a+#TIMES]; rem.u32 time, i, k; div.u32 vector, i, k;\n"
    "ld.param.u32 k, [a+#HEADS]; div.u32 vector, vector, k; ld.param.u32 k, [a+#BEAMS]; div.u32 batch, vector, k;\n"
    "ld.param.u64 at, [a+#LENGTHS]; mad.wide.u32 at, vector, 4, at; ld.global.u32 r, [at];\n"
    "ld.param.u32 beam, [a+#KEY_BEAMS]; setp.gt.u32 p, beam, 1; selp.u32 vector, vector, batch, p;\n"
    "ld.param.u64 at, [a+#KEY_LENGTHS]; mad.wide.u32 at, vector, 4, at; ld.global.u32 high, [at];\n"
    "ld.param.u64 at, [a+#LOW]; setp.eq.u64 p, at, 0; mov.u32 low, 0; @p bra All;\n"
    "mad.wide.u32 at, time, 4, at; ld.global.u32 low, [at]; max.s32 low, low, 0;\n"
    "ld.param.u64 at, [a+#HIGH]; mad.wide.u32 at, time, 4, at; ld.global.u32 k, [at]; min.s32 high, high, k;\n"
    "All: setp.ge.s32 p, time, r; selp.u32 high, 0, high, p;\n"
    "ld.param.u32 keys, [a+#KEYS]; min.s32 high, high, keys; mul.wide.u32 at, i, #OWN; cvt.u64.u32 bias, keys;\n"
    "mul.lo.u64 at, at, bias; ld.param.u64 from, [a+#FROM]; add.u64 from, from, at;\n"
    "ld.param.u64 to, [a+#TO]; add.u64 to, to, at; ld.param.f64 d, [a+#SCALE]; cvt.#NARROW$.f64 scale, d;\n";

/* to = the shares of keys: exp(scale (x - largest)) / sum; 0 outside of the window. */
static const char share[] =
    "mov.u32 k, low; mad.wide.s32 at, low, #OWN, from; setp.ge.s32 p, low, high; mov.$ s, zero; mov.$ y, zero; @p bra Ready;\n"
    "ld.global.$ y, [at];\n"
    "Most: setp.ge.s32 p, k, high; @p bra Found; mad.wide.s32 at, k, #OWN, from; ld.global.$ x, [at]; max.$ y, y, x;\n"
    "add.u32 k, k, 1; bra Most;\n"
    "Found: mov.u32 k, low;\n"
    "Total: setp.ge.s32 p, k, high; @p bra Ready; mad.wide.s32 at, k, #OWN, from; ld.global.$ x, [at];\n"
    "sub.$ x, x, y; mul.$ x, x, scale; call (x), Exp, (x); add.$ s, s, x;\n"
    "mad.wide.s32 at, k, #OWN, to; st.global.$ [at], x; add.u32 k, k, 1; bra Total;\n"
    "Ready: mov.u32 k, 0;\n"
    "Each: setp.ge.u32 p, k, keys; @p ret; mad.wide.u32 at, k, #OWN, to; mov.$ x, zero;\n"
    "setp.lt.s32 p, k, low; @p bra Out; setp.ge.s32 p, k, high; @p bra Out; ld.global.$ x, [at]; div.rn.$ x, x, s;\n"
    "Out: st.global.$ [at], x; add.u32 k, k, 1; bra Each;\n}\n";

/* Of shares `from` and their gradients `to`: to = from (to - sum from to) scale. */
static const char share_back[] =
    "mov.u32 k, 0; mov.$ s, zero;\n"
    "Total: setp.ge.u32 p, k, keys; @p bra Ready; mad.wide.u32 at, k, #OWN, from; ld.global.$ x, [at];\n"
    "mad.wide.u32 at, k, #OWN, to; ld.global.$ y, [at]; fma.rn.$ s, x, y, s; add.u32 k, k, 1; bra Total;\n"
    "Ready: mov.u32 k, 0;\n"
    "Each: setp.ge.u32 p, k, keys; @p ret; mad.wide.u32 at, k, #OWN, from; ld.global.$ x, [at];\n"
    "mad.wide.u32 at, k, #OWN, to; ld.global.$ y, [at]; sub.$ y, y, s; mul.$ y, y, x; mul.$ y, y, scale;\n"
    "st.global.$ [at], y; add.u32 k, k, 1; bra Each;\n}\n";

/* A thread's sum of a number of all vectors. */
static const char sum[] =
    "mov.u32 i, %ctaid.x; mov.u32 k, %tid.x; mad.lo.u32 i, i, #THREADS, k;\n"
    "ld.param.u32 r, [a+#WIDTH]; setp.ge.u32 p, i, r; @p ret; ld.param.u32 vector, [a+#COUNT];\n"
    "ld.param.u64 from, [a+#FROM]; mad.wide.u32 from, i, #OWN, from; mul.wide.u32 bias, r, #OWN; mov.$ s, zero;\n"
    "Next: setp.eq.u32 p, vector, 0; @p bra Done; ld.global.$ x, [from]; add.$ s, s, x; add.u64 from, from, bias;\n"
    "sub.u32 vector, vector, 1; bra Next;\n"
    "Done: ld.param.u64 to, [a+#TO]; mad.wide.u32 to, i, #OWN, to; st.global.$ [to], s; ret;\n}\n";

static const char registers[] =
    ".reg .u32 i, k, r, vector, time, batch, beam, keys, low, high; .reg .u64 at, from, to, bias, more; .reg .f64 d;\n"
    ".reg .$ x, y, s, scale; .reg .pred p, inside;\n";

#define FIELD(name, field) {name, offsetof(struct multihead_arguments, field)}
static const struct cudnn_field fields[] = {
  FIELD("FROM", from), FIELD("TO", to), FIELD("BIAS", bias), FIELD("MORE", more), FIELD("LENGTHS", lengths),
  FIELD("KEY_LENGTHS", key_lengths), FIELD("LOW", low), FIELD("HIGH", high), FIELD("SCALE", scale), FIELD("COUNT", count),
  FIELD("WIDTH", width), FIELD("TIME_STEP", step[TIME]), FIELD("BATCH_STEP", step[BATCH]), FIELD("BEAM_STEP", step[BEAM]),
  FIELD("TIMES", size[TIME]), FIELD("BATCHES", size[BATCH]), FIELD("BEAMS", size[BEAM]), FIELD("ONLY", only),
  FIELD("KEEP", keep), FIELD("HEADS", heads), FIELD("KEYS", keys), FIELD("KEY_BEAMS", key_beams),
  {"THREADS", MULTIHEAD_THREADS},
};

char *multihead_ptx(enum multihead_kernel kernel, cudnnDataType_t type) {
  static const char *const parts[KERNELS][2] = {{place, take}, {place, again}, {place, give}, {row, share},
                                                {row, share_back}, {sum, ""}};
  const struct cudnn_template as = {type, fields, sizeof fields / sizeof *fields};
  char *made = NULL;
  size_t length;
  FILE *out = open_memstream(&made, &length);
  if (!out) return NULL;
  cudnn_template_head(out, &as);
  if (kernel == KERNEL_SHARE) fputs(type == CUDNN_DATA_DOUBLE ? ptx_exp_f64 : ptx_helpers, out);
  fprintf(out, ".visible .entry %s(.param .align 8 .b8 a[%zu]) {\n", multihead_names[kernel],
          sizeof(struct multihead_arguments));
  cudnn_template(out, &as, registers);
  for (int i = 0; i < 2; i++) cudnn_template(out, &as, parts[kernel][i]);
  fclose(out);
  return made;
}
