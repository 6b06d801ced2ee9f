/* Products on rocBLAS, where hipBLASLt offers no algorithm, as on a chip that it has no code for. The epilogue is a kernel
 * of ours: it reads D as rocBLAS has rounded it. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <glob.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "matmul.h"
#include "ptx.h"
#include "rocblas_handle.h"

extern const struct libmap libmap_rocblas;

/* Guards a handle from the choice of its stream to the product in it. Meanwhile rocBLAS may allocate and release memory
 * in a capture. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int begin(void) {
  enum { RELAXED = 2 };
  int mode = RELAXED;
  pthread_mutex_lock(&lock);
  libmap_driver.capture_mode(&mode);
  return mode;
}

static void end(int mode) {
  libmap_driver.capture_mode(&mode);
  pthread_mutex_unlock(&lock);
}

/* rocBLAS's numbers of types, and products: types of A and B, of C and D, and of sums. */
enum { F16 = 150, F32, F64, I8 = 160, I32 = 162, BF16 = 168 };
static const struct product { int16_t in, out, sum, scale, in_beneath, out_beneath; } products[] = {
    {HIP_R_32F, HIP_R_32F, F32, HIP_R_32F, F32, F32},     {HIP_R_64F, HIP_R_64F, F64, HIP_R_64F, F64, F64},
    {HIP_R_16F, HIP_R_16F, F32, HIP_R_32F, F16, F16},     {HIP_R_16F, HIP_R_32F, F32, HIP_R_32F, F16, F32},
    {HIP_R_16BF, HIP_R_16BF, F32, HIP_R_32F, BF16, BF16}, {HIP_R_16BF, HIP_R_32F, F32, HIP_R_32F, BF16, F32},
    {HIP_R_8I, HIP_R_32I, I32, HIP_R_32I, I8, I32},
};

static int sum_of(int compute) {
  hipblasComputeType_t types[2];
  lt_compute(compute, types);
  return types[0] == HIPBLAS_COMPUTE_64F ? F64 : types[0] == HIPBLAS_COMPUTE_32I ? I32 : F32;
}

static const struct product *product_of(const struct lt_desc *desc, const struct lt_operands *layouts) {
  int sum = sum_of(desc->compute);
  if (layouts->a->type != layouts->b->type || layouts->c->type != layouts->d->type) return NULL;
  for (size_t i = 0; i < sizeof products / sizeof *products; i++) {
    const struct product *one = &products[i];
    bool scaled = desc->scale == one->scale || (sum == F32 && desc->scale == HIP_R_16F) ||
                  (sum == I32 && desc->scale == HIP_R_32F); /* which cublasLtMatmul converts */
    if (one->in == layouts->a->type && one->out == layouts->d->type && one->sum == sum && scaled) return one;
  }
  return NULL;
}

/* The type as the kernel has it; negative: it has none. */
static int in_kernel(int type) {
  return type == HIP_R_32F ? PTX_F32 : type == HIP_R_16F ? PTX_F16 : type == HIP_R_16BF ? PTX_BF16 : -1;
}

static bool has_epilogue(const struct lt_desc *desc, const struct lt_operands *layouts) {
  switch (desc->epilogue) {
    case EPILOGUE_DEFAULT: return true;
    case EPILOGUE_BIAS: case EPILOGUE_RELU | EPILOGUE_BIAS: case EPILOGUE_GELU | EPILOGUE_BIAS:
      return in_kernel(layouts->d->type) >= 0 && in_kernel(lt_bias_type(desc, layouts)) >= 0;
    case EPILOGUE_RELU: case EPILOGUE_GELU: return in_kernel(layouts->d->type) >= 0;
    default: return false;
  }
}

static bool fits(const struct lt_layout *one) {
  return one->rows <= INT32_MAX && one->cols <= INT32_MAX && one->ld <= INT32_MAX &&
         one->cols * (uint64_t)one->batch <= INT32_MAX;
}

/* ---- handles ---- */

static bool there;

/* Whether rocBLAS's folder has files of the chip: without them it ends the program. */
static bool has_code(const char *folder, const char *chip) {
  char pattern[4096];
  glob_t found;
  if (snprintf(pattern, sizeof pattern, "%s/TensileLibrary*%s.*", folder, chip) >= (int)sizeof pattern) return false;
  bool good = !glob(pattern, 0, NULL, &found) && found.gl_pathc;
  globfree(&found);
  return good;
}

