/* What is done number by number, pooling and local response normalisation, where it takes more than one call of MIOpen. */
#include "compute.h"

bool cudnn_spreads(const struct cudnn_tensor *small, const struct cudnn_tensor *large) {
  bool good = small->count == large->count && small->type == large->type;
  for (int i = 0; i < small->count && good; i++) good = small->size[i] == 1 || small->size[i] == large->size[i];
  return good;
}

/* MIOpen takes two dimensions for one where the quotient of their strides, rounded, is the second's size. */
static bool has_odd_gaps(const struct cudnn_tensor *tensor) {
  int before = 0; /* stride of the last dimension of more than 1 */
  for (int i = 0; i < tensor->count; i++) {
    int size = tensor->size[i], stride = tensor->stride[i];
    if (size == 1) continue;
    if (before && stride && before / stride == size && before % stride) return true;
    before = stride;
  }
  return false;
}

miopenStatus_t cudnn_set(cudnnHandle_t handle, const struct cudnn_tensor *y, void *y_at, const void *value) {
  if (has_odd_gaps(y)) return cudnn_no("cudnnSetTensor of a tensor with such gaps between its numbers");
  return miopen.SetTensor(handle->miopen, y->miopen, y_at, value);
}

/* The larger of two that are the same: MIOpen's own function scales no numbers of 16 bits. */
miopenStatus_t cudnn_scale_by(cudnnHandle_t handle, const struct cudnn_tensor *y, void *y_at, float factor) {
  miopenStatus_t done = cudnn_sums(y);
  if (done) return done;
  return miopen.OpTensor(handle->miopen, miopenTensorOpMax, &factor, y->miopen, y_at, &factor, y->miopen, y_at,
                         &CUDNN_ZERO, y->miopen, y_at);
}

/* Numbers that are multiplied by 0 are not looked at. */
miopenStatus_t cudnn_add(cudnnHandle_t handle, float alpha, const struct cudnn_tensor *a, const void *from, float beta,
                         const struct cudnn_tensor *c, void *to) {
  if (!from || !to || !cudnn_spreads(a, c)) return miopenStatusBadParm;
  miopenStatus_t done = cudnn_sums(c);
  if (!done && beta == 0) {
    const double nothing = 0; /* of any type */
    done = cudnn_set(handle, c, to, &nothing);
  }
  if (done) return done;
  return miopen.OpTensor(handle->miopen, miopenTensorOpAdd, &beta, c->miopen, to, &alpha, a->miopen, from, &CUDNN_ZERO,
                         c->miopen, to);
}

miopenStatus_t cudnn_add_tensor(cudnnHandle_t handle, const void *alpha, const struct cudnn_tensor *a, const void *from,
                                const void *beta, const struct cudnn_tensor *c, void *to) {
  if (!alpha || !beta) return miopenStatusBadParm;
  return cudnn_add(handle, cudnn_factor(c, alpha), a, from, cudnn_factor(c, beta), c, to);
}

miopenStatus_t cudnn_operate(cudnnHandle_t handle, cudnnOpTensorDescriptor_t op, const void *alpha1,
                             const struct cudnn_tensor *a, const void *a_at, const void *alpha2,
                             const struct cudnn_tensor *b, const void *b_at, const void *beta,
                             const struct cudnn_tensor *c, void *c_at) {
  if (op->op > miopenTensorOpMax) return cudnn_no("cudnnOpTensor with CUDNN_OP_TENSOR_SQRT or _NOT");
  if (!alpha1 || !alpha2 || !beta || !cudnn_same_sizes(a, c) || !cudnn_spreads(b, c)) return miopenStatusBadParm;
  if (a->type != c->type) return cudnn_no("cudnnOpTensor of two types");
  miopenStatus_t done = cudnn_sums(c);
  if (done) return done;
  float first = cudnn_factor(c, alpha1), second = cudnn_factor(c, alpha2), last = cudnn_factor(c, beta);
  return miopen.OpTensor(handle->miopen, (miopenTensorOp_t)op->op, &first, a->miopen, a_at, &second, b->miopen, b_at,
                         &last, c->miopen, c_at);
}

miopenStatus_t cudnn_scale(cudnnHandle_t handle, const struct cudnn_tensor *y, void *y_at, const void *alpha) {
  if (!alpha || !y_at) return miopenStatusBadParm;
  return cudnn_scale_by(handle, y, y_at, cudnn_factor(y, alpha));
}

miopenStatus_t cudnn_transform(cudnnHandle_t handle, const struct cudnn_tensor *x, const void *x_at,
                               const struct cudnn_tensor *y, void *y_at) {
  if (!cudnn_same_sizes(x, y)) return miopenStatusBadParm;
  if (x->type != y->type) return cudnn_no("cudnnTransformTensor of two types");
  if (x->type != CUDNN_DATA_FLOAT && x->type != CUDNN_DATA_HALF) return cudnn_no("cudnnTransformTensor of these types");
  if (has_odd_gaps(x) || has_odd_gaps(y)) return cudnn_no("cudnnTransformTensor with such gaps between numbers");
  return miopen.TransformTensor(handle->miopen, &CUDNN_ONE, x->miopen, x_at, &CUDNN_ZERO, y->miopen, y_at);
}

