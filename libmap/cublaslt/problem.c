/* A product in hipBLASLt's terms. hipBLASLt's matrices are column-major: a row-major matrix is passed as its transpose,
 * and a row-major result is computed as the product of the transposes in reverse order. */
#include "matmul.h"

static bool compute_known(int compute) {
  hipblasComputeType_t found[2];
  lt_compute(compute, found);
  return found[0] != 0;
}

void lt_compute(int compute, hipblasComputeType_t out[2]) {
  out[0] = out[1] = 0;
  switch (compute) {
    case 64: case 65: case 68: case 69: case 78: out[0] = HIPBLAS_COMPUTE_32F; break;
    case 74: out[0] = HIPBLAS_COMPUTE_32F_FAST_16F, out[1] = HIPBLAS_COMPUTE_32F; break;
    case 75: out[0] = HIPBLAS_COMPUTE_32F_FAST_16BF, out[1] = HIPBLAS_COMPUTE_32F; break;
    case 77: out[0] = HIPBLAS_COMPUTE_32F_FAST_TF32, out[1] = HIPBLAS_COMPUTE_32F; break;
    case 70: case 71: case 79: out[0] = HIPBLAS_COMPUTE_64F; break;
    case 72: case 73: out[0] = HIPBLAS_COMPUTE_32I; break;
    default: break;
  }
}

static bool layout_fits(const struct lt_layout *one) {
  if (!one || one->batch < 1 || one->order < ORDER_COL || one->order > 4) return false;
  uint64_t least = one->order == ORDER_ROW ? one->cols : one->order == ORDER_COL ? one->rows : 0;
  return one->ld >= 0 && (uint64_t)one->ld >= least;
}

bool lt_operands(cublasLtMatmulDesc_t desc, cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b, cublasLtMatrixLayout_t c,
                 cublasLtMatrixLayout_t d, struct lt_operands *out) {
  const struct lt_desc *how = lt_desc(desc);
  *out = (struct lt_operands){lt_layout(a), lt_layout(b), lt_layout(c), lt_layout(d)};
  if (!how || !layout_fits(out->a) || !layout_fits(out->b) || !layout_fits(out->c) || !layout_fits(out->d)) return false;
  if (!compute_known(how->compute) || how->trans_a < 0 || how->trans_a > OP_C || how->trans_b < 0 || how->trans_b > OP_C)
    return false;
  bool ta = how->trans_a != OP_N, tb = how->trans_b != OP_N;
  uint64_t m = ta ? out->a->cols : out->a->rows, k = ta ? out->a->rows : out->a->cols;
  uint64_t n = tb ? out->b->rows : out->b->cols, inner = tb ? out->b->cols : out->b->rows;
  int batch = out->d->batch;
  return k == inner && out->d->rows == m && out->d->cols == n && out->c->rows == m && out->c->cols == n &&
         out->a->batch == batch && out->b->batch == batch && out->c->batch == batch;
}

static bool is_real(int type) {
  switch (type) {
    case HIP_R_32F: case HIP_R_64F: case HIP_R_16F: case HIP_R_16BF: case HIP_R_8I: case HIP_R_32I: case HIP_R_8F_E4M3:
    case HIP_R_8F_E5M2: return true;
    default: return false;
  }
}

/* Features that hipBLASLt lacks, rejected with a message. */
static cublasStatus_t served(const struct lt_desc *desc, const struct lt_operands *layouts) {
  const struct lt_layout *all[] = {layouts->a, layouts->b, layouts->c, layouts->d};
  bool row = layouts->d->order == ORDER_ROW;
  for (int i = 0; i < 4; i++) {
    REFUSE_IF(all[i]->order > ORDER_ROW, "cublasLtMatmul with matrices in tiles (CUBLASLT_ORDER_COL32 and the like)");
    REFUSE_IF(!is_real(all[i]->type), "cublasLtMatmul of complex numbers, integers of 4 or 16 bits, numbers of 4 or 6 bits");
    REFUSE_IF(all[i]->plane, "cublasLtMatmul with complex numbers in planes");
    REFUSE_IF(all[i]->batch_mode, "cublasLtMatmul with arrays of pointers");
  }
  REFUSE_IF(layouts->c->order != layouts->d->order, "cublasLtMatmul with C and D in different orders");
  REFUSE_IF(desc->trans_c != OP_N, "cublasLtMatmul with C transposed");
  REFUSE_IF(desc->fill != FILL_FULL, "cublasLtMatmul with one triangle of a result");
  REFUSE_IF(desc->epilogue & EPILOGUE_DRELU || (desc->epilogue & EPILOGUE_AUX && desc->epilogue & EPILOGUE_RELU),
            "cublasLtMatmul with ReLU's mask of bits (hipBLASLt's has other contents)");
  REFUSE_IF(desc->pointer_mode == MODE_VECTORS, "cublasLtMatmul with vectors for alpha and beta");
  REFUSE_IF(desc->alpha_stride, "cublasLtMatmul with vectors for alpha of each matrix");
  REFUSE_IF(desc->bias_stride, "cublasLtMatmul with a bias for each matrix");
  REFUSE_IF(desc->mode_c || desc->mode_d || desc->mode_aux || desc->mode_out || desc->scale_out,
            "cublasLtMatmul with blocks of scales for C or D");
  for (int i = 0; i < 2; i++) {
    int mode = i ? desc->mode_b : desc->mode_a;
    REFUSE_IF(mode != SCALE_ONE && mode != SCALE_VECTOR && mode != SCALE_BLOCKS_32,
              "cublasLtMatmul with scales of blocks other than 32 numbers");
  }
  REFUSE_IF(desc->amax_aux, "cublasLtMatmul with the largest number of the epilogue's matrix");
  REFUSE_IF(row && (desc->epilogue != EPILOGUE_DEFAULT || desc->pointer_mode > MODE_DEVICE || desc->mode_a || desc->mode_b),
            "cublasLtMatmul with an epilogue or vectors for a result in rows");
  bool whole = layouts->a->type == HIP_R_8I || layouts->b->type == HIP_R_8I;
  REFUSE_IF(whole && desc->compute != 72 && desc->compute != 73, "cublasLtMatmul of 8-bit integers with sums that are none");
  REFUSE_IF(desc->pointer_mode > MODE_DEVICE && (whole || desc->scale == HIP_R_16F),
            "cublasLtMatmul with a vector of alphas that are integers or f16");
  return CUBLAS_STATUS_SUCCESS;
}

