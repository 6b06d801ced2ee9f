/* Linear copies from and to arrays, and memory and fills in three dimensions. */
#include "hip_state.h"

struct end { hipArray_t array; void *memory; size_t x, y; };   /* an array's rows in bytes, or plain memory */

static hipError_t copy_ends(struct end dst, struct end src, size_t width, size_t height, hipStream_t stream, bool wait) {
  hip_Memcpy2D p = {
      .srcXInBytes = src.x, .srcY = src.y, .srcMemoryType = src.array ? hipMemoryTypeArray : hipMemoryTypeUnified,
      .srcArray = src.array, .srcDevice = src.memory, .srcPitch = src.array ? 0 : width,
      .dstXInBytes = dst.x, .dstY = dst.y, .dstMemoryType = dst.array ? hipMemoryTypeArray : hipMemoryTypeUnified,
      .dstArray = dst.array, .dstDevice = dst.memory, .dstPitch = dst.array ? 0 : width,
      .WidthInBytes = width, .Height = height,
  };
  return wait ? hipMemcpyParam2D(&p) : hipMemcpyParam2DAsync(&p, stream);
}

#define ROW(a, offset) ((struct end){.array = (hipArray_t)(a), .x = (offset)})
#define PLAIN(p) ((struct end){.memory = (void *)(p)})

hipError_t hipMemcpyAtoA(hipArray_t dst, size_t dst_at, hipArray_t src, size_t src_at, size_t count) {
  return copy_ends(ROW(dst, dst_at), ROW(src, src_at), count, 1, NULL, true);
}
hipError_t hipMemcpyAtoD(hipDeviceptr_t dst, hipArray_t src, size_t at, size_t count) {
  return copy_ends(PLAIN(dst), ROW(src, at), count, 1, NULL, true);
}
hipError_t hipMemcpyDtoA(hipArray_t dst, size_t at, hipDeviceptr_t src, size_t count) {
  return copy_ends(ROW(dst, at), PLAIN(src), count, 1, NULL, true);
}
hipError_t hipMemcpyAtoHAsync(void *dst, hipArray_t src, size_t at, size_t count, hipStream_t stream) {
  return copy_ends(PLAIN(dst), ROW(src, at), count, 1, stream, false);
}
hipError_t hipMemcpyHtoAAsync(hipArray_t dst, size_t at, const void *src, size_t count, hipStream_t stream) {
  return copy_ends(ROW(dst, at), PLAIN(src), count, 1, stream, false);
}

hipError_t hipMemcpy2DArrayToArray(hipArray_t dst, size_t dst_x, size_t dst_y, hipArray_const_t src, size_t src_x,
                                   size_t src_y, size_t width, size_t height, hipMemcpyKind kind) {
  (void)kind;
  return copy_ends((struct end){dst, NULL, dst_x, dst_y}, (struct end){(hipArray_t)src, NULL, src_x, src_y}, width,
                   height, NULL, true);
}

/* count bytes of an array from a byte of a row on; may span several rows. */
static hipError_t copy_rows(hipArray_t array, size_t x, size_t y, char *memory, size_t count, bool to_array) {
  HIP_ARRAY_DESCRIPTOR about;
  hipError_t error = hipArrayGetDescriptor(&about, array);
  size_t row = about.Width * array_texel(array);
  if (error == hipSuccess && x >= row) error = done(hipErrorInvalidValue);
  while (error == hipSuccess && count) {
    size_t part = count < row - x ? count : row - x;
    struct end there = {array, NULL, x, y}, here = PLAIN(memory);
    error = copy_ends(to_array ? there : here, to_array ? here : there, part, 1, NULL, true);
    memory += part, count -= part, x = 0, y++;
  }
  return error;
}

hipError_t hipMemcpyToArray(hipArray_t dst, size_t x, size_t y, const void *src, size_t count, hipMemcpyKind kind) {
  ENTER();
  (void)kind;
  return copy_rows(dst, x, y, (char *)src, count, true);
}
hipError_t hipMemcpyFromArray(void *dst, hipArray_const_t src, size_t x, size_t y, size_t count, hipMemcpyKind kind) {
  ENTER();
  (void)kind;
  return copy_rows((hipArray_t)src, x, y, dst, count, false);
}

hipError_t hipGetChannelDesc(hipChannelFormatDesc *desc, hipArray_const_t array) {
  return desc ? hipArrayGetInfo(desc, NULL, NULL, (hipArray_t)array) : done(hipErrorInvalidValue);
}

hipChannelFormatDesc hipCreateChannelDesc(int x, int y, int z, int w, hipChannelFormatKind kind) {
  return (hipChannelFormatDesc){x, y, z, w, kind};
}

hipError_t hipMalloc3D(hipPitchedPtr *out, hipExtent extent) {
  size_t rows;
  if (!out || __builtin_mul_overflow(extent.height, extent.depth, &rows)) return done(hipErrorInvalidValue);
  *out = (hipPitchedPtr){.xsize = extent.width, .ysize = extent.height};
  return hipMallocPitch(&out->ptr, &out->pitch, extent.width, rows);
}

hipError_t hipMemset3DAsync(hipPitchedPtr to, int value, hipExtent extent, hipStream_t stream) {
  ENTER();
  if (!to.ptr || to.pitch < extent.width) return done(hipErrorInvalidValue);
  hipError_t error = hipSuccess;
  for (size_t z = 0; z < extent.depth && error == hipSuccess; z++)
    error = hipMemset2DAsync((char *)to.ptr + z * to.pitch * to.ysize, to.pitch, value, extent.width, extent.height,
                             stream);
  return error;
}

hipError_t hipMemset3D(hipPitchedPtr to, int value, hipExtent extent) {
  hipError_t error = hipMemset3DAsync(to, value, extent, NULL);
  return error == hipSuccess ? hipStreamSynchronize(NULL) : error;
}
