/* CUDA arrays. */
#include "array.h"

struct array *array_checked(CUarray handle) {
  return handle_ok(HANDLE_ARRAY, handle) ? (struct array *)handle : NULL;
}

enum { FIRST_PACKED = 0x50, /* formats from here on are not offered */
       ARRAY_DEPTH = 0x10, ARRAY_COLOR = 0x20, WIDEST = 131072, HIGHEST = 65536 };

unsigned texel_bytes(CUarray_format format, unsigned channels) {
  if (channels != 1 && channels != 2 && channels != 4) return 0;
  switch (format) {
    case 0x01: case 0x08: return channels;
    case 0x02: case 0x09: case 0x10: return 2 * channels;
    case 0x03: case 0x0a: case 0x20: return 4 * channels;
    default: return 0;
  }
}

static size_t at_least_1(size_t n) { return n ? n : 1; }

/* Layers are there if they are said to be; without, what has a depth has a height; gathers are of plain rectangles. */
static bool shape_possible(const CUDA_ARRAY3D_DESCRIPTOR *d) {
  if (d->Width > WIDEST || d->Height > HIGHEST) return false;
  if (d->Flags & ARRAY_GATHER && (!d->Height || d->Depth)) return false;
  return d->Flags & ARRAY_LAYERED ? d->Depth != 0 : d->Height || !d->Depth;
}

