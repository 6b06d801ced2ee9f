/* Kernels of a graph in PTX: operands are loaded and converted, a function or a sum is computed, its result is stored. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels.h"
#include "ptx.h"

static const char *const suffix[] = {"f32", "f64", "s64"};

static const struct { int type; enum ptx_type kind; } kinds[] = {
  {CUDNN_DATA_FLOAT, PTX_F32},     {CUDNN_DATA_DOUBLE, PTX_F64}, {CUDNN_DATA_HALF, PTX_F16},
  {CUDNN_DATA_BFLOAT16, PTX_BF16}, {CUDNN_DATA_INT8, PTX_S8},    {CUDNN_DATA_UINT8, PTX_U8},
  {CUDNN_DATA_BOOLEAN, PTX_BOOL},  {CUDNN_DATA_BYTE_BOOLEAN, PTX_BOOL},
  {CUDNN_DATA_INT32, PTX_S32},     {CUDNN_DATA_INT64, PTX_S64},
};

static const struct ptx_memory *kind(int type) {
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    if (kinds[i].type == type) return &ptx_memory[kinds[i].kind];
  }
  return NULL;
}

bool cudnn_known_type(int type) { return kind(type); }

double cudnn_number_at(int type, const void *at) {
  switch (type) {
    case CUDNN_DATA_FLOAT: return (double)*(const float *)at;
    case CUDNN_DATA_DOUBLE: return *(const double *)at;
    case CUDNN_DATA_INT32: return *(const int32_t *)at;
    case CUDNN_DATA_INT64: return (double)*(const int64_t *)at;
    case CUDNN_DATA_HALF: return (double)*(const _Float16 *)at;
    case CUDNN_DATA_BFLOAT16: {
      uint32_t bits = (uint32_t)*(const uint16_t *)at << 16;
      float number;
      memcpy(&number, &bits, sizeof number);
      return (double)number;
    }
    case CUDNN_DATA_INT8: return *(const int8_t *)at;
    default: return *(const uint8_t *)at;
  }
}

/* Text with the type for each $. */
static void put(FILE *out, const char *text, enum cudnn_computed type) {
  for (; *text; text++) *text == '$' ? fputs(suffix[type], out) : fputc(*text, out);
  fputc('\n', out);
}

/* A conversion between a register of a kind of memory and one that is computed with. */
static void convert(FILE *out, const char *to, char to_kind, const char *from, char from_kind) {
  static const char order[] = "fdil";
  static const char *const types[] = {"f32", "f64", "s32", "s64"};
  int a = (int)(strchr(order, to_kind) - order), b = (int)(strchr(order, from_kind) - order);
  const char *rounding = a > 1 && b > 1 ? "" : a > 1 ? "rni." : b > 1 || (a == 0 && b == 1) ? "rn." : "";
  if (a == b) fprintf(out, "mov.%s %s, %s;\n", types[a], to, from);
  else fprintf(out, "cvt.%s%s.%s %s, %s;\n", rounding, types[a], types[b], to, from);
}

static char letter(enum cudnn_computed type) { return "fdl"[type]; }

static void argument(FILE *out, const char *name, size_t offset, enum cudnn_computed type) {
  fprintf(out, "ld.param.f64 qd, [a+%zu];\n", offset);
  convert(out, name, letter(type), "qd", 'd');
}

#define AT(field) offsetof(struct cudnn_arguments, field)

/* Adds to the offsets o0 ... of operands what the number `i` of an element says, in dimensions from `first` on. */
static void offsets(FILE *out, const struct cudnn_text *text, int first, int count) {
  for (int d = first + count - 1; d >= first; d--) {
    if (d > first) {
      fprintf(out, "ld.param.u32 s, [a+%zu]; rem.u32 c, i, s; div.u32 i, i, s;\n", AT(size) + 4 * (size_t)d);
    } else {
      fputs("mov.u32 c, i;\n", out);
    }
    fputs("cvt.u64.u32 q, c;\n", out);
    for (int k = 0; k < CUDNN_OPERANDS; k++) {
      if (!text->operand[k] || text->operand[k]->value) continue;
      size_t at = AT(stride) + 8 * (size_t)(k * CUDNN_WALK + d);
      fprintf(out, "ld.param.s64 ql, [a+%zu]; mad.lo.s64 o%d, q, ql, o%d;\n", at, k, k);
    }
  }
}

