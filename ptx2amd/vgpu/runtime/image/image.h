/* Images: the fields of descriptors (T#, S#), and loads, stores and samples of one lane. */
#ifndef PTX2AMD_VGPU_IMAGE_H
#define PTX2AMD_VGPU_IMAGE_H

#include "texel.h"
#include "wave.h"

/* Numbers in instructions and, from 8 on, in descriptors. */
enum image_dim { DIM_1D, DIM_2D, DIM_3D, DIM_CUBE, DIM_1D_ARRAY, DIM_2D_ARRAY, DIM_2D_MSAA, DIM_2D_MSAA_ARRAY };

struct image {
  uint64_t base, slice_bytes;
  struct texel_format format;
  uint32_t size[3];           /* texels; [2]: slices of 3D images */
  uint32_t first, slices;     /* of arrays and cubes: the existing slices */
  uint32_t pitch;             /* texels from row to row */
  enum image_dim dim;
  uint8_t select[4], border_swizzle;
  float least_lod;
};
/* NULL, or the reason why the software GPU does not support this image. */
const char *image_describe(const uint32_t *t, unsigned generation, struct image *image);

struct sampler {
  uint8_t clamp[3], compare, border, reduction;
  uint8_t magnify, minify, between_slices;   /* filters */
  bool unnormalized, truncates, apart;       /* apart: cube faces */
  float bias, least_lod, most_lod;
};
const char *sampler_describe(const uint32_t *s, unsigned generation, struct sampler *sampler);

/* An image to be described. data, number: GFX9's format numbers. last: the last slice of 3D images and arrays. */
struct image_plan {
  uint64_t base;
  enum image_dim dim;
  uint32_t width, height, last, pitch;       /* pitch: in texels */
  unsigned data, number;
  uint8_t select[4];
};
/* The pitch in texels if no descriptor specifies one. */
uint32_t image_pitch(uint32_t width, unsigned bytes, unsigned generation);
/* False: the generation has no such format. */
bool image_write(const struct image_plan *plan, unsigned generation, uint32_t *t);
bool image_write_buffer(const struct image_plan *plan, unsigned generation, uint32_t texel_bytes, uint32_t *v);
struct sampler_plan { uint8_t clamp[3], border; bool linear, unnormalized; };
void sampler_write(const struct sampler_plan *plan, unsigned generation, uint32_t *s);

/* A lane's address operands. */
struct image_request {
  union { float f[4]; int32_t i[4]; } at;    /* coordinates in the order of the dimension */
  float gradient[2][3], lod, bias, least_lod, reference;
  int8_t offset[3];
};
enum image_dim image_request_dim(const struct inst *i, const struct image *image);
unsigned image_coordinates(enum image_dim dim);
/* From the address registers' dwords. */
void image_request(const struct inst *i, enum image_dim dim, const uint32_t *dwords, struct image_request *r);

/* Address of a texel; 0: outside of the image. */
uint64_t image_texel(const struct image *image, enum image_dim dim, const struct image_request *r, unsigned flags);

/* Samples. False: unmapped memory, with its address in *bad. */
bool image_sample(struct wave *w, const struct image *image, const struct sampler *s, enum image_dim dim, unsigned flags,
                  bool unnormalized, unsigned component, const struct image_request *r, uint32_t value[4], uint64_t *bad);
/* Level of detail from gradients, before and after the sampler's limits. */
float image_lod(const struct image *image, const struct sampler *s, enum image_dim dim, const struct image_request *r);
float image_lod_limited(const struct image *image, const struct sampler *s, const struct image_request *r, float lod);
#endif
