/* Tensor maps: descriptions of a tensor and of the box that one copy moves, in a layout of ours that translated
 * kernels read. Nothing here asks the device. */
#include <string.h>

#include "interface_tensor_map.h"
#include "shim.h"

enum { MAP_ALIGN = 64 };
enum { MOST_RANK = 5, MOST_BOX = 256, MOST_PIXELS = 1024, MOST_STEP = 8 };
enum { INTERLEAVE_NONE, INTERLEAVE_16B, INTERLEAVE_32B };
enum { SWIZZLE_32B = 1, SWIZZLE_64B = 2, SWIZZLE_128B = 3, SWIZZLE_128B_ATOM_32B = 4, SWIZZLE_LAST = 6, PROMOTION_LAST = 3, FILL_LAST = 1 };

/* CUtensorMapDataType: its number in PTX, bytes, whether it is a floating-point type */
static const struct { uint8_t ptx, bytes; bool real; } TYPES[] = {
    {0, 1, false}, {1, 2, false}, {2, 4, false}, {3, 4, false}, {4, 8, false}, {5, 8, false}, {6, 2, true},
    {7, 4, true},  {9, 8, true},  {10, 2, true}, {8, 4, true},  {11, 4, true}, {12, 4, true},
};
enum { TYPE_PACKED = sizeof TYPES / sizeof *TYPES, TYPE_LAST = 15 };

/* CUtensorMapSwizzle: its span (32 << mode - 1 bytes) and the kind of its atoms in PTX */
static const uint8_t SWIZZLES[][2] = {{0, 0}, {1, 0}, {2, 0}, {3, 0}, {3, 1}, {3, 2}, {3, 3}};

struct request {
  CUtensorMap *map;
  CUtensorMapDataType type;
  cuuint32_t rank;
  void *address;
  const cuuint64_t *sizes, *strides;
  const cuuint32_t *steps;
  cuuint32_t row; /* elements of the box along dimension 0 */
  CUtensorMapInterleave interleave;
  CUtensorMapSwizzle swizzle;
  CUtensorMapL2promotion promotion;
  CUtensorMapFloatOOBfill fill;
};

static bool in_range(int value, int last) { return value >= 0 && value <= last; }

/* What all kinds of maps have in common; the map on success. */
static CUresult describe(const struct request *r, struct tensor_map *m) {
  static int said_interleave, said_packed;
  if (!r->map || (uintptr_t)r->map % MAP_ALIGN || !r->address || !r->sizes || !r->steps ||
      (r->rank > 1 && !r->strides))
    return CUDA_ERROR_INVALID_VALUE;
  if (!in_range(r->type, TYPE_LAST) || !in_range(r->interleave, INTERLEAVE_32B) ||
      !in_range(r->swizzle, SWIZZLE_LAST) || !in_range(r->promotion, PROMOTION_LAST) || !in_range(r->fill, FILL_LAST))
    return CUDA_ERROR_INVALID_VALUE;
  if (!r->rank || r->rank > MOST_RANK || (r->interleave && r->rank < 3)) return CUDA_ERROR_INVALID_VALUE;
  if (r->interleave == INTERLEAVE_32B && r->swizzle != SWIZZLE_32B) return CUDA_ERROR_INVALID_VALUE;
  uint64_t align = r->interleave == INTERLEAVE_32B || r->type > TYPE_PACKED ? 32 : 16;
  if ((uintptr_t)r->address % align || !r->row || r->row > MOST_BOX) return CUDA_ERROR_INVALID_VALUE;
  *m = (struct tensor_map){.global_address = (uint64_t)(uintptr_t)r->address, .tag = MAP_TAG, .rank = (uint8_t)(r->rank - 1)};
  for (cuuint32_t i = 0; i < r->rank; i++) {
    if (!r->sizes[i] || r->sizes[i] > 1ull << 32) return CUDA_ERROR_INVALID_VALUE;
    if (!r->steps[i] || r->steps[i] > MOST_STEP) return CUDA_ERROR_INVALID_VALUE;
    m->global_dim[i] = (uint32_t)(r->sizes[i] - 1);
    m->element_stride[i] = (uint8_t)r->steps[i];
  }
  for (cuuint32_t i = 0; i + 1 < r->rank; i++) {
    if (r->strides[i] % align || r->strides[i] >= 1ull << 40) return CUDA_ERROR_INVALID_VALUE;
    m->global_stride[i] = r->strides[i];
  }
  if (r->type >= TYPE_PACKED) return refuse(&said_packed, "a tensor map of 4-bit or 6-bit elements");
  if (r->fill && !TYPES[r->type].real) return CUDA_ERROR_INVALID_VALUE;
  m->elemtype = TYPES[r->type].ptx;
  m->fill_mode = (uint8_t)r->fill;
  m->swizzle_mode = SWIZZLES[r->swizzle][0], m->swizzle_atomicity = SWIZZLES[r->swizzle][1];
  if (r->interleave) return refuse(&said_interleave, "a tensor map with interleaved channels");
  uint32_t bytes = r->row * TYPES[r->type].bytes;
  if (bytes % 16 || (m->swizzle_mode && bytes > 16u << m->swizzle_mode)) return CUDA_ERROR_INVALID_VALUE;
  return CUDA_SUCCESS;
}

