/* The kernels of spatial transformers (template.h). */
#define _GNU_SOURCE
#include "spatial.h"

#include "template.h"

const char *const spatial_names[SPATIAL_KERNELS] = {"grid", "theta", "sample", "sample_back", "scale"};

/* r = scale v + (factor ? factor r : 0), at an address. */
static const char blend[] =
    ".func Blend(.reg .u64 at, .reg .$ v, .reg .$ scale, .reg .$ factor) {\n"
    ".reg .$ old; .reg .pred none;\n"
    "mul.$ v, v, scale; setp.eq.$ none, factor, zero; @none bra Write;\n"
    "call (old), Load, (at); fma.rn.$ v, factor, old, v;\n"
    "Write: call Store, (at, v);\n}\n"
    /* from -1 at the first of `count` places to 1 at the last; a single place is in the middle */
    ".func (.reg .$ r) Place(.reg .u32 i, .reg .u32 count) {\n"
    ".reg .$ all; .reg .pred single;\n"
    "setp.le.u32 single, count, 1; add.u32 i, i, i; cvt.rn.$.u32 r, i; sub.u32 count, count, 1; cvt.rn.$.u32 all, count;\n"
    "div.rn.$ r, r, all; sub.$ r, r, one; selp.$ r, zero, r, single;\n}\n"
    /* the offset of a place in an image, and whether it is inside */
    ".func (.reg .u64 r, .reg .u32 in) Offset(.reg .s32 row, .reg .s32 column, .reg .s32 rows, .reg .s32 columns,\n"
    ".reg .s64 by_row, .reg .s64 by_column) {\n"
    ".reg .pred p, q; .reg .s64 wide;\n"
    "setp.lt.u32 p, row, rows; setp.lt.and.u32 q, column, columns, p; selp.u32 in, 1, 0, q;\n"
    "selp.s32 row, row, 0, q; selp.s32 column, column, 0, q;\n"
    "cvt.s64.s32 wide, row; mul.lo.s64 r, wide, by_row; cvt.s64.s32 wide, column; mad.lo.s64 r, wide, by_column, r;\n}\n";

/* i: the thread's image, row and column of the result: image, row, column; at: its place in a grid. */
static const char point[] =
    "mov.u32 i, %ctaid.x; mov.u32 k, %tid.x; mad.lo.u32 i, i, #THREADS, k;\n"
    "ld.param.u32 images, [a+#IMAGES]; ld.param.u32 rows, [a+#ROWS]; ld.param.u32 columns, [a+#COLUMNS];\n"
    "mul.lo.u32 k, images, rows; mul.lo.u32 k, k, columns; setp.ge.u32 p, i, k; @p ret;\n"
    "mul.wide.u32 grid, i, #PAIR; ld.param.u64 at, [a+#GRID]; add.u64 grid, grid, at;\n"
    "rem.u32 column, i, columns; div.u32 k, i, columns; rem.u32 row, k, rows; div.u32 image, k, rows;\n";

static const char generate[] =
    "call (x), Place, (column, columns); call (y), Place, (row, rows);\n"
    "ld.param.u64 at, [a+#Y]; mul.lo.u32 k, image, 6; mad.wide.u32 at, k, #SIZE, at;\n"
    "mov.u32 k, 0;\n"
    "Next: call (v), Load, (at); mul.$ v, v, x; add.u64 at, at, #SIZE;\n"
    "call (w), Load, (at); fma.rn.$ v, w, y, v; add.u64 at, at, #SIZE;\n"
    "call (w), Load, (at); add.$ v, v, w; add.u64 at, at, #SIZE;\n"
    "call Store, (grid, v); add.u64 grid, grid, #SIZE;\n"
    "add.u32 k, k, 1; setp.lt.u32 p, k, 2; @p bra Next;\nret;\n}\n";

