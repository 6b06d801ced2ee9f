/* cuBLASLt's descriptors: creation, and access to their attributes. Each attribute is a row. */
#include <stdlib.h>
#include <string.h>

#include "cublaslt_objects.h"

/* CUDA's number and size of an attribute; offset and size of the field that stores it. */
struct attribute { short number; unsigned char size, at, kept; };

#define ROW(type, number, size, field) \
  {number, size, (unsigned char)offsetof(struct type, field), sizeof(((struct type *)0)->field)}

static const struct attribute layout_attributes[] = {
    ROW(lt_layout, 0, 4, type), ROW(lt_layout, 1, 4, order), ROW(lt_layout, 2, 8, rows), ROW(lt_layout, 3, 8, cols),
    ROW(lt_layout, 4, 8, ld), ROW(lt_layout, 5, 4, batch), ROW(lt_layout, 6, 8, stride), ROW(lt_layout, 7, 8, plane),
    ROW(lt_layout, 8, 4, batch_mode),
};
static const struct attribute desc_attributes[] = {
    ROW(lt_desc, 0, 4, compute), ROW(lt_desc, 1, 4, scale), ROW(lt_desc, 2, 4, pointer_mode), ROW(lt_desc, 3, 4, trans_a),
    ROW(lt_desc, 4, 4, trans_b), ROW(lt_desc, 5, 4, trans_c), ROW(lt_desc, 6, 4, fill), ROW(lt_desc, 7, 4, epilogue),
    ROW(lt_desc, 8, 8, bias), ROW(lt_desc, 10, 8, bias_stride), ROW(lt_desc, 11, 8, aux), ROW(lt_desc, 12, 8, aux_ld),
    ROW(lt_desc, 13, 8, aux_stride), ROW(lt_desc, 14, 8, alpha_stride), ROW(lt_desc, 15, 4, units),
    ROW(lt_desc, 17, 8, scale_a), ROW(lt_desc, 18, 8, scale_b), ROW(lt_desc, 19, 8, scale_c), ROW(lt_desc, 20, 8, scale_d),
    ROW(lt_desc, 21, 8, amax_d), ROW(lt_desc, 22, 4, aux_type), ROW(lt_desc, 23, 8, scale_aux),
    ROW(lt_desc, 24, 8, amax_aux), ROW(lt_desc, 25, 1, fast), ROW(lt_desc, 26, 4, bias_type), ROW(lt_desc, 31, 4, mode_a),
    ROW(lt_desc, 32, 4, mode_b), ROW(lt_desc, 33, 4, mode_c), ROW(lt_desc, 34, 4, mode_d), ROW(lt_desc, 35, 4, mode_aux),
    ROW(lt_desc, 36, 8, scale_out), ROW(lt_desc, 37, 4, mode_out),
};
static const struct attribute transform_attributes[] = {
    ROW(lt_transform, 0, 4, scale), ROW(lt_transform, 1, 4, pointer_mode), ROW(lt_transform, 2, 4, trans_a),
    ROW(lt_transform, 3, 4, trans_b),
};
static const struct attribute preference_attributes[] = {
    ROW(lt_preference, 0, 4, search), ROW(lt_preference, 1, 8, workspace), ROW(lt_preference, 2, 4, math),
    ROW(lt_preference, 3, 4, reductions), ROW(lt_preference, 4, 4, gaussian), ROW(lt_preference, 5, 4, align_a),
    ROW(lt_preference, 6, 4, align_b), ROW(lt_preference, 7, 4, align_c), ROW(lt_preference, 8, 4, align_d),
    ROW(lt_preference, 9, 4, waves), ROW(lt_preference, 10, 4, pointer_modes), ROW(lt_preference, 11, 4, epilogues),
    ROW(lt_preference, 12, 8, implementations), ROW(lt_preference, 13, 4, units),
};

static const struct attribute algo_attributes[] = {
    ROW(lt_algo, 0, 4, id), ROW(lt_algo, 1, 4, tile), ROW(lt_algo, 2, 4, splits), ROW(lt_algo, 3, 4, reduction),
    ROW(lt_algo, 4, 4, swizzle), ROW(lt_algo, 5, 4, custom), ROW(lt_algo, 6, 4, stages), ROW(lt_algo, 7, 2, inner),
    ROW(lt_algo, 8, 2, cluster),
};

