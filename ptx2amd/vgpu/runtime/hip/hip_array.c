/* Arrays and the copies that use them. Row pitch equals that of images, so that a descriptor needs none. */
#include "hip_array.h"

#include "hip_state.h"
#include "image.h"

static struct handle_class array_class = HANDLE_CLASS(struct hipArray, 1 << 20);
enum { MOST_TEXELS = 16384, MOST_SLICES = 8192 };

struct hipArray *array_checked(hipArray_t array) { return handle_ok(&array_class, array) ? array : NULL; }

unsigned channel_bytes(hipArray_Format format) {
  switch (format) {
    case HIP_AD_FORMAT_UNSIGNED_INT8: case HIP_AD_FORMAT_SIGNED_INT8: return 1;
    case HIP_AD_FORMAT_UNSIGNED_INT16: case HIP_AD_FORMAT_SIGNED_INT16: case HIP_AD_FORMAT_HALF: return 2;
    case HIP_AD_FORMAT_UNSIGNED_INT32: case HIP_AD_FORMAT_SIGNED_INT32: case HIP_AD_FORMAT_FLOAT: return 4;
    default: return 0;
  }
}

bool channels_of(const hipChannelFormatDesc *c, hipArray_Format *format, unsigned *channels) {
  static const hipArray_Format formats[3][3] = {
      {HIP_AD_FORMAT_SIGNED_INT8, HIP_AD_FORMAT_SIGNED_INT16, HIP_AD_FORMAT_SIGNED_INT32},
      {HIP_AD_FORMAT_UNSIGNED_INT8, HIP_AD_FORMAT_UNSIGNED_INT16, HIP_AD_FORMAT_UNSIGNED_INT32},
      {0, HIP_AD_FORMAT_HALF, HIP_AD_FORMAT_FLOAT}};
  *channels = !c->y && !c->z && !c->w ? 1 : !c->z && !c->w ? 2 : 4;
  bool same = (*channels < 2 || c->y == c->x) && (*channels < 4 || (c->z == c->x && c->w == c->x));
  if (!same || (c->x != 8 && c->x != 16 && c->x != 32) || c->f > hipChannelFormatKindFloat) return false;
  *format = formats[c->f][c->x == 8 ? 0 : c->x == 16 ? 1 : 2];
  return *format != 0;
}

static size_t at_least_1(size_t n) { return n ? n : 1; }

static hipError_t create(hipArray_t *out, const HIP_ARRAY3D_DESCRIPTOR *d) {
  if (!out || !d || !d->Width) return hipErrorInvalidValue;
  unsigned channels = d->NumChannels, texel = channel_bytes(d->Format) * channels;
  if (!texel || (channels != 1 && channels != 2 && channels != 4)) return hipErrorInvalidValue;
  bool layers = d->Flags & (hipArrayLayered | hipArrayCubemap);
  if (d->Width > MOST_TEXELS || d->Height > MOST_TEXELS || d->Depth > MOST_SLICES) return hipErrorInvalidValue;
  if (layers ? !d->Depth : d->Depth && !d->Height) return hipErrorInvalidValue;
  if ((d->Flags & hipArrayCubemap) && (d->Width != d->Height || d->Depth % 6)) return hipErrorInvalidValue;
  struct hipArray *a = handle_new(&array_class);
  if (!a) return hipErrorOutOfMemory;
  a->d = *d;
  a->texel = texel;
  a->pitch = (size_t)image_pitch((uint32_t)d->Width, texel, device_current()->arch->generation) * texel;
  hipError_t error = hipMalloc(&a->data, a->pitch * at_least_1(d->Height) * at_least_1(d->Depth));
  if (error != hipSuccess) {
    handle_free(&array_class, a);
    return error;
  }
  a->memory = mem_at((uint64_t)a->data)->id;
  *out = a;
  return hipSuccess;
}

hipError_t hipArray3DCreate(hipArray_t *array, const HIP_ARRAY3D_DESCRIPTOR *descriptor) {
  ENTER();
  return done(create(array, descriptor));
}

hipError_t hipArrayCreate(hipArray_t *array, const HIP_ARRAY_DESCRIPTOR *d) {
  ENTER();
  if (!d) return done(hipErrorInvalidValue);
  HIP_ARRAY3D_DESCRIPTOR whole = {.Width = d->Width, .Height = d->Height, .Format = d->Format, .NumChannels = d->NumChannels};
  return done(create(array, &whole));
}

hipError_t hipMalloc3DArray(hipArray_t *array, const hipChannelFormatDesc *desc, hipExtent extent, unsigned flags) {
  ENTER();
  HIP_ARRAY3D_DESCRIPTOR d = {.Width = extent.width, .Height = extent.height, .Depth = extent.depth, .Flags = flags};
  if (!desc || !channels_of(desc, &d.Format, &d.NumChannels)) return done(hipErrorInvalidValue);
  return done(create(array, &d));
}

hipError_t hipMallocArray(hipArray_t *array, const hipChannelFormatDesc *desc, size_t width, size_t height, unsigned flags) {
  return hipMalloc3DArray(array, desc, (hipExtent){width, height, 0}, flags);
}

hipError_t hipArray3DGetDescriptor(HIP_ARRAY3D_DESCRIPTOR *descriptor, hipArray_t array) {
  ENTER();
  struct hipArray *a = array_checked(array);
  if (!a || !descriptor) return done(a ? hipErrorInvalidValue : hipErrorInvalidHandle);
  *descriptor = a->d;
  return hipSuccess;
}