/* A block adds up what belongs to one row of one theta. */
static const char gradient[] =
    "ld.param.u32 rows, [a+#ROWS]; ld.param.u32 columns, [a+#COLUMNS];\n"
    "mov.u32 k, %ctaid.x; div.u32 image, k, 2; rem.u32 k, k, 2;\n"
    "mul.lo.u32 images, rows, columns; mul.wide.u32 grid, images, #PAIR; cvt.u64.u32 at, image; mul.lo.u64 grid, grid, at;\n"
    "ld.param.u64 at, [a+#DGRID]; add.u64 grid, grid, at; mad.wide.u32 grid, k, #SIZE, grid;\n"
    "mov.$ s0, zero; mov.$ s1, zero; mov.$ s2, zero; mov.u32 i, %tid.x;\n"
    "Next: setp.ge.u32 p, i, images; @p bra Done;\n"
    "rem.u32 column, i, columns; div.u32 row, i, columns; mad.wide.u32 at, i, #PAIR, grid; call (v), Load, (at);\n"
    "call (x), Place, (column, columns); call (y), Place, (row, rows);\n"
    "fma.rn.$ s0, v, x, s0; fma.rn.$ s1, v, y, s1; add.$ s2, s2, v; add.u32 i, i, #THREADS; bra Next;\n"
    "Done: mov.u32 i, %tid.x; mov.u32 c, sums; mad.lo.u32 c, i, 24, c;\n"
    "st.shared.$ [c], s0; st.shared.$ [c+8], s1; st.shared.$ [c+16], s2; bar.sync 0;\n"
    "mov.u32 row, #HALF;\n"
    "Fold: setp.ge.u32 p, i, row; @p bra Folded; mad.lo.u32 column, row, 24, c;\n"
    "ld.shared.$ v, [column]; add.$ s0, s0, v; ld.shared.$ v, [column+8]; add.$ s1, s1, v;\n"
    "ld.shared.$ v, [column+16]; add.$ s2, s2, v; st.shared.$ [c], s0; st.shared.$ [c+8], s1; st.shared.$ [c+16], s2;\n"
    "Folded: bar.sync 0; shr.u32 row, row, 1; setp.gt.u32 p, row, 0; @p bra Fold;\n"
    "setp.ne.u32 p, i, 0; @p ret;\n"
    "mov.u32 k, %ctaid.x; mul.lo.u32 k, k, 3; ld.param.u64 at, [a+#Y]; mad.wide.u32 at, k, #SIZE, at;\n"
    "call Store, (at, s0); add.u64 at, at, #SIZE; call Store, (at, s1); add.u64 at, at, #SIZE; call Store, (at, s2); ret;\n}\n";

/* The four places about a point of x: offsets o0 to o3, whether they are inside, and the point's distances tx, ty. */
static const char around[] =
    "ld.param.s32 in_rows, [a+#IN_ROWS]; ld.param.s32 in_columns, [a+#IN_COLUMNS];\n"
    "call (x), Load, (grid); add.u64 at, grid, #SIZE; call (y), Load, (at);\n"
    "sub.s32 k, in_columns, 1; cvt.rn.$.s32 half_x, k; mul.$ half_x, half_x, half;\n"
    "sub.s32 k, in_rows, 1; cvt.rn.$.s32 half_y, k; mul.$ half_y, half_y, half;\n"
    "add.$ x, x, one; mul.$ x, x, half_x; add.$ y, y, one; mul.$ y, y, half_y;\n"
    "cvt.rmi.$.$ v, x; sub.$ tx, x, v; cvt.rzi.s32.$ left, v; cvt.rmi.$.$ v, y; sub.$ ty, y, v; cvt.rzi.s32.$ top, v;\n"
    "ld.param.s64 by_row, [a+#X_ROW]; ld.param.s64 by_column, [a+#X_COLUMN]; add.s32 right, left, 1; add.s32 low, top, 1;\n"
    "call (o0, in0), Offset, (top, left, in_rows, in_columns, by_row, by_column);\n"
    "call (o1, in1), Offset, (top, right, in_rows, in_columns, by_row, by_column);\n"
    "call (o2, in2), Offset, (low, left, in_rows, in_columns, by_row, by_column);\n"
    "call (o3, in3), Offset, (low, right, in_rows, in_columns, by_row, by_column);\n"
    "sub.$ sx, one, tx; sub.$ sy, one, ty; mul.$ w0, sx, sy; mul.$ w1, tx, sy; mul.$ w2, sx, ty; mul.$ w3, tx, ty;\n"
    "ld.param.u32 channels, [a+#CHANNELS]; cvt.u64.u32 wide, image;\n"
    "ld.param.u64 from, [a+#X]; ld.param.s64 skip, [a+#X_IMAGE]; mul.lo.s64 skip, skip, wide; mad.lo.s64 from, skip, #SIZE, from;\n"
    "ld.param.u64 to, [a+#Y]; ld.param.s64 skip, [a+#Y_IMAGE]; mul.lo.s64 skip, skip, wide; mad.lo.s64 to, skip, #SIZE, to;\n"
    "cvt.u64.u32 wide, row; ld.param.s64 skip, [a+#Y_ROW]; mul.lo.s64 skip, skip, wide; mad.lo.s64 to, skip, #SIZE, to;\n"
    "cvt.u64.u32 wide, column; ld.param.s64 skip, [a+#Y_COLUMN]; mul.lo.s64 skip, skip, wide; mad.lo.s64 to, skip, #SIZE, to;\n"
    "mov.u32 c, 0;\n";

