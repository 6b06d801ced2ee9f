/* Texture and surface references: variables of a module that are descriptors. Whatever a program sets is written
 * into the variable once something is bound. */
#include <string.h>

#include "mipmap.h"
#include "module.h"
#include "texture.h"

struct reference {
  struct handle h;
  CUdeviceptr variable; /* 0: made by cuTexRefCreate */
  bool surface, bound;
  CUDA_RESOURCE_DESC resource;
  CUDA_TEXTURE_DESC how;
  CUarray_format format;
  int channels;
};
FITS(struct reference, SLOT_REFERENCE);

enum { FORMAT_FLOAT = 0x20, MODE_CLAMP = 1, OVERRIDE_FORMAT = 1, KNOWN_FLAGS = 3 };

static struct reference *checked(const void *handle, bool surface) {
  struct reference *r = handle_ok(HANDLE_REFERENCE, handle) ? (struct reference *)handle : NULL;
  return r && r->surface == surface ? r : NULL;
}

static struct reference *reference_new(CUdeviceptr variable, bool surface) {
  struct reference *r = handle_new(HANDLE_REFERENCE);
  if (!r) return NULL;
  r->variable = variable;
  r->surface = surface;
  r->format = FORMAT_FLOAT;
  r->channels = 1;
  for (int i = 0; i < 3; i++) r->how.addressMode[i] = MODE_CLAMP;
  return r;
}

