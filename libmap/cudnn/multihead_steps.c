/* Steps of a pass of multi-head attention. */
#include "compute.h"
#include "multihead_pass.h"
#include "ptx.h"
#include "rocblas_handle.h"

size_t multihead_number(const struct pass *pass) {
  return pass->of->type == CUDNN_DATA_DOUBLE ? sizeof(double) : sizeof(float);
}

char *multihead_place(const struct pass *pass, int which) {
  return (which < KEPT_PARTS ? pass->kept : pass->work) + pass->layout.at[which];
}

/* ---- shapes ---- */

int multihead_vectors(const struct cudnnSeqDataDescriptor_t_st *of) {
  return of->size[TIME] * of->size[BATCH] * of->size[BEAM];
}

/* How many vectors lie between those that differ by one along an axis. */
static void steps_of(const struct cudnnSeqDataDescriptor_t_st *of, uint32_t *out) {
  uint32_t step = 1;
  for (int d = SEQUENCE_AXES - 2; d >= 0; d--) out[of->axis[d]] = step, step *= (uint32_t)of->size[of->axis[d]];
}

/* A projected operand, or the input itself. */
char *multihead_operand(const struct pass *pass, int which) {
  return multihead_place(pass, (pass->of->projected[which] ? PART_OWN : PART_IN) + which);
}

/* ---- steps ---- */

void multihead_launch(struct pass *pass, enum multihead_kernel which, struct multihead_arguments *a, uint32_t threads) {
  if (pass->status || !threads) return;
  char *ptx = multihead_ptx(which, pass->of->type);
  void *kernel = ptx ? ptx_kernel(ptx, multihead_names[which]) : NULL, *parameters[] = {a};
  unsigned blocks = (threads + MULTIHEAD_THREADS - 1) / MULTIHEAD_THREADS;
  if (!kernel || libmap_driver.launch(kernel, blocks, 1, 1, MULTIHEAD_THREADS, 1, 1, 0, pass->handle->stream, parameters,
                                      NULL)) {
    pass->status = CUDNN_STATUS_EXECUTION_FAILED;
  }
}

struct multihead_arguments multihead_walk(const struct cudnnSeqDataDescriptor_t_st *of, int width, const int *lengths) {
  struct multihead_arguments a = {.count = (uint32_t)(multihead_vectors(of) * width), .width = (uint32_t)width,
                                  .lengths = (uintptr_t)lengths, .only = (uint32_t)ALL_TIMES};
  steps_of(of, a.step);
  for (int d = 0; d < VECTOR; d++) a.size[d] = (uint32_t)of->size[d];
  return a;
}

/* Numbers without sequences. */
struct multihead_arguments multihead_list(size_t count) {
  return (struct multihead_arguments){.count = (uint32_t)count, .width = 1, .step = {1, 1, 1}, .size = {1, 1, 1},
                                      .only = (uint32_t)ALL_TIMES};
}


void multihead_multiply(struct pass *pass, int m, int n, int k, struct factor a, struct factor b, int keep, char *c,
                        int lead, int64_t apart, int count) {
  static const float factors_f[] = {0, 1};
  static const double factors_d[] = {0, 1};
  enum { F32 = 151, F64 };
  bool wide = pass->of->type == CUDNN_DATA_DOUBLE;
  int type = wide ? F64 : F32;
  const void *one = wide ? (const void *)&factors_d[1] : &factors_f[1];
  const void *old = wide ? (const void *)&factors_d[keep] : &factors_f[keep];
  if (!pass->status && rocblas.gemm_strided_batched_ex(pass->handle->rocblas, a.turned, b.turned, m, n, k, one, a.at, type,
                                                       a.lead, a.apart, b.at, type, b.lead, b.apart, old, c, type, lead,
                                                       apart, c, type, lead, apart, count, type, 0, 0, 0)) {
    pass->status = CUDNN_STATUS_EXECUTION_FAILED;
  }
}

/* The same for the heads of a sequence; where they share their result, one after the other. */
static void multiply_heads(struct pass *pass, int m, int n, int k, struct factor a, struct factor b, int keep, char *c,
                           int lead, int64_t apart) {
  int heads = pass->of->heads;
  int64_t size = (int64_t)multihead_number(pass);
  for (int h = 0; h < (apart ? 1 : heads); h++) {
    struct factor first = a, second = b;
    first.at = (const char *)a.at + h * a.apart * size, second.at = (const char *)b.at + h * b.apart * size;
    multihead_multiply(pass, m, n, k, first, second, keep || h, c, lead, apart, apart ? heads : 1);
  }
}

/* ---- products of the heads of each sequence ---- */

/* A sequence's part of an operand: where it begins, how far its vectors and its heads are apart, the length of a head. */
struct head { char *at; int lead, length; int64_t apart; };

static struct head head_of(const struct pass *pass, int which, char *base, int batch, int beam) {
  const struct cudnnSeqDataDescriptor_t_st *of = pass->sequence[which];
  bool result = which == RESULT; /* all heads' vectors of values, in the order of queries */
  int length = multihead_length(pass->of, result ? VALUE : which);
  int width = result ? pass->of->heads * length : multihead_width(pass->of, which);
  uint32_t step[3];
  steps_of(of, step);
  size_t first = (size_t)batch * step[BATCH] + (size_t)(of->size[BEAM] > 1 ? beam : 0) * step[BEAM];
  bool apart = result || pass->of->projected[which];
  char *at = base + first * (size_t)width * multihead_number(pass);
  return (struct head){at, (int)step[TIME] * width, length, apart ? length : 0};
}