static CUresult deliver(const struct request *r, const struct tensor_map *m) {
  memcpy(r->map, m, sizeof *m);
  return CUDA_SUCCESS;
}

CUresult cuTensorMapEncodeTiled(CUtensorMap *tensorMap, CUtensorMapDataType tensorDataType, cuuint32_t tensorRank,
                                void *globalAddress, const cuuint64_t *globalDim, const cuuint64_t *globalStrides,
                                const cuuint32_t *boxDim, const cuuint32_t *elementStrides,
                                CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                CUtensorMapL2promotion l2Promotion, CUtensorMapFloatOOBfill oobFill) {
  if (!boxDim) return CUDA_ERROR_INVALID_VALUE;
  struct request r = {tensorMap, tensorDataType, tensorRank, globalAddress, globalDim, globalStrides, elementStrides,
                      *boxDim,   interleave,     swizzle,    l2Promotion,   oobFill};
  struct tensor_map m;
  CUresult result = describe(&r, &m);
  if (result) return result;
  for (cuuint32_t i = 0; i < tensorRank; i++) {
    if (!boxDim[i] || boxDim[i] > MOST_BOX) return CUDA_ERROR_INVALID_VALUE;
    m.box_dim[i] = (uint16_t)boxDim[i];
  }
  m.mode = MAP_TILED;
  return deliver(&r, &m);
}

/* Corners come in the order of the dimensions: W, H, D. */
CUresult cuTensorMapEncodeIm2col(CUtensorMap *tensorMap, CUtensorMapDataType tensorDataType, cuuint32_t tensorRank,
                                 void *globalAddress, const cuuint64_t *globalDim, const cuuint64_t *globalStrides,
                                 const int *pixelBoxLowerCorner, const int *pixelBoxUpperCorner,
                                 cuuint32_t channelsPerPixel, cuuint32_t pixelsPerColumn,
                                 const cuuint32_t *elementStrides, CUtensorMapInterleave interleave,
                                 CUtensorMapSwizzle swizzle, CUtensorMapL2promotion l2Promotion,
                                 CUtensorMapFloatOOBfill oobFill) {
  static const int LIMITS[] = {0, 0, 0, 32768, 128, 16}; /* by rank */
  if (tensorRank < 3 || !pixelBoxLowerCorner || !pixelBoxUpperCorner) return CUDA_ERROR_INVALID_VALUE;
  if (!pixelsPerColumn || pixelsPerColumn > MOST_PIXELS) return CUDA_ERROR_INVALID_VALUE;
  struct request r = {tensorMap,        tensorDataType, tensorRank, globalAddress, globalDim, globalStrides, elementStrides,
                      channelsPerPixel, interleave,     swizzle,    l2Promotion,   oobFill};
  struct tensor_map m;
  CUresult result = describe(&r, &m);
  if (result) return result;
  for (cuuint32_t i = 0; i < tensorRank - 2; i++) {
    int lower = pixelBoxLowerCorner[i], upper = pixelBoxUpperCorner[i], limit = LIMITS[tensorRank];
    if (lower < -limit || lower >= limit || upper < -limit || upper >= limit) return CUDA_ERROR_INVALID_VALUE;
    if ((int64_t)m.global_dim[1 + i] + upper < lower) return CUDA_ERROR_INVALID_VALUE; /* an empty box */
    m.lower[i] = (int16_t)lower, m.upper[i] = (int16_t)upper;
  }
  m.box_dim[0] = (uint16_t)channelsPerPixel, m.box_dim[1] = (uint16_t)pixelsPerColumn;
  m.mode = MAP_IM2COL;
  return deliver(&r, &m);
}

