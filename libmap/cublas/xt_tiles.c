/* Products by tiles: each tile of the result is loaded, updated with the tiles of both matrices in turn, and stored. All
 * work is in the null stream of the handle's device, so that copies wait for products. */
#include <string.h>

#include "xt.h"

enum { LEFT_TILE, RIGHT_TILE, RESULT_TILE, TILES };
struct run {
  const struct xt_product *product;
  rocblas_handle rocblas;
  size_t block;
  uint64_t tiles[TILES]; /* device memory, columns without gaps */
};

/* ---- tiles ---- */

static size_t count_of(const struct run *run, size_t extent) { return (extent + run->block - 1) / run->block; }

/* Rows or columns of a tile; the last one may be smaller. */
static int width_of(const struct run *run, size_t extent, size_t index) {
  size_t from = index * run->block, rest = from < extent ? extent - from : 0;
  return (int)(rest < run->block ? rest : run->block);
}

struct tile {
  size_t row, column; /* where it is stored */
  rocblas_operation op;
  bool absent, diagonal; /* it contains zeros only; it has the matrix's shape */
};

static struct tile turned(struct tile one) { return (struct tile){one.column, one.row, one.op, one.absent, one.diagonal}; }

/* The tile of op(A) in row i and column k. */
static struct tile tile_of(const struct xt_matrix *of, size_t i, size_t k) {
  bool upper = of->fill == rocblas_fill_upper;
  struct tile found = {i, k, of->op, false, of->shape != XT_FULL && i == k};
  if (of->shape == XT_FULL || of->shape == XT_TRIANGLE) {
    if (of->op != rocblas_operation_none) found = turned(found);
    found.absent = of->shape == XT_TRIANGLE && (upper ? found.row > found.column : found.row < found.column);
  } else if (upper ? i > k : i < k) {
    found = turned(found);
    found.op = of->shape == XT_HERMITIAN ? rocblas_operation_conjugate_transpose : rocblas_operation_transpose;
  }
  return found;
}

static void *tile(const struct run *run, int which) { return (void *)(uintptr_t)run->tiles[which]; }

static int copy(const struct run *run, int which, const void *matrix, size_t ld, size_t row, size_t column, int rows,
                int columns, bool store) {
  size_t size = run->product->kind->size, width = (size_t)rows * size;
  uint64_t there = (uint64_t)(uintptr_t)matrix + (row + column * ld) * run->block * size;
  struct libmap_copy device = {.address = run->tiles[which], .pitch = width}, outside = {there, ld * size};
  return libmap_copy_2d(store ? outside : device, store ? device : outside, width, (size_t)columns);
}

static int load(const struct run *run, int which, const struct xt_matrix *from, struct tile at, int rows, int columns) {
  if (at.op != rocblas_operation_none) {
    int swap = rows;
    rows = columns, columns = swap;
  }
  return copy(run, which, from->at, from->ld, at.row, at.column, rows, columns, false);
}

static int result(const struct run *run, size_t i, size_t j, bool store) {
  const struct xt_product *p = run->product;
  return copy(run, RESULT_TILE, p->c, p->ldc, i, j, width_of(run, p->m, i), width_of(run, p->n, j), store);
}

/* ---- runs ---- */

/* The device's context becomes current; memory for the tiles. */
static cublasStatus_t begin(cublasXtHandle_t handle, const struct xt_product *product, struct run *run) {
  size_t largest = product->m > product->n ? product->m : product->n, block = (size_t)handle->block;
  if (product->k > largest) largest = product->k;
  *run = (struct run){.product = product, .rocblas = handle->rocblas, .block = largest < block ? largest : block};
  if (libmap_driver.enter(handle->context)) return CUBLAS_STATUS_EXECUTION_FAILED;
  size_t one = (run->block * run->block * product->kind->size + 255) / 256 * 256;
  if (libmap_driver.allocate(run->tiles, one * TILES)) {
    libmap_driver.leave(&(void *){NULL});
    return CUBLAS_STATUS_ALLOC_FAILED;
  }
  for (int i = 1; i < TILES; i++) run->tiles[i] = run->tiles[0] + (uint64_t)i * one;
  return CUBLAS_STATUS_SUCCESS;
}

static cublasStatus_t end(const struct run *run, cublasStatus_t status) {
  if (libmap_driver.release(run->tiles[0]) && !status) status = CUBLAS_STATUS_EXECUTION_FAILED;
  libmap_driver.leave(&(void *){NULL});
  return status;
}

static bool is_zero(const struct xt_kind *kind, const void *number) {
  static const double zero[2];
  return !number || !memcmp(number, zero, kind->size);
}

