/* Image descriptors and the addresses of texels: linear images with one level. */
#include "image.h"

#include <math.h>
#include <string.h>

#include "bits.h"

static inline uint32_t field(const uint32_t *t, unsigned word, unsigned high, unsigned low) {
  return t[word] >> low & ((2u << (high - low)) - 1);
}

/* Alignment in bytes of a linear image's rows if the descriptor has no pitch. */
uint32_t image_pitch(uint32_t width, unsigned bytes, unsigned generation) {
  unsigned unit = generation == 3 ? 128 : 256;
  uint32_t pitch = width;
  while ((uint64_t)pitch * bytes % unit) pitch++;
  return pitch;
}

static void describe_gfx9(const uint32_t *t, struct image *m, unsigned *format, unsigned *depth, unsigned *pitch) {
  *format = field(t, 1, 25, 20) | field(t, 1, 29, 26) << 6;
  m->size[0] = field(t, 2, 13, 0) + 1;
  m->size[1] = field(t, 2, 27, 14) + 1;
  m->least_lod = (float)field(t, 1, 19, 8) / 256;
  *depth = field(t, 4, 12, 0);
  *pitch = field(t, 4, 28, 13) + 1;
  m->border_swizzle = (uint8_t)field(t, 4, 31, 29);
  m->first = field(t, 5, 12, 0);
}

static void describe_later(const uint32_t *t, unsigned generation, struct image *m, unsigned *format, unsigned *depth,
                           unsigned *pitch) {
  bool gfx12 = generation == 3;
  *format = gfx12 ? field(t, 1, 24, 17) : generation == 2 ? field(t, 1, 27, 20) : field(t, 1, 28, 20);
  m->size[0] = (field(t, 1, 31, 30) | (gfx12 ? field(t, 2, 13, 0) : field(t, 2, 11, 0)) << 2) + 1;
  m->size[1] = (gfx12 ? field(t, 2, 29, 14) : field(t, 2, 27, 14)) + 1;
  unsigned lod = generation == 1 ? field(t, 1, 19, 8)
               : field(t, 6, 6, 0) << (gfx12 ? 6 : 5) | (gfx12 ? field(t, 5, 31, 26) : field(t, 5, 31, 27));
  m->least_lod = (float)lod / 256;
  *depth = gfx12 ? field(t, 4, 13, 0) : field(t, 4, 12, 0);
  *pitch = (gfx12 ? field(t, 4, 15, 0) : field(t, 4, 13, 0)) + 1;   /* of 1D and 2D: the same bits */
  m->border_swizzle = (uint8_t)field(t, 3, 27, 25);
  m->first = gfx12 ? field(t, 4, 29, 16) : field(t, 4, 28, 16);
}

const char *image_describe(const uint32_t *t, unsigned generation, struct image *m) {
  unsigned type = field(t, 3, 31, 28), format, depth, pitch;
  memset(m, 0, sizeof *m);
  if (type < 8) return "the descriptor is not one of an image";
  m->dim = (enum image_dim)(type - 8);
  if (m->dim >= DIM_2D_MSAA) return "the image has several samples a texel";
  if (field(t, 3, 24, 20)) return "the image is tiled: only linear ones are implemented";
  if (generation == 3 ? field(t, 3, 19, 15) || field(t, 1, 29, 25) : field(t, 3, 19, 12))
    return "the image is a mipmap: only single levels are implemented";
  if (field(t, 6, 21, 21)) return "the image is compressed";
  if (generation == 0) describe_gfx9(t, m, &format, &depth, &pitch);
  else describe_later(t, generation, m, &format, &depth, &pitch);
  if (!texel_format(generation, format, &m->format)) return "the image's format is not implemented";
  m->base = (uint64_t)t[0] << 8 | (uint64_t)field(t, 1, 7, 0) << 40;
  for (unsigned k = 0; k < 4; k++) m->select[k] = (uint8_t)(t[3] >> 3 * k & 7);
  bool one = m->dim == DIM_1D || m->dim == DIM_1D_ARRAY, flat = m->dim == DIM_1D || m->dim == DIM_2D;
  if (one) m->size[1] = 1;
  m->size[2] = m->dim == DIM_3D ? depth + 1 : 1;
  m->slices = m->dim == DIM_1D_ARRAY || m->dim == DIM_2D_ARRAY || m->dim == DIM_CUBE ? depth + 1 : 1;
  if (m->dim == DIM_3D) m->first = 0;
  m->pitch = generation == 0 || (flat && pitch >= m->size[0]) ? pitch : image_pitch(m->size[0], m->format.bytes, generation);
  if (m->pitch < m->size[0]) m->pitch = m->size[0];
  m->slice_bytes = (uint64_t)m->pitch * m->size[1] * m->format.bytes;
  return NULL;
}