static struct factor as_factor(struct head head, int turned) {
  return (struct factor){head.at, turned, head.lead, head.apart};
}

static struct head rows_of(const struct pass *pass, int which, int batch, int beam) {
  int queries = pass->sequence[QUERY]->size[TIME], keys = pass->sequence[KEY]->size[TIME];
  size_t first = (size_t)(batch * pass->sequence[QUERY]->size[BEAM] + beam) * (size_t)pass->of->heads;
  char *at = multihead_place(pass, which) + first * (size_t)queries * (size_t)keys * multihead_number(pass);
  return (struct head){at, keys, keys, (int64_t)queries * keys};
}

void multihead_each(struct pass *pass, for_sequence *step) {
  for (int n = 0; n < pass->sequence[QUERY]->size[BATCH]; n++) {
    for (int b = 0; b < pass->sequence[QUERY]->size[BEAM]; b++) step(pass, n, b);
  }
}

void multihead_products(struct pass *pass, int n, int b) {
  struct head q = head_of(pass, QUERY, multihead_operand(pass, QUERY), n, b);
  struct head k = head_of(pass, KEY, multihead_operand(pass, KEY), n, b);
  struct head to = rows_of(pass, PART_SHARES, n, b);
  multiply_heads(pass, to.length, pass->sequence[QUERY]->size[TIME], q.length, as_factor(k, TURNED), as_factor(q, PLAIN), 0,
                 to.at, to.lead, to.apart);
}

void multihead_mixtures(struct pass *pass, int n, int b) {
  struct head v = head_of(pass, VALUE, multihead_operand(pass, VALUE), n, b), shares = rows_of(pass, PART_SHARES, n, b);
  struct head to = head_of(pass, RESULT, multihead_place(pass, PART_HEADS), n, b);
  multiply_heads(pass, v.length, pass->sequence[QUERY]->size[TIME], shares.length, as_factor(v, PLAIN),
                 as_factor(shares, PLAIN), 0, to.at, to.lead, to.apart);
}

/* Whether an earlier beam has used the same keys. */
static int again(const struct pass *pass, int beam) { return beam > 0 && pass->sequence[KEY]->size[BEAM] == 1; }

void multihead_mixtures_back(struct pass *pass, int n, int b) {
  char *slopes = multihead_place(pass, pass->of->projected[RESULT] ? PART_HEADS_SLOPE : PART_SLOPE);
  int queries = pass->sequence[QUERY]->size[TIME];
  struct head v = head_of(pass, VALUE, multihead_operand(pass, VALUE), n, b);
  struct head slope = head_of(pass, RESULT, slopes, n, b);
  struct head shares = rows_of(pass, PART_SHARES, n, b), to = rows_of(pass, PART_SHARES_SLOPE, n, b);
  struct head values = head_of(pass, VALUE, multihead_place(pass, PART_TURNED + VALUE), n, b);
  multiply_heads(pass, to.length, queries, v.length, as_factor(v, TURNED), as_factor(slope, PLAIN), 0, to.at, to.lead,
                 to.apart);
  multiply_heads(pass, v.length, shares.length, queries, as_factor(slope, PLAIN), as_factor(shares, TURNED),
                 again(pass, b), values.at, values.lead, values.apart);
}

void multihead_products_back(struct pass *pass, int n, int b) {
  int queries = pass->sequence[QUERY]->size[TIME];
  struct head q = head_of(pass, QUERY, multihead_operand(pass, QUERY), n, b);
  struct head k = head_of(pass, KEY, multihead_operand(pass, KEY), n, b);
  struct head slope = rows_of(pass, PART_SHARES_SLOPE, n, b);
  struct head to_q = head_of(pass, QUERY, multihead_place(pass, PART_TURNED + QUERY), n, b);
  struct head to_k = head_of(pass, KEY, multihead_place(pass, PART_TURNED + KEY), n, b);
  multiply_heads(pass, q.length, queries, slope.length, as_factor(k, PLAIN), as_factor(slope, PLAIN), 0, to_q.at,
                 to_q.lead, to_q.apart);
  multiply_heads(pass, k.length, slope.length, queries, as_factor(q, PLAIN), as_factor(slope, TURNED), again(pass, b),
                 to_k.at, to_k.lead, to_k.apart);
}

/* ---- rows of products ---- */


void multihead_rows(struct pass *pass, enum multihead_kernel which, const struct windows *windows, char *from, char *to) {
  const struct cudnnSeqDataDescriptor_t_st *q = pass->sequence[QUERY], *k = pass->sequence[KEY];
  struct multihead_arguments a = multihead_walk(q, pass->of->heads, windows->queries);
  char *place = multihead_place(pass, PART_WINDOWS);
  size_t size = (size_t)q->size[TIME] * sizeof(int);
  a.from = (uintptr_t)from, a.to = (uintptr_t)to, a.key_lengths = (uintptr_t)windows->keys, a.scale = pass->of->scale;
  a.heads = (uint32_t)pass->of->heads, a.keys = (uint32_t)k->size[TIME], a.key_beams = (uint32_t)k->size[BEAM];
  if (which == KERNEL_SHARE && !pass->status) {
    a.low = (uintptr_t)place, a.high = (uintptr_t)place + size;
    if (libmap_driver.copy_in_async(a.low, windows->low, size, pass->handle->stream) ||
        libmap_driver.copy_in_async(a.high, windows->high, size, pass->handle->stream)) {
      pass->status = CUDNN_STATUS_EXECUTION_FAILED;
    }
  }
  multihead_launch(pass, which, &a, a.count);
}