static const struct kind { uint32_t mark; unsigned size; const struct attribute *attributes; unsigned count; } kinds[] = {
    {LAYOUT_MARK, sizeof(struct lt_layout), layout_attributes, sizeof layout_attributes / sizeof(struct attribute)},
    {DESC_MARK, sizeof(struct lt_desc), desc_attributes, sizeof desc_attributes / sizeof(struct attribute)},
    {TRANSFORM_MARK, sizeof(struct lt_transform), transform_attributes, sizeof transform_attributes / sizeof(struct attribute)},
    {PREFERENCE_MARK, sizeof(struct lt_preference), preference_attributes, sizeof preference_attributes / sizeof(struct attribute)},
    {ALGO_MARK, sizeof(struct lt_algo), algo_attributes, sizeof algo_attributes / sizeof(struct attribute)},
};

static const struct kind *kind_of(uint32_t mark) {
  const struct kind *kind = kinds;
  while (kind->mark != mark) kind++;
  return kind;
}

/* ---- creation ---- */

static const void *marked(const void *object, uint32_t mark) {
  uint32_t found = 0;
  if (object) memcpy(&found, object, sizeof found);
  return found == mark ? object : NULL;
}

const struct lt_layout *lt_layout(cublasLtMatrixLayout_t layout) { return marked(layout, LAYOUT_MARK); }
const struct lt_desc *lt_desc(cublasLtMatmulDesc_t desc) { return marked(desc, DESC_MARK); }
const struct lt_transform *lt_transform(cublasLtMatrixTransformDesc_t desc) { return marked(desc, TRANSFORM_MARK); }
const struct lt_preference *lt_preference(cublasLtMatmulPreference_t one) { return marked(one, PREFERENCE_MARK); }
const struct lt_algo *lt_algo(const cublasLtMatmulAlgo_t *algo) { return marked(algo, ALGO_MARK); }

/* Initialises a descriptor in memory of `size` bytes, starting with its magic number. */
static cublasStatus_t put(void *object, size_t size, const void *made) {
  uint32_t mark;
  memcpy(&mark, made, sizeof mark);
  const struct kind *kind = kind_of(mark);
  if (!object) return CUBLAS_STATUS_INVALID_VALUE;
  if (size < kind->size) return CUBLAS_STATUS_ALLOC_FAILED;
  memset(object, 0, size);
  memcpy(object, made, kind->size);
  return CUBLAS_STATUS_SUCCESS;
}

/* Allocates and initialises a descriptor with the size of CUDA's structure. */
static cublasStatus_t put_new(void **object, size_t size, const void *made) {
  if (!object) return CUBLAS_STATUS_INVALID_VALUE;
  void *room = malloc(size);
  if (!room) return CUBLAS_STATUS_ALLOC_FAILED;
  *object = room;
  return put(room, size, made);
}

static cublasStatus_t end(void *object, uint32_t mark) {
  if (!object) return CUBLAS_STATUS_SUCCESS;
  if (!marked(object, mark)) return CUBLAS_STATUS_INVALID_VALUE;
  memset(object, 0, sizeof mark);
  free(object);
  return CUBLAS_STATUS_SUCCESS;
}

static struct lt_layout layout_of(cudaDataType type, uint64_t rows, uint64_t cols, int64_t ld) {
  return (struct lt_layout){.mark = LAYOUT_MARK, .type = type, .batch = 1, .rows = rows, .cols = cols, .ld = ld};
}

static struct lt_desc desc_of(cublasComputeType_t compute, cudaDataType_t scale) {
  return (struct lt_desc){.mark = DESC_MARK, .compute = (int16_t)compute, .scale = (int16_t)scale, .bias_type = -1,
                          .aux_type = -1, .fill = FILL_FULL, .epilogue = EPILOGUE_DEFAULT};
}

static struct lt_transform transform_of(cudaDataType scale) {
  return (struct lt_transform){.mark = TRANSFORM_MARK, .scale = scale};
}

static struct lt_preference preference_of(void) {
  return (struct lt_preference){.mark = PREFERENCE_MARK, .reductions = 7, .align_a = 256, .align_b = 256, .align_c = 256,
                                .align_d = 256, .implementations = UINT64_MAX, .math = 0xff, .gaussian = 0xff,
                                .pointer_modes = 0xff, .epilogues = UINT32_MAX};
}