const char *sampler_describe(const uint32_t *s, unsigned generation, struct sampler *p) {
  memset(p, 0, sizeof *p);
  for (unsigned k = 0; k < 3; k++) p->clamp[k] = (uint8_t)(s[0] >> 3 * k & 7);
  p->compare = (uint8_t)field(s, 0, 14, 12);
  p->unnormalized = field(s, 0, 15, 15);
  p->truncates = field(s, 0, 27, 27);
  p->apart = field(s, 0, 28, 28);
  p->reduction = (uint8_t)field(s, 0, 30, 29);
  p->least_lod = (float)(generation == 3 ? field(s, 1, 12, 0) : field(s, 1, 11, 0)) / 256;
  p->most_lod = (float)(generation == 3 ? field(s, 1, 25, 13) : field(s, 1, 23, 12)) / 256;
  p->bias = (float)((int32_t)(field(s, 2, 13, 0) << 18) >> 18) / 256;
  p->magnify = (uint8_t)field(s, 2, 21, 20);
  p->minify = (uint8_t)field(s, 2, 23, 22);
  p->between_slices = (uint8_t)field(s, 2, 25, 24);
  p->border = (uint8_t)field(s, 3, 31, 30);
  if (p->magnify > 1 || p->minify > 1) return "the sampler's filter is anisotropic";
  if (p->border == 3) return "the sampler's border colour is in a table";
  return NULL;
}

/* --- operands --------------------------------------------------------------------------------------------------- */

unsigned image_coordinates(enum image_dim dim) {
  static const uint8_t n[] = {1, 2, 3, 3, 2, 3, 3, 4};
  return n[dim];
}

/* On GFX9 the instruction only encodes whether there is a slice. */
enum image_dim image_request_dim(const struct inst *i, const struct image *image) {
  if (i->op->generation) return (enum image_dim)i->ext->image.dim;
  bool slice = i->ext->image.array;
  switch (image->dim) {
  case DIM_1D: case DIM_1D_ARRAY: return slice ? DIM_1D_ARRAY : DIM_1D;
  case DIM_2D: case DIM_2D_ARRAY: return slice ? DIM_2D_ARRAY : DIM_2D;
  default: return image->dim;
  }
}

/* Consecutive operands: dwords, or 16-bit halves, two of which may share a dword. */
struct operands { const uint32_t *dword; bool halves, high; };

static uint32_t next_operand(struct operands *o) {
  if (!o->halves) return *o->dword++;
  uint32_t value = o->high ? *o->dword++ >> 16 : *o->dword & 0xffff;
  o->high = !o->high;
  return value;
}
static void whole_dword(struct operands *o) {
  if (o->high) o->dword++;
  o->high = false;
}
static float as_float(uint32_t bits, bool half) {
  return as_f32(half ? texel_from_half(bits) : bits);
}

void image_request(const struct inst *i, enum image_dim dim, const uint32_t *dwords, struct image_request *r) {
  unsigned flags = i->op->image;
  bool a16 = i->ext->image.a16, g16 = i->op->generation ? flags & IMAGE_G16 : a16;
  struct operands o = {.dword = dwords};
  memset(r, 0, sizeof *r);
  if (flags & IMAGE_OFFSET) {
    uint32_t packed = next_operand(&o);
    for (unsigned k = 0; k < 3; k++) r->offset[k] = (int8_t)((int8_t)(packed >> 8 * k << 2) >> 2);
  }
  if (flags & IMAGE_BIAS) r->bias = as_float(a16 ? *o.dword & 0xffff : *o.dword, a16), o.dword++;
  if (flags & IMAGE_COMPARE) r->reference = as_float(next_operand(&o), false);
  if (flags & IMAGE_GRAD) {
    static const uint8_t gradients[] = {1, 2, 3, 2, 1, 2, 2, 2};
    o.halves = g16;
    for (unsigned d = 0; d < 2; d++, whole_dword(&o))
      for (unsigned k = 0; k < gradients[dim]; k++) r->gradient[d][k] = as_float(next_operand(&o), g16);
  }
  o.halves = a16;
  for (unsigned k = 0; k < image_coordinates(dim) && !(flags & IMAGE_RESINFO); k++) {
    uint32_t bits = next_operand(&o);
    if (flags & IMAGE_SAMPLED) r->at.f[k] = as_float(bits, a16);
    else r->at.i[k] = a16 ? (int32_t)(bits & 0xffff) : (int32_t)bits;
  }
  if (flags & (IMAGE_LOD | IMAGE_CLAMP)) {
    float last = as_float(next_operand(&o), a16);
    if (flags & IMAGE_LOD) r->lod = last;
    else r->least_lod = last;
  }
  if (flags & IMAGE_MIP) r->lod = (float)(next_operand(&o) & (a16 ? 0xffff : UINT32_MAX));
}

uint64_t image_texel(const struct image *m, enum image_dim dim, const struct image_request *r, unsigned flags) {
  const int32_t *at = r->at.i;
  uint32_t x = (uint32_t)at[0], y = 0, z = 0;
  if ((flags & IMAGE_MIP) && r->lod != 0) return 0;
  switch (dim) {
  case DIM_1D_ARRAY: z = (uint32_t)at[1]; break;
  case DIM_3D: case DIM_CUBE: case DIM_2D_ARRAY: z = (uint32_t)at[2]; y = (uint32_t)at[1]; break;
  case DIM_2D: y = (uint32_t)at[1]; break;
  default: break;
  }
  uint32_t slices = m->dim == DIM_3D ? m->size[2] : m->slices;
  if (x >= m->size[0] || y >= m->size[1] || z >= slices || z + m->first >= slices) return 0;
  return m->base + (z + m->first) * m->slice_bytes + ((uint64_t)y * m->pitch + x) * m->format.bytes;
}