/* Adds left(i, k) right(k, j) to the result's tile. */
static cublasStatus_t add(const struct run *run, size_t i, size_t j, size_t k, const void *alpha, const void *beta) {
  const struct xt_product *p = run->product;
  const struct xt_matrix *left = &p->left, *right = &p->right;
  struct tile l = tile_of(left, i, k), r = tile_of(right, k, j);
  int m = width_of(run, p->m, i), n = width_of(run, p->n, j), inner = width_of(run, p->k, k);
  void *a = tile(run, LEFT_TILE), *b = tile(run, RIGHT_TILE), *c = tile(run, RESULT_TILE);
  if (inner && (load(run, LEFT_TILE, left, l, m, inner) || load(run, RIGHT_TILE, right, r, inner, n)))
    return CUBLAS_STATUS_MAPPING_ERROR;
  if (l.diagonal || r.diagonal) {
    const struct xt_matrix *of = l.diagonal ? left : right;
    rocblas_side side = l.diagonal ? rocblas_side_left : rocblas_side_right;
    void *other = l.diagonal ? b : a, *own = l.diagonal ? a : b;
    xt_mirrored *mirrored = of->shape == XT_HERMITIAN ? p->kind->hemm : p->kind->symm;
    if (of->shape == XT_TRIANGLE)
      return cublas_status(p->kind->trmm(run->rocblas, side, of->fill, of->op, of->diagonal, m, n, alpha, own, inner,
                                         other, m, c, m));
    return cublas_status(mirrored(run->rocblas, side, of->fill, m, n, alpha, own, inner, other, m, beta, c, m));
  }
  int lda = l.op == rocblas_operation_none ? m : inner, ldb = r.op == rocblas_operation_none ? inner : n;
  return cublas_status(p->kind->gemm(run->rocblas, l.op, r.op, m, n, inner, alpha, a, lda ? lda : 1, b, ldb ? ldb : 1,
                                     beta, c, m));
}

/* Whether op(A) is an upper triangle. */
static bool is_upper(const struct xt_matrix *a) {
  return (a->fill == rocblas_fill_upper) == (a->op == rocblas_operation_none);
}

static cublasStatus_t result_tile(const struct run *run, size_t i, size_t j) {
  const struct xt_product *p = run->product;
  size_t inner = count_of(run, p->k), first = 0;
  const void *beta = p->beta;
  if (!is_zero(p->kind, beta) && result(run, i, j, false)) return CUBLAS_STATUS_MAPPING_ERROR;
  /* a triangle's product with its tile on the diagonal overwrites the result, so that it comes first */
  if (p->left.shape == XT_TRIANGLE) first = i;
  if (p->right.shape == XT_TRIANGLE) first = j;
  cublasStatus_t status = inner ? CUBLAS_STATUS_SUCCESS : add(run, i, j, 0, p->alpha, beta);
  for (size_t step = 0; step < inner && !status; step++) {
    size_t k = (first + step) % inner;
    if (tile_of(&p->left, i, k).absent || tile_of(&p->right, k, j).absent) continue;
    status = add(run, i, j, k, p->alpha, beta);
    beta = p->kind->one;
  }
  return !status && result(run, i, j, true) ? CUBLAS_STATUS_MAPPING_ERROR : status;
}

cublasStatus_t xt_multiply(cublasXtHandle_t handle, const struct xt_product *product) {
  struct run run;
  cublasStatus_t status = begin(handle, product, &run);
  if (status) return status;
  size_t rows = count_of(&run, product->m), columns = count_of(&run, product->n);
  /* in an order in which the product with a triangle may overwrite the other matrix */
  bool down = product->left.shape == XT_TRIANGLE ? !is_upper(&product->left)
                                                 : product->right.shape == XT_TRIANGLE && is_upper(&product->right);
  for (size_t j = 0; j < columns && !status; j++)
    for (size_t i = 0; i < rows && !status; i++)
      status = result_tile(&run, down ? rows - 1 - i : i, down ? columns - 1 - j : j);
  return end(&run, status);
}

/* ---- updates of a triangle ---- */

struct update {
  struct run run, swapped; /* on the same tiles */
  rocblas_fill fill;
  rocblas_operation op;
  xt_rank *rank;
  const void *alpha, *beta;
  bool twice;
};

static cublasStatus_t on_diagonal(const struct update *of, size_t i, size_t k, const void *beta) {
  const struct run *run = &of->run;
  const struct xt_product *p = run->product;
  int n = width_of(run, p->n, i), inner = width_of(run, p->k, k), ld = of->op == rocblas_operation_none ? n : inner;
  if (inner && (load(run, LEFT_TILE, &p->left, tile_of(&p->left, i, k), n, inner) ||
                load(run, RIGHT_TILE, &p->right, tile_of(&p->right, k, i), inner, n)))
    return CUBLAS_STATUS_MAPPING_ERROR;
  ld = ld ? ld : 1;
  return cublas_status(of->rank(run->rocblas, of->fill, of->op, n, inner, of->alpha, tile(run, LEFT_TILE), ld,
                                tile(run, RIGHT_TILE), ld, beta, tile(run, RESULT_TILE), n));
}

