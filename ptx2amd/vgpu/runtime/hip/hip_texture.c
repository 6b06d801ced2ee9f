/* Texture and surface objects. A handle is the address of descriptors in device memory, in the format of HIP's device
 * headers: the image's in dwords 0 to 7 (for linear memory the buffer's in 0 to 3), the types of its channels in 8 and
 * 9, the sampler's from 12. */
#include <stdlib.h>
#include <string.h>

#include "decode.h"
#include "hip_array.h"
#include "hip_state.h"
#include "image.h"

enum { OBJECT_BYTES = 256, CHANNEL_TYPE = 8, CHANNEL_ORDER = 9, WIDTH = 10, SAMPLER = 12 };

struct object {
  uint32_t *dwords;
  bool surface;
  hipResourceDesc resource;
  hipTextureDesc texture;
  struct object *next;
};
static struct object *objects;
static pthread_mutex_t objects_lock = PTHREAD_MUTEX_INITIALIZER;

/* The HSA runtime's numbers for channels: their type by format (normalised ones are lower by 8 or 9), their order. */
static uint32_t channel_type(hipArray_Format f, bool normalized) {
  switch (f) {
    case HIP_AD_FORMAT_SIGNED_INT8: return normalized ? 0 : 8;
    case HIP_AD_FORMAT_SIGNED_INT16: return normalized ? 1 : 9;
    case HIP_AD_FORMAT_SIGNED_INT32: return 10;
    case HIP_AD_FORMAT_UNSIGNED_INT8: return normalized ? 2 : 11;
    case HIP_AD_FORMAT_UNSIGNED_INT16: return normalized ? 3 : 12;
    case HIP_AD_FORMAT_UNSIGNED_INT32: return 13;
    case HIP_AD_FORMAT_HALF: return 14;
    default: return 15;
  }
}
static uint32_t channel_order(unsigned channels, bool srgb) {
  return srgb ? 14 : channels == 1 ? 1 : channels == 2 ? 3 : 8;
}

static void plan_format(struct image_plan *p, hipArray_Format f, unsigned channels, bool normalized, bool srgb) {
  static const uint8_t data[3][3] = {{1, 3, 10}, {2, 5, 12}, {4, 11, 14}};
  unsigned bytes = channel_bytes(f);
  bool is_signed = f >= HIP_AD_FORMAT_SIGNED_INT8, whole = f < HIP_AD_FORMAT_HALF;
  p->data = data[bytes / 2][channels / 2];
  p->number = !whole ? NUMBER_FLOAT : srgb ? NUMBER_SRGB : normalized ? is_signed : NUMBER_UINT + is_signed;
  for (unsigned k = 0; k < 4; k++) p->select[k] = (uint8_t)(k < channels ? 4 + k : k == 3);
}

/* The resource of an object: the format is set already. */
static hipError_t plan_array(struct image_plan *p, const struct hipArray *a) {
  const HIP_ARRAY3D_DESCRIPTOR *d = &a->d;
  p->base = (uint64_t)a->data;
  p->width = (uint32_t)d->Width;
  p->height = d->Height ? (uint32_t)d->Height : 1;
  p->last = d->Depth ? (uint32_t)d->Depth - 1 : 0;
  p->pitch = (uint32_t)(a->pitch / a->texel);
  p->dim = d->Flags & hipArrayCubemap ? DIM_CUBE : d->Flags & hipArrayLayered ? d->Height ? DIM_2D_ARRAY : DIM_1D_ARRAY
         : d->Depth ? DIM_3D : d->Height ? DIM_2D : DIM_1D;
  return hipSuccess;
}

static hipError_t plan_pitched(struct image_plan *p, const hipResourceDesc *r, unsigned texel) {
  size_t pitch = r->res.pitch2D.pitchInBytes;
  size_t width = r->res.pitch2D.width, height = r->res.pitch2D.height;
  uint64_t base = (uint64_t)r->res.pitch2D.devPtr;
  if (!base || base % 256 || !width || !height || pitch % texel || pitch < width * texel) return hipErrorInvalidValue;
  if (width > 16384 || height > 16384 || pitch / texel > 16384) return hipErrorInvalidValue;
  p->base = base;
  p->dim = DIM_2D;
  p->width = (uint32_t)width, p->height = (uint32_t)height, p->pitch = (uint32_t)(pitch / texel);
  return hipSuccess;
}

/* The resource's descriptor and the dwords about its channels. t NULL: a surface. */
static hipError_t write_resource(const hipResourceDesc *r, const hipTextureDesc *t, unsigned generation, uint32_t *out) {
  struct image_plan plan = {0};
  hipArray_Format format;
  unsigned channels;
  const struct hipArray *array = NULL;
  if (r->resType == hipResourceTypeArray) {
    if (!(array = array_checked(r->res.array.array))) return hipErrorInvalidHandle;
    format = array->d.Format, channels = array->d.NumChannels;
  } else if (r->resType == hipResourceTypeMipmappedArray || !t) {
    return hipErrorNotSupported;
  } else if (!channels_of(r->resType == hipResourceTypeLinear ? &r->res.linear.desc : &r->res.pitch2D.desc, &format, &channels)) {
    return hipErrorInvalidValue;
  }
  unsigned texel = channel_bytes(format) * channels;
  bool whole = format < HIP_AD_FORMAT_HALF, normalized = t && t->readMode == hipReadModeNormalizedFloat && whole;
  bool srgb = t && t->sRGB && normalized && channels == 4 && format == HIP_AD_FORMAT_UNSIGNED_INT8;
  if (normalized && channel_bytes(format) == 4) return hipErrorInvalidValue;
  if (t && t->filterMode == hipFilterModeLinear && whole && !normalized) return hipErrorInvalidValue;
  plan_format(&plan, format, channels, normalized, srgb);
  out[CHANNEL_TYPE] = channel_type(format, normalized);
  out[CHANNEL_ORDER] = channel_order(channels, srgb);
  bool known;
  if (r->resType == hipResourceTypeLinear) {
    size_t n = r->res.linear.sizeInBytes / texel;
    plan.base = (uint64_t)r->res.linear.devPtr;
    if (!plan.base || !n || n > UINT32_MAX) return hipErrorInvalidValue;
    plan.width = (uint32_t)n;
    known = image_write_buffer(&plan, generation, texel, out);
  } else {
    hipError_t error = array ? plan_array(&plan, array) : plan_pitched(&plan, r, texel);
    if (error != hipSuccess) return error;
    known = image_write(&plan, generation, out);
  }
  out[WIDTH] = plan.width;
  return known ? hipSuccess : hipErrorNotSupported;
}

