/* Texture and surface objects: descriptors in device memory that translated kernels read (docs/internals/textures.md). An object's handle is its descriptor's address. */
#include <stdlib.h>
#include <string.h>

#include "mipmap.h"
#include "texture.h"

enum { READ_AS_INTEGER = 1, NORMALIZED = 2, SRGB = 0x10 };   /* flags of programs */
enum { FORMAT_UNSIGNED_INT8 = 0x01, FORMAT_HALF = 0x10 };

struct object {
  struct object *next;
  uint64_t address;
  int kind;
  CUDA_RESOURCE_DESC resource;
  CUDA_TEXTURE_DESC texture;
  CUDA_RESOURCE_VIEW_DESC view;
  bool viewed;
};

static struct object *objects;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void array_describe(const struct array *a, struct texture_descriptor *d) {
  bool layered = a->d.Flags & (ARRAY_LAYERED | ARRAY_CUBEMAP);
  *d = (struct texture_descriptor){
      .base = a->base, .slice = a->slice, .pitch = (uint32_t)a->pitch, .width = (uint32_t)a->d.Width,
      .height = (uint32_t)a->d.Height, .depth = layered ? 0 : (uint32_t)a->d.Depth,
      .layers = layered ? (uint32_t)a->d.Depth : 0, .format = (uint32_t)a->d.Format, .channels = a->d.NumChannels};
}

/* What a resource is, without how it is read. */
static CUresult of_resource(const CUDA_RESOURCE_DESC *r, struct texture_descriptor *d) {
  size_t texel;
  switch (r->resType) {
    case RESOURCE_ARRAY: {
      struct array *a = array_checked(r->res.array.hArray);
      if (a) array_describe(a, d);
      return a ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
    }
    case RESOURCE_LINEAR:
      texel = texel_bytes(r->res.linear.format, r->res.linear.numChannels);
      if (!texel || !r->res.linear.devPtr || r->res.linear.devPtr % texel || r->res.linear.sizeInBytes < texel ||
          r->res.linear.sizeInBytes / texel > 1u << 28)
        return CUDA_ERROR_INVALID_VALUE;
      *d = (struct texture_descriptor){
          .base = r->res.linear.devPtr, .width = (uint32_t)(r->res.linear.sizeInBytes / texel),
          .format = (uint32_t)r->res.linear.format, .channels = r->res.linear.numChannels};
      return CUDA_SUCCESS;
    case RESOURCE_PITCH_2D:
      texel = texel_bytes(r->res.pitch2D.format, r->res.pitch2D.numChannels);
      if (!texel || !r->res.pitch2D.devPtr || r->res.pitch2D.devPtr % texel || !r->res.pitch2D.width ||
          !r->res.pitch2D.height || r->res.pitch2D.width > 1u << 20 || r->res.pitch2D.height > 1u << 20 ||
          r->res.pitch2D.pitchInBytes < r->res.pitch2D.width * texel || r->res.pitch2D.pitchInBytes % texel ||
          r->res.pitch2D.pitchInBytes > UINT32_MAX)
        return CUDA_ERROR_INVALID_VALUE;
      *d = (struct texture_descriptor){
          .base = r->res.pitch2D.devPtr, .pitch = (uint32_t)r->res.pitch2D.pitchInBytes,
          .width = (uint32_t)r->res.pitch2D.width, .height = (uint32_t)r->res.pitch2D.height,
          .format = (uint32_t)r->res.pitch2D.format, .channels = r->res.pitch2D.numChannels};
      return CUDA_SUCCESS;
    case RESOURCE_MIPMAP: {
      struct mipmap *m = mipmap_checked(r->res.mipmap.hMipmappedArray);
      if (!m) return CUDA_ERROR_INVALID_HANDLE;
      array_describe(m->level[0], d);
      d->levels = m->levels;
      d->table = m->table;
      return CUDA_SUCCESS;
    }
    default: return CUDA_ERROR_INVALID_VALUE;
  }
}

static bool is_integer(uint32_t format) { return format < 0x10; }