/* The reference that a variable of a module is; the same handle each time. */
static CUresult of_module(void **handle, CUmodule hmod, const char *name, bool surface) {
  CUdeviceptr variable;
  size_t size;
  if (!handle || !name) return CUDA_ERROR_INVALID_VALUE;
  CUresult result = cuModuleGetGlobal_v2(&variable, &size, hmod, name);
  if (result) return result;
  if (size != sizeof(struct texture_descriptor)) return CUDA_ERROR_NOT_FOUND;
  struct reference *r = NULL;
  while ((r = handle_next(HANDLE_REFERENCE, r)))
    if (r->variable == variable && r->surface == surface) break;
  if (!r) r = reference_new(variable, surface);
  *handle = r;
  return r ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult cuModuleGetTexRef(CUtexref *pTexRef, CUmodule hmod, const char *name) {
  return of_module((void **)pTexRef, hmod, name, false);
}

CUresult cuModuleGetSurfRef(CUsurfref *pSurfRef, CUmodule hmod, const char *name) {
  return of_module((void **)pSurfRef, hmod, name, true);
}

/* Describe what is bound, and let kernels see it. */
static CUresult publish(struct reference *r) {
  struct texture_descriptor d;
  if (!r->bound || !r->variable) return CUDA_SUCCESS;
  CUresult result =
      r->surface ? surface_describe(&r->resource, &d) : texture_describe(&r->resource, &r->how, NULL, &d);
  return result ? result : cuMemcpyHtoD_v2(r->variable, &d, sizeof d);
}

static CUresult bind(struct reference *r, const CUDA_RESOURCE_DESC *resource) {
  struct reference before = *r;
  r->resource = *resource;
  r->bound = true;
  CUresult result = publish(r);
  if (result) r->resource = before.resource, r->bound = before.bound;
  return result;
}

#define TEXTURE_REFERENCE(r, handle)              \
  struct reference *r = checked(handle, false);   \
  if (!r) return CUDA_ERROR_INVALID_HANDLE

CUresult cuTexRefCreate(CUtexref *pTexRef) {
  if (!pTexRef) return CUDA_ERROR_INVALID_VALUE;
  *pTexRef = (CUtexref)reference_new(0, false);
  return *pTexRef ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult cuTexRefDestroy(CUtexref hTexRef) {
  TEXTURE_REFERENCE(r, hTexRef);
  return handle_free(HANDLE_REFERENCE, r) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult cuTexRefSetArray(CUtexref hTexRef, CUarray hArray, unsigned int Flags) {
  TEXTURE_REFERENCE(r, hTexRef);
  struct array *a = array_checked(hArray);
  if (!a) return CUDA_ERROR_INVALID_HANDLE;
  if (Flags != OVERRIDE_FORMAT) return CUDA_ERROR_INVALID_VALUE;
  r->format = a->d.Format;
  r->channels = (int)a->d.NumChannels;
  return bind(r, &(CUDA_RESOURCE_DESC){.resType = RESOURCE_ARRAY, .res.array.hArray = hArray});
}

CUresult cuTexRefSetMipmappedArray(CUtexref hTexRef, CUmipmappedArray hMipmappedArray, unsigned int Flags) {
  TEXTURE_REFERENCE(r, hTexRef);
  struct mipmap *m = mipmap_checked(hMipmappedArray);
  if (!m) return CUDA_ERROR_INVALID_HANDLE;
  if (Flags != OVERRIDE_FORMAT) return CUDA_ERROR_INVALID_VALUE;
  r->format = m->d.Format;
  r->channels = (int)m->d.NumChannels;
  return bind(r, &(CUDA_RESOURCE_DESC){.resType = RESOURCE_MIPMAP, .res.mipmap.hMipmappedArray = hMipmappedArray});
}

CUresult cuTexRefSetAddress_v2(size_t *ByteOffset, CUtexref hTexRef, CUdeviceptr dptr, size_t bytes) {
  TEXTURE_REFERENCE(r, hTexRef);
  if (ByteOffset) *ByteOffset = 0;
  return bind(r, &(CUDA_RESOURCE_DESC){
                     .resType = RESOURCE_LINEAR,
                     .res.linear = {dptr, r->format, (unsigned)r->channels, bytes}});
}

CUresult cuTexRefSetAddress2D_v3(CUtexref hTexRef, const CUDA_ARRAY_DESCRIPTOR *desc, CUdeviceptr dptr, size_t Pitch) {
  TEXTURE_REFERENCE(r, hTexRef);
  if (!desc) return CUDA_ERROR_INVALID_VALUE;
  r->format = desc->Format;
  r->channels = (int)desc->NumChannels;
  return bind(r, &(CUDA_RESOURCE_DESC){
                     .resType = RESOURCE_PITCH_2D,
                     .res.pitch2D = {dptr, desc->Format, desc->NumChannels, desc->Width, desc->Height, Pitch}});
}

CUresult cuTexRefSetFormat(CUtexref hTexRef, CUarray_format fmt, int NumPackedComponents) {
  TEXTURE_REFERENCE(r, hTexRef);
  if (!texel_bytes(fmt, (unsigned)NumPackedComponents)) return CUDA_ERROR_INVALID_VALUE;
  r->format = fmt;
  r->channels = NumPackedComponents;
  return CUDA_SUCCESS;
}

CUresult cuTexRefSetAddressMode(CUtexref hTexRef, int dim, CUaddress_mode am) {
  TEXTURE_REFERENCE(r, hTexRef);
  if (dim < 0 || dim > 2 || am < 0 || am > 3) return CUDA_ERROR_INVALID_VALUE;
  r->how.addressMode[dim] = am;
  return publish(r);
}

CUresult cuTexRefSetFilterMode(CUtexref hTexRef, CUfilter_mode fm) {
  TEXTURE_REFERENCE(r, hTexRef);
  if (fm < 0 || fm > 1) return CUDA_ERROR_INVALID_VALUE;
  r->how.filterMode = fm;
  return publish(r);
}

CUresult cuTexRefSetFlags(CUtexref hTexRef, unsigned int Flags) {
  TEXTURE_REFERENCE(r, hTexRef);
  if (Flags & ~(unsigned)KNOWN_FLAGS) return CUDA_ERROR_NOT_SUPPORTED;
  r->how.flags = Flags;
  return publish(r);
}

CUresult cuTexRefSetBorderColor(CUtexref hTexRef, float *pBorderColor) {
  TEXTURE_REFERENCE(r, hTexRef);
  if (!pBorderColor) return CUDA_ERROR_INVALID_VALUE;
  memcpy(r->how.borderColor, pBorderColor, sizeof r->how.borderColor);
  return publish(r);
}

/* Anisotropy is a matter of quality. */
CUresult cuTexRefSetMaxAnisotropy(CUtexref hTexRef, unsigned int maxAniso) {
  TEXTURE_REFERENCE(r, hTexRef);
  r->how.maxAnisotropy = maxAniso;
  return CUDA_SUCCESS;
}

/* Levels of detail matter to mipmaps only; the values are remembered. */
CUresult cuTexRefSetMipmapFilterMode(CUtexref hTexRef, CUfilter_mode fm) {
  TEXTURE_REFERENCE(r, hTexRef);
  if (fm < 0 || fm > 1) return CUDA_ERROR_INVALID_VALUE;
  r->how.mipmapFilterMode = fm;
  return publish(r);
}

CUresult cuTexRefSetMipmapLevelBias(CUtexref hTexRef, float bias) {
  TEXTURE_REFERENCE(r, hTexRef);
  r->how.mipmapLevelBias = bias;
  return publish(r);
}

CUresult cuTexRefSetMipmapLevelClamp(CUtexref hTexRef, float minMipmapLevelClamp, float maxMipmapLevelClamp) {
  TEXTURE_REFERENCE(r, hTexRef);
  r->how.minMipmapLevelClamp = minMipmapLevelClamp;
  r->how.maxMipmapLevelClamp = maxMipmapLevelClamp;
  return publish(r);
}

CUresult cuTexRefGetMipmapFilterMode(CUfilter_mode *pfm, CUtexref hTexRef) {
  TEXTURE_REFERENCE(r, hTexRef);
  if (!pfm) return CUDA_ERROR_INVALID_VALUE;
  *pfm = r->how.mipmapFilterMode;
  return CUDA_SUCCESS;
}

CUresult cuTexRefGetMipmapLevelBias(float *pbias, CUtexref hTexRef) {
  TEXTURE_REFERENCE(r, hTexRef);
  if (!pbias) return CUDA_ERROR_INVALID_VALUE;
  *pbias = r->how.mipmapLevelBias;
  return CUDA_SUCCESS;
}

CUresult cuTexRefGetMipmapLevelClamp(float *pminMipmapLevelClamp, float *pmaxMipmapLevelClamp, CUtexref hTexRef) {
  TEXTURE_REFERENCE(r, hTexRef);
  if (!pminMipmapLevelClamp || !pmaxMipmapLevelClamp) return CUDA_ERROR_INVALID_VALUE;
  *pminMipmapLevelClamp = r->how.minMipmapLevelClamp;
  *pmaxMipmapLevelClamp = r->how.maxMipmapLevelClamp;
  return CUDA_SUCCESS;
}

CUresult cuTexRefGetMaxAnisotropy(int *pmaxAniso, CUtexref hTexRef) {
  TEXTURE_REFERENCE(r, hTexRef);
  if (!pmaxAniso) return CUDA_ERROR_INVALID_VALUE;
  *pmaxAniso = (int)r->how.maxAnisotropy;
  return CUDA_SUCCESS;
}

CUresult cuTexRefGetBorderColor(float *pBorderColor, CUtexref hTexRef) {
  TEXTURE_REFERENCE(r, hTexRef);
  if (!pBorderColor) return CUDA_ERROR_INVALID_VALUE;
  memcpy(pBorderColor, r->how.borderColor, sizeof r->how.borderColor);
  return CUDA_SUCCESS;
}

CUresult cuTexRefGetAddress_v2(CUdeviceptr *pdptr, CUtexref hTexRef) {
  TEXTURE_REFERENCE(r, hTexRef);
  if (!pdptr || !r->bound || r->resource.resType == RESOURCE_ARRAY) return CUDA_ERROR_INVALID_VALUE;
  *pdptr = r->resource.resType == RESOURCE_LINEAR ? r->resource.res.linear.devPtr : r->resource.res.pitch2D.devPtr;
  return CUDA_SUCCESS;
}

CUresult cuTexRefGetArray(CUarray *phArray, CUtexref hTexRef) {
  TEXTURE_REFERENCE(r, hTexRef);
  if (!phArray || !r->bound || r->resource.resType != RESOURCE_ARRAY) return CUDA_ERROR_INVALID_VALUE;
  *phArray = r->resource.res.array.hArray;
  return CUDA_SUCCESS;
}

CUresult cuTexRefGetMipmappedArray(CUmipmappedArray *phMipmappedArray, CUtexref hTexRef) {
  TEXTURE_REFERENCE(r, hTexRef);
  if (!phMipmappedArray || !r->bound || r->resource.resType != RESOURCE_MIPMAP) return CUDA_ERROR_INVALID_VALUE;
  *phMipmappedArray = r->resource.res.mipmap.hMipmappedArray;
  return CUDA_SUCCESS;
}

CUresult cuTexRefGetAddressMode(CUaddress_mode *pam, CUtexref hTexRef, int dim) {
  TEXTURE_REFERENCE(r, hTexRef);
  if (!pam || dim < 0 || dim > 2) return CUDA_ERROR_INVALID_VALUE;
  *pam = r->how.addressMode[dim];
  return CUDA_SUCCESS;
}

CUresult cuTexRefGetFilterMode(CUfilter_mode *pfm, CUtexref hTexRef) {
  TEXTURE_REFERENCE(r, hTexRef);
  if (!pfm) return CUDA_ERROR_INVALID_VALUE;
  *pfm = r->how.filterMode;
  return CUDA_SUCCESS;
}

CUresult cuTexRefGetFormat(CUarray_format *pFormat, int *pNumChannels, CUtexref hTexRef) {
  TEXTURE_REFERENCE(r, hTexRef);
  if (pFormat) *pFormat = r->format;
  if (pNumChannels) *pNumChannels = r->channels;
  return CUDA_SUCCESS;
}

CUresult cuTexRefGetFlags(unsigned int *pFlags, CUtexref hTexRef) {
  TEXTURE_REFERENCE(r, hTexRef);
  if (!pFlags) return CUDA_ERROR_INVALID_VALUE;
  *pFlags = r->how.flags;
  return CUDA_SUCCESS;
}

CUresult cuSurfRefSetArray(CUsurfref hSurfRef, CUarray hArray, unsigned int Flags) {
  struct reference *r = checked(hSurfRef, true);
  if (!r) return CUDA_ERROR_INVALID_HANDLE;
  if (Flags) return CUDA_ERROR_INVALID_VALUE;
  return bind(r, &(CUDA_RESOURCE_DESC){.resType = RESOURCE_ARRAY, .res.array.hArray = hArray});
}

CUresult cuSurfRefGetArray(CUarray *phArray, CUsurfref hSurfRef) {
  struct reference *r = checked(hSurfRef, true);
  if (!r) return CUDA_ERROR_INVALID_HANDLE;
  if (!phArray || !r->bound) return CUDA_ERROR_INVALID_VALUE;
  *phArray = r->resource.res.array.hArray;
  return CUDA_SUCCESS;
}
