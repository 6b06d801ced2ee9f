/* Copies and fills. */
#include "hip_state.h"

static struct op linear(void *dst, const void *src, size_t size) {
  struct op op = {.kind = OP_COPY, .copy = {.dst = dst, .src = src, .dst_pitch = size, .src_pitch = size,
                                            .width = size, .height = 1, .depth = 1}};
  return op;
}

/* The bytes from ptr to the end of its allocation or array. */
static bool pitched_ok(const void *ptr, size_t pitch, size_t slice, size_t width, size_t height, size_t depth, bool device) {
  size_t first, end;
  const struct box box = {.width = width, .height = height, .depth = depth, .pitch = pitch, .slice = slice};
  return box_extent(&box, &first, &end) && mem_spans(ptr, end, device);
}

enum { DST_DEVICE = 1, SRC_DEVICE = 2 };

bool copy_ok(const struct copy *c) {
  return pitched_ok(c->dst, c->dst_pitch, c->dst_slice, c->width, c->height, c->depth, c->dst_known) &&
         pitched_ok(c->src, c->src_pitch, c->src_slice, c->width, c->height, c->depth, c->src_known);
}

/* One side: *known is whether its memory is an allocation. Memory outside of allocations is the program's pageable
 * memory, which it may reuse as soon as the call returns. So is a range that leaves registered memory: the program may
 * have freed what it had registered, and the system given the address to something else. */
static bool side_learn(const void *ptr, size_t pitch, size_t slice, const struct copy *c, bool device, bool *known) {
  *known = device || mem_find((uint64_t)ptr, NULL);
  if (pitched_ok(ptr, pitch, slice, c->width, c->height, c->depth, *known)) return true;
  *known = device;
  return !device && pitched_ok(ptr, pitch, slice, c->width, c->height, c->depth, false);
}

hipError_t copy_learn(struct copy *c, int devices) {
  bool fine = side_learn(c->dst, c->dst_pitch, c->dst_slice, c, devices & DST_DEVICE, &c->dst_known) &&
              side_learn(c->src, c->src_pitch, c->src_slice, c, devices & SRC_DEVICE, &c->src_known);
  return fine ? hipSuccess : hipErrorInvalidValue;
}

static int devices_of(hipMemcpyKind kind) {
  switch (kind) {
    case hipMemcpyHostToDevice: return DST_DEVICE;
    case hipMemcpyDeviceToHost: return SRC_DEVICE;
    case hipMemcpyDeviceToDevice:
    case hipMemcpyDeviceToDeviceNoCU: return DST_DEVICE | SRC_DEVICE;
    default: return 0;
  }
}

static bool kind_ok(hipMemcpyKind kind) { return kind <= hipMemcpyDefault || kind == hipMemcpyDeviceToDeviceNoCU; }

static hipError_t run(struct op *op, int devices, hipStream_t handle, bool wait) {
  stream *s = stream_resolve(handle);
  if (!s) return done(hipErrorInvalidHandle);
  hipError_t error = device_error(s->device);
  if (error == hipSuccess && op->kind == OP_COPY) error = copy_learn(&op->copy, devices);
  if (error != hipSuccess) return done(error);
  if (op->kind == OP_COPY && !op->copy.width) return hipSuccess;
  /* An asynchronous copy from or to pageable memory may be synchronous; outside of captures it is. */
  if (!wait && op->kind == OP_COPY && !s->capture) wait = !op->copy.src_known || !op->copy.dst_known;
  return done(wait ? stream_perform(s, op) : stream_submit(s, op, NULL));
}

hipError_t hipMemcpy(void *dst, const void *src, size_t size, hipMemcpyKind kind) {
  ENTER();
  if (!kind_ok(kind)) return done(hipErrorInvalidMemcpyDirection);
  struct op op = linear(dst, src, size);
  return run(&op, devices_of(kind), NULL, true);
}

hipError_t hipMemcpyWithStream(void *dst, const void *src, size_t size, hipMemcpyKind kind, hipStream_t stream) {
  ENTER();
  if (!kind_ok(kind)) return done(hipErrorInvalidMemcpyDirection);
  struct op op = linear(dst, src, size);
  return run(&op, devices_of(kind), stream, true);
}

