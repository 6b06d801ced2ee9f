/* Shared by the functions of libcublasLt: handles, descriptors, algorithms. Descriptors are plain memory owned by the
 * program: they can be copied and need no destruction. */
#ifndef CUBLASLT_OBJECTS_H
#define CUBLASLT_OBJECTS_H
#include "blas_handle.h"
#include "cublaslt_api.h"
#include "hipblasLt_table.h"

enum { /* magic numbers at the start of descriptors and algorithms */
  LAYOUT_MARK = 0x4c6d7470, DESC_MARK = 0x446d7470, TRANSFORM_MARK = 0x546d7470, PREFERENCE_MARK = 0x506d7470,
  ALGO_MARK = 0x416d7470,
};
enum { OP_N, OP_T, OP_C };
enum { ORDER_COL, ORDER_ROW };
enum { FILL_FULL = 2 };
enum { SCALE_ONE, SCALE_BLOCKS_32 = 2, SCALE_VECTOR };
enum { MODE_HOST, MODE_DEVICE, MODE_VECTORS, MODE_ALPHA_VECTOR_BETA_ZERO, MODE_ALPHA_VECTOR_BETA_HOST };
enum {
  EPILOGUE_DEFAULT = 1, EPILOGUE_RELU = 2, EPILOGUE_BIAS = 4, EPILOGUE_DRELU = 8, EPILOGUE_BGRAD = 16, EPILOGUE_GELU = 32,
  EPILOGUE_DGELU = 64, EPILOGUE_AUX = 128, EPILOGUE_BGRADA = 256, EPILOGUE_BGRADB = 512,
};

struct lt_layout {
  uint32_t mark;
  int32_t type, order, batch;
  uint64_t rows, cols;
  int64_t ld, stride, plane;
  uint32_t batch_mode, pad;
};

/* Small values are stored in few bytes: CUDA 11's structure has 184. */
struct lt_desc {
  uint32_t mark;
  int16_t compute, scale, bias_type, aux_type;
  int8_t pointer_mode, trans_a, trans_b, trans_c, fill, fast;
  int8_t mode_a, mode_b, mode_c, mode_d, mode_aux, mode_out;
  int32_t units;
  uint32_t epilogue;
  const void *bias, *aux, *scale_a, *scale_b, *scale_c, *scale_d, *scale_aux, *amax_d, *amax_aux, *scale_out;
  int64_t bias_stride, aux_ld, aux_stride, alpha_stride;
};

struct lt_transform {
  uint32_t mark;
  int32_t scale, pointer_mode, trans_a, trans_b;
};

struct lt_preference {
  uint32_t mark;
  uint32_t search, reductions;
  uint16_t align_a, align_b, align_c, align_d;
  uint8_t math, gaussian, pointer_modes, pad;
  uint32_t epilogues, units;
  float waves;
  uint64_t workspace, implementations;
};

/* An algorithm: hipBLASLt's choice for one problem, or rocBLAS, or a choice to be made at the call. Its number
 * and settings are stored for the program but have no effect. */
enum { CHOSEN_AT_CALL, CHOSEN_HIPBLASLT, CHOSEN_ROCBLAS };
struct lt_algo {
  uint32_t mark;
  int8_t chosen, compute; /* hipBLASLt's compute type */
  int16_t id, tile, splits, custom, stages;
  int8_t reduction, swizzle, inner, cluster;
  hipblasLtMatmulAlgo_t hip;
  uint64_t workspace; /* size of the required workspace */
  uint64_t problem;   /* a hash of the problem it was chosen for */
};

_Static_assert(sizeof(struct lt_layout) <= 8 * 8 && sizeof(struct lt_transform) <= 8 * 8, "CUDA 11's structures");
_Static_assert(sizeof(struct lt_desc) <= 8 * 23 && sizeof(struct lt_preference) <= 8 * 8, "CUDA 11's structures");
_Static_assert(sizeof(struct lt_algo) <= sizeof(cublasLtMatmulAlgo_t), "all CUDA's");

/* The descriptor as initialised by CUDA's functions; NULL: not a valid descriptor. */
const struct lt_layout *lt_layout(cublasLtMatrixLayout_t layout);
const struct lt_desc *lt_desc(cublasLtMatmulDesc_t desc);
const struct lt_transform *lt_transform(cublasLtMatrixTransformDesc_t desc);
const struct lt_preference *lt_preference(cublasLtMatmulPreference_t preference);
const struct lt_algo *lt_algo(const cublasLtMatmulAlgo_t *algo);

/* The part with the hipBLASLt handle of a cuBLASLt or cuBLAS handle; false: not a valid handle. */
bool lt_found(cublasLtHandle_t handle, struct blas_handle **found);

/* Writes a line to the log (level 1: errors, 5: calls); returns `status`. */
int lt_log(int level, const char *function, const char *message, int status);
/* Logs every status except success. */
int lt_logged(const char *function, int status);

/* If the condition holds, the enclosing function returns "not supported" and prints its name once. */
#define REFUSE_IF(condition, what)                                                                           \
  do {                                                                                                       \
    static int said;                                                                                         \
    if (condition) return libmap_refuse(&said, what, CUBLAS_STATUS_NOT_SUPPORTED);                           \
  } while (0)
#endif