static void address(FILE *out, int operand, int type) {
  size_t size = cudnn_type_size(type);
  fprintf(out, "ld.param.u64 at, [a+%zu]; mad.lo.s64 at, o%d, %zu, at;\n", AT(pointer) + 8 * (size_t)operand, operand,
          size);
}

static void load(FILE *out, const struct cudnn_text *text, int operand, const char *name) {
  const struct place *place = text->operand[operand];
  if (place->value) {
    argument(out, name, AT(value) + 8 * (size_t)operand, text->computed);
  } else if (place->index) {
    fprintf(out, "mov.s64 ql, o%d;\n", operand);
    convert(out, name, letter(text->computed), "ql", 'l');
  } else {
    const struct ptx_memory *as = kind(place->type);
    const char held[] = {'q', as->held, 0};
    address(out, operand, place->type);
    fprintf(out, "%s %s\n", as->load, as->unpack);
    convert(out, name, letter(text->computed), held, as->held);
  }
  if (operand < CUDNN_THIRD && text->scaled[operand]) {
    argument(out, "f0", AT(factor) + 8 * (size_t)operand, text->computed);
    fprintf(out, "mul.%s%s %s, %s, f0;\n", text->computed == CUDNN_S64 ? "lo." : "", suffix[text->computed], name, name);
  }
}

static void store(FILE *out, const struct cudnn_text *text) {
  const struct ptx_memory *as = kind(text->operand[CUDNN_RESULT]->type);
  const char held[] = {'q', as->held, 0};
  convert(out, held, as->held, "y", letter(text->computed));
  address(out, CUDNN_RESULT, text->operand[CUDNN_RESULT]->type);
  fprintf(out, "%s %s\n", as->pack, as->store);
}

static void compute(FILE *out, const struct cudnn_text *text) {
  static const char *const names[] = {"x", "b", "t"}, *const settings[] = {"u", "v", "w"};
  for (int k = 0; k < text->function->inputs; k++) load(out, text, k, names[k]);
  for (int k = 0; k < 3 && text->function->setting[k].name; k++) {
    argument(out, settings[k], AT(setting) + 8 * (size_t)k, text->computed);
  }
  put(out, text->function->text, text->computed);
}

/* The offset of a sample is added; p: it is before the sample's end. */
static void ragged(FILE *out, const struct cudnn_text *text, int operand) {
  const struct ptx_memory *as = kind(text->operand[CUDNN_SECOND]->type);
  size_t size = cudnn_type_size(text->operand[CUDNN_SECOND]->type);
  const char held[] = {'q', as->held, 0};
  address(out, CUDNN_SECOND, text->operand[CUDNN_SECOND]->type);
  fprintf(out, "ld.param.f64 qd, [a+%zu]; cvt.rni.s64.f64 q, qd;\n", AT(setting));
  fprintf(out, "%s\n", as->load);
  convert(out, "start", 'l', held, as->held);
  fprintf(out, "add.s64 at, at, %zu;\n%s\n", size, as->load);
  convert(out, "end", 'l', held, as->held);
  fprintf(out, "mul.lo.s64 start, start, q; mul.lo.s64 end, end, q; sub.s64 end, end, start;\n"
               "setp.lt.s64 p, o%d, end; add.s64 o%d, o%d, start;\n", operand, operand, operand);
}