hipError_t hipMemcpyAsync(void *dst, const void *src, size_t size, hipMemcpyKind kind, hipStream_t stream) {
  ENTER();
  if (!kind_ok(kind)) return done(hipErrorInvalidMemcpyDirection);
  struct op op = linear(dst, src, size);
  return run(&op, devices_of(kind), stream, false);
}

#define LINEAR(name, dst_type, src_type, devices)                              \
  hipError_t name(dst_type dst, src_type src, size_t size) {                   \
    ENTER();                                                                   \
    struct op op = linear(dst, src, size);                                     \
    return run(&op, devices, NULL, true);                                      \
  }                                                                            \
  hipError_t name##Async(dst_type dst, src_type src, size_t size, hipStream_t stream) { \
    ENTER();                                                                   \
    struct op op = linear(dst, src, size);                                     \
    return run(&op, devices, stream, false);                                   \
  }
LINEAR(hipMemcpyHtoD, hipDeviceptr_t, const void *, DST_DEVICE)
LINEAR(hipMemcpyDtoH, void *, hipDeviceptr_t, SRC_DEVICE)
LINEAR(hipMemcpyDtoD, hipDeviceptr_t, hipDeviceptr_t, DST_DEVICE | SRC_DEVICE)

hipError_t hipMemcpyPeer(void *dst, int dstDevice, const void *src, int srcDevice, size_t size) {
  ENTER();
  if (!device_at(dstDevice) || !device_at(srcDevice)) return done(hipErrorInvalidDevice);
  MAY_WAIT();
  /* Preceding work of both devices is completed first. */
  hipError_t error = device_synchronize(device_at(dstDevice));
  if (error == hipSuccess) error = device_synchronize(device_at(srcDevice));
  if (error != hipSuccess) return done(error);
  struct op op = linear(dst, src, size);
  return run(&op, DST_DEVICE | SRC_DEVICE, NULL, true);
}

hipError_t hipMemcpyPeerAsync(void *dst, int dstDevice, const void *src, int srcDevice, size_t size,
                              hipStream_t stream) {
  ENTER();
  if (!device_at(dstDevice) || !device_at(srcDevice)) return done(hipErrorInvalidDevice);
  struct op op = linear(dst, src, size);
  return run(&op, DST_DEVICE | SRC_DEVICE, stream, false);
}

/* Pitched copies */

static hipError_t copy_2d(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width, size_t height,
                          hipMemcpyKind kind, hipStream_t stream, bool wait) {
  if (!kind_ok(kind)) return done(hipErrorInvalidMemcpyDirection);
  if (!width || !height) return hipSuccess;
  if (dpitch < width || spitch < width) return done(hipErrorInvalidPitchValue);
  struct op op = {.kind = OP_COPY, .copy = {.dst = dst, .src = src, .dst_pitch = dpitch, .src_pitch = spitch,
                                            .width = width, .height = height, .depth = 1}};
  return run(&op, devices_of(kind), stream, wait);
}

hipError_t hipMemcpy2D(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width, size_t height,
                       hipMemcpyKind kind) {
  ENTER();
  return copy_2d(dst, dpitch, src, spitch, width, height, kind, NULL, true);
}

hipError_t hipMemcpy2DAsync(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width, size_t height,
                            hipMemcpyKind kind, hipStream_t stream) {
  ENTER();
  return copy_2d(dst, dpitch, src, spitch, width, height, kind, stream, false);
}

/* One side of a copy with a descriptor. */
struct side { char *base; size_t x, y, z, pitch, height; };

