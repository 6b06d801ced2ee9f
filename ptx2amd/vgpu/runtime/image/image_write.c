/* Descriptors of linear images, buffers and samplers, as image.c reads them. */
#include "image.h"

static uint32_t selects(const struct image_plan *p) {
  uint32_t word = 0;
  for (unsigned k = 0; k < 4; k++) word |= (uint32_t)p->select[k] << 3 * k;
  return word;
}

bool image_write(const struct image_plan *p, unsigned generation, uint32_t *t) {
  unsigned code = texel_code(generation, p->data, p->number);
  uint32_t width = p->width - 1, height = p->height - 1;
  bool flat = p->dim == DIM_1D || p->dim == DIM_2D;
  for (unsigned k = 0; k < 8; k++) t[k] = 0;
  t[0] = (uint32_t)(p->base >> 8);
  t[1] = (uint32_t)(p->base >> 40) & 0xff;
  t[3] = selects(p) | (8u + p->dim) << 28;
  if (generation == 0) {
    t[1] |= (code & 63) << 20 | code >> 6 << 26;
    t[2] = width | height << 14;
    t[4] = p->last | (p->pitch - 1) << 13;
    return code;
  }
  t[1] |= code << (generation == 3 ? 17 : 20) | (width & 3) << 30;
  t[2] = width >> 2 | height << 14;
  if (generation == 1) t[2] |= 1u << 31;   /* RESOURCE_LEVEL */
  t[4] = flat ? p->pitch - 1 : p->last;
  return code;
}

bool image_write_buffer(const struct image_plan *p, unsigned generation, uint32_t texel_bytes, uint32_t *v) {
  unsigned code = texel_code(generation, p->data, p->number);
  v[0] = (uint32_t)p->base;
  v[1] = (uint32_t)(p->base >> 32) | texel_bytes << 16;
  v[2] = p->width;
  v[3] = selects(p) | (generation == 0 ? p->number << 12 | p->data << 15 : code << 12);
  return code;
}

void sampler_write(const struct sampler_plan *p, unsigned generation, uint32_t *s) {
  s[0] = p->clamp[0] | (uint32_t)p->clamp[1] << 3 | (uint32_t)p->clamp[2] << 6 | (uint32_t)p->unnormalized << 15;
  if (!p->linear) s[0] |= 1u << 27;        /* TRUNC_COORD: texels are selected by the exact coordinate */
  s[1] = generation == 3 ? 0x1fffu << 13 : 0xfffu << 12;
  s[2] = p->linear ? 1u << 20 | 1u << 22 : 0;
  s[3] = (uint32_t)p->border << 30;
}