static bool has_code_for(const char *chip) {
  const char *given = getenv("ROCBLAS_TENSILE_LIBPATH");
  if (given) return has_code(given, chip);
  Dl_info about;
  void *function;
  char folder[2048];
  memcpy(&function, &rocblas.create_handle, sizeof function);
  if (!dladdr(function, &about)) return false;
  const char *end = strrchr(about.dli_fname, '/');
  int length = end ? (int)(end - about.dli_fname) : 0;
  for (int i = 0; i < 2; i++) { /* of AMD's packages, and of Debian's */
    snprintf(folder, sizeof folder, "%.*s/rocblas/%slibrary", length, about.dli_fname, i ? "*/" : "");
    if (has_code(folder, chip)) return true;
  }
  return false;
}

static void open_library(void) {
  const char *chip;
  there = libmap_open(&libmap_rocblas);
  for (int device = 0; there && (chip = libmap_driver.chip(device)); device++) there = has_code_for(chip);
}

bool lt_rocblas_serves(struct blas_handle *handle, const struct lt_desc *desc, const struct lt_operands *layouts) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  if (!product_of(desc, layouts) || !has_epilogue(desc, layouts) || desc->pointer_mode > MODE_DEVICE ||
      desc->mode_a || desc->mode_b || desc->scale_a || desc->scale_b || desc->scale_c || desc->scale_d ||
      desc->amax_d || !fits(layouts->a) || !fits(layouts->b) || !fits(layouts->c) || !fits(layouts->d))
    return false;
  pthread_once(&once, open_library);
  int mode = begin();
  bool good = there && rocblas_handle_ready((rocblas_handle *)&handle->rocblas);
  end(mode);
  return good;
}

void lt_rocblas_end(struct blas_handle *handle) {
  if (handle->rocblas) rocblas.destroy_handle(handle->rocblas);
  handle->rocblas = NULL;
}

/* ---- epilogues ---- */

enum { THREADS = 256, MOST_COLUMNS = 65535 }; /* of a grid */

/* Reads a number into register qf; `at` is the matrix. */
static void load(FILE *out, int type, const char *index) {
  fprintf(out, "mad.lo.s64 at, %s, %d, at; %s %s\n", index, type == PTX_F32 ? 4 : 2, ptx_memory[type].load,
          ptx_memory[type].unpack);
}

/* A thread has a row, and each column that is a multiple of the grid's away; columns of all matrices are counted. */
static char *text(unsigned epilogue, int type, int bias) {
  char *made = NULL;
  size_t size;
  FILE *out = open_memstream(&made, &size);
  if (!out) return NULL;
  fprintf(out, ".version 8.0\n.target sm_80\n.address_size 64\n%s", ptx_helpers);
  fputs(".visible .entry epilogue(.param .u64 d, .param .u64 bias, .param .s64 ld, .param .s64 stride, .param .u32 m, "
        ".param .u32 n, .param .u32 columns) {\n"
        ".reg .f32 x, b, qf, f0, f1, zero, one; .reg .s32 qi; .reg .s64 at, row, e, q; .reg .b16 qh;\n"
        ".reg .u32 i, c, s, t; .reg .pred p;\n", out);
  fprintf(out, "mov.u32 i, %%ctaid.x; mov.u32 s, %%tid.x; mad.lo.u32 i, i, %d, s; cvt.s64.u32 row, i;\n", THREADS);
  fputs("ld.param.u32 s, [m]; setp.ge.u32 p, i, s; @p bra END;\n"
        "mov.f32 zero, 0f00000000; mov.f32 one, 0f3F800000;\n", out);
  if (epilogue & EPILOGUE_BIAS) {
    fputs("ld.param.u64 at, [bias]; ", out);
    load(out, bias, "row");
    fputs("mov.f32 b, qf;\n", out);
  }
  fputs("mov.u32 c, %ctaid.y;\nNEXT: ld.param.u32 s, [columns]; setp.ge.u32 p, c, s; @p bra END;\n"
        "ld.param.u32 s, [n]; div.u32 t, c, s; rem.u32 s, c, s;\n"
        "ld.param.s64 q, [stride]; cvt.s64.u32 e, t; mad.lo.s64 q, e, q, row;\n"
        "cvt.s64.u32 e, s; ld.param.s64 at, [ld]; mad.lo.s64 e, e, at, q; ld.param.u64 at, [d];\n", out);
  load(out, type, "e");
  fputs(epilogue & EPILOGUE_BIAS ? "add.f32 x, qf, b;\n" : "mov.f32 x, qf;\n", out);
  if (epilogue & EPILOGUE_RELU) fputs("setp.lt.f32 p, x, zero; selp.f32 x, zero, x, p;\n", out);
  if (epilogue & EPILOGUE_GELU)
    fputs(PTX_GELU_TANH("x") "add.f32 f0, f0, one; mul.f32 x, x, 0f3F000000; mul.f32 x, x, f0;\n", out);
  fprintf(out, "mov.f32 qf, x; %s %s\n", ptx_memory[type].pack, ptx_memory[type].store);
  fputs("mov.u32 s, %nctaid.y; add.u32 c, c, s; bra NEXT;\nEND: ret;\n}\n", out);
  fclose(out);
  return made;
}

