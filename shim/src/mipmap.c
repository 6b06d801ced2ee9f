/* Mipmapped arrays: an array for each level, and their places in a table in device memory that kernels read. */
#include <string.h>

#include "mipmap.h"
#include "texture.h"

struct mipmap *mipmap_checked(CUmipmappedArray handle) {
  return handle_ok(HANDLE_MIPMAP, handle) ? (struct mipmap *)handle : NULL;
}

static size_t halved(size_t size, unsigned times) { return size ? (size >> times ? size >> times : 1) : 0; }

static CUDA_ARRAY3D_DESCRIPTOR level_of(const CUDA_ARRAY3D_DESCRIPTOR *d, unsigned level) {
  CUDA_ARRAY3D_DESCRIPTOR part = *d;
  part.Width = halved(d->Width, level);
  part.Height = halved(d->Height, level);
  if (!(d->Flags & (ARRAY_LAYERED | ARRAY_CUBEMAP))) part.Depth = halved(d->Depth, level);
  return part;
}

/* 1 + floor(log2(the largest size)) */
static unsigned most_levels(const CUDA_ARRAY3D_DESCRIPTOR *d) {
  size_t depth = d->Flags & (ARRAY_LAYERED | ARRAY_CUBEMAP) ? 0 : d->Depth;
  size_t size = d->Width | d->Height | depth;
  unsigned levels = 0;
  for (; size; size >>= 1) levels++;
  return levels;
}

static CUresult dropped(struct mipmap *m) {
  CUresult result = CUDA_SUCCESS;
  for (unsigned i = 0; i < m->levels; i++) {
    m->level[i]->owned = false;
    CUresult error = cuArrayDestroy((CUarray)m->level[i]);
    if (!result) result = error;
  }
  if (m->table) {
    int error = hip.Free((void *)m->table);
    if (!result) result = from_hip(error);
  }
  handle_free(HANDLE_MIPMAP, m);
  return result;
}

CUresult cuMipmappedArrayCreate(CUmipmappedArray *pHandle, const CUDA_ARRAY3D_DESCRIPTOR *d, unsigned int numMipmapLevels) {
  ENTER_CONTEXT();
  if (!pHandle || !d || !numMipmapLevels || d->Width > 1u << 28) return CUDA_ERROR_INVALID_VALUE;
  struct mipmap *m = handle_new(HANDLE_MIPMAP);
  if (!m) return CUDA_ERROR_OUT_OF_MEMORY;
  m->d = *d;
  unsigned most = most_levels(d), levels = numMipmapLevels < most ? numMipmapLevels : most;
  if (levels > MIPMAP_LEVELS) levels = MIPMAP_LEVELS;
  struct level table[MIPMAP_LEVELS];
  CUresult result = CUDA_SUCCESS;
  while (!result && m->levels < levels) {
    CUDA_ARRAY3D_DESCRIPTOR part = level_of(d, m->levels);
    result = cuArray3DCreate_v2((CUarray *)&m->level[m->levels], &part);
    if (result) break;
    struct descriptor whole;
    struct array *a = m->level[m->levels];
    array_describe(a, &whole);
    memcpy(&table[m->levels++], &whole, sizeof *table);
    a->owned = true;
  }
  if (!result) result = from_hip(hip.Malloc(&m->table, levels * sizeof *table));
  if (!result) {
    hip_internal((void *)m->table);
    result = from_hip(hip.MemcpyHtoD(m->table, table, levels * sizeof *table));
  }
  if (result) dropped(m);
  else *pHandle = (CUmipmappedArray)m;
  return result;
}

CUresult cuMipmappedArrayGetLevel(CUarray *pLevelArray, CUmipmappedArray hMipmappedArray, unsigned int level) {
  ENTER_CONTEXT();
  struct mipmap *m = mipmap_checked(hMipmappedArray);
  if (!m) return CUDA_ERROR_INVALID_HANDLE;
  if (!pLevelArray || level >= m->levels) return CUDA_ERROR_INVALID_VALUE;
  *pLevelArray = (CUarray)m->level[level];
  return CUDA_SUCCESS;
}

CUresult cuMipmappedArrayDestroy(CUmipmappedArray hMipmappedArray) {
  ENTER_CONTEXT();
  struct mipmap *m = mipmap_checked(hMipmappedArray);
  return m ? dropped(m) : CUDA_ERROR_INVALID_HANDLE;
}

/* ---- what only mipmaps have that are made otherwise: sparse, or with memory that comes later ---- */

static CUresult not_of_that_kind(CUmipmappedArray mipmap) {
  ENTER_CONTEXT();
  return mipmap_checked(mipmap) ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE;
}

CUresult cuMipmappedArrayGetSparseProperties(CUDA_ARRAY_SPARSE_PROPERTIES *sparseProperties, CUmipmappedArray mipmap) {
  (void)sparseProperties;
  return not_of_that_kind(mipmap);
}

CUresult cuMipmappedArrayGetMemoryRequirements(CUDA_ARRAY_MEMORY_REQUIREMENTS *memoryRequirements,
                                               CUmipmappedArray mipmap, CUdevice device) {
  if (initialised && !device_ok(device)) return CUDA_ERROR_INVALID_DEVICE;
  (void)memoryRequirements;
  return not_of_that_kind(mipmap);
}