#define MADE(expression) (&(__typeof__(expression)[1]){expression})

cublasStatus_t cublasLtMatrixLayoutInit_internal(cublasLtMatrixLayout_t matLayout, size_t size, cudaDataType type,
                                                 uint64_t rows, uint64_t cols, int64_t ld) {
  return put(matLayout, size, MADE(layout_of(type, rows, cols, ld)));
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t *matLayout, cudaDataType type, uint64_t rows, uint64_t cols,
                                          int64_t ld) {
  return put_new((void **)matLayout, sizeof **matLayout, MADE(layout_of(type, rows, cols, ld)));
}

cublasStatus_t cublasLtMatmulDescInit_internal(cublasLtMatmulDesc_t matmulDesc, size_t size, cublasComputeType_t computeType,
                                               cudaDataType_t scaleType) {
  return put(matmulDesc, size, MADE(desc_of(computeType, scaleType)));
}

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t *matmulDesc, cublasComputeType_t computeType,
                                        cudaDataType_t scaleType) {
  return put_new((void **)matmulDesc, sizeof **matmulDesc, MADE(desc_of(computeType, scaleType)));
}

cublasStatus_t cublasLtMatrixTransformDescInit_internal(cublasLtMatrixTransformDesc_t transformDesc, size_t size,
                                                        cudaDataType scaleType) {
  return put(transformDesc, size, MADE(transform_of(scaleType)));
}

cublasStatus_t cublasLtMatrixTransformDescCreate(cublasLtMatrixTransformDesc_t *transformDesc, cudaDataType scaleType) {
  return put_new((void **)transformDesc, sizeof **transformDesc, MADE(transform_of(scaleType)));
}

cublasStatus_t cublasLtMatmulPreferenceInit_internal(cublasLtMatmulPreference_t pref, size_t size) {
  return put(pref, size, MADE(preference_of()));
}

cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t *pref) {
  return put_new((void **)pref, sizeof **pref, MADE(preference_of()));
}

cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t matLayout) { return end(matLayout, LAYOUT_MARK); }
cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t matmulDesc) { return end(matmulDesc, DESC_MARK); }
cublasStatus_t cublasLtMatrixTransformDescDestroy(cublasLtMatrixTransformDesc_t transformDesc) { return end(transformDesc, TRANSFORM_MARK); }
cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t pref) { return end(pref, PREFERENCE_MARK); }

/* ---- attributes ---- */

static const struct attribute *attribute_of(uint32_t mark, int number) {
  const struct kind *kind = kind_of(mark);
  for (unsigned i = 0; i < kind->count; i++)
    if (kind->attributes[i].number == number) return kind->attributes + i;
  return NULL;
}

/* Values stored in fewer bytes than CUDA's are sign-extended, except those of a preference. */
static bool narrow(void *to, unsigned kept, const void *from, bool is_signed) {
  int32_t number;
  memcpy(&number, from, sizeof number);
  int64_t value = is_signed ? number : (int64_t)(uint32_t)number;
  int64_t low = is_signed ? -(INT64_C(1) << (8 * kept - 1)) : 0, high = low + (INT64_C(1) << (8 * kept)) - 1;
  if (!is_signed && value > high) value = high; /* masks and alignments, where all high bits set means "all" */
  if (value < low || value > high) return false;
  memcpy(to, &value, kept); /* little-endian */
  return true;
}

static cublasStatus_t set(void *object, uint32_t mark, int number, const void *buf, size_t size) {
  const struct attribute *row = attribute_of(mark, number);
  if (!marked(object, mark) || !row || !buf || size != row->size) return CUBLAS_STATUS_INVALID_VALUE;
  char *field = (char *)object + row->at;
  if (row->kept == row->size) memcpy(field, buf, row->size);
  else if (!narrow(field, row->kept, buf, mark != PREFERENCE_MARK)) return CUBLAS_STATUS_INVALID_VALUE;
  return CUBLAS_STATUS_SUCCESS;
}