static cublasStatus_t update_tile(const struct update *of, size_t i, size_t j) {
  const struct xt_product *p = of->run.product;
  size_t inner = count_of(&of->run, p->k);
  const void *beta = i == j ? of->beta : p->beta;
  cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
  /* the other triangle of a tile on the diagonal is stored again as it was */
  if ((i == j || !is_zero(p->kind, p->beta)) && result(&of->run, i, j, false)) return CUBLAS_STATUS_MAPPING_ERROR;
  for (size_t k = 0; k < (inner ? inner : 1) && !status; k++) {
    status = i == j ? on_diagonal(of, i, k, beta) : add(&of->run, i, j, k, p->alpha, beta);
    if (!status && of->twice && i != j) status = add(&of->swapped, i, j, k, of->swapped.product->alpha, p->kind->one);
    beta = p->kind->one;
  }
  return !status && result(&of->run, i, j, true) ? CUBLAS_STATUS_MAPPING_ERROR : status;
}

cublasStatus_t xt_update(cublasXtHandle_t handle, const struct xt_product *product, rocblas_fill fill,
                         rocblas_operation op, xt_rank *rank, const void *rank_alpha, const void *rank_beta,
                         const struct xt_product *swapped) {
  struct update of = {.fill = fill, .op = op, .rank = rank, .alpha = rank_alpha, .beta = rank_beta, .twice = swapped};
  cublasStatus_t status = begin(handle, product, &of.run);
  if (status) return status;
  of.swapped = of.run;
  if (swapped) of.swapped.product = swapped;
  size_t count = count_of(&of.run, product->n);
  for (size_t j = 0; j < count && !status; j++)
    for (size_t i = 0; i < count && !status; i++)
      if (fill == rocblas_fill_upper ? i <= j : i >= j) status = update_tile(&of, i, j);
  return end(&of.run, status);
}

/* ---- triangular systems ---- */

/* `i`, `j`: the tile of the solution; the tiles `k` that it depends on are solved. */
static cublasStatus_t solve_tile(const struct run *run, size_t i, size_t j) {
  const struct xt_product *p = run->product;
  bool left = p->left.at;
  const struct xt_matrix *a = left ? &p->left : &p->right;
  const struct xt_matrix solved = {.at = p->c, .ld = p->ldc, .op = rocblas_operation_none};
  int m = width_of(run, p->m, i), n = width_of(run, p->n, j), own = left ? m : n;
  size_t diagonal = left ? i : j, count = count_of(run, left ? p->m : p->n);
  const void *factor = p->alpha;
  if (result(run, i, j, false)) return CUBLAS_STATUS_MAPPING_ERROR;
  for (size_t k = 0; k < count; k++) {
    struct tile at = left ? tile_of(a, i, k) : tile_of(a, k, j);
    if (at.absent || at.diagonal) continue;
    int inner = width_of(run, left ? p->m : p->n, k);
    struct tile known = left ? tile_of(&solved, k, j) : tile_of(&solved, i, k);
    int which = left ? LEFT_TILE : RIGHT_TILE, other = left ? RIGHT_TILE : LEFT_TILE;
    if (load(run, which, a, at, left ? m : inner, left ? inner : n) ||
        load(run, other, &solved, known, left ? inner : m, left ? n : inner))
      return CUBLAS_STATUS_MAPPING_ERROR;
    rocblas_operation first = left ? at.op : rocblas_operation_none, second = left ? rocblas_operation_none : at.op;
    int lda = first == rocblas_operation_none ? m : inner, ldb = second == rocblas_operation_none ? inner : n;
    rocblas_status status = p->kind->gemm(run->rocblas, first, second, m, n, inner, p->kind->minus_one,
                                          tile(run, LEFT_TILE), lda, tile(run, RIGHT_TILE), ldb, factor,
                                          tile(run, RESULT_TILE), m);
    if (status) return cublas_status(status);
    factor = p->kind->one;
  }
  if (load(run, LEFT_TILE, a, tile_of(a, diagonal, diagonal), own, own)) return CUBLAS_STATUS_MAPPING_ERROR;
  rocblas_status status = p->kind->trsm(run->rocblas, left ? rocblas_side_left : rocblas_side_right, a->fill, a->op,
                                        a->diagonal, m, n, factor, tile(run, LEFT_TILE), own, tile(run, RESULT_TILE), m);
  if (status) return cublas_status(status);
  return result(run, i, j, true) ? CUBLAS_STATUS_MAPPING_ERROR : CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t xt_solve(cublasXtHandle_t handle, const struct xt_product *product) {
  struct run run;
  cublasStatus_t status = begin(handle, product, &run);
  if (status) return status;
  size_t rows = count_of(&run, product->m), columns = count_of(&run, product->n);
  bool down = product->left.at ? is_upper(&product->left) : !is_upper(&product->right);
  for (size_t j = 0; j < columns && !status; j++)
    for (size_t i = 0; i < rows && !status; i++)
      status = solve_tile(&run, down ? rows - 1 - i : i, down ? columns - 1 - j : j);
  return end(&run, status);
}
