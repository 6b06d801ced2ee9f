/* What calls of MIOpen need around them (ptx2amd/api/cudnn has the calls). */
#ifndef CUDNN_COMPUTE_H
#define CUDNN_COMPUTE_H
#include "cudnn_objects.h"

extern const float CUDNN_ONE, CUDNN_ZERO;

/* A scaling factor as the type of a tensor asks for it; MIOpen takes them as float. */
float cudnn_factor(const struct cudnn_tensor *tensor, const void *factor);
/* One of the handle's buffers of at least so many bytes, until the next call of the program; NULL: no memory. */
void *cudnn_scratch(cudnnHandle_t handle, int which, size_t size);
/* "Not supported", which is said once for each `what`; and the thread's last `what`. */
miopenStatus_t cudnn_no(const char *what);
const char *cudnn_last_refusal(void);
/* What a function answers that makes no call: arguments are wrong, or it is "not supported". */
cudnnStatus_t cudnn_reject(bool wrong, const char *what);

/* out = alpha * result + beta * out, where most functions of MIOpen can only do out = result: these put the result
 * `into` another place, and the rest is done afterwards. Each that is within another needs a buffer of its own. */
struct cudnn_blend {
  cudnnHandle_t handle;
  const struct cudnn_tensor *tensor;
  float alpha, beta;
  void *out, *into;
};
miopenStatus_t cudnn_blend(struct cudnn_blend *blend, int buffer, cudnnHandle_t handle, const void *alpha,
                           const void *beta, const struct cudnn_tensor *tensor, void *out);
miopenStatus_t cudnn_blended(const struct cudnn_blend *blend);

/* The status of a call whose result is at `out`. */
#define CUDNN_BLEND(buffer, handle, alpha, beta, tensor, out, call)                                     \
  __extension__({                                                                                       \
    struct cudnn_blend blend_##buffer;                                                                  \
    miopenStatus_t done_##buffer = cudnn_blend(&blend_##buffer, buffer, handle, alpha, beta, tensor, out); \
    if (!done_##buffer) {                                                                               \
      void *const out = blend_##buffer.into;                                                            \
      done_##buffer = call;                                                                             \
    }                                                                                                   \
    done_##buffer ? done_##buffer : cudnn_blended(&blend_##buffer);                                     \
  })

/* A convolution, with what it reads in the order of MIOpen's functions: filter and x; dy and filter; dy and x. */
#define CUDNN_PROBLEM(direction, first, second, result, how) \
  (&(struct cudnn_problem){direction, first, second, result, how})
enum { CUDNN_BEST = 0x62657374 }; /* instead of an algorithm: the best of all, with the same results in each run */
enum cudnn_direction { CUDNN_FORWARD, CUDNN_BACKWARD_DATA, CUDNN_BACKWARD_FILTER };
struct cudnn_problem {
  enum cudnn_direction direction;
  const struct cudnn_tensor *first, *second, *result;
  cudnnConvolutionDescriptor_t convolution;
};
miopenStatus_t cudnn_convolve(cudnnHandle_t handle, const struct cudnn_problem *problem, int algo, const void *alpha,
                             const void *first, const void *second, void *space, size_t space_size, const void *beta,
                             void *result);
miopenStatus_t cudnn_convolution_space(cudnnHandle_t handle, const struct cudnn_problem *problem, int algo,
                                      size_t *size);

/* "Not supported" for a tensor of bf16, for which MIOpen's kernels of sums and products do not compile. */
miopenStatus_t cudnn_sums(const struct cudnn_tensor *tensor);
/* Whether each size of `small` is that of `large` or 1, and the type is the same. */
bool cudnn_spreads(const struct cudnn_tensor *small, const struct cudnn_tensor *large);
/* Sums of numbers and of a tensor whose sizes are the same or 1 (elementwise.c). */
miopenStatus_t cudnn_add(cudnnHandle_t handle, float alpha, const struct cudnn_tensor *a, const void *from, float beta,
                         const struct cudnn_tensor *c, void *to);
miopenStatus_t cudnn_add_tensor(cudnnHandle_t handle, const void *alpha, const struct cudnn_tensor *a, const void *from,
                                const void *beta, const struct cudnn_tensor *c, void *to);
miopenStatus_t cudnn_operate(cudnnHandle_t handle, cudnnOpTensorDescriptor_t op, const void *alpha1,
                             const struct cudnn_tensor *a, const void *a_at, const void *alpha2,
                             const struct cudnn_tensor *b, const void *b_at, const void *beta,
                             const struct cudnn_tensor *c, void *c_at);
miopenStatus_t cudnn_set(cudnnHandle_t handle, const struct cudnn_tensor *y, void *y_at, const void *value);
miopenStatus_t cudnn_scale_by(cudnnHandle_t handle, const struct cudnn_tensor *y, void *y_at, float factor);
miopenStatus_t cudnn_scale(cudnnHandle_t handle, const struct cudnn_tensor *y, void *y_at, const void *alpha);
miopenStatus_t cudnn_transform(cudnnHandle_t handle, const struct cudnn_tensor *x, const void *x_at,
                               const struct cudnn_tensor *y, void *y_at);
miopenStatus_t cudnn_drop(cudnnHandle_t handle, cudnnDropoutDescriptor_t desc, const struct cudnn_tensor *x,
                          const void *x_at, const struct cudnn_tensor *y, void *y_at, void *reserve, size_t size);
miopenStatus_t cudnn_pool(cudnnHandle_t handle, cudnnPoolingDescriptor_t pooling, const struct cudnn_tensor *x,
                          const void *x_at, const struct cudnn_tensor *y, void *y_at);
miopenStatus_t cudnn_pool_back(cudnnHandle_t handle, cudnnPoolingDescriptor_t pooling, const struct cudnn_tensor *y,
                               const struct cudnn_tensor *dy, const void *dy_at, const struct cudnn_tensor *x,
                               const void *x_at, const struct cudnn_tensor *dx, void *dx_at);
miopenStatus_t cudnn_lrn_back(cudnnHandle_t handle, cudnnLRNDescriptor_t norm, const struct cudnn_tensor *y,
                              const void *y_at, const struct cudnn_tensor *dy, const void *dy_at,
                              const struct cudnn_tensor *x, const void *x_at, const struct cudnn_tensor *dx,
                              void *dx_at);

/* graph_product.c: makes the handle's rocBLAS handle; false: there is none. */
bool cudnn_blas(cudnnHandle_t handle);
void cudnn_blas_free(cudnnHandle_t handle);

/* fused.c */
miopenStatus_t cudnn_convolve_biased(cudnnHandle_t handle, const void *alpha1, const struct cudnn_problem *problem,
                                     const void *x, const void *filter, int algo, void *space, size_t space_size,
                                     const void *alpha2, const struct cudnn_tensor *z, const void *z_at,
                                     const struct cudnn_tensor *bias, const void *bias_at,
                                     cudnnActivationDescriptor_t activation, void *y_at);
#endif