/* Each thread's numbers, then those of the block, in shared memory. */
static void sum_up(FILE *out, const struct cudnn_text *text) {
  const char *type = suffix[text->computed];
  fprintf(out, "mov.%s y, %s;\nmov.u32 r, %%tid.x; mov.s64 base, o0;\nld.param.u32 e, [a+%zu];\nNEXT:\n", type,
          text->sum->first[text->computed], AT(sums));
  fputs("setp.ge.u32 p, r, e; @p bra DONE;\nmov.s64 o0, base; mov.u32 i, r;\n", out);
  struct cudnn_text one = *text;
  one.operand[CUDNN_RESULT] = NULL;
  offsets(out, &one, text->results, text->sums);
  load(out, text, CUDNN_FIRST, "x");
  put(out, text->sum->each, text->computed);
  put(out, text->sum->join, text->computed);
  fprintf(out, "add.u32 r, r, %u; bra NEXT;\nDONE:\nmov.u32 r, %%tid.x;\n", text->threads);
  fprintf(out, "mov.u32 s, sums; mad.lo.u32 s, r, 8, s; st.shared.%s [s], y;\nbar.sync 0;\n", type);
  for (unsigned half = text->threads / 2; half; half /= 2) {
    fprintf(out, "setp.ge.u32 p, r, %u; @p bra L%u; ld.shared.%s x, [s+%u];\n", half, half, type, 8 * half);
    put(out, text->sum->join, text->computed);
    fprintf(out, "st.shared.%s [s], y;\nL%u: bar.sync 0;\n", type, half);
  }
  fputs("setp.ne.u32 p, r, 0; @p bra END;\n", out);
  argument(out, "n", AT(count), text->computed);
  put(out, text->sum->last, text->computed);
}

char *cudnn_ptx(const struct cudnn_text *text) {
  char *made = NULL;
  size_t size;
  FILE *out = open_memstream(&made, &size);
  if (!out) return NULL;
  const char *type = suffix[text->computed];
  fprintf(out, ".version 8.0\n.target sm_80\n.address_size 64\n%s", text->computed == CUDNN_F32 ? ptx_helpers : "");
  fprintf(out, ".visible .entry graph(.param .align 8 .b8 a[%zu]) {\n", sizeof(struct cudnn_arguments));
  fprintf(out, ".reg .%s x, b, t, y, u, v, w, n, f0, f1, f2, zero, one;\n.reg .pred p;\n", type);
  fputs(".reg .f32 qf; .reg .f64 qd; .reg .s32 qi; .reg .s64 ql, o0, o1, o2, o3, base, start, end, q, at; .reg .b16 qh;\n"
        ".reg .u32 i, s, c, r, e;\n.shared .align 8 .b8 sums[2048];\n", out);
  fputs("mov.u32 i, %ctaid.x;\n", out);
  if (text->function) {
    fprintf(out, "mov.u32 s, %%tid.x; mad.lo.u32 i, i, %u, s; ld.param.u32 s, [a+%zu];\n", text->threads, AT(results));
    fputs("setp.ge.u32 p, i, s; @p bra END;\n", out);
  }
  fputs("mov.s64 o0, 0; mov.s64 o1, 0; mov.s64 o2, 0; mov.s64 o3, 0;\nmov.s32 qi, 0;\n", out);
  convert(out, "zero", letter(text->computed), "qi", 'i');
  fputs("mov.s32 qi, 1;\n", out);
  convert(out, "one", letter(text->computed), "qi", 'i');
  offsets(out, text, 0, text->results);
  bool into = text->ragged && text->operand[CUDNN_FIRST]->between;
  if (text->ragged) ragged(out, text, into ? CUDNN_RESULT : CUDNN_FIRST);
  if (text->ragged) fprintf(out, "mov.%s y, zero; @!p bra %s;\n", type, into ? "END" : "OUTSIDE");
  text->function ? compute(out, text) : sum_up(out, text);
  fputs("OUTSIDE:\n", out);
  store(out, text);
  fputs("END: ret;\n}\n", out);
  fclose(out);
  return made;
}