static cublasStatus_t finish(const struct lt_desc *desc, const struct lt_operands *layouts, const struct lt_call *call) {
  const struct lt_layout *d = layouts->d;
  bool biased = desc->epilogue & EPILOGUE_BIAS;
  char *ptx = text(desc->epilogue, in_kernel(d->type), biased ? in_kernel(lt_bias_type(desc, layouts)) : 0);
  void *kernel = ptx ? ptx_kernel(ptx, "epilogue") : NULL;
  if (!kernel) return CUBLAS_STATUS_INTERNAL_ERROR;
  uint32_t m = (uint32_t)d->rows, n = (uint32_t)d->cols, columns = n * (uint32_t)d->batch;
  void *parameters[] = {(void *)&call->d, (void *)&desc->bias, (void *)&d->ld, (void *)&d->stride, &m, &n, &columns};
  int failed = libmap_driver.launch(kernel, (m + THREADS - 1) / THREADS, columns < MOST_COLUMNS ? columns : MOST_COLUMNS,
                                    1, THREADS, 1, 1, 0, call->stream, parameters, NULL);
  return failed ? CUBLAS_STATUS_EXECUTION_FAILED : CUBLAS_STATUS_SUCCESS;
}

/* ---- products ---- */

static cublasStatus_t status_of(int status) {
  switch (status) {
    case 0: return CUBLAS_STATUS_SUCCESS;
    case 2: case 14: return CUBLAS_STATUS_NOT_SUPPORTED;
    case 3: case 4: case 11: return CUBLAS_STATUS_INVALID_VALUE;
    case 5: return CUBLAS_STATUS_ALLOC_FAILED;
    default: return CUBLAS_STATUS_INTERNAL_ERROR;
  }
}

/* The program's workspace, as rocBLAS's own would be shared by streams. Without one, a size that nothing fits in keeps
 * rocBLAS from allocating. */
static int prepare(rocblas_handle handle, const struct lt_call *call) {
  int status = rocblas.set_stream(handle, call->beneath);
  if (status) return status;
  return call->size ? rocblas.set_workspace(handle, call->workspace, call->size)
                    : rocblas.set_workspace(handle, call->d, 1);
}

cublasStatus_t lt_rocblas_multiply(struct blas_handle *handle, const struct lt_desc *desc,
                                   const struct lt_operands *layouts, const struct lt_call *call) {
  if (!lt_rocblas_serves(handle, desc, layouts)) return CUBLAS_STATUS_NOT_SUPPORTED; /* an algorithm of another handle */
  const struct product *types = product_of(desc, layouts);
  const struct lt_layout *c = layouts->c, *d = layouts->d;
  bool swap = d->order == ORDER_ROW;
  const struct { const struct lt_layout *layout; const void *at; int op; } sides[] = {
      {layouts->a, call->a, (int)lt_operation(desc->trans_a, (layouts->a->order == ORDER_ROW) != swap)},
      {layouts->b, call->b, (int)lt_operation(desc->trans_b, (layouts->b->order == ORDER_ROW) != swap)},
  }, *first = &sides[swap], *second = &sides[!swap];
  int k = (int)(desc->trans_a == OP_N ? layouts->a->cols : layouts->a->rows);
  if (desc->epilogue & EPILOGUE_BIAS && !desc->bias) return CUBLAS_STATUS_INVALID_VALUE;
  int mode = begin();
  int status = prepare(handle->rocblas, call);
  if (!status)
    status = rocblas.gemm_strided_batched_ex(
        handle->rocblas, first->op, second->op, (int)(swap ? d->cols : d->rows), (int)(swap ? d->rows : d->cols), k,
        call->alpha, first->at, types->in_beneath, (int)first->layout->ld, first->layout->stride, second->at,
        types->in_beneath, (int)second->layout->ld, second->layout->stride, call->beta, call->c, types->out_beneath,
        (int)c->ld, c->stride, call->d, types->out_beneath, (int)d->ld, d->stride, d->batch, types->sum, 0, 0, 0);
  end(mode);
  if (status || desc->epilogue == EPILOGUE_DEFAULT) return status_of(status);
  return finish(desc, layouts, call);
}