/* A finite number or infinity as a half float, rounded towards zero. */
static uint32_t half_towards_zero(float x) {
  uint32_t bits, sign;
  memcpy(&bits, &x, sizeof bits);
  sign = bits >> 16 & 0x8000, bits &= 0x7fffffff;
  if (bits > 0x7f800000) return sign | 0x7fff;
  if (bits == 0x7f800000) return sign | 0x7c00;
  if (bits >= 0x47800000) return sign | 0x7bff;
  if (bits < 0x38800000) return sign | (uint32_t)((x < 0 ? -x : x) * 0x1p24f);
  return sign | ((bits - 0x38000000) >> 13);
}

/* A channel of the border's colour as a texel of the format holds it, as NVIDIA's GPUs make it of the program's number:
   integers that are read as such have the low bits of the float; fractions are rounded to the nearest, and down from
   the middle. */
static uint32_t border_channel(float x, uint32_t format, bool whole) {
  static const struct { float limit; uint32_t mask; bool negative; } small[] = {
      [0x01] = {255, 0xff, false}, [0x02] = {65535, 0xffff, false},
      [0x08] = {127, 0xff, true}, [0x09] = {32767, 0xffff, true}};
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  if (format == FORMAT_HALF) return half_towards_zero(x);
  if (format >= sizeof small / sizeof *small || !small[format].mask) return bits;
  if (whole) return bits & small[format].mask;
  float size = x < 0 ? (small[format].negative ? -x : 0) : x;
  if (!(size == size)) return 0;
  size = size < 1 ? size * small[format].limit : small[format].limit;
  uint32_t n = (uint32_t)size;
  n += size - (float)n > 0.5f;
  return (x < 0 ? -n : n) & small[format].mask;
}

/* How a texture is read. */
static CUresult read_as(const CUDA_TEXTURE_DESC *t, bool linear, struct texture_descriptor *d) {
  for (int i = 0; i < 3; i++) {
    if (t->addressMode[i] < 0 || t->addressMode[i] > ADDRESS_BORDER) return CUDA_ERROR_INVALID_VALUE;
    d->modes[i] = linear ? ADDRESS_BORDER : (uint32_t)t->addressMode[i];
    if (!(t->flags & NORMALIZED) && d->modes[i] != ADDRESS_BORDER) d->modes[i] = ADDRESS_CLAMP;
  }
  bool whole = is_integer(d->format) && ((t->flags & READ_AS_INTEGER) || d->size == 4);
  if (t->filterMode < 0 || t->filterMode > 1) return CUDA_ERROR_INVALID_VALUE;
  d->filter = linear || whole ? 0 : (uint32_t)t->filterMode;
  bool bytes = d->format == FORMAT_UNSIGNED_INT8 && !whole;
  d->flags = (whole ? TEXTURE_INTEGERS : 0u) | (t->flags & NORMALIZED ? TEXTURE_NORMALIZED : 0u) |
             ((t->flags & SRGB) && bytes ? TEXTURE_SRGB : 0u);
  if (t->mipmapFilterMode < 0 || t->mipmapFilterMode > 1) return CUDA_ERROR_INVALID_VALUE;
  d->blend = (uint32_t)t->mipmapFilterMode;
  d->bias = t->mipmapLevelBias, d->least = t->minMipmapLevelClamp, d->most = t->maxMipmapLevelClamp;
  if (!linear)
    for (int i = 0; i < 4; i++) d->border[i] = border_channel(t->borderColor[i], d->format, whole);
  return CUDA_SUCCESS;
}

/* Some levels of a mipmap. */
static CUresult view_levels(const CUDA_RESOURCE_DESC *r, const CUDA_RESOURCE_VIEW_DESC *v, struct texture_descriptor *d) {
  if (r->resType != RESOURCE_MIPMAP) return v->firstMipmapLevel || v->lastMipmapLevel ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
  if (v->firstMipmapLevel > v->lastMipmapLevel || v->lastMipmapLevel >= d->levels) return CUDA_ERROR_INVALID_VALUE;
  if (v->firstLayer) return CUDA_ERROR_NOT_SUPPORTED; /* the table is for views of all layers */
  array_describe(mipmap_checked(r->res.mipmap.hMipmappedArray)->level[v->firstMipmapLevel], d);
  d->levels = v->lastMipmapLevel - v->firstMipmapLevel + 1;
  d->table = mipmap_checked(r->res.mipmap.hMipmappedArray)->table + v->firstMipmapLevel * sizeof(struct texture_level);
  return CUDA_SUCCESS;
}