hipError_t hipArrayGetDescriptor(HIP_ARRAY_DESCRIPTOR *descriptor, hipArray_t array) {
  ENTER();
  struct hipArray *a = array_checked(array);
  if (!a || !descriptor) return done(a ? hipErrorInvalidValue : hipErrorInvalidHandle);
  *descriptor = (HIP_ARRAY_DESCRIPTOR){a->d.Width, a->d.Height, a->d.Format, a->d.NumChannels};
  return hipSuccess;
}

hipError_t hipArrayGetInfo(hipChannelFormatDesc *desc, hipExtent *extent, unsigned *flags, hipArray_t array) {
  ENTER();
  struct hipArray *a = array_checked(array);
  if (!a) return done(hipErrorInvalidHandle);
  int bits = (int)channel_bytes(a->d.Format) * 8;
  if (desc) {
    hipArray_Format f = a->d.Format;
    desc->x = bits, desc->y = a->d.NumChannels > 1 ? bits : 0;
    desc->z = desc->w = a->d.NumChannels > 2 ? bits : 0;
    desc->f = f >= HIP_AD_FORMAT_HALF ? hipChannelFormatKindFloat
            : f >= HIP_AD_FORMAT_SIGNED_INT8 ? hipChannelFormatKindSigned : hipChannelFormatKindUnsigned;
  }
  if (extent) *extent = (hipExtent){a->d.Width, a->d.Height, a->d.Depth};
  if (flags) *flags = a->d.Flags;
  return hipSuccess;
}

hipError_t hipFreeArray(hipArray_t array) {
  ENTER();
  if (!array) return hipSuccess;
  struct hipArray *a = array_checked(array);
  if (!a) return done(hipErrorInvalidHandle);
  struct mem_block *block = mem_at((uint64_t)a->data);
  bool there = block && block->id == a->memory;   /* a reset took it, and the address may be another's */
  hipError_t error = there ? hipFree(a->data) : hipSuccess;
  handle_free(&array_class, a);
  return done(error);
}

hipError_t hipArrayDestroy(hipArray_t array) { return array ? hipFreeArray(array) : hipErrorInvalidValue; }

/* --- copies ----------------------------------------------------------------------------------------------------- */

size_t array_texel(hipArray_t array) {
  struct hipArray *a = array_checked(array);
  return a ? a->texel : 0;
}

hipError_t array_side(hipArray_t array, size_t x_end, size_t y_end, size_t z_end, char **base, size_t *pitch, size_t *height) {
  struct hipArray *a = array_checked(array);
  if (!a) return hipErrorInvalidHandle;
  *base = a->data;
  *pitch = a->pitch;
  *height = at_least_1(a->d.Height);
  bool within = x_end <= a->d.Width * a->texel && y_end <= *height && z_end <= at_least_1(a->d.Depth);
  return within ? hipSuccess : hipErrorInvalidValue;
}

static hip_Memcpy2D to_array(hipArray_t dst, size_t x, size_t y, const void *src, size_t pitch, size_t width, size_t height) {
  return (hip_Memcpy2D){
      .srcMemoryType = hipMemoryTypeUnified, .srcDevice = (void *)src, .srcPitch = pitch, .dstXInBytes = x, .dstY = y,
      .dstMemoryType = hipMemoryTypeArray, .dstArray = dst, .WidthInBytes = width, .Height = height};
}
static hip_Memcpy2D from_array(void *dst, size_t pitch, hipArray_t src, size_t x, size_t y, size_t width, size_t height) {
  return (hip_Memcpy2D){
      .srcXInBytes = x, .srcY = y, .srcMemoryType = hipMemoryTypeArray, .srcArray = src,
      .dstMemoryType = hipMemoryTypeUnified, .dstDevice = dst, .dstPitch = pitch, .WidthInBytes = width, .Height = height};
}

hipError_t hipMemcpy2DToArray(hipArray_t dst, size_t x, size_t y, const void *src, size_t pitch, size_t width, size_t height,
                              hipMemcpyKind kind) {
  (void)kind;
  hip_Memcpy2D p = to_array(dst, x, y, src, pitch, width, height);
  return hipMemcpyParam2D(&p);
}
hipError_t hipMemcpy2DToArrayAsync(hipArray_t dst, size_t x, size_t y, const void *src, size_t pitch, size_t width,
                                   size_t height, hipMemcpyKind kind, hipStream_t stream) {
  (void)kind;
  hip_Memcpy2D p = to_array(dst, x, y, src, pitch, width, height);
  return hipMemcpyParam2DAsync(&p, stream);
}
hipError_t hipMemcpy2DFromArray(void *dst, size_t pitch, hipArray_const_t src, size_t x, size_t y, size_t width,
                                size_t height, hipMemcpyKind kind) {
  (void)kind;
  hip_Memcpy2D p = from_array(dst, pitch, (hipArray_t)src, x, y, width, height);
  return hipMemcpyParam2D(&p);
}
hipError_t hipMemcpy2DFromArrayAsync(void *dst, size_t pitch, hipArray_const_t src, size_t x, size_t y, size_t width,
                                     size_t height, hipMemcpyKind kind, hipStream_t stream) {
  (void)kind;
  hip_Memcpy2D p = from_array(dst, pitch, (hipArray_t)src, x, y, width, height);
  return hipMemcpyParam2DAsync(&p, stream);
}
hipError_t hipMemcpyHtoA(hipArray_t dst, size_t offset, const void *src, size_t count) {
  hip_Memcpy2D p = to_array(dst, offset, 0, src, count, count, 1);
  return hipMemcpyParam2D(&p);
}
hipError_t hipMemcpyAtoH(void *dst, hipArray_t src, size_t offset, size_t count) {
  hip_Memcpy2D p = from_array(dst, count, src, offset, 0, count, 1);
  return hipMemcpyParam2D(&p);
}