static hipError_t side_of(hipMemoryType type, const void *host, hipDeviceptr_t device, hipArray_t array, int bit,
                          const HIP_MEMCPY3D *p, struct side *s, int *devices) {
  size_t x_end, y_end, z_end;
  if (__builtin_add_overflow(s->x, p->WidthInBytes, &x_end) || __builtin_add_overflow(s->y, p->Height, &y_end) ||
      __builtin_add_overflow(s->z, p->Depth, &z_end))
    return hipErrorInvalidValue;
  switch (type) {
    case hipMemoryTypeHost: s->base = (char *)host; break;
    case hipMemoryTypeDevice: *devices |= bit; s->base = device; break;
    case hipMemoryTypeManaged:
    case hipMemoryTypeUnified: s->base = device; break;
    case hipMemoryTypeArray:
      *devices |= bit;
      return array_side(array, x_end, y_end, z_end, &s->base, &s->pitch, &s->height);
    default: return hipErrorInvalidValue;
  }
  /* A pitch or height of 0: rows and slices follow each other without gaps. */
  if (!s->pitch) s->pitch = x_end;
  if (!s->height) s->height = y_end;
  if ((p->Height > 1 || p->Depth > 1) && s->pitch < x_end) return hipErrorInvalidPitchValue;
  return p->Depth > 1 && s->height < y_end ? hipErrorInvalidValue : hipSuccess;
}

/* The copy's start on one side; false: part of it is outside of that side's memory. */
static bool side_begin(const struct side *s, const struct copy *c, char **begin) {
  size_t first, end;
  const struct box box = {s->x, s->y, s->z, c->width, c->height, c->depth, s->pitch, size_times(s->pitch, s->height)};
  if (!box_extent(&box, &first, &end) || !mem_spans(s->base, end, false)) return false;
  *begin = s->base + first;
  return true;
}

/* A copy whose width, height and depth are set already. */
static hipError_t place(struct copy *c, const struct side *dst, const struct side *src) {
  if (!c->height || !c->depth) c->width = 0;
  c->dst_pitch = dst->pitch, c->dst_slice = size_times(dst->pitch, dst->height);
  c->src_pitch = src->pitch, c->src_slice = size_times(src->pitch, src->height);
  char *from = NULL;
  bool placed = side_begin(dst, c, &c->dst) && side_begin(src, c, &from);
  c->src = from;
  return placed ? hipSuccess : hipErrorInvalidValue;
}

hipError_t copy_of_3d(const HIP_MEMCPY3D *p, struct copy *c, int *devices) {
  struct side src = {NULL, p->srcXInBytes, p->srcY, p->srcZ, p->srcPitch, p->srcHeight};
  struct side dst = {NULL, p->dstXInBytes, p->dstY, p->dstZ, p->dstPitch, p->dstHeight};
  *devices = 0;
  hipError_t error = side_of(p->srcMemoryType, p->srcHost, p->srcDevice, p->srcArray, SRC_DEVICE, p, &src, devices);
  if (error == hipSuccess)
    error = side_of(p->dstMemoryType, p->dstHost, p->dstDevice, p->dstArray, DST_DEVICE, p, &dst, devices);
  if (error != hipSuccess) return error;
  *c = (struct copy){.width = p->WidthInBytes, .height = p->Height, .depth = p->Depth};
  return place(c, &dst, &src);
}

static HIP_MEMCPY3D from_2d(const hip_Memcpy2D *p) {
  return (HIP_MEMCPY3D){
      .srcXInBytes = p->srcXInBytes, .srcY = p->srcY, .srcMemoryType = p->srcMemoryType, .srcHost = p->srcHost,
      .srcDevice = p->srcDevice, .srcArray = p->srcArray, .srcPitch = p->srcPitch,
      .dstXInBytes = p->dstXInBytes, .dstY = p->dstY, .dstMemoryType = p->dstMemoryType, .dstHost = p->dstHost,
      .dstDevice = p->dstDevice, .dstArray = p->dstArray, .dstPitch = p->dstPitch,
      .WidthInBytes = p->WidthInBytes, .Height = p->Height, .Depth = 1,
  };
}

static hipError_t copy_3d(const HIP_MEMCPY3D *p, hipStream_t stream, bool wait) {
  struct op op = {.kind = OP_COPY};
  int devices;
  hipError_t error = copy_of_3d(p, &op.copy, &devices);
  return error == hipSuccess ? run(&op, devices, stream, wait) : done(error);
}