static cublasStatus_t get(const void *object, uint32_t mark, int number, void *buf, size_t size, size_t *written) {
  const struct attribute *row = attribute_of(mark, number);
  if (!marked(object, mark) || !row || (!size && !written) || (size && (!buf || size != row->size)))
    return CUBLAS_STATUS_INVALID_VALUE;
  if (size) {
    const char *field = (const char *)object + row->at;
    int64_t value = 0;
    memcpy(&value, field, row->kept);
    if (mark != PREFERENCE_MARK && row->kept < row->size && field[row->kept - 1] < 0) value -= INT64_C(1) << (8 * row->kept);
    memcpy(buf, &value, row->size);
  }
  if (written) *written = row->size;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t matLayout, cublasLtMatrixLayoutAttribute_t attr,
                                                const void *buf, size_t sizeInBytes) {
  return set(matLayout, LAYOUT_MARK, attr, buf, sizeInBytes);
}

cublasStatus_t cublasLtMatrixLayoutGetAttribute(cublasLtMatrixLayout_t matLayout, cublasLtMatrixLayoutAttribute_t attr,
                                                void *buf, size_t sizeInBytes, size_t *sizeWritten) {
  return get(matLayout, LAYOUT_MARK, attr, buf, sizeInBytes, sizeWritten);
}

cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t matmulDesc, cublasLtMatmulDescAttributes_t attr,
                                              const void *buf, size_t sizeInBytes) {
  REFUSE_IF(lt_desc(matmulDesc) && attr >= 27 && attr <= 30, "cublasLtMatmul with atomic counters");
  REFUSE_IF(lt_desc(matmulDesc) && attr >= 38 && attr <= 41, "cublasLtMatmul with the descriptor's attributes of CUDA 13");
  return set(matmulDesc, DESC_MARK, attr, buf, sizeInBytes);
}

cublasStatus_t cublasLtMatmulDescGetAttribute(cublasLtMatmulDesc_t matmulDesc, cublasLtMatmulDescAttributes_t attr, void *buf,
                                              size_t sizeInBytes, size_t *sizeWritten) {
  return get(matmulDesc, DESC_MARK, attr, buf, sizeInBytes, sizeWritten);
}

cublasStatus_t cublasLtMatrixTransformDescSetAttribute(cublasLtMatrixTransformDesc_t transformDesc,
                                                       cublasLtMatrixTransformDescAttributes_t attr, const void *buf,
                                                       size_t sizeInBytes) {
  return set(transformDesc, TRANSFORM_MARK, attr, buf, sizeInBytes);
}

cublasStatus_t cublasLtMatrixTransformDescGetAttribute(cublasLtMatrixTransformDesc_t transformDesc,
                                                       cublasLtMatrixTransformDescAttributes_t attr, void *buf,
                                                       size_t sizeInBytes, size_t *sizeWritten) {
  return get(transformDesc, TRANSFORM_MARK, attr, buf, sizeInBytes, sizeWritten);
}

cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t pref, cublasLtMatmulPreferenceAttributes_t attr,
                                                    const void *buf, size_t sizeInBytes) {
  return set(pref, PREFERENCE_MARK, attr, buf, sizeInBytes);
}

cublasStatus_t cublasLtMatmulPreferenceGetAttribute(cublasLtMatmulPreference_t pref, cublasLtMatmulPreferenceAttributes_t attr,
                                                    void *buf, size_t sizeInBytes, size_t *sizeWritten) {
  return get(pref, PREFERENCE_MARK, attr, buf, sizeInBytes, sizeWritten);
}

cublasStatus_t cublasLtMatmulAlgoConfigSetAttribute(cublasLtMatmulAlgo_t *algo, cublasLtMatmulAlgoConfigAttributes_t attr,
                                                    const void *buf, size_t sizeInBytes) {
  return attr ? set(algo, ALGO_MARK, attr, buf, sizeInBytes) : CUBLAS_STATUS_INVALID_VALUE; /* this attribute is
                                                                                             * read-only */
}

cublasStatus_t cublasLtMatmulAlgoConfigGetAttribute(const cublasLtMatmulAlgo_t *algo,
                                                    cublasLtMatmulAlgoConfigAttributes_t attr, void *buf,
                                                    size_t sizeInBytes, size_t *sizeWritten) {
  return get(algo, ALGO_MARK, attr, buf, sizeInBytes, sizeWritten);
}