/* Texels of a view that is another format of the same size. */
static CUresult view_as(const CUDA_RESOURCE_VIEW_DESC *v, struct texture_descriptor *d) {
  static const uint8_t formats[] = {0x01, 0x08, 0x02, 0x09, 0x03, 0x0a, 0x10, 0x20}, channels[] = {1, 2, 4};
  if (v->format < 0) return CUDA_ERROR_INVALID_VALUE;
  if (v->format > 24) return CUDA_ERROR_NOT_SUPPORTED; /* block-compressed */
  if (v->format) {
    uint32_t format = formats[(v->format - 1) / 3], count = channels[(v->format - 1) % 3];
    if (texel_bytes((CUarray_format)format, count) != texel_bytes((CUarray_format)d->format, d->channels))
      return CUDA_ERROR_INVALID_VALUE;
    d->format = format, d->channels = count;
  }
  if (d->layers) {
    if (v->firstLayer > v->lastLayer || v->lastLayer >= d->layers) return CUDA_ERROR_INVALID_VALUE;
    d->base += v->firstLayer * d->slice;
    d->layers = v->lastLayer - v->firstLayer + 1;
  }
  return CUDA_SUCCESS;
}

CUresult texture_describe(const CUDA_RESOURCE_DESC *resource, const CUDA_TEXTURE_DESC *how,
                          const CUDA_RESOURCE_VIEW_DESC *view, struct texture_descriptor *d) {
  CUresult result = of_resource(resource, d);
  if (!result && view) result = view_levels(resource, view, d);
  if (!result && view) result = view_as(view, d);
  if (result) return result;
  d->texel = texel_bytes((CUarray_format)d->format, d->channels);
  d->size = d->texel / d->channels;
  d->kind = KIND_TEXTURE;
  return read_as(how, resource->resType == RESOURCE_LINEAR, d);
}

CUresult surface_describe(const CUDA_RESOURCE_DESC *resource, struct texture_descriptor *d) {
  if (resource->resType != RESOURCE_ARRAY) return CUDA_ERROR_INVALID_VALUE;
  CUresult result = of_resource(resource, d);
  if (result) return result;
  d->texel = texel_bytes((CUarray_format)d->format, d->channels);
  d->size = d->texel / d->channels;
  d->kind = KIND_SURFACE;
  return CUDA_SUCCESS;
}

static CUresult publish(struct object *o, const struct texture_descriptor *d, unsigned long long *handle) {
  struct object *kept = malloc(sizeof *kept);
  if (!kept) return CUDA_ERROR_OUT_OF_MEMORY;
  int error = hip.Malloc((void **)&o->address, sizeof *d);
  if (!error) {
    error = hip.MemcpyHtoD((void *)o->address, d, sizeof *d);
    if (error) hip.Free((void *)o->address);
  }
  if (error) {
    free(kept);
    return from_hip(error);
  }
  pthread_mutex_lock(&lock);
  *kept = *o;
  kept->next = objects;
  objects = kept;
  pthread_mutex_unlock(&lock);
  *handle = o->address;
  return CUDA_SUCCESS;
}

static bool found(unsigned long long handle, int kind, bool take, struct object *out) {
  bool hit = false;
  pthread_mutex_lock(&lock);
  for (struct object **at = &objects; *at && !hit; at = hit ? at : &(*at)->next)
    if ((*at)->address == handle && (*at)->kind == kind) {
      struct object *o = *at;
      *out = *o;
      hit = true;
      if (take) {
        *at = o->next;
        free(o);
        break;
      }
    }
  pthread_mutex_unlock(&lock);
  return hit;
}

/* The descriptor outlives its object by as many others as this: COLMAP, which runs on NVIDIA's GPUs, launches kernels with
   objects that it has just destroyed. */