/* ---- hipBLASLt's descriptors ---- */

hipblasOperation_t lt_operation(int op, bool flipped) {
  if (flipped) return op == OP_N ? HIPBLAS_OP_T : HIPBLAS_OP_N; /* of real numbers */
  return op == OP_N ? HIPBLAS_OP_N : op == OP_T ? HIPBLAS_OP_T : HIPBLAS_OP_C;
}

static hipblasStatus_t make_layout(const struct lt_layout *one, hipblasLtMatrixLayout_t *out) {
  bool row = one->order == ORDER_ROW;
  hipblasStatus_t status = hipblasLt.MatrixLayoutCreate(out, (hipDataType)one->type, row ? one->cols : one->rows,
                                                        row ? one->rows : one->cols, one->ld);
  if (status || one->batch == 1) return status;
  status = hipblasLt.MatrixLayoutSetAttribute(*out, HIPBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &one->batch, sizeof one->batch);
  if (status) return status;
  return hipblasLt.MatrixLayoutSetAttribute(*out, HIPBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &one->stride,
                                            sizeof one->stride);
}

/* 64-bit attributes that both libraries have, passed on if they are not zero. The first two are swapped with A and B.
 * */
static const struct { hipblasLtMatmulDescAttributes_t to; size_t at; } shared[] = {
    {HIPBLASLT_MATMUL_DESC_A_SCALE_POINTER, offsetof(struct lt_desc, scale_a)},
    {HIPBLASLT_MATMUL_DESC_B_SCALE_POINTER, offsetof(struct lt_desc, scale_b)},
    {HIPBLASLT_MATMUL_DESC_C_SCALE_POINTER, offsetof(struct lt_desc, scale_c)},
    {HIPBLASLT_MATMUL_DESC_D_SCALE_POINTER, offsetof(struct lt_desc, scale_d)},
    {HIPBLASLT_MATMUL_DESC_EPILOGUE_AUX_SCALE_POINTER, offsetof(struct lt_desc, scale_aux)},
    {HIPBLASLT_MATMUL_DESC_BIAS_POINTER, offsetof(struct lt_desc, bias)},
    {HIPBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, offsetof(struct lt_desc, aux)},
    {HIPBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, offsetof(struct lt_desc, aux_ld)},
    {HIPBLASLT_MATMUL_DESC_EPILOGUE_AUX_BATCH_STRIDE, offsetof(struct lt_desc, aux_stride)},
    {HIPBLASLT_MATMUL_DESC_AMAX_D_POINTER, offsetof(struct lt_desc, amax_d)},
};
enum { SHARED = sizeof shared / sizeof *shared };

static bool is_fp8(int type) { return type == HIP_R_8F_E4M3 || type == HIP_R_8F_E5M2; }

/* The bias type if the program does not set one: D's type, except if D has too few bits for a bias. */
int lt_bias_type(const struct lt_desc *desc, const struct lt_operands *layouts) {
  int d = layouts->d->type;
  if (desc->bias_type >= 0) return desc->bias_type;
  if (d == HIP_R_8I) return desc->scale;
  if (!is_fp8(layouts->a->type) && !is_fp8(layouts->b->type)) return d;
  return d == HIP_R_16F || (is_fp8(d) && layouts->c->type == HIP_R_16F) ? HIP_R_16F : HIP_R_16BF;
}

static hipblasStatus_t set_word(hipblasLtMatmulDesc_t to, hipblasLtMatmulDescAttributes_t attribute, int32_t value) {
  return hipblasLt.MatmulDescSetAttribute(to, attribute, &value, sizeof value);
}