hipError_t hipMemcpyParam2D(const hip_Memcpy2D *copy) {
  ENTER();
  if (!copy) return done(hipErrorInvalidValue);
  HIP_MEMCPY3D p = from_2d(copy);
  return copy_3d(&p, NULL, true);
}

hipError_t hipDrvMemcpy2DUnaligned(const hip_Memcpy2D *copy) { return hipMemcpyParam2D(copy); }

hipError_t hipMemcpyParam2DAsync(const hip_Memcpy2D *copy, hipStream_t stream) {
  ENTER();
  if (!copy) return done(hipErrorInvalidValue);
  HIP_MEMCPY3D p = from_2d(copy);
  return copy_3d(&p, stream, false);
}

hipError_t hipDrvMemcpy3D(const HIP_MEMCPY3D *copy) {
  ENTER();
  return copy ? copy_3d(copy, NULL, true) : done(hipErrorInvalidValue);
}

hipError_t hipDrvMemcpy3DAsync(const HIP_MEMCPY3D *copy, hipStream_t stream) {
  ENTER();
  return copy ? copy_3d(copy, stream, false) : done(hipErrorInvalidValue);
}

/* If an array is involved, widths and positions are in its elements. */
static hipError_t copy_of_arrays(const hipMemcpy3DParms *p, struct copy *c, int *devices) {
  size_t source = array_texel(p->srcArray), target = array_texel(p->dstArray), unit = source ? source : target;
  if (!unit || (p->srcArray && !source) || (p->dstArray && !target)) return hipErrorInvalidHandle;
  int known = devices_of(p->kind);
  HIP_MEMCPY3D whole = {
      .srcXInBytes = size_times(p->srcPos.x, source ? source : 1), .srcY = p->srcPos.y, .srcZ = p->srcPos.z,
      .srcMemoryType = source ? hipMemoryTypeArray : known & SRC_DEVICE ? hipMemoryTypeDevice : hipMemoryTypeUnified,
      .srcDevice = p->srcPtr.ptr, .srcArray = p->srcArray, .srcPitch = p->srcPtr.pitch, .srcHeight = p->srcPtr.ysize,
      .dstXInBytes = size_times(p->dstPos.x, target ? target : 1), .dstY = p->dstPos.y, .dstZ = p->dstPos.z,
      .dstMemoryType = target ? hipMemoryTypeArray : known & DST_DEVICE ? hipMemoryTypeDevice : hipMemoryTypeUnified,
      .dstDevice = p->dstPtr.ptr, .dstArray = p->dstArray, .dstPitch = p->dstPtr.pitch, .dstHeight = p->dstPtr.ysize,
      .WidthInBytes = size_times(p->extent.width, unit), .Height = p->extent.height, .Depth = p->extent.depth,
  };
  return copy_of_3d(&whole, c, devices);
}

hipError_t copy_of_parms(const hipMemcpy3DParms *p, struct copy *c, int *devices) {
  if (!kind_ok(p->kind)) return hipErrorInvalidMemcpyDirection;
  if (p->srcArray || p->dstArray) return copy_of_arrays(p, c, devices);
  *devices = devices_of(p->kind);
  const struct side dst = {p->dstPtr.ptr, p->dstPos.x, p->dstPos.y, p->dstPos.z, p->dstPtr.pitch, p->dstPtr.ysize};
  const struct side src = {p->srcPtr.ptr, p->srcPos.x, p->srcPos.y, p->srcPos.z, p->srcPtr.pitch, p->srcPtr.ysize};
  *c = (struct copy){.width = p->extent.width, .height = p->extent.height, .depth = p->extent.depth};
  hipError_t error = place(c, &dst, &src);
  bool narrow = c->height > 1 && (c->dst_pitch < c->width || c->src_pitch < c->width);
  return error == hipSuccess && narrow ? hipErrorInvalidPitchValue : error;
}