CUresult array_size(const CUDA_ARRAY3D_DESCRIPTOR *d, size_t *size) {
  if (!d->Width) return CUDA_ERROR_INVALID_VALUE;
  unsigned texel = texel_bytes(d->Format, d->NumChannels);
  bool named = d->Format >= FIRST_PACKED && d->NumChannels && d->NumChannels <= 4;
  if (!texel) return named ? CUDA_ERROR_NOT_SUPPORTED : CUDA_ERROR_INVALID_VALUE;
  if (d->Flags & (ARRAY_DEPTH | ARRAY_COLOR)) return CUDA_ERROR_INVALID_VALUE; /* of other APIs' images */
  if (d->Flags & ~(unsigned)(ARRAY_LAYERED | ARRAY_SURFACE | ARRAY_CUBEMAP | ARRAY_GATHER)) return CUDA_ERROR_NOT_SUPPORTED;
  if (!shape_possible(d)) return CUDA_ERROR_INVALID_VALUE;
  if ((d->Flags & ARRAY_CUBEMAP) && (d->Width != d->Height || !d->Depth || d->Depth % 6)) return CUDA_ERROR_INVALID_VALUE;
  size_t slice;
  size_t longest = d->Width | d->Height | d->Depth;
  bool fits = longest < 1u << 29 && !__builtin_mul_overflow(d->Width * texel, at_least_1(d->Height), &slice) &&
              !__builtin_mul_overflow(slice, at_least_1(d->Depth), size);
  return fits ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult array_new(CUarray *handle, const CUDA_ARRAY3D_DESCRIPTOR *d, CUdeviceptr at) {
  size_t size;
  CUresult result = array_size(d, &size);
  if (result) return result;
  struct array *a = handle_new(HANDLE_ARRAY);
  if (!a) return CUDA_ERROR_OUT_OF_MEMORY;
  a->base = at;
  a->borrowed = at;
  int error = at ? 0 : hip.Malloc((void **)&a->base, size);
  if (error) {
    handle_free(HANDLE_ARRAY, a);
    return from_hip(error);
  }
  a->d = *d;
  a->pitch = d->Width * texel_bytes(d->Format, d->NumChannels);
  a->slice = a->pitch * at_least_1(d->Height);
  *handle = (CUarray)a;
  return CUDA_SUCCESS;
}

CUresult cuArray3DCreate_v2(CUarray *pHandle, const CUDA_ARRAY3D_DESCRIPTOR *d) {
  return pHandle && d ? array_new(pHandle, d, 0) : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuArrayCreate_v2(CUarray *pHandle, const CUDA_ARRAY_DESCRIPTOR *d) {
  if (!d) return CUDA_ERROR_INVALID_VALUE;
  CUDA_ARRAY3D_DESCRIPTOR full = {
      .Width = d->Width, .Height = d->Height, .Format = d->Format, .NumChannels = d->NumChannels};
  return cuArray3DCreate_v2(pHandle, &full);
}

CUresult cuArray3DGetDescriptor_v2(CUDA_ARRAY3D_DESCRIPTOR *d, CUarray hArray) {
  struct array *a = array_checked(hArray);
  if (!a) return CUDA_ERROR_INVALID_HANDLE;
  if (!d) return CUDA_ERROR_INVALID_VALUE;
  *d = a->d;
  return CUDA_SUCCESS;
}

CUresult cuArrayGetDescriptor_v2(CUDA_ARRAY_DESCRIPTOR *d, CUarray hArray) {
  CUDA_ARRAY3D_DESCRIPTOR full = {0};
  CUresult result = cuArray3DGetDescriptor_v2(&full, hArray);
  if (result) return result;
  if (!d) return CUDA_ERROR_INVALID_VALUE;
  *d = (CUDA_ARRAY_DESCRIPTOR){full.Width, full.Height, full.Format, full.NumChannels};
  return CUDA_SUCCESS;
}

CUresult cuArrayDestroy(CUarray hArray) {
  struct array *a = array_checked(hArray);
  if (!a || a->owned) return CUDA_ERROR_INVALID_HANDLE;
  void *base = a->borrowed ? NULL : (void *)a->base;
  return handle_free(HANDLE_ARRAY, a) ? from_hip(hip.Free(base)) : CUDA_ERROR_INVALID_HANDLE;
}

/* One side of a copy. rows: of a slice. */
struct side {
  CUmemorytype *type;
  CUarray array;
  CUdeviceptr *device;
  const void *host;
  size_t x, y, z, *pitch, *rows;
};

static CUresult side_resolve(const struct side *s, const CUDA_MEMCPY3D *c) {
  size_t x, y, z, first, end;
  if (__builtin_add_overflow(s->x, c->WidthInBytes, &x) || __builtin_add_overflow(s->y, c->Height, &y) ||
      __builtin_add_overflow(s->z, c->Depth, &z))
    return CUDA_ERROR_INVALID_VALUE;
  if (*s->type == CU_MEMORYTYPE_ARRAY) {
    const struct array *a = array_checked(s->array);
    if (!a) return CUDA_ERROR_INVALID_HANDLE;
    if (x > a->pitch || y > at_least_1(a->d.Height) || z > at_least_1(a->d.Depth)) return CUDA_ERROR_INVALID_VALUE;
    *s->type = CU_MEMORYTYPE_DEVICE;
    *s->device = a->base;
    *s->pitch = a->pitch;
    *s->rows = at_least_1(a->d.Height);
  }
  /* A pitch or height of 0: rows and slices follow each other without gaps. */
  if (!*s->pitch) *s->pitch = x;
  if (!*s->rows) *s->rows = y;
  if (*s->pitch < (c->Height > 1 || c->Depth > 1 ? x : c->WidthInBytes)) return CUDA_ERROR_INVALID_VALUE;
  if (c->Depth > 1 && *s->rows < y) return CUDA_ERROR_INVALID_VALUE;
  bool host = *s->type == CU_MEMORYTYPE_HOST;
  uint64_t base = host ? (uintptr_t)s->host : *s->device;
  const struct box box = {s->x, s->y, s->z, c->WidthInBytes, c->Height, c->Depth, *s->pitch, size_times(*s->pitch, *s->rows)};
  if (!box_extent(&box, &first, &end)) return CUDA_ERROR_INVALID_VALUE;
  return (host ? range_fits(base, end, 1) : allocation_holds(base, end)) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult copy_resolve(CUDA_MEMCPY3D *c) {
  const struct side src = {&c->srcMemoryType, c->srcArray, &c->srcDevice, c->srcHost,
                           c->srcXInBytes, c->srcY, c->srcZ, &c->srcPitch, &c->srcHeight};
  const struct side dst = {&c->dstMemoryType, c->dstArray, &c->dstDevice, c->dstHost,
                           c->dstXInBytes, c->dstY, c->dstZ, &c->dstPitch, &c->dstHeight};
  CUresult result = side_resolve(&src, c);
  return result ? result : side_resolve(&dst, c);
}

/* Copies between linear memory and `offset` bytes into an array. */

static CUresult place(CUarray handle, size_t offset, size_t size, CUdeviceptr *at) {
  struct array *a = array_checked(handle);
  if (!a) return CUDA_ERROR_INVALID_HANDLE;
  size_t whole = a->slice * at_least_1(a->d.Depth);
  if (offset > whole || size > whole - offset) return CUDA_ERROR_INVALID_VALUE;
  *at = a->base + offset;
  return CUDA_SUCCESS;
}

CUresult cuMemcpyDtoA_v2(CUarray dstArray, size_t dstOffset, CUdeviceptr srcDevice, size_t ByteCount) {
  CUdeviceptr at;
  CUresult result = place(dstArray, dstOffset, ByteCount, &at);
  return result ? result : cuMemcpyDtoD_v2(at, srcDevice, ByteCount);
}

CUresult cuMemcpyAtoD_v2(CUdeviceptr dstDevice, CUarray srcArray, size_t srcOffset, size_t ByteCount) {
  CUdeviceptr at;
  CUresult result = place(srcArray, srcOffset, ByteCount, &at);
  return result ? result : cuMemcpyDtoD_v2(dstDevice, at, ByteCount);
}

CUresult cuMemcpyHtoA_v2(CUarray dstArray, size_t dstOffset, const void *srcHost, size_t ByteCount) {
  CUdeviceptr at;
  CUresult result = place(dstArray, dstOffset, ByteCount, &at);
  return result ? result : cuMemcpyHtoD_v2(at, srcHost, ByteCount);
}

CUresult cuMemcpyAtoH_v2(void *dstHost, CUarray srcArray, size_t srcOffset, size_t ByteCount) {
  CUdeviceptr at;
  CUresult result = place(srcArray, srcOffset, ByteCount, &at);
  return result ? result : cuMemcpyDtoH_v2(dstHost, at, ByteCount);
}

CUresult cuMemcpyAtoA_v2(CUarray dstArray, size_t dstOffset, CUarray srcArray, size_t srcOffset, size_t ByteCount) {
  CUdeviceptr to, from;
  CUresult result = place(dstArray, dstOffset, ByteCount, &to);
  if (!result) result = place(srcArray, srcOffset, ByteCount, &from);
  return result ? result : cuMemcpyDtoD_v2(to, from, ByteCount);
}

CUresult cuMemcpyHtoAAsync_v2(CUarray dstArray, size_t dstOffset, const void *srcHost, size_t ByteCount, CUstream hStream) {
  CUdeviceptr at;
  CUresult result = place(dstArray, dstOffset, ByteCount, &at);
  return result ? result : cuMemcpyHtoDAsync_v2(at, srcHost, ByteCount, hStream);
}

CUresult cuMemcpyAtoHAsync_v2(void *dstHost, CUarray srcArray, size_t srcOffset, size_t ByteCount, CUstream hStream) {
  CUdeviceptr at;
  CUresult result = place(srcArray, srcOffset, ByteCount, &at);
  return result ? result : cuMemcpyDtoHAsync_v2(dstHost, at, ByteCount, hStream);
}

/* ---- what only arrays have that are made otherwise: sparse, with planes, or with memory that comes later ---- */

static CUresult not_of_that_kind(CUarray handle) {
  return array_checked(handle) ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE;
}

CUresult cuArrayGetSparseProperties(CUDA_ARRAY_SPARSE_PROPERTIES *sparseProperties, CUarray array) {
  (void)sparseProperties;
  return not_of_that_kind(array);
}

CUresult cuArrayGetMemoryRequirements(CUDA_ARRAY_MEMORY_REQUIREMENTS *memoryRequirements, CUarray array,
                                      CUdevice device) {
  if (initialised && !device_ok(device)) return CUDA_ERROR_INVALID_DEVICE;
  (void)memoryRequirements;
  return not_of_that_kind(array);
}

CUresult cuArrayGetPlane(CUarray *pPlaneArray, CUarray hArray, unsigned int planeIdx) {
  (void)pPlaneArray, (void)planeIdx;
  return not_of_that_kind(hArray);
}