/* ---- pooling ---- */

enum { RESULT_BUFFER = 2, SPACE_BUFFER };

/* With `keep`, where largest numbers were found is left in the handle's buffer. */
static miopenStatus_t pool(cudnnHandle_t handle, cudnnPoolingDescriptor_t pooling, const struct cudnn_tensor *x,
                           const void *x_at, const struct cudnn_tensor *y, void *y_at, bool keep, void **space) {
  size_t size = 0;
  miopenStatus_t done = miopen.PoolingGetWorkSpaceSizeV2(pooling->miopen, y->miopen, &size);
  if (done) return done;
  size += 2 * cudnn_bytes(x); /* for layouts with channels innermost, MIOpen counts too little */
  *space = cudnn_scratch(handle, SPACE_BUFFER, size);
  if (!*space) return miopenStatusAllocFailed;
  return miopen.PoolingForward(handle->miopen, pooling->miopen, &CUDNN_ONE, x->miopen, x_at, &CUDNN_ZERO, y->miopen, y_at,
                               keep, *space, size);
}

static bool pools(cudnnPoolingDescriptor_t pooling, const struct cudnn_tensor *x, const struct cudnn_tensor *y) {
  bool good = x->count == pooling->count + 2 && y->count == x->count && x->type == y->type &&
              x->size[0] == y->size[0] && x->size[1] == y->size[1];
  for (int i = 0; i < pooling->count && good; i++) {
    int room = x->size[i + 2] + 2 * pooling->pad[i] - pooling->window[i];
    good = room >= 0 && y->size[i + 2] == 1 + room / pooling->stride[i];
  }
  return good;
}

miopenStatus_t cudnn_pool(cudnnHandle_t handle, cudnnPoolingDescriptor_t pooling, const struct cudnn_tensor *x,
                          const void *x_at, const struct cudnn_tensor *y, void *y_at) {
  void *space;
  if (!x_at || !pools(pooling, x, y)) return miopenStatusBadParm;
  return pool(handle, pooling, x, x_at, y, y_at, false, &space);
}

/* MIOpen wants to know where the largest numbers were, which cuDNN's programs do not keep: they are looked for again. */
miopenStatus_t cudnn_pool_back(cudnnHandle_t handle, cudnnPoolingDescriptor_t pooling, const struct cudnn_tensor *y,
                               const struct cudnn_tensor *dy, const void *dy_at, const struct cudnn_tensor *x,
                               const void *x_at, const struct cudnn_tensor *dx, void *dx_at) {
  void *space;
  if (!x_at || !dy_at || !pools(pooling, x, y) || !cudnn_same_sizes(x, dx) || !cudnn_same_sizes(y, dy)) {
    return miopenStatusBadParm;
  }
  void *again = cudnn_scratch(handle, RESULT_BUFFER, cudnn_bytes(y));
  if (!again) return miopenStatusAllocFailed;
  miopenStatus_t done = pool(handle, pooling, x, x_at, y, again, true, &space);
  if (done) return done;
  return miopen.PoolingBackward(handle->miopen, pooling->miopen, &CUDNN_ONE, y->miopen, again, dy->miopen, dy_at,
                                x->miopen, x_at, &CUDNN_ZERO, dx->miopen, dx_at, space);
}

/* ---- local response normalisation ---- */

/* As for pooling: sums of the forward pass are made again. */
miopenStatus_t cudnn_lrn_back(cudnnHandle_t handle, cudnnLRNDescriptor_t norm, const struct cudnn_tensor *y,
                              const void *y_at, const struct cudnn_tensor *dy, const void *dy_at,
                              const struct cudnn_tensor *x, const void *x_at, const struct cudnn_tensor *dx,
                              void *dx_at) {
  size_t size = 0;
  if (!cudnn_same_sizes(x, y) || !cudnn_same_sizes(x, dx) || !cudnn_same_sizes(y, dy)) return miopenStatusBadParm;
  miopenStatus_t done = miopen.LRNGetWorkSpaceSize(y->miopen, &size);
  if (done) return done;
  void *again = cudnn_scratch(handle, RESULT_BUFFER, cudnn_bytes(y));
  void *space = cudnn_scratch(handle, SPACE_BUFFER, size);
  if (!again || !space) return miopenStatusAllocFailed;
  done = miopen.LRNForward(handle->miopen, norm->miopen, &CUDNN_ONE, x->miopen, x_at, &CUDNN_ZERO, y->miopen, again,
                           true, space);
  if (done) return done;
  return miopen.LRNBackward(handle->miopen, norm->miopen, &CUDNN_ONE, y->miopen, y_at, dy->miopen, dy_at, x->miopen,
                            x_at, &CUDNN_ZERO, dx->miopen, dx_at, space);
}