/* The box is a row of pixels along W, one high and deep. In the map: the corners of W in lower[0] and upper[0], the
 * number of pixels in box[1], which is 128 in the mode that has no other. */
CUresult cuTensorMapEncodeIm2colWide(CUtensorMap *tensorMap, CUtensorMapDataType tensorDataType, cuuint32_t tensorRank,
                                     void *globalAddress, const cuuint64_t *globalDim, const cuuint64_t *globalStrides,
                                     int pixelBoxLowerCornerWidth, int pixelBoxUpperCornerWidth,
                                     cuuint32_t channelsPerPixel, cuuint32_t pixelsPerColumn,
                                     const cuuint32_t *elementStrides, CUtensorMapInterleave interleave,
                                     CUtensorMapIm2ColWideMode mode, CUtensorMapSwizzle swizzle,
                                     CUtensorMapL2promotion l2Promotion, CUtensorMapFloatOOBfill oobFill) {
  enum { WIDE, WIDE_128, PIXELS_OF_128 = 128 };
  int lower = pixelBoxLowerCornerWidth, upper = pixelBoxUpperCornerWidth;
  if (tensorRank < 3 || !in_range(mode, WIDE_128)) return CUDA_ERROR_INVALID_VALUE;
  if (swizzle != SWIZZLE_64B && swizzle != SWIZZLE_128B && swizzle != SWIZZLE_128B_ATOM_32B) return CUDA_ERROR_INVALID_VALUE;
  if (mode == WIDE && (!pixelsPerColumn || pixelsPerColumn > MOST_PIXELS)) return CUDA_ERROR_INVALID_VALUE;
  if (lower != (int16_t)lower || upper != (int16_t)upper) return CUDA_ERROR_INVALID_VALUE;
  struct request r = {tensorMap,        tensorDataType, tensorRank, globalAddress, globalDim, globalStrides, elementStrides,
                      channelsPerPixel, interleave,     swizzle,    l2Promotion,   oobFill};
  struct tensor_map m;
  CUresult result = describe(&r, &m);
  if (result) return result;
  if ((int64_t)m.global_dim[1] + upper < lower) return CUDA_ERROR_INVALID_VALUE; /* an empty box */
  m.lower[0] = (int16_t)lower, m.upper[0] = (int16_t)upper;
  m.box_dim[0] = (uint16_t)channelsPerPixel;
  m.box_dim[1] = mode == WIDE ? (uint16_t)pixelsPerColumn : PIXELS_OF_128;
  m.mode = mode == WIDE ? MAP_IM2COL_W : MAP_IM2COL_W128;
  return deliver(&r, &m);
}

/* Chips with one class alone: every request succeeds and changes nothing. */
CUresult cuTensorMapSetAllocationClass(CUtensorMap *tensorMap, CUtensorMapAllocClass allocClass,
                                       CUtensorMapAllocClass *outAllocClass) {
  enum { SMALL = 1, LARGE = 2 };
  struct tensor_map m;
  if (outAllocClass) *outAllocClass = SMALL;
  if (!tensorMap || (uintptr_t)tensorMap % MAP_ALIGN || !in_range(allocClass, LARGE)) return CUDA_ERROR_INVALID_VALUE;
  memcpy(&m, tensorMap, sizeof m);
  return m.tag == MAP_TAG ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuTensorMapReplaceAddress(CUtensorMap *tensorMap, void *globalAddress) {
  struct tensor_map m;
  if (!tensorMap || (uintptr_t)tensorMap % MAP_ALIGN || !globalAddress || (uintptr_t)globalAddress % 16)
    return CUDA_ERROR_INVALID_VALUE;
  memcpy(&m, tensorMap, sizeof m);
  if (m.tag != MAP_TAG) return CUDA_ERROR_INVALID_VALUE;
  m.global_address = (uint64_t)(uintptr_t)globalAddress;
  memcpy(tensorMap, &m, sizeof m);
  return CUDA_SUCCESS;
}