static hipError_t write_sampler(const hipTextureDesc *t, unsigned generation, uint32_t *out) {
  struct sampler_plan plan = {.linear = t->filterMode == hipFilterModeLinear, .unnormalized = !t->normalizedCoords};
  static const uint8_t modes[] = {[hipAddressModeWrap] = 0, [hipAddressModeClamp] = 2, [hipAddressModeMirror] = 1,
                                  [hipAddressModeBorder] = 6};
  bool bordered = false;
  for (unsigned k = 0; k < 3; k++) {
    if ((unsigned)t->addressMode[k] > hipAddressModeBorder) return hipErrorInvalidValue;
    plan.clamp[k] = modes[t->addressMode[k]];
    if (plan.unnormalized && plan.clamp[k] < 2) plan.clamp[k] = 2;   /* wrapping requires normalised coordinates */
    bordered |= t->addressMode[k] == hipAddressModeBorder;
  }
  static const float colours[3][4] = {{0, 0, 0, 0}, {0, 0, 0, 1}, {1, 1, 1, 1}};
  while (bordered && plan.border < 3 && memcmp(t->borderColor, colours[plan.border], sizeof colours[0])) plan.border++;
  if (plan.border == 3) return hipErrorNotSupported;   /* would require a table of the driver */
  sampler_write(&plan, generation, out + SAMPLER);
  return hipSuccess;
}

static hipError_t create(void **out, const hipResourceDesc *r, const hipTextureDesc *t) {
  const struct arch *arch = device_current()->arch;
  uint32_t dwords[OBJECT_BYTES / 4] = {0};
  if (!out || !r) return hipErrorInvalidValue;
  if (!arch->images) return hipErrorNotSupported;
  hipError_t error = write_resource(r, t, arch->generation, dwords);
  if (error == hipSuccess && t) error = write_sampler(t, arch->generation, dwords);
  if (error != hipSuccess) return error;
  struct object *o = calloc(1, sizeof *o);
  void *memory = NULL;
  if (!o) return hipErrorOutOfMemory;
  if ((error = hipMalloc(&memory, OBJECT_BYTES)) != hipSuccess) {
    free(o);
    return error;
  }
  memcpy(memory, dwords, sizeof dwords);
  o->dwords = memory;
  o->surface = !t;
  o->resource = *r;
  if (t) o->texture = *t;
  pthread_mutex_lock(&objects_lock);
  o->next = objects;
  objects = o;
  pthread_mutex_unlock(&objects_lock);
  *out = memory;
  return hipSuccess;
}

/* The link to a live object. The caller holds the lock. */
static struct object **find(const void *handle, bool surface) {
  struct object **link = &objects;
  while (*link && ((const void *)(*link)->dwords != handle || (*link)->surface != surface)) link = &(*link)->next;
  return link;
}

static hipError_t destroy(const void *handle, bool surface) {
  if (!handle) return hipSuccess;
  pthread_mutex_lock(&objects_lock);
  struct object **link = find(handle, surface), *o = *link;
  if (o) *link = o->next;
  pthread_mutex_unlock(&objects_lock);
  if (!o) return hipErrorInvalidValue;
  hipError_t error = hipFree(o->dwords);
  free(o);
  return error;
}

hipError_t hipCreateTextureObject(hipTextureObject_t *texture, const hipResourceDesc *resource, const hipTextureDesc *descriptor,
                                  const hipResourceViewDesc *view) {
  ENTER();
  if (!descriptor) return done(hipErrorInvalidValue);
  return done(view ? hipErrorNotSupported : create((void **)texture, resource, descriptor));
}
hipError_t hipDestroyTextureObject(hipTextureObject_t texture) {
  ENTER();
  return done(destroy(texture, false));
}
hipError_t hipCreateSurfaceObject(hipSurfaceObject_t *surface, const hipResourceDesc *resource) {
  ENTER();
  return done(create((void **)surface, resource, NULL));
}
hipError_t hipDestroySurfaceObject(hipSurfaceObject_t surface) {
  ENTER();
  return done(destroy(surface, true));
}

hipError_t hipGetTextureObjectResourceDesc(hipResourceDesc *resource, hipTextureObject_t texture) {
  ENTER();
  pthread_mutex_lock(&objects_lock);
  struct object *o = *find(texture, false);
  if (o && resource) *resource = o->resource;
  pthread_mutex_unlock(&objects_lock);
  return done(o && resource ? hipSuccess : hipErrorInvalidValue);
}
hipError_t hipGetTextureObjectTextureDesc(hipTextureDesc *descriptor, hipTextureObject_t texture) {
  ENTER();
  pthread_mutex_lock(&objects_lock);
  struct object *o = *find(texture, false);
  if (o && descriptor) *descriptor = o->texture;
  pthread_mutex_unlock(&objects_lock);
  return done(o && descriptor ? hipSuccess : hipErrorInvalidValue);
}