static hipblasStatus_t fill_desc(const struct lt_desc *desc, const struct lt_operands *layouts, struct lt_problem *out) {
  bool swap = out->swapped;
  hipblasOperation_t a = lt_operation(desc->trans_a, (layouts->a->order == ORDER_ROW) != swap);
  hipblasOperation_t b = lt_operation(desc->trans_b, (layouts->b->order == ORDER_ROW) != swap);
  const struct { hipblasLtMatmulDescAttributes_t to; int value, otherwise; } words[] = {
      {HIPBLASLT_MATMUL_DESC_TRANSA, (int)(swap ? b : a), HIPBLAS_OP_N},
      {HIPBLASLT_MATMUL_DESC_TRANSB, (int)(swap ? a : b), HIPBLAS_OP_N},
      {HIPBLASLT_MATMUL_DESC_EPILOGUE, (int)desc->epilogue, EPILOGUE_DEFAULT},
      {HIPBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, desc->bias ? lt_bias_type(desc, layouts) : -1, -1},
      {HIPBLASLT_MATMUL_DESC_EPILOGUE_AUX_DATA_TYPE, desc->aux_type, -1},
      {HIPBLASLT_MATMUL_DESC_POINTER_MODE, desc->pointer_mode > MODE_DEVICE ? MODE_ALPHA_VECTOR_BETA_HOST : MODE_HOST, MODE_HOST},
      {HIPBLASLT_MATMUL_DESC_A_SCALE_MODE, desc->mode_a, 0}, {HIPBLASLT_MATMUL_DESC_B_SCALE_MODE, desc->mode_b, 0},
  };
  hipblasStatus_t status = HIPBLAS_STATUS_SUCCESS;
  for (size_t i = 0; i < sizeof words / sizeof *words && !status; i++)
    if (words[i].value != words[i].otherwise) status = set_word(out->desc, words[i].to, words[i].value);
  for (size_t i = 0; i < SHARED && !status; i++) {
    uint64_t value = *(const uint64_t *)((const char *)desc + shared[i < 2 && swap ? 1 - i : i].at);
    if (value) status = hipblasLt.MatmulDescSetAttribute(out->desc, shared[i].to, &value, sizeof value);
  }
  return status;
}

static uint64_t hashed(uint64_t hash, const void *from, size_t size) {
  for (size_t i = 0; i < size; i++) hash = (hash ^ ((const unsigned char *)from)[i]) * 0x100000001b3u;
  return hash;
}

/* The values of a problem's attributes; for pointers, only whether they are set. */
static uint64_t hash_of(const struct lt_desc *desc, const struct lt_operands *layouts, hipblasComputeType_t compute) {
  const struct lt_layout *all[] = {layouts->a, layouts->b, layouts->c, layouts->d};
  struct lt_desc plain = *desc;
  const void **const pointers[] = {&plain.bias, &plain.aux, &plain.scale_a, &plain.scale_b, &plain.scale_c,
                                   &plain.scale_d, &plain.scale_aux, &plain.amax_d, &plain.amax_aux, &plain.scale_out};
  for (size_t i = 0; i < sizeof pointers / sizeof *pointers; i++)
    *pointers[i] = *pointers[i] ? (const void *)1 : NULL;
  uint64_t hash = hashed(0xcbf29ce484222325u, &plain, sizeof plain);
  for (int i = 0; i < 4; i++) hash = hashed(hash, all[i], sizeof *all[i]);
  return hashed(hash, &compute, sizeof compute);
}

cublasStatus_t lt_problem_make(const struct lt_desc *desc, const struct lt_operands *layouts, hipblasComputeType_t compute,
                               struct lt_problem *out) {
  cublasStatus_t refused = served(desc, layouts);
  if (refused) return refused;
  *out = (struct lt_problem){.compute = compute, .swapped = layouts->d->order == ORDER_ROW,
                             .half = desc->scale == HIP_R_16F,
                             .whole = layouts->a->type == HIP_R_8I && desc->scale == HIP_R_32F,
                             .zero_beta = desc->pointer_mode == MODE_ALPHA_VECTOR_BETA_ZERO,
                             .hash = hash_of(desc, layouts, compute)};
  const struct lt_layout *first = out->swapped ? layouts->b : layouts->a, *second = out->swapped ? layouts->a : layouts->b;
  hipDataType scale = out->half ? HIP_R_32F : out->whole ? HIP_R_32I : (hipDataType)desc->scale;
  hipblasStatus_t status = hipblasLt.MatmulDescCreate(&out->desc, compute, scale);
  if (!status) status = fill_desc(desc, layouts, out);
  if (!status) status = make_layout(first, &out->a);
  if (!status) status = make_layout(second, &out->b);
  if (!status) status = make_layout(layouts->c, &out->c);
  if (!status) status = make_layout(layouts->d, &out->d);
  if (status) lt_problem_end(out);
  return cublaslt_status(status);
}

void lt_problem_end(struct lt_problem *problem) {
  hipblasLtMatrixLayout_t layouts[] = {problem->a, problem->b, problem->c, problem->d};
  for (int i = 0; i < 4; i++)
    if (layouts[i]) hipblasLt.MatrixLayoutDestroy(layouts[i]);
  if (problem->desc) hipblasLt.MatmulDescDestroy(problem->desc);
  *problem = (struct lt_problem){0};
}