static hipError_t copy_parms(const hipMemcpy3DParms *p, hipStream_t stream, bool wait) {
  struct op op = {.kind = OP_COPY};
  int devices;
  if (!p) return done(hipErrorInvalidValue);
  hipError_t error = copy_of_parms(p, &op.copy, &devices);
  return error == hipSuccess ? run(&op, devices, stream, wait) : done(error);
}

hipError_t hipMemcpy3D(const hipMemcpy3DParms *copy) {
  ENTER();
  return copy_parms(copy, NULL, true);
}

hipError_t hipMemcpy3DAsync(const hipMemcpy3DParms *copy, hipStream_t stream) {
  ENTER();
  return copy_parms(copy, stream, false);
}

/* Fills */

bool fill_ok(const struct fill *f) {
  return pitched_ok(f->dst, f->pitch, 0, size_times(f->width, f->element), f->height, 1, true);
}

hipError_t fill_check(const struct fill *f) {
  if (f->element != 1 && f->element != 2 && f->element != 4) return hipErrorInvalidValue;
  if ((uint64_t)f->dst % f->element || (f->height > 1 && f->pitch % f->element)) return hipErrorInvalidValue;
  if (f->height > 1 && f->pitch < size_times(f->width, f->element)) return hipErrorInvalidPitchValue;
  return fill_ok(f) ? hipSuccess : hipErrorInvalidValue;
}

/* Fills of device memory return at once even without a stream: the null stream orders them. */
static hipError_t fill(void *dst, size_t pitch, uint32_t value, unsigned element, size_t width, size_t height,
                       hipStream_t stream, bool wait) {
  struct op op = {.kind = OP_FILL, .fill = {dst, pitch, width, height, element, value}};
  hipError_t error = fill_check(&op.fill);
  if (error != hipSuccess) return done(error);
  if (!width || !height) return hipSuccess;
  return run(&op, 0, stream, wait);
}

hipError_t hipMemset(void *dst, int value, size_t size) {
  ENTER();
  return fill(dst, size, (uint8_t)value, 1, size, 1, NULL, true);
}
hipError_t hipMemsetAsync(void *dst, int value, size_t size, hipStream_t stream) {
  ENTER();
  return fill(dst, size, (uint8_t)value, 1, size, 1, stream, false);
}
hipError_t hipMemset2D(void *dst, size_t pitch, int value, size_t width, size_t height) {
  ENTER();
  return fill(dst, pitch, (uint8_t)value, 1, width, height, NULL, true);
}
hipError_t hipMemset2DAsync(void *dst, size_t pitch, int value, size_t width, size_t height, hipStream_t stream) {
  ENTER();
  return fill(dst, pitch, (uint8_t)value, 1, width, height, stream, false);
}

#define FILLS(bits, type, type2d)                                                                            \
  hipError_t hipMemsetD##bits(hipDeviceptr_t dst, type value, size_t count) {                                \
    ENTER();                                                                                                 \
    return fill(dst, 0, (uint##bits##_t)value, bits / 8, count, 1, NULL, true);                              \
  }                                                                                                          \
  hipError_t hipMemsetD##bits##Async(hipDeviceptr_t dst, type value, size_t count, hipStream_t stream) {     \
    ENTER();                                                                                                 \
    return fill(dst, 0, (uint##bits##_t)value, bits / 8, count, 1, stream, false);                           \
  }                                                                                                          \
  hipError_t hipMemsetD2D##bits(hipDeviceptr_t dst, size_t pitch, type2d value, size_t width, size_t height) { \
    ENTER();                                                                                                 \
    return fill(dst, pitch, (uint##bits##_t)value, bits / 8, width, height, NULL, true);                     \
  }                                                                                                          \
  hipError_t hipMemsetD2D##bits##Async(hipDeviceptr_t dst, size_t pitch, type2d value, size_t width,         \
                                       size_t height, hipStream_t stream) {                                  \
    ENTER();                                                                                                 \
    return fill(dst, pitch, (uint##bits##_t)value, bits / 8, width, height, stream, false);                  \
  }
FILLS(8, unsigned char, unsigned char)
FILLS(16, unsigned short, unsigned short)
FILLS(32, int, unsigned)