enum { RETIRED = 64 };

static CUresult destroy(unsigned long long handle, int kind) {
  static uint64_t retired[RETIRED];
  static unsigned next;
  struct object o;
  if (!found(handle, kind, true, &o)) return CUDA_ERROR_INVALID_VALUE;
  pthread_mutex_lock(&lock);
  uint64_t oldest = retired[next];
  retired[next] = o.address;
  next = (next + 1) % RETIRED;
  pthread_mutex_unlock(&lock);
  hip_internal((void *)o.address); /* not a leak of the program */
  if (oldest) hip.Free((void *)oldest); /* fails if the device has been reset since, which freed it */
  return CUDA_SUCCESS;
}

CUresult cuTexObjectCreate(CUtexObject *pTexObject, const CUDA_RESOURCE_DESC *pResDesc,
                           const CUDA_TEXTURE_DESC *pTexDesc, const CUDA_RESOURCE_VIEW_DESC *pResViewDesc) {
  if (!pTexObject || !pResDesc || !pTexDesc) return CUDA_ERROR_INVALID_VALUE;
  struct texture_descriptor d;
  CUresult result = texture_describe(pResDesc, pTexDesc, pResViewDesc, &d);
  if (result) return result;
  struct object o = {.kind = KIND_TEXTURE, .resource = *pResDesc, .texture = *pTexDesc, .viewed = pResViewDesc};
  if (pResViewDesc) o.view = *pResViewDesc;
  return publish(&o, &d, pTexObject);
}

CUresult cuSurfObjectCreate(CUsurfObject *pSurfObject, const CUDA_RESOURCE_DESC *pResDesc) {
  if (!pSurfObject || !pResDesc) return CUDA_ERROR_INVALID_VALUE;
  struct texture_descriptor d;
  CUresult result = surface_describe(pResDesc, &d);
  if (result) return result;
  struct object o = {.kind = KIND_SURFACE, .resource = *pResDesc};
  return publish(&o, &d, pSurfObject);
}

/* Success for what is no object, too: COLMAP destroys objects twice, and would stop at an error. */
CUresult cuTexObjectDestroy(CUtexObject texObject) {
  destroy(texObject, KIND_TEXTURE);
  return CUDA_SUCCESS;
}

CUresult cuSurfObjectDestroy(CUsurfObject surfObject) {
  destroy(surfObject, KIND_SURFACE);
  return CUDA_SUCCESS;
}

CUresult cuTexObjectGetResourceDesc(CUDA_RESOURCE_DESC *pResDesc, CUtexObject texObject) {
  struct object o;
  if (!pResDesc || !found(texObject, KIND_TEXTURE, false, &o)) return CUDA_ERROR_INVALID_VALUE;
  *pResDesc = o.resource;
  return CUDA_SUCCESS;
}

CUresult cuTexObjectGetTextureDesc(CUDA_TEXTURE_DESC *pTexDesc, CUtexObject texObject) {
  struct object o;
  if (!pTexDesc || !found(texObject, KIND_TEXTURE, false, &o)) return CUDA_ERROR_INVALID_VALUE;
  *pTexDesc = o.texture;
  return CUDA_SUCCESS;
}

CUresult cuTexObjectGetResourceViewDesc(CUDA_RESOURCE_VIEW_DESC *pResViewDesc, CUtexObject texObject) {
  struct object o;
  if (!pResViewDesc || !found(texObject, KIND_TEXTURE, false, &o)) return CUDA_ERROR_INVALID_VALUE;
  *pResViewDesc = o.viewed ? o.view : (CUDA_RESOURCE_VIEW_DESC){0};
  return CUDA_SUCCESS;
}

CUresult cuSurfObjectGetResourceDesc(CUDA_RESOURCE_DESC *pResDesc, CUsurfObject surfObject) {
  struct object o;
  if (!pResDesc || !found(surfObject, KIND_SURFACE, false, &o)) return CUDA_ERROR_INVALID_VALUE;
  *pResDesc = o.resource;
  return CUDA_SUCCESS;
}
