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
  if (m->mapped) {
    int error = hip.Free((void *)m->mapped);
    if (!result) result = from_hip(error);
  }
  handle_free(HANDLE_MIPMAP, m);
  return result;
}

/* In external memory from `mapped` on, one level after the other; or, when that is 0, in memory of their own. */
static CUresult made(CUmipmappedArray *handle, const CUDA_ARRAY3D_DESCRIPTOR *d, unsigned levels, CUdeviceptr mapped) {
  struct mipmap *m = handle_new(HANDLE_MIPMAP);
  if (!m) return CUDA_ERROR_OUT_OF_MEMORY;
  m->d = *d;
  struct texture_level table[MIPMAP_LEVELS];
  CUresult result = CUDA_SUCCESS;
  CUdeviceptr at = mapped;
  while (!result && m->levels < levels) {
    CUDA_ARRAY3D_DESCRIPTOR part = level_of(d, m->levels);
    size_t size;
    result = array_size(&part, &size);
    if (!result) result = array_new((CUarray *)&m->level[m->levels], &part, at);
    if (result) break;
    if (at) at += size;
    struct texture_descriptor whole;
    struct array *a = m->level[m->levels];
    array_describe(a, &whole);
    memcpy(&table[m->levels++], &whole, sizeof *table);
    a->owned = true;
  }
  if (!result) result = from_hip(hip.Malloc((void **)&m->table, levels * sizeof *table));
  if (!result) {
    hip_internal((void *)m->table);
    result = from_hip(hip.MemcpyHtoD((void *)m->table, table, levels * sizeof *table));
  }
  if (result) {
    dropped(m);
    return result;
  }
  m->mapped = mapped;
  *handle = (CUmipmappedArray)m;
  return CUDA_SUCCESS;
}

CUresult cuMipmappedArrayCreate(CUmipmappedArray *pHandle, const CUDA_ARRAY3D_DESCRIPTOR *d, unsigned int numMipmapLevels) {
  if (!pHandle || !d || d->Width > 1u << 28) return CUDA_ERROR_INVALID_VALUE;
  unsigned most = most_levels(d);
  if (!numMipmapLevels) numMipmapLevels = 1;
  return made(pHandle, d, numMipmapLevels < most ? numMipmapLevels : most, 0);
}

/* External memory is bytes that can be mapped: levels, and in them slices and rows, follow each other without gaps, as
 * in arrays of our own. AMD's library has images of other APIs there, tiled as its chips like it; they would be read wrong. */
CUresult cuExternalMemoryGetMappedMipmappedArray(CUmipmappedArray *mipmap, CUexternalMemory extMem,
                                                 const CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC *mipmapDesc) {
  static int said;
  enum { COLOR_ATTACHMENT = 0x20 }; /* what the other API does with it */
  if (!mipmap || !mipmapDesc) return CUDA_ERROR_INVALID_VALUE;
  CUDA_ARRAY3D_DESCRIPTOR d = mipmapDesc->arrayDesc;
  d.Flags &= ~(unsigned)COLOR_ATTACHMENT;
  if (!mipmapDesc->numLevels || mipmapDesc->numLevels > most_levels(&d)) return CUDA_ERROR_INVALID_VALUE;
  hipExternalMemoryBufferDesc part = {.offset = mipmapDesc->offset};
  for (unsigned i = 0; i < mipmapDesc->numLevels; i++) {
    CUDA_ARRAY3D_DESCRIPTOR level = level_of(&d, i);
    size_t size;
    CUresult result = array_size(&level, &size);
    if (result) return result;
    if (__builtin_add_overflow(part.size, size, &part.size)) return CUDA_ERROR_INVALID_VALUE;
  }
  if (!hip_is_software) return refuse(&said, "an array in external memory of AMD's library, whose images are tiled,");
  void *at;
  int error = hip.ExternalMemoryGetMappedBuffer(&at, extMem, &part);
  if (error) return hip_error(error);
  CUresult result = made(mipmap, &d, mipmapDesc->numLevels, (CUdeviceptr)at);
  if (result) hip.Free(at);
  return result;
}

CUresult cuMipmappedArrayGetLevel(CUarray *pLevelArray, CUmipmappedArray hMipmappedArray, unsigned int level) {
  struct mipmap *m = mipmap_checked(hMipmappedArray);
  if (!m) return CUDA_ERROR_INVALID_HANDLE;
  if (!pLevelArray || level >= m->levels) return CUDA_ERROR_INVALID_VALUE;
  *pLevelArray = (CUarray)m->level[level];
  return CUDA_SUCCESS;
}

CUresult cuMipmappedArrayDestroy(CUmipmappedArray hMipmappedArray) {
  struct mipmap *m = mipmap_checked(hMipmappedArray);
  return m ? dropped(m) : CUDA_ERROR_INVALID_HANDLE;
}

/* ---- what only mipmaps have that are made otherwise: sparse, or with memory that comes later ---- */

static CUresult not_of_that_kind(CUmipmappedArray mipmap) {
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