/* The numbers v0 to v3 at the four places; 0 outside. */
#define CORNER(k) \
  "mad.lo.u64 at, o" k ", #SIZE, from; call (v" k "), Load, (at); setp.eq.u32 p, in" k ", 0; selp.$ v" k ", zero, v" k ", p;\n"
#define CORNERS CORNER("0") CORNER("1") CORNER("2") CORNER("3")

static const char sample[] =
    "ld.param.f64 d, [a+#ALPHA]; cvt.#NARROW$.f64 scale, d; ld.param.f64 d, [a+#BETA]; cvt.#NARROW$.f64 factor, d;\n"
    "Next: setp.ge.u32 p, c, channels; @p ret;\n" CORNERS
    "mul.$ v, v0, w0; fma.rn.$ v, v1, w1, v; fma.rn.$ v, v2, w2, v; fma.rn.$ v, v3, w3, v;\n"
    "call Blend, (to, v, scale, factor);\n"
    "ld.param.s64 skip, [a+#X_CHANNEL]; mad.lo.s64 from, skip, #SIZE, from;\n"
    "ld.param.s64 skip, [a+#Y_CHANNEL]; mad.lo.s64 to, skip, #SIZE, to;\n"
    "add.u32 c, c, 1; bra Next;\n}\n";

#define SPREAD(k) \
  "setp.eq.u32 p, in" k ", 0; @p bra Past" k "; mul.$ v, w" k ", w; mad.lo.u64 at, d" k ", #SIZE, into; call Add, (at, v);\n" \
  "Past" k ":\n"

/* dx is added to, so `beta` has been applied to it before. */
static const char sample_back[] =
    "ld.param.s64 by_row, [a+#DX_ROW]; ld.param.s64 by_column, [a+#DX_COLUMN];\n"
    "call (d0, in0), Offset, (top, left, in_rows, in_columns, by_row, by_column);\n"
    "call (d1, in1), Offset, (top, right, in_rows, in_columns, by_row, by_column);\n"
    "call (d2, in2), Offset, (low, left, in_rows, in_columns, by_row, by_column);\n"
    "call (d3, in3), Offset, (low, right, in_rows, in_columns, by_row, by_column);\n"
    "cvt.u64.u32 wide, image; ld.param.u64 into, [a+#DX];\n"
    "ld.param.s64 skip, [a+#DX_IMAGE]; mul.lo.s64 skip, skip, wide; mad.lo.s64 into, skip, #SIZE, into;\n"
    "ld.param.f64 d, [a+#ALPHA]; cvt.#NARROW$.f64 scale, d; mov.$ s0, zero; mov.$ s1, zero;\n"
    "Next: setp.ge.u32 p, c, channels; @p bra Done;\n" CORNERS
    "call (w), Load, (to); sub.$ v, v1, v0; mul.$ v, v, sy; sub.$ y, v3, v2; fma.rn.$ v, y, ty, v; fma.rn.$ s0, v, w, s0;\n"
    "sub.$ v, v2, v0; mul.$ v, v, sx; sub.$ y, v3, v1; fma.rn.$ v, y, tx, v; fma.rn.$ s1, v, w, s1;\n"
    "mul.$ w, w, scale;\n" SPREAD("0") SPREAD("1") SPREAD("2") SPREAD("3")
    "ld.param.s64 skip, [a+#X_CHANNEL]; mad.lo.s64 from, skip, #SIZE, from;\n"
    "ld.param.s64 skip, [a+#Y_CHANNEL]; mad.lo.s64 to, skip, #SIZE, to;\n"
    "ld.param.s64 skip, [a+#DX_CHANNEL]; mad.lo.s64 into, skip, #SIZE, into;\n"
    "add.u32 c, c, 1; bra Next;\n"
    "Done: ld.param.u64 at, [a+#DGRID];\n"
    "mad.wide.u32 at, i, #PAIR, at; mul.$ s0, s0, half_x; mul.$ s1, s1, half_y;\n"
    "ld.param.f64 d, [a+#ALPHA_GRID]; cvt.#NARROW$.f64 scale, d; ld.param.f64 d, [a+#BETA_GRID]; cvt.#NARROW$.f64 factor, d;\n"
    "call Blend, (at, s0, scale, factor); add.u64 at, at, #SIZE; call Blend, (at, s1, scale, factor); ret;\n}\n";

/* A thread multiplies a number of dx by `beta`. */
static const char scale_all[] =
    "mov.u32 i, %ctaid.x; mov.u32 k, %tid.x; mad.lo.u32 i, i, #THREADS, k;\n"
    "ld.param.u32 images, [a+#IMAGES]; ld.param.u32 channels, [a+#CHANNELS];\n"
    "ld.param.u32 rows, [a+#IN_ROWS]; ld.param.u32 columns, [a+#IN_COLUMNS];\n"
    "mul.lo.u32 k, images, channels; mul.lo.u32 k, k, rows; mul.lo.u32 k, k, columns; setp.ge.u32 p, i, k; @p ret;\n"
    "rem.u32 k, i, columns; div.u32 i, i, columns; cvt.u64.u32 wide, k; ld.param.s64 skip, [a+#DX_COLUMN];\n"
    "mul.lo.s64 at, skip, wide;\n"
    "rem.u32 k, i, rows; div.u32 i, i, rows; cvt.u64.u32 wide, k; ld.param.s64 skip, [a+#DX_ROW];\n"
    "mad.lo.s64 at, skip, wide, at;\n"
    "rem.u32 k, i, channels; div.u32 i, i, channels; cvt.u64.u32 wide, k; ld.param.s64 skip, [a+#DX_CHANNEL];\n"
    "mad.lo.s64 at, skip, wide, at; cvt.u64.u32 wide, i; ld.param.s64 skip, [a+#DX_IMAGE];\n"
    "mad.lo.s64 at, skip, wide, at; ld.param.u64 into, [a+#DX]; mad.lo.s64 at, at, #SIZE, into;\n"
    "ld.param.f64 d, [a+#BETA]; cvt.#NARROW$.f64 factor, d; mov.$ v, zero; mov.$ scale, one;\n"
    "call Blend, (at, v, scale, factor); ret;\n}\n";

static const char registers[] =
    ".reg .$ x, y, v, w, v0, v1, v2, v3, w0, w1, w2, w3, tx, ty, sx, sy, s0, s1, s2, half_x, half_y, scale, factor;\n"
    ".reg .u64 at, grid, from, to, into, o0, o1, o2, o3, d0, d1, d2, d3, wide; .reg .s64 skip, by_row, by_column;\n"
    ".reg .u32 i, k, c, images, channels, rows, columns, image, row, column, in0, in1, in2, in3; .reg .f64 d;\n"
    ".reg .s32 in_rows, in_columns, left, right, top, low; .reg .pred p;\n.shared .align 8 .b8 sums[6144];\n";

#define FIELD(name, field) {name, offsetof(struct spatial_arguments, field)}
static const struct cudnn_field fields[] = {
  FIELD("X_IMAGE", x_stride[0]), FIELD("X_CHANNEL", x_stride[1]), FIELD("X_ROW", x_stride[2]),
  FIELD("X_COLUMN", x_stride[3]), FIELD("Y_IMAGE", y_stride[0]), FIELD("Y_CHANNEL", y_stride[1]),
  FIELD("Y_ROW", y_stride[2]), FIELD("Y_COLUMN", y_stride[3]), FIELD("DX_IMAGE", dx_stride[0]),
  FIELD("DX_CHANNEL", dx_stride[1]), FIELD("DX_ROW", dx_stride[2]), FIELD("DX_COLUMN", dx_stride[3]),
  FIELD("X", x), FIELD("Y", y), FIELD("DX", dx), FIELD("GRID", grid), FIELD("DGRID", dgrid), FIELD("ALPHA", alpha),
  FIELD("BETA", beta), FIELD("ALPHA_GRID", alpha_grid), FIELD("BETA_GRID", beta_grid), FIELD("IMAGES", size[0]),
  FIELD("CHANNELS", size[1]), FIELD("ROWS", size[2]), FIELD("COLUMNS", size[3]), FIELD("IN_ROWS", rows),
  FIELD("IN_COLUMNS", columns), {"THREADS", SPATIAL_THREADS}, {"HALF", SPATIAL_THREADS / 2},
};

char *spatial_ptx(enum spatial_kernel kernel, cudnnDataType_t type) {
  static const char *const parts[SPATIAL_KERNELS][3] = {
    {point, generate}, {gradient}, {point, around, sample}, {point, around, sample_back}, {scale_all},
  };
  const struct cudnn_template as = {type, fields, sizeof fields / sizeof *fields};
  char *made = NULL;
  size_t length;
  FILE *out = open_memstream(&made, &length);
  if (!out) return NULL;
  cudnn_template_head(out, &as);
  cudnn_template(out, &as, blend);
  fprintf(out, ".visible .entry %s(.param .align 8 .b8 a[%zu]) {\n", spatial_names[kernel],
          sizeof(struct spatial_arguments));
  cudnn_template(out, &as, registers);
  for (int i = 0; i < 3 && parts[kernel][i]; i++) cudnn_template(out, &as, parts[kernel][i]);
  fclose(out);
  return made;
}
